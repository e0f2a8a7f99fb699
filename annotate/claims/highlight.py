"""Python source → HTML lines with few, short-named spans.

The class names are those of Pygments that Material styles (``k`` keyword, ``s`` string, …). Plain
names and punctuation get no span at all, and neighbours of one class share one: a card is about a
third of the size of the same code highlighted by Pygments, which is what keeps a site of a
thousand quotes quick to build and to search.
"""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from annotate.errors import AnnotateError
from annotate.upstream import syntax
from annotate.upstream.syntax import Token

_Segment = tuple[int, int, str]
"""Start and end (characters of the text) and the class of a piece that is not plain."""

_CONSTANTS = frozenset({"true", "false", "none"})
_SELF = frozenset({"self", "cls"})
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_CLASSES = {"comment": "c1", "integer": "mi", "float": "mf"}
_STATEMENT_ENDS = frozenset({"newline", "indent", "dedent", "comment"})


def html_lines(
    text: str,
    escape: Callable[[str], str],
    *,
    python: bool = True,
    links: Mapping[tuple[int, int], str] | None = None,
) -> Sequence[str]:
    """The lines of a text as HTML, without their newlines.

    ``escape`` turns text into HTML; ``links`` maps (start, end) characters, which must not
    overlap, to the attributes of the link's tag, already HTML. Text that is not Python, or that
    cannot be read as it, is only escaped and linked.
    """
    return _lines(text, escape, python, tuple(sorted((links or {}).items())))


@lru_cache(maxsize=4096)
def _lines(
    text: str,
    escape: Callable[[str], str],
    python: bool,
    links: tuple[tuple[tuple[int, int], str], ...],
) -> tuple[str, ...]:
    spans = _segments(text) if python else ()
    output: list[str] = []
    position = 0
    for start, end, name, address in _with_links(spans, links):
        output.append(escape(text[position:start]))
        for number, piece in enumerate(text[start:end].split("\n")):
            if number:
                output.append("\n")
            if piece:
                output.append(_element(escape(piece), name, address))
        position = end
    output.append(escape(text[position:]))
    return tuple("".join(output).split("\n"))


def _element(html: str, name: str, address: str) -> str:
    if address:
        name_attribute = f' class="{name}"' if name else ""
        return f"<a{name_attribute} {address}>{html}</a>"
    return f'<span class="{name}">{html}</span>'


def _with_links(
    spans: Sequence[_Segment], links: Sequence[tuple[tuple[int, int], str]]
) -> Iterator[tuple[int, int, str, str]]:
    """Spans and links in order; a link takes the class of the span it lies in, and splits it."""
    remaining = list(links)
    for start, end, name in spans:
        while remaining and remaining[0][0][1] <= start:
            (first, last), address = remaining.pop(0)
            yield first, last, "", address
        while remaining and remaining[0][0][0] < end:
            (first, last), address = remaining.pop(0)
            if first > start:
                yield start, first, name, ""
            yield first, last, name, address
            start = last
        if start < end:
            yield start, end, name, ""
    for (first, last), address in remaining:
        yield first, last, "", address


@lru_cache(maxsize=4096)
def _segments(text: str) -> tuple[_Segment, ...]:
    try:
        tokens = syntax.tokens(text)
    except AnnotateError:
        return ()
    found: list[_Segment] = []
    decorator_end = -1
    for index, token in enumerate(tokens):
        if not token.text:
            continue
        if token.text == "@" and _starts_statement(tokens, index):
            decorator_end = token.start
        if token.start == decorator_end and (token.text in "@." or token.kind == "identifier"):
            name, decorator_end = "nd", token.end
        else:
            name = _class_of(tokens, index)
        if not name:
            continue
        if found and found[-1][2] == name and not text[found[-1][1] : token.start].strip(" "):
            found[-1] = (found[-1][0], token.end, name)
        else:
            found.append((token.start, token.end, name))
    return tuple(found)


def _starts_statement(tokens: Sequence[Token], index: int) -> bool:
    return index == 0 or tokens[index - 1].kind in _STATEMENT_ENDS


def _class_of(tokens: Sequence[Token], index: int) -> str:
    token = tokens[index]
    after = tokens[index + 1].kind if index + 1 < len(tokens) else "newline"
    if token.kind == "string":
        is_docstring = after == "newline" and _starts_statement(tokens, index)
        return "sd" if is_docstring else "s"
    if token.kind != "identifier":
        if token.kind in _CONSTANTS:
            return "kc"
        if token.kind == token.text and token.text.isalpha():
            return "k"
        return _CLASSES.get(token.kind, "")
    before = tokens[index - 1].text if index else ""
    if before == "def":
        return "nf"
    if before == "class":
        return "nc"
    if token.text in _SELF:
        return "bp"
    if token.text in _BUILTINS and before != "." and after != "=":
        return "nb"
    return ""
