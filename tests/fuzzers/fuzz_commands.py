"""Command lines at random: options from the program itself, values that are right, wrong, or nasty.

Whatever is typed, the program ends with 0, or with 2 and one line of ours on standard error; what it leaves on the disk
is whole and can be read. Nothing long is ever trained: the graphs are small and so are the counts. Run by itself, every
tenth command has a process of its own with little memory, and may ask for much.

    python tests/fuzzers/fuzz_commands.py CASES SEED
"""

import collections
import json
import os
import pickle
import random
import resource
import shlex
import sys
import tempfile
from pathlib import Path
from types import NoneType
from typing import NamedTuple, get_args, get_origin, get_type_hints
from unittest import mock

import numpy as np
import scipy.sparse as sp
import torch
from in_process import call, is_clear
from torch_geometric.data import Data
from typer.models import OptionInfo

import panconv.data
import panconv.paper.studies.operators
import panconv.paper.zoo.runner
import panconv.training.pans
from panconv.cli import app
from panconv.records.record import Results

HUGE = ["10000000", str(2**32), str(2**63), "1" + "0" * 30]
NASTY = ["", "x", "-1", "1.5", "nan", "--", "[/b]", "0", *HUGE]
FLOATS = ["0", "-1", "inf", "nan", "1e-300", "1e39", "1e308", "1e400", "x", ""]
LISTS = ["", ",", "0", "-1,1", "nan", "inf,1", "1e400", "0,one", "1e-300,1e300", "0," * 300 + "1", "1e30", "1.5"]
ODD_NAMES = ["[/b]", "[red]x", ":smile:", "$\\x{$", "é\u200b", "a\nb", "\x1b[31m", "\udcff", "n" * 199, "n" * 300]
# By parameter: what may be asked for and does not take long.
SOUND = {
    **{"trials": "1 2", "epochs": "1 2", "steps": "1 2", "starts": "1 2", "L": "0 1 2 7", "seed": "0 7"},
    **{"patience": "1 5", "hidden": "1 4", "random_splits": "1 2", "fraction": "0.1 0.5", "temperature": "0.5 1"},
    **{
        "alpha": "1 2",
        "dropout": "0 0.5",
        "lr": "0.1 1e30",
        "weight_decay": "0 1",
        "values": "0,1 1",
        "tie": "1,2 0,1,2",
    },
    **{"temperatures": "1 0.5,inf", "alphas": "1 1,2", "lengths": "1 0,2", "paths": "walks shortest self_avoiding"},
    **{
        "weights": "free boltzmann power-law fixed",
        "device": "cpu",
        "datasets": "cora pubmed",
        "models": "sgc gcn,sgc",
    },
    **{
        "methods": "lp pan gcn,lp",
        "what": "table1 table2 figure1 figure2 scale",
        "containing": "grid entropy",
        "nodes": "20 40",
        "k": "0,1,1 1,1 1 2",
    },
    **{"model": "pan gcn lp", "space": "warm", "budget": "1s 0.01m", "tried": "1 2", "seeds": "1 2"},
    **{"finalists": "1 2", "reruns": "1 2", "metric": "accuracy"},
    **{
        "near": "1 2",
        "top": "1 3 50",
        "walk": "generic maximal-entropy",
        "label": "label kind",
        "node": "1 n7",
        "action": "export",
        "head": "linear",  # the others take long
        "ids": "n1 n1,n7",
    },
    **{"columns": "source=a,target=b label=kind weight=w"},
    **{"contestants": "pan gin,structure-free topk", "source": "many.txt", "folds": "2 3", "runs": "1 2"},
    **{"settings": "lr=0.1 steps=2 normalize=false alpha=1 epochs=1 hidden=4"},
}
WRONG = {
    "what": ["tabl", ""],
    "containing": ["no such words"],
    "weights": ["warm"],
    "device": ["warp", "", "cuda:99", "meta"],
    "paths": ["longest"],
}
WRONG |= {
    "datasets": ["coda", "", ","],
    "models": ["xyz", ""],
    "methods": ["gnc", "", ","],
    "model": ["gnc", ""],
    "space": ["cold", "", "warm,deep"],
    "budget": ["", "10", "0s", "-1m", "1d", "1" * 30 + "s", "nan"],
    "metric": ["loss", "", "r2"],
    "hidden": [*NASTY, "9" * 13],
}
WRONG |= {
    "contestants": ["gni", "", ",", "gcnii"],
    "source": ["edges.csv", "nowhere", "[/b]", "", ".", "file", "n" * 300],
}
WRONG |= {"columns": ["", "source", "form=a", "source=a", "=,=", "label=[/b]"], "label": ["", "[/b]", "lable", "a"]}
WRONG["settings"] = ["lr=1e400", "lr=nan", "hidden=" + "9" * 400, "hidden=0", "lr=" + "[" * 99_999, "=", "lr", "lr=1e"]
WRONG["settings"] += ["normalize=0", "decay=x", "[/b]=1", "epochs=" + "9" * 5000, "alpha=" + "9" * 400]
ENDS = {"plot": ".png", "page": ".html", "out": ".csv"}
# What keeps a command short, unless it is written over by what follows.
BASE = {
    "train": "--trials 1 --epochs 1",
    "search": "--space warm --settings 1 --seeds 1 --finalists 1 --reruns 1 --trials 1 --epochs 1",
    "grid": "--trials 1 --epochs 1 --values 0,1 --tie 1,2",
    "reproduce": "--quick --datasets cora --methods lp",
    "temperature": "--trials 1 --epochs 1 --L 1 --temperatures 0.5",
    "thermodynamics": "--L 2",
    "operators": "--quick --datasets cora --models sgc",
    "zoo": "--trials 1",
    "graphs": "--quick --folds 2 --reruns 1 --model structure-free",
    "spectrum": "--starts 2",
    "filters": "--temperatures 0.5",
    "links": "--trials 1 --steps 1",
    "communities": "--trials 1 --steps 1",
    "influence": "--trials 1 --nodes 20 --L 1",
}


