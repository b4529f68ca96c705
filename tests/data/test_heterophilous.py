import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from panconv import load
from panconv.data import heterophilous

OFFICIAL = os.environ.get("PANCONV_HETEROPHILOUS")
# What the benchmark's paper and the page of the filtered graphs say: nodes, undirected edges, features, classes.
SIZES = {
    "minesweeper": (10_000, 39_402, 7, 2),
    "tolokers": (11_758, 519_000, 10, 2),
    "squirrel_filtered": (2_223, 46_998, 2_089, 5),
    "chameleon_filtered": (890, 8_854, 2_325, 5),
}


def arrays(**changes):
    """A graph of six nodes with two splits, and negative features."""
    turn = np.arange(6) % 3
    masks = {name: np.stack([turn == i, turn[::-1] == i]) for i, name in enumerate(heterophilous._MASKS)}
    return {
        "node_features": np.array([[-1.5, 2.0], [0, 0], [1, 1], [0.25, -3], [4, 0], [0, 7]], np.float32),
        "node_labels": np.array([0, 1, 1, 0, 1, 0]),
        "edges": np.array([[0, 1], [2, 1], [4, 5]]),
        **masks,
        **changes,
    }


def written(path, **changes):
    content = {name: value for name, value in arrays(**changes).items() if value is not None}
    np.savez_compressed(path, **content)
    return path


def packed(path, members, how=zipfile.ZIP_DEFLATED):
    """An archive of bytes, whatever they are; those that are not named are sound."""
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, value in arrays().items():
            file = io.BytesIO()
            np.save(file, value)
            archive.writestr(f"{name}.npy", members.get(name, file.getvalue()))
    return path


@pytest.mark.parametrize("sparse", [False, True])
def test_a_file_as_it_stands(tmp_path, sparse):
    data = load(written(tmp_path / "own.npz"), sparse=sparse)
    assert data.x.dtype == torch.float32
    assert torch.equal(data.x.to_dense(), torch.from_numpy(arrays()["node_features"]))  # rows are not scaled
    assert data.edge_index.T.tolist() == [[0, 1], [1, 0], [1, 2], [2, 1], [4, 5], [5, 4]]
    assert data.y.tolist() == [0, 1, 1, 0, 1, 0]
    assert data.train_mask.T.tolist() == [[True, False, False] * 2, [False, False, True] * 2]
    assert data.val_mask.shape == data.test_mask.shape == (6, 2)
    assert torch.equal(load(str(tmp_path / "own.npz"), normalize=False).x, data.x.to_dense())


def test_other_numbers_orders_and_repeated_edges(tmp_path):
    features = np.asfortranarray(np.arange(12).reshape(6, 2))
    edges = np.array([[1, 0], [0, 1], [3, 3]], np.int32)
    data = load(written(tmp_path / "own.npz", node_features=features, edges=edges))
    assert data.x.tolist() == features.tolist()
    assert data.edge_index.tolist() == [[0, 1], [1, 0]]


