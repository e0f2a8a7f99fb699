"""Which files of a tree an experiment needs to run: whole packages, and single files it read."""

import ast
import warnings
from collections.abc import Iterable

from annotate.upstream.index import PYTHON_SUFFIXES, SOURCE_ROOTS
from annotate.upstream.tree import MAX_FILE_BYTES, Tree


def needed(tree: Tree, sources: Iterable[bytes], executed: Iterable[str]) -> list[str]:
    """The paths of a tree that scripts need, sorted.

    That is each package or module at an import root that the scripts import, or that one of these
    imports, with all of its files; and every other file of which something ran.

    Args:
        tree: the files to choose from; those over `MAX_FILE_BYTES` are left out.
        sources: the scripts.
        executed: the ids of the symbols that ran, as recordings have them.
    """
    found = {symbol.partition("::")[0] for symbol in executed} & tree.files.keys()
    waiting = [*sources, *(tree.read(path) for path in found if path.endswith(PYTHON_SUFFIXES))]
    seen: set[str] = set()
    while waiting:
        for name in imported(waiting.pop()) - seen:
            seen.add(name)
            for path in _files_of(tree, name):
                found.add(path)
                if path.endswith(PYTHON_SUFFIXES):
                    waiting.append(tree.read(path))
    return sorted(found)


def imported(source: bytes) -> set[str]:
    """The first part of each name that Python code imports; none where it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def without_root(path: str) -> str:
    """A tree path as it is imported, without the folder where import names start."""
    for root in SOURCE_ROOTS:
        if root and path.startswith(root):
            return path.removeprefix(root)
    return path


def _files_of(tree: Tree, name: str) -> list[str]:
    """The files of the package or module that an import name means, at the first root that has it.

    A folder without an ``__init__.py`` is none: most of these hold no code.
    """
    for root in SOURCE_ROOTS:
        package, module = f"{root}{name}/", f"{root}{name}.py"
        if f"{package}__init__.py" in tree.files:
            return [
                path
                for path, file in tree.files.items()
                if path.startswith(package) and file.size <= MAX_FILE_BYTES
            ]
        if module in tree.files:
            return [module]
    return []
