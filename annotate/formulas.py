r"""The Python-Markdown extension for formulas: TeX in the page → MathML in the HTML, no script.

``$…$`` in a line and ``$$…$$`` as a block of its own. What opens and closes follows pandoc's
rule (extension ``tex_math_dollars``): a non-blank right after the opening dollar, a non-blank
right before the closing one and no digit after it, so that $5 and $6 stay prices. ``\$`` is a
dollar. Code is left alone.
"""

import logging
import re
from collections.abc import Callable
from html import escape, unescape
from xml.etree.ElementTree import Element, SubElement, tostring

from latex2mathml.converter import convert_to_element
from markdown import Markdown
from markdown.blockparser import BlockParser
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

_INLINE = r"(?<![\\$])\$(?![\s$])(?P<tex>(?:\\.|[^\\$\x02])+?)(?<!\s)\$(?![0-9$])"
_BLOCK = re.compile(r"(?:^|\n)[ ]{0,3}\$\$(?P<tex>(?:\\.|[^\\$\x02])+)\$\$[ ]*(?:\n|$)", re.DOTALL)
# Code spans are taken at 190 and backslash escapes at 180: formulas see neither.
_INLINE_PRIORITY = 185
# Before paragraphs (10) and lists (40), after the code blocks (80).
_BLOCK_PRIORITY = 75
_UNKNOWN_COMMAND = re.compile(r"\\[A-Za-z]+")


class FormulasExtension(Extension):
    """Turns TeX between dollars into MathML.

    ``warn`` gets one sentence for each formula that cannot be read; it goes to the log by default.
    """

    def __init__(self, *, warn: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self.warn = warn or logging.getLogger(__name__).warning

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Register the inline and the block form, and the escaped dollar."""
        if "$" not in md.ESCAPED_CHARS:
            md.ESCAPED_CHARS.append("$")
        inline = _InlineFormula(_INLINE, md, self.warn)
        md.inlinePatterns.register(inline, "annotate_formula", _INLINE_PRIORITY)
        block = _FormulaBlock(md.parser, md, self.warn)
        md.parser.blockprocessors.register(block, "annotate_formula_block", _BLOCK_PRIORITY)


class _InlineFormula(InlineProcessor):
    def __init__(self, pattern: str, md: Markdown, warn: Callable[[str], None]) -> None:
        super().__init__(pattern, md)
        self.warn = warn

    def handleMatch(  # type: ignore[override]  # noqa: N802 (Python-Markdown's name)
        self, match: re.Match[str], _data: str
    ) -> tuple[str, int, int]:
        html = mathml(match["tex"], display="inline", warn=self.warn)
        return str(self.md.htmlStash.store(html)), match.start(), match.end()


class _FormulaBlock(BlockProcessor):
    def __init__(self, parser: BlockParser, md: Markdown, warn: Callable[[str], None]) -> None:
        super().__init__(parser)
        self.md = md
        self.warn = warn

    def test(self, _parent: Element, block: str) -> bool:
        return _BLOCK.search(block) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        block = blocks.pop(0)
        match = _BLOCK.search(block)
        assert match is not None
        if before := block[: match.start()]:
            self.parser.parseBlocks(parent, [before])
        html = mathml(match["tex"], display="block", warn=self.warn)
        element = SubElement(parent, "p")
        element.text = self.md.htmlStash.store(html)
        if after := block[match.end() :]:
            blocks.insert(0, after)


def mathml(tex: str, *, display: str, warn: Callable[[str], None]) -> str:
    """A formula as MathML, or its source where it cannot be read.

    Args:
        tex: the TeX between the dollars.
        display: ``inline`` or ``block``.
        warn: told why a formula cannot be read.
    """
    tex = tex.strip()
    try:
        formula = convert_to_element(tex, display=display)
    except Exception as error:
        # latex2mathml raises a dozen types, some of them built-in ones such as IndexError.
        return _source(tex, f"{type(error).__name__} {error}".strip(), warn)
    for element in formula.iter():
        # It writes symbols as character references, and its own way to a string turns them, and
        # the author's "<" with them, into markup.
        element.text = unescape(element.text or "")
        if unknown := _UNKNOWN_COMMAND.search(element.text):
            return _source(tex, f"unknown command {unknown[0]}", warn)
    formula.set("alttext", tex)
    return tostring(formula, encoding="unicode")


def _source(tex: str, why: str, warn: Callable[[str], None]) -> str:
    warn(f"the formula ${tex}$ cannot be read: {why}")
    return f'<code class="formula-error">{escape(tex)}</code>'


makeExtension = FormulasExtension  # noqa: N816 (the name Python-Markdown looks for)
