"""A fuzzer of model folders: one that is damaged, or made up, loads as what it says or is refused in a line.

    python tests/fuzzers/fuzz_model_folders.py --cases 10000 --seed 0

Case i of a run is case 0 of the run with seed + i, which is how a failure is replayed.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import os
import random
import shutil
import signal
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from fuzz_models import ODD, SECONDS, counted, limited_memory, one_byte, too_slow, typed, written
from safetensors.torch import save as serialised

from panconv import PANClassifier, PANRegressor, load_model, read
from panconv.estimator.folder.fitted import described

SETTINGS, TENSORS = "model.json", "model.safetensors"
NAMES = (
    "../../etc/passwd",
    "/etc/passwd",
    "x/../../y",
    "..",
    ".",
    "",
    ".bashrc",
    "model.json",
    "con:",
    "a\0b",
    "\ud800",
)
VALUES = (*ODD, *NAMES, "nan", "inf", [["x", "y"]], {"dtype": "object", "values": ["x", 3]}, "PANClassifier", 99)
DTYPES = (torch.float64, torch.float32, torch.float16, torch.int64, torch.uint8, torch.bool)


@functools.cache
def bases() -> list[tuple[dict, dict, object]]:
    """The content and tensors of estimators as they should be, each with a graph, or rows, to be asked about."""
    generator = np.random.default_rng(0)
    ids = [f"n{i}" for i in range(24)]
    nodes = pd.DataFrame({"id": ids, "age": generator.normal(size=24), "clicks": (np.arange(24) % 5 == 0) * 3.0})
    nodes["town"] = [None if i % 5 == 0 else "ab"[i % 2] for i in range(24)]
    nodes["about"] = [f"a tale of {i % 4} cats and {i} dogs" for i in range(24)]
    nodes["since"] = [f"2024-01-{1 + i:02d}" for i in range(24)]
    nodes["kind"] = [None if i % 3 == 0 else f"k{i % 2}" for i in range(24)]
    edges = pd.DataFrame([(ids[i], ids[(i + step) % 24]) for i in range(24) for step in (1, 3)], columns=["a", "b"])
    g, bare = read(edges, nodes, label="kind"), read(edges, nodes[["id", "kind"]], label="kind", directed=True)
    y = np.where(np.arange(24) % 3 == 0, np.nan, nodes["age"])
    X = nodes[["age", "clicks"]].to_numpy()
    few = {"seeds": 3, "epochs": 2, "cv": 3}
    made = [
        (PANClassifier("linear", L=2, cv=3).fit(g), g),
        (PANClassifier("linear", L=1, method=3, paths={"kind": "shortest"}, cv=3).fit(bare), bare),
        (PANClassifier("pan", **few).fit(g), g),
        (PANClassifier("linear", L=1, cv=3).fit(X, np.stack([y > 0, y < 1], 1) * 1, graph=g.edge_index), None),
        (PANRegressor("linear", L=1, cv=3).fit(X, y, graph=g.edge_index), None),
        (PANRegressor("pan", **few).fit(pd.DataFrame(X, columns=["age", "clicks"]), np.stack([y, y], 1), graph=g), g),
        (PANClassifier(cv=3).fit(X, np.arange(24) % 2), X),
    ]
    return [(*described(each), asked) for each, asked in made]


# Each of these does one thing to what a folder says, or to its tensors; some leave it as good as it was.
def places(value, path=()) -> list[tuple]:
    """Where in the content there is something."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, each in items for place in places(each, (*path, key))]


def holder(content, path):
    """What holds the last part of a path."""
    return functools.reduce(lambda value, key: value[key], path[:-1], content)


def odd_value(rng, content, state):
    path = rng.choice(places(content))
    holder(content, path)[path[-1]] = copy.deepcopy(rng.choice(VALUES))


def gone(rng, content, state):
    path = rng.choice(places(content))
    holder(content, path).pop(path[-1])


def near_value(rng, content, state):
    """A number a little off, a text with a letter more, true for false."""
    path = rng.choice(places(content))
    value = holder(content, path)[path[-1]]
    if isinstance(value, bool):
        value = not value
    elif isinstance(value, (int, float)):
        value = rng.choice([value + 1, value - 1, -value, float(value), value * 1e9, str(value)])
    elif isinstance(value, str):
        value = rng.choice([value + "x", value[:-1], value.upper()])
    elif isinstance(value, list) and value:
        value = rng.choice([value[:-1], value + value[-1:], value[::-1]])
    holder(content, path)[path[-1]] = value


def exchanged(rng, content, state):
    """Two parts of the content in each other's places."""
    one, other = rng.choice(places(content)), rng.choice(places(content))
    if one[: len(other)] == other or other[: len(one)] == one:
        return
    a, b = holder(content, one), holder(content, other)
    a[one[-1]], b[other[-1]] = b[other[-1]], a[one[-1]]


def surprise(rng, content, state):
    inner = [content, *(holder(content, (*path, 0)) for path in places(content))]
    rng.choice([each for each in inner if isinstance(each, dict)])["surprise"] = rng.choice(VALUES)


def odd_tensor(rng, content, state):
    name = rng.choice(list(state))
    tensor = state[name]
    kind = rng.randrange(6)
    if kind == 0:
        state[name] = tensor.to(rng.choice(DTYPES))
    elif kind == 1 and tensor.numel():
        broken = tensor.clone().reshape(-1)
        number = rng.choice([float("nan"), float("inf"), 0.0, -1.0, 1e30]) if tensor.is_floating_point() else 2**40
        broken[rng.randrange(len(broken))] = number
        state[name] = broken.reshape(tensor.shape)
    elif kind == 2:
        state[name] = tensor[:-1] if tensor.dim() else tensor.reshape(1)
    elif kind == 3:
        state[name] = torch.cat([tensor, tensor]) if tensor.dim() else tensor.reshape(1, 1)
    elif kind == 4:
        state[name] = tensor.T if tensor.dim() == 2 else tensor.unsqueeze(0)
    else:
        state[name] = tensor[:0] if tensor.dim() else tensor


