"""Many graphs held as one: what is kept, what is shown of it, and what is refused."""

import copy
import json
import pickle

import numpy as np
import pytest
import torch
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.datasets import FakeDataset
from torch_geometric.loader import DataLoader

from panconv import Adjacency
from panconv.data import GraphSet
from panconv.testing import close

EDGES = torch.tensor(
    [[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]
)  # a pair of nodes, a graph without nodes, a path of three
PTR, Y = torch.tensor([0, 2, 2, 5]), torch.tensor([0, 1, 1])


def made(**changes):
    given = {"x": torch.arange(10.0).reshape(5, 2), "edge_index": EDGES, "ptr": PTR, "y": Y, **changes}
    return GraphSet(**given)


def test_what_is_kept():
    found = made(name="few", classes=("a", "b"))
    assert len(found) == 3
    assert found.sizes.tolist() == [2, 0, 3]
    assert found.num_classes == found.num_features == 2
    assert found.counts() == {"a": 1, "b": 2}
    assert repr(found) == "GraphSet(few: 3 graphs of 2 classes, 5 nodes, 3 edges, 2 features)"
    last = found[-1]
    assert last.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert last.x.tolist() == [[4, 5], [6, 7], [8, 9]]
    assert last.y.tolist() == [1]
    assert found[1].num_nodes == found[1].num_edges == 0
    assert [data.num_nodes for data in found] == [2, 0, 3]
    assert found.adjacency is found.adjacency
    assert torch.equal(found.adjacency[2].to_dense(), Adjacency.of(last.edge_index, None, 3).to_dense())
    with pytest.raises(AttributeError):
        found.x = found.x + 1
    for index in (3, -4, 1.5, "a"):
        with pytest.raises(IndexError, match="integer from -3 to 2"):
            found[index]


def test_what_is_said_of_it():
    facts = made(notes=["a note"]).describe()
    json.dumps(facts, allow_nan=False)
    assert facts["graphs"] == 3
    assert facts["classes"] == {"0": 1, "1": 2}
    assert facts["nodes"] == {"least": 0, "mean": 1.6667, "most": 3}
    assert facts["edges"] == {"least": 0, "mean": 1.0, "most": 2}
    assert (facts["without_nodes"], facts["without_edges"], facts["directed"], facts["weighted"]) == (
        1,
        1,
        False,
        False,
    )
    assert facts["notes"] == ["a note"]
    loop = made(edge_index=torch.tensor([[0, 1, 1], [1, 0, 1]])).describe()
    assert loop["edges"]["most"] == 2
    numbers = made(y=torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64), edge_index=EDGES[:, 1:])
    assert numbers.describe()["target"] == {"least": -1.0, "mean": 0.5, "most": 2.0}
    assert numbers.describe()["directed"]
    assert repr(numbers) == "GraphSet(3 graphs with a number each, 5 nodes, 5 directed edges, 2 features)"
    assert (numbers.num_classes, numbers.counts(), numbers.y.dtype) == (0, {}, torch.float64)


def test_it_travels_with_what_is_prepared():
    weighted = made(edge_weight=torch.rand(6))
    weighted.adjacency.base("Â").operands(torch.float32)
    for other in (pickle.loads(pickle.dumps(weighted)), copy.deepcopy(weighted), weighted.to("cpu")):
        assert "Â" in other.adjacency.prepared_parts()
        close(other.adjacency[2].to_dense(), weighted.adjacency[2].to_dense())
        assert torch.equal(other.edge_weight, weighted.edge_weight)
    with pytest.raises(ValueError, match="device must be one that torch has"):
        weighted.to("nowhere")