def planetoid_files(folder, N=510, F=9, C=3):
    """A small graph in Planetoid's format: 4 nodes to learn from, 500 for validation, the last 4 to test."""
    rng, first = np.random.default_rng(0), N - 4
    folder.mkdir(parents=True)
    labels = np.eye(C, dtype=np.int32)[np.arange(N) % C]
    words = sp.csr_matrix((rng.random((N, F)) < 0.4).astype(np.float32))
    graph = collections.defaultdict(list)
    for i in range(N - 1):
        graph[i] += [i + 1, int(rng.integers(N))]
    parts = {"allx": words[:first], "tx": words[first:], "x": words[:4], "ally": labels[:first], "ty": labels[first:]}
    for name, part in {**parts, "y": labels[:4], "graph": graph}.items():
        (folder / f"ind.tiny.{name}").write_bytes(pickle.dumps(part, protocol=3))
    (folder / "ind.tiny.test.index").write_text("\n".join(map(str, range(first, N))))


def many_graphs(path):
    """Rings and paths of 3 to 6 nodes, in the format of GIN's text."""
    lines = ["24"]
    for i in range(24):
        nodes, ring = 3 + i % 4, i % 2
        lines.append(f"{nodes} {ring}")
        for v in range(nodes):
            ends = [u for u in (v - 1, v + 1) if 0 <= u < nodes] if not ring else [(v - 1) % nodes, (v + 1) % nodes]
            lines.append(" ".join(map(str, (v % 2, len(ends), *ends))))
    path.write_text("\n".join(lines) + "\n")


def small_graph(*_, sparse=False, **__):
    """What stands in for the built-in graphs: as many nodes as their splits need, and little else."""
    N, C, generator = 1600, 3, torch.Generator().manual_seed(0)
    y, node = torch.arange(N) % C, torch.arange(N)
    edges = torch.randint(N, (2, 3000), generator=generator)
    edges = torch.cat([edges, edges.flip(0)], 1).unique(dim=1)
    x = torch.rand(N, 9, generator=generator) + torch.eye(C).repeat_interleave(3, 1)[y]
    data = Data(x=x.to_sparse_csr() if sparse else x, edge_index=edges[:, edges[0] != edges[1]], y=y)
    data.train_mask, data.val_mask, data.test_mask = node < 60, (node >= 60) & (node < 560), node >= 600
    return data


