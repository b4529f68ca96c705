"""Some graphs of a set: the same as PyG's datasets give for what stands in brackets, and as those graphs one by one."""

import re

import numpy as np
import pytest
import torch
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data
from torch_geometric.datasets import FakeDataset
from torch_geometric.loader import DataLoader

from panconv.data import GraphBatches, GraphSet, graph_folds
from panconv.testing import close
from panconv.whole_graphs.parts import named_graphs, recorded_name

G = 9
EDGES = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])
# A pair of nodes, a graph without nodes, a path of three.
FEW = GraphSet(torch.arange(10.0).reshape(5, 2), EDGES, torch.tensor([0, 2, 2, 5]), torch.tensor([0, 1, 1]), name="few")
MASK = torch.arange(G) % 3 == 1
EVERY = [
    *(slice(2, 5), slice(None, None, 2), slice(None, None, -1), slice(-3, None), slice(None, 0.7), slice(0.4, 99)),
    *([1, 5, 1], [-1, -9], (3, 2), range(2, 8, 3), [np.int64(3), np.int32(0)], [torch.tensor(2), torch.tensor(7)]),
    *(torch.tensor([4, 0, -2]), torch.tensor([6]), torch.tensor([1, 2], dtype=torch.int32), MASK.nonzero()),
    *(np.array([8, 1]), np.arange(G)[::-2], MASK, MASK.numpy()),
]


def same(one, other):
    for name in ("x", "edge_index", "ptr", "y", "edge_weight"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is b is None) or (a.dtype == b.dtype and torch.equal(a, b))
    return True


@pytest.mark.parametrize("index", EVERY, ids=str)
def test_as_datasets_of_pyg(index):
    dataset = FakeDataset(num_graphs=G, avg_num_nodes=8, num_channels=3, edge_dim=0, task="graph")
    whole = GraphSet.of(dataset, name="fake")
    found = whole[index]
    assert isinstance(found, GraphSet)
    given_ = index if isinstance(index, (slice, list, tuple, torch.Tensor)) else torch.as_tensor(np.array(index))
    theirs = dataset[given_.long() if isinstance(given_, torch.Tensor) and given_.dtype == torch.int32 else given_]
    assert len(found) == len(theirs)
    for ours, data in zip(found, theirs, strict=True):
        assert torch.equal(ours.x, data.x)
        assert torch.equal(ours.edge_index, data.edge_index)
        assert int(whole.classes[ours.y]) == int(data.y)
    assert (found.name, found.classes, found.features) == ("part of fake", whole.classes, whole.features)


@settings(max_examples=25)
@given(st.booleans().flatmap(lambda w: st.lists(graphs(weighted=w), min_size=2, max_size=5)), st.data())
def test_as_a_set_of_these_graphs_alone(many, data):
    every = []
    for i, graph in enumerate(many):
        weight = {} if graph.edge_weight is None else {"edge_weight": graph.edge_weight}
        y = torch.tensor([i / 7])
        every.append(Data(x=torch.rand(graph.num_nodes, 2), edge_index=graph.edge_index, y=y, **weight))
    which = data.draw(st.lists(st.integers(0, len(many) - 1), min_size=1, max_size=6))
    if not any(many[i].num_nodes for i in which):
        return
    whole = GraphSet.of(every)
    found = whole[which]
    assert same(found, GraphSet.of([every[i] for i in which]))
    for i, k in enumerate(which):
        close(found.adjacency[i].to_dense(torch.float64), whole.adjacency[k].to_dense(torch.float64))


