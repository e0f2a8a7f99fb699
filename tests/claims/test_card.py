import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.claims.card import Card, Note, render_card
from annotate.claims.markup import _WORDS, Link, visible, word
from annotate.verdict import Severity, Verdict

CODE = """\
class Ledger(Base):
    limit = 100  # how many

    def add(self, entry):
        return self.store(entry, "a < b")"""

PLAIN = Card(
    subject="ledger/book.py::Ledger",
    code=CODE,
    first_line=71,
    place="ledger/book.py:71-75",
    permalink="https://example.org/ledger/book.py#L71-L75",
    verdict="exact",
    severity="ok",
    message="as it was reviewed",
    read=f"commit {'f53a2173' * 5}",
    notes=(),
    footer=(),
    language="en",
)

# Each of these means something to HTML, to Markdown, to a template engine, to Python-Markdown's
# stash or to Material's search; none of them may mean anything inside a card.
HOSTILE = [
    "</code></pre><script>alert(1)</script>",
    "<!-- comment --> <![CDATA[x]]> <?php ?>",
    "&lt;b&gt; &amp;amp; &#60;script&#62;",
    "\"><img src=x onerror=alert(1)> '",
    "{{ config.site_dir }} {% include 'x' %} ${x}",
    "**bold** _it_ `code` [a](javascript:alert(1)) ![i](x) <http://x>",
    "```\n~~~\n$$x$$ --8<-- 'mkdocs.yml'",
    "\x02wzxhzdk:0\x03 \x02amp\x03 klzzwxh:0000",
    'x data-search-exclude="x" data-search-y="z"',
    "\u202eesrever\u202c \u2066isolate\u2069",
    "\x00\x07\x1b[31m\x7f",
]


