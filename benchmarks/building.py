"""How long it takes to build a site of quotes, beside other ways to show the same code."""

import re
from pathlib import Path

from benchmarks import corpus, projects
from benchmarks.measure import Run, Sample, apart, in_turn, python
from benchmarks.packages import Package
from benchmarks.table import MEMORY_AIM, Measure, Row, Words
from benchmarks.verification import Size, sphinx_build

_SHOWN = {
    "claims": re.compile('<figure class="claim"'),
    "fences": re.compile('<div class="[^"]*highlight"'),
    "snippets": re.compile('<div class="[^"]*highlight"'),
    "sphinx": re.compile('<div class="highlight-'),
}


def measure(package: Package, size: Size, rounds: int, workspace: Path) -> list[Row]:
    """The rows about one package.

    Raises:
        RuntimeError: a build failed or does not show every quote.
    """
    folders = apart(_prepare, package, size, workspace)
    annotate = python(
        "-m", "annotate.cli", "build",
        folder=folders["claims"],
        environment={"ANNOTATE_CACHE": str(workspace / "store")},
    )  # fmt: skip
    samples = in_turn(
        rounds,
        {
            "claims": annotate,
            "fences": _mkdocs(folders["fences"]),
            "snippets": _mkdocs(folders["snippets"]),
            "sphinx": sphinx_build(folders["sphinx"]),
        },
    )
    for name, folder in folders.items():
        _refuse_missing_quotes(folder, _SHOWN[name], size.quotes)
    return _rows(package, size, samples)


def _prepare(package: Package, size: Size, workspace: Path) -> dict[str, Path]:
    quotes = corpus.choose(package, size.quotes)
    return {
        "claims": projects.named_quotes(workspace / "claims", package, quotes, size.pages),
        "fences": projects.plain_fences(workspace / "fences", quotes, size.pages),
        "snippets": projects.snippet_sections(workspace / "snippets", package, quotes, size.pages),
        "sphinx": projects.sphinx_includes(workspace / "sphinx", package, quotes, size.pages),
    }


def _rows(package: Package, size: Size, samples: dict[str, list[Sample]]) -> list[Row]:
    wall = {name: [sample.wall for sample in taken] for name, taken in samples.items()}
    what = Words(
        f"`annotate build`, {size.pages} pages with {size.quotes:,} quotes of {package.name}",
        f"`annotate build`，{size.pages} 页，{package.name} 的 {size.quotes:,} 处引用",
    )
    plain = Words("`mkdocs build`, plain fences", "`mkdocs build`，普通围栏")
    snippets = Words(
        "`mkdocs build`, `pymdownx.snippets` sections", "`mkdocs build`，`pymdownx.snippets` 片段"
    )
    sphinx = Words(
        "Sphinx build, `literalinclude :pyobject:`", "Sphinx 构建，`literalinclude :pyobject:`"
    )
    return [
        Row(what, plain, Measure.WALL, wall["claims"], wall["fences"], aim=1.0),
        Row(what, snippets, Measure.WALL, wall["claims"], wall["snippets"]),
        Row(what, sphinx, Measure.WALL, wall["claims"], wall["sphinx"], aim=0.5),
        Row(what, None, Measure.MEMORY, [each.peak for each in samples["claims"]], aim=MEMORY_AIM),
    ]


def _mkdocs(folder: Path) -> Run:
    return python(
        "-m", "mkdocs", "build", "--quiet", "--strict",
        folder=folder,
        environment={"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip


def _refuse_missing_quotes(folder: Path, shown: re.Pattern[str], count: int) -> None:
    pages = folder.glob("*/page-*/index.html"), folder.glob("_build/page-*.html")
    found = sum(len(shown.findall(page.read_text("utf-8"))) for group in pages for page in group)
    if found != count:
        raise RuntimeError(f"the pages built in {folder} show {found} quotes, not {count}")
