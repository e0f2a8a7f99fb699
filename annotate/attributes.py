"""The header of a fence: its classes and attributes, read and rewritten.

Attribute lists are those of Python-Markdown and Pandoc: ``{.python #anchor source="…"}``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Header:
    """What stands after the backticks or tildes that open a fence.

    Attributes:
        classes: the language first, as in ``{.python .annotate}``.
        attributes: key → value; ``id`` is the anchor.
        problem: why the header cannot be read, or "". The attributes by which a fence makes a
            claim are given all the same, so that the claim is reported and not overlooked.
    """

    classes: tuple[str, ...]
    attributes: Mapping[str, str]
    problem: str = ""


CLAIMING = frozenset({"source", "experiment", "run"})
"""The attributes by which a fence makes a claim."""

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
_CLAIM = re.compile(
    rf"""(?:^|(?<=[\s{{]))(?P<key>{"|".join(sorted(CLAIMING))}|file)\s*=\s*["']?(?P<value>[^\s"'}}]*)"""
)


def makes_claim(header: str) -> bool:
    """Whether a header has, however it is written, an attribute by which a fence makes a claim."""
    return _CLAIM.search(header) is not None


def parse(header: str) -> Header:
    """Read ``python`` or ``{.python source="…" lines="2-5"}``.

    A header such as ``python source="…"``, without braces, is a problem: renderers that do not
    know it make the quoted code live HTML.
    """
    header = header.strip()
    if not header.startswith("{"):
        language = re.match(r"[^\s{]*", header)
        word = language[0] if language else ""
        language_only = (word.lower(),) if word else ()
        if not makes_claim(header):
            return Header(language_only, {})
        rest = header[len(word) :].strip(" \t{}")
        problem = f"attributes need braces: ```{{.{word or 'python'} {rest}}}"
        return Header(language_only, _claims_in(header), problem)
    body, brace, trailing = header[1:].rpartition("}")
    problem = ""
    if not brace or trailing.strip():
        body = body if brace else header[1:]
        problem = f"the header “{header}” does not end with its closing brace"
    classes, attributes, unread = _parse_list(body)
    problem = problem or unread
    if problem:
        attributes = _claims_in(header) | attributes
    return Header(classes, attributes, problem)


def _parse_list(body: str) -> tuple[tuple[str, ...], dict[str, str], str]:
    """What stands between braces → classes, attributes, and where it cannot be read."""
    classes: list[str] = []
    attributes: dict[str, str] = {}
    problem = ""
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
        elif match["key"] in attributes:
            problem = problem or f"{match['key']} is given twice"
        else:
            quoted = match["double"] if match["double"] is not None else match["single"]
            value = match["bare"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            attributes[match["key"]] = value
    return tuple(classes), attributes, problem


def _claims_in(header: str) -> dict[str, str]:
    return {match["key"]: match["value"] for match in _CLAIM.finditer(header)}


def with_attribute(header: str, key: str, value: str | None) -> str:
    """A header in braces with one attribute set, or taken out where ``value`` is None.

    All else stays as it is written. The header may stand anywhere in the line given, as long as
    its first ``{`` and last ``}`` are the line's.
    """
    end = header.rindex("}")
    position = header.index("{") + 1
    first = last = None
    while match := _ATTRIBUTE.match(header, position, end):
        position = match.end()
        if match["key"] == key:
            first, last = match.start("key"), match.end()
            break
    if value is None:
        if first is None or last is None:
            return header
        return header[:first].rstrip() + header[last:]
    written = f"{key}={_quoted(value)}"
    if first is None or last is None:
        return f"{header[:position]} {written}{header[position:]}"
    return header[:first] + written + header[last:]


def _quoted(value: str) -> str:
    value = value.replace("\\", "\\\\")
    if '"' not in value:
        return f'"{value}"'
    if "'" not in value:
        return f"'{value}'"
    return '"' + value.replace('"', '\\"') + '"'
