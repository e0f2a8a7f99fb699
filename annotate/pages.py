"""Markdown and plain text → blocks with positions: what a page quotes, tables and runs.

Fences follow CommonMark 0.31 (section 4.5): a closing fence has the same character and at least
the length of the opening one, and is indented by at most three columns more, so that a directive
shown inside a longer fence is text, not a claim. A fence may stand in a container (list item,
admonition, content tab, block quote); its prefix is removed from each line. What stands in an
HTML comment is not on the page and makes no claim.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from annotate import attributes
from annotate.errors import AnnotateError

LABELS = ("REAL SOURCE", "EXPERIMENT")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a page that is code, or a claim about code.

    Attributes:
        form: a ``fence``, or the older hand-written form under a ``[LABEL]`` line.
        classes: a fence's classes, its language first; empty for a bare fence.
        attributes: a fence's attributes; of the hand-written form, ``File:`` and so on, lower case.
        label: of the hand-written form, the text between its brackets.
        text: the content with LF line ends and without the container's prefix; no final newline.
        first_line: the block's first line in the page, counting from 1.
        last_line: its last line, included.
        text_line: the line on which the content starts.
        prefix: what stands before the block on each line: indentation or ``> ``.
        problem: why the header cannot be read, or "".
    """

    form: Literal["fence", "labelled"]
    classes: tuple[str, ...]
    attributes: Mapping[str, str]
    text: str
    first_line: int
    last_line: int
    text_line: int
    label: str = ""
    prefix: str = ""
    problem: str = field(default="")

    @property
    def language(self) -> str:
        """The fence's first class in lower case, or ""."""
        return self.classes[0].lower() if self.classes else ""


