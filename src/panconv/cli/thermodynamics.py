"""panconv thermodynamics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from panconv.cli import checks, given, screen
from panconv.cli.options import Columns, Directed, Edges, Exponent, Length, Plot, Strict, json_of

if TYPE_CHECKING:
    from panconv.met import MET

TOLERANCE, LONGEST = 1e-3, 1000  # of what a cutoff leaves out, and the longest L that is looked for

QUANTITIES = {
    "log_partition": "log Z",
    "mean_path_length": "mean path length",
    "path_entropy": "path entropy",
    "free_energy": "free energy",
}


def thermodynamics(
    graph: Edges,
    temperature: Annotated[float, typer.Option(help="T in exp(-n^alpha/T), positive.")] = 1.0,
    alpha: Exponent = 1.0,
    L: Length = 5,
    method: Annotated[int, typer.Option(help="The method, whose base's paths are counted.")] = 1,
    paths: Annotated[str, typer.Option(help="walks, shortest or self_avoiding.")] = "walks",
    columns: Columns = None,
    directed: Directed = False,
    strict: Strict = False,
    plot: Plot = None,
    json_file: Annotated[Path | None, json_of("every node")] = None,
) -> None:
    """The thermodynamics of a graph: Z, mean path length, path entropy and free energy of every node.

    Also how much the paths beyond L would bring at most, and from which L on that is below 0.001.

    Example: panconv thermodynamics cora --temperature 0.5 --plot entropy.png
    """
    given.check(graph, None, columns)

    from panconv.met import MET
    from panconv.met.methods import checked_method
    from panconv.paper.studies.localisation import draw_localisation
    from panconv.paths import paths_from
    from panconv.weights import PowerLaw

    if not 0 < temperature < float("inf"):
        raise ValueError(f"--temperature must be positive and finite, got {temperature:g}")
    if paths == "effective":
        raise ValueError("--paths must be walks, shortest or self_avoiding: graphs that are read here have no weights")
    checks.length(L)
    law = PowerLaw(L, alpha, temperature, trained=False)
    checked_method(method)
    checks.outputs(plot, json_file)
    family = paths_from(paths)
    known = given.opened(graph, None, columns, directed=directed, strict=strict)
    M = MET(family(known.adjacency, L), law, method)
    found = {key: getattr(M, key).double() for key in QUANTITIES}
    how = f"{paths} up to L = {L} on the base of method {method}, exp(-n^{alpha:g}/{temperature:g})"
    heading = f"{known.title}: {how}"
    screen.out.print(f"\n{heading}, {known.data.num_nodes} nodes")
    rows = screen.table(("", "least", "median", "mean", "most"))
    for key, words in QUANTITIES.items():
        values = found[key]
        rows.add_row(words, *(f"{float(v):.3f}" for v in (values.min(), values.median(), values.mean(), values.max())))
    screen.out.print(rows)
    mean = M.shares().mean(1).tolist()
    shares = ", ".join(f"k({n}) {k:.3f}" for n, k in enumerate(mean) if k >= 5e-4 or len(mean) <= 8)
    screen.out.print(f"shares of the lengths, mean over the nodes: {shares}")
    tail = _cutoff(M)
    screen.draw(plot, "plot", draw_localisation, M, heading)
    plain: dict[str, Any] = {"ids": known.ids.tolist()} if known.graph is not None else {}
    plain |= {key: values.tolist() for key, values in found.items()}
    screen.write_json(json_file, plain | {"cutoff": tail}, "nodes")


def _cutoff(M: MET) -> dict[str, Any]:
    """Says how much the paths beyond L bring at most, or why that cannot be said; both for machines too."""
    from panconv.spectral import cutoff, sufficient_length

    try:
        found, enough = cutoff(M), sufficient_length(M, TOLERANCE, LONGEST)
    except (TypeError, ValueError) as error:  # that it diverges, or is no sum over walks, is an answer
        screen.out.print(f"beyond L = {M.paths.L}: {error}")
        return {"refused": str(error)}
    names = {"norm": ", prefactor ‖D_L‖/λ₁ᴸ, at most √N", "Perron": ", prefactor by the Perron ratio", "1": ""}
    by = names[found.prefactor]
    screen.out.print(f"beyond L = {found.L}: at most {found.bound:.2g} {found.of} (λ₁ = {found.growth:.4g}{by})")
    at = f"from L = {enough} on" if enough is not None else f"only beyond L = {LONGEST:,}"
    screen.out.print(f"at most {TOLERANCE:g}: {at}")
    return found._asdict() | {"tolerance": TOLERANCE, "sufficient_L": enough}