@settings(max_examples=25)
@given(st.booleans().flatmap(lambda w: st.lists(graphs(weighted=w), min_size=2, max_size=5)), st.randoms())
def test_edges_in_any_order_and_each_graph_again(many, random):
    if not sum(graph.num_nodes for graph in many):
        return
    data = []
    for i, graph in enumerate(many):
        weight = {} if graph.edge_weight is None else {"edge_weight": graph.edge_weight}
        data.append(Data(x=torch.rand(graph.num_nodes, 2), edge_index=graph.edge_index, y=i % 2, **weight))
    found = GraphSet.of(data)
    order = list(range(found.edge_index.size(1)))
    random.shuffle(order)
    weight = None if found.edge_weight is None else found.edge_weight[order]
    mixed = GraphSet(found.x, found.edge_index[:, order], found.ptr, found.y, weight)
    for one in (found, mixed):
        for i, (graph, each) in enumerate(zip(many, data, strict=True)):
            right = Adjacency.of(graph.edge_index, graph.edge_weight, graph.num_nodes).to_dense(torch.float64)
            close(one.adjacency[i].to_dense(torch.float64), right)
            again = Adjacency.of(one[i].edge_index, one[i].get("edge_weight"), graph.num_nodes).to_dense(torch.float64)
            close(again, right)
            assert torch.equal(one[i].x, each.x)


def test_a_dataset_of_pyg_and_back_into_its_loader():
    dataset = FakeDataset(num_graphs=6, avg_num_nodes=8, num_channels=3, edge_dim=0, task="graph")
    found = GraphSet.of(dataset, name="fake")
    batch, right = next(iter(DataLoader(found, batch_size=6))), Batch.from_data_list([*dataset])
    for name in ("x", "edge_index", "batch"):
        assert torch.equal(batch[name], right[name])
    names = sorted({int(y) for y in right.y})
    assert [int(found.classes[c]) for c in found.y] == right.y.tolist()
    assert found.classes == tuple(map(str, names))
    assert torch.equal(found.ptr, right.ptr)


def test_degrees_where_there_is_no_x():
    star = torch.tensor([[0] * 140 + [*range(1, 141)], [*range(1, 141)] + [0] * 140])
    found = GraphSet.of([Data(edge_index=e, num_nodes=141, y=y) for e, y in ((star, 3), (star[:, :0], -1))])
    assert found.features == "degrees, one-hot, 0 … 128 and more"
    assert found.classes == ("-1", "3")
    assert found.x.shape == (282, 129)
    assert found.x.argmax(1).tolist() == [128] + [1] * 140 + [0] * 141
    assert found.x.sum(1).eq(1).all()


def test_edge_attributes_are_left_out_and_said():
    pair = torch.tensor([[0, 1], [1, 0]])
    data = [Data(x=torch.ones(2, 1), edge_index=pair, edge_attr=torch.ones(2, 3), y=torch.tensor([[0.5]]))] * 2
    found = GraphSet.of(data)
    assert found.notes == ("edge_attr is left out: weights are read from edge_weight",)
    assert found.y.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": torch.ones(5)}, r"x must be a tensor \(ΣN, F\)"),
        ({"x": torch.ones(5, 0)}, "at least one column"),
        ({"x": torch.ones(0, 2), "ptr": torch.tensor([0, 0])}, "at least one graph must have a node"),
        ({"x": torch.tensor([[1.0]] * 3 + [[torch.nan]] * 2)}, "x holds NaN or infinite features, .* at node 3"),
        ({"x": torch.tensor([[1.0]] * 4 + [[1e300]], dtype=torch.float64)}, "beyond float32, at node 4"),
        ({"ptr": torch.tensor([0, 2, 4])}, "ptr must rise from 0 to 5, .* got 0 … 4"),
        ({"ptr": torch.tensor([0, 3, 2, 5])}, "which falls"),
        ({"ptr": torch.tensor([0])}, r"ptr must be a tensor \(G \+ 1,\)"),
        ({"ptr": [0, 5]}, r"ptr must be a tensor"),
        ({"edge_index": torch.tensor([[0, 1], [1, 2]])}, "from graph 0 to graph 2, by edge 1 from node 1 to 2"),
        ({"edge_index": torch.tensor([[0], [5]])}, "edge_index names node 5, but there are only 5 nodes"),
        ({"edge_index": EDGES.T}, "edge_index must have shape"),
        ({"y": torch.tensor([0, 1])}, r"y must be a tensor \(3,\), a class or a number per graph"),
        ({"y": torch.ones(3, 2)}, r"of several targets choose one, such as y\[:, 0\]"),
        ({"y": torch.tensor([0.5, torch.inf, 1])}, "y holds NaN or infinite numbers, at graph 1"),
        ({"y": torch.tensor([0, -1, 1])}, "y names class -1, but classes are 0 and up"),
        ({"y": torch.tensor([0, 1, 2]), "classes": "ab"}, "y names class 2, but classes are 0 … 1"),
        ({"y": torch.tensor([0, 1, 9])}, "y names class 9, but has 3 graphs: number the classes from 0"),
        ({"y": torch.tensor([1, 1, 1])}, "one class alone, 1, of 3 graphs"),
        ({"y": torch.tensor([0, 0, 0]), "classes": ["a"]}, "one class alone, a, of 3 graphs"),
        ({"y": torch.tensor([0.0, 1, 1]), "classes": "ab"}, "y is of torch.float32: make it integers"),
        ({"edge_weight": torch.ones(5)}, r"edge_weight must have shape \(6,\)"),
        ({"edge_weight": torch.tensor([1.0] * 5 + [torch.nan])}, "edge_weight must be finite"),
    ],
)
def test_bad_input_is_named_in_one_line(changes, words):
    with pytest.raises((ValueError, TypeError), match=words) as error:
        made(**changes)
    assert "\n" not in str(error.value)


