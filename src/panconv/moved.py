"""Where modules have moved: an import, or a pickled layer, that names an old place finds the new one.

The old names will go in a later version.
"""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old place to new one, below panconv: what README, docs and examples showed, the homes of public names, and what
# pickled layers name.
MOVED = {
    "experiments": "paper",
    "experiments.localisation": "paper.studies.localisation",
    "experiments.operators": "paper.studies.operators",
    "experiments.operators.models": "paper.studies.operators",
    "experiments.operators.records": "records.record",
    "experiments.settings": "paper.settings",
    "files": "base.files",
    "methods": "met.methods",
    "models": "training.models",
    "nn.prepared": "graph.prepared",
    "report": "paper.report",
    "results": "records.record",
    "saving": "training.saving",
    "search": "training.search",
    "train": "training.fit",
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
