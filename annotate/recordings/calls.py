"""From a tracer's notes to the calls between symbols.

A function is found by where its code stands: the innermost symbol around its first line, checked
against the qualified name Python gives its code (``__name__`` is not asked: decorators rewrite it).
What has no symbol of its own belongs to the symbol around it:

- a lambda is noted as a call of that symbol with the lambda's place inside it (``inner``);
- a comprehension or generator expression that runs where it stands is no call at all;
- a generator that goes on, or a generator expression that runs somewhere else, is noted only where
  it calls something itself.

Functions of the script are symbols as well. Calls made while a module is being imported are left
out, as are the bodies of modules and classes.

Each call has a path: the lines that ran in it, and where among them it called something or a mark
was made (`annotate.recordings.marks`). Whether calls are equal does not depend on their lines.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from annotate.errors import AnnotateError, Exit
from annotate.recordings.marks import CALL, CUT, MARK, Mark
from annotate.upstream import symbols, syntax
from annotate.upstream.index import Index
from annotate.upstream.symbols import Symbol


@dataclass(frozen=True, slots=True)
class Call:
    """One call, or a run of equal calls with equal calls below them.

    Attributes:
        depth: how many calls it is inside of; 0 for a call from the script's own body.
        symbol: id of the symbol whose code ran; of a script's function ``SCRIPT::NAME``.
        inner: the nameless function inside the symbol that ran (``<lambda>``), or "".
        wraps: the name of the function this wrapper wraps, where its closure tells, or "".
        line: the line of the script's own body that was running, at depth 0; else 0.
        times: how often this repeats in a row.
        resumed: whether a suspended generator went on, which is no call.
        path: the lines that ran, counting from 1 within the symbol, with marks between them for
            what happened there (see `annotate.recordings.marks`).
    """

    depth: int
    symbol: str
    inner: str = ""
    wraps: str = ""
    line: int = 0
    times: int = 1
    resumed: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """How often code of one symbol called another.

    Attributes:
        caller: id of the calling symbol; the path of the script for its own body.
        callee: id of the called symbol.
        inner: the nameless function inside ``callee`` that was called, or "".
        count: the number of calls.
    """

    caller: str
    callee: str
    inner: str
    count: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a function stands: the symbol around it, and the nameless function in it, if any.

    ``folds`` says that the function is a comprehension or generator expression; ``first_line`` is
    that of the symbol, or 1 where there is none.
    """

    symbol: str
    inner: str
    folds: bool
    first_line: int


_NAMELESS = re.compile(r"<\w+>")
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_INLINED = _COMPREHENSIONS - {"<genexpr>"}
"""Comprehensions that are no functions from Python 3.12 on (PEP 709)."""


class Origins:
    """Finds the symbols of functions, in the tree and in the script."""

    def __init__(self, index: Index, script: str, source: bytes) -> None:
        self._index = index
        self._script = script
        functions = symbols.DEFINITIONS | {"lambda"}
        self._script_symbols = [
            symbol
            for symbol in symbols.extract(syntax.decode(source)).symbols
            if symbol.kind in functions
        ]

    def find(self, path: str, line: int, code_name: str) -> Origin:
        """The origin of the function that starts on a line; ``path`` is "" for the script.

        Raises:
            AnnotateError: the symbols of the file cannot be judged, or Python's name for the
                function is not the symbol's.
        """
        if path:
            table = self._index.module(path)
            candidates = [each for each in table.symbols.values() if each.kind != "alias"]
        else:
            candidates = self._script_symbols
        parts = code_name.replace(".<locals>", "").split(".")
        folds = parts[-1] in _COMPREHENSIONS
        symbol = _innermost(candidates, line, ".".join(parts))
        if path and symbol is not None and (doubt := table.place(symbol).doubt):
            raise _unjudged(f"{path}::{symbol.qualname}: {doubt}")
        identifier = path or self._script
        if symbol is not None:
            if not _agree(symbol, parts):
                raise _unjudged(
                    f"{identifier}:{line}: Python ran {code_name} where {symbol.qualname} stands"
                )
            identifier += f"::{symbol.qualname}"
        first_line = symbol.first_line if symbol is not None else 1
        return Origin(identifier, _inner(symbol, parts), folds, first_line)

    def fingerprint(self, symbol: str) -> str:
        """The token fingerprint of a symbol of the tree, or of a whole file where it is a path."""
        return fingerprint(self._text(symbol))

    def text_fingerprint(self, symbol: str) -> str:
        """The text fingerprint of the same, which tells whether lines count alike."""
        return syntax.text_fingerprint(self._text(symbol))

    def _text(self, symbol: str) -> str:
        path, _, qualname = symbol.partition("::")
        table = self._index.module(path)
        return table.place(table.symbols[qualname]).text if qualname else table.text


