import textwrap
from html.parser import HTMLParser
from pathlib import Path

import markdown
import pytest

from annotate.fences import FencesExtension
from annotate.pages import Block
from annotate.project import Project

EXTENSIONS = [
    "admonition",
    "attr_list",
    "def_list",
    "md_in_html",
    "tables",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "pymdownx.tabbed",
]


class Recorder:
    """A project that draws a claim as the text it was given, and remembers the claim."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.pages: list[tuple[str, str]] = []

    def render(self, block: Block, page: str, language: str, links: object) -> str:
        self.blocks.append(block)
        self.pages.append((page, language))
        return f"<figure>{len(self.blocks)}</figure>"


class Outline(HTMLParser):
    """The chain of elements around each figure."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.figures: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "figure":
            self.figures.append(list(self.open))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "input"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def convert(text: str, project: object = None, **options: object) -> str:
    extension = FencesExtension(project=project or Recorder(), **options)
    return markdown.markdown(text, extensions=[*EXTENSIONS, extension])


CLAIM = '```{.python source="a.py::f"}\n```'


def indented(columns: int, text: str = CLAIM) -> str:
    return textwrap.indent(text, " " * columns)


@pytest.mark.parametrize(
    ("page", "around"),
    [
        (CLAIM, ["div"]),
        (f"before\n\n{CLAIM}\n\nafter", ["div"]),
        (f"before\n{CLAIM}\nafter", ["div"]),
        (f"- item\n\n{indented(4)}\n", ["ul", "li", "div"]),
        (f"- item\n{indented(4)}\n- next\n", ["ul", "li", "div"]),
        (f"1. a\n    - b\n\n{indented(8)}\n", ["ol", "li", "ul", "li", "div"]),
        ('- ```{.python source="a.py::f"}\n  ```\n', ["ul", "li", "div"]),
        (f"!!! note\n{indented(4)}\n", ["div", "div"]),
        (f'??? question "why"\n    text\n\n{indented(4)}\n', ["details", "div"]),
        (f'=== "tab"\n\n{indented(4)}\n', ["div", "div", "div"]),
        (textwrap.indent(CLAIM, "> ") + "\n", ["blockquote", "div"]),
        (f"> quoted\n{textwrap.indent(CLAIM, '> ')}\n> more\n", ["blockquote", "div"]),
        (f"> - item\n>\n{textwrap.indent(indented(4), '> ')}\n", ["blockquote", "ul", "li", "div"]),
        (f'<div markdown="1">\n\n{CLAIM}\n\n</div>\n', ["div", "div"]),
        (f"term\n\n:   {CLAIM.replace(chr(10), chr(10) + '    ')}\n", ["dl", "dd", "div"]),
    ],
)
def test_stands_where_its_author_put_it(page: str, around: list[str]) -> None:
    html = convert(page)
    assert Outline(html).figures == [around], html
    assert "annotate-claim" not in html


def test_text_around_a_claim_stays_outside_and_in_order() -> None:
    html = convert(f"before\n{CLAIM}\nafter")
    assert html.index("<p>before</p>") < html.index("<figure>") < html.index("<p>after</p>")


@pytest.mark.parametrize(
    "page",
    [
        "```python\nx = 1\n```",
        f"````markdown\n{CLAIM}\n````",
        f"~~~\n{CLAIM}\n~~~",
        indented(4),
        f"text `{CLAIM.splitlines()[0]}` text",
        "no fence at all",
    ],
)
def test_what_claims_nothing_is_left_to_others(page: str) -> None:
    class NoProject:
        def render(self, *_: object) -> str:
            raise AssertionError("nothing here is a claim")

    without = markdown.markdown(page, extensions=EXTENSIONS)
    assert convert(page, NoProject()) == without


def test_hand_written_claims_are_claims() -> None:
    project = Recorder()
    page = "Prose.\n\n[REAL SOURCE]\nFile: a.py\nSymbol: f\n\ndef f():\n    pass\n\nMore prose.\n"
    html = convert(page, project)
    assert [block.text for block in project.blocks] == ["def f():\n    pass"]
    assert "<p>Prose.</p>" in html
    assert "<p>More prose.</p>" in html
    assert "def f" not in html


