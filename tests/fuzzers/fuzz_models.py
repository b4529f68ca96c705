"""A fuzzer of saved models: a file that is damaged, or made up, loads as what it says or is refused in a line.

    python tests/fuzzers/fuzz_models.py --cases 10000 --seed 0

Case i of a run is case 0 of the run with seed + i, which is how a failure is replayed.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import torch

from panconv import PAN

MEMORY = 2**30  # that a case may take beyond what the process has: each file is far smaller
SECONDS = 10.0  # of processor time that a case may take
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "X9": 4}
DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
DEEP = "@deep@"  # stands for what is nested 100,000 deep, which json itself could not write
ODD = [
    *(None, True, False, -1, 0, 1, 2, 3, 5, 1000, 2**24, 2**31, 2**63, 10**12, 10**30, 10**400, 0.5, 1.5, -0.0, 1e308),
    *(math.nan, math.inf, -math.inf, "", "x", "x" * 5000, "free", "boltzmann", "power-law", "low", "effective", DEEP),
    *([], {}, [1.0], [0, 1, 1], [[1, 2]] * 3, [[]] * 1000, [None], ["a"], [math.nan] * 3, [10**400] * 3, [[[1.0]]]),
    *({"kind": "layers", "of": ["free", [0, 1, 1]]}, {"kind": "layers"}, {"kind": []}, {"kind": "free"}),
    *({"kind": "free", "k": "abc"}, {"kind": "fixed", "k": [1, 10**400, 0]}, {"kind": "fixed", "k": [[1] * 3] * 3}),
    *({"kind": "boltzmann", "energies": [0, 1, 2], "temperature": 10**400}, {"kind": "power-law", "temperature": None}),
    *({"kind": "power-law", "L": 2}, {"kind": "power-law", "alpha": "x"}, {"kind": "power-law", "temperature": [1, 2]}),
    *("batch", "graph", "diff_group", "message", "prelu", "module", "multihead_attention", "glu", "cat", "lstm"),
    *({"mode": "both"}, {"groups": 10**12}, {"num_parameters": 10**12}, {"device": "cpu", "num_parameters": 10**12}),
    *({"embed_dim": 10**6, "num_heads": 1}, {"eps": 10**400}, {"momentum": [1]}, {"in_channels": 3}, {"trials": 2}),
    *("input", {"kind": "input", "share": 10**400}, {"kind": "input", "share": [0.1] * 3}, {"kind": "input", "x": 1}),
    *({"kind": "input", "numbers": [10**400] * 2}, {"kind": "input", "numbers": [1, 9]}, {"drop_nodes": [0.1, 0.2]}),
    *({"propagate": True, "norm": "batch"}, {"propagate": "yes"}, {"drop_nodes": math.nan}, {"dropout": DEEP}),
    *({"kind": "effective", "width": -1}, {"kind": "effective", "breadth": 1}, {"kind": "shortest", "kind2": 1}),
]


def base(rng: random.Random) -> tuple[dict, dict, bytes]:
    """The config, header entries and data of a model as it should be."""
    trials, L = rng.choice([None, None, 1, 3]), rng.choice([0, 1, 2, 2, 4])
    method = rng.choice([1, 2, 3, 5, 7, 9, 11])
    weights = rng.choice([None, "boltzmann", "power-law", [1.0] * (L + 1)])
    sizes = {"in_channels": rng.choice([-1, 1, 5]), "hidden_channels": rng.randint(1, 6), "out_channels": 3}
    config = {**sizes, "num_layers": rng.choice([1, 2, 2, 3]), "L": L, "method": method, "weights": weights}
    config |= {"paths": rng.choice(["walks", "shortest"]), "dropout": 0.5, "bias": rng.random() < 0.7}
    config |= {"trials": trials, "memory": rng.choice([None, "low"])}
    if rng.random() < 0.5:  # a file need not say what is as it was before it could be said
        config |= surroundings(rng, trials)
    model = PAN(**config)
    model.materialize(4)
    model.to(rng.choice(list(DTYPES)))
    header, data = {}, b""
    for name, tensor in model.state_dict().items():
        content = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        place = [len(data), len(data) + len(content)]
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": place}
        data += content
    return config, header, data


def surroundings(rng: random.Random, trials: int | None) -> dict:
    """What stands between the layers; some of it goes with one trial alone."""
    alone = trials is None
    norm = rng.choice([None, "batch", "layer", *(["graph", "pair"] if alone else [])])
    act = rng.choice(["relu", "elu", None, *(["prelu"] if alone else [])])
    jk = rng.choice([None, "last", "cat", "max"])
    options = {"batch": {"momentum": 0.5}, "layer": {"mode": "node"}}.get(norm) if rng.random() < 0.5 else None
    words = {"act": act, "act_first": rng.random() < 0.3, "act_kwargs": None}
    words |= {"norm": norm, "norm_kwargs": options, "jk": jk}
    return words | before_and_beside(rng, trials) if rng.random() < 0.5 else words


def before_and_beside(rng: random.Random, trials: int | None) -> dict:
    """What enters the first layer and what each keeps of before, by trial where there are several."""

    def share() -> float | list[float]:
        number = rng.choice([0.0, 0.1, 0.5])
        return [number, 0.3, 0.9] if trials == 3 and rng.random() < 0.5 else number

    deep = {"kind": "input", "share": share(), "identity": share()}
    residual = rng.choice([None, "layer", "input", deep])
    concat = residual in (None, "layer") and rng.random() < 0.3
    propagate = residual in (None, "layer") and not concat and rng.random() < 0.5
    inputs = {"drop_nodes": share(), "dropout": rng.choice([None, share()]), "propagate": propagate}
    return {"residual": residual, "inputs": rng.choice([None, inputs]), "concat": concat, "dropout": share()}


# Each of these does one thing to a file; some leave it as good as it was.
def odd_setting(rng, config, header, data):
    config[rng.choice([*config, "surprise"])] = rng.choice(ODD)
    return data


def absurd_size(rng, config, header, data):
    sizes = ("in_channels", "hidden_channels", "out_channels", "num_layers", "L", "L", "trials")
    config[rng.choice(sizes)] = rng.choice([10**5, 2**24, 2**31, 10**9, 10**12, 10**18])
    return data


def missing_setting(rng, config, header, data):
    config.pop(rng.choice(list(config)), None)
    return data


def odd_shape(rng, config, header, data):
    shape = rng.choice(list(header.values()))["shape"]
    kind = rng.randrange(4)
    if kind == 0:
        rng.shuffle(shape)
    elif kind == 1:
        shape.insert(rng.randint(0, len(shape)), rng.choice([0, 1, 2, 2**32, 2**63]))
    elif shape:
        shape[rng.randrange(len(shape))] = rng.choice([0, 1, 7, -1, 1.5, "x", None, 2**62, 2**64, 10**30])
    return data


def odd_dtype(rng, config, header, data):
    """Another dtype for one tensor or for all, with as much data as it takes."""
    names = list(header) if rng.random() < 0.3 else [rng.choice(list(header))]
    dtype = rng.choice(list(SIZES))
    out = b""
    for name, entry in header.items():
        entry["dtype"] = dtype if name in names else entry["dtype"]
        try:
            size = math.prod(entry["shape"]) * SIZES[entry["dtype"]]
        except (TypeError, KeyError):
            return data
        if not isinstance(size, int) or not 0 <= size < 10**6:
            return data
        entry["data_offsets"] = [len(out), len(out) + size]
        out += rng.randbytes(size)
    return out


def odd_offsets(rng, config, header, data):
    entry = rng.choice(list(header.values()))
    entry["data_offsets"] = rng.choice(
        [[0, 0], [8, 0], [0, len(data)], [-4, 0], [2**63, 2**63 + 4], [0], None, [0.5, 4], [len(data), len(data) + 4]]
    )
    return data


def odd_names(rng, config, header, data):
    name = rng.choice(list(header))
    other = rng.choice(["", "x", name + ".", name.replace("0", "00"), name.replace("k", "energies"), "__metadata__ "])
    kind = rng.randrange(3)
    if kind < 2:
        header[other] = header[name]
    if kind > 0 and len(header) > 1:
        header.pop(name)
    return data


def odd_length(rng, config, header, data):
    return rng.choice([data[: rng.randint(0, len(data))], data + b"\0" * rng.choice([1, 8, 4096])])


CHANGES = (odd_setting, odd_setting, absurd_size, missing_setting, odd_shape, odd_dtype)
CHANGES += (odd_offsets, odd_names, odd_length)


def written(value) -> bytes:
    deep = b"[" * 100_000 + b"]" * 100_000
    return json.dumps(value).encode().replace(json.dumps(DEEP).encode(), deep)


def one_byte(rng: random.Random, content: bytes) -> bytes:
    """With one byte that is another."""
    place = rng.randrange(len(content))
    return content[:place] + rng.randbytes(1) + content[place + 1 :]


def file_bytes(rng: random.Random, config: dict, header: dict, data: bytes, former: bool, harm: float):
    """The safetensors file, and the settings as they are written; each kind of damage with probability `harm`."""
    settings = written({"format": "panconv-model-1" if former else "panconv-model-2", **config})
    if rng.random() < harm:
        settings = one_byte(rng, settings)
    if rng.random() < harm / 3:
        settings += b" " * 2**23
    metadata = {} if former else {"__metadata__": {"panconv": settings.decode("utf-8", "replace")}}
    head = json.dumps(metadata | header).encode()
    if rng.random() < harm:  # a name twice
        entry = json.dumps(rng.choice(list(header.values())))
        head = head[:-1] + f',"{rng.choice(list(header))}":{entry}}}'.encode()
    if rng.random() < harm:
        head = one_byte(rng, head)
    if rng.random() >= harm:
        head += b" " * (-len(head) % 8)
    length = len(head)
    if rng.random() < harm:
        length = rng.choice([0, 1, length - 1, length + 1, 2**40, 2**64 - 1])
    return length.to_bytes(8, "little") + head + data, settings


def check_loaded(model: PAN, file: bytes, settings: bytes) -> None:
    """That the model has the settings of the file, and each tensor the bytes that the file has under its name."""
    said = json.loads(settings.decode("utf-8", "replace"))
    said.pop("format")
    assert repr({name: model.config[name] for name in said}) == repr(said)  # as text, in which NaN is NaN
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    header.pop("__metadata__", None)
    state = model.state_dict()
    assert state.keys() == header.keys()
    for name, tensor in state.items():
        start, end = header[name]["data_offsets"]
        assert (DTYPES[tensor.dtype], list(tensor.shape)) == (header[name]["dtype"], header[name]["shape"])
        content = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        assert content == file[8 + length :][start:end], name


def case(seed: int, folder: Path) -> str:
    """What became of one file: "loaded" or "refused"; AssertionError for anything else."""
    rng = random.Random(seed)
    config, header, data = base(rng)
    changes = rng.choice([0, 1, 1, 1, 2, 3])
    for _ in range(changes):
        data = rng.choice(CHANGES)(rng, config, header, data)
    content, settings = file_bytes(rng, config, header, data, former := rng.random() < 0.3, 0.05 if changes else 0.0)
    for old in folder.iterdir():
        old.unlink()  # which is faster than to write over it
    (folder / "model.safetensors").write_bytes(content)
    (folder / "config.json").write_bytes(settings if former else b'{"format": "panconv-model-1", "stale": 1}')
    signal.signal(signal.SIGPROF, too_slow)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        model = PAN.load(folder)
    except ValueError as error:
        said = str(error)
        assert said.startswith(f"{folder}/model.safetensors holds no saved model: "), said[:500]
        assert len(said) < len(str(folder)) + 500, said[:500]
        assert "\n" not in said, said
        assert "memory" not in said.replace("memory must be", ""), said  # it was built, though the file is small
        assert changes, f"refused, with nothing wrong about it: {said}"
        outcome = "refused"
    else:
        check_loaded(model, content, settings)
        outcome = "loaded"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return outcome


def too_slow(*_) -> None:
    raise AssertionError(f"it took more than {SECONDS} s")


@contextmanager
def limited_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def main(cases: int, seed: int) -> Counter[str]:
    """Runs the cases, in this process, and counts what became of them."""
    with tempfile.TemporaryDirectory() as folder, limited_memory():
        return counted(lambda i: case(i, Path(folder)), cases, seed, __file__)


def counted(case: Callable[[int], str], cases: int, seed: int, file: str) -> Counter[str]:
    """What became of the cases; each failure prints how to replay it."""
    tally: Counter[str] = Counter()
    for i in range(seed, seed + cases):
        try:
            tally[case(i)] += 1
        except Exception as error:  # noqa: PERF203
            tally["failed"] += 1
            print(f"{type(error).__name__}: {error!s:.500}\n  replay: python {file} --cases 1 --seed {i}")
    return tally


def typed(main: Callable[[int, int], Counter[str]]) -> None:
    """Runs as many cases as the command line says, and exits with 1 if one of them failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    tally = main(**vars(parser.parse_args()))
    print(json.dumps(tally))
    sys.exit(bool(tally["failed"]))


if __name__ == "__main__":
    typed(main)
