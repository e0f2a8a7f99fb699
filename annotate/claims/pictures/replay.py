"""A recording step by step: the source with the running line, the call stack, what was noted.

Everything is in the page: the source as the pinned tree has it, and the steps. The player that
``assets/replay.js`` makes of it is hidden until that runs; the sequence diagram stands there first.
"""

import json
from collections.abc import Sequence

from annotate.claims.context import Context
from annotate.claims.highlight import html_lines
from annotate.claims.markup import escaped
from annotate.claims.pictures import graph, sequence
from annotate.claims.pictures.part import Part
from annotate.claims.pictures.steps import Origin, Steps, steps
from annotate.claims.pictures.words import words
from annotate.recordings import Graph, State
from annotate.upstream import syntax
from annotate.upstream.index import Index
from annotate.upstream.table import ModuleTable

MAX_FUNCTION_LINES = 80
"""A longer function is shown without the one it stands in."""
SHOWN_WORDS = (
    *("position", "first", "back", "over", "forward", "last", "jump", "start", "stack"),
    *("state", "no state", "source", "script", "keys", "other text"),
)


def draw(part: Part, context: Context, language: str) -> str:
    """The player's material, and the sequence diagram in its place."""
    sources = Sources(part, context.index(part.recording.confirmed[0].tree.get("upstream", "")))
    made = steps(part, sources.origin)
    told = words(language)
    data = {
        "name": part.recording.script,
        "steps": made.steps,
        "marks": [_mark(mark) for mark in made.marks],
        "words": {key: told[key] for key in SHOWN_WORDS},
    }
    body = part.region.first_line if part.region else 1
    return (
        f'<div class="replay" data-line="{body}">'
        f'<div class="replay-still">{sequence.draw(part, context, language)}</div>'
        f'<div class="replay-player" hidden role="group"'
        f' aria-label="{escaped(told["replay"].format(part.recording.script))}">'
        f'<script type="application/json">{_json(data)}</script>'
        f'<div class="replay-sources" data-search-exclude>{sources.html()}</div>'
        f'<div class="replay-graphs" role="group" aria-label="{escaped(told["graphs"])}">'
        f"{_graphs(made, part, language)}</div>"
        "</div></div>"
    )


def _mark(mark: State | Graph) -> list[object]:
    if isinstance(mark, State):
        return [mark.title, list(mark.values.items())]
    return [mark.name, None]


def _graphs(made: Steps, part: Part, language: str) -> str:
    return "".join(
        f'<div hidden data-mark="{number}">{graph.picture(mark, part.recording.script, language)}'
        "</div>"
        for number, mark in enumerate(made.marks)
        if isinstance(mark, Graph)
    )


def _json(data: object) -> str:
    """JSON that can stand in a page's script element."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return told.replace("<", "\\u003c").replace("&", "\\u0026")


class Sources:
    """The pieces of source that a replay goes through: the script, and upstream functions."""

    def __init__(self, part: Part, index: Index) -> None:
        self._recording = part.recording
        self._index = index
        self._titles: dict[str, int] = {part.recording.script: 0}
        self._pieces = [_piece(0, part.recording.script, 1, part.script)]
        self._script_lines = _first_lines(part.script)
        self._origins: dict[str, Origin] = {}

    def origin(self, symbol: str) -> Origin:
        """Where a symbol stands among the sources; it is added to them where it is new."""
        if symbol not in self._origins:
            self._origins[symbol] = self._find(symbol)
        return self._origins[symbol]

    def html(self) -> str:
        """All sources, hidden."""
        return "".join(self._pieces)

    def _find(self, symbol: str) -> Origin:
        path, _, qualname = symbol.partition("::")
        if path == self._recording.script:
            return Origin(0, self._script_lines.get(qualname, 1), lines=True)
        table = self._index.module(path)
        first_line = table.symbols[qualname].first_line if qualname else 1
        text = table.place(table.symbols[qualname]).text if qualname else table.text
        recorded = self._recording.texts.get(symbol, "")
        same = bool(recorded) and syntax.text_fingerprint(text).startswith(recorded)
        whole = _around(table, qualname)
        return Origin(self._source(table, path, whole), first_line, lines=same)

    def _source(self, table: ModuleTable, path: str, qualname: str) -> int:
        title = f"{path}::{qualname}" if qualname else path
        if title not in self._titles:
            number = self._titles[title] = len(self._pieces)
            first_line, text = 1, table.text
            if qualname:
                symbol = table.symbols[qualname]
                lines = table.text.split("\n")[symbol.first_line - 1 : symbol.last_line]
                first_line, text = symbol.first_line, syntax.canonical("\n".join(lines))
            self._pieces.append(_piece(number, title, first_line, text))
        return self._titles[title]


def _around(table: ModuleTable, qualname: str) -> str:
    """The outermost function around a symbol that is not too long to be shown."""
    found = qualname
    name = qualname
    while "." in name:
        name = name.rpartition(".")[0]
        symbol = table.symbols.get(name)
        if symbol is None or symbol.kind not in ("function", "method"):
            break
        if symbol.last_line - symbol.first_line < MAX_FUNCTION_LINES:
            found = name
    return found


def _first_lines(script: str) -> dict[str, int]:
    from annotate.upstream import symbols

    found: Sequence[symbols.Symbol] = symbols.extract(script).symbols
    return {symbol.qualname: symbol.first_line for symbol in found}


def _piece(source: int, title: str, first_line: int, text: str) -> str:
    lines = html_lines(text, escaped)
    shown = "\n".join(
        f'<span data-line="{number}"><i data-n="{number}"></i>{line}</span>'
        for number, line in enumerate(lines, start=first_line)
    )
    return (
        f'<div hidden data-source="{source}" data-title="{escaped(title)}"><pre><code>{shown}'
        "</code></pre></div>"
    )
