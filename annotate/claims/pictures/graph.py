"""Graphs that a script recorded: nodes with their values, edges from parents to children."""

from collections.abc import Sequence
from itertools import pairwise

from annotate.claims.markup import escaped
from annotate.claims.pictures.layers import layered
from annotate.claims.pictures.part import Part
from annotate.claims.pictures.words import words
from annotate.recordings import Graph, Node

CHARACTER = 6.7
LINE = 16
PADDING = 10
GAP = 22
BETWEEN = 44
"""The height between two layers."""
BEND = 12
MAX_CHARACTERS = 30


def text(part: Part) -> str:
    """The graphs as text: a line for each node, inputs first, with its parents and its values."""
    lines = []
    for name, graph in part.graphs().items():
        lines.append(f"{name}:")
        for node in reversed(graph.nodes):
            line = f"  {node.label}"
            if node.parents:
                line += f" from {', '.join(graph.nodes[each].label for each in node.parents)}"
            values = ", ".join(f"{key} = {value}" for key, value in node.values.items())
            lines.append(f"{line}: {values}" if values else line)
    return "\n".join(lines)


def draw(part: Part, language: str) -> str:
    """Each graph as a picture."""
    script = part.recording.script
    return "\n".join(
        f'<div class="picture-scroll" tabindex="0" role="group" aria-label="{escaped(name)}">'
        f"{picture(graph, script, language)}</div>"
        for name, graph in part.graphs().items()
    )


def picture(graph: Graph, script: str, language: str) -> str:
    """A graph as SVG: inputs above, what is computed from them below."""
    told = words(language)
    lines = [_lines(node) for node in graph.nodes]
    widths = [CHARACTER * max(map(len, each)) + 2 * PADDING for each in lines]
    layout = layered([node.parents for node in graph.nodes], widths, GAP, BEND)
    heights = [0] * layout.layers
    for (_, layer), each in zip(layout.centres, lines, strict=True):
        heights[layer] = max(heights[layer], LINE * len(each) + PADDING)
    tops = [4 + sum(heights[:layer]) + BETWEEN * layer for layer in range(layout.layers)]
    edges = []
    nodes = []
    for number, node in enumerate(graph.nodes):
        x, layer = layout.centres[number]
        for parent in dict.fromkeys(node.parents):
            start, above = layout.centres[parent]
            points = [(start, tops[above] + LINE * len(lines[parent]) + PADDING)]
            for bend, between in layout.bends.get((number, parent), []):
                points += [(bend, tops[between]), (bend, tops[between] + heights[between])]
            edges.append(edge([*points, (x, tops[layer])]))
        nodes.append(box(lines[number], x, tops[layer], widths[number]))
    width, height = layout.width + 8, tops[-1] + heights[-1] + 6 if tops else 0
    title = escaped(told["graph"].format(graph.name, script))
    summary = escaped(told["graph summary"].format(_in_words(graph, told["from"], told["input"])))
    return (
        f'<svg class="picture picture-graph" role="group" aria-label="{title}"'
        f' width="{width:.0f}" height="{height}" viewBox="-4 0 {width:.0f} {height}">'
        f"<desc>{summary}</desc>{''.join(edges)}{''.join(nodes)}</svg>"
    )


def _lines(node: Node) -> list[str]:
    """What a node's box says."""
    return [
        _short(node.label),
        *(_short(f"{key} = {value}") for key, value in node.values.items()),
    ]


def _short(line: str) -> str:
    return line if len(line) <= MAX_CHARACTERS else f"{line[: MAX_CHARACTERS - 1]}…"


def box(lines: Sequence[str], x: float, top: int, width: float) -> str:
    """A node of a picture, ``x`` being its middle."""
    height = LINE * len(lines) + PADDING
    texts = "".join(
        f'<tspan x="{x:.0f}" dy="{LINE if number else 0}">{escaped(line)}</tspan>'
        for number, line in enumerate(lines)
    )
    return (
        f'<g class="node"><rect x="{x - width / 2:.0f}" y="{top}" width="{width:.0f}"'
        f' height="{height}" rx="4"/><text x="{x:.0f}" y="{top + LINE}">{texts}</text></g>'
    )


def edge(points: Sequence[tuple[float, int]]) -> str:
    """A line through points that leaves and reaches each layer upright, with a tip at its end."""
    path = f"M{points[0][0]:.0f} {points[0][1]}"
    for (x, y), (next_x, next_y) in pairwise(points):
        middle = (y + next_y) / 2
        path += f"C{x:.0f} {middle:.0f} {next_x:.0f} {middle:.0f} {next_x:.0f} {next_y}"
    return f'<path class="arrow" d="{path}m-4 -5l4 5l4 -5"/>'


def _in_words(graph: Graph, joined: str, alone: str) -> str:
    """What the picture says, inputs first."""
    sentences = []
    for node in reversed(graph.nodes):
        parents = ", ".join(graph.nodes[each].label for each in node.parents)
        sentence = joined.format(node.label, parents) if parents else alone.format(node.label)
        values = ", ".join(f"{key} = {value}" for key, value in node.values.items())
        sentences.append(f"{sentence}: {values}" if values else sentence)
    return "; ".join(sentences)