def test_what_stays_and_what_it_is_called():
    words = {"name": "few", "classes": ("a", "b"), "features": "of two kinds", "notes": ("a note",)}
    weight = torch.arange(1, 4.0).repeat_interleave(2)
    whole = GraphSet(FEW.x, EDGES, FEW.ptr, FEW.y, weight, **words)
    one = whole[2:]
    assert (one.classes, one.features, one.notes) == (("a", "b"), "of two kinds", ("a note",))
    assert one.counts() == {"a": 0, "b": 1}  # one class alone, which could not be told from others by itself
    assert torch.equal(one.edge_weight, whole.edge_weight[2:])
    assert repr(one) == "GraphSet(part of few: 1 graph of 2 classes, 3 nodes, 2 edges, weighted, 2 features)"
    assert whole[1:][1:].name == whole[[2, 1, 0]].name == "part of few"
    assert whole[:].name == whole[[True] * 3].name == "few"
    assert same(whole[:], whole)
    assert GraphSet(FEW.x, EDGES, FEW.ptr, FEW.y)[1:].name == ""
    for last in (2, -1, torch.tensor(2), np.int64(-1)):
        assert isinstance(whole[last], Data)  # one is a graph
        assert whole[last].num_nodes == 3


def test_records_do_not_take_a_part_for_the_set():
    whole = named_graphs("point-patterns-0.35-12")
    part = whole[:6]
    assert recorded_name(whole) == whole.name
    assert recorded_name(part).startswith(f"part of {whole.name}@")
    assert recorded_name(part) != recorded_name(whole[6:])
    assert recorded_name(FEW[:2]).partition("@")[0] != recorded_name(FEW).partition("@")[0]


def test_a_fold_as_a_set_in_batches():
    whole = named_graphs("point-patterns-0.35-30")
    train = graph_folds(whole.y, folds=3).train[:, 0]
    part = whole[train]
    assert torch.equal(part.y, whole.y[train])
    of_pyg = next(iter(DataLoader(part, batch_size=len(part))))
    (batch,) = GraphBatches(part, batch_size=len(part), shuffle=False)
    assert torch.equal(batch.x, of_pyg.x)
    assert torch.equal(batch.batch, of_pyg.batch)


INTEGER = "the index of a graph must be an integer from -3 to 2, got "
WRONG = [
    *((3, IndexError, INTEGER + "3"), (-4, IndexError, INTEGER + "-4"), (1.5, IndexError, INTEGER + "1.5")),
    *(("a", IndexError, INTEGER + "'a'"), (None, IndexError, INTEGER + "None")),
    ([0, 3], IndexError, "the indices of graphs must be integers from -3 to 2, got 3"),
    (torch.tensor([-4]), IndexError, "the indices of graphs must be integers from -3 to 2, got -4"),
    *((["a"], IndexError, "one integer, or for some of them a slice"), ([0.5], IndexError, "got [0.5]")),
    (torch.ones(3), IndexError, "got a Tensor of shape (3,) and torch.float32"),
    (torch.ones(3, dtype=torch.uint8), IndexError, "got a Tensor of shape (3,) and torch.uint8"),
    ([[0], [1, 2]], IndexError, "got [[0], [1, 2]]"),
    (slice(None, float("nan")), IndexError, "of shares of all graphs up to 1, got slice(None, nan, None)"),
    (slice(None, 1.5), IndexError, "of shares of all graphs up to 1, got slice(None, 1.5, None)"),
    (slice(None, None, 0), IndexError, "a slice whose step is not 0"),
    (torch.ones(3, 2, dtype=torch.bool), IndexError, "got a Tensor of shape (3, 2) and torch.bool"),
    (slice("a", None), IndexError, "a slice of integers, or of shares of all graphs, got slice('a', None, None)"),
    (torch.tensor([True, False]), IndexError, "True or False for each of 3 graphs where it is a mask, got a Tensor"),
    *((each, ValueError, "must name at least one, got none") for each in ([], slice(3, None), [False] * 3)),
    ([1], ValueError, "at least one graph must have a node"),
]


@pytest.mark.parametrize(("index", "error", "words"), WRONG, ids=lambda each: str(each)[:30])
def test_what_names_no_graphs(index, error, words):
    with pytest.raises(error, match=re.escape(words)) as raised:
        FEW[index]
    assert "\n" not in str(raised.value)
