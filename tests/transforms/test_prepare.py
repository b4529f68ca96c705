import gc
import pickle
from unittest import mock

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader

from panconv import METHODS, Adjacency, METTransform, PANConv, transforms
from panconv.graph import BASES
from panconv.graph import prepared as cache
from panconv.testing import close
from panconv.transforms import PreparedData, PrepareGraph


def molecules(count=7, weighted=False):
    made = []
    for i in range(count):
        N = 4 + i % 3
        edges = torch.randint(N, (2, 2 * N))
        edges = torch.cat([edges, edges.flip(0)], 1) if i % 2 else edges
        weight = {"edge_weight": torch.rand(edges.size(1))} if weighted else {}
        made.append(Data(x=torch.randn(N, 3), edge_index=edges, y=torch.tensor([i]), **weight))
    empty = torch.empty(2, 0).long()
    weight = {"edge_weight": torch.empty(0)} if weighted else {}
    return [*made, Data(x=torch.randn(2, 3), edge_index=empty, y=torch.tensor([9]), **weight)]


def needs_no_preparation():
    refuse = mock.Mock(side_effect=AssertionError("prepared again"))
    return mock.patch.dict(BASES, {name: refuse for name in BASES if name != "A"})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_batch_holds_one_graph_with_all_that_the_method_needs(method, weighted):
    data, prepare = molecules(weighted=weighted), PrepareGraph(method, L=2)
    batch = Batch.from_data_list([prepare(each) for each in data])
    assert isinstance(batch.adj, Adjacency)
    conv = PANConv(3, 2, method=method)
    right = conv(batch.x, batch.edge_index, batch.get("edge_weight"))
    with needs_no_preparation():
        torch.testing.assert_close(conv(batch.x, batch.adj), right)
    for i, one in enumerate(batch.to_data_list()):
        assert type(one) is PreparedData
        assert torch.equal(one.adj.to_dense(), prepare(data[i]).adj.to_dense())
    assert torch.equal(batch[2].adj.base("Â").to_dense(), prepare(data[2]).adj.base("Â").to_dense())


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_joins_in_its_workers(num_workers):
    data = molecules(5)
    loader = DataLoader([PrepareGraph()(each) for each in data], batch_size=3, num_workers=num_workers)
    conv, seen = PANConv(3, 2), 0
    for batch in loader:
        with needs_no_preparation():
            out = conv(batch.x, batch.adj)
        torch.testing.assert_close(out, conv(batch.x, batch.edge_index))
        seen += batch.num_graphs
        assert batch[0].adj.num_nodes == batch[0].num_nodes
    assert seen == 6


def test_a_batch_moves_and_is_copied_whole():
    batch = Batch.from_data_list([PrepareGraph()(each) for each in molecules(3)])
    for other in (pickle.loads(pickle.dumps(batch)), batch.clone(), batch.contiguous()):
        with needs_no_preparation():
            close(other.adj.base("Â").to_dense(), batch.adj.base("Â").to_dense())
        assert other[1].adj.num_nodes == batch[1].num_nodes
    moved = batch.clone().to("meta", non_blocking=True)
    assert moved.adj.device.type == moved.adj.base("Â").operands(torch.float32)[0].value.device.type == "meta"
    with mock.patch.object(torch.Tensor, "pin_memory", torch.Tensor.clone):
        assert batch.pin_memory().adj.base("Â").crow.shape == batch.adj.base("Â").crow.shape


def test_plain_data_hold_a_list_that_layers_join_once():
    data = molecules(3)
    adjs = [Adjacency.of(each.edge_index, None, each.num_nodes) for each in data]
    batch = Batch.from_data_list([Data(x=each.x, adj=adj) for each, adj in zip(data, adjs, strict=True)])
    right = Batch.from_data_list(data)
    conv = PANConv(3, 2)
    with mock.patch.object(cache, "block_diagonal", wraps=cache.block_diagonal) as join:
        for _ in range(3):
            torch.testing.assert_close(conv(batch.x, batch.adj), conv(right.x, right.edge_index))
        assert join.call_count == 1
        conv(batch.x, list(batch.adj))
        assert join.call_count == 1
        conv(batch.x.flip(0), batch.adj[::-1])
        assert join.call_count == 2
    before = len(cache._batches)
    adjs.clear()
    del batch, join
    gc.collect()  # the mock
    assert len(cache._batches) < before
    with pytest.raises(ValueError, match="it needs one per node"):
        conv(right.x[1:], right.num_nodes and [Adjacency.of(TRIANGLE_AND_TAIL)])


