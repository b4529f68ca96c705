"""A model that `panconv fit` wrote, behind HTTP: an example with FastAPI, not a product.

It answers for the nodes of two tables, and for nodes that a request brings along with their edges. It listens to this
machine alone and asks nobody who they are: put what checks that in front of it before others can reach it. Tables are
read as the run.toml of the model says: names of columns, --directed. Each request that brings nodes or edges reads both
tables anew, so it takes as long as reading them does.

pip install fastapi uvicorn pandas
panconv fit edges.csv nodes.csv --label topic --out model/
python examples/serve.py model/ edges.csv nodes.csv
curl -X POST localhost:8000/predict -H 'Content-Type: application/json' -d '{"ids": ["new"],
  "nodes": [{"id": "new", "age": 31}], "edges": [["new", "ann"]]}'
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import panconv
from panconv.cli.run_file import NAME, Run, read_run

if TYPE_CHECKING:
    import pandas as pd

MOST = 1000  # nodes and edges that a request may bring, and nodes that it may ask for


class Answerer:
    """A model and the graph that it is asked about. What the model's run.toml does not name, `panconv.read` guesses."""

    def __init__(self, model: str | Path, edges: str | Path, nodes: str | Path) -> None:
        import pandas as pd

        self.model = panconv.load_model(model)
        self.edges, self.nodes = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (edges, nodes))
        self.run = read_run(Path(model)) if (Path(model) / NAME).is_file() else Run()
        self.graph = self.read(self.edges, self.nodes)

    def read(self, edges: "pd.DataFrame", nodes: "pd.DataFrame") -> panconv.data.Graph:
        """Two tables as the model's were read; the column of labels may be missing."""
        columns = {what: name for what, name in self.run.columns.items() if what != "label" or name in nodes}
        return panconv.read(edges, nodes, directed=bool(self.run.directed), **columns)

    def with_new(self, nodes: list[dict[str, Any]], edges: list[tuple[str, str]]) -> panconv.data.Graph:
        """The graph, and what a request adds to it for its own answer."""
        import pandas as pd

        texts = [{name: "" if value is None else str(value) for name, value in node.items()} for node in nodes]
        ends = (self.run.source or self.edges.columns[0], self.run.target or self.edges.columns[1])
        more = pd.DataFrame(edges, columns=ends, dtype=str)
        every = (pd.concat([self.edges, more]).fillna(""), pd.concat([self.nodes, pd.DataFrame(texts)]).fillna(""))
        return self.read(*every)

    def __call__(self, ids: list[str], nodes: list[dict[str, Any]], edges: list[tuple[str, str]]) -> dict[str, Any]:
        """The probability of each class, by id."""
        graph = self.with_new(nodes, edges) if nodes or edges else self.graph
        p = self.model.predict_proba(graph=graph, nodes=ids).tolist()
        names = [str(name) for name in self.model.classes_]
        return {node: dict(zip(names, row, strict=True)) for node, row in zip(ids, p, strict=True)}


def app(answerer: Answerer) -> Any:
    """The application, with one door: POST /predict."""
    from fastapi import FastAPI, HTTPException
    from pydantic import BaseModel, Field

    class Question(BaseModel):
        ids: list[str] = Field(min_length=1, max_length=MOST)
        nodes: list[dict[str, str | float | None]] = Field(default=[], max_length=MOST)
        edges: list[tuple[str, str]] = Field(default=[], max_length=MOST)

    served = FastAPI(title="panconv")

    @served.post("/predict")
    def predict(question: Question) -> dict[str, dict[str, float]]:
        try:
            return answerer(question.ids, question.nodes, question.edges)
        except ValueError as error:  # an id that is not there, a column that is no number: the line says which
            raise HTTPException(422, str(error)) from None

    return served


def main(model: str, edges: str, nodes: str) -> None:
    import uvicorn

    uvicorn.run(app(Answerer(model, edges, nodes)), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("python examples/serve.py MODEL EDGES NODES")
    main(*sys.argv[1:])