@lru_cache(maxsize=4096)
def fingerprint(text: str) -> str:
    """The token fingerprint of a text; several recordings ask for the same symbols."""
    return syntax.token_fingerprint(text)


def _innermost(candidates: list[Symbol], line: int, name: str) -> Symbol | None:
    """The smallest symbol around a line; of several, the one that has the name, or is deepest."""
    around = [each for each in candidates if each.first_line <= line <= each.last_line]
    return min(
        around,
        key=lambda each: (
            each.last_line - each.first_line,
            _plain(each.qualname) != name,
            -each.qualname.count("."),
        ),
        default=None,
    )


def _plain(qualname: str) -> str:
    """A symbol's name as Python knows it, without the number of a repeated definition."""
    return re.sub(r"#\d+", "", qualname)


def _agree(symbol: Symbol, parts: list[str]) -> bool:
    """Whether a function with this qualified name can stand in the symbol."""
    if symbol.kind not in symbols.DEFINITIONS or any(map(_NAMELESS.fullmatch, parts)):
        return True
    return parts == _plain(symbol.qualname).split(".")


def _inner(symbol: Symbol | None, parts: list[str]) -> str:
    """What a function's qualified name says beyond its symbol's, such as ``<lambda>``."""
    nameless = [part for part in parts if _NAMELESS.fullmatch(part)]
    if symbol is not None and symbol.kind == "lambda" and nameless:
        del nameless[0]
    return ".".join(part for part in nameless if part not in _INLINED)


def _unjudged(message: str) -> AnnotateError:
    return AnnotateError(
        message,
        "Nothing was recorded, because calls cannot be told apart there.",
        exit_code=Exit.NOTHING_JUDGED,
    )


@dataclass(frozen=True, slots=True)
class _Label:
    origin: Origin
    wraps: str


@dataclass(frozen=True, slots=True)
class _Run:
    """A finished call, or a mark, and how often it came in a row.

    ``kind`` numbers what is the same, lines included, and ``shape`` what is the same but for lines;
    a mark has negative ones of its own.
    """

    kind: int
    shape: int
    times: int


@dataclass(slots=True)
class _Node:
    """A call that has not returned yet, and the finished calls below it."""

    label: _Label | None
    line: int
    resumed: bool
    below: list[_Run] = field(default_factory=list)
    path: list[str] = field(default_factory=list)


_Shape = tuple[_Label, int, bool, tuple[tuple[int, int], ...]]


@dataclass(frozen=True, slots=True)
class _Kind:
    label: _Label
    line: int
    resumed: bool
    path: str
    below: tuple[_Run, ...]


