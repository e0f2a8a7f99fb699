"""Files and dotted names: which file an import means."""

from collections.abc import Iterable

SOURCE_ROOTS = ("src/", "lib/")
"""Folders that hold packages without being one, as in `annotate.upstream.index`."""


class Modules:
    """The modules of a tree by file and by dotted name."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._dotted: dict[str, str] = {}
        self._paths: dict[str, str] = {}
        self._namespaces: set[str] = set()
        known = set(paths)
        for path in sorted(known):
            inner = path
            for root in SOURCE_ROOTS:
                if path.startswith(root) and f"{root}__init__.py" not in known:
                    inner = path[len(root) :]
            dotted = _dotted(inner)
            self._dotted[path] = dotted
            kept = self._paths.get(dotted)
            # A package hides a module of its name, and a stub is never run.
            if kept is None or kept.endswith(".pyi") or path.endswith("/__init__.py"):
                self._paths[dotted] = path
            parts = dotted.split(".")
            self._namespaces.update(".".join(parts[:count]) for count in range(1, len(parts)))

    def dotted(self, path: str) -> str:
        """The dotted name of a file."""
        return self._dotted[path]

    def packages_of(self, path: str) -> list[str]:
        """The ``__init__`` files Python runs before a file, outermost first."""
        parts = self._dotted[path].split(".")
        found = (self._paths.get(".".join(parts[:count])) for count in range(1, len(parts)))
        return [each for each in found if each is not None and each.endswith("__init__.py")]

    def absolute(self, importer: str, module: str) -> str:
        """A module name as written in a file, made absolute; "" where it leaves the tree."""
        stripped = module.lstrip(".")
        level = len(module) - len(stripped)
        if not level:
            return module
        parts = self._dotted[importer].split(".") if self._dotted.get(importer) else []
        if not importer.endswith("__init__.py"):
            parts = parts[:-1]
        if level > 1:
            if level - 1 > len(parts):
                return ""
            parts = parts[: len(parts) - level + 1]
        return ".".join([*parts, stripped] if stripped else parts)

    def path_of(self, importer: str, module: str) -> str | None:
        """The file an import in a file means; None for what is not in the tree."""
        absolute = self.absolute(importer, module)
        found = self._paths.get(absolute)
        if found is None and importer and not module.startswith("."):
            # A script imports what lies beside it.
            folder = self._dotted[importer].rpartition(".")[0]
            package = self._paths.get(folder, "").endswith("__init__.py")
            if folder and not package:
                found = self._paths.get(f"{folder}.{module}")
        return found

    def is_namespace(self, dotted: str) -> bool:
        """Whether a dotted name is a folder with modules below it."""
        return dotted in self._namespaces


def _dotted(path: str) -> str:
    stem = path.removesuffix(".pyi").removesuffix(".py")
    parts = stem.split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(parts)
