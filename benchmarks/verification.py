"""How long it takes to judge quotes, and how little when nothing has changed."""

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpus, projects
from benchmarks.measure import Run, Sample, apart, in_turn, python
from benchmarks.packages import Package
from benchmarks.table import MEMORY_AIM, Measure, Row, Words

_VERIFY = ("-m", "annotate.cli", "verify")


@dataclass(frozen=True, slots=True)
class Size:
    """How many quotes on how many pages."""

    quotes: int
    pages: int


def measure(
    small: Package, large: Package, size: Size, larger: Size, rounds: int, workspace: Path
) -> list[Row]:
    """The rows about ``size`` quotes of the small package and ``larger`` of the large one."""
    rows = _beside_sphinx(small, size, rounds, workspace / "small")
    rows += _many(large, larger, rounds, workspace / "large")
    return rows


def _beside_sphinx(package: Package, size: Size, rounds: int, workspace: Path) -> list[Row]:
    pages, sphinx = apart(_prepare, package, size, workspace)
    store = workspace / "store"
    again = _verify(pages, store)
    again()
    libraries = imported_libraries(pages, store)
    samples = in_turn(
        rounds,
        {
            "again": again,
            "libraries": python("-c", f"import {', '.join(libraries)}", folder=pages),
            "first": _verify_first(pages, store, workspace / "emptied"),
            "sphinx": sphinx_build(sphinx),
        },
    )
    wall = {name: [sample.wall for sample in taken] for name, taken in samples.items()}
    first, second = _names(package, size)
    build = Words(
        "Sphinx build, `literalinclude :pyobject:`", "Sphinx 构建，`literalinclude :pyobject:`"
    )
    names = ", ".join(f"`{name}`" for name in libraries)
    return [
        Row(first, build, Measure.WALL, wall["first"], wall["sphinx"], aim=1 / 12),
        Row(second, build, Measure.WALL, wall["again"], wall["sphinx"], aim=1 / 12),
        Row(
            second,
            Words(f"`import` of {names}", f"`import` {names}"),
            Measure.WALL,
            wall["again"],
            wall["libraries"],
            aim=2.0,
        ),
    ]


def _many(package: Package, size: Size, rounds: int, workspace: Path) -> list[Row]:
    pages, _ = apart(_prepare, package, size, workspace)
    store = workspace / "store"
    again = _verify(pages, store)
    again()
    samples = in_turn(
        rounds, {"again": again, "first": _verify_first(pages, store, workspace / "emptied")}
    )
    first, second = _names(package, size)
    rows = []
    for what, taken in ((first, samples["first"]), (second, samples["again"])):
        rows += [
            Row(what, None, Measure.WALL, [sample.wall for sample in taken]),
            Row(what, None, Measure.MEMORY, [sample.peak for sample in taken], aim=MEMORY_AIM),
        ]
    return rows


def _names(package: Package, size: Size) -> tuple[Words, Words]:
    """What a first and a second verify are called in the table."""
    quotes = Words(
        f"{size.quotes:,} quotes of {package.name}", f"{package.name} 的 {size.quotes:,} 处引用"
    )
    return (
        Words(f"first `annotate verify`, {quotes.en}", f"首次 `annotate verify`，{quotes.zh}"),
        Words(
            f"`annotate verify` again, nothing changed, {quotes.en}",
            f"无改动时再次 `annotate verify`，{quotes.zh}",
        ),
    )


def _prepare(package: Package, size: Size, workspace: Path) -> tuple[Path, Path]:
    quotes = corpus.choose(package, size.quotes)
    return (
        projects.literal_quotes(workspace / "literal", package, quotes, size.pages),
        projects.sphinx_includes(workspace / "sphinx", package, quotes, size.pages),
    )


def _verify(pages: Path, store: Path) -> Run:
    return python(*_VERIFY, folder=pages, environment={"ANNOTATE_CACHE": str(store)})


def _verify_first(pages: Path, store: Path, emptied: Path) -> Run:
    """A verify with the tree at hand and nothing of it read before."""
    verify = _verify(pages, emptied)

    def first() -> Sample:
        shutil.rmtree(emptied, ignore_errors=True)
        shutil.copytree(store, emptied, ignore=shutil.ignore_patterns("derived", "tmp"))
        return verify()

    return first


def imported_libraries(pages: Path, store: Path) -> list[str]:
    """The libraries, outside annotate and the standard library, that a verify imports."""
    verify = python(
        "-X", "importtime", *_VERIFY, folder=pages, environment={"ANNOTATE_CACHE": str(store)}
    )  # fmt: skip
    modules = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in verify().output.splitlines()
        if line.startswith("import time:")
    }
    return sorted(name for name in modules if _is_library(name))


_NOT_LIBRARIES = {*sys.stdlib_module_names, "annotate", "sitecustomize", "usercustomize"}


def _is_library(name: str) -> bool:
    """Whether a module found in the listing is a library: not one that was only tried for."""
    # A leading underscore marks what installers put into the interpreter's start-up.
    return (
        name.isidentifier()
        and not name.startswith("_")
        and name not in _NOT_LIBRARIES
        and importlib.util.find_spec(name) is not None
    )


def sphinx_build(folder: Path) -> Run:
    """A Sphinx build of everything, nothing kept from the one before."""
    return python(
        "-m", "sphinx", "--quiet", "--fresh-env", "--write-all", "--fail-on-warning",
        "--builder", "html", ".", projects.SITE,
        folder=folder,
    )  # fmt: skip
