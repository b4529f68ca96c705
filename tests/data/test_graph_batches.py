"""Batches of a set of graphs: what is in them, in which order, for which runs, and what is prepared on the way."""

from itertools import pairwise
from unittest import mock

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv

from panconv import PANConv, Walks
from panconv.data import GraphBatches, GraphSet, graph_folds
from panconv.data.graph_folds import GraphParts
from panconv.graph import BASES


def made(count=20, weighted=False, numbers=False):
    """Paths of one to six nodes, some of them with an edge that leads one way."""
    draw, data = torch.Generator().manual_seed(0), []
    for i in range(count):
        n = 1 + i % 6
        line = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
        edges = torch.cat([line, line.flip(0)[:, : n - 1 - (i == 5)]], 1)
        weight = {"edge_weight": torch.rand(edges.size(1), generator=draw)} if weighted else {}
        x, y = torch.rand(n, 3, generator=draw), i / 2 if numbers else i % 2
        data.append(Data(x=x, edge_index=edges, y=y, **weight))
    return GraphSet.of(data)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_is_that_of_pyg(weighted):
    graphs = made(weighted=weighted)
    conv, layer = PANConv(3, 2), GCNConv(3, 2)
    for batch in GraphBatches(graphs, batch_size=7, seed=3):
        right = Batch.from_data_list([graphs[int(i)] for i in batch.index])
        assert torch.equal(batch.x, right.x)
        assert torch.equal(batch.batch, right.batch)
        assert torch.equal(batch.y, right.y)
        assert (batch.num_graphs, batch.num_nodes) == (right.num_graphs, right.num_nodes)
        mine = conv(batch.x, batch.adj), layer(batch.x, batch.edge_index, batch.edge_weight)
        weight = right.get("edge_weight")
        for a, b in zip(mine, (c(right.x, right.edge_index, weight) for c in (conv, layer)), strict=True):
            torch.testing.assert_close(a, b)
        other = batch.to("cpu")
        assert torch.equal(other.edge_index, batch.edge_index)
        assert not hasattr(batch, "batch_size")  # by which a loader says how many seed nodes come first


def numbers_of(loader):
    return [batch.index.tolist() for batch in loader]


def flat(batches):
    return [number for batch in batches for number in batch]


def test_the_order_hangs_on_seed_and_epoch_alone():
    graphs = made()
    loader = GraphBatches(graphs, batch_size=6, seed=1)
    first = next(iter(loader)).index.tolist()  # broken off: this epoch is still to come
    epochs = []
    for _ in range(3):
        torch.rand(5)
        epochs.append(numbers_of(loader))
    assert epochs[0][0] == first
    assert all(sorted(flat(epoch)) == list(range(20)) for epoch in epochs)
    assert all(a != b for a, b in pairwise(epochs))
    assert len(loader) == len(epochs[0]) == 4
    loader.set_epoch(1)
    assert numbers_of(loader) == epochs[1]
    assert numbers_of(GraphBatches(graphs, batch_size=6, seed=2)) != epochs[0]
    again = GraphBatches(graphs, batch_size=6, seed=1)
    assert [numbers_of(again) for _ in range(3)] == epochs
    assert numbers_of(GraphBatches(graphs, batch_size=8, shuffle=False)) == [
        *([*range(8)], [*range(8, 16)], [*range(16, 20)]),
    ]


def test_a_run_alone_has_the_same_batches_less_the_others_graphs():
    graphs = made()
    parts = graph_folds(graphs.y, folds=5, val=0.25)
    together = GraphBatches(graphs, parts, batch_size=6)
    alone = [GraphBatches(graphs, parts.run(s), batch_size=6) for s in range(5)]
    for _ in range(2):
        batches = list(together)
        for s, loader in enumerate(alone):
            kept = [batch.index[batch.train_mask[:, s]].tolist() for batch in batches]
            assert numbers_of(loader) == [numbers for numbers in kept if numbers]
    some = GraphBatches(graphs, parts.of_runs([2]), "val", batch_size=6, shuffle=True)
    for batch in some:
        for name, mask in zip(("train_mask", "val_mask", "test_mask"), parts, strict=True):
            assert torch.equal(getattr(batch, name), mask[batch.index][:, [2]])
        assert batch.val_mask.any(1).all()