class Calls:
    """The calls of one run.

    Attributes:
        executed: the ids of the symbols of the tree whose code ran, at import or later.
        edges: what called what, sorted.
    """

    def __init__(self, notes: Mapping[str, Any], origins: Origins, script: str) -> None:
        self._labels = [
            _Label(origins.find(path, line, name), wraps)
            for path, line, name, wraps in notes["labels"]
        ]
        imported = {origins.find(*function).symbol for function in notes["imported"]}
        called = {label.origin.symbol for label in self._labels}
        self.executed = sorted(
            each for each in imported | called if each.partition("::")[0] != script
        )
        self._script = script
        self._shapes: dict[_Shape, int] = {}
        self._numbers: dict[_Kind, int] = {}
        self._kinds: list[_Kind] = []
        self._counted: Counter[tuple[str, str, str]] = Counter()
        self._top = self._read(notes)
        self.edges = tuple(Edge(*names, count) for names, count in sorted(self._counted.items()))

    def rows(self) -> Iterator[Call | Mark]:
        """The calls in the order they were made, and the marks between them."""
        pending = [(run, 0) for run in reversed(self._top)]
        while pending:
            run, depth = pending.pop()
            if run.kind < 0:
                yield Mark(depth, -1 - run.kind)
                continue
            kind = self._kinds[run.kind]
            origin, wraps = kind.label.origin, kind.label.wraps
            yield Call(
                depth,
                origin.symbol,
                origin.inner,
                wraps,
                kind.line,
                run.times,
                kind.resumed,
                kind.path,
            )
            pending.extend((each, depth + 1) for each in reversed(kind.below))

    def _read(self, notes: Mapping[str, Any]) -> list[_Run]:
        events: list[int] = notes["events"]
        lines = iter(notes["lines"])
        marks = iter(enumerate(notes["marks"]))
        mark = next(marks, None)
        stack = [_Node(None, 0, False)]
        for position, steps in enumerate(notes["steps"]):
            for step in range(len(steps) + 1):
                while mark and (mark[1]["event"], mark[1]["step"]) == (position, step):
                    _append(stack[-1], _Run(-1 - mark[0], -1 - mark[0], 1), MARK)
                    mark = next(marks, None)
                label = stack[-1].label
                if step < len(steps) and label is not None:
                    stack[-1].path.append(str(1 + steps[step] - label.origin.first_line))
            if position < len(events):
                self._take(events[position], lines, stack)
        while len(stack) > 1:
            # A script that ends by sys.exit() inside a call leaves calls that never return.
            self._finish(stack.pop(), stack[-1])
        return stack[0].below

    def _take(self, event: int, lines: Iterator[int], stack: list[_Node]) -> None:
        """Enter a function, go on with a generator, or leave either."""
        if event == 0:
            self._finish(stack.pop(), stack[-1])
            return
        label = self._labels[abs(event) - 1]
        line = next(lines)
        if len(stack) > 1 and self._is_inline(stack[-1], stack[-2]):
            line = stack[-1].line
        resumed = event < 0
        origin, caller = label.origin, self._symbol(stack[-1])
        if not (resumed or origin.folds or (origin.inner and origin.symbol == caller)):
            self._counted[caller, origin.symbol, origin.inner] += 1
        node = _Node(label, line, resumed)
        if self._is_inline(node, stack[-1]):
            # What it calls, its caller calls.
            node.below, node.path = stack[-1].below, stack[-1].path
        stack.append(node)

    def _finish(self, node: _Node, caller: _Node) -> None:
        """Hang a call that has returned below its caller."""
        label = node.label
        assert label is not None
        if self._is_inline(node, caller):
            return
        if node.below or not (node.resumed or label.origin.folds):
            shapes = tuple((run.shape, run.times) for run in node.below)
            shape = self._shapes.setdefault(
                (label, node.line, node.resumed, shapes), len(self._shapes)
            )
            path = node.path if len(node.path) <= MAX_PATH else [*node.path[:MAX_PATH], CUT]
            kind = _Kind(label, node.line, node.resumed, " ".join(path), tuple(node.below))
            number = self._numbers.setdefault(kind, len(self._kinds))
            if number == len(self._kinds):
                self._kinds.append(kind)
            _append(caller, _Run(number, shape, 1), CALL)

    def _is_inline(self, node: _Node, caller: _Node) -> bool:
        """Whether this is a comprehension that runs where it stands."""
        origin = node.label.origin if node.label else None
        return origin is not None and origin.folds and origin.symbol == self._symbol(caller)

    def _symbol(self, node: _Node) -> str:
        return node.label.origin.symbol if node.label else self._script


def _append(caller: _Node, run: _Run, sign: str) -> None:
    """Append what happened in a call, or lengthen its last run if that is of the same shape."""
    runs = caller.below
    if runs and runs[-1].shape == run.shape:
        runs[-1] = replace(runs[-1], times=runs[-1].times + run.times)
        # The lines that led to it are those of the first time again.
        while caller.path[-1] != CALL:
            caller.path.pop()
    else:
        runs.append(run)
        caller.path.append(sign)


MAX_PATH = 300
"""How many lines and calls of one call are kept."""
