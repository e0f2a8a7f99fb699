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
_CHUNK = 16


def parse(sources: list[bytes]) -> int:
    """The bare parse through the binding: files."""
    parser = Parser(_LANGUAGE)
    for source in sources:
        parser.parse(source)
    return len(sources)


def extract(sources: list[bytes]) -> int:
    """Symbols as annotate finds them: how many."""
    return sum(len(symbols.extract(syntax.decode(source)).symbols) for source in sources)


def definitions(sources: list[bytes]) -> int:
    """Python's own parser, and a walk over the statements for classes and functions: how many."""
    count = 0
    for source in sources:
        pending: list[ast.AST] = [ast.parse(source)]
        while pending:
            node = pending.pop()
            count += isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            for block in ("body", "orelse", "handlers", "finalbody", "cases"):
                below = getattr(node, block, ())
                if isinstance(below, list):
                    pending.extend(below)
    return count


def extract_on_two(sources: list[bytes]) -> int:
    """Symbols as annotate finds them by two processes, their start included."""
    chunks = [sources[start : start + _CHUNK] for start in range(0, len(sources), _CHUNK)]
    with ProcessPoolExecutor(2) as pool:
        return sum(pool.map(extract, chunks))


LOOPS: dict[str, Callable[[list[bytes]], int]] = {
    "parse": parse,
    "extract": extract,
    "definitions": definitions,
    "extract-on-two": extract_on_two,
}


def main(loop: str, folder: Path) -> None:
    """Read the files annotate can judge and run one loop over them."""
    sources = []
    for file in sorted(folder.rglob("*.py")):
        source = file.read_bytes()
        try:
            syntax.decode(source)
        except AnnotateError:
            continue
        sources.append(source)
    wall, cpu = time.perf_counter(), time.process_time()
    found = LOOPS[loop](sources)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"files": len(sources), "found": found, "wall": wall, "cpu": cpu}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
