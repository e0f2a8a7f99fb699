"""The same quotes on the same pages, written for each of the tools that can show them."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.corpus import Quote
from benchmarks.packages import Package

PROSE = (
    "The definition below is one of those that this page goes through, in the order of its file. "
    "What it returns is used by the next one, and what it is given comes from the one before."
)
"""Stands before every quote, so that a page is not all code."""

_SITE = """\
site_name: Quotes
theme:
  name: material
  font: false
site_dir: {site}
plugins:
  - search
{plugins}markdown_extensions:
{extensions}"""
_HIGHLIGHT = """\
  - pymdownx.highlight
  - pymdownx.superfences
"""


WITHOUT_GENERATED_PAGES = "without-generated-pages.yml"
"""Builds, below `SITE`, the pages of an annotate project and no others."""

SITE, WHOLE_SITE = "site", "whole-site"


def literal_quotes(folder: Path, package: Package, quotes: Sequence[Quote], pages: int) -> Path:
    """A project for annotate whose pages quote the text itself."""
    return _annotate_project(folder, package, quotes, pages, literal=True)


def named_quotes(folder: Path, package: Package, quotes: Sequence[Quote], pages: int) -> Path:
    """A project for annotate whose pages only name the symbols; the build puts the text in."""
    return _annotate_project(folder, package, quotes, pages, literal=False)


def plain_fences(folder: Path, quotes: Sequence[Quote], pages: int) -> Path:
    """A MkDocs site whose pages hold the text in ordinary fences."""
    _write(folder / "mkdocs.yml", _SITE.format(site=SITE, plugins="", extensions=_HIGHLIGHT))
    for name, chosen in _pages(quotes, pages):
        fences = [f"```python\n{quote.text}\n```" for quote in chosen]
        _write(folder / "docs" / f"{name}.md", _markdown(name, chosen, fences))
    return folder


def snippet_sections(folder: Path, package: Package, quotes: Sequence[Quote], pages: int) -> Path:
    """A MkDocs site whose pages name sections of the files with ``pymdownx.snippets``.

    The files are a copy with the two marks of each section put in.
    """
    snippets = (
        "  - pymdownx.snippets:\n      base_path: [marked]\n      check_paths: true\n"
        "      dedent_subsections: true\n"
    )
    _write(
        folder / "mkdocs.yml", _SITE.format(site=SITE, plugins="", extensions=_HIGHLIGHT + snippets)
    )
    sections = _mark_sections(package.source, folder / "marked", quotes)
    for name, chosen in _pages(quotes, pages):
        fences = [f'```python\n--8<-- "{quote.path}:{sections[quote]}"\n```' for quote in chosen]
        _write(folder / "docs" / f"{name}.md", _markdown(name, chosen, fences))
    return folder


def sphinx_includes(folder: Path, package: Package, quotes: Sequence[Quote], pages: int) -> Path:
    """A Sphinx project whose pages name the symbols with ``literalinclude :pyobject:``."""
    _write(
        folder / "conf.py",
        'project = "Quotes"\nexclude_patterns = ["upstream"]\n',
    )
    _copy(package.source, folder / "upstream", quotes)
    names = []
    for name, chosen in _pages(quotes, pages):
        names.append(name)
        parts = [f"Page {name}\n{'=' * (len(name) + 5)}"]
        for quote in chosen:
            parts.append(f"{PROSE}\n\n*{quote.qualname}*")
            parts.append(
                f".. literalinclude:: /upstream/{quote.path}\n   :pyobject: {quote.qualname}"
            )
        _write(folder / f"{name}.rst", "\n\n".join(parts) + "\n")
    toctree = "".join(f"   {name}\n" for name in names)
    _write(folder / "index.rst", f"Quotes\n======\n\n.. toctree::\n\n{toctree}")
    return folder


def _annotate_project(
    folder: Path, package: Package, quotes: Sequence[Quote], pages: int, *, literal: bool
) -> Path:
    _write(
        folder / "annotate.toml",
        f"[upstream.package]\nrepository = {json.dumps(package.repository.as_uri())}\n"
        f'commit = "{package.commit}"\n',
    )
    _write(
        folder / "mkdocs.yml",
        _SITE.format(site=WHOLE_SITE, plugins="  - annotate\n", extensions=_HIGHLIGHT),
    )
    _write(
        folder / WITHOUT_GENERATED_PAGES,
        _SITE.format(site=SITE, plugins="", extensions="  - annotate.fences\n" + _HIGHLIGHT),
    )
    for name, chosen in _pages(quotes, pages):
        fences = []
        for quote in chosen:
            text = f"{quote.text}\n" if literal else ""
            source = f"{quote.path}::{quote.qualname}"
            fences.append(f'```{{.python source="{source}"}}\n{text}```')
        _write(folder / "docs" / f"{name}.md", _markdown(name, chosen, fences))
    return folder


def _pages(quotes: Sequence[Quote], count: int) -> Iterator[tuple[str, Sequence[Quote]]]:
    for number in range(count):
        chosen = quotes[number * len(quotes) // count : (number + 1) * len(quotes) // count]
        yield f"page-{number:03}", chosen


def _markdown(name: str, quotes: Sequence[Quote], fences: Sequence[str]) -> str:
    parts = [f"# Page {name}"]
    for quote, fence in zip(quotes, fences, strict=True):
        parts.append(f"{PROSE}\n\n*{quote.qualname}*".replace("__", r"\_\_"))
        parts.append(fence)
    return "\n\n".join(parts) + "\n"


def _mark_sections(source: Path, target: Path, quotes: Sequence[Quote]) -> dict[Quote, str]:
    """Copy the quoted files with section marks put in; quote → the name of its section."""
    sections = {quote: f"quote-{number}" for number, quote in enumerate(dict.fromkeys(quotes))}
    before: dict[tuple[str, int], list[str]] = {}
    for quote, section in sections.items():
        before.setdefault((quote.path, quote.first_line), []).append(f"# --8<-- [start:{section}]")
        # An inner definition that ends on the same line must close before the outer one.
        before.setdefault((quote.path, quote.last_line + 1), []).insert(
            0, f"# --8<-- [end:{section}]"
        )
    for path in {quote.path for quote in quotes}:
        lines = (source / path).read_text("utf-8").split("\n")
        marked = []
        for number, line in enumerate([*lines, ""], 1):
            marked += before.get((path, number), [])
            marked.append(line)
        _write(target / path, "\n".join(marked))
    return sections


def _copy(source: Path, target: Path, quotes: Sequence[Quote]) -> None:
    for path in {quote.path for quote in quotes}:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8", newline="\n")
