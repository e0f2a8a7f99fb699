"""The calls of a recording as a sequence diagram.

Each file has a lifeline; each call is a row with an arrow from the caller's lifeline to the called
one's and its name beside. Names stand to the right of all lifelines, so that none is ever crossed
by a line or cut, and the lifelines are close, so that a phone can show them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby

from annotate.claims.context import Context
from annotate.claims.markup import escaped, is_followable
from annotate.claims.pictures.part import Part, Shown, name_of, walk
from annotate.claims.pictures.words import words
from annotate.claims.quote import permalink
from annotate.location import SymbolReference
from annotate.recordings import Recording

LANE = 18
ROW = 20
HEAD = 17
CHARACTER = 6.7
INDENT = 9
MAX_ROWS = 300
"""How many calls are drawn where the page does not say how deep; deeper ones are counted."""
OPEN_ROWS = 60
"""How many rows are open at first; the calls of further lines can be opened."""


def draw(part: Part, context: Context, language: str) -> str:
    """One diagram for each line of the script's body that made calls; each can be folded."""
    places = Places(part.recording, context)
    script_lines = part.script.split("\n")
    pieces: list[str] = []
    rows = 0
    for line, group in groupby(_limited(part), key=lambda shown: shown.line):
        calls = list(group)
        told = words(language)
        total = sum(1 for _ in walk(calls))
        is_open = not pieces or rows + total <= OPEN_ROWS
        rows += total if is_open else 0
        source = script_lines[line - 1].strip() if 0 < line <= len(script_lines) else ""
        summary = (
            f"<span>{escaped(told['line'].format(line))}</span> <code>{escaped(source)}</code>"
            f" <span>{escaped(told['call' if total == 1 else 'calls'].format(total))}</span>"
        )
        drawn = _diagram(calls, part.recording.script, places, language)
        pieces.append(
            f"<details{' open' if is_open else ''}><summary>{summary}</summary>"
            f'<div class="picture-scroll">{drawn}</div></details>'
        )
    return f'<div class="picture-sequence">{"".join(pieces)}</div>'


def _limited(part: Part) -> list[Shown]:
    """The calls, as deep as there is room for them where the page does not say how deep."""
    calls = part.calls()
    if part.depth is not None:
        return calls
    levels = Counter(shown.level for shown in walk(calls))
    depth, rows = 0, 0
    while depth in levels and (depth == 0 or rows + levels[depth] <= MAX_ROWS):
        rows += levels[depth]
        depth += 1
    return calls if depth not in levels else replace(part, depth=depth).calls()


class Places:
    """Where the site, or else the upstream's host, shows what was called."""

    def __init__(self, recording: Recording, context: Context) -> None:
        self.upstream = recording.confirmed[0].tree.get("upstream", "")
        self._context = context
        self._index = context.index(self.upstream)
        self._found: dict[str, str] = {}

    def address(self, symbol: str) -> str:
        """A symbol's address, or ""."""
        if symbol not in self._found:
            self._found[symbol] = self._look(symbol)
        return self._found[symbol]

    def _look(self, symbol: str) -> str:
        path, separator, qualname = symbol.partition("::")
        if not separator or path not in self._index.tree.files:
            return ""
        href = self._context.links.symbol(self.upstream, symbol)
        if href is None:
            place = self._index.find(SymbolReference(path, qualname))
            href = permalink(self._index.tree, place) if place else None
        return href if href and is_followable(href) else ""


@dataclass(frozen=True, slots=True)
class _Lanes:
    """The files' lifelines, by the order in which they are first called."""

    files: Sequence[str]

    def x(self, file: str) -> int:
        return 10 + LANE * self.files.index(file)

    @property
    def right(self) -> int:
        return 10 + LANE * len(self.files)


def _file(shown: Shown) -> str:
    return shown.call.symbol.partition("::")[0]


def _short(file: str, files: Sequence[str]) -> str:
    """A file's own name, with its folder where two have the same."""
    name = file.rpartition("/")[2]
    if sum(other.rpartition("/")[2] == name for other in files) > 1 or name == "__init__.py":
        return "/".join(file.split("/")[-2:])
    return name


def _diagram(calls: Sequence[Shown], script: str, places: Places, language: str) -> str:
    told = words(language)
    rows = list(walk(calls))
    lanes = _Lanes(list(dict.fromkeys([script, *map(_file, rows)])))
    short = {file: _short(file, lanes.files) for file in lanes.files}
    top = HEAD * len(lanes.files) + 8
    height = top + ROW * len(rows) + 6
    parts = [_lifelines(lanes, short, height)]
    callers = {id(below): _file(shown) for shown in rows for below in shown.below}
    width = max(lanes.x(file) + 8 + CHARACTER * len(name) for file, name in short.items())
    bars, arrows, names = [], [], []
    for number, shown in enumerate(rows):
        y = top + ROW * number + ROW // 2
        lane = lanes.x(_file(shown))
        inside = sum(1 for _ in walk(shown.below))
        bars.append(f"M{lane} {y - 5}v{ROW * inside + 10}")
        arrows.append(_arrow(lanes.x(callers.get(id(shown), script)), lane, y))
        x = lanes.right + 4 + INDENT * shown.level
        label = name_of(shown.call)
        details = _details(shown, short, told)
        width = max(width, x + CHARACTER * (len(label) + 2 + len(details)))
        content = (
            f'<text x="{x}" y="{y + 4}">{escaped(label)}'
            f'<tspan class="faint"> &#8199;{escaped(details)}</tspan></text>'
        )
        if shown.hidden:
            content += f"<title>{escaped(told['inside'].format(shown.hidden))}</title>"
        href = places.address(shown.call.symbol)
        names.append(f'<a href="{escape(href)}">{content}</a>' if href else f"<g>{content}</g>")
    parts.append(f'<path class="bar" d="{"".join(bars)}"/>')
    parts.append(f'<path class="arrow" d="{"".join(arrows)}"/>')
    title = escaped(told["sequence"].format(script))
    summary = escaped(told["summary"].format(len(rows), ", ".join(short.values())))
    return (
        f'<svg class="picture" role="group" aria-label="{title}" width="{width + 10:.0f}"'
        f' height="{height}" viewBox="0 0 {width + 10:.0f} {height}"><desc>{summary}</desc>'
        f"{''.join(parts)}{''.join(names)}</svg>"
    )


def _details(shown: Shown, short: Mapping[str, str], told: Mapping[str, str]) -> str:
    """What is said of a call besides its name."""
    details = [short[_file(shown)]]
    if shown.call.resumed:
        details.append(told["resumed"])
    if shown.hidden:
        details.append(f"+{shown.hidden}")
    return " · ".join(details)


def _lifelines(lanes: _Lanes, short: dict[str, str], height: int) -> str:
    """Each lifeline under its file's name, one name a line, so that none is in another's way."""
    parts = []
    for number, file in enumerate(lanes.files):
        x, y = lanes.x(file), HEAD * number + 12
        parts.append(f'<text class="file" x="{x + 6}" y="{y}">{escaped(short[file])}</text>')
        parts.append(f'<path class="life" d="M{x} {y - 8}V{height}"/>')
    return "".join(parts)


def _arrow(start: int, end: int, y: int) -> str:
    """An arrow from one lifeline to another, or a loop."""
    if start == end:
        return f"M{end + 3} {y - 4}h6v8h-6m3 -3l-3 3l3 3"
    side = 1 if end > start else -1
    tip = end - 3 * side
    return f"M{start} {y}H{tip}m{-4 * side} -3l{4 * side} 3l{-4 * side} 3"
