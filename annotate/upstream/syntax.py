"""Bytes → text → tree-sitter tree → leaf tokens, and the fingerprints made of them.

The only module that imports tree-sitter.
"""

import hashlib
import re
import time
from collections.abc import Iterator

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Tree

from annotate.errors import AnnotateError, Exit
from annotate.upstream.decoding import (
    decode,
    decode_text,
    lone_continuations,
    refuse_indentation,
)
from annotate.upstream.layout import Layout, Token

__all__ = [
    "GRAMMAR_VERSION",
    "Node",
    "Token",
    "Tree",
    "canonical",
    "decode",
    "decode_text",
    "leaf_spans",
    "lone_continuations",
    "parse",
    "text_fingerprint",
    "token_fingerprint",
    "tokens",
]

MAX_PARSE_SECONDS = 10.0
"""A file of `MAX_FILE_BYTES` takes under a second; runs of comment lines take quadratic time."""

_READ_BYTES = 1 << 20
"""Bytes per read callback: from here on up, as fast as handing the parser the bytes at once."""

_LANGUAGE = Language(tree_sitter_python.language())

GRAMMAR_VERSION = ".".join(map(str, _LANGUAGE.semantic_version or ()))
"""Of the grammar that is installed; what was derived with another one is derived again."""


def parse(text: str) -> Tree:
    """Parse Python text (a file or a fragment); syntax errors become ERROR nodes of the tree.

    Raises:
        AnnotateError: the text would crash the parser, or takes it over `MAX_PARSE_SECONDS`.
    """
    refuse_indentation(text)
    source = text.encode()
    clock = time.monotonic
    deadline = clock() + MAX_PARSE_SECONDS
    used = time.thread_time()

    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _READ_BYTES]

    def give_up(_offset: int, _has_error: bool) -> bool:
        # The wall clock is quick to read; what counts is this thread's time, on a busy machine too.
        return clock() > deadline and time.thread_time() - used > MAX_PARSE_SECONDS

    try:
        return Parser(_LANGUAGE).parse(read, progress_callback=give_up)
    except ValueError as error:
        raise AnnotateError(
            f"parsing was given up after {MAX_PARSE_SECONDS:g} seconds",
            "Thousands of comment or continuation lines in a row do that.",
            exit_code=Exit.NOTHING_JUDGED,
        ) from error


_STRUCTURE = frozenset({"newline", "indent", "dedent"})
# What stands between leaves; all else that the parser skipped becomes an ``error`` token. A
# backslash may end the text, since a canonical text has no last newline.
_BETWEEN_LEAVES = re.compile(r"(?:[ \t\f\r\n]|\\(?:\r?\n|\Z))+")
_SKIPPED = re.compile(r"(?:(?!\\(?:\r?\n|\Z))[^ \t\f\r\n])+")


def tokens(text: str) -> list[Token]:
    """The leaf tokens of a piece of Python: a definition, or any lines out of one.

    Structure follows Python's lexical rules, not the tree, so that it holds for fragments too:
    the statements of ``if a: b; c`` get the same ``newline``, ``indent`` and ``dedent`` as if
    each stood on a line of its own; blank lines, continuation lines and the width of indents
    leave no trace. Every character but blanks and backslashes before a line's end is in a token.

    Raises:
        AnnotateError: as `parse` does.
    """
    leaves = _leaves(text)
    layout = Layout(text, leaves)
    for leaf in leaves:
        layout.add(leaf)
    layout.finish()
    return layout.tokens


def _leaves(text: str) -> list[Token]:
    """The leaves in order, strings whole, with ``error`` tokens for what no leaf covers."""
    source = text.encode()
    is_ascii = len(source) == len(text)
    leaves: list[Token] = []
    byte = offset = 0
    for kind, first_byte, end_byte in leaf_spans(parse(text).root_node):
        # A leaf that is an ERROR may span blanks, and a continuation a NUL: see `_skipped`.
        if first_byte < byte or first_byte == end_byte or kind in ("ERROR", "line_continuation"):
            continue
        if is_ascii:
            start, end = first_byte, end_byte
        else:
            start = offset + len(source[byte:first_byte].decode())
            end = start + len(source[first_byte:end_byte].decode())
        if start != offset:
            leaves.extend(_skipped(text, offset, start))
        leaves.append(Token(kind, text[start:end], start, end))
        byte, offset = end_byte, end
    leaves.extend(_skipped(text, offset, len(text)))
    return leaves


def leaf_spans(node: Node) -> Iterator[tuple[str, int, int]]:
    """(kind, first byte, end byte) of every leaf below a node, a string counting as one."""
    cursor = node.walk()
    while True:
        leaf = cursor.node
        assert leaf is not None
        kind = leaf.type
        if kind == "string" or not cursor.goto_first_child():
            yield kind, leaf.start_byte, leaf.end_byte
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return


def _skipped(text: str, start: int, end: int) -> Iterator[Token]:
    if _BETWEEN_LEAVES.fullmatch(text, start, end):
        return
    for run in _SKIPPED.finditer(text, start, end):
        yield Token("error", run[0], run.start(), run.end())


def canonical(text: str) -> str:
    """The text a fingerprint is of, wherever it stands: shifted to column 0, no blank edges.

    CRLF becomes LF; blank lines at both ends go, and so does the final newline; the leading
    blanks that all lines with content share are removed. Relative indentation and trailing
    blanks stay.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip(" \t\f")]
    if not filled:
        return ""
    margin = lines[filled[0]]
    margin = margin[: len(margin) - len(margin.lstrip(" \t"))]
    for number in filled:
        margin = _shared_start(margin, lines[number])
    return "\n".join(
        line[len(_shared_start(margin, line)) :] for line in lines[filled[0] : filled[-1] + 1]
    )


def _shared_start(margin: str, line: str) -> str:
    while not line.startswith(margin):
        margin = margin[:-1]
    return margin


def text_fingerprint(text: str) -> str:
    """The sha256 (hex) of the canonical text in UTF-8."""
    return hashlib.sha256(canonical(text).encode()).hexdigest()


# Python's names, numbers and operators (reference, "Lexical analysis"). Leaves that touch are cut
# anew with it: around an ERROR node the grammar cuts "->" in two.
_PIECES = re.compile(
    r"0[xX][\da-fA-F_]+|0[bBoO][\d_]+"
    r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?[jJ]?"
    r"|\w+"
    r"|\.\.\.|->|:=|<>|(?:\*\*|//|<<|>>|[-+*/%@&|^<>=!])=?"
    r"|\S"
)


def token_fingerprint(text: str) -> str:
    """The sha256 (hex) of the canonical text's tokens without comments.

    It depends neither on how a grammar names its nodes nor on how it cuts what stands together:
    strings count whole, other text as Python cuts it, structure by its kind. Lengths go first,
    so that no two sequences read the same.

    Raises:
        AnnotateError: as `parse` does.
    """
    digest = hashlib.sha256()
    together: list[str] = []
    end = 0

    def close() -> None:
        for piece in _PIECES.findall("".join(together)):
            digest.update(_measured(piece))
        together.clear()

    for token in tokens(canonical(text)):
        if token.kind == "comment":
            continue
        if token.kind in _STRUCTURE or token.kind == "string" or token.start != end:
            close()
        if token.kind in _STRUCTURE:
            digest.update(b"%s;" % token.kind.encode())
        elif token.kind == "string":
            digest.update(_measured(token.text))
        else:
            together.append(token.text)
        end = token.end
    close()
    return digest.hexdigest()


def _measured(text: str) -> bytes:
    content = text.encode()
    return b"%d:%s" % (len(content), content)
