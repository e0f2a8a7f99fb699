"""A tree's symbols: find one by its id, follow aliases, look for a text, name near misses."""

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property

from annotate.errors import AnnotateError, Exit
from annotate.location import RangeReference, SymbolReference, parse_reference
from annotate.upstream import symbols, syntax
from annotate.upstream.store import Store
from annotate.upstream.table import ModuleTable, Place, naming, read_table
from annotate.upstream.tree import Tree

__all__ = ["PYTHON_SUFFIXES", "SOURCE_ROOTS", "Index", "Place"]

PYTHON_SUFFIXES = (".py", ".pyi")
SOURCE_ROOTS = ("", "src/", "lib/")
"""Where import names start in a repository, in the order they are tried."""


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
            table = self._tables[path] = read_table(self.tree, path, self._store)
        return table

    def derived_from_all(self, kind: str, compute: Callable[[], bytes]) -> bytes:
        """What is computed from all files together; kept in the store until one of them differs."""
        listing = "".join(f"{file.blob} {path}\n" for path, file in self.tree.files.items())
        key = hashlib.sha256(listing.encode()).hexdigest()
        kept = self._store.derived(kind, key)
        if kept is None:
            kept = compute()
            self._store.put_derived(kind, key, kept)
        return kept

    def derived(self, path: str, kind: str, make: Callable[[str], bytes]) -> bytes:
        """What ``make`` makes of a file's text, kept in the store by blob id under ``kind``.

        Raises:
            AnnotateError: there is no such file, or its bytes cannot be judged.
        """
        blob = self.tree.files[path].blob if path in self.tree.files else ""
        kept = self._store.derived(kind, blob) if blob else None
        if kept is None:
            kept = naming(path, make, self.module(path).text)
            self._store.put_derived(kind, blob, kept)
        return kept

    def python_paths(self) -> list[str]:
        """All Python files of the tree, sorted."""
        return [path for path in self.tree.files if path.endswith(PYTHON_SUFFIXES)]

    def file_of(self, reference: SymbolReference | RangeReference) -> str | None:
        """The tree path a reference's file part means, or None."""
        if isinstance(reference, RangeReference):
            return reference.file if reference.file in self.tree.files else None
        return next(iter(self._files_of(reference)), None)

    def find(self, reference: SymbolReference) -> Place | None:
        """The symbol a reference means, through aliases; None when there is none in the tree.

        Raises:
            AnnotateError: it can mean several, or the file's bytes cannot be judged.
        """
        places = self.candidates(reference)
        if len(places) > 1:
            names = " or ".join(place.id for place in places)
            raise AnnotateError(f"{reference} can mean {names}", "Name one of them.")
        return places[0] if places else None

    def named(self, text: str) -> Place:
        """What a symbol id or a file range means, as users write it.

        Raises:
            AnnotateError: it is neither, or there is no such thing; near misses are named.
        """
        reference = parse_reference(text)
        if isinstance(reference, RangeReference):
            place = self.lines(reference)
        else:
            place = self.find(reference)
        if place is None:
            nearest = self.nearest(reference)
            raise AnnotateError(
                f"{self.tree.identity} has no {text}",
                f"Nearest: {', '.join(nearest)}." if nearest else "`annotate symbols` lists all.",
            )
        return place

    def candidates(self, reference: SymbolReference) -> list[Place]:
        """Every symbol a reference can mean, through aliases.

        There are several where a name is imported in two ways (``try … except ImportError``), or
        where a dotted module lies both at the root and in ``src``.

        Raises:
            AnnotateError: a file's bytes cannot be judged.
        """
        found: dict[tuple[str, str], Place] = {}
        for path in self._files_of(reference):
            if path.endswith(PYTHON_SUFFIXES):
                for place in self._resolve(path, reference.qualname, set()):
                    found[place.path, place.qualname] = place
        return list(found.values())

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
        return naming(path, syntax.decode_text, self.tree.read(path))

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

        def best(wanted: str, choices: dict[str, str]) -> list[str]:
            matches = process.extract(
                wanted,
                choices,
                scorer=fuzz.ratio,
                processor=str.casefold,
                limit=limit,
                score_cutoff=50,
            )
            return [choice for _, _, choice in matches]

        files = {path: path for path in self.tree.files}
        if isinstance(reference, RangeReference):
            return best(reference.file, files)
        path = self.file_of(reference) or reference.paths()[0]
        last = reference.qualname.rpartition(".")[2].partition("#")[0]
        names = [(place.path, place.qualname) for place in self._by_last_name.get(last, ())]
        names += [(path, name) for name in self._names(path)]
        # Of two names that are equally like it, the one in the file that is more like it.
        names.sort(key=lambda name: (-fuzz.ratio(name[0], path), name))
        choices = {f"{file}::{name}": name for file, name in names}
        choices.pop(f"{path}::{reference.qualname}", None)
        return best(reference.qualname, choices) or ([] if path in files else best(path, files))

    @cached_property
    def _by_text(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self.everything():
            found.setdefault(syntax.text_fingerprint(place.text), []).append(place)
        return found

    @cached_property
    def _by_last_name(self) -> dict[str, list[Place]]:
        found: dict[str, list[Place]] = {}
        for place in self.everything():
            found.setdefault(place.qualname.rpartition(".")[2], []).append(place)
        return found

    def _names(self, path: str) -> list[str]:
        if path not in self.tree.files or not path.endswith(PYTHON_SUFFIXES):
            return []
        try:
            return [name for name in self.module(path).symbols if not name.startswith("*")]
        except AnnotateError:
            return []

    def _files_of(self, reference: SymbolReference) -> list[str]:
        if reference.file in self.tree.files:
            return [reference.file]
        files = [path for path in reference.paths() if path in self.tree.files]
        # Python imports the package where a module of the same name lies beside it.
        packages = {path.removesuffix("/__init__.py") for path in files}
        return [path for path in files if path.removesuffix(".py") not in packages]

    def _resolve(self, path: str, qualname: str, seen: set[tuple[str, str]]) -> list[Place]:
        """What a name of a module is bound to; ``seen`` ends circles of imports."""
        if (path, qualname) in seen:
            return []
        seen.add((path, qualname))
        table = self.module(path)
        if qualname in table.definitions:
            return [table.place(table.definitions[qualname])]
        head, rest = qualname, ""
        if qualname not in table.aliases:
            # `extend.py::VJPNode.__init__`: the class is the alias, the method its own.
            head, _, rest = qualname.partition(".")
        if head in table.definitions:
            return []
        if doubt := table.doubts.get(""):
            # Where a file cannot be read as a whole, nobody knows what else it binds.
            raise AnnotateError(
                f"{path}: {doubt}",
                f"Quote lines of the file instead: {path}#L1-L2.",
                exit_code=Exit.NOTHING_JUDGED,
            )
        if targets := table.aliases.get(head):
            return [place for target in targets for place in self._follow(path, target, rest, seen)]
        # What is imported last stays bound.
        for module in reversed(table.stars):
            source = self.module_path(path, module)
            if source is not None and self.module(source).exports(head):
                found = self._resolve(source, qualname, seen)
                if found:
                    return found
        return []

    def _follow(self, path: str, target: str, rest: str, seen: set[tuple[str, str]]) -> list[Place]:
        """What ``rest`` of an imported ``module:name`` is; the name may be a module itself."""
        module, _, name = target.partition(":")
        module_path = self.module_path(path, module)
        if module_path is not None and name:
            found = self._resolve(module_path, f"{name}.{rest}" if rest else name, seen)
            if found:
                return found
        if name:
            dotted = f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
            module_path = self.module_path(path, dotted)
        return self._resolve(module_path, rest, seen) if module_path and rest else []

    def module_path(self, importer: str, module: str) -> str | None:
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
            for candidate in (f"{base}/__init__.py", f"{base}.py", f"{base}.pyi"):
                candidate = candidate.removeprefix("/")
                if candidate in self.tree.files:
                    return candidate
        return None