def test_one_class_of_several_that_are_named_will_do():
    assert made(y=torch.tensor([1, 1, 1]), classes="abc").counts() == {"a": 0, "b": 3, "c": 0}
    assert made(y=torch.tensor([True, False, True])).y.tolist() == [1, 0, 1]


PAIR = {"x": torch.ones(2, 1), "edge_index": torch.tensor([[0, 1], [1, 0]]), "y": 0}


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], ValueError, "at least one PyG Data, got none"),
        (Data(**PAIR), TypeError, "a list of PyG Data, or a dataset of them, got Data"),
        (3, TypeError, "a list of PyG Data"),
        ([Data(**PAIR), HeteroData()], TypeError, "got HeteroData at 1"),
        ([Data(x=torch.ones(2, 1))], TypeError, "got one without edge_index at 0"),
        (
            [Data(**PAIR), Data(**{**PAIR, "x": None}, num_nodes=2)],
            ValueError,
            r"graphs\[1\].x must be a tensor \(2, …\)",
        ),
        (
            [Data(**PAIR), Data(**{**PAIR, "x": torch.ones(2, 3)})],
            ValueError,
            r"graphs\[1\].x must be .* as the others'",
        ),
        ([Data(**PAIR), Data(**{**PAIR, "y": None})], ValueError, r"graphs\[1\].y must be one class or one number"),
        ([Data(**{**PAIR, "y": torch.ones(1, 19)})], ValueError, "choose one target"),
        (
            [Data(**PAIR), Data(**{**PAIR, "edge_index": EDGES})],
            ValueError,
            r"graphs\[1\] has 2 nodes, but an edge from 2",
        ),
        ([Data(**PAIR), Data(**PAIR)], ValueError, "one class alone, 0, of 2 graphs"),
    ],
)
def test_lists_that_are_no_sets(given, error, words):
    with pytest.raises(error, match=words) as raised:
        GraphSet.of(given)
    assert "\n" not in str(raised.value)


def test_integers_of_numpy_are_classes_too():
    found = GraphSet.of([Data(**{**PAIR, "y": torch.as_tensor(np.int32(y))}) for y in (5, 7, 5)])
    assert found.classes == ("5", "7")
    assert found.y.tolist() == [0, 1, 0]


def test_edges_of_another_shape_are_refused():
    wrong = Data(x=torch.ones(2, 1), edge_index=torch.tensor([0, 1, 1, 0]), y=1)
    with pytest.raises(ValueError, match=r"graphs\[0\].edge_index must be \(2, E\), got \(4,\)"):
        GraphSet.of([wrong])
