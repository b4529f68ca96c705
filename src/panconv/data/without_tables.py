"""Graphs that come without a table of edges: NetworkX, SciPy, a list of pairs, a PyG `Data`."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from panconv.base.checks import kind_of, shown
from panconv.base.files import expanded
from panconv.base.near import a_folder, missing_file
from panconv.data.edge_list import edges_from
from panconv.data.graph import Graph, as_ids
from panconv.data.labels import look_at, sorted_classes
from panconv.data.remarks import Remarks
from panconv.data.splits import known_labels_of

SUFFIXES = (".npz", ".graphml")  # of files that hold such a graph
_HINTS = {
    "ndarray": ": of an array of pairs, (E, 2), hand over .tolist()",
    "Tensor": ": of an edge_index, (2, E), hand over Data(edge_index=…, num_nodes=…)",
}
_MOST_BYTES, _GROWTH = 2**28, 100  # that any .npz may unpack to, or so many times its own size


def graph_from(
    edges: Any, nodes: Any, named: dict[str, str | None], directed: bool, regression: bool, remarks: Remarks
) -> Graph:
    """A graph from what is no table; `named` are the columns that were named."""
    if isinstance(edges, (str, Path)):
        edges = _file(expanded(edges))
    if type(edges).__module__.startswith("networkx"):
        _refuse_nodes(nodes, "a NetworkX graph has attributes of its nodes")
        return _networkx(edges, named, directed, regression, remarks)
    for name, value in named.items():
        if value is not None:
            raise ValueError(f"{name}={value!r} is a column of a table, and edges is a {type(edges).__name__}")
    if sp.issparse(edges):
        return _scipy(edges, nodes, directed, remarks)
    if hasattr(edges, "edge_index"):
        _refuse_nodes(nodes, "a Data has its own x and y")
        return _data(edges, regression, remarks)
    if isinstance(edges, (list, tuple)):
        _refuse_nodes(nodes, "a list of pairs does not say which row is whose")
        return _pairs(edges, directed, remarks)
    raise TypeError(
        f"edges must be a table (a file or a pandas frame), a NetworkX graph, a SciPy matrix, a list of pairs or a PyG "
        f"Data, got {kind_of(edges)}{_HINTS.get(type(edges).__name__, '')}"
    )


def _refuse_nodes(nodes: Any, why: str) -> None:
    if nodes is not None:
        raise ValueError(f"nodes goes with a table of edges or a SciPy matrix, and {why}: leave it out")


def _row(place: int) -> str:
    return f"edges, entry {place + 1}"


# ---------------------------------------------------------------------- files


def _file(path: Path) -> Any:
    """A SciPy matrix or a NetworkX graph from its file."""
    if path.is_dir():
        raise a_folder(path, "edges", SUFFIXES)
    if not path.is_file():
        raise missing_file(path, "edges")
    if path.suffix.lower() == ".graphml":
        try:
            import networkx
        except ImportError:
            raise ValueError(f"{path} is GraphML, which NetworkX reads: pip install networkx") from None
        try:
            return networkx.read_graphml(path)
        except Exception as error:  # whatever its XML parser or its casts have to say
            raise ValueError(f"{path} is no sound GraphML: {_said(error)}") from None
    _check_size(path)
    try:
        return sp.load_npz(path)  # allows no pickles
    except Exception as error:
        raise ValueError(f"{path} holds no SciPy matrix ({_said(error)}): write one with save_npz") from None


def _check_size(path: Path) -> None:
    """Refuses an archive that unpacks to far more than its own size: what NumPy would allocate before it looks."""
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
            for member in archive.infolist():
                total = max(total, _claimed(archive, member))
    except Exception as error:  # whatever zipfile, zlib and NumPy's parser of headers have to say
        raise ValueError(f"{path} is no archive of NumPy's ({_said(error)}): write one with save_npz") from None
    if total > max(_MOST_BYTES, _GROWTH * path.stat().st_size):
        raise ValueError(f"{path} would unpack to {total:,} bytes, far more than its own size: it is refused")


def _claimed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """The bytes of an array by its own header."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in header:
            raise ValueError(f"{member.filename} is of another version")
        shape, _, dtype = header[version](file)
    size = dtype.itemsize
    for side in shape:
        size *= side
    return int(size)


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


# ---------------------------------------------------------------------- objects


def _scipy(matrix: Any, x: Any, directed: bool, remarks: Remarks) -> Graph:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"edges must be a square matrix A[receiver, sender], got shape {matrix.shape}")
    coo = matrix.tocoo()
    N = matrix.shape[0]
    if coo.data.dtype.kind not in "biuf" or not np.isfinite(coo.data).all():
        raise ValueError("edges must hold finite real numbers, and does not: look at its .data")
    for index in (coo.row, coo.col):  # those of a file are whatever stands there
        if index.size and not (index.min() >= 0 and index.max() < N):
            raise ValueError(f"edges has indices outside of its shape {matrix.shape}: write it anew")
    data = coo.data.astype(np.float64)
    weights = None if (data == 1).all() else data
    ends = coo.col.astype(np.int64), coo.row.astype(np.int64)
    edge_index, edge_weight = edges_from(*ends, weights, directed, remarks, _row)
    return Graph(
        np.arange(N), edge_index, edge_weight, matrix=_matrix(x, N), directed=directed, mended=tuple(remarks.mended)
    )


