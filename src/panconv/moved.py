"""Where modules have moved: an import, or a pickled layer, that names an old place finds the new one.

The old names will go in a later version.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old place to new one, below panconv.
MOVED = {
    "experiments": "paper",
    "autodiff": "base.autodiff",
    "csr": "graph.csr",
    "cuda_graph": "training.cuda_graph",
    "degrees": "graph.degrees",
    "edges": "graph.reading",
    "epoch": "training.epoch",
    "experiments.baselines": "paper.tables.baselines",
    "experiments.cells": "paper.tables.cells",
    "experiments.communities": "paper.studies.communities",
    "experiments.curves": "paper.figures.curves",
    "experiments.heat": "paper.figures.heat",
    "experiments.lattice": "paper.figures.lattice",
    "experiments.links": "paper.studies.links",
    "experiments.localisation": "paper.studies.localisation",
    "experiments.operators": "paper.studies.operators",
    "experiments.paper": "paper.published",
    "experiments.reproduce": "paper.tables.reproduce",
    "experiments.settings": "paper.settings",
    "experiments.spectrum": "paper.studies.spectrum",
    "experiments.splits": "paper.tables.splits",
    "experiments.temperature": "paper.studies.temperature",
    "features": "compute.features",
    "files": "base.files",
    "jsonl": "records.jsonl",
    "kernels": "compute.kernels",
    "methods": "met.methods",
    "models": "training.models",
    "nn.prepared": "graph.prepared",
    "partition": "met.partition",
    "plan": "met.plan",
    "random": "base.random",
    "ranking": "records.ranking",
    "report": "paper.report",
    "results": "records.record",
    "saving": "training.saving",
    "scalings": "met.scalings",
    "search": "training.search",
    "series": "compute.series",
    "spmm": "compute.spmm",
    "thermodynamics": "met.thermodynamics",
    "train": "training.fit",
    "validation": "base.checks",
    "walkers.log_perron": "spectral.perron",
    "zoo": "paper.zoo",
    "zoo.records": "records.record",
}


class _Finder(MetaPathFinder):
    """Knows the old names, and the modules below an old name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if new_name(fullname) is None else ModuleSpec(fullname, _Loader())


class _Loader(Loader):
    """Gives the module of the new name under the old one as well."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = new_name(spec.name)
        assert name is not None
        module = importlib.import_module(name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it was run under its own name, which it keeps."""
        module.__spec__ = self._spec


def new_name(old: str) -> str | None:
    """The name that a module has now; None where it never had another."""
    parts = old.split(".")
    for end in range(len(parts), 1, -1) if parts[0] == "panconv" else ():
        if room := MOVED.get(".".join(parts[1:end])):
            return ".".join(["panconv", room, *parts[end:]])
    return None


def install() -> None:
    """Lets the interpreter ask for old names first: below an old one it would load a module a second time."""
    sys.meta_path.insert(0, _Finder())
