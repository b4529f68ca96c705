import collections
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from panconv import load
from panconv.data.pickles import read_matrix

OFFICIAL = os.environ.get("PANCONV_PLANETOID")


@pytest.fixture
def folder(tmp_path):
    """A small graph in Planetoid's format, whose test range has a gap, as Citeseer's has."""
    rng = np.random.default_rng(0)
    first, F, C = 506, 9, 3  # 4 train, 500 validation, 2 more
    test = np.array([509, 506, 508])  # 507 is missing

    def labels(rows):
        return np.eye(C, dtype=np.int32)[np.arange(rows) % C]

    def words(rows):
        return sp.csr_matrix((rng.random((rows, F)) < 0.3).astype(np.float32))

    graph = collections.defaultdict(list, {0: [1, 1, 509], 1: [0], 2: [2, 3], 3: [2], 509: [0], 507: []})
    allx = words(first)
    parts = {
        "allx": allx,
        "tx": words(3),
        "x": allx[:4],
        "ally": labels(first),
        "ty": labels(3),
        "y": labels(4),
    }
    for name, part in {**parts, "graph": graph}.items():
        (tmp_path / f"ind.tiny.{name}").write_bytes(pickle.dumps(part, protocol=3))
    (tmp_path / "ind.tiny.test.index").write_text("\n".join(map(str, test)))
    return tmp_path


def test_raw_files(folder):
    data = load(folder, normalize=False)
    assert data.num_nodes == 510
    assert sorted(map(tuple, data.edge_index.T.tolist())) == [(0, 1), (0, 509), (1, 0), (2, 3), (3, 2), (509, 0)]
    tx = read_matrix((folder / "ind.tiny.tx").read_bytes()).toarray()
    for row, node in enumerate([509, 506, 508]):
        assert data.x[node].tolist() == tx[row].tolist()
        assert data.y[node] == row
    assert data.x[507].sum() == 0
    assert data.train_mask.nonzero().squeeze().tolist() == [0, 1, 2, 3]
    assert data.val_mask.nonzero().squeeze().tolist() == list(range(4, 504))
    assert data.test_mask.nonzero().squeeze().tolist() == [506, 508, 509]


def test_a_pickle_that_would_run_code_does_not(folder, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/owned",)

    (folder / "ind.tiny.graph").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ValueError, match=r"ind.tiny.graph is not a sound Planetoid file: it names '\w+.system'"):
        load(folder)
    assert not (tmp_path / "owned").exists()


def forged():
    matrix = sp.csr_matrix(np.eye(506, 9, dtype=np.float32))
    matrix.indices[0] = 10_000  # would read outside the array
    return matrix


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("allx", forged(), "allx is not a sound .* names a column that is none of 0 … 8"),
        ("allx", [1, 2], "allx is not a sound .* it holds no sparse matrix"),
        ("tx", sp.csr_matrix(np.full((3, 9), np.nan)), "NaN"),
        ("tx", sp.csr_matrix(np.ones((2, 9))), "do not belong together"),
        ("ty", [1, 2], "holds no array"),
        ("graph", {0: [77_777]}, "names node 77777, but the features have 510 rows"),
        ("graph", {0: [-5]}, "names node -5"),
        ("x", sp.csr_matrix(np.ones((4, 9))), "x is not the beginning of"),
        ("x", sp.csr_matrix((3, 9)), "x is not the beginning of"),
        ("graph", {0: ["a"]}, "holds no adjacency lists"),
        ("graph", [1], "holds no dict of adjacency lists"),
    ],
)
def test_forged_parts(folder, part, content, message):
    (folder / f"ind.tiny.{part}").write_bytes(pickle.dumps(content, protocol=3))
    with pytest.raises(ValueError, match=message):
        load(folder)


def labels_with(value, rows=3):
    labels = np.eye(3)[np.arange(rows) % 3]
    labels[1] = value
    return labels


@pytest.mark.parametrize("value", [np.nan, [0, np.nan, 0], np.inf, 2, [1, 1, 0], -1, [0.5, 0.5, 0]])
def test_labels_that_are_not_one_hot(folder, value):
    (folder / "ind.tiny.ty").write_bytes(pickle.dumps(labels_with(value), protocol=2))
    with pytest.raises(ValueError, match=r"row 1 of .*ind.tiny.ty is no one-hot label: .*; mend it"):
        load(folder)


def test_a_row_of_zeros_is_a_node_without_a_class(folder):
    (folder / "ind.tiny.ty").write_bytes(pickle.dumps(labels_with(0), protocol=2))
    assert load(folder).y[[509, 506, 508]].tolist() == [0, 0, 2]


def test_labels_of_the_training_nodes_are_those_of_all(folder):
    (folder / "ind.tiny.y").write_bytes(pickle.dumps(labels_with([1, 0, 0], 4), protocol=2))
    with pytest.raises(ValueError, match=r"ind.tiny.y is not the beginning of .*ind.tiny.ally"):
        load(folder)


def test_features_keep_float64(folder):
    for name in ("allx", "tx", "x"):
        path = folder / f"ind.tiny.{name}"
        path.write_bytes(pickle.dumps(read_matrix(path.read_bytes()).astype(np.float64) * (1 + 1e-12), protocol=2))
    for sparse in (False, True):
        data = load(folder, normalize=False, sparse=sparse)
        assert data.x.dtype == torch.float64
        assert float(data.x.to_dense().max()) == 1 + 1e-12
        assert load(folder, sparse=sparse).x.dtype == torch.float64


