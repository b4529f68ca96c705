"""What links and communities do with a graph whose links and communities are asked for, not judged: they name them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from panconv.cli import given, screen

if TYPE_CHECKING:
    from torch import Tensor

MOST_SHOWN = 20  # rows on the screen; the file has all
CHOICES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)  # of k, where none is asked for


def name_links(known: given.Given, top: int, walk: str, steps: int, out: Path | None) -> list[dict[str, Any]]:
    """The likeliest links that are not there, shown and written by the ids of their ends."""
    from panconv.tasks import top_links

    pairs, scores = top_links(known.adjacency, top, walk, max(steps, 2))
    sources, targets = (known.ids[end.numpy()].tolist() for end in pairs)
    found = list(zip(sources, targets, scores.tolist(), strict=True))
    screen.out.print(f"\n{known.title}: the likeliest links that are not there, by the {walk} walk")
    rows = screen.table(("source", "target", "score"))
    for source, target, score in found[:MOST_SHOWN]:
        rows.add_row(screen.one_line(str(source)), screen.one_line(str(target)), f"{score:.3g}")
    screen.out.print(rows)
    if len(found) > MOST_SHOWN and out is None:
        screen.out.print(f"and {len(found) - MOST_SHOWN:,} more: --out FILE writes all")
    if len(found) < top:
        screen.out.print(f"no more than {len(found):,} pairs are joined by a walk and by no link")
    screen.write_table(out, ("source", "target", "score"), found, "links")
    return [dict(zip(("source", "target", "score"), each, strict=True)) for each in found]


def name_communities(
    known: given.Given, k: int | None, walk: str, steps: int, seed: int, out: Path | None
) -> dict[str, Any]:
    """The community of every node, shown by size and written by id."""
    import torch

    from panconv.tasks import communities, modularity, nmi
    from panconv.tasks.communities import largest_component

    adj = known.adjacency
    largest = largest_component(adj).numel()
    tried = {each: communities(adj, each, walk, steps, seed) for each in _choices(k, largest)}
    values = {each: modularity(adj, labels) for each, labels in tried.items()}
    if k is None and max(values.values()) < 0:  # that of one community is 0
        tried[1] = communities(adj, 1, walk, steps, seed)
        values[1] = modularity(adj, tried[1])
    best = max(values, key=lambda each: values[each])
    labels = tried[best]
    size = torch.bincount(labels)
    chosen = f", the k of {min(tried)} … {max(tried)} with the highest modularity" if len(tried) > 1 else ""
    count = "one community" if size.numel() == 1 else f"{size.numel():,} communities"
    heading = f"{known.title}: {count} by the {walk} walk{chosen}"
    screen.out.print(f"\n{heading}\nmodularity {values[best]:.3f}")
    found: dict[str, Any] = {"graph": known.name, "k": best, "walk": walk, "steps": steps, "seed": seed}
    found |= {"modularity": values[best], "sizes": size.tolist()}
    if (agreement := _agreement(known, labels, nmi)) is not None:
        found["nmi"] = agreement
        screen.out.print(f"agreement with the labels (NMI) {agreement:.3f}")
    rows = screen.table(("community", "nodes", "such as"), None, ("such as",))
    for place in size.argsort(descending=True, stable=True)[:MOST_SHOWN].tolist():
        some = known.ids[(labels == place).nonzero().flatten()[:4].numpy()].tolist()
        rows.add_row(str(place), f"{int(size[place]):,}", screen.one_line(", ".join(map(str, some))))
    screen.out.print(rows)
    screen.write_table(out, ("id", "community"), zip(known.ids.tolist(), labels.tolist(), strict=True), "communities")
    return found | {"communities": dict(zip(map(str, known.ids.tolist()), labels.tolist(), strict=True))}


def _choices(k: int | None, largest: int) -> list[int]:
    from panconv.tasks.communities import checked_k

    return [checked_k(k, largest)] if k is not None else [each for each in CHOICES if each <= largest] or [1]


def _agreement(known: given.Given, labels: Tensor, nmi: Any) -> float | None:
    """With the labels that are known, on their nodes."""
    import torch

    if known.graph is None or known.graph.labels is None:
        return None
    y = torch.from_numpy(known.graph.y)
    there = y >= 0
    return float(nmi(labels[there], y[there])) if bool(there.any()) else None
