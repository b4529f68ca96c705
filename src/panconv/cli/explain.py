"""panconv explain."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from panconv.cli import checks, screen
from panconv.cli.model_folder import Asked, Folder, Tables
from panconv.cli.options import Columns, Nodes, Strict, json_of


def explain(
    model: Folder,
    node: Annotated[str, typer.Argument(metavar="ID", help="The node, by its id in the table.")],
    graph: Tables = None,
    nodes: Nodes = None,
    label: Annotated[
        str | None, typer.Option(metavar="CLASS", help="The class to explain; by default the predicted one.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many single paths to list.")] = 5,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with a drawing to look at.")] = None,
    columns: Columns = None,
    directed: Annotated[bool | None, typer.Option("--directed", help="Edges of a table lead one way.")] = None,
    strict: Strict = False,
    json_file: Annotated[Path | None, json_of("the explanation")] = None,
) -> None:
    """Say why a node is predicted as it is: by path lengths, by the nodes it hears, by features, by single paths.

    The parts add up to the score. Without tables it is about those that the model learned from.

    Example: panconv explain model/ cust-418 --html why.html
    """
    asked = Asked.of(model, graph, nodes, columns, None, directed, strict)
    checks.count(top, "--top", 0)
    checks.outputs(None, html, json_file, model=model)

    from sklearn.base import is_regressor

    estimator = asked.estimator()
    read = asked.graph(is_regressor(estimator))
    one = estimator.explain(read.ids[read.index(node)], label=label, top=top, graph=read)
    screen.out.print("\n".join(map(screen.printable, str(one).splitlines())), soft_wrap=True)
    if html is not None:
        from panconv.estimator.pages import explanation_page

        explanation_page(one, read, html, predicted=estimator.predict(graph=read))
        screen.say("page", html)
    screen.write_json(json_file, {"model": str(model), **asdict(one)}, "explanation")
