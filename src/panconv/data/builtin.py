"""The graphs that ship with the package: their card, and their files, checked before they are read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO

import numpy as np
import scipy.sparse as sp

from panconv.data.planetoid import RawGraph


@dataclass(frozen=True)
class Card:
    """What is known of a built-in graph without opening it."""

    title: str
    nodes: int
    edges: int  # undirected
    features: int
    classes: int
    split: tuple[int, int, int]  # train, validation, test
    sha256: str  # of the .npz file, as tools/build_datasets.py prints it


DATASETS: dict[str, Card] = {
    "cora": Card(
        "Cora",
        2708,
        5278,
        1433,
        7,
        (140, 500, 1000),
        "bfd4d6f2cac21a2685bccaa30317e21ccdec4c2ee21ac95a0b8200f32b6259a4",
    ),
    "citeseer": Card(
        "Citeseer",
        3327,
        4552,
        3703,
        6,
        (120, 500, 1000),
        "9817f566fa7c651b56bc2c0837600f7d640ab718c098b816a8f0f246a058cd37",
    ),
    "pubmed": Card(
        "Pubmed",
        19717,
        44324,
        500,
        3,
        (60, 500, 1000),
        "c23eefd90fa143dd49bb67de5a2347466d434de8b802a15562f5644f2337801b",
    ),
}


def read(name: str) -> RawGraph:
    """A built-in graph from its file, whose checksum must be the card's."""
    content = (files("panconv.data") / f"{name}.npz").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != DATASETS[name].sha256:
        raise ValueError(
            f"the file of {name!r} is damaged: its SHA-256 is {digest[:12]}…, not {DATASETS[name].sha256[:12]}…; "
            "install panconv again"
        )
    return unpack(content)


def unpack(content: bytes) -> RawGraph:
    """The graph in a file of tools/build_datasets.py."""
    with np.load(BytesIO(content), allow_pickle=False) as file:
        a = {key: file[key] for key in file.files}
    indptr = np.concatenate([[0], np.cumsum(a["words_per_node"], dtype=np.int64)])
    values = a["values"] if a["values"].size else np.ones(a["words"].size, np.float32)
    features = sp.csr_matrix((values, a["words"].astype(np.int32), indptr), shape=tuple(a["shape"]))
    return RawGraph(features, *(a[name].astype(np.int64) for name in ("edges", "y", "train", "val", "test")))
