"""A tree's symbols: find one by its id, follow aliases, look for a text, name near misses."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TypeVar

from annotate.errors import AnnotateError, Exit
from annotate.location import RangeReference, SymbolReference
from annotate.upstream import symbols, syntax
from annotate.upstream.store import Store
from annotate.upstream.symbols import Symbol
from annotate.upstream.tree import Tree

PYTHON_SUFFIXES = (".py", ".pyi")
SOURCE_ROOTS = ("", "src/", "lib/")
"""Where import names start in a repository, in the order they are tried."""

Given = TypeVar("Given")
Result = TypeVar("Result")

_MAX_ALIASES = 32
_DERIVED_FORMAT = 1


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
        return f"{self.path}#L{self.first_line}-L{self.last_line}"

    @property
    def span(self) -> str:
        """The file and its lines, as people read them: ``autograd/core.py:71-80``."""
        if self.first_line == self.last_line:
            return f"{self.path}:{self.first_line}"
        return f"{self.path}:{self.first_line}-{self.last_line}"


class ModuleTable:
    """The symbols of one file, by qualified name in the order of the file."""

    def __init__(
        self, path: str, text: str, entries: tuple[Symbol, ...], doubts: Mapping[str, str]
    ) -> None:
        self.path = path
        self.text = text
        self.symbols = {symbol.qualname: symbol for symbol in entries}
        self.doubts = doubts
        self._places: dict[str, Place] = {}

    def place(self, symbol: Symbol) -> Place:
        """Where a symbol of this file stands, and its text."""
        place = self._places.get(symbol.qualname)
        if place is None:
            place = Place(
                self.path,
                symbol.qualname,
                symbol.first_line,
                symbol.last_line,
                symbols.source_text(self.text, symbol),
                self.doubts.get(symbol.qualname) or self.doubts.get("", ""),
            )
            self._places[symbol.qualname] = place
        return place


class Index:
    """The symbols of one tree; what is derived from a file is kept in the store by blob id."""

    def __init__(self, tree: Tree, store: Store) -> None:
        self.tree = tree
        self._store = store
        self._tables: dict[str, ModuleTable] = {}

    def module(self, path: str) -> ModuleTable:
        """The symbols of one file.

        Raises:
            AnnotateError: there is no such file, or its bytes cannot be judged.
        """
        table = self._tables.get(path)
        if table is None:
            table = self._tables[path] = self._read(path)
        return table

    def python_paths(self) -> list[str]:
        """All Python files of the tree, sorted."""
        return [path for path in self.tree.files if path.endswith(PYTHON_SUFFIXES)]

    def file_of(self, reference: SymbolReference | RangeReference) -> str | None:
        """The tree path a reference's file part means, or None."""
        if isinstance(reference, RangeReference):
            return reference.file if reference.file in self.tree.files else None
        return next((path for path in reference.paths() if path in self.tree.files), None)

    def find(self, reference: SymbolReference) -> Place | None:
        """The symbol a reference means, through aliases; None when there is none in the tree.

        Raises:
            AnnotateError: the file's bytes cannot be judged.
        """
        path = self.file_of(reference)
        if path is None or not path.endswith(PYTHON_SUFFIXES):
            return None
        return self._resolve(path, reference.qualname, _MAX_ALIASES)

    def lines(self, reference: RangeReference) -> Place | None:
        """The lines of a file a reference means; None when the file or the lines do not exist.

        Raises:
            AnnotateError: the file's bytes cannot be judged.
        """
        if reference.file not in self.tree.files:
            return None
        text = self.file_text(reference.file)
        lines = text.removesuffix("\n").split("\n")
        last = len(lines) if reference.last is None else reference.last
        if reference.first > len(lines) or last > len(lines):
            return None
        chosen = "\n".join(lines[reference.first - 1 : last])
        return Place(reference.file, "", reference.first, last, syntax.canonical(chosen))

    def signature(self, place: Place) -> str:
        """A symbol's parameters in one line, or "" for what cannot be called."""
        table = self.module(place.path)
        symbol = table.symbols.get(place.qualname)
        return symbols.signature(table.text, symbol) if symbol else ""

    def file_text(self, path: str) -> str:
        """The decoded text of a file, with LF line ends.

        Raises:
            AnnotateError: the file's bytes cannot be judged.
        """
        if path.endswith(PYTHON_SUFFIXES):
            return self.module(path).text
        return _naming(path, syntax.decode_text, self.tree.read(path))

    def everything(self) -> Iterator[Place]:
        """Every definition of the tree, file by file; files that cannot be judged are left out."""
        for path in self.python_paths():
            try:
                table = self.module(path)
            except AnnotateError:
                continue
            for symbol in table.symbols.values():
                if symbol.kind != "alias":
                    yield table.place(symbol)

    def with_text(self, fingerprint: str) -> list[Place]:
        """All definitions whose canonical text has this fingerprint."""
        return self._by_text.get(fingerprint, [])

    def nearest(self, reference: SymbolReference | RangeReference, limit: int = 3) -> list[str]:
        """Ids or paths that look most like a reference that was not found, best first."""
        # Wanted only once something is missing; the import costs more than a whole verify.
        from rapidfuzz import fuzz, process

        path = self.file_of(reference)
        if isinstance(reference, RangeReference):
            candidates = list(self.tree.files)
        elif path is not None and path.endswith(PYTHON_SUFFIXES):
            candidates = [f"{path}::{name}" for name in self._names(path)]
        else:
            candidates = []
        if isinstance(reference, SymbolReference):
            last = reference.qualname.rpartition(".")[2].partition("#")[0]
            candidates += [
                place.id
                for place in self.everything()
                if place.path != path and place.qualname.rpartition(".")[2] == last
            ]
            path = path or reference.paths()[0]
            candidates = candidates or [*self.tree.files]
            wanted = f"{path}::{reference.qualname}" if "::" in candidates[0] else path
        else:
            wanted = reference.file
        matches = process.extract(
            wanted, sorted(set(candidates)), scorer=fuzz.ratio, limit=limit, score_cutoff=50
        )
        return [match[0] for match in matches]

    @cached_property
    def _by_text(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self.everything():
            found.setdefault(syntax.text_fingerprint(place.text), []).append(place)
        return found

    def _names(self, path: str) -> list[str]:
        try:
            return list(self.module(path).symbols)
        except AnnotateError:
            return []

    def _resolve(self, path: str, qualname: str, hops: int) -> Place | None:
        table = self.module(path)
        symbol = table.symbols.get(qualname)
        rest = ""
        if symbol is None:
            # `extend.py::VJPNode.__init__`: the class is the alias, the method its own.
            head, _, rest = qualname.partition(".")
            symbol = table.symbols.get(head) if rest else None
            if symbol is not None and symbol.kind != "alias":
                return None
        if symbol is not None and symbol.kind != "alias":
            return table.place(symbol)
        if hops == 0:
            return None
        if symbol is not None:
            return self._follow(path, symbol.target, rest, hops - 1)
        for star in table.symbols.values():
            if star.kind == "alias" and star.target.endswith(":*"):
                module = star.target.removesuffix(":*")
                found = self._follow(path, f"{module}:{qualname}", "", hops - 1)
                if found is not None:
                    return found
        return None

    def _follow(self, path: str, target: str, rest: str, hops: int) -> Place | None:
        module, _, name = target.partition(":")
        if not name:
            # `import package.module as m`: m.f is f in that module.
            module_path = self._module_path(path, module)
            return self._resolve(module_path, rest, hops) if module_path and rest else None
        module_path = self._module_path(path, module)
        if module_path is not None:
            qualname = f"{name}.{rest}" if rest else name
            found = self._resolve(module_path, qualname, hops)
            if found is not None:
                return found
        dotted = f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
        submodule = self._module_path(path, dotted)
        return self._resolve(submodule, rest, hops) if submodule and rest else None

    def _module_path(self, importer: str, module: str) -> str | None:
        """The file of an imported module, seen from the file that imports it."""
        stripped = module.lstrip(".")
        level = len(module) - len(stripped)
        parts = stripped.split(".") if stripped else []
        if level:
            package = importer.split("/")[:-level]
            if level > importer.count("/") + 1:
                return None
            bases = ["/".join([*package, *parts])]
        else:
            bases = [root + "/".join(parts) for root in SOURCE_ROOTS]
        for base in bases:
            for candidate in (f"{base}.py", f"{base}/__init__.py", f"{base}.pyi"):
                candidate = candidate.removeprefix("/")
                if candidate in self.tree.files:
                    return candidate
        return None

    def _read(self, path: str) -> ModuleTable:
        data = self.tree.read(path)
        key = self.tree.files[path].blob
        kept = self._store.derived(_derived_kind(), key)
        text = _naming(path, syntax.decode, data)
        if kept is not None:
            entries, doubts = _from_json(kept)
        else:
            module = _naming(path, symbols.extract, text)
            doubts = dict(symbols.cross_check(data, module))
            entries = module.symbols
            self._store.put_derived(_derived_kind(), key, _to_json(entries, doubts))
        return ModuleTable(path, text, entries, doubts)


def _naming(path: str, judge: Callable[[Given], Result], given: Given) -> Result:
    """Call ``judge``, and let its complaint name the file."""
    try:
        return judge(given)
    except AnnotateError as error:
        raise AnnotateError(
            f"{path}: {error.message}", error.hint, exit_code=Exit.NOTHING_JUDGED
        ) from error


def _derived_kind() -> str:
    """Names what is cached, so that another grammar or Python reads the file again."""
    return (
        f"symbols-{_DERIVED_FORMAT}-{syntax.GRAMMAR_VERSION}"
        f"-py{sys.version_info.major}.{sys.version_info.minor}"
    )


def _to_json(entries: tuple[Symbol, ...], doubts: Mapping[str, str]) -> bytes:
    table = {"symbols": [astuple(symbol) for symbol in entries], "doubts": dict(doubts)}
    return json.dumps(table, separators=(",", ":")).encode()


def _from_json(data: bytes) -> tuple[tuple[Symbol, ...], dict[str, str]]:
    table = json.loads(data)
    return tuple(Symbol(*fields) for fields in table["symbols"]), table["doubts"]
