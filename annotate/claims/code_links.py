"""The links of quoted code: names that mean a symbol lead to where the site shows it."""

import ast
import warnings
from collections.abc import Mapping

from annotate.claims.links import Links, NoLinks
from annotate.claims.markup import Link
from annotate.errors import AnnotateError
from annotate.location import SymbolReference
from annotate.upstream.index import Index
from annotate.upstream.references import uses
from annotate.upstream.table import Place


class CodeLinks:
    """The links of quoted code: names that mean a symbol → where that symbol is shown."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._uses: dict[str, list[tuple[int, int, int, str]]] = {}
        self._titles: dict[str, str] = {}

    def within(self, place: Place, links: Links) -> Mapping[tuple[int, int], Link]:
        """Characters of a place's text → links, leaving out what the site does not show."""
        if isinstance(links, NoLinks):
            # Finding what each name means costs more than drawing the page.
            return {}
        table_lines = self._index.file_text(place.path).split("\n")
        offsets = _offsets(place, table_lines)
        if offsets is None:
            return {}
        found: dict[tuple[int, int], Link] = {}
        for line, start, end, target in self._uses_in(place.path):
            if place.first_line <= line <= place.last_line:
                offset = offsets[line - place.first_line]
                href = links.symbol(self._index.tree.pin.name, target)
                if href is not None:
                    found[offset + start, offset + end] = Link(href, self._title(target))
        return found

    def _uses_in(self, path: str) -> list[tuple[int, int, int, str]]:
        kept = self._uses.get(path)
        if kept is None:
            try:
                found = uses(self._index, path) if path.endswith(".py") else []
            except AnnotateError:
                found = []
            kept = [(use.line, use.start, use.end, use.target) for use in found]
            self._uses[path] = kept
        return kept

    def _title(self, symbol: str) -> str:
        """A symbol's signature and the first line of its docstring."""
        title = self._titles.get(symbol)
        if title is None:
            path, _, qualname = symbol.partition("::")
            place = self._index.find(SymbolReference(path, qualname))
            parts = [symbol]
            if place is not None:
                parts = [self._index.signature(place) or symbol, first_doc_line(place.text)]
            title = self._titles[symbol] = "\n".join(filter(None, parts))
        return title


def first_doc_line(text: str) -> str:
    """The first line of a definition's or a module's docstring, or ""."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(text)
        node = module.body[0] if len(module.body) == 1 else module
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node = module
        return (ast.get_docstring(node) or "").split("\n", 1)[0].strip()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _offsets(place: Place, file_lines: list[str]) -> list[int] | None:
    """For each line of a place, what to add to a column of the file to get a character of its text.

    None where the text is not whole lines of the file, evenly dedented.
    """
    offsets = []
    position = 0
    for number, line in enumerate(place.text.split("\n")):
        original = file_lines[place.first_line - 1 + number]
        removed = len(original) - len(line)
        if removed < 0 or original[removed:] != line:
            return None
        offsets.append(position - removed)
        position += len(line) + 1
    return offsets
