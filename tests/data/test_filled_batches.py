"""Batches of one size: who is in them, who wants them, and what has room."""

import torch
from torch_geometric.data import Data

from panconv.data import GraphBatches, GraphSet, graph_folds
from panconv.data.filled_batches import FilledBatches, wanted


def made(count=30):
    """Paths of one to six nodes."""
    data = []
    for i in range(count):
        n = 1 + i % 6
        line = torch.stack([torch.arange(n - 1), torch.arange(1, n)])
        data.append(Data(x=torch.full((n, 2), float(i)), edge_index=torch.cat([line, line.flip(0)], 1), y=i % 2))
    return GraphSet.of(data)


def test_batches_are_those_of_the_loader_in_its_order():
    graphs, parts = made(), graph_folds(made().y, 3)
    loader, other = (GraphBatches(graphs, parts, batch_size=7, seed=5) for _ in range(2))
    filled = FilledBatches(loader)
    for _ in range(2):  # epochs
        drawn = filled.drawn()
        for which, plain in zip(drawn, other, strict=True):
            assert torch.equal(which, plain.index)
            row = torch.full((7,), 30)
            row[: len(which)] = which
            batch = filled.batch(row)
            assert batch.num_graphs == 8
            assert batch.num_nodes == filled.batch(torch.full((7,), 30)).num_nodes
            assert torch.equal(batch.x[: plain.num_nodes], plain.x)
            assert not batch.x[plain.num_nodes :].any()
            assert torch.equal(batch.batch[: plain.num_nodes], plain.batch)
            assert (batch.batch[plain.num_nodes :] == 7).all()
            assert torch.equal(batch.train_mask[: len(which)], plain.train_mask)
            assert not batch.train_mask[len(which) :].any()
            assert torch.equal(batch.y[: len(which)], plain.y)
            assert torch.equal(filled.plain(which).x, plain.x)
    assert loader.epoch == other.epoch == 2


def test_numbers_fill_up_batches_that_lack_graphs_and_batches_that_are_not_there():
    graphs = made()
    parts = graph_folds(graphs.y, 3).run(0)
    filled = FilledBatches(GraphBatches(graphs, parts, "val", batch_size=4))
    drawn = filled.mixed()
    assert sorted(torch.cat(drawn).tolist()) == parts.val.nonzero().flatten().tolist()
    assert torch.cat(filled.drawn()).tolist() == parts.val.nonzero().flatten().tolist()  # in the set's order
    assert [each.tolist() for each in filled.mixed()] == [each.tolist() for each in drawn]  # in every epoch
    rows = filled.numbers(drawn[:-1])
    assert rows.shape == (len(drawn), 4)
    assert (rows[-1] == 30).all()


def test_who_wants_a_graph_and_who_has_none():
    graphs, parts = made(), graph_folds(made().y, 3)
    loader = GraphBatches(graphs, parts, batch_size=7)
    assert torch.equal(wanted(loader), parts.train)
    filled = FilledBatches(loader)
    mine = (parts.train[:, 0] & ~parts.train[:, 1]).nonzero().flatten()
    assert filled.absent(mine)[:2].tolist() == [False, True]
    assert wanted(GraphBatches(graphs, batch_size=7)).all()


def test_what_has_room():
    filled = FilledBatches(GraphBatches(made(120), batch_size=20))
    assert filled.fits(torch.arange(20))
    assert not filled.fits(torch.arange(5, 120, 6))  # twenty of the largest