class Molecules(InMemoryDataset):
    def __init__(self, root, **options):
        super().__init__(root, **options)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self):
        return ["data.pt"]

    def process(self):
        self.save([self.pre_transform(each) for each in molecules(4)], self.processed_paths[0])


@pytest.mark.filterwarnings("ignore:Weights only load failed")
def test_before_a_dataset_is_written(tmp_path):
    dataset = Molecules(tmp_path, pre_transform=PrepareGraph(), force_reload=True)
    (batch,) = DataLoader(dataset, batch_size=5)
    with needs_no_preparation():
        PANConv(3, 2)(batch.x, batch.adj)
    assert type(dataset[0]) is PreparedData


class Own(Data):
    def __inc__(self, key, value, *args):
        return 10 if key == "code" else Data.__inc__(self, key, value, *args)


class OwnPrepared(PreparedData):
    __inc__ = Own.__inc__


def test_classes_of_one_s_own_stay(recwarn):
    data = molecules(1)[0]
    for kind, joined in ((Own, list), (OwnPrepared, Adjacency)):
        own = PrepareGraph(name="graph")(kind.from_dict({**data.to_dict(), "code": torch.tensor([0])}))
        assert type(own) is kind
        batch = Batch.from_data_list([own, own])
        assert type(batch.graph) is joined
        assert batch.code.tolist() == [0, 10]
        assert PANConv(3, 2)(batch.x, batch.graph).shape == (8, 2)


def test_pyg_s_questions_are_answered_as_before():
    data = Data(x=torch.ones(4, 1), edge_index=TRIANGLE_AND_TAIL)
    made = PrepareGraph()(data)
    assert "adj" not in data
    assert made.is_undirected()
    assert made.num_nodes == 4
    assert made.num_edges == 8
    assert made.is_coalesced() == data.is_coalesced()
    assert list(made.values()) == [made.x, made.edge_index, made.adj]
    views = PreparedData()
    views.views = [made.adj, made.adj]  # a list of its own, which is no batch
    assert isinstance(views.views, list)


def test_several_methods_and_nothing_else():
    data = Data(edge_index=TRIANGLE_AND_TAIL, num_nodes=4)
    adj = PrepareGraph([1, 5], dtype=torch.float64, L=3)(data).adj
    assert set(adj._cache) == {"Â", torch.float64, ("walks", 3)}
    assert set(adj._cache["Â"]._cache) == {torch.float64}
    assert set(PrepareGraph(4)(data).adj._cache) == {"A+I"}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": 12}, ValueError, "method must be one of"),
        ({"method": [5, "x"]}, ValueError, "method must be one of"),
        ({"name": "a b"}, ValueError, "name must be that of an attribute"),
        ({"dtype": torch.int32}, TypeError, "dtype must be one of"),
        ({"L": -1}, ValueError, "L must be at least 0"),
    ],
)
def test_bad_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        PrepareGraph(**options)


def test_bad_data_are_named():
    with pytest.raises(TypeError, match="one kind of node and edge, got"):
        PrepareGraph()(HeteroData())
    with pytest.raises(ValueError, match="edge_index is missing"):
        PrepareGraph()(Data(x=torch.ones(3, 1)))


def test_names_and_pickles_from_before_are_found():
    assert transforms.METTransform is METTransform
    assert pickle.loads(b"cpanconv.transforms\nMETTransform\n.") is METTransform  # as a former version wrote it
    assert repr(PrepareGraph([1, 5])).startswith("PrepareGraph(method=(1, 5), name='adj'")
