import hashlib
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

BOOK = '''\
LIMIT = 100


class Ledger:
    """Keeps entries."""

    def add(self, entry):
        if len(self.entries) > LIMIT:
            raise ValueError("full </code><script>alert(1)</script>")
        self.entries.append(entry)
'''
PROJECT = """\
[tool.annotate.upstream.ledger]
repository = "https://example.org/books/ledger"
commit = "abababababababababababababababababababab"
"""
CLAIM = '```{.python source="ledger/book.py::Ledger.add"}\n```\n'
EDITED = '```{.python source="ledger/book.py::Ledger.add"}\ndef add(self):\n    pass\n```\n'
I18N = """\
  - i18n:
      docs_structure: suffix
      languages:
        - {locale: en, name: English, default: true, build: true}
        - {locale: zh, name: 中文, build: true}
"""

Build = Callable[..., Path]


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    folder = tmp_path / "upstream"
    (folder / "ledger").mkdir(parents=True)
    (folder / "ledger" / "book.py").write_text(BOOK)
    (folder / "LICENSE").write_text("The MIT License (MIT)\n\nCopyright (c) 2031 Ada\n")
    return folder


@pytest.fixture
def build(tmp_path: Path, upstream: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Builds a site of the given pages (path → text) and returns its folder."""
    monkeypatch.setenv("ANNOTATE_CACHE", str(tmp_path / "store"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PROJECT)

    def build(
        pages: dict[str, str],
        *,
        plugins: str = "",
        more: str = "",
        site: str = "site",
    ) -> Path:
        for name, text in {"index.md": "# Home\n", **pages}.items():
            page = root / "docs" / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, "utf-8")
        (root / "mkdocs.yml").write_text(
            "site_name: Ledger\ntheme: {name: material, font: false}\n"
            "markdown_extensions: [pymdownx.superfences, annotate.formulas]\n"
            f"plugins:\n  - annotate: {{source: 'folder:{upstream}'}}\n{plugins}{more}"
        )
        config = load_config(str(root / "mkdocs.yml"), site_dir=str(tmp_path / site))
        mkdocs_build(config)
        return tmp_path / site

    return build


def read(site: Path, page: str = "index.html") -> str:
    return (site / page).read_text("utf-8")


def test_draws_the_claims_of_a_page(build: Build) -> None:
    html = read(build({"index.md": f"# Home\n\n{CLAIM}"}))
    assert '<figure class="claim" data-verdict="exact"' in html
    assert '<i data-n="7"></i><span class="k">def</span>' in html
    assert "<script>alert" not in html


def test_brings_its_style_sheet(build: Build) -> None:
    site = build({"a/b.md": CLAIM})
    assert '<link rel="stylesheet" href="../../assets/annotate.css">' in read(
        site, "a/b/index.html"
    )
    assert ".claim" in read(site, "assets/annotate.css")


def test_adds_the_verification_page_with_links_to_the_claims(build: Build) -> None:
    site = build({"a/b.md": f"---\ntitle: B\n---\n\n# B\n\n{CLAIM}"})
    html = read(site, "verification/index.html")
    assert 'href="../a/b/#claim-7">ledger/book.py::Ledger.add</a>' in html
    assert 'id="claim-7"' in read(site, "a/b/index.html")


def test_a_page_of_that_name_is_the_authors(build: Build) -> None:
    site = build({"verification.md": "# Mine\n", "index.md": CLAIM})
    assert "Mine" in read(site, "verification/index.html")
    assert "annotate verify" not in read(site, "verification/index.html")


def test_names_the_licence_of_what_is_quoted(build: Build) -> None:
    assert "Quoted source:" in read(build({"index.md": CLAIM}))


def test_keeps_a_copyright_line_of_the_authors(build: Build) -> None:
    html = read(build({"index.md": CLAIM}, more="copyright: Ada\n"))
    assert "Ada" in html
    assert "Quoted source:" not in html


def test_a_failing_claim_stops_a_strict_build_before_it_writes(
    build: Build, tmp_path: Path
) -> None:
    before = tmp_path / "site" / "index.html"
    before.parent.mkdir()
    before.write_text("before")
    with pytest.raises(Abort):
        build({"index.md": f"# Home\n\n{EDITED}"}, more="strict: true\n")
    assert [path.name for path in before.parent.iterdir()] == ["index.html"]
    assert before.read_text() == "before"


def test_a_failing_claim_is_a_warning_otherwise(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    html = read(build({"index.md": f"# Home\n\n{EDITED}"}))
    assert 'data-verdict="edited"' in html
    warning = next(record for record in caplog.records if record.levelno == logging.WARNING)
    assert warning.getMessage().startswith(
        "annotate: docs/index.md:3: ledger/book.py::Ledger.add: edited: "
    )


def test_a_site_that_claims_nothing_is_not_strictly_clean(build: Build) -> None:
    with pytest.raises(Abort):
        build({}, more="strict: true\n")


def test_a_mistake_in_the_configuration_is_told_in_one_line(
    build: Build, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "project" / "pyproject.toml").write_text("[tool.annotate]\nupstreams = 1\n")
    with pytest.raises(Abort):
        build({"index.md": CLAIM})
    assert "unknown key “upstreams”" in caplog.text


def test_a_formula_that_cannot_be_read_is_a_warning_with_its_page(
    build: Build, caplog: pytest.LogCaptureFixture
) -> None:
    build({"index.md": CLAIM, "a.md": r"so $\nonsense$"})
    assert r"docs/a.md: the formula $\nonsense$ cannot be read" in caplog.text


def test_each_language_has_its_pages_its_words_and_its_verification(build: Build) -> None:
    pages = {"a.md": CLAIM, "a.zh.md": f"\n{CLAIM}", "only.md": CLAIM}
    site = build(pages, plugins=f"  - search\n{I18N}")
    assert "Verdict: " in read(site, "a/index.html")
    assert "判定: " in read(site, "zh/a/index.html")
    assert "Verdict: " in read(site, "zh/only/index.html")
    english = read(site, "verification/index.html")
    chinese = read(site, "zh/verification/index.html")
    assert 'href="../a/#claim-1"' in english
    assert 'href="../zh/a/#claim-2"' in english
    assert 'href="../a/#claim-2"' in chinese
    assert 'href="../../a/#claim-1"' in chinese
    assert "核对结果" in chinese
    assert read(site, "zh/a/index.html").count("引用的源码") == 1
    assert 'href="../zh/verification/" hreflang="zh"' in english


def test_quoted_code_is_not_searched_and_prose_and_notes_are(build: Build) -> None:
    page = f"# Home\n\nprose about it\n\n{CLAIM}\n\nprose after it\n"
    site = build({"index.md": page}, plugins="  - search\n")
    index = json.loads(read(site, "search/search_index.json"))
    text = " ".join(entry["text"] for entry in index["docs"] if entry["location"] == "")
    assert "prose about it" in text
    assert "prose after it" in text
    assert "entries" not in text


def test_two_builds_of_the_same_pages_are_the_same_bytes(build: Build) -> None:
    def digests(site: Path) -> dict[str, str]:
        return {
            str(path.relative_to(site)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(site.rglob("*"))
            if path.is_file()
        }

    pages = {"a.md": CLAIM, "a.zh.md": CLAIM}
    first = digests(build(pages, plugins=f"  - search\n{I18N}"))
    assert digests(build(pages, plugins=f"  - search\n{I18N}", site="again")) == first


def test_asks_no_other_host_for_anything(build: Build) -> None:
    site = build({"index.md": f"# Home\n\n{CLAIM}\n\n$x^2$\n"}, plugins=f"  - search\n{I18N}")
    for page in site.rglob("*.html"):
        html = page.read_text("utf-8")
        assert not re.findall(r'<(?:script|img|iframe|source)[^>]*src="(?:https?:)?//', html)
        assert not re.findall(r'<link(?![^>]*rel="canonical")[^>]*href="(?:https?:)?//', html)
