"""Graphs that come as objects or in files of their own: NetworkX, SciPy, pairs, PyG."""

import io
import zipfile

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from panconv import load, read
from panconv.data import without_tables


def test_networkx_and_graphml(tmp_path):
    karate = nx.karate_club_graph()
    graph = read(karate, label="club")
    assert (graph.num_nodes, graph.num_edges, graph.classes) == (34, 78, ("Mr. Hi", "Officer"))
    assert graph.ids.tolist() == list(range(34))
    assert graph.edge_weight is not None
    nx.write_graphml(karate, tmp_path / "karate.graphml")
    other = read(tmp_path / "karate.graphml", label="club")
    assert other.edge_index.tolist() == graph.edge_index.tolist()
    assert read(nx.DiGraph([("a", "b")])).edge_index.tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="did you mean 'club'"):
        read(karate, label="clubs")


def test_scipy_is_receiver_by_sender(tmp_path):
    a = sp.csr_matrix(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    graph = read(a, np.eye(3), directed=True)
    assert graph.edge_index.tolist() == [[1, 2], [0, 1]]
    assert graph.edge_weight.tolist() == [1, 2]
    assert graph.matrix.shape == (3, 3)
    sp.save_npz(tmp_path / "a.npz", a)
    assert read(tmp_path / "a.npz", directed=True).edge_index.tolist() == graph.edge_index.tolist()
    with pytest.raises(ValueError, match="features must be a matrix of numbers with 3 rows"):
        read(a, np.eye(4))
    with pytest.raises(ValueError, match=r"edges must be a square matrix A\[receiver, sender\], got shape \(3, 2\)"):
        read(a[:, :2])


def test_a_list_of_pairs():
    assert read([("a", 1), (1, "b")]).ids.tolist() == ["a", "1", "b"]
    for wrong in ([("a",)], [("a", None)], ["ab"], [("a", float("nan"))]):
        with pytest.raises(ValueError, match=r"edges\[0\] must be a pair of ids"):
            read(wrong)
    with pytest.raises(ValueError, match="edges is empty"):
        read([])
    with pytest.raises(ValueError, match="does not say which row is whose"):
        read([(1, 2)], np.eye(2))
    with pytest.raises(ValueError, match="label='x' is a column of a table, and edges is a list"):
        read([(1, 2)], label="x")
    for wrong, remedy in ((3, "got int"), (np.eye(2), "hand over .tolist"), (torch.eye(2), "hand over Data")):
        with pytest.raises(TypeError, match=f"edges must be a table .*{remedy}"):
            read(wrong)


def test_pyg_with_masks_and_without():
    data = load("cora", sparse=True)
    graph = read(data)
    assert (graph.num_nodes, graph.num_edges, len(graph.classes)) == (2708, 5278, 7)
    assert sum(graph.counts().values()) == 640
    assert (graph.y[data.train_mask.numpy()] == data.y[data.train_mask].numpy()).all()
    assert (graph.y[data.test_mask.numpy()] == -1).all()
    np.testing.assert_array_equal(graph.matrix.toarray(), data.x.to_dense().double())
    bare = read(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 0, 1, 1]), num_nodes=4))
    assert bare.labels.tolist() == ["0", "0", "1", "1"]
    assert bare.directed
    described = Data(edge_index=torch.tensor([[0], [1]]), edge_attr=torch.ones(1, 3), num_nodes=2)
    assert "edge_attr is not used: weights of edges are read from edge_weight, (E,)" in read(described).guessed
    with pytest.raises(ValueError, match=r"edge_index names node 7, but the nodes are 0 … 2"):
        read(Data(edge_index=torch.tensor([[0], [7]]), num_nodes=3))


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)


def header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


def test_pyg_of_numbers():
    edges, train = torch.tensor([[0, 1], [1, 2]]), torch.tensor([True, True, False])
    data = Data(edge_index=edges, y=torch.tensor([-1, 2, 3]), train_mask=train, num_nodes=3)
    graph = read(data, regression=True)
    np.testing.assert_equal(graph.targets, [-1, 2, np.nan])
    assert (graph.labels.tolist(), graph.classes) == (["-1", "2", None], ())
    with pytest.warns(UserWarning, match="every label is '2'"):
        graph = read(data)
    assert graph.labels.tolist() == [None, "2", None]
    np.testing.assert_equal(graph.targets, [-1, 2, np.nan])


def test_zip_bombs_are_refused_before_anything_is_allocated(tmp_path, monkeypatch):
    monkeypatch.setattr(without_tables, "_MOST_BYTES", 2**22)
    bomb, lie = tmp_path / "bomb.npz", tmp_path / "lie.npz"
    archive(bomb, data=header((2**21,)) + bytes(2**24))  # zeros, packed a thousandfold
    assert bomb.stat().st_size < 2**16
    archive(lie, data=header((10**13,)))  # says that it is 80 TB
    for path in (bomb, lie):
        with pytest.raises(ValueError, match="bytes, far more than its own size: it is refused"):
            read(path)
    for content in (b"", b"PK\x03\x04", b"x" * 100):
        lie.write_bytes(content)
        with pytest.raises(ValueError, match=r"lie.npz is no archive of NumPy's \(.*\): write one with save_npz"):
            read(lie)
    np.savez(lie, a=np.eye(3))
    with pytest.raises(ValueError, match="holds no SciPy matrix"):
        read(lie)
    with pytest.raises(ValueError, match="is not there"):
        read(tmp_path / "none.npz")
