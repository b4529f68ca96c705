import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
import torch
from build_datasets import pack

from panconv import load
from panconv.data import DATASETS, builtin
from panconv.testing import close


@pytest.mark.parametrize("name", DATASETS)
def test_a_graph_is_what_its_card_says(name):
    card, data = DATASETS[name], load(name)
    assert (data.num_nodes, data.num_features, int(data.y.max()) + 1) == (card.nodes, card.features, card.classes)
    assert data.num_edges == 2 * card.edges
    assert tuple(int(m.sum()) for m in (data.train_mask, data.val_mask, data.test_mask)) == card.split
    assert not (data.train_mask & data.val_mask).any()
    assert not ((data.train_mask | data.val_mask) & data.test_mask).any()
    data.validate()
    assert data.is_undirected()
    assert data.is_coalesced()
    assert not data.has_self_loops()
    sums = data.x.sum(1)
    assert torch.all((sums - 1).abs().lt(1e-4) | (sums == 0))


def test_isolated_and_wordless_nodes_of_citeseer():
    data = load("citeseer")
    degree = torch.bincount(data.edge_index[0], minlength=data.num_nodes)
    assert int((degree == 0).sum()) == 48
    assert int((data.x.sum(1) == 0).sum()) == 15


def test_sparse_and_raw_features():
    for normalize in (True, False):
        sparse, dense = (load("cora", sparse=s, normalize=normalize) for s in (True, False))
        assert sparse.x.layout == torch.sparse_csr
        close(sparse.x.to_dense(), dense.x)
    assert set(load("cora", normalize=False).x.unique().tolist()) == {0, 1}
    assert load("CORA").num_nodes == 2708


def file_of(name):
    return Path(builtin.__file__).with_name(f"{name}.npz")


def test_all_three_together_are_small():
    assert sum(file_of(name).stat().st_size for name in DATASETS) < 6_000_000


@pytest.mark.parametrize("name", DATASETS)
def test_packing_gives_the_same_graph_and_the_same_bytes(name):
    graph = builtin.read(name)
    content = pack(graph)
    assert content == pack(builtin.unpack(content))
    again = builtin.unpack(content)
    assert (again.features != graph.features).nnz == 0
    for key in ("edges", "y", "train", "val", "test"):
        assert np.array_equal(getattr(again, key), getattr(graph, key))


def test_a_pickle_in_a_file_is_refused():
    buffer = io.BytesIO()
    np.savez(buffer, shape=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        builtin.unpack(buffer.getvalue())


def test_no_pickle_in_the_files():
    for name in DATASETS:
        with np.load(file_of(name), allow_pickle=False) as file:
            assert all(file[key].dtype != object for key in file.files)


@pytest.mark.parametrize("damage", [lambda b: b[:-100], lambda b: b[:500] + b"x" + b[501:], lambda b: b""])
def test_a_damaged_file_is_refused(tmp_path, monkeypatch, damage):
    content = file_of("cora").read_bytes()
    (tmp_path / "cora.npz").write_bytes(damage(content))
    monkeypatch.setattr(builtin, "files", lambda package: tmp_path)
    with pytest.raises(ValueError, match=r"the file of 'cora' is damaged.*install panconv again"):
        load("cora")


def test_checksums_are_those_of_the_files():
    for name, card in DATASETS.items():
        assert hashlib.sha256(file_of(name).read_bytes()).hexdigest() == card.sha256


def test_sources_of_another_kind():
    with pytest.raises(TypeError, match="source must be the name of a graph or a folder, got NoneType"):
        load(None)
    with pytest.raises(ValueError, match="name='pubmed' goes with a folder"):
        load("cora", name="pubmed")


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match=r"'coda' is neither a built-in graph \(cora, citeseer, pubmed\) nor a folder"):
        load("coda")
