import html as html_module
import re

import markdown
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.formulas import FormulasExtension


def convert(text: str, *extensions: str) -> tuple[str, list[str]]:
    warnings: list[str] = []
    formulas = FormulasExtension(warn=warnings.append)
    return markdown.markdown(text, extensions=[*extensions, formulas]), warnings


def sources(html: str) -> list[str]:
    """The TeX of each formula."""
    return [html_module.unescape(tex) for tex in re.findall(r'<math[^>]* alttext="([^"]*)"', html)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$x$", ["x"]),
        ("a $x^2$, $y$.", ["x^2", "y"]),
        (r"$f:\mathbb{R}^n\to\mathbb{R}^m$", [r"f:\mathbb{R}^n\to\mathbb{R}^m"]),
        (r"$a_1 * b_2 * c$ and *$d$*", ["a_1 * b_2 * c", "d"]),
        ("$a < b$ & $c > d$", ["a < b", "c > d"]),
        (r"$5 and $6", []),
        ("$5, $6 and $7.50", []),
        ("from $5$", ["5"]),
        ("$ x$ and $x $", []),
        ("$x$3", []),
        (r"\$x\$ and \$5", []),
        (r"$\text{cost: \$5}$", [r"\text{cost: \$5}"]),
        ("`$x$` and ``$y`$``", []),
        ("$`x`$", []),
        ("$$x$$", ["x"]),
        ("text\n$$\nx\n$$\ntext", ["x"]),
        ("$$ x $$\n\n$$ y $$", ["x", "y"]),
        ("    $$x$$", []),
        ("    $x$", []),
        ("```\n$x$\n\n$$y$$\n```", []),
        ("[$x$](y)", ["x"]),
        ("| $a$ | b |\n|---|---|\n| $c$ | d |", ["a", "c"]),
        ("# The $x$", ["x"]),
    ],
)
def test_finds_formulas_and_nothing_else(text: str, expected: list[str]) -> None:
    html, warnings = convert(text, "tables", "pymdownx.superfences")
    assert sources(html) == expected
    assert warnings == []


def test_prices_and_escaped_dollars_stay_as_they_are() -> None:
    assert convert(r"$5 and \$6, not $ 7")[0] == "<p>$5 and $6, not $ 7</p>"


def test_a_block_stands_alone_and_a_line_does_not() -> None:
    html, _ = convert("before\n$$\nx\n$$\nafter $y$ it")
    assert re.sub(r"<math[^>]*(display=\"\w+\").*?</math>", r"[\1]", html) == (
        '<p>before</p>\n[display="block"]\n<p>after [display="inline"] it</p>'
    )


def test_a_block_stays_in_its_container() -> None:
    html, _ = convert("- item\n\n    $$x$$\n\n!!! note\n\n    $$y$$\n", "admonition")
    assert re.search(r"<li>\s*<p>item</p>\s*<math.*</math>\s*</li>", html)
    assert re.search(r'<div class="admonition note">.*<math.*</math>\s*</div>', html, re.DOTALL)


def test_what_is_in_it_is_drawn() -> None:
    html, _ = convert(r"$\frac{\partial p}{\partial g} = 2x$")
    assert "<mfrac>" in html
    assert "<mn>2</mn><mi>x</mi>" in html


@pytest.mark.parametrize("tex", [r"\frac{1}{", r"\left( x", "x^2^3", r"\nonsense x", "x_"])
def test_a_formula_that_cannot_be_read_is_told_and_shown(tex: str) -> None:
    html, warnings = convert(f"so ${tex}$.")
    assert len(warnings) == 1
    assert tex in warnings[0]
    assert f'<code class="formula-error">{html_module.escape(tex)}</code>' in html


def test_makes_no_live_html() -> None:
    for tex in (r"\text{<script>alert(1)</script>}", '"><img src=x>', "<b>"):
        html, _ = convert(f"a ${tex}$")
        assert not re.search(r"<(script|img|b)\b", html)


@given(st.text(alphabet=st.sampled_from(r"\{}^_&$<>xyz12 ()[]|'\"\n")))
def test_no_text_breaks_a_page(text: str) -> None:
    convert(text)


def test_is_found_by_its_name_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    html = markdown.markdown(r"$x$ $\nonsense$", extensions=["annotate.formulas"])
    assert sources(html) == ["x"]
    assert "nonsense" in caplog.text
