"""How far a row of M looks: nothing beyond its hops changes it, something at its last hop does."""

import pytest
import torch

from panconv import MET, METHODS, Adjacency
from panconv.met.reach import reach_of
from panconv.paths import paths_from

L, FAR = 2, 7  # hops from the seed, node 0, to the end of each graph


def graph(kind: str, cut: int = -1) -> tuple[Adjacency, torch.Tensor]:
    """A graph around node 0, and how far each node is from it; without the edges from `cut` − 1 to `cut` hops away."""
    branches = 2 if kind == "tree" else 1
    parent = torch.cat(
        [torch.tensor([-1]), torch.arange(branches * (2**FAR - 1 if kind == "tree" else FAR)) // branches]
    )
    distance = torch.zeros_like(parent)
    for node in range(1, len(parent)):
        distance[node] = distance[parent[node]] + 1
    child = torch.arange(1, len(parent))
    child = child[distance[child] != cut]
    edges = torch.stack([child, parent[child]])  # towards the seed
    if kind != "directed path":
        edges = torch.cat([edges, edges.flip(0)], 1)
    return Adjacency.from_edge_index(edges, num_nodes=len(parent)), distance


def row(adj: Adjacency, method: int, paths: str, longest: int) -> torch.Tensor:
    """The seed's row of M, with weights that no two lengths share."""
    weights = None if paths == "effective" else [1.0, 0.7, 0.4][: longest + 1]
    seed = torch.zeros(adj.num_nodes, dtype=torch.float64)
    seed[0] = 1
    return (MET(paths_from(paths)(adj, longest), weights, method).T @ seed).detach()


CASES = [(method, paths) for method in METHODS for paths in ("walks", "shortest", "self_avoiding")]
CASES += [(1, "effective"), (2, "effective")]


@pytest.mark.parametrize("kind", ["path", "directed path", "tree"])
@pytest.mark.parametrize(("method", "paths"), CASES)
def test_a_row_looks_as_far_as_it_says(kind, method, paths):
    if kind == "tree" and paths in ("self_avoiding", "effective"):
        return  # as on the path
    whole, distance = graph(kind)
    steps, beyond = reach_of(method, L)
    as_it_is = row(whole, method, paths, L)
    assert as_it_is[distance > steps].abs().max() == 0
    assert as_it_is[distance == steps].abs().min() > 0
    beyond_it = row(graph(kind, cut=steps + beyond + 1)[0], method, paths, L)
    torch.testing.assert_close(beyond_it, as_it_is, rtol=1e-14, atol=0)
    within = row(graph(kind, cut=steps + beyond)[0], method, paths, L)
    assert (within - as_it_is).abs().max() > 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_without_steps_nothing_is_looked_at(method):
    assert reach_of(method, 0) == (0, 0)
    torch.testing.assert_close(
        row(graph("path", cut=1)[0], method, "walks", 0), row(graph("path")[0], method, "walks", 0)
    )


def test_what_is_stored_need_not_be_reached():
    assert all(reach_of(method, 3, degrees=True, counts=True).hops == 3 for method in METHODS)
    assert [reach_of(method, 3, degrees=True).hops for method in (1, 2, 5, 6, 7)] == [3, 6, 3, 6, 3]
