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
    "files": "base.files",
    "methods": "met.methods",
    "models": "training.models",
    "nn.prepared": "graph.prepared",
    "report": "paper.report",
    "results": "records.record",
    "saving": "training.saving",
    "search": "training.grid",
    "series": "compute.series",
    "train": "training.fit",
    "zoo": "paper.zoo",
    "zoo.records": "records.record",
}


class _Moved(MetaPathFinder, Loader):
    """Finds the old names, and the modules below an old name: the module of the new name is theirs as well."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = new_name(fullname)
        return None if name is None else ModuleSpec(fullname, self, loader_state=name)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(spec.loader_state)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Runs nothing: it was run under its own name, which it keeps."""
        module.__spec__ = module.__spec__ and module.__spec__.loader_state


def new_name(old: str) -> str | None:
    """The name that a module has now; None where it never had another."""
    parts = old.split(".")
    for end in range(len(parts), 1, -1) if parts[0] == "panconv" else ():
        if room := MOVED.get(".".join(parts[1:end])):
            return ".".join(["panconv", room, *parts[end:]])
    return None


def install() -> None:
    """Lets the interpreter ask for old names first: below an old one it would load a module a second time."""
    sys.meta_path.insert(0, _Moved())
