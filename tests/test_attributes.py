"""Headers of fences: what is read, what is reported, and what an edit of one changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.attributes import CLAIMING, Header, makes_claim, parse, with_attribute

KEYS = st.from_regex(r"[A-Za-z_][\w-]{0,5}", fullmatch=True).filter(str.isascii)
VALUES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=8)


@pytest.mark.parametrize(
    ("header", "classes", "attributes"),
    [
        ("", (), {}),
        ("python", ("python",), {}),
        ("  Python  ", ("python",), {}),
        ('python title="a.py"', ("python",), {}),
        ("{}", (), {}),
        ("{.python}", ("python",), {}),
        ("{ .python .annotate }", ("python", "annotate"), {}),
        ('{.python source="a.py::f"}', ("python",), {"source": "a.py::f"}),
        ("{.python source='a.py::f'}", ("python",), {"source": "a.py::f"}),
        ("{.python source=a.py::f}", ("python",), {"source": "a.py::f"}),
        ('{.python source = "a.py::f" #top }', ("python",), {"source": "a.py::f", "id": "top"}),
        ('{source="a" title="}"}', (), {"source": "a", "title": "}"}),
        (r'{title="a \"b\" \\"}', (), {"title": r'a "b" \ '.strip()}),
        ("{title='say \"b\"'}", (), {"title": 'say "b"'}),
        ('{title=""}', (), {"title": ""}),
        ('{.a\ttitle="b"\t}', ("a",), {"title": "b"}),
    ],
)
def test_headers(header: str, classes: tuple[str, ...], attributes: dict[str, str]) -> None:
    assert parse(header) == Header(classes, attributes)


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ('python source="a"', "need braces"),
        ('python{source="a"}', "need braces"),
        ('python {source="a"}', "need braces"),
        ('{.python source="a"', "closing brace"),
        ('{.python source="a"} x', "closing brace"),
        ('{python source="a"}', "cannot be read at “python"),
        ('{.python source="a}', "cannot be read at “source"),
        ('{.python source="a" source="b"}', "source is given twice"),
    ],
)
def test_a_claim_that_cannot_be_read_is_still_one(header: str, problem: str) -> None:
    found = parse(header)
    assert problem in found.problem
    assert found.attributes["source"] == "a"


@pytest.mark.parametrize("key", sorted(CLAIMING))
def test_every_attribute_that_claims_is_seen_without_braces(key: str) -> None:
    assert parse(f"python {key}=x").problem
    assert parse(f"python {key}=x").attributes == {key: "x"}


@pytest.mark.parametrize("header", ["yaml", 'yaml title="source"', "sh resource=1", "open-source="])
def test_what_makes_no_claim(header: str) -> None:
    assert not makes_claim(header)
    assert not parse(header).problem


@given(st.dictionaries(KEYS, VALUES, max_size=4), KEYS, VALUES)
def test_what_is_set_reads_back_and_the_rest_stays(
    old: dict[str, str], key: str, value: str
) -> None:
    header = "{.python}"
    for each in old.items():
        header = with_attribute(header, *each)
    assert parse(header) == Header(("python",), old)
    changed = with_attribute(header, key, value)
    assert parse(changed) == Header(("python",), {**old, key: value})
    removed = with_attribute(changed, key, None)
    assert parse(removed) == Header(("python",), {k: v for k, v in old.items() if k != key})
    assert with_attribute(removed, key, None) == removed


@pytest.mark.parametrize(
    ("line", "key", "value", "expected"),
    [
        ('- ```{.python source="a"}  ', "source", "b", '- ```{.python source="b"}  '),
        (
            "~~~{.a title='source=\"a\"' source=a}",
            "source",
            "b",
            '~~~{.a title=\'source="a"\' source="b"}',
        ),
        ("```{source=a}", "lines", "1", '```{source=a lines="1"}'),
        ("```{source=a }", "lines", "1", '```{source=a lines="1" }'),
        ("```{source=a lines='1' id=x}", "lines", None, "```{source=a id=x}"),
        ("```{lines='1' source=a}", "lines", None, "```{ source=a}"),
    ],
)
def test_only_the_attribute_changes(line: str, key: str, value: str | None, expected: str) -> None:
    assert with_attribute(line, key, value) == expected
