"""How long it takes to find all symbols of a large package."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

from annotate.errors import AnnotateError
from benchmarks.measure import Run, Sample, in_turn, python, run
from benchmarks.packages import Package
from benchmarks.table import MEMORY_AIM, Measure, Row, Words


def measure(package: Package, rounds: int) -> list[Row]:
    """The rows about one package.

    Raises:
        AnnotateError: Universal Ctags is not installed.
    """
    samples = in_turn(
        rounds,
        {
            "parse": _loop("parse", package.source),
            "extract": _loop("extract", package.source),
            "ast": _loop("definitions", package.source),
            "two": _loop("extract-on-two", package.source),
            "ctags": _ctags(package.source),
        },
    )
    cpu = {name: [sample.cpu for sample in taken] for name, taken in samples.items()}
    wall = {name: [sample.wall for sample in taken] for name, taken in samples.items()}
    lines = f"{package.line_count():,}"
    ours = Words(
        f"symbols of {package.name}, {lines} lines", f"{package.name} 的全部符号，{lines} 行"
    )
    on_two = Words(f"{ours.en}, by two processes", f"{ours.zh}，两个进程")
    parse = Words("bare tree-sitter parse, one process", "只做 tree-sitter 解析，一个进程")
    return [
        Row(ours, parse, Measure.CPU, cpu["extract"], cpu["parse"], aim=1.2),
        Row(on_two, parse, Measure.WALL, wall["two"], wall["parse"], aim=0.65),
        Row(
            ours,
            Words("Python's `ast`, classes and functions", "Python 的 `ast`，类和函数"),
            Measure.CPU,
            cpu["extract"],
            cpu["ast"],
        ),
        Row(
            ours,
            Words("Universal Ctags (no spans)", "Universal Ctags（没有范围）"),
            Measure.CPU,
            cpu["extract"],
            cpu["ctags"],
        ),
        Row(ours, None, Measure.MEMORY, [each.peak for each in samples["extract"]], aim=MEMORY_AIM),
    ]


def _loop(name: str, folder: Path) -> Run:
    whole = python("-m", "benchmarks.loops", name, str(folder), folder=Path.cwd())

    def only_the_loop() -> Sample:
        sample = whole()
        loop = json.loads(sample.output)
        return replace(sample, wall=loop["wall"], cpu=loop["cpu"])

    return only_the_loop


def _ctags(folder: Path) -> Run:
    program = shutil.which("ctags")
    command = [program or "", "--languages=Python", "--recurse", "-f", "-", "."]
    if program is None or "Universal" not in run([program, "--version"], folder=folder).output:
        raise AnnotateError(
            "Universal Ctags is not installed", "Debian's package is universal-ctags."
        )
    return lambda: run(command, folder=folder)
