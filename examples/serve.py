"""A model that `panconv fit` wrote, behind HTTP: an example with FastAPI, not a product.

It answers for the nodes of two tables, and for nodes that a request brings along with their edges. It listens to this
machine alone and asks nobody who they are: put what checks that in front of it before others can reach it. Tables are
read as `panconv predict` reads them, so as the run.toml of the model says. A request calls a node's id "id", whatever
the table calls it, and other columns by their names; an edge is ["new", "ann"], and where edges have weights
["new", "ann", 2.5]. With each request that brings nodes or edges the graph is made anew, which takes as long as reading
it did.

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
from panconv.cli.model_folder import Asked

if TYPE_CHECKING:
    import pandas as pd

    from panconv.data import Graph
    from panconv.data.columns import Column

MOST = 1000  # nodes and edges that a request may bring, and nodes that it may ask for
Edge = tuple[str, str] | tuple[str, str, float]


class Answerer:
    """A model and the graph that it is asked about, read as `panconv predict` reads it."""

    def __init__(self, model: str | Path, edges: str | Path, nodes: str | Path) -> None:
        asked = Asked.of(Path(model), str(edges), Path(nodes))
        self.model, self.graph = asked.estimator(), asked.graph(regression=False)
        self.edges, self.nodes = edges_of(self.graph), nodes_of(self.graph)

    def with_new(self, nodes: list[dict[str, Any]], edges: list[Edge]) -> "Graph":
        """The graph, and what a request adds to it for its own answer."""
        import pandas as pd

        more = pd.DataFrame(edges, columns=self.edges.columns[: max(map(len, edges), default=2)])
        every = (pd.concat(both) for both in ((self.edges, more), (self.nodes, pd.DataFrame(nodes))))
        label = self.graph.label or None
        return panconv.read(*every, id="id", label=label, directed=self.graph.directed)

    def __call__(self, ids: list[str], nodes: list[dict[str, Any]], edges: list[Edge]) -> dict[str, Any]:
        """The probability of each class, by id."""
        graph = self.with_new(nodes, edges) if nodes or edges else self.graph
        p = self.model.predict_proba(graph=graph, nodes=ids).tolist()
        names = [str(name) for name in self.model.classes_]
        return {node: dict(zip(names, row, strict=True)) for node, row in zip(ids, p, strict=True)}


def edges_of(graph: "Graph") -> "pd.DataFrame":
    """The edges of a graph as a table, each once."""
    import pandas as pd

    (source, target), weight = graph.edge_index.numpy(), graph.edge_weight
    once = slice(None) if graph.directed else source < target
    table = pd.DataFrame({"source": graph.ids[source[once]].astype(str), "target": graph.ids[target[once]].astype(str)})
    return table if weight is None else table.assign(weight=weight.numpy()[once])


def nodes_of(graph: "Graph") -> "pd.DataFrame":
    """The nodes of a graph as a table: numbers as they were understood, all else as it was written."""
    import pandas as pd

    def cells(column: "Column") -> list[Any]:
        found = (column.values if column.kind == "number" else column.as_texts).tolist()
        return [*found, *[None] * (graph.num_nodes - len(found))]  # nodes that are only ends of edges have no row

    labels = {} if graph.labels is None else {graph.label: graph.labels}
    features = {name: cells(column) for name, column in graph.columns.items()}
    return pd.DataFrame({**features, **labels, "id": graph.ids.astype(str)})


def app(answerer: Answerer) -> Any:
    """The application, with one door: POST /predict."""
    from fastapi import FastAPI, HTTPException
    from pydantic import BaseModel, Field

    class Question(BaseModel):
        ids: list[str] = Field(min_length=1, max_length=MOST)
        nodes: list[dict[str, str | float | None]] = Field(default=[], max_length=MOST)
        edges: list[Edge] = Field(default=[], max_length=MOST)

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
