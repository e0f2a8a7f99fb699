"""The Python-Markdown extension: a page with claims → the same page with the claims drawn.

It runs wherever Python-Markdown does, under MkDocs, ProperDocs and Zensical or by itself::

    markdown.markdown(text, extensions=["annotate.fences"])
"""

import re
from pathlib import Path
from typing import Protocol

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from annotate import pages
from annotate.claims.card import Card, render_card
from annotate.claims.kinds import kind_of
from annotate.claims.links import Links, NoLinks
from annotate.pages import Block
from annotate.project import Project
from annotate.verdict import Verdict

# Before whatever could read, run or reformat quoted text: Python-Markdown's whitespace
# normalisation (30), which expands tabs, and pymdownx.superfences (25, raw blocks 31.05).
_BEFORE_OTHERS = 40
# Python-Markdown's stash marks its places with characters that the normalisation drops, so the
# stash is filled just after it.
_AFTER_NORMALISATION = 29


class Renderer(Protocol):
    """What the extension needs of a project: see `annotate.project.Project.render`."""

    def render(self, block: Block, page: str, language: str, links: Links) -> str | None:
        """The HTML of a claim."""


class FencesExtension(Extension):
    """Draws the claims of a page.

    Args:
        project: draws one claim; by default the project of the current directory, opened when
            the first claim is met.
        page: the page's path relative to the project.
        language: the page's language.
        line_offset: how many lines of the page's file precede the text (its front matter).
        links: where the site shows symbols and claims; by default nowhere.
    """

    def __init__(
        self,
        *,
        project: Renderer | None = None,
        page: str = "",
        language: str = "en",
        line_offset: int = 0,
        links: Links | None = None,
    ) -> None:
        super().__init__()
        self.project = project
        self.page = page
        self.language = language
        self.line_offset = line_offset
        self.links = links or NoLinks()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Register the two preprocessors."""
        claims = _TakeClaims(md, self)
        md.preprocessors.register(claims, "annotate_claims", _BEFORE_OTHERS)
        md.preprocessors.register(
            _StashClaims(md, claims), "annotate_claims_stash", _AFTER_NORMALISATION
        )

    def render(self, block: Block) -> str | None:
        """The HTML of a block, or None if it is an ordinary fence."""
        if kind_of(block) is not None:
            if self.project is None:
                self.project = Project.open(Path.cwd())
            html = self.project.render(block, self.page, self.language, self.links)
        elif block.problem:
            # Other extensions take such a fence for prose, and its text for HTML.
            html = _unreadable(block, self.language)
        else:
            return None
        return f'<div id="{claim_id(block.first_line + self.line_offset)}">\n{html}\n</div>'


def claim_id(line: int) -> str:
    """The id of the claim that starts on a line of a page's file."""
    return f"claim-{line}"


class _TakeClaims(Preprocessor):
    """Takes the claims out of the raw text and leaves a mark in the place of each."""

    def __init__(self, md: Markdown, extension: FencesExtension) -> None:
        super().__init__(md)
        self.extension = extension
        self.drawn: list[str] = []
        self.mark = ""

    def run(self, lines: list[str]) -> list[str]:
        """The page's lines with a mark, set apart as a paragraph, instead of each claim."""
        text = "\n".join(lines).replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        self.drawn = []
        self.mark = "annotate-claim"
        while self.mark in text:
            self.mark += "-"
        kept: list[str] = []
        position = 0
        for block in pages.blocks(text):
            html = self.extension.render(block)
            if html is None:
                continue
            first = block.first_line - 1
            kept += lines[position:first]
            # A paragraph of its own, or the card would stand inside one; in its container.
            blank = block.prefix.rstrip()
            if kept and not _is_blank(kept[-1]):
                kept.append(blank)
            # The first line of the block may hold the marker of a list item.
            kept.append(f"{lines[first][: len(block.prefix)]}{self.mark}:{len(self.drawn)}:")
            if block.last_line < len(lines) and not _is_blank(lines[block.last_line]):
                kept.append(blank)
            self.drawn.append(html)
            position = block.last_line
        return kept + lines[position:]


def _is_blank(line: str) -> bool:
    """Whether a line holds nothing, or nothing but the marks of a block quote."""
    return not line.strip(" \t>")


class _StashClaims(Preprocessor):
    """Puts what was drawn into Python-Markdown's stash, which no other extension looks into."""

    def __init__(self, md: Markdown, claims: _TakeClaims) -> None:
        super().__init__(md)
        self.claims = claims

    def run(self, lines: list[str]) -> list[str]:
        """The lines with the stash's placeholders instead of the marks."""
        if not self.claims.drawn:
            return lines
        mark = re.compile(rf"{re.escape(self.claims.mark)}:([0-9]+):")
        return [mark.sub(self._stash, line) for line in lines]

    def _stash(self, match: re.Match[str]) -> str:
        return str(self.md.htmlStash.store(self.claims.drawn[int(match[1])]))


def _unreadable(block: Block, language: str) -> str:
    return render_card(
        Card(
            subject=block.attributes.get("source", "?"),
            code=block.text,
            first_line=None,
            place="",
            permalink=None,
            verdict=Verdict.UNVERIFIABLE,
            severity=Verdict.UNVERIFIABLE.severity(),
            message=block.problem,
            read="",
            notes=(),
            footer=(),
            language=language,
        )
    )


makeExtension = FencesExtension  # noqa: N816 (the name Python-Markdown looks for)
