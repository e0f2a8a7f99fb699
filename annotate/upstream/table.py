"""A file's symbols: read from its bytes once, then kept in the store by blob id."""

import ast
import json
import re
import sys
import warnings
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from annotate.errors import AnnotateError, Exit
from annotate.location import RangeReference
from annotate.upstream import symbols, syntax
from annotate.upstream.store import Store
from annotate.upstream.symbols import Symbol
from annotate.upstream.tree import Tree

Given = TypeVar("Given")
Result = TypeVar("Result")

_DERIVED_FORMAT = 3
_NEWLINE = re.compile("\n")
# Not `astuple`, which copies each value deeply.
_values = attrgetter(*(field.name for field in fields(Symbol)))


@dataclass(frozen=True, slots=True)
class Place:
    """A symbol, or lines of a file, found in a tree.

    Attributes:
        path: the file it stands in.
        qualname: the symbol's qualified name there; "" for lines of a file.
        first_line: its first line in that file, counting from 1.
        last_line: its last line, included.
        text: its canonical text (`annotate.upstream.syntax.canonical`).
        doubt: why the text cannot be judged (the parsers disagree on it), or "".
    """

    path: str
    qualname: str
    first_line: int
    last_line: int
    text: str
    doubt: str = ""

    @property
    def id(self) -> str:
        """The symbol's id, or the file and its lines."""
        if self.qualname:
            return f"{self.path}::{self.qualname}"
        return str(RangeReference(self.path, self.first_line, self.last_line))

    @property
    def span(self) -> str:
        """The file and its lines, as people read them: ``autograd/core.py:71-80``."""
        if self.first_line == self.last_line:
            return f"{self.path}:{self.first_line}"
        return f"{self.path}:{self.first_line}-{self.last_line}"


class ModuleTable:
    """The symbols of one file.

    Attributes:
        path: the file.
        text: its decoded text, with LF line ends.
        symbols: all of them, by qualified name in the order of the file.
        definitions: those that are no aliases.
        aliases: imported name → what it is imported from, once for each import that binds it.
        stars: the modules of ``from … import *``, in the order of the file.
        doubts: qualified name → why it cannot be judged; under "" what concerns all of them.
    """

    def __init__(
        self, path: str, text: str, entries: tuple[Symbol, ...], doubts: Mapping[str, str]
    ) -> None:
        self.path = path
        self.text = text
        self.symbols = {symbol.qualname: symbol for symbol in entries}
        self.doubts = doubts
        self.definitions: dict[str, Symbol] = {}
        self.aliases: dict[str, list[str]] = {}
        self.stars: list[str] = []
        self._places: dict[str, Place] = {}
        for symbol in entries:
            if symbol.kind != "alias":
                self.definitions[symbol.qualname] = symbol
            elif symbol.target.endswith(":*"):
                self.stars.append(symbol.target.removesuffix(":*"))
            else:
                self.aliases.setdefault(symbol.qualname.partition("#")[0], []).append(symbol.target)

    def place(self, symbol: Symbol) -> Place:
        """Where a symbol of this file stands, and its text."""
        place = self._places.get(symbol.qualname)
        if place is None:
            place = Place(
                self.path,
                symbol.qualname,
                symbol.first_line,
                symbol.last_line,
                symbols.source_text(*self._alone(symbol)),
                self.doubts.get(symbol.qualname) or self.doubts.get("", ""),
            )
            self._places[symbol.qualname] = place
        return place

    @cached_property
    def _line_starts(self) -> "array[int]":
        """The offset of each line, and the one behind the last line's newline."""
        starts = array("L", [0])
        starts.extend(newline.end() for newline in _NEWLINE.finditer(self.text + "\n"))
        return starts

    def _alone(self, symbol: Symbol) -> tuple[str, Symbol]:
        """The lines of a symbol, and the symbol as it stands in them.

        Finding its lines in the text anew, for each symbol of a long file, takes quadratic time.
        """
        start = self._line_starts[symbol.first_line - 1]
        end = self._line_starts[symbol.last_line] - 1
        height = symbol.last_line - symbol.first_line + 1
        return self.text[start:end], replace(symbol, first_line=1, last_line=height)

    def exports(self, name: str) -> bool:
        """Whether ``from module import *`` binds a name, if the module has it."""
        if self._all is None:
            return not name.startswith("_")
        return name in self._all

    @cached_property
    def _all(self) -> frozenset[str] | None:
        """The names that ``__all__`` lists; None where it is computed, or there is none."""
        symbol = self.definitions.get("__all__")
        if symbol is None or self.text.count("__all__") > 1:
            return None
        try:
            names = ast.literal_eval(self.place(symbol).text.partition("=")[2].strip())
        except (SyntaxError, ValueError):
            return None
        if not isinstance(names, list | tuple):
            return None
        return frozenset(name for name in names if isinstance(name, str))


def read_table(tree: Tree, path: str, store: Store) -> ModuleTable:
    """The symbols of one file of a tree.

    Raises:
        AnnotateError: there is no such file, or its bytes cannot be judged.
    """
    data = tree.read(path)
    key = tree.files[path].blob
    kept = store.derived(_derived_kind(), key)
    text = naming(path, syntax.decode, data)
    if kept is not None:
        entries, doubts = _from_json(kept)
    else:
        module = naming(path, symbols.extract, text)
        doubts = dict(symbols.cross_check(data, module))
        if module.has_error and not doubts and not _python_reads(data):
            doubts[""] = "neither Python nor the grammar can read all of the file"
        entries = module.symbols
        store.put_derived(_derived_kind(), key, _to_json(entries, doubts))
    return ModuleTable(path, text, entries, doubts)


def naming(path: str, judge: Callable[[Given], Result], given: Given) -> Result:
    """Call ``judge``, and let its complaint name the file."""
    try:
        return judge(given)
    except AnnotateError as error:
        raise AnnotateError(
            f"{path}: {error.message}", error.hint, exit_code=Exit.NOTHING_JUDGED
        ) from error


def _python_reads(data: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _derived_kind() -> str:
    """Names what is cached, so that another grammar or Python reads the file again."""
    return (
        f"symbols-{_DERIVED_FORMAT}-{syntax.GRAMMAR_VERSION}"
        f"-py{sys.version_info.major}.{sys.version_info.minor}"
    )


def _to_json(entries: tuple[Symbol, ...], doubts: Mapping[str, str]) -> bytes:
    table = {"symbols": [_values(symbol) for symbol in entries], "doubts": dict(doubts)}
    return json.dumps(table, separators=(",", ":")).encode()


def _from_json(data: bytes) -> tuple[tuple[Symbol, ...], dict[str, str]]:
    table = json.loads(data)
    return tuple(Symbol(*fields) for fields in table["symbols"]), table["doubts"]