def test_sees_the_text_as_it_is_written() -> None:
    project = Recorder()
    code = "def f():\n\tif x:\n\t\treturn 1\n   \n\treturn 2"
    convert(f'```{{.python source="a.py::f"}}\n{code}\n```\n'.replace("\n", "\r\n"), project)
    assert project.blocks[0].text == code


def test_tells_the_project_page_and_language() -> None:
    project = Recorder()
    convert(CLAIM, project, page="docs/x.zh.md", language="zh")
    assert project.pages == [("docs/x.zh.md", "zh")]


def test_each_claim_can_be_linked_to_by_its_line() -> None:
    html = convert(f"one\n\n{CLAIM}\n\n{CLAIM}\n", line_offset=10)
    assert 'id="claim-13"' in html
    assert 'id="claim-16"' in html


HOSTILE = """<figure></code><script>alert(1)</script>
<!-- -->
{{ x }} **b** [a](b) &lt; $x$ klzzwxh:0000 annotate-claim:0:
```
    indented
</figure>"""


def test_nothing_looks_into_what_was_drawn() -> None:
    class Hostile:
        def render(self, *_: object) -> str:
            return HOSTILE

    assert HOSTILE in convert(CLAIM, Hostile())


def test_a_page_that_talks_of_the_mark_keeps_its_words() -> None:
    html = convert(f"annotate-claim:0: and annotate-claim-:0:\n\n{CLAIM}\n")
    assert "<p>annotate-claim:0: and annotate-claim-:0:</p>" in html
    assert html.count("<figure>") == 1


def test_a_page_cannot_name_a_place_in_the_stash() -> None:
    html = convert(f"\x02wzxhzdk:0\x03\n\n{CLAIM}\n")
    assert html.count("<figure>") == 1


@pytest.mark.parametrize(
    "page",
    [
        '```python source="a.py::f"\n<script>alert(1)</script>\n```',
        '```{.python source="a.py::f" source="b.py::g"}\n<script>alert(1)</script>\n```',
        '```{.python source="a.py::f"}\n<script>alert(1)</script>\n',
        "```{.python source=}\n<script>alert(1)</script>\n```",
    ],
)
def test_a_header_that_cannot_be_read_makes_no_live_html(page: str) -> None:
    class Quote:
        def render(self, block: Block, *_: object) -> str:
            assert block.problem
            return "<figure></figure>"

    html = convert(page, Quote())
    assert "<script>" not in html
    assert html.count("<figure") == 1


def test_one_converter_can_convert_many_pages() -> None:
    project = Recorder()
    extension = FencesExtension(project=project)
    converter = markdown.Markdown(extensions=[*EXTENSIONS, extension])
    first = converter.convert(f"{CLAIM}\n\n{CLAIM}\n")
    converter.reset()
    second = converter.convert(CLAIM)
    third = converter.reset().convert("text")
    assert (first.count("<figure>"), second.count("<figure>")) == (2, 1)
    assert third == "<p>text</p>"


def test_is_found_by_its_name() -> None:
    project = Recorder()
    config = {"annotate.fences": {"project": project, "page": "x.md"}}
    for extensions in (["annotate.fences"], ["pymdownx.superfences", "annotate.fences"]):
        html = markdown.markdown(CLAIM, extensions=extensions, extension_configs=config)
        assert "<figure>" in html


def test_opens_the_project_of_the_current_folder_only_for_a_claim(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[Path] = []
    project = Recorder()
    monkeypatch.setattr(Project, "open", lambda start: opened.append(start) or project)
    monkeypatch.chdir(tmp_path)
    markdown.markdown("```python\nx\n```", extensions=["annotate.fences"])
    assert opened == []
    markdown.markdown(f"{CLAIM}\n\n{CLAIM}", extensions=["annotate.fences"])
    assert opened == [tmp_path]
    assert len(project.blocks) == 2
