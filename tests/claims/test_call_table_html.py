"""Call tables: what a row says, and that nothing in it is interpreted."""

from dataclasses import replace
from typing import Any

import pytest

from annotate.claims.call_table_html import Row, render_table
from annotate.claims.links import NoLinks
from annotate.claims.relations import Relation
from annotate.location import Location
from tests.claims.test_card import HOSTILE, Page

ROW = Row(
    subject="ledger/book.py::Ledger.add",
    place="ledger/book.py:74-75",
    permalink="https://example.org/x",
    signature="add(self, entry)",
    role="keeps an entry",
    verdict="exact",
    severity="ok",
    message="as recorded",
    callers=(
        Relation(
            "ledger/cli.py::main",
            ("certain", "observed"),
            "direct call",
            Location("ledger/cli.py", 7),
            ("demo",),
        ),
    ),
    callees=(Relation("ledger/book.py::Ledger.store", ("may",), "through self"),),
    upstream="ledger",
    href="../source/ledger/book/#Ledger.add",
)


class Surroundings:
    """The part of a context that drawing a table looks at."""

    links = NoLinks()


def draw(*rows: Row, language: str = "en") -> Page:
    context: Any = Surroundings()
    return Page(render_table(rows, context, language))


def test_a_row_names_callers_and_callees_with_their_evidence() -> None:
    text = draw(ROW).text
    for said in ("main", "certain, observed", "Ledger.store", "may", "add(self, entry)"):
        assert said in text


def test_a_table_says_where_an_alias_leads() -> None:
    alias = replace(ROW, subject="ledger/__init__.py::Ledger.add")
    page = draw(ROW, alias)
    assert "ledger/__init__.py → ledger/book.py:74-75" in page.text
    assert page.text.count("ledger/book.py:74-75") == 2
    assert "as recorded" not in page.text


def test_a_row_that_was_not_found_says_so() -> None:
    row = replace(ROW, place="", permalink=None, signature="", role="", severity="error")
    page = draw(row)
    assert "ledger/book.py" in page.text
    assert "as recorded" in page.text


def test_of_many_callers_some_are_shown_and_the_rest_counted() -> None:
    callers = tuple(Relation(f"a.py::caller{number:02}", ("certain",)) for number in range(20))
    text = draw(replace(ROW, callers=callers)).text
    assert "caller00" in text
    assert "caller19" not in text
    assert "14 more" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_a_table_interprets_nothing(text: str) -> None:
    relation = Relation(f"{text}::{text}", ("certain",), text, Location(text, 1), (text,))
    row = replace(ROW, subject=f"{text}::{text}", place=text, signature=text, role=text)
    row = replace(row, message=text, verdict="edited", severity="error", callers=(relation,))
    assert draw(row, language="zh").names() <= draw(ROW, language="zh").names()
