"""A layered layout of a directed graph (Sugiyama, Tagawa and Toda 1981).

Nodes lie in layers by the longest way that leads to them; an edge over several layers goes through
a point in each of those between. Within the layers the order is improved by the barycentre
heuristic; ties keep the order given, so that the layout is always the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the nodes and the bends of the edges lie.

    Attributes:
        centres: of each node, its x, and its layer from the top.
        bends: (node, parent) → the x of the edge in each layer between the two, from the parent.
        width: of it all.
        layers: how many there are.
    """

    centres: Sequence[tuple[float, int]]
    bends: dict[tuple[int, int], list[tuple[float, int]]]
    width: float
    layers: int


def layered(
    parents: Sequence[Sequence[int]], widths: Sequence[float], gap: float, bend: float
) -> Layout:
    """Lay out a graph without circles; edges of a circle that lead back are not followed.

    Args:
        parents: of each node, the nodes its edges come from.
        widths: of each node.
        gap: between neighbours.
        bend: the room an edge takes up in a layer it only passes.
    """
    levels = _levels(parents)
    depth = 1 + max(levels, default=0)
    rows: list[list[int]] = [[] for _ in range(depth)]
    room = list(widths)
    above: list[list[int]] = [[] for _ in parents]
    chains: dict[tuple[int, int], list[int]] = {}
    for node in range(len(parents)):
        rows[levels[node]].append(node)
    for node, edges in enumerate(parents):
        for parent in dict.fromkeys(edges):
            previous = parent
            for level in range(levels[parent] + 1, levels[node]):
                point = len(room)
                room.append(bend)
                above.append([previous])
                rows[level].append(point)
                chains.setdefault((node, parent), []).append(point)
                previous = point
            if levels[parent] < levels[node]:
                above[node].append(previous)
    _order(rows, above)
    total = max((_span(row, room, gap) for row in rows), default=0.0)
    x = [0.0] * len(room)
    layer = [0] * len(room)
    for number, row in enumerate(rows):
        left = (total - _span(row, room, gap)) / 2
        for item in row:
            x[item], layer[item] = left + room[item] / 2, number
            left += room[item] + gap
    return Layout(
        [(x[node], layer[node]) for node in range(len(parents))],
        {edge: [(x[point], layer[point]) for point in chain] for edge, chain in chains.items()},
        total,
        depth,
    )


def _levels(parents: Sequence[Sequence[int]]) -> list[int]:
    """Of each node, the length of the longest way to it from a node without parents."""
    levels: dict[int, int] = {}
    entered: set[int] = set()
    for start in range(len(parents)):
        pending = [start]
        while pending:
            node = pending[-1]
            waiting = [each for each in parents[node] if each not in levels and each not in entered]
            if node in levels or not waiting:
                pending.pop()
                known = [levels[each] for each in parents[node] if each in levels]
                levels.setdefault(node, 1 + max(known, default=-1))
            else:
                entered.add(node)
                pending.extend(waiting)
    return [levels[node] for node in range(len(parents))]


def _order(rows: list[list[int]], above: Sequence[Sequence[int]]) -> None:
    """Bring each item of a row near the middle of those it is joined to."""
    below: dict[int, list[int]] = {}
    for item, joined in enumerate(above):
        for each in joined:
            below.setdefault(each, []).append(item)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows[1:] if downwards else rows[-2::-1]:
            place = {item: number for other in rows for number, item in enumerate(other)}
            key = {}
            for item in row:
                joined = above[item] if downwards else below.get(item, ())
                places = [place[each] for each in joined]
                key[item] = sum(places) / len(places) if places else float(place[item])
            row.sort(key=key.__getitem__)


def _span(row: Sequence[int], room: Sequence[float], gap: float) -> float:
    return sum(room[item] for item in row) + gap * max(len(row) - 1, 0)