def stand_in():
    """`load` without the built-in graphs, wherever it is used."""
    real = panconv.data.load

    def load(source, **options):
        return small_graph(**options) if str(source) in panconv.data.DATASETS else real(source, **options)

    places = (panconv.data, panconv.training.pans, panconv.paper.zoo.runner, panconv.paper.studies.operators)
    patches = [mock.patch.object(place, "load", load) for place in places]
    for cached in (
        panconv.training.pans.loaded,
        panconv.paper.zoo.runner._loaded,
        panconv.paper.zoo.runner._transformed,
    ):
        cached.cache_clear()
    return patches


class Parameter(NamedTuple):
    """An option or an argument of a command, as it is declared."""

    name: str
    flag: str  # empty for an argument
    kind: type
    many: bool


def parameters(command):
    found = []
    for name, hint in get_type_hints(command, include_extras=True).items():
        if name == "return":
            continue
        declared, info = get_args(hint)[:2]
        flags = [each for each in (info.default, *(info.param_decls or ())) if str(each).startswith("--")]
        flag = (flags or ["--" + name.replace("_", "-")])[0] if isinstance(info, OptionInfo) else ""
        plain = [kind for kind in get_args(declared) if kind is not NoneType] or [declared]
        many = get_origin(plain[0]) is list or get_origin(declared) is list
        kind = str if many else plain[0]
        found.append(Parameter(name, flag, kind, many))
    return found


