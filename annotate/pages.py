"""Markdown and plain text → blocks with positions: what a page quotes, tables and runs.

Fences follow CommonMark 0.31 (section 4.5): a closing fence has the same character and at least
the length of the opening one, so that a directive shown inside a longer fence is text, not a
claim. A fence may stand in a container (list item, admonition, content tab, block quote); its
prefix is removed from each line.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

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
        """The fence's first class, or ""."""
        return self.classes[0] if self.classes else ""


def read_page(path: Path, name: str) -> str:
    """The text of a page; line ends become LF, a byte order mark is dropped.

    ``name`` is how the message calls the page.

    Raises:
        AnnotateError: the page cannot be read or is not UTF-8; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AnnotateError(f"{name} cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise AnnotateError(
            f"{name}:{line} is not UTF-8 (byte {error.start})", "Save the page as UTF-8."
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


_OPENING = re.compile(
    r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*)"
    r"(?P<fence>`{3,}|~{3,})(?P<header>[^\n]*)"
)
_LABEL = re.compile(r"(?P<prefix>[ \t]*)(?:\*\*)?\[(?P<label>[A-Z][A-Z ]+)\](?:\*\*)?[ \t]*")
_FIELD = re.compile(r"[ \t]*(?P<name>[A-Z][A-Za-z]*):[ \t]*(?P<value>\S.*?)[ \t]*")
_CONTAINER = re.compile(r"[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|!!!|\?\?\?|===|///|\[\^|:[ \t])")


def blocks(text: str) -> list[Block]:
    """All fences and hand-written claims of a page, in order."""
    lines = text.split("\n")
    found: list[Block] = []
    index = 0
    while index < len(lines):
        block = _fence(lines, index) or _labelled(lines, index)
        if block is None:
            index += 1
        else:
            found.append(block)
            index = block.last_line
    return found


def _fence(lines: list[str], index: int) -> Block | None:
    match = _OPENING.fullmatch(lines[index])
    if match is None or (match["fence"][0] == "`" and "`" in match["header"]):
        return None
    # After a list marker the content is indented by the marker's width.
    prefix = re.sub(r"[^>\s]", " ", match["prefix"])
    if _is_indented_code(lines, index, prefix):
        return None
    closing = re.compile(rf"[ \t>]*{re.escape(match['fence'][0])}{{{len(match['fence'])},}}[ \t]*")
    end = index + 1
    while end < len(lines) and not closing.fullmatch(lines[end]):
        if lines[end].strip() and not lines[end].startswith(prefix.rstrip()):
            break
        end += 1
    closed = end < len(lines) and closing.fullmatch(lines[end]) is not None
    classes, attributes, problem = parse_header(match["header"])
    if not closed:
        problem = problem or "the fence is never closed"
    return Block(
        form="fence",
        classes=classes,
        attributes=attributes,
        text="\n".join(_without_prefix(line, prefix) for line in lines[index + 1 : end]),
        first_line=index + 1,
        last_line=end + 1 if closed else end,
        text_line=index + 2,
        prefix=prefix,
        problem=problem,
    )


def _is_indented_code(lines: list[str], index: int, prefix: str) -> bool:
    """Whether the line is an example in an indented code block, not a fence in a container.

    Four columns of indentation make code (CommonMark 4.4), unless a list item, an admonition or
    a tab above, with less indentation, holds the line.
    """
    width = _width(prefix)
    if width < 4 or ">" in prefix:
        return False
    limit = width
    for line in reversed(lines[:index]):
        if not line.strip():
            continue
        indent = _width(line[: len(line) - len(line.lstrip(" \t"))])
        if indent >= limit:
            continue
        if _CONTAINER.match(line):
            return False
        limit = indent
        if limit == 0:
            break
    # A marker on the fence's own line holds it as well.
    return not _CONTAINER.match(lines[index])


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _without_prefix(line: str, prefix: str) -> str:
    if line.startswith(prefix):
        return line[len(prefix) :]
    if ">" in prefix:
        quoted = re.match(rf"(?:[ \t]*>){{{prefix.count('>')}}} ?", line)
        return line[quoted.end() :] if quoted else line
    kept = line.lstrip(" \t")
    indent = line[: len(line) - len(kept)]
    # A tab in the page may stand for the spaces of the prefix.
    columns = _width(indent) - _width(prefix)
    return " " * max(columns, 0) + kept if kept else ""


_ATTRIBUTE = re.compile(
    r"""\s*(?:
        \.(?P<class>[A-Za-z0-9_+-]+)
      | \#(?P<id>[^\s}]+)
      | (?P<key>[A-Za-z_][\w:-]*)\s*=\s*(?:
            "(?P<double>(?:[^"\\]|\\.)*)"
          | '(?P<single>(?:[^'\\]|\\.)*)'
          | (?P<bare>[^\s"'}]+)
        )
    )""",
    re.VERBOSE,
)


def parse_header(header: str) -> tuple[tuple[str, ...], dict[str, str], str]:
    """A fence's header → its classes, its attributes, and why it cannot be read (or "").

    ``python`` and ``{.python source="…" lines="2-5"}`` are understood; a header such as
    ``python source="…"`` is not: renderers that do not know it make the quoted code live HTML.
    """
    header = header.strip()
    if not header.startswith("{"):
        word, _, rest = header.partition(" ")
        problem = ""
        if re.search(r"\b(?:source|experiment|run|file)\s*=", rest):
            problem = f"attributes need braces: ```{{.{word or 'python'} {rest.strip()}}}"
            rest = ""
        return ((word.lower(),) if word else ()), {}, problem
    classes: list[str] = []
    attributes: dict[str, str] = {}
    body, brace, trailing = header[1:].rpartition("}")
    if not brace or trailing.strip():
        return (), {}, f"the header “{header}” does not end with its closing brace"
    position = 0
    while position < len(body.rstrip()):
        match = _ATTRIBUTE.match(body, position)
        if match is None:
            return (
                tuple(classes),
                attributes,
                f"the header cannot be read at “{body[position:].strip()}”",
            )
        position = match.end()
        if match["class"]:
            classes.append(match["class"])
        elif match["id"]:
            attributes["id"] = match["id"]
        else:
            quoted = match["double"] if match["double"] is not None else match["single"]
            value = match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            if match["key"] in attributes:
                return tuple(classes), attributes, f"{match['key']} is given twice"
            attributes[match["key"]] = value
    return tuple(classes), attributes, ""


def _labelled(lines: list[str], index: int) -> Block | None:
    """The hand-written form: ``[REAL SOURCE]``, ``Name: value`` lines, then the code."""
    match = _LABEL.fullmatch(lines[index])
    if match is None or match["label"] not in LABELS:
        return None
    attributes: dict[str, str] = {}
    line = index + 1
    while line < len(lines) and (named := _FIELD.fullmatch(lines[line])):
        attributes[named["name"].lower()] = named["value"].strip("`")
        line += 1
    header_end = line
    while line < len(lines) and not lines[line].strip():
        line += 1
    fence = _fence(lines, line) if line < len(lines) else None
    if fence is not None:
        text, text_line, last_line = fence.text, fence.text_line, fence.last_line
        problem = fence.problem
    else:
        end = _end_of_bare_code(lines, line)
        text, text_line, last_line = "\n".join(lines[line:end]), line + 1, end
        problem = ""
    if not text.strip():
        text, text_line, last_line = "", header_end + 1, header_end
        problem = problem or "no code follows the header"
    if not attributes:
        problem = "File: and Symbol: must follow the label, each on its own line"
    return Block(
        form="labelled",
        classes=("python",),
        attributes=attributes,
        text=text,
        first_line=index + 1,
        last_line=last_line,
        text_line=text_line,
        label=match["label"],
        prefix=match["prefix"],
        problem=problem,
    )


def _end_of_bare_code(lines: list[str], start: int) -> int:
    """The index after the last line of code that starts at ``start`` without a fence.

    It goes on until a blank line that is followed by a line indented no deeper than the first
    one: a body may contain blank lines, but a line at the margin after one is prose again.
    """
    if start >= len(lines):
        return start
    margin = _width(lines[start][: len(lines[start]) - len(lines[start].lstrip(" \t"))])
    end = start
    after_blank = False
    for number in range(start, len(lines)):
        line = lines[number]
        if not line.strip():
            after_blank = True
            continue
        indent = _width(line[: len(line) - len(line.lstrip(" \t"))])
        if after_blank and indent <= margin:
            break
        if _LABEL.fullmatch(line):
            break
        end = number + 1
        after_blank = False
    return end
