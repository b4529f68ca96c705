"""`Cast`: the nodes that play a part in an explanation, by the rows of the graph."""

from __future__ import annotations

from typing import Any, NamedTuple

from panconv.estimator.explaining import Explanation
from panconv.estimator.pages.drawing import Drawing, drawn
from panconv.estimator.pages.known import Known
from panconv.estimator.pages.neighbourhood import Neighbourhood, around

_DRAWN = 12  # paths
_ALONE = 120.0  # the height of a drawing of one node


class Picture(NamedTuple):
    """A drawing, and which row each of its nodes is."""

    name: str
    drawing: Drawing
    rows: list[int]
    reached: int  # how many nodes lie within that many steps, drawn or not


class Cast(NamedTuple):
    """An explanation with rows for ids."""

    centre: int
    adds: dict[int, float]  # what each node adds, the largest first
    walks: list[list[int]]  # the paths, the one that adds most first
    values: list[float]  # what they add
    hops: int  # how many steps the longest path may have

    @staticmethod
    def of(explanation: Explanation, known: Known) -> Cast:
        adds = {known.row(end.name): end.value for end in explanation.ends}
        walks = [[known.row(node) for node in path.nodes] for path in explanation.paths]
        hops = max(len(explanation.lengths) - 1, *(len(walk) - 1 for walk in walks), 0)
        return Cast(known.row(explanation.node), adds, walks, [path.value for path in explanation.paths], hops)

    def around(self, known: Known, most: int) -> Neighbourhood:
        """What is drawn of the graph."""
        return around(known.adj, self.centre, self.hops, self.walks[:_DRAWN], self.adds, most)

    def pictured(self, name: str, known: Known, size: tuple[float, float], most: int) -> Picture:
        """A drawing with at most so many nodes; of the paths those whose nodes have a place in it."""
        part = self.around(known, most)
        place = {row: i for i, row in enumerate(part.rows)}
        walks = [[place.get(row, -1) for row in walk] for walk in self.walks[:_DRAWN]]
        whole = {p: walk for p, walk in enumerate(walks) if -1 not in walk}
        names, adds = [known.name(row) for row in part.rows], [self.adds.get(row, 0.0) for row in part.rows]
        size = size if len(part.rows) > 1 else (size[0], _ALONE)
        return Picture(name, drawn(part, names, adds, whole, self.values, size), part.rows, part.reached)

    def rows(self, pictures: list[Picture], most_ends: int) -> list[int]:
        """The rows of all nodes that the page has something to say of, the one that is explained first."""
        seen = [row for picture in pictures for row in picture.rows]
        steps = [row for walk in self.walks for row in walk]
        return [*dict.fromkeys([self.centre, *seen, *steps, *[*self.adds][:most_ends]])]


def told(rows: list[int], cast: Cast, known: Known) -> list[dict[str, Any]]:
    """What there is to say of each of these nodes."""
    whole = sum(map(abs, cast.adds.values())) or 1.0
    return [
        {
            "id": known.name(row),
            "adds": cast.adds.get(row, 0.0),
            "share": abs(cast.adds.get(row, 0.0)) / whole,
            "label": known.label(row),
            "predicted": known.prediction(row),
        }
        for row in rows
    ]