class Fuzzer:
    def __init__(self, place, seed):
        self.random, self.place, self.nastiness = random.Random(seed), place, 0.0
        self.graphs = [
            "tiny",
            r"[bold]$\g{$ :x:",
            "n" * 245,
            "edges.csv",
            "nowhere",
            "~nosuchuser/x",
            "[/b]",
            "",
            ".",
            "file",
            "n" * 300,
        ]
        for name in self.graphs[:3]:
            planetoid_files(place / name)
        rows = [f"n{i},n{i * 7 % 41},{i}" for i in range(40)]
        (place / "edges.csv").write_text("\n".join(["a,b,w", *rows]))
        (place / "nodes.csv").write_text("\n".join(["id,kind,x", *(f"n{i},k{i % 3},{i / 7}" for i in range(41))]))
        many_graphs(place / "many.txt")
        (place / "file").write_text("mine")
        (place / "old").mkdir()
        (place / "old/old.jsonl").write_text('{"schema": "panconv-run-0"}\n' + "[" * 99_999 + "\n")
        self.commands = {
            each.name or each.callback.__name__: parameters(each.callback) for each in app.registered_commands
        }

    def command_line(self):
        """A command with some of its options, each with some value."""
        name, self.nastiness = self.random.choice([*self.commands]), self.random.choice([0, 0.1, 0.3])
        line = [name, *shlex.split(BASE.get(name, ""))]
        for parameter in self.commands[name]:
            if self.random.random() < (0.25 if parameter.flag else 0.95):
                line += self.written(parameter)
        return line + ["--set=epochs=1"] * (name == "zoo" and not {"lp"} & set(line))

    def written(self, parameter):
        if parameter.kind is bool:
            return [parameter.flag]
        values = [self.value(parameter)]
        if parameter.many and self.random.random() < 0.2:
            values.append(self.value(parameter))
        return [f"{parameter.flag}={value}" for value in values] if parameter.flag else values

    def value(self, parameter):
        """A value that is right, more often than not."""
        name, nasty = parameter.name, self.random.random() < self.nastiness
        if name in ("graph", "graphs"):
            return self.random.choice(self.graphs if nasty else self.graphs[:4])
        if name == "nodes" and parameter.kind is Path and not nasty:
            return "nodes.csv"
        if parameter.kind is Path:
            return self.path(name, nasty)
        sound = SOUND.get(name, "").split()
        if name == "method":
            sound = ["lp", "gcn", "mlp", "sgc", "GCN "] if parameter.kind is str else list(map(str, range(1, 12)))
        others = NASTY if parameter.kind is int else FLOATS if parameter.kind is float else LISTS
        return self.random.choice(WRONG.get(name, others) if nasty else sound)

    def path(self, name, nasty):
        end = "" if name in ("results", "folder", "save") else ENDS.get(name, ".json")
        if not nasty:
            return self.random.choice([f"out{end}", f"new/out{end}"])
        odd = self.random.choice(ODD_NAMES)
        choices = [f"{odd}{end}", f"out{odd}{end}", f"new/{odd}/x{end}", "file/below", ".", "", "/proc/x", "old"]
        return self.random.choice(choices + ["file"] * (not end))  # what is named as an output may be written over

    def run(self):
        """One command; what is wrong with how it ended."""
        line = [*self.command_line()]
        with mock.patch.object(sys, "argv", ["panconv", *line]):
            done = call(*line, cwd=self.place)
        said = [each for each in done.stderr.splitlines() if each.startswith("panconv: ")]
        if done.code not in (0, 2):
            return line, f"exit code {done.code}"
        if done.code == 2 and (not said or len(said[-1]) < 20):
            return line, f"refused without a word: {done.stderr!r}"
        if done.refused is not None and done.code == 2 and not is_clear(done.refused):
            return line, f"{type(done.refused).__name__} from elsewhere: {said[-1]}"
        return line, self.leftovers()

    def run_in_little_memory(self):
        """One command in a process of its own, that may have half a gigabyte more than there is now."""
        inlet, outlet = os.pipe()
        state = self.random.getstate()
        if pid := os.fork():
            os.close(outlet)
            self.random.setstate(state)
            line = self.command_line()
            with os.fdopen(inlet) as told:
                wrong = told.read()
            status = os.waitpid(pid, 0)[1]
            return line, wrong or (f"the process ended with {status}" if status else None)
        try:
            limit = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + 2**29
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            SOUND["hidden"], SOUND["L"] = "1000000 1000000000", "0 1 2 9999"
            os.write(outlet, (self.run()[1] or "").encode("utf-8", "replace"))
        except BaseException as error:
            os.write(outlet, repr(error).encode("utf-8", "replace"))
        os._exit(0)

    def leftovers(self):
        """What is wrong with the files that are there."""
        for path in self.place.rglob("*"):
            if path.name.startswith(".") and path.is_file():
                return f"left half written: {path}"
            if path.suffix == ".json" and path.is_file():
                json.loads(path.read_text(), parse_constant=_refuse)
        for folder in {path.parent for path in self.place.rglob("*.jsonl")} - {self.place / "old"}:
            Results(folder).read()
        return None if (self.place / "file").read_text() == "mine" else "a file of the user's was written over"


def _refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def main(cases, seed, keep_going=False):
    """Runs so many commands; raises at the first that ends badly, with the command to type again."""
    bad = 0
    with tempfile.TemporaryDirectory(prefix="panconv-") as place:
        patches = stand_in()
        for patch in patches:
            patch.start()
        try:
            fuzzer = Fuzzer(Path(place), seed)
            for case in range(cases):
                line = None
                state = fuzzer.random.getstate()
                try:
                    line, wrong = fuzzer.run_in_little_memory() if keep_going and case % 10 == 9 else fuzzer.run()
                except Exception as error:
                    if not keep_going:
                        raise
                    fuzzer.random.setstate(state)
                    line, wrong = fuzzer.command_line(), f"{type(error).__name__}: {error}"
                if wrong:
                    words = f"case {case} of seed {seed}: panconv {shlex.join(line)[-400:]}\n    {wrong[:600]}"
                    if not keep_going:
                        raise AssertionError(words)
                    print(words, flush=True)
                    bad += 1
        finally:
            for patch in patches:
                patch.stop()
            stand_in()  # forget the small graphs
    return bad


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), keep_going=True) > 0)
