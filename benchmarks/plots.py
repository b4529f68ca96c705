"""Pictures of what the suite measured: time against edges, width and length; memory; the distance to the roof.

    python benchmarks/plots.py benchmarks/results/* [--plots docs/images/speed]

Needs Matplotlib and the JSON files alone, which may come from another machine.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import matplotlib
from tables import OURS, Result, machine_in_words, read

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
COLOURS = {
    OURS: "#c1121f",
    "torch CSR (int64)": "#9ec9e2",
    "torch CSR (int32)": "#3a86c8",
    "PyG gather-scatter": "#8d99ae",
    "CuPy": "#e9a03b",
    "SciPy": "#e9a03b",
    "torch CSR loop (int64)": "#9ec9e2",
    "torch CSR loop (int32)": "#3a86c8",
    "torch CSR loop": "#3a86c8",
    "torch CSR loop, own backward": "#0b3c6f",
    "GPRGNN's scheme": "#8d99ae",
}
Records = list[dict[str, object]]


def draw(folder: Path, into: Path) -> list[Path]:
    """Every picture that the results of one machine allow."""
    results = {result.benchmark: result for result in read(folder)}
    drawn = []
    for name, (benchmark, picture) in PICTURES.items():
        records = [r for r in results[benchmark].records if not r.get("error")] if benchmark in results else []
        figure = picture(records) if records else None
        if figure is not None:
            drawn.append(_save(figure, results[benchmark], into / f"{folder.name}-{name}.png"))
    return drawn


def time_against_edges(records: Records) -> Figure | None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
    words = {"prepare": "preparing the graph", "product": "one product", "operator": "operator, forward + backward"}
    for what, colour in (("prepare", "#8d99ae"), ("product", "#3a86c8"), ("operator", COLOURS[OURS])):
        found = [r for r in records if r["what"] == what]
        edges = [r["entries"] for r in found]
        left.loglog(edges, [r["ms"] for r in found], "o-", color=colour, label=words[what])
        right.loglog(edges, [r["ns_per_edge"] for r in found], "o-", color=colour)
    past = [r["entries"] for r in records if r.get("past_caches")]
    if past:
        right.axvspan(min(past), max(r["entries"] for r in records), color="#f3efe6", zorder=0)
        right.annotate("past the caches", (min(past), 0.03), xycoords=("data", "axes fraction"), fontsize=8)
    _label(left, "stored edges", "ms", "Time")
    _label(right, "stored edges", "ns per stored edge", "Time per edge")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.margins(y=0.25)
    return figure


def memory_against_edges(records: Records) -> Figure | None:
    found = [r for r in records if r["what"] == "operator"]
    if not found:
        return None
    figure, axes = plt.subplots(figsize=(5, 3.6))
    edges = [r["entries"] for r in found]
    total = [(r["peak_bytes"] + r["graph_bytes"]) / 2**20 for r in found]
    axes.loglog(edges, total, "o-", color=COLOURS[OURS], label="peak, with the graph")
    axes.loglog(edges, [r["graph_bytes"] / 2**20 for r in found], "o-", color="#3a86c8", label="the graph")
    axes.loglog(edges, [total[-1] * e / edges[-1] for e in edges], ":", color="#555555", label="linear")
    _label(axes, "stored edges", "MiB", f"Forward + backward, L = {found[0]['L']}, F = {found[0]['F']}")
    axes.legend(frameon=False, fontsize=8)
    return figure


def time_against(key: str, word: str) -> Callable[[Records], Figure | None]:
    """Time of the whole operator against L or F, each side a line."""

    def picture(records: Records) -> Figure | None:
        swept = [r for r in records if r["sweep"] == key]
        if not swept:
            return None
        figure, axes = plt.subplots(figsize=(7, 3.8))
        for who in dict.fromkeys(str(r["who"]) for r in swept):
            found = [r for r in swept if r["who"] == who]
            width = 2.2 if who == OURS else 1.2
            axes.plot(
                [r[key] for r in found], [r["ms"] for r in found], "o-", lw=width, ms=3.5, label=who, c=_colour(who)
            )
        axes.set_yscale("log")
        if key == "F":
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
        other = f"L = {swept[0]['L']}" if key == "F" else f"F = {swept[0]['F']}"
        _label(axes, word, "ms, forward + backward", f"{swept[0]['graph']}, {other}")
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
        return figure

    return picture


def peak_memory(records: Records) -> Figure | None:
    figure, axes = plt.subplots(figsize=(6, 0.5 + 0.45 * len(records)))
    names = [f"{r['who']}, method {r['method']}" + ", low" * (r["memory"] == "low") for r in records]
    axes.barh(names, [r["units"] for r in records], color=[_colour(str(r["who"])) for r in records], height=0.6)
    for i, r in enumerate(records):
        axes.text(0, i, f" {r['units']:.1f}", va="center", fontsize=8, color="white")
        if "goal" in r:
            axes.plot([r["goal"]] * 2, [i - 0.4, i + 0.4], color="black", lw=1.5)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    first = records[0]
    title = f"{first['graph']}, L = {first['L']}, F = {first['F']} (black: the goal)"
    _label(axes, "peak of forward + backward, in N·F·4 bytes, graph apart", "", title)
    return figure


def roofline(records: Records) -> Figure | None:
    """Bytes per second over those of a copy, by both counts, for everyone and every case."""
    cases = list(dict.fromkeys((r["graph"], r["F"], r["dtype"]) for r in records))
    who = list(dict.fromkeys(str(r["who"]) for r in records))
    figure, both = plt.subplots(2, 1, figsize=(max(6.0, 0.95 * len(cases)), 6.4), sharex=True)
    counts = (
        ("of_copy_per_edge", "a row of X per edge, as if there were no cache"),
        ("of_copy_per_node", "a row of X per node, as if the cache were perfect"),
    )
    for axes, (key, count) in zip(both, counts, strict=True):
        for i, name in enumerate(who):
            found = {(r["graph"], r["F"], r["dtype"]): r[key] for r in records if r["who"] == name}
            at = [c + (i - (len(who) - 1) / 2) * 0.8 / len(who) for c, case in enumerate(cases) if case in found]
            axes.bar(
                at, [found[case] for case in cases if case in found], 0.8 / len(who), color=_colour(name), label=name
            )
        axes.axhline(1, color="black", lw=1)
        _label(axes, "", "of the copy bandwidth", f"Bytes counted with {count}")
    short = {"float32": "fp32", "bfloat16": "bf16"}
    names = [f"{_broken(str(graph))}\nF = {F}, {short.get(str(dtype), dtype)}" for graph, F, dtype in cases]
    both[1].set_xticks(range(len(cases)), names, fontsize=6.5)
    both[0].legend(frameon=False, fontsize=7, ncols=len(who), loc="lower center", bbox_to_anchor=(0.5, 1.08))
    return figure


PICTURES: dict[str, tuple[str, Callable[[Records], Figure | None]]] = {
    "edges": ("growth", time_against_edges),
    "memory-edges": ("growth", memory_against_edges),
    "width": ("sweep", time_against("F", "features F")),
    "length": ("sweep", time_against("L", "longest path L")),
    "memory": ("memory", peak_memory),
    "roofline": ("product", roofline),
}


def _broken(graph: str) -> str:
    """A graph's name in lines: what it is, how large, in what order."""
    return re.sub(r" (?=\d)", "\n", graph, count=1).replace(", ", "\n")


def _colour(who: str) -> str:
    return COLOURS.get(who, "#b5a7c9")


def _label(axes: Axes, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", lw=0.6)
    axes.set_axisbelow(True)


def _save(figure: Figure, result: Result, path: Path) -> Path:
    figure.supxlabel(machine_in_words(result.machine), fontsize=6, color="#666666")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, dpi=130, format="png")
    temporary.replace(path)
    plt.close(figure)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="results of a machine each")
    parser.add_argument("--plots", type=Path, default=HERE.parent / "docs/images/speed")
    options = parser.parse_args()
    for folder in options.folders:
        for path in draw(folder, options.plots):
            print(path)


if __name__ == "__main__":
    main()
