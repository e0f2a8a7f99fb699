import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.claims.highlight import html_lines


def html(text: str, **options: object) -> str:
    return "\n".join(html_lines(text, escape, **options))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def add(x):", '<span class="k">def</span> <span class="nf">add</span>(x):'),
        (
            "class A: pass",
            '<span class="k">class</span> <span class="nc">A</span>: <span class="k">pass</span>',
        ),
        ("x is not None", 'x <span class="k">is not</span> <span class="kc">None</span>'),
        ("self.x = cls", '<span class="bp">self</span>.x = <span class="bp">cls</span>'),
        ("len(x.len, len=1)", '<span class="nb">len</span>(x.len, len=<span class="mi">1</span>)'),
        ("3.5e-3  # why", '<span class="mf">3.5e-3</span>  <span class="c1"># why</span>'),
        ("a @ b", "a @ b"),
        ("x = f'{y}'", 'x = <span class="s">f&#x27;{y}&#x27;</span>'),
    ],
)
def test_marks_what_a_reader_looks_for_and_nothing_else(text: str, expected: str) -> None:
    assert html(text) == expected


def test_a_decorator_is_one_span_wherever_it_stands() -> None:
    text = "@a.b(c)\nclass A:\n    @d\n    def e(self): ..."
    spans = re.findall(r'<span class="nd">(.*?)</span>', html(text))
    assert spans == ["@a.b", "@d"]


def test_only_a_string_that_is_a_statement_is_documentation() -> None:
    text = 'def f():\n    """Says."""\n    return "says"'
    assert re.findall(r'<span class="(sd?)">', html(text)) == ["sd", "s"]


def test_a_string_over_several_lines_has_a_span_on_each() -> None:
    assert html('x = """a\n\nb"""').split("\n") == [
        'x = <span class="s">&quot;&quot;&quot;a</span>',
        "",
        '<span class="s">b&quot;&quot;&quot;</span>',
    ]


def test_a_link_splits_the_span_it_lies_in() -> None:
    assert html("return abc", links={(7, 9): 'href="#x"'}) == (
        '<span class="k">return</span> <a href="#x">ab</a>c'
    )
    assert html("len", links={(0, 1): 'href="#x"', (2, 3): 'href="#y"'}) == (
        '<a class="nb" href="#x">l</a><span class="nb">e</span><a class="nb" href="#y">n</a>'
    )


def test_what_is_no_python_is_only_escaped() -> None:
    assert html("def <x>", python=False) == "def &lt;x&gt;"


def test_what_cannot_be_parsed_is_only_escaped() -> None:
    deep = " " * 20_000 + "x"
    assert html(deep) == deep


@given(st.text())
def test_without_its_tags_it_is_the_text(text: str) -> None:
    assert re.sub(r"<[^>]*>", "", html(text)) == escape(text)