def _pairs(pairs: Any, directed: bool, remarks: Remarks) -> Graph:
    for place, pair in enumerate(pairs):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or any(end is None or end != end for end in pair):
            raise ValueError(f"edges[{place}] must be a pair of ids, got {shown(pair)}")
    if not pairs:
        raise ValueError("edges is empty: there is no graph in it")
    texts = [str(end) for pair in pairs for end in pair]
    ids = list(dict.fromkeys(texts))
    number = {name: place for place, name in enumerate(ids)}
    ends = np.array([number[text] for text in texts], dtype=np.int64).reshape(-1, 2)
    edge_index, _ = edges_from(ends[:, 0], ends[:, 1], None, directed, remarks, _row)
    return Graph(as_ids(ids), edge_index, directed=directed, mended=tuple(remarks.mended))


def _networkx(graph: Any, named: dict[str, str | None], directed: bool, regression: bool, remarks: Remarks) -> Graph:
    """Attributes of its nodes are columns; `weight` names an attribute of its edges, `label` one of its nodes."""
    import pyarrow as pa

    from panconv.data.column_names import label_of, weight_of
    from panconv.data.from_tables import Edges, Nodes, graph_of
    from panconv.data.tables import Table

    for name in ("id", "source", "target"):
        if named[name] is not None:
            raise ValueError(f"{name}={named[name]!r} is a column of a table, and a NetworkX graph knows its own")
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    if not nodes:
        raise ValueError("edges is a graph without nodes: there is nothing in it")

    def attributes(rows: list[Any], fixed: dict[str, list[str]]) -> Any:
        names = dict.fromkeys(name for row in rows for name in row[-1] if name not in fixed)
        cells = {str(name): [_cell(row[-1].get(name)) for row in rows] for name in names}
        return pa.table({key: pa.array(values, pa.large_string()) for key, values in (fixed | cells).items()})

    ids = attributes(nodes, {"": [str(node) for node, _ in nodes]})
    ends = attributes(edges, {" source": [str(u) for u, _, _ in edges], " target": [str(v) for _, v, _ in edges]})
    rows, lines = Table("the nodes of the graph", ids), Table("the edges of the graph", ends)
    where = Edges(lines, " source", " target", weight_of(lines, named["weight"], remarks))
    whose = Nodes(rows, "", label_of(rows, named["label"], remarks), regression)
    return graph_of(where, whose, directed or graph.is_directed(), remarks)


def _cell(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


def _data(data: Any, regression: bool, remarks: Remarks) -> Graph:
    """With or without masks: labels outside of train_mask and val_mask are not known."""
    if data.edge_index is None:
        raise ValueError("edges is a Data without edge_index: there is no graph in it")
    index, N = data.edge_index.cpu().numpy(), int(data.num_nodes)
    if index.size and not (index.min() >= 0 and index.max() < N):
        raise ValueError(f"edge_index names node {index.max()}, but the nodes are 0 … {N - 1}: look at num_nodes")
    weight = getattr(data, "edge_weight", None)
    values = None if weight is None else weight.detach().cpu().double().numpy()
    # As PyG has it, an edge_index is directed; both directions of an edge are two columns of it.
    edge_index, edge_weight = edges_from(index[0], index[1], values, True, remarks, _row)
    known = _labels(data, N, regression, remarks)
    if weight is None and getattr(data, "edge_attr", None) is not None:
        remarks.guess("edge_attr is not used: weights of edges are read from edge_weight, (E,)")
    return Graph(
        ids=np.arange(N),
        edge_index=edge_index,
        edge_weight=edge_weight,
        matrix=_matrix(getattr(data, "x", None), N),
        **known,
        directed=bool(data.is_directed()),
        guessed=tuple(remarks.guessed),
        mended=tuple(remarks.mended),
    )


def _labels(data: Any, N: int, regression: bool, remarks: Remarks) -> dict[str, Any]:
    """What the graph knows of its labels; of class numbers all below 0 stand for one that is not known."""
    y = getattr(data, "y", None)
    if not isinstance(y, Tensor) or len(y) != N:
        return {}
    numbers, y = known_labels_of(data, numbers=True).cpu().numpy(), known_labels_of(data).cpu()
    if y.dim() != 1:
        return {}
    known = ~np.isnan(numbers) if regression or y.is_floating_point() else (y >= 0).numpy()
    labels = np.array([str(k) if there else None for k, there in zip(y.tolist(), known.tolist(), strict=True)], object)
    if not regression:
        look_at(labels, "y", remarks)
    if not known.any():
        return {}
    return {
        "label": "y",
        "labels": labels,
        "classes": () if regression else sorted_classes(labels),
        "numbers": numbers.copy,
    }


def _matrix(x: Any, N: int) -> Any:
    """A matrix of features, checked: dense float64, or CSR."""
    if x is None:
        return None
    if isinstance(x, Tensor) and x.layout != torch.strided:
        coo = x.detach().cpu().to_sparse_coo().coalesce()
        x = sp.csr_matrix((coo.values().numpy(), coo.indices().numpy()), shape=tuple(x.shape))
    elif isinstance(x, Tensor):
        x = x.detach().cpu().numpy()
    found = sp.csr_matrix(x) if sp.issparse(x) else np.asarray(x)
    if found.ndim != 2 or found.shape[0] != N or found.dtype.kind not in "biuf":
        raise ValueError(f"features must be a matrix of numbers with {N} rows, one per node, got {shown(x)}")
    return found.astype(np.float64)