def odd_names(rng, content, state):
    one, other = rng.choice(list(state)), rng.choice(list(state))
    kind = rng.randrange(4)
    if kind == 0:
        state[one], state[other] = state[other], state[one]
    elif kind == 1:
        del state[one]
    elif kind == 2:
        state[rng.choice(["x", one + "0", "coefs.99", "pan.x", "doubts", "scaling.mean", "../x"])] = torch.zeros(2)
    else:
        state[one + "x"] = state.pop(one)


def other_model(rng, content, state):
    """The tensors of another estimator."""
    state.clear()
    state.update(rng.choice(bases())[1])


CHANGES = (odd_value, odd_value, odd_value, gone, near_value, near_value, exchanged, surprise)
CHANGES += (odd_tensor, odd_tensor, odd_names, other_model)


def harmed(rng: random.Random, folder: Path) -> None:
    """Damages a file of the folder."""
    file = folder / rng.choice([SETTINGS, TENSORS])
    data, kind = file.read_bytes(), rng.randrange(7)
    if kind == 0:
        file.write_bytes(data[: rng.randrange(len(data))])
    elif kind == 1:
        file.write_bytes(one_byte(rng, data))
    elif kind == 2:
        file.write_bytes(rng.choice([b"", b"\0" * 100, b"[" * 10**5, b"\xff\xfe{", b'{"a":' * 10**5, b"1" * 10**5]))
    elif kind == 3:
        file.write_bytes(rng.choice([0, 1, 2**40, 2**63, 2**64 - 1]).to_bytes(8, "little") + data[8:])
    elif kind == 4:
        file.write_bytes(data + rng.choice([b"\0", b"x" * 4096, b" " * 2**24]))
    else:
        file.unlink()
        make = rng.choice([lambda: None, file.mkdir, lambda: os.mkfifo(file)])
        target = rng.choice(["/etc/passwd", "/dev/zero", "nowhere", SETTINGS, TENSORS, "/proc/self/mem"])
        make() if kind == 5 else file.symlink_to(target)


def check_loaded(model, content: dict, asked) -> None:
    """That it is what the folder says, and can be asked."""
    told, _ = described(model)
    for name in ("version", "panconv", "left_out"):
        told.pop(name)
    for part, inner in ((told, "parameters"), (told["head"], "config")):  # what is left out there is as by default
        own = content if part is told else content["head"]
        if inner in part:
            part[inner] = {name: part[inner][name] for name in own[inner]}
    assert same(told, content), "it is not what the folder says"
    str(model), model.get_params()
    try:
        if isinstance(asked, np.ndarray):
            model.predict(asked)
        elif asked is not None:
            model.predict(graph=asked)
            if model.head_ == "linear":
                model.explain("n3", graph=asked, top=1)
    except ValueError as refused:
        if "\n" in str(refused):
            raise AssertionError(f"more than a line: {refused}") from None


def same(told, said) -> bool:
    """Whether all that was told back is as it was said; what is said beside it does not matter."""
    if isinstance(told, dict):
        return isinstance(said, dict) and all(name in said and same(each, said[name]) for name, each in told.items())
    if isinstance(told, (list, tuple)):
        return isinstance(said, list) and len(told) == len(said) and all(map(same, told, said))
    numeric = isinstance(told, float) and isinstance(said, int)
    return bool(told == (float(said) if numeric else said))


def case(seed: int, folder: Path) -> str:
    """What became of one folder: "loaded" or "refused"; AssertionError for anything else."""
    rng = random.Random(seed)
    base, tensors, asked = rng.choice(bases())
    content, state = json.loads(json.dumps(base)), dict(tensors)
    changes, harm = rng.choice([0, 1, 1, 1, 2, 3]), rng.random() < 0.15
    for _ in range(changes):
        rng.choice(CHANGES)(rng, content, state)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    data = serialised({name: each.contiguous() for name, each in state.items()})
    sealed = {"sha256": hashlib.sha256(data).hexdigest(), "files": [SETTINGS, TENSORS, *rng.sample(NAMES, changes > 2)]}
    (folder / SETTINGS).write_bytes(written({**sealed, **content} if isinstance(content, dict) else content))
    (folder / TENSORS).write_bytes(data)
    if harm:
        harmed(rng, folder)
    signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        model = load_model(folder)
    except ValueError as error:
        said = str(error)
        assert any(said.startswith(f"{folder}/{name} holds no saved model: ") for name in (SETTINGS, TENSORS)), said
        assert len(said) < len(str(folder)) + 500, said[:500]
        assert "\n" not in said, said
        assert "needs more memory" not in said, said  # it was built, though the folder is small
        assert changes or harm, f"refused, with nothing wrong about it: {said}"
        return "refused"
    else:
        check_loaded(model, json.loads((folder / SETTINGS).read_bytes()), asked)
        return "loaded"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main(cases: int, seed: int) -> Counter[str]:
    """Runs the cases, in this process, and counts what became of them."""
    bases()
    with tempfile.TemporaryDirectory() as folder, limited_memory(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return counted(lambda i: case(i, Path(folder) / "model"), cases, seed, __file__)


if __name__ == "__main__":
    typed(main)