def test_what_is_not_shuffled_is_in_order_and_in_full_batches():
    graphs = made()
    parts = graph_folds(graphs.y, folds=5, val=0.25)
    found = GraphBatches.for_fit(graphs, parts, batch_size=3)
    assert list(found) == ["data", "val", "test"]
    assert found["data"].shuffle
    for name in ("val", "test"):
        mask = getattr(parts, name)[:, 0]
        loader = GraphBatches(graphs, parts.run(0), name, batch_size=3)
        assert flat(numbers_of(loader)) == mask.nonzero().squeeze(1).tolist()
        assert len(loader) == len(numbers_of(loader)) == -(-int(mask.sum()) // 3)
    assert flat(numbers_of(found["test"])) == list(range(20))


def test_what_one_batch_was_asked_for_all_others_bring_along():
    graphs, conv, other = made(), PANConv(3, 2, method=5), PANConv(3, 2, method=1)
    loader = GraphBatches(graphs, batch_size=6, shuffle=False)
    for batch in loader:
        conv(batch.x, batch.adj).sum().backward()
        other(batch.x, batch.adj).sum().backward()
    assert Walks(graphs.adjacency, 2).adj.prepared_parts().keys() >= {torch.float32, ("walks", 2), "Â"}
    refuse = mock.Mock(side_effect=AssertionError("computed again"))
    with (
        mock.patch.object(Walks, "_count", refuse),
        mock.patch.dict(BASES, {name: refuse for name in BASES if name != "A"}),
    ):
        for batch in loader:
            right = Batch.from_data_list([graphs[int(i)] for i in batch.index])
            assert torch.float32 in batch.adj.base("Â").prepared_parts()
            mine = conv(batch.x, batch.adj), other(batch.x, batch.adj)
    for a, layer in zip(mine, (conv, other), strict=True):
        torch.testing.assert_close(a, layer(right.x, right.edge_index))


def test_numbers_to_learn_and_graphs_without_nodes_or_edges():
    graphs = made(numbers=True)
    (batch,) = GraphBatches(graphs, batch_size=50, shuffle=False)
    assert batch.y.tolist() == [i / 2 for i in range(20)]
    empty = GraphSet(torch.ones(4, 1), TRIANGLE_AND_TAIL, torch.tensor([0, 0, 4, 4]), torch.tensor([0, 1, 0]))
    (batch,) = GraphBatches(empty, batch_size=3, shuffle=False)
    assert batch.batch.tolist() == [1] * 4
    (batch,) = GraphBatches(empty, GraphParts(*torch.eye(3, dtype=torch.bool)), batch_size=3)
    assert (batch.num_graphs, batch.num_nodes, batch.x.shape, batch.adj.num_edges) == (1, 0, (0, 1), 0)


MASKS = [torch.arange(20) % 4 == i for i in range(3)]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"graphs": [1]}, TypeError, "graphs must be a GraphSet, got list"),
        ({"part": "training"}, ValueError, "part must be one of train, val, test, got 'training'"),
        ({"batch_size": 0}, ValueError, "batch_size must be an integer of at least 1"),
        ({"seed": -1}, ValueError, "seed must be"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be True or False"),
        ({"parts": MASKS}, TypeError, "parts must be GraphParts"),
        ({"parts": GraphParts(MASKS[0][:4], *MASKS[1:])}, ValueError, r"parts.train must be boolean, \(20,\)"),
        ({"parts": GraphParts(MASKS[0].int(), *MASKS[1:])}, ValueError, "parts.train must be boolean"),
        ({"parts": GraphParts(*MASKS[:2], MASKS[2].unsqueeze(1))}, ValueError, r"parts.test must have the shape of"),
        ({"parts": GraphParts(MASKS[0], MASKS[0], MASKS[1])}, ValueError, "parts.train and parts.val share 5 graphs"),
        (
            {"parts": GraphParts(MASKS[0], MASKS[1], MASKS[2] & False), "part": "test"},
            ValueError,
            "no graph to test on",
        ),
    ],
)
def test_bad_input_is_named(change, error, words):
    given = {"graphs": made(), **change}
    with pytest.raises(error, match=words):
        GraphBatches(**given)
    with pytest.raises(ValueError, match="epoch must be an integer of at least 0"):
        GraphBatches(made()).set_epoch(-1)