class Page(HTMLParser):
    """What a browser makes of a piece of HTML: elements, and text by the element it is in."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.code = ""
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == [], "an element is left open"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "pre" in self.open and "details" not in self.open:
            self.code += data
        self.text += data

    def names(self) -> set[str]:
        return {tag for tag, _ in self.tags}


def test_shows_symbol_place_verdict_and_what_was_read() -> None:
    page = Page(render_card(PLAIN))
    for text in ("ledger/book.py::Ledger", "ledger/book.py:71-75", "exact", "commit f53a2173"):
        assert text in page.text
    assert "f53a2173f" not in page.text
    assert ("a", {"href": PLAIN.permalink}) in page.tags
    assert PLAIN.message not in page.text


def test_numbers_lines_as_upstream_does_and_keeps_the_numbers_out_of_the_text() -> None:
    page = Page(render_card(PLAIN))
    assert [attrs["data-n"] for tag, attrs in page.tags if tag == "i"] == [
        "71",
        "72",
        "73",
        "74",
        "75",
    ]
    assert page.code == CODE


@pytest.mark.parametrize("changed", [{"first_line": None}, {"linenums": False}])
def test_numbers_nothing_when_the_place_is_unknown_or_the_author_says_so(changed: dict) -> None:
    page = Page(render_card(replace(PLAIN, **changed)))
    assert "i" not in page.names()
    assert page.code == CODE


@pytest.mark.parametrize("severity", [Severity.NOTE, Severity.WARNING, Severity.ERROR])
def test_says_why_whenever_it_is_not_exact(severity: Severity) -> None:
    page = Page(render_card(replace(PLAIN, verdict="edited", severity=severity)))
    assert PLAIN.message in page.text


@pytest.mark.parametrize("text", HOSTILE)
def test_interprets_nothing_anywhere(text: str) -> None:
    plain = replace(PLAIN, notes=[Note(1, "a note")], footer=[("a", "#b")], title="t")
    hostile = replace(
        plain,
        subject=f"{text}::{text}",
        code=text,
        place=text,
        read=text,
        message=text,
        verdict="edited",
        severity="error",
        notes=[Note(0, text)],
        footer=[(text, "#b")],
        title=text,
        anchor=text,
    )
    page = Page(render_card(hostile))
    assert page.code == visible(text)
    assert page.names() <= Page(render_card(plain)).names() | {"p", "code"}
    for _, attributes in page.tags:
        assert set(attributes) <= {
            "aria-label",
            "class",
            "data-n",
            "data-search-exclude",
            "data-severity",
            "data-verdict",
            "href",
            "id",
            "role",
            "tabindex",
        }


def test_says_which_characters_have_no_glyph() -> None:
    page = Page(render_card(replace(PLAIN, code="a\x02b\x1b\u202ec\r\x7f\td")))
    assert page.code == "a␂b␛[U+202E]c␍␡\td"


def test_material_search_leaves_quoted_text_alone() -> None:
    html = render_card(replace(PLAIN, code='# data-search-exclude="x"'))
    # What Material's search plugin does to every finished page.
    assert re.sub(r"\s?data-search-\w+=\"[^\"]+\"", "", html) == html
    assert html.count("<pre data-search-exclude>") == 1


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "JaVaScRiPt:x"])
def test_follows_no_address_that_runs_something(href: str) -> None:
    card = replace(PLAIN, permalink=href, footer=[("x", href)], links={(0, 5): Link(href)})
    assert "a" not in Page(render_card(card)).names()


@given(st.text())
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    card = replace(PLAIN, code=text, notes=[Note(0, text)], title=text)
    assert Page(render_card(card)).code == visible(text)


@given(st.text(), st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5)), max_size=5))
def test_links_change_nothing_but_the_links(text: str, lengths: list[tuple[int, int]]) -> None:
    links = {}
    position = 0
    for gap, length in lengths:
        start = position + gap
        if start + length <= len(text):
            links[(start, start + length)] = Link("#x")
        position = start + length
    page = Page(render_card(replace(PLAIN, code=text, links=links)))
    assert page.code == visible(text)
    linked = [tag for tag, attributes in page.tags if attributes.get("href") == "#x"]
    expected = sum(len(re.findall(r"[^\n]+", text[start:end])) for start, end in links)
    assert len(linked) == expected


def test_notes_open_at_their_line_and_stand_below_the_code() -> None:
    notes = [Note(1, "first"), Note(3, "with `code` and *no* emphasis"), Note(3, "same line")]
    html = render_card(replace(PLAIN, notes=notes))
    lines = html.split("\n")
    assert "first" in next(line for line in lines if 'data-n="72"' in line)
    assert "same line" in next(line for line in lines if 'data-n="74"' in line)
    page = Page(html)
    assert page.code == CODE
    assert [attrs["aria-label"] for tag, attrs in page.tags if tag == "summary"] == [
        "Note 1",
        "Note 2, 3",
    ]
    listed = html[html.index("<ol") :]
    assert listed.count("<li>") == 3
    assert "<code>code</code> and *no* emphasis" in listed


def test_a_note_beyond_the_code_goes_to_its_last_line() -> None:
    html = render_card(replace(PLAIN, notes=[Note(99, "late")]))
    assert "late" in next(line for line in html.split("\n") if 'data-n="75"' in line)


def test_an_odd_backtick_is_a_backtick() -> None:
    html = render_card(replace(PLAIN, footer=[("a `b` c ` d", None)]))
    assert "<li>a <code>b</code> c ` d</li>" in html


def test_highlights_the_lines_the_author_counted() -> None:
    html = render_card(replace(PLAIN, highlight=frozenset({2, 99})))
    assert html.count('class="claim-line hl"') == 1
    assert "limit" in next(line for line in html.split("\n") if "claim-line hl" in line)


def test_code_can_be_reached_and_is_named_for_those_who_do_not_see_it() -> None:
    code = next(attrs for tag, attrs in Page(render_card(PLAIN)).tags if "tabindex" in attrs)
    assert code == {"tabindex": "0", "role": "group", "aria-label": f"Source of {PLAIN.subject}"}


def test_without_code_there_is_no_empty_box() -> None:
    card = replace(PLAIN, code="", verdict="missing", severity="error", notes=[Note(0, "x")])
    assert "pre" not in Page(render_card(card)).names()


def test_speaks_the_language_of_the_page() -> None:
    card = replace(PLAIN, subject="ledger/book.py::Ledger lines 2-5")
    assert "lines 2-5" in Page(render_card(card)).text
    chinese = Page(render_card(replace(card, language="zh-Hans"))).text
    assert "第 2-5 行" in chinese
    assert "逐字一致" in chinese


def test_both_languages_have_the_same_words_and_every_verdict() -> None:
    assert _WORDS["en"].keys() == _WORDS["zh"].keys()
    assert {verdict.value for verdict in Verdict} <= _WORDS["en"].keys()
    assert word("exact", "de") == "exact"
