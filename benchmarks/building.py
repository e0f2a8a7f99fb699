"""How long it takes to build a site of quotes, beside other ways to show the same code."""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks import corpus, projects
from benchmarks.measure import Run, Sample, apart, in_turn, python, run
from benchmarks.packages import Package
from benchmarks.table import MEMORY_AIM, Measure, Row, Words
from benchmarks.verification import Size, sphinx_build

_CARD = re.compile('<figure class="claim"')
_HIGHLIGHTED = re.compile('<div class="[^"]*highlight"')
_INCLUDED = re.compile('<div class="highlight-')


def measure(package: Package, size: Size, rounds: int, workspace: Path) -> list[Row]:
    """The rows about one package.

    Raises:
        RuntimeError: a build failed or does not show every quote.
    """
    folders = apart(_prepare, package, size, workspace)
    store = {"ANNOTATE_CACHE": str(workspace / "store")}
    annotate = python("-m", "annotate.cli", "build", folder=folders["claims"], environment=store)
    samples = in_turn(
        rounds,
        {
            "claims": _verify_and_build(folders["claims"], store),
            "fences": _mkdocs(folders["fences"]),
            "snippets": _mkdocs(folders["snippets"]),
            "sphinx": sphinx_build(folders["sphinx"]),
            "whole": annotate,
        },
    )
    _refuse_missing_quotes(folders["claims"] / projects.SITE, _CARD, size.quotes)
    _refuse_missing_quotes(folders["claims"] / projects.WHOLE_SITE, _CARD, size.quotes)
    _refuse_missing_quotes(folders["fences"] / projects.SITE, _HIGHLIGHTED, size.quotes)
    _refuse_missing_quotes(folders["snippets"] / projects.SITE, _HIGHLIGHTED, size.quotes)
    _refuse_missing_quotes(folders["sphinx"] / projects.SITE, _INCLUDED, size.quotes)
    whole_site = folders["claims"] / projects.WHOLE_SITE
    return _rows(package, size, samples, page_count=sum(1 for _ in whole_site.rglob("index.html")))


def _prepare(package: Package, size: Size, workspace: Path) -> dict[str, Path]:
    quotes = corpus.choose(package, size.quotes)
    return {
        "claims": projects.named_quotes(workspace / "claims", package, quotes, size.pages),
        "fences": projects.plain_fences(workspace / "fences", quotes, size.pages),
        "snippets": projects.snippet_sections(workspace / "snippets", package, quotes, size.pages),
        "sphinx": projects.sphinx_includes(workspace / "sphinx", package, quotes, size.pages),
    }


def _rows(
    package: Package, size: Size, samples: dict[str, list[Sample]], *, page_count: int
) -> list[Row]:
    wall = {name: [sample.wall for sample in taken] for name, taken in samples.items()}
    quotes = Words(
        f"{size.pages} pages with {size.quotes:,} quotes of {package.name}",
        f"{size.pages} 页，{package.name} 的 {size.quotes:,} 处引用",
    )
    what = Words(
        f"`annotate verify` and `mkdocs build`, {quotes.en}",
        f"`annotate verify` 加 `mkdocs build`，{quotes.zh}",
    )
    plain = Words("`mkdocs build`, plain fences", "`mkdocs build`，普通围栏")
    snippets = Words(
        "`mkdocs build`, `pymdownx.snippets` sections", "`mkdocs build`，`pymdownx.snippets` 片段"
    )
    sphinx = Words(
        "Sphinx build, `literalinclude :pyobject:`", "Sphinx 构建，`literalinclude :pyobject:`"
    )
    whole = Words(
        f"`annotate build`, the same and all generated pages, {page_count} in all",
        f"`annotate build`，同样的页加全部自动生成的页，共 {page_count} 页",
    )
    rows = [
        Row(what, plain, Measure.WALL, wall["claims"], wall["fences"], aim=1.0),
        Row(what, snippets, Measure.WALL, wall["claims"], wall["snippets"]),
        Row(what, sphinx, Measure.WALL, wall["claims"], wall["sphinx"], aim=0.5),
        Row(whole, plain, Measure.WALL, wall["whole"], wall["fences"]),
    ]
    for each, name in ((what, "claims"), (whole, "whole")):
        peaks = [sample.peak for sample in samples[name]]
        rows.append(Row(each, None, Measure.MEMORY, peaks, aim=MEMORY_AIM))
    return rows


def _verify_and_build(folder: Path, environment: Mapping[str, str]) -> Run:
    """Build the pages and no generated ones, once every claim on them holds."""
    script = (
        '"$1" -m annotate.cli verify && '
        f'"$1" -m mkdocs build --quiet --strict --config-file {projects.WITHOUT_GENERATED_PAGES}'
    )
    return lambda: run(
        ["sh", "-c", script, "sh", sys.executable],
        folder=folder,
        environment={"NO_MKDOCS_2_WARNING": "1", **environment},
    )


def _mkdocs(folder: Path) -> Run:
    return python(
        "-m", "mkdocs", "build", "--quiet", "--strict",
        folder=folder,
        environment={"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip


def _refuse_missing_quotes(site: Path, shown: re.Pattern[str], count: int) -> None:
    pages = [*site.glob("page-*/index.html"), *site.glob("page-*.html")]
    found = sum(len(shown.findall(page.read_text("utf-8"))) for page in pages)
    if found != count:
        raise RuntimeError(f"the pages built in {site} show {found} quotes, not {count}")
