"""panconv links, panconv communities."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import track

from panconv.cli import checks, given, own_graphs, screen
from panconv.cli.options import WALKS, Columns, Edges, Nodes, Plot, Seed, Strict, Walk, json_of

Json = Annotated[Path | None, json_of("the figures")]


def links(
    graph: Edges,
    fraction: Annotated[float, typer.Option(help="The share of links taken out.")] = 0.1,
    steps: Annotated[int, typer.Option(help="The longest walk.")] = 3,
    trials: Annotated[int, typer.Option(help="Splits, each with a seed of its own.")] = 10,
    seed: Seed = 0,
    top: Annotated[int | None, typer.Option(help="Name so many links that are not there, the likeliest.")] = None,
    walk: Walk = None,
    columns: Columns = None,
    strict: Strict = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write them as a CSV file.")] = None,
    json_file: Json = None,
    plot: Plot = None,
) -> None:
    """Predict links that were taken out, by the maximal entropy walk and by the generic one; or, with --top, new ones.

    The AUC is the chance that a link taken out scores above a pair that never had one, ties counted half. Walks of one
    step score every such pair 0, an AUC of one half.

    Example: panconv links edges.csv --top 100 --out links.csv
    """
    checks.one_of(walk, WALKS, "--walk")
    given.check(graph, None, columns)
    if not 0 < fraction < 1:
        raise ValueError(f"--fraction must be above 0 and below 1, got {fraction}")
    _check(trials, seed, plot, json_file, out)
    checks.count(steps, "--steps")
    if (out or walk) and top is None:
        raise ValueError("--out and --walk go with --top, the number of links that are named, such as --top 100")
    if top is not None:
        checks.count(top, "--top")
        _refuse_plot(plot, "--top")
        known = given.opened(graph, None, columns, strict=strict)
        named = own_graphs.name_links(known, top, walk or "generic", steps, out)
        screen.write_json(json_file, {"graph": known.name, "links": named}, "links")
        return

    _judge_links(given.opened(graph, None, columns, strict=strict), fraction, steps, trials, seed, json_file, plot)


def _judge_links(
    known: given.Given, fraction: float, steps: int, trials: int, seed: int, json_file: Path | None, plot: Path | None
) -> None:
    """Both walks on links that were taken out, which is known of."""
    from panconv.paper.studies.links import BASELINE, link_round, links_figure, mean_and_std
    from panconv.tasks import split_links

    name, data = known.name, known.data
    split_links(data, fraction, seed)  # raises before the bar shows
    seeds = _seeds(seed, trials, "splits")
    rounds = [link_round(data.edge_index, data.num_nodes, fraction, steps, each) for each in seeds]
    curves = mean_and_std(rounds)
    heading = f"{screen.title(name)}: AUC, {100 * fraction:g} % of the links taken out, {trials} trials (Σ: superposed)"
    heads = {"generic": "generic", "generic, superposed": "generic Σ"}
    heads |= {"maximal-entropy": "max. entropy", "maximal-entropy, superposed": "max. entropy Σ"}
    rows = screen.table(["t", *heads.values()], heading)
    for t in range(steps):
        rows.add_row(str(t + 1), *(_cell(curves[key][t]) for key in heads))
    screen.out.print(rows)
    screen.out.print(f"common neighbours: {_cell(curves[BASELINE][0])}")
    screen.draw(plot, "plot", links_figure, rounds, f"{screen.title(name)}: link prediction, {trials} splits")
    how = {"graph": name, "fraction": fraction, "steps": steps, "trials": trials, "seed": seed}
    auc = {name: [_plain(point) for point in points] for name, points in curves.items()}
    screen.write_json(json_file, how | {"auc": auc, "rounds": rounds}, "figures")


def communities(
    graph: Edges,
    nodes: Nodes = None,
    k: Annotated[int | None, typer.Option("--k", help="Communities; left out, as many as classes.")] = None,
    steps: Annotated[int, typer.Option(help="The length of the walk.")] = 3,
    trials: Annotated[int, typer.Option(help="Runs of k-means, each with a seed of its own.")] = 10,
    seed: Seed = 0,
    walk: Walk = None,
    columns: Columns = None,
    strict: Strict = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the community of each node.")] = None,
    json_file: Json = None,
    plot: Plot = None,
) -> None:
    """Find communities by the maximal entropy walk and by the generic one, and set them beside the classes.

    All figures are those of the largest connected component: no walk joins what is not connected. Of a table of edges,
    and with --out or --walk, the communities themselves are named, by the generic walk unless asked.

    Example: panconv communities edges.csv --out communities.csv
    """
    checks.one_of(walk, WALKS, "--walk")
    given.check(graph, nodes, columns)
    _check(trials, seed, plot, json_file, out)
    checks.count(steps, "--steps", 0)
    if k is not None:
        checks.count(k, "--k", 1, 2**63 - 1)
    if given.is_table(graph) or out is not None or walk is not None:
        _refuse_plot(plot, "a table of edges, --out and --walk")
        known = given.opened(graph, nodes, columns, strict=strict)
        named = own_graphs.name_communities(known, k, walk or "generic", steps, seed, out)
        screen.write_json(json_file, named, "communities")
        return

    _judge_communities(checks.canonical(graph), k, steps, trials, seed, json_file, plot)


def _judge_communities(
    name: str, k: int | None, steps: int, trials: int, seed: int, json_file: Path | None, plot: Path | None
) -> None:
    """Both walks beside the classes of a graph."""
    from panconv.data import load
    from panconv.paper.studies.communities import communities_figure, community_round, connected_part, score, summary
    from panconv.tasks.communities import checked_k

    data = load(name, sparse=True)
    part = connected_part(data.edge_index, data.y)
    k = checked_k(int(data.y.max()) + 1 if k is None else k, part.adj.num_nodes)
    seeds = _seeds(seed, trials, "k-means")
    rounds = [community_round(part, k, steps, each) for each in seeds]
    figures = summary(rounds)
    figures["classes"] = {field: (value, 0.0) for field, value in score(part, part.y)._asdict().items()}
    share = f"the largest component, {part.adj.num_nodes:,} of {data.num_nodes:,} nodes"
    heading = f"{screen.title(name)}: {k} communities of {share}; {trials} trials"
    rows = screen.table(["", "modularity", "NMI", "largest (%)"], heading)
    for kind, of in figures.items():
        (mean, deviation), exact = of["largest"], kind == "classes"
        cells = [of["modularity"], of["nmi"], (100 * mean, 100 * deviation)]
        digits = (3, 3, 1)
        rows.add_row(kind, *(_cell(each, n, exact) for each, n in zip(cells, digits, strict=True)))
    screen.out.print(rows)
    screen.draw(plot, "plot", communities_figure, figures, f"{screen.title(name)}: {k} communities, {trials} trials")
    how = {"graph": name, "k": k, "steps": steps, "trials": trials, "seed": seed, "nodes": part.adj.num_nodes}
    plain = {kind: {field: _plain(pair) for field, pair in of.items()} for kind, of in figures.items()}
    screen.write_json(json_file, how | plain, "figures")


def _refuse_plot(plot: Path | None, beside: str) -> None:
    if plot is not None:
        raise ValueError(f"--plot shows how both walks compare, which {beside} does not: leave it out")


def _check(trials: int, seed: int, *files: Path | None) -> None:
    checks.work(trials, "cpu", *files)
    checks.count(seed, "--seed", 0, 2**32 - 1)


def _seeds(seed: int, trials: int, what: str) -> Iterable[int]:
    """The seed of each trial, with a bar while they last."""
    return track(range(seed, seed + trials), what, console=screen.console(stderr=True), transient=True)


def _cell(value: tuple[float, float], digits: int = 3, exact: bool = False) -> str:
    mean, deviation = value
    return f"{mean:.{digits}f}" if exact else f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def _plain(value: tuple[float, float]) -> dict[str, float]:
    """What a pair is, by name."""
    return {"mean": value[0], "std": value[1]}