def read_page(path: Path, name: str) -> str:
    """The text of a page; line ends become LF, a byte order mark is dropped.

    ``name`` is how the message calls the page.

    Raises:
        AnnotateError: the page cannot be read, is not UTF-8, or has a carriage return that ends no
            line, so that programs disagree on its lines; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AnnotateError(
            f"{name} cannot be read: {error.strerror}", "Check that it exists and its permissions."
        ) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise AnnotateError(
            f"{name}:{line} is not UTF-8 (byte {error.start})",
            "Save the page as UTF-8, or leave it out of the pages that are configured.",
        ) from error
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        line = text.count("\n", 0, text.index("\r")) + 1
        raise AnnotateError(
            f"{name}:{line} has a carriage return that ends no line",
            "Save the page with LF or CRLF line ends.",
        )
    return text


_PREFIX = r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)"
_OPENING = re.compile(_PREFIX + r"(?P<fence>`{3,}|~{3,})(?P<header>[^\n]*)")
_LABEL = re.compile(_PREFIX + r"(?:\*\*)?\[(?P<label>[A-Z][A-Z ]+)\](?:\*\*)?[ \t]*")
_FIELD = re.compile(r"[ \t]*(?P<name>File|Symbol|Commit|Upstream|Purpose):[ \t]*(?P<value>\S.*)")
_CONTAINER = re.compile(
    r"(?P<item>[ \t]*(?:[-*+]|[0-9]{1,9}[.)]))(?:[ \t]|$)"
    r"|[ \t]*(?:(?::|!!!|\?\?\?\+?|===[!+]{0,2})[ \t]|\[\^[^\]]+\]:)"
)
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")
_QUOTE_MARK = re.compile(r"[ \t]*>")
_COMMENT = re.compile(r" {0,3}<!--")

_TAB = 4
_CODE_INDENT = 4
"""Columns that make an indented code block (CommonMark 4.4)."""


def blocks(text: str) -> list[Block]:
    """All fences and hand-written claims of a page, in order."""
    lines = text.split("\n")
    found: list[Block] = []
    index = 0
    while index < len(lines):
        block = _fence(lines, index) or _labelled(lines, index)
        if block is not None:
            found.append(block)
            index = block.last_line
        else:
            index = _after_comment(lines, index) or index + 1
    return found


def _after_comment(lines: list[str], index: int) -> int | None:
    """The index behind an HTML comment that begins with this line; None if none begins or ends."""
    comment = _COMMENT.match(lines[index])
    if comment is None:
        return None
    # CommonMark 0.31, section 4.6: <!--> is a whole comment.
    start = comment.end() - len("--")
    for number in range(index, len(lines)):
        if lines[number].find("-->", start) >= 0:
            return number + 1
        start = 0
    return None


def _fence(lines: list[str], index: int) -> Block | None:
    if "```" not in lines[index] and "~~~" not in lines[index]:
        return None
    match = _OPENING.fullmatch(lines[index])
    if match is None:
        return None
    quotes = match["prefix"].count(">")
    content_column = _content_column(lines, index, quotes)
    if content_column is None:
        return None
    header = attributes.parse(match["header"])
    problem = header.problem
    if match["fence"][0] == "`" and "`" in match["header"]:
        if not attributes.makes_claim(match["header"]):
            return None
        problem = "a header after backticks cannot contain a backtick; open the fence with ~~~"
    # After a list marker the content is indented by the marker's width.
    prefix = re.sub(r"[^>\s]", " ", match["prefix"])
    if prefix != match["prefix"]:
        content_column = _width(_without_quotes(prefix, quotes) or "")
    text: list[str] = []
    closed = False
    for number in range(index + 1, len(lines)):
        content = _content(lines[number], prefix, content_column)
        if content is None:
            break
        if match["fence"] in content and _closes(content, match["fence"]):
            indent = _indent(_without_quotes(lines[number], quotes) or "")
            closed = indent < content_column + _CODE_INDENT
        if closed:
            break
        text.append(content)
    if not closed:
        problem = problem or "the fence is never closed"
        while text and not text[-1].strip():
            text.pop()
    block = Block(
        form="fence",
        classes=header.classes,
        attributes=header.attributes,
        text="\n".join(text),
        first_line=index + 1,
        last_line=index + len(text) + (2 if closed else 1),
        text_line=index + 2,
        prefix=prefix,
        problem=problem,
    )
    is_plain = len(match["fence"]) == 3 and not header.attributes and not problem
    return (_labelled_within(block) if is_plain else None) or block


def _closes(line: str, fence: str) -> bool:
    marks = line.strip(" \t")
    return len(marks) >= len(fence) and set(marks) == {fence[0]}


def _content_column(lines: list[str], index: int, quotes: int) -> int | None:
    """The column at which content begins in what holds a line, or None where that is code.

    0 for a line that nothing holds but its block quotes. A list item, an admonition or a tab
    above, with less indentation, holds it; otherwise indentation makes code.
    """
    indent = limit = _indent(_without_quotes(lines[index], quotes) or "")
    for number in range(index - 1, -1, -1):
        line = _without_quotes(lines[number], quotes)
        if line is None or limit == 0:
            break
        if not line.strip() or _indent(line) >= limit:
            continue
        marker = _CONTAINER.match(line)
        if marker is None:
            above = _without_quotes(lines[number - 1], quotes) if number else None
            # A line that goes on with a paragraph ends no list item, however far out it begins.
            if not (_is_paragraph(line) and _is_paragraph(above or "")):
                limit = _indent(line)
            continue
        limit = _indent(line)
        column = _width(f"{marker['item']} ") if marker["item"] else limit + _CODE_INDENT
        if column <= indent:
            # Python-Markdown indents content by four columns; four more make code again.
            return column if indent < limit + 2 * _CODE_INDENT else None
    return None if indent >= _CODE_INDENT else 0


def _is_paragraph(line: str) -> bool:
    """Whether a line may be text of a paragraph, perhaps the first one of a list item."""
    text = _ITEM.sub("", line).lstrip(" \t")
    return bool(text) and not text.startswith(("```", "~~~", "#", ">"))


def _without_quotes(line: str, quotes: int) -> str | None:
    """A line without that many block quote marks, or None if it does not have them."""
    position = 0
    for _ in range(quotes):
        mark = _QUOTE_MARK.match(line, position)
        if mark is None:
            return None
        position = mark.end()
    if quotes and line.startswith(" ", position):
        position += 1
    return line[position:]


def _content(line: str, prefix: str, content_column: int) -> str | None:
    """A line without the prefix of its container, or None if it does not belong to that.

    Blanks count in columns, since a tab in one line may stand for the spaces of another.
    """
    if not prefix:
        return line
    quotes = prefix.count(">")
    content = _without_quotes(line, quotes)
    if content is None:
        return None
    columns = _width(_without_quotes(prefix, quotes) or "")
    column = position = 0
    while column < columns and content[position : position + 1] in (" ", "\t"):
        column += 1 if content[position] == " " else _TAB - column % _TAB
        position += 1
    if column < content_column and content.strip():
        return None
    return " " * (column - columns) + content[position:]


def _indent(line: str) -> int:
    return _width(line[: len(line) - len(line.lstrip(" \t"))])


def _width(blanks: str) -> int:
    return len(blanks.expandtabs(_TAB))


def _labelled(lines: list[str], index: int) -> Block | None:
    """The hand-written form: ``[REAL SOURCE]``, ``Name: value`` lines, then the code."""
    match = _LABEL.fullmatch(lines[index])
    if match is None or match["label"] not in LABELS:
        return None
    prefix = re.sub(r"[^>\s]", " ", match["prefix"])
    inside = _inside(lines, index, prefix)
    fields, start = _fields(inside, index + 1)
    code = start
    while code < len(inside) and not inside[code].strip():
        code += 1
    fence = _fence(inside, code) if code < len(inside) else None
    # A claim of its own is not the code of this one.
    is_claim = fence is not None and (
        fence.form == "labelled" or attributes.CLAIMING.intersection(fence.attributes)
    )
    holds_code = fence is not None and not is_claim
    problem = ""
    if fence is not None and holds_code:
        text, text_line, last_line = fence.text, fence.text_line, fence.last_line
        problem = fence.problem
    else:
        end = code if fence is not None else _end_of_bare_code(inside, code)
        text, text_line, last_line = "\n".join(inside[code:end]), code + 1, end
    if not text.strip():
        problem = problem or "no code follows the header"
        text, text_line = "", start + 1
        last_line = last_line if holds_code else start
    return _labelled_block(
        match["label"], fields, problem, text, (index + 1, text_line, last_line), prefix
    )


def _inside(lines: list[str], index: int, prefix: str) -> list[str]:
    """The lines, from ``index`` on without what stands before that one, to its block quote's end.

    Lines that are indented less belong to them all the same: only prose ends such a claim.
    """
    if not prefix:
        return lines
    inside = lines[:index]
    for number in range(index, len(lines)):
        content = _content(lines[number], prefix, 0)
        if content is None:
            break
        inside.append(content)
    return inside


def _labelled_within(fence: Block) -> Block | None:
    """The hand-written form with all of it, label and header too, inside a plain fence."""
    inside = fence.text.split("\n")
    first = next((number for number, line in enumerate(inside) if line.strip()), 0)
    match = _LABEL.fullmatch(inside[first])
    if match is None or match["label"] not in LABELS or match["prefix"].strip():
        return None
    fields, start = _fields(inside, first + 1)
    while start < len(inside) and not inside[start].strip():
        start += 1
    text = "\n".join(inside[start:])
    lines = (fence.first_line, fence.text_line + start, fence.last_line)
    problem = "" if text.strip() else "no code follows the header"
    return _labelled_block(match["label"], fields, problem, text, lines, fence.prefix)


def _labelled_block(
    label: str,
    fields: dict[str, str],
    problem: str,
    text: str,
    lines: tuple[int, int, int],
    prefix: str,
) -> Block:
    if not fields:
        problem = "File: and Symbol: must follow the label, each on its own line"
    first_line, text_line, last_line = lines
    return Block(
        form="labelled",
        classes=("python",),
        attributes=fields,
        text=text,
        first_line=first_line,
        last_line=last_line,
        text_line=text_line,
        label=label,
        prefix=prefix,
        problem=problem,
    )


def _fields(lines: list[str], start: int) -> tuple[dict[str, str], int]:
    """The ``Name: value`` lines of a hand-written claim, and the index behind them."""
    fields: dict[str, str] = {}
    number = start
    while number < len(lines) and (named := _FIELD.fullmatch(lines[number])):
        fields[named["name"].lower()] = named["value"].strip(" \t`")
        number += 1
    return fields, number


def _end_of_bare_code(lines: list[str], start: int) -> int:
    """The index after the last line of code that starts at ``start`` without a fence.

    It goes on until a blank line that is followed by a line indented no deeper than the first
    one: a body may contain blank lines, but a line at the margin after one is prose again.
    """
    if start >= len(lines):
        return start
    margin = _indent(lines[start])
    end = start
    after_blank = False
    for number in range(start, len(lines)):
        line = lines[number]
        if not line.strip():
            after_blank = True
            continue
        if after_blank and _indent(line) <= margin:
            break
        if _LABEL.fullmatch(line):
            break
        end = number + 1
        after_blank = False
    return end
