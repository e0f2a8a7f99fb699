"""Quotes as an author may write them: whatever the module and the container, a literal quote is
exact, another one never is, and a fix is right and final.

What the verdicts say is tried in ``cases``.
"""

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from annotate import edit
from annotate.project import Project, Report
from annotate.upstream import symbols, syntax
from annotate.upstream.symbols import Symbol
from annotate.verdict import Judgement, Verdict
from tests.projects import open_project

Checking = Callable[[Mapping[str, bytes], str], Report]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Mapping[str, bytes]], Project]:
    """Opens the same folder over and over, each time with another upstream."""
    folder = tmp_path_factory.mktemp("quotes")
    root = folder / "project"
    root.mkdir()
    return lambda files: open_project(root, {"kettle": files}, folder / "store")


def check(project: Project, page: str | bytes) -> tuple[Judgement, ...]:
    data = page.encode() if isinstance(page, str) else page
    (project.config.root / "page.md").write_bytes(data)
    return project.check([project.config.root / "page.md"]).judgements


def fixed(project: Project, judgements: tuple[Judgement, ...]) -> bytes:
    page = (project.config.root / "page.md").read_bytes()
    return edit.apply(page, [each for found in judgements if found.fix for each in found.fix.edits])


# Generated modules

NAMES = st.sampled_from(["f", "g", "C", "x", "é"])
EXPRESSIONS = st.sampled_from(
    [
        "1",
        "'#'",
        '"""a\n\n# b\n  c"""',
        "lambda y: y",
        "(\n1,\n\n2)",
        "x[\n    0]",
        "f'{x}'",
        "a if b else c",
    ]
)
DECORATORS = st.lists(
    st.sampled_from(["@d", "@d(\n    1\n)", "@d  # why", "# not one"]), max_size=2
)
ENDS = st.sampled_from(["", "  # said", ";"])


def indented(text: str, by: str = "    ") -> str:
    return "\n".join(by + line if line else line for line in text.split("\n"))


@st.composite
def definitions(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["assignment", "call", "function", "class", "one line", "pair"]))
    name, value = draw(NAMES), draw(EXPRESSIONS)
    if kind == "assignment" or depth == 0:
        return f"{name} = {value}{draw(ENDS)}"
    if kind == "call":
        return f"f({value}){draw(ENDS)}"
    if kind == "pair":
        return f"{name} = 1; {draw(NAMES)} = 2"
    if kind == "one line":
        return f"def {name}(): return 1{draw(ENDS)}"
    head = f"class {name}:" if kind == "class" else f"def {name}(a, *,\n    b={value}):"
    body = draw(st.lists(definitions(depth - 1), min_size=1, max_size=3))
    gap = draw(st.sampled_from(["\n", "\n\n", "\n# between\n"]))
    decorators = [*draw(DECORATORS), head]
    by = draw(st.sampled_from(["    ", "  ", "\t"]))
    # A line of a string that is indented is another string, which is as good.
    return "\n".join(decorators) + "\n" + indented(gap.join(body), by)


MODULES = st.lists(definitions(), min_size=1, max_size=4).map("\n\n".join)
LINE_ENDS = st.sampled_from(["\n", "\r\n"])


def symbols_of(module: str) -> list[Symbol]:
    found = [each for each in symbols.extract(module).symbols if each.kind != "alias"]
    data = module.encode()
    assume(not symbols.cross_check(data, symbols.extract(module)))
    compile_or_skip(module)
    return found


def compile_or_skip(module: str) -> None:
    try:
        compile(module, "m.py", "exec", dont_inherit=True)
    except SyntaxError:
        assume(False)