def header(shape, dtype="<f4"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": None}, "it has no array edges"),
        ({"edges": np.array([[0, 6]])}, "edges has 6, which is none of 0 … 5"),
        ({"edges": np.array([[0, -1]])}, "edges has -1, which is none of 0 … 5"),
        ({"edges": np.zeros((1, 3), int)}, "do not belong together"),
        ({"edges": np.zeros((1, 2))}, "edges must have 2 dimensions of whole numbers, got .* float64"),
        ({"node_labels": np.zeros(5, int)}, "do not belong together"),
        ({"node_labels": np.full(6, 10**9)}, "node_labels has 1000000000, which is none of 0 … 5"),
        ({"node_features": np.full((6, 2), np.nan)}, "node_features are NaN, infinite or beyond float32"),
        ({"node_features": np.full((6, 2), 1e300)}, "node_features are NaN, infinite or beyond float32"),
        ({"node_features": np.full((6, 2), "a")}, "node_features must have 2 dimensions of numbers"),
        ({"node_features": np.full((6, 2), None)}, "node_features must have 2 dimensions of numbers"),  # a pickle
        ({"node_features": np.zeros((0, 2))}, "do not belong together"),
        ({"val_masks": np.zeros((2, 6), int)}, "val_masks must have 2 dimensions of truth values"),
        ({"val_masks": np.zeros((1, 6), bool)}, r"the masks \(2, 6\), \(1, 6\) and \(2, 6\) must be alike"),
        ({"test_masks": np.zeros((2, 6), bool)}, "a split has no node"),
        ({"test_masks": np.ones((2, 6), bool)}, "train_masks, val_masks and test_masks share nodes"),
    ],
)
def test_arrays_that_are_wrong(tmp_path, changes, words):
    path = written(tmp_path / "own.npz", **changes)
    with pytest.raises(
        ValueError, match=f"own.npz is no sound file of the heterophilous benchmark: .*{words}"
    ) as error:
        load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"edges": b"no array"}, "edges is no array of NumPy's format"),
        ({"edges": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535}, "edges is no array of NumPy's format"),
        ({"node_features": header((10**9, 10**9))}, "node_features of shape .* has 0 bytes"),
        ({"node_features": header((-6, -2)) + b"0" * 48}, "node_features of shape .* has 48 bytes"),
        ({"train_masks": header((2, 6), "|b1") + b"\x07" * 12}, "truth values other than 0 and 1"),
        ({"node_features": bytes(2**20 + 1)}, "it unpacks to far more than its own size"),
    ],
)
def test_archives_that_are_forged(tmp_path, monkeypatch, members, words):
    monkeypatch.setattr(heterophilous, "_LEAST_BUDGET", 2**20)
    with pytest.raises(ValueError, match=words):
        load(packed(tmp_path / "own.npz", members))


def test_archives_that_are_damaged(tmp_path):
    whole = written(tmp_path / "own.npz").read_bytes()
    for content in (b"", whole[: len(whole) // 2], whole[:60] + b"\xff" * 40 + whole[100:]):
        (tmp_path / "cut.npz").write_bytes(content)
        with pytest.raises(ValueError, match="it cannot be unpacked"):
            load(tmp_path / "cut.npz")
    with pytest.raises(ValueError, match="is packed in a way that NumPy does not write"):
        load(packed(tmp_path / "own.npz", {}, zipfile.ZIP_LZMA))


def test_files_that_are_not_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"cannot read .*none.npz: No such file or directory; name another file"):
        load(tmp_path / "none.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match="is no regular file"):
        load(tmp_path / "folder.npz")
    with pytest.raises(ValueError, match=r"name='x' goes with a folder, but source .* is one graph"):
        load(tmp_path / "none.npz", name="x")
    monkeypatch.delenv("PANCONV_HETEROPHILOUS", raising=False)
    with pytest.raises(ValueError, match=r"set PANCONV_HETEROPHILOUS to the folder that holds tolokers.npz"):
        load("tolokers")


def test_a_graph_is_found_by_its_name(tmp_path, monkeypatch):
    written(tmp_path / "minesweeper.npz")
    monkeypatch.setenv("PANCONV_HETEROPHILOUS", str(tmp_path))
    assert load("Minesweeper").num_nodes == 6


@pytest.mark.skipif(OFFICIAL is None, reason="PANCONV_HETEROPHILOUS names no folder of the benchmark's files")
@pytest.mark.parametrize("name", heterophilous.METRIC_OF)
def test_the_files_of_the_benchmark(name):
    data = load(name)
    N, E, F, C = SIZES[name]
    assert (data.num_nodes, data.num_edges, data.num_features, int(data.y.max()) + 1) == (N, 2 * E, F, C)
    masks = torch.stack([data.train_mask, data.val_mask, data.test_mask])
    assert masks.shape == (3, N, 10)
    assert (masks.sum(0) == 1).all()  # each node in one part of every split
    with np.load(Path(OFFICIAL) / f"{name}.npz") as file:
        assert torch.equal(data.x, torch.from_numpy(file["node_features"]))
        assert torch.equal(data.test_mask[:, 7], torch.from_numpy(file["test_masks"][7]))
    assert (heterophilous.METRIC_OF[name] == "auc") == (C == 2)
