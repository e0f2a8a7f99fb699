"""The loops of the extraction benchmark, each run in a process of its own.

    python -m benchmarks.loops LOOP FOLDER

prints, as JSON, what the loop alone took: the process has read the files and imported what it
needs before the clock starts.
"""

import ast
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import tree_sitter_python
from tree_sitter import Language, Parser

from annotate.errors import AnnotateError
from annotate.upstream import symbols, syntax

_LANGUAGE = Language(tree_sitter_python.language())
_FILES_AT_ONCE = 8

Sources = dict[Path, bytes]
"""The files and their bytes, the largest first."""


def parse(sources: Sources) -> int:
    """The bare parse through the binding: files."""
    parser = Parser(_LANGUAGE)
    for source in sources.values():
        parser.parse(source)
    return len(sources)


def extract(sources: Sources) -> int:
    """Symbols as annotate finds them: how many."""
    return sum(_count_symbols(source) for source in sources.values())


def definitions(sources: Sources) -> int:
    """Python's own parser, and a walk over the statements for classes and functions: how many."""
    count = 0
    for source in sources.values():
        pending: list[ast.AST] = [ast.parse(source)]
        while pending:
            node = pending.pop()
            count += isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                below = getattr(node, block, ())
                if isinstance(below, list):
                    pending.extend(below)
    return count


def extract_on_two(sources: Sources) -> int:
    """The same by two processes, their start and their reading of the files included."""
    with ProcessPoolExecutor(2) as pool:
        return sum(pool.map(_count_symbols_of, sources, chunksize=_FILES_AT_ONCE))


def _count_symbols(source: bytes) -> int:
    return len(symbols.extract(syntax.decode(source)).symbols)


def _count_symbols_of(file: Path) -> int:
    return _count_symbols(file.read_bytes())


LOOPS: dict[str, Callable[[Sources], int]] = {
    "parse": parse,
    "extract": extract,
    "definitions": definitions,
    "extract-on-two": extract_on_two,
}


def main(loop: str, folder: Path) -> None:
    """Read the files annotate can judge and run one loop over them."""
    sources = {}
    for file in sorted(folder.rglob("*.py"), key=lambda file: (-file.stat().st_size, file)):
        source = file.read_bytes()
        try:
            syntax.decode(source)
        except AnnotateError:
            continue
        sources[file] = source
    wall, cpu = time.perf_counter(), time.process_time()
    found = LOOPS[loop](sources)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"files": len(sources), "found": found, "wall": wall, "cpu": cpu}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