def fence_around(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    return "`" * max(3, longest + 1)


def quote(symbol: Symbol, text: str, lines: str = "") -> str:
    fence = fence_around(text)
    name = symbol.qualname.replace("\\", "\\\\").replace('"', '\\"')
    return f'{fence}{{.python source="m.py::{name}"{lines}}}\n{text}\n{fence}\n'


generated = settings(suppress_health_check=[HealthCheck.filter_too_much])


@generated
@given(
    module=MODULES,
    source_end=LINE_ENDS,
    page_end=LINE_ENDS,
    by=st.sampled_from(["", "  ", "    ", "\t", "\t  "]),
    container=st.sampled_from(["", "> ", "   ", "\t", "    "]),
)
def test_any_symbol_quoted_literally_is_exact(
    project: Callable[[Mapping[str, bytes]], Project],
    module: str,
    source_end: str,
    page_end: str,
    by: str,
    container: str,
) -> None:
    found = symbols_of(module)
    opened = project({"m.py": module.replace("\n", source_end).encode()})
    page = "- item\n\n" if container in ("\t", "    ") else ""
    quotes = [quote(each, indented(symbols.source_text(module, each), by)) for each in found]
    page += "\n\n".join(indented(each.rstrip("\n"), container) for each in quotes)
    if container == "> ":
        page = page.replace("\n\n", "\n>\n")
    judgements = check(opened, page.replace("\n", page_end))
    # A string's blank lines take no indentation with them, so the text may not survive it.
    exact = [each for each in judgements if each.verdict is Verdict.EXACT]
    assert len(judgements) == len(found)
    assert exact == list(judgements), [each for each in judgements if each not in exact]


@generated
@given(module=MODULES, data=st.data())
def test_a_quote_with_another_character_is_never_exact(
    project: Callable[[Mapping[str, bytes]], Project], module: str, data: st.DataObject
) -> None:
    symbol = data.draw(st.sampled_from(symbols_of(module)))
    text = symbols.source_text(module, symbol)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from([*"xy0 #\t'", ""]))
    changed = text[:at] + other + text[at + 1 :]
    assume(syntax.canonical(changed) != text and changed.strip())
    (judgement,) = check(project({"m.py": module.encode()}), quote(symbol, changed))
    assert judgement.verdict is not Verdict.EXACT
    assert judgement.message


@generated
@given(module=MODULES, data=st.data(), container=st.sampled_from(["", "> ", "   "]))
def test_fixes_are_right_and_final(
    project: Callable[[Mapping[str, bytes]], Project],
    module: str,
    data: st.DataObject,
    container: str,
) -> None:
    symbol = data.draw(st.sampled_from(symbols_of(module)))
    text = symbols.source_text(module, symbol)
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    changed = data.draw(
        st.sampled_from(
            [
                "\n".join([*lines[:at], lines[at] + "  ", *lines[at + 1 :]]),
                "\n".join([*lines[:at], lines[at] + "  # added", *lines[at + 1 :]]),
                "\n".join([*lines[:at], "", *lines[at:]]),
                "\n".join(lines[at:]),
            ]
        )
    )
    lines_attribute = data.draw(st.sampled_from(["", f' lines="{at + 1}"', ' lines="1-2"']))
    page = indented(quote(symbol, changed, lines_attribute).rstrip("\n"), container)
    opened = project({"m.py": module.encode()})
    before = check(opened, page)
    after = check(opened, fixed(opened, before))
    for old, new in zip(before, after, strict=True):
        assert (new.verdict is Verdict.EXACT) or not (old.fix and old.fix.edits), (old, new)
        assert new.verdict is old.verdict or (old.fix and old.fix.edits)
    assert fixed(opened, after) == (opened.config.root / "page.md").read_bytes()


@generated
@given(MODULES)
def test_claims_shown_inside_a_longer_fence_are_not_made(
    project: Callable[[Mapping[str, bytes]], Project], module: str
) -> None:
    page = "\n".join(quote(each, symbols.source_text(module, each)) for each in symbols_of(module))
    fence = fence_around(page)
    shown = f"{fence}markdown\n{page}\n[REAL SOURCE]\n{fence}\n"
    assert check(project({"m.py": module.encode()}), shown) == ()


def test_a_quote_in_an_encoding_that_is_declared(
    project: Callable[[Mapping[str, bytes]], Project],
) -> None:
    source = "# coding: latin-1\nx = 'é'\n".encode("latin-1")
    (judgement,) = check(
        project({"m.py": source}), "```{.python source=\"m.py::x\"}\nx = 'é'\n```\n"
    )
    assert judgement.verdict is Verdict.EXACT


def test_a_file_that_is_too_large_is_not_judged(
    project: Callable[[Mapping[str, bytes]], Project],
) -> None:
    source = b"def f():\n    return 1\n\n\nx = '" + b"0" * 2_000_000 + b"'\n"
    (judgement,) = check(project({"m.py": source}), '```{.python source="m.py::f"}\n```\n')
    assert judgement.verdict is Verdict.UNVERIFIABLE
    assert "files over 2,000,000 are not read" in judgement.message
