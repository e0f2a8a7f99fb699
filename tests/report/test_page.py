import re
from dataclasses import replace

import markdown
import pytest

from annotate.location import Location
from annotate.pin import Pin
from annotate.project import Report
from annotate.report.page import licences, render
from annotate.upstream.tree import Tree, TreeFile
from annotate.verdict import Judgement, Severity, Verdict

PIN = Pin("ledger", "https://example.org/books/ledger", "ab" * 20)


def tree(licence: bytes = b"", name: str = "LICENSE", source: str = "git") -> Tree:
    files = {name: TreeFile("blob", len(licence))} if licence else {}
    identity = "commit abababab" if source == "git" else "release ledger 1.0"
    return Tree(PIN, source, identity, files, lambda _: licence)


EXACT = Judgement(
    kind="quote",
    location=Location("docs/a.md", 7),
    subject="ledger/book.py::Ledger",
    verdict=Verdict.EXACT,
    severity=Severity.OK,
    message="it has the recorded text",
    found=Location("ledger/book.py", 71),
)
EDITED = replace(
    EXACT,
    location=Location("docs/b.md", 9),
    verdict=Verdict.EDITED,
    severity=Severity.ERROR,
    message="it has other code",
)
REPORT = Report(
    judgements=(EXACT, EDITED),
    trees=(tree(),),
    pages=2,
    unclaimed=(Location("docs/b.md", 30),),
    page_claims=2,
)


def address(location: Location) -> str | None:
    return f"../{location.path}#L{location.line}" if location.path == "docs/a.md" else None


def shown(report: Report, language: str = "en") -> str:
    """The page as a site shows it."""
    return markdown.markdown(
        render(report, language, address), extensions=["toc", "attr_list", "md_in_html"]
    )


def test_shows_what_is_pinned_what_was_read_and_how_to_repeat_it() -> None:
    html = shown(REPORT)
    assert "<h1" in html
    for text in (PIN.repository, PIN.commit, "commit abababab", "annotate verify"):
        assert text in html
    assert "verification-banner" not in html


def test_a_stand_in_is_said_before_anything_else_about_the_claims() -> None:
    html = shown(replace(REPORT, trees=(tree(source="release"),)))
    assert html.index("verification-banner") < html.index("<table")
    assert "release ledger 1.0" in html


def test_counts_and_lists_every_claim_by_page() -> None:
    html = shown(REPORT)
    assert "2 claims on 2 pages and in the records: 1 hold as written" in html
    assert re.findall(r"<h2>(?:<a[^>]*>)?([^<]*)", html) == ["docs/a.md", "docs/b.md"]
    assert re.findall(r'<tr data-severity="(\w+)"', html) == ["ok", "error"]
    assert "ledger/book.py:71" in html
    assert "it has other code" in html


def test_links_claims_of_pages_the_site_has() -> None:
    html = shown(REPORT)
    assert '<a href="../docs/a.md#L7">ledger/book.py::Ledger</a>' in html
    assert html.count("<a href=") == 3  # The repository, the page, the claim.


def test_tells_what_nobody_claims() -> None:
    html = shown(REPORT)
    assert "not checked: 1" in html
    assert "docs/b.md:30" in html
    assert "<details>" not in shown(replace(REPORT, unclaimed=()))


def test_speaks_chinese() -> None:
    html = shown(REPORT, "zh")
    assert "核对结果</h1>" in html
    assert "逐字一致 exact" in html


@pytest.mark.parametrize("text", ["<script>x</script>", "\n\n# a\n", "`x` $y$ **z** \x02", "```"])
def test_interprets_nothing(text: str) -> None:
    hostile = replace(
        EXACT,
        location=Location(text, 1),
        subject=text,
        message=text,
        found=Location(text, 1),
    )
    html = shown(replace(REPORT, judgements=(hostile,), unclaimed=(Location(text, 2),)))
    assert "<script" not in html
    assert "<strong>" not in html
    assert html.count("<h1") == 1
    assert html.rstrip().endswith("</div>")


MIT = b"The MIT License (MIT)\n\nCopyright (c) 2031 Ada <b>\n\nPermission is granted.\n"


def test_names_the_licence_and_its_holder() -> None:
    line = licences([tree(MIT)], "en")
    assert line == (
        'Quoted source: <a href="https://example.org/books/ledger">ledger</a>, '
        f'<a href="https://example.org/books/ledger/blob/{PIN.commit}/LICENSE">'
        "The MIT License (MIT)</a>, Copyright (c) 2031 Ada &lt;b&gt;"
    )


@pytest.mark.parametrize("name", ["LICENSE", "license.txt", "LICENCE.md", "COPYING"])
def test_finds_the_licence_under_its_usual_names(name: str) -> None:
    assert "MIT" in licences([tree(MIT, name)], "en")


@pytest.mark.parametrize("licence", [b"", b"\n \n", b"\xff\xfe"])
def test_a_tree_without_a_readable_licence_is_still_named(licence: bytes) -> None:
    assert "ledger" in licences([tree(licence)], "zh")


def test_a_copyright_line_is_not_said_twice() -> None:
    assert licences([tree(b"Copyright 2031 Ada\n")], "en").count("Ada") == 1
