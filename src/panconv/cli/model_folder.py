"""The model folder that was typed, and the graph that it is asked about. Imports no torch by itself."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.base.near import missing_file
from panconv.cli import given, known_ids
from panconv.cli.run_file import NAME, Run, read_run

if TYPE_CHECKING:
    import numpy as np

    from panconv.data import Graph

Folder = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that panconv fit wrote.")]
Tables = Annotated[
    str | None, typer.Argument(metavar="[EDGES]", help="A table of edges; without it, those that were learned from.")
]


@dataclass(frozen=True)
class Asked:
    """A model folder, and the tables that its model is asked about.

    Args:
        folder: of the model.
        run: how the tables are read.
        own: whether they are those that the model was fitted on.
        labelled: whether the column of labels was typed, and so must be there.
        strict: whether what a table has wrong stops it.
    """

    folder: Path
    run: Run
    own: bool
    labelled: bool
    strict: bool = False

    @staticmethod
    def of(
        folder: Path,
        edges: str | None,
        nodes: Path | None,
        columns: str | None = None,
        label: str | None = None,
        directed: bool | None = None,
        strict: bool = False,
    ) -> Asked:
        """What was typed, beside what the folder's run.toml says; refuses what is not there."""
        if not folder.exists():
            raise missing_file(folder, "the model folder")
        if not (folder / "model.json").is_file():
            raise ValueError(f"{folder} is no folder of a model, it has no model.json: name one that panconv fit wrote")
        run = read_run(folder / NAME) if (folder / NAME).is_file() else Run()
        if edges is not None:
            run = replace(run, edges=edges, nodes=None if nodes is None else str(nodes))
        named = given.columns_of(columns, label)
        run = run.but(**named, directed=directed)
        if run.edges is None:
            raise ValueError(f"{folder / NAME} names no graph: name the tables, EDGES and NODES")
        asked = Asked(folder, run, edges is None, "label" in named, strict)
        asked._check()
        return asked

    def _check(self) -> None:
        for path in self.run.tables.values() if self.own else ():
            if not path.exists():
                raise ValueError(f"{path}, from which the model learned, is not there any more: name EDGES and NODES")
        nodes = None if self.run.nodes is None else Path(self.run.nodes)
        named = {name: column for name, column in self.run.columns.items() if name != "label" or self.labelled}
        given.check_named(str(self.run.edges), nodes, named)

    def estimator(self) -> Any:
        from panconv.estimator import PANClassifier, PANRegressor, load_model

        found = load_model(self.folder)
        if not isinstance(found, (PANClassifier, PANRegressor)):
            raise ValueError(
                f"{self.folder} holds a PAN alone, which has no columns: name a folder that panconv fit wrote"
            )
        return found

    def graph(self, regression: bool) -> Graph:
        """The graph that is asked about, its labels as numbers or as classes; tables that have changed since the fit
        are told."""
        for path in self.run.changed() if self.own else ():
            warnings.warn(f"{path} has changed since the model was fitted", stacklevel=2)
        nodes, columns = None if self.run.nodes is None else Path(self.run.nodes), self.run.columns
        if nodes is None:
            columns = {name: column for name, column in columns.items() if name not in ("id", "label")}
        elif not (self.own or self.labelled) and "label" in columns and not _has(nodes, columns["label"]):
            columns.pop("label")  # nobody need know the labels of another graph
        how = {"directed": bool(self.run.directed), "regression": regression, "strict": self.strict}
        return given.whole(str(self.run.edges), nodes, columns, **how, tell=not self.own)

    def learned(self, graph: Graph) -> np.ndarray | None:
        """Of which nodes the label was learned from, (N,), bool; None where the folder does not say."""
        import numpy as np

        found = known_ids.learned_from(graph.ids.astype(str).tolist(), self.folder)
        return None if found is None else np.array(found, dtype=bool)


def _has(nodes: Path, column: str) -> bool:
    from panconv.data.remarks import Remarks
    from panconv.data.tables import read_table

    return column in read_table(nodes, "nodes", Remarks()).columns
