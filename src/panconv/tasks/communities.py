"""Communities by random walks: nodes from which walkers soon come to the same places."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.metrics import normalized_mutual_info_score
from torch import Tensor

from panconv.base.checks import INTEGERS, check_values, checked_count, checked_seed, shown
from panconv.graph import Adjacency
from panconv.spectral import Matrix
from panconv.spectral.eigs import leading
from panconv.tasks.kmeans import kmeans
from panconv.walkers.walk import walk_named

_NOISE = 1e-12  # of the longest row: a shorter one is rounding


def communities(
    adj: Any, k: int, walk: str = "maximal-entropy", steps: int = 3, seed: int = 0, restarts: int = 10
) -> Tensor:
    """At most k communities of the largest connected component, by k-means on the walk's diffusion map.

    Fewer come out where fewer different rows are there, as on a star, whose leaves are all alike.

    Two nodes are alike if walkers from both are in the same places after t steps. That distance is the one between the
    rows of U·μᵗ/√π with (μ, U) the eigenpairs of S = Π^½PΠ^−½, which is D^−½AD^−½ for the generic walk and A/λ₁ for the
    one of maximal entropy (whose use for communities Ochab and Burda, 2013, study). The k leading pairs are kept and
    the rows scaled to length 1, where √π cancels.

    No walk leads from one component to another, so each further component is a community of its own. (Were all
    components taken together, each would give the generic walk one more eigenvalue 1, and the leading eigenvectors
    would say nothing but which component a node is in.)

    Args:
        adj: the graph, undirected, or anything an `Adjacency` is made from.
        k: communities of the largest component, from 1 to its number of nodes.
        walk: ``"maximal-entropy"`` or ``"generic"``.
        steps: t, at least 0; the longer, the more the leading eigenvectors count.
        seed: of k-means, at least 0.
        restarts: of k-means; the best is taken.

    Returns:
        labels (N,): 0 … k − 1 in the largest component, then k, k + 1, … for the others.

    >>> two = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3]])  # triangles with a bridge
    >>> label = communities(torch.cat([two, two.flip(0)], 1), k=2)
    >>> (label == label[0]).tolist()
    [True, True, True, False, False, False]
    """
    adj = Adjacency.of(adj)
    number, t = checked_seed(seed), checked_count(steps, "steps", least=0)
    label, nodes = _component_labels(adj)
    k = checked_k(k, nodes.numel())
    x = diffusion_map(adj, k, walk, t)
    label = label + (k - 1)  # the largest component is numbered first
    label[nodes] = kmeans(x, k, checked_count(restarts, "restarts"), number)
    return label


def diffusion_map(adj: Adjacency, k: int, walk: str, steps: int) -> Tensor:
    """The rows of U·μᵗ for the k largest eigenvalues of S on the largest component, scaled to length 1, (n, k).

    The eigenvectors of the maximal entropy walk may fall below rounding far from where they are large. A node there
    takes the direction in which its walker goes, the mean of its neighbours'.
    """
    of = walk_named(adj, walk)
    if not adj.is_symmetric:
        raise ValueError(
            "the graph must be undirected for communities, got a directed one: add the reverse edges "
            "(torch_geometric.utils.to_undirected)"
        )
    S = Matrix(_symmetrise(of.transition, largest_component(adj)))
    # The same for every seed and every t.
    values, vectors = adj.cached(("leading", walk, k), lambda: leading(S, k, symmetric=True))
    x = vectors * values**steps
    size = x.norm(dim=1, keepdim=True)
    far = size <= _NOISE * size.max()
    x = torch.where(far, 0, x / size.where(~far, 1))
    while bool(far.any()):  # one step further out each time
        mean = S @ x
        size = mean.norm(dim=1, keepdim=True)
        reached = far & (size > 0)
        if not bool(reached.any()):
            break
        x = torch.where(reached, mean / size.where(reached, 1), x)
        far = far & ~reached
    return x


def checked_k(k: int, num_nodes: int) -> int:
    """k itself, if so many nodes can be that many communities."""
    if checked_count(k, "k") > num_nodes:
        raise ValueError(f"k must be at most the {num_nodes} nodes of the largest component, got {k}")
    return k


def largest_component(adj: Adjacency) -> Tensor:
    """The nodes of the connected component with the most nodes, (n,), sorted."""
    return _component_labels(adj)[1]


def modularity(adj: Any, labels: Tensor) -> float:
    """Σᵢⱼ (Aᵢⱼ − dᵢdⱼ/Σd) δ(lᵢ, lⱼ) / Σd, with the two kinds of degree on a directed graph (Newman, 2006).

    A self-loop counts as it stands in A, once.

    >>> two = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    >>> modularity(two, torch.tensor([0, 0, 1, 1]))
    0.5
    """
    adj = Adjacency.of(adj).detach()
    label = _checked_labels(labels, "labels", adj.num_nodes).to(adj.device)
    a, _ = adj.operands(torch.float64)
    total = float(a.value.sum())
    if adj.is_signed or total <= 0:
        raise ValueError(f"modularity needs weights of at least 0, some above, got a sum of {total:g}")
    col = a.col.long()
    inside = a.value[label[adj.row] == label[col]].sum()
    into, out = (a.value.new_zeros(adj.num_nodes).index_add(0, label[end], a.value) for end in (adj.row, col))
    return float(inside / total - (into * out).sum() / total**2)


def nmi(a: Tensor, b: Tensor) -> float:
    """Normalised mutual information of two labellings, 2 I(a; b) / (H(a) + H(b)): 1 if alike, 0 if unrelated.

    Two labellings that both put all in one are alike.

    >>> nmi(torch.tensor([0, 0, 1, 1]), torch.tensor([1, 1, 0, 0]))
    1.0
    """
    a = _checked_labels(a, "a", None)
    b = _checked_labels(b, "b", a.numel())
    if not a.numel():
        raise ValueError("a and b must label at least one node, got none")
    return float(normalized_mutual_info_score(a.cpu().numpy(), b.cpu().numpy()))


def _symmetrise(transition: Adjacency, nodes: Tensor) -> Tensor:
    """S on the nodes: Sᵢⱼ = √(PᵢⱼPⱼᵢ), which needs no π, however small it is."""
    p, p_t = transition.operands(torch.float64)
    S = p._replace(value=(p.value * p_t.value).sqrt()).to_coo((transition.num_nodes, transition.num_nodes))
    return S.index_select(0, nodes).index_select(1, nodes).to_sparse_csr()


def _component_labels(adj: Adjacency) -> tuple[Tensor, Tensor]:
    """A number for each node's component, the largest first, and the nodes of the largest."""
    if not adj.num_nodes:
        raise ValueError("the graph has no nodes: there are no communities to find")
    component = adj.components
    size = torch.bincount(component)
    label = torch.argsort(size, descending=True, stable=True).argsort()[component]
    return label, (label == 0).nonzero().squeeze(1)


def _checked_labels(labels: Tensor, name: str, count: int | None) -> Tensor:
    if not isinstance(labels, Tensor) or labels.dim() != 1 or labels.dtype not in (*INTEGERS, torch.bool):
        raise TypeError(f"{name} must be a tensor (N,) of integers, a label per node, got {shown(labels)}")
    check_values(labels, name)
    if count is not None and labels.numel() != count:
        raise ValueError(f"{name} must have a label for each of {count} nodes, got {labels.numel()}")
    return torch.unique(labels.long(), return_inverse=True)[1]
