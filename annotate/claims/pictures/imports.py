"""Which module imports which, as a picture."""

from collections.abc import Callable, Mapping
from posixpath import commonpath

from annotate.claims.markup import escaped, is_followable
from annotate.claims.pictures.graph import CHARACTER, LINE, PADDING, box, edge
from annotate.claims.pictures.layers import layered

_GAP = 10
_BETWEEN = 34
_BEND = 6
_HEIGHT = LINE + PADDING


def picture(
    imports: Mapping[str, set[str]], href: Callable[[str], str | None], title: str, summary: str
) -> str:
    """Modules as linked boxes, those that import nothing above, as one SVG element.

    Args:
        imports: module path → the modules it imports.
        href: module path → its address, or None.
        title: what the picture is called.
        summary: what its arrows mean.
    """
    paths = sorted(imports)
    number = {path: position for position, path in enumerate(paths)}
    parents = [[number[each] for each in sorted(imports[path]) if each in number] for path in paths]
    parents = _without_shortcuts(parents)
    labels = _labels(paths)
    widths = [CHARACTER * len(label) + 2 * PADDING for label in labels]
    layout = layered(parents, widths, _GAP, _BEND)
    tops = [4 + (_HEIGHT + _BETWEEN) * layer for layer in range(layout.layers)]
    edges, nodes = [], []
    for node, path in enumerate(paths):
        x, layer = layout.centres[node]
        for parent in parents[node]:
            start, above = layout.centres[parent]
            if above >= layer:
                # Part of a circle of imports; the way forth is drawn.
                continue
            points = [(start, tops[above] + _HEIGHT)]
            for bend, between in layout.bends.get((node, parent), []):
                points += [(bend, tops[between]), (bend, tops[between] + _HEIGHT)]
            edges.append(edge([*points, (x, tops[layer])]))
        drawn = box([labels[node]], x, tops[layer], widths[node])
        address = href(path)
        if address is not None and is_followable(address):
            drawn = f'<a href="{escaped(address)}">{drawn}</a>'
        nodes.append(drawn)
    width, height = layout.width + 8, (tops[-1] + _HEIGHT + 6) if tops else 0
    return (
        f'<svg class="picture picture-graph" role="group" aria-label="{escaped(title)}"'
        f' width="{width:.0f}" height="{height}" viewBox="-4 0 {width:.0f} {height}">'
        f"<desc>{escaped(summary)}</desc>{''.join(edges)}{''.join(nodes)}</svg>"
    )


def _without_shortcuts(parents: list[list[int]]) -> list[list[int]]:
    """Leave out the edges that a longer way implies (a transitive reduction)."""
    ancestors: dict[int, set[int]] = {}

    def above(node: int, below: frozenset[int]) -> set[int]:
        if node not in ancestors:
            found: set[int] = set()
            for parent in parents[node]:
                if parent not in below:
                    found |= {parent} | above(parent, below | {node})
            ancestors[node] = found
        return ancestors[node]

    return [
        [
            parent
            for parent in edges
            if not any(
                parent in above(other, frozenset({node})) for other in edges if other != parent
            )
        ]
        for node, edges in enumerate(parents)
    ]


def _labels(paths: list[str]) -> list[str]:
    """The paths without the folder that all have in common, and without their ending."""
    common = commonpath([path.rpartition("/")[0] or "." for path in paths]) if paths else ""
    prefix = f"{common}/" if common and common != "." else ""
    return [path.removeprefix(prefix).removesuffix(".py") for path in paths]