def test_values_of_one_place_add(folder):
    path = folder / "ind.tiny.tx"
    twice = sp.csr_matrix((np.ones(4, np.float32), [2, 0, 2, 1], [0, 3, 4, 4]), (3, 9))
    path.write_bytes(pickle.dumps(twice, protocol=2))
    data = load(folder, normalize=False, sparse=True)
    assert data.x.to_dense()[509].tolist() == [1, 0, 2, 0, 0, 0, 0, 0, 0]
    assert data.x[509].values().tolist() == [1, 2]


@pytest.mark.parametrize("value", [3e38, 1e-45])
def test_rows_that_cannot_be_scaled(folder, value):
    tiny = sp.csr_matrix(np.full((3, 9), value, np.float32))
    (folder / "ind.tiny.tx").write_bytes(pickle.dumps(tiny, protocol=2))
    with pytest.raises(ValueError, match=r"cannot be scaled .*: load with normalize=False"):
        load(folder)
    assert float(load(folder, normalize=False).x[509, 0]) == np.float32(value)


def widened(folder, columns):
    for name in ("allx", "tx", "x"):
        path = folder / f"ind.tiny.{name}"
        matrix = read_matrix(path.read_bytes())
        matrix.resize(matrix.shape[0], columns)
        path.write_bytes(pickle.dumps(matrix, protocol=2))


def test_columns_without_a_value(folder):
    widened(folder, 2**20)
    with pytest.raises(ValueError, match=r"dense features of 510 nodes .* are all but empty: load with sparse=True"):
        load(folder)
    assert load(folder, sparse=True).x.shape == (510, 2**20)
    widened(folder, 2**31 - 1)
    with pytest.raises(ValueError, match="has 2147483647 columns, almost all of them empty"):
        load(folder, sparse=True)


def test_a_graph_without_edges(folder):
    (folder / "ind.tiny.graph").write_bytes(pickle.dumps({}, protocol=2))
    assert load(folder).edge_index.shape == (2, 0)


@pytest.mark.parametrize("part", ["graph", "allx", "ty", "test.index"])
def test_what_is_no_regular_file(folder, part):
    path = folder / f"ind.tiny.{part}"
    path.unlink()
    os.mkfifo(path)  # opening it would wait forever
    with pytest.raises(ValueError, match=r"is no regular file; a graph has 8"):
        load(folder)
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match=r"is no regular file; a graph has 8"):
        load(folder)


def test_a_file_beyond_the_budget(folder):
    with (folder / "ind.tiny.allx").open("r+b") as file:
        file.truncate(2**31 + 1)  # it takes no place on the disk
    with pytest.raises(ValueError, match="has 2147483649 bytes, more than the 2147483648 that a file may have"):
        load(folder)


@pytest.mark.parametrize("name", ["x" * 245, "x" * 246])
def test_a_name_too_long_for_the_disk(folder, name):
    if len(name) == 245:  # ind.NAME.graph has 255 characters, ind.NAME.test.index cannot exist
        (folder / f"ind.{name}.graph").write_bytes(b"")
    for arguments in ({"source": folder / name}, {"source": folder, "name": name}):
        with pytest.raises(ValueError, match=r"cannot read|is neither a built-in graph|is not in the folder"):
            load(**arguments)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x" * 300, "source 'x{97}…' cannot be read: File name too long; name another folder"),
        ("/".join("x" * 5000), "cannot be read: File name too long"),
        ("~nosuchuser/graph", "source '~nosuchuser/graph' cannot be read: .*home.*; name another folder"),
        ("a\0b", r"source 'a\\x00b' is no path: a path holds no zero byte"),
    ],
)
def test_paths_that_are_none(source, message):
    with pytest.raises(ValueError, match=message):
        load(source)


def test_files_cut_short_or_missing(folder):
    path = folder / "ind.tiny.allx"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"ind.tiny.allx is not a sound Planetoid file"):
        load(folder)
    path.unlink()
    with pytest.raises(ValueError, match=r"cannot read .*ind.tiny.allx"):
        load(folder)
    path.write_bytes(content)
    for text in (
        "1\nx",
        "5\n6\n7",
        "506\n506\n508",
        "506\n507\n99999999999",
        "",
        "9" * 30,
        "5_06\n507\n508",
        "٥\n6\n7",
    ):
        (folder / "ind.tiny.test.index").write_text(text)
        with pytest.raises(ValueError, match=r"test.index"):
            load(folder)


def test_choosing_a_graph_of_a_folder(folder, tmp_path):
    assert load(folder, name="tiny").num_nodes == 510
    with pytest.raises(ValueError, match=r"name 'huge' is not in the folder.*tiny"):
        load(folder, name="huge")
    (folder / "ind.other.graph").write_bytes(b"")
    with pytest.raises(ValueError, match=r"holds several graphs: choose one of .*/other, .*/tiny"):
        load(folder)
    assert load(folder / "tiny").num_nodes == load(str(folder / "tiny")).num_nodes == 510
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="holds no Planetoid graph"):
        load(tmp_path / "empty")


@pytest.mark.skipif(OFFICIAL is None, reason="PANCONV_PLANETOID names no folder of the official files")
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_built_in_graphs_are_the_official_ones(name):
    ours, official = load(name, normalize=False), load(Path(OFFICIAL or ""), name=name, normalize=False)
    for key in ("x", "edge_index", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(ours[key], official[key]), key
