"""Bytes → text → tree-sitter tree → leaf tokens, and the fingerprints made of them.

The only module that imports tree-sitter.
"""

import bisect
import codecs
import hashlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Point, Tree

from annotate.errors import AnnotateError, Exit
from annotate.upstream.tree import MAX_FILE_BYTES

__all__ = [
    "GRAMMAR_VERSION",
    "Node",
    "Token",
    "Tree",
    "canonical",
    "decode",
    "decode_text",
    "lone_continuations",
    "parse",
    "text_fingerprint",
    "token_fingerprint",
    "tokens",
]

MAX_INDENTS = 100
"""Python's own limit (``MAXINDENT`` of its tokenizer); the grammar's scanner crashes at 511."""

MAX_INDENT_COLUMNS = 10_000
"""The grammar's scanner keeps columns in 16 bits: a line at column 65,536 is lost silently."""

MAX_PARSE_SECONDS = 10.0
"""A file of `MAX_FILE_BYTES` takes under a second; runs of comment lines take quadratic time."""

_READ_BYTES = 1 << 20
"""Bytes per read callback: from here on up, as fast as handing the parser the bytes at once."""

_LANGUAGE = Language(tree_sitter_python.language())

GRAMMAR_VERSION = ".".join(map(str, _LANGUAGE.semantic_version or ()))
"""Of the grammar that is installed; what was derived with another one is derived again."""

# PEP 263: the cookie stands in line 1 or 2; in line 2 only if line 1 is blank or a comment.
_COOKIE = re.compile(rb"[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(?:#[^\n]*)?\r?(?:\n|$)")
_CODECS = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "iso8859-1": "iso8859-1", "ascii": "ascii"}


def decode(data: bytes) -> str:
    """Decode Python source per PEP 263, with newlines made LF and a UTF-8 BOM dropped.

    Raises:
        AnnotateError: the bytes cannot be read as the running grammar would have to read them:
            too large, another encoding than UTF-8, Latin-1 or ASCII, undecodable, a NUL, a lone
            carriage return, or indented beyond `MAX_INDENTS` or `MAX_INDENT_COLUMNS`.
    """
    _refuse_size(data)
    bom = data.startswith(codecs.BOM_UTF8)
    if bom:
        data = data.removeprefix(codecs.BOM_UTF8)
    codec, line = _declared_codec(data)
    if bom and codec != "utf-8":
        raise _unreadable(line, f"a UTF-8 byte order mark, yet a declared encoding {codec}")
    text = _decoded(data, codec)
    _refuse_indentation(text)
    return text


def decode_text(data: bytes) -> str:
    """Decode a file that need not be Python: UTF-8 only, newlines made LF, no BOM.

    Raises:
        AnnotateError: too large, not UTF-8, or with a NUL or a lone carriage return.
    """
    _refuse_size(data)
    return _decoded(data.removeprefix(codecs.BOM_UTF8), "utf-8")


def _refuse_size(data: bytes) -> None:
    if len(data) > MAX_FILE_BYTES:
        raise AnnotateError(
            f"{len(data):,} bytes; files over {MAX_FILE_BYTES:,} are not read",
            exit_code=Exit.NOTHING_JUDGED,
        )


def _declared_codec(data: bytes) -> tuple[str, int]:
    """The codec a PEP 263 cookie names (or UTF-8), and the line of the cookie."""
    start = 0
    for line in (1, 2):
        if cookie := _COOKIE.match(data, start):
            name = cookie[1].decode("ascii", "replace")
            return _supported_codec(name, line), line
        blank = _BLANK_OR_COMMENT.match(data, start)
        if blank is None:
            break
        start = blank.end()
    return "utf-8", 1


def _supported_codec(name: str, line: int) -> str:
    # As Python's tokenizer does (PEP 263), "utf-8-unix" and "latin-1-dos" name the encoding.
    short = name[:12].lower().replace("_", "-")
    if short == "utf-8" or short.startswith("utf-8-"):
        return "utf-8"
    if re.match(r"(?:latin-1|iso-8859-1|iso-latin-1)(?:-|$)", short):
        return "iso8859-1"
    try:
        codec = _CODECS.get(codecs.lookup(name).name)
    except LookupError:
        codec = None
    if codec is None:
        raise _unreadable(
            line,
            f"the declared encoding {name} is not read",
            "Only UTF-8, Latin-1 and ASCII source is judged.",
        )
    return codec


def _decoded(data: bytes, codec: str) -> str:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        raise _unreadable(line, f"byte 0x{byte:02x} is not {codec}") from error
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            raise _unreadable(
                _line_of(text, text.index("\r")),
                "a carriage return that ends no line",
                "Python ends the line there and other programs do not; convert the line ends.",
            )
    if "\0" in text:
        raise _unreadable(_line_of(text, text.index("\0")), "a NUL character")
    return text


def _line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _unreadable(line: int, why: str, hint: str = "") -> AnnotateError:
    return AnnotateError(f"line {line}: {why}", hint, exit_code=Exit.NOTHING_JUDGED)


# The grammar's scanner counts a tab as 8 columns, goes back to 0 at a form feed or carriage
# return, and adds up blanks over lines that hold nothing but a continuation. Only a text with a
# line 100 columns in, a carriage return or such a line is looked at line by line; few are.
_DEEP_LINE = re.compile(r"^(?: {100}|[ \f]*\t[ \t\f]{12})", re.MULTILINE)
_CONTINUATION = re.compile(r"\\\r?\n")
_CONTINUES = re.compile(r"\\(?=\r?\n)")
_LONE_CONTINUATION = re.compile(r"^[ \t\f]*\\$", re.MULTILINE)
_INDENT = re.compile(r"^(?:[ \t\f\r]|\\\r?\n)*(?=[^ \t\f\r\n])", re.MULTILINE)


def lone_continuations(text: str) -> list[int]:
    """The offsets of the backslashes that stand alone on their line.

    Where such a line begins a statement, Python takes its indent and the grammar adds it to the
    next line's: a method then becomes nested in the one before, without an ERROR node.
    """
    if not _CONTINUES.search(text):
        return []
    return [match.end() - 1 for match in _LONE_CONTINUATION.finditer(text)]


def _refuse_indentation(text: str) -> None:
    """Refuse indentation that crashes the parser or makes it lose lines without an error."""
    spaces = " " * MAX_INDENTS
    if not (
        ("\n" + spaces in text or text.startswith(spaces))
        or ("\t" in text and _DEEP_LINE.search(text))
        or "\r" in text
        or lone_continuations(text)
    ):
        return
    # Which lines lie in strings or brackets is not known before parsing, but the open blocks of
    # a line are a strictly increasing subsequence of the columns up to it: bound the longest
    # (patience sorting: the length is that of the list of smallest last members).
    smallest_last: list[int] = []
    for indent in _INDENT.finditer(text):
        column = _scanned_width(indent[0])
        if column > MAX_INDENT_COLUMNS:
            line = _line_of(text, indent.end())
            raise _unreadable(line, f"indented by more than {MAX_INDENT_COLUMNS:,} columns")
        place = bisect.bisect_left(smallest_last, column)
        smallest_last[place : place + 1] = [column]
        if len(smallest_last) > MAX_INDENTS + 1:
            line = _line_of(text, indent.end())
            raise _unreadable(line, f"more than {MAX_INDENTS} levels of indentation")


def _scanned_width(blanks: str) -> int:
    """The column the grammar's scanner takes a line to start in."""
    last = re.split(r"[\f\r]", _CONTINUATION.sub("", blanks))[-1]
    return last.count(" ") + 8 * last.count("\t")


def parse(text: str) -> Tree:
    """Parse Python text (a file or a fragment); syntax errors become ERROR nodes of the tree.

    Raises:
        AnnotateError: the text would crash the parser, or takes over `MAX_PARSE_SECONDS`.
    """
    _refuse_indentation(text)
    source = text.encode()
    clock = time.monotonic
    deadline = clock() + MAX_PARSE_SECONDS

    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _READ_BYTES]

    def give_up(_offset: int, _has_error: bool) -> bool:
        return clock() > deadline

    try:
        return Parser(_LANGUAGE).parse(read, progress_callback=give_up)
    except ValueError as error:
        raise AnnotateError(
            f"parsing was given up after {MAX_PARSE_SECONDS:g} seconds",
            "Thousands of comment or continuation lines in a row do that.",
            exit_code=Exit.NOTHING_JUDGED,
        ) from error


@dataclass(frozen=True, slots=True)
class Token:
    """A leaf of the syntax, or a mark of structure.

    Attributes:
        kind: tree-sitter's name: ``identifier``, ``integer``, ``string`` (an f-string too),
            ``comment``, the keyword or operator itself (``def``, ``+=``); ``error`` for what the
            parser skipped; ``newline``, ``indent`` and ``dedent`` for structure.
        text: as it stands in the source; empty for structure.
        start: character offset into the text.
        end: character offset behind it. Structure is empty, but ``;`` is a newline 1 long.
    """

    kind: str
    text: str
    start: int
    end: int


_STRUCTURE = frozenset({"newline", "indent", "dedent"})
_CLAUSES = frozenset(
    {
        *("async", "case", "class", "def", "elif", "else", "except"),
        *("finally", "for", "if", "try", "while", "with"),
    }
)
# What stands between leaves; all else that the parser skipped becomes an ``error`` token.
_BETWEEN_LEAVES = re.compile(r"(?:[ \t\f\r\n]|\\\r?\n)+")
_SKIPPED = re.compile(r"(?:(?!\\\r?\n)[^ \t\f\r\n])+")
_BLANKS = re.compile(r"[ \t\f]*")


def tokens(text: str) -> list[Token]:
    """The leaf tokens of a piece of Python: a definition, or any lines out of one.

    Structure follows Python's lexical rules, not the tree, so that it holds for fragments too:
    the statements of ``if a: b; c`` get the same ``newline``, ``indent`` and ``dedent`` as if
    each stood on a line of its own; blank lines, continuation lines and the width of indents
    leave no trace. Every character outside whitespace and backslash-newline lies in one token.

    Raises:
        AnnotateError: as `parse` does.
    """
    leaves = _leaves(text)
    layout = _Layout(text, leaves)
    for leaf in leaves:
        layout.add(leaf)
    layout.finish()
    return layout.tokens


def _leaves(text: str) -> list[Token]:
    """The leaves in order, strings whole, with ``error`` tokens for what no leaf covers."""
    source = text.encode()
    leaves: list[Token] = []
    byte = offset = 0
    for kind, first_byte, end_byte in _leaf_spans(parse(text)):
        if first_byte < byte or first_byte == end_byte:
            continue
        start = offset + len(source[byte:first_byte].decode())
        end = start + len(source[first_byte:end_byte].decode())
        leaves.extend(_skipped(text, offset, start))
        leaves.append(Token(kind, text[start:end], start, end))
        byte, offset = end_byte, end
    leaves.extend(_skipped(text, offset, len(text)))
    return leaves


def _leaf_spans(tree: Tree) -> Iterator[tuple[str, int, int]]:
    """(kind, first byte, end byte) of every leaf, a string counting as one."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        assert node is not None
        kind = node.type
        if kind == "string" or not cursor.goto_first_child():
            # A leaf that is an ERROR may span blanks, a continuation a NUL: see `_skipped`.
            if kind not in ("ERROR", "line_continuation"):
                yield kind, node.start_byte, node.end_byte
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return


def _skipped(text: str, start: int, end: int) -> Iterator[Token]:
    if _BETWEEN_LEAVES.fullmatch(text, start, end):
        return
    for run in _SKIPPED.finditer(text, start, end):
        yield Token("error", run[0], run.start(), run.end())


def _width(blanks: str) -> int:
    """The column after these blanks: tabs to multiples of 8, a form feed back to 0, as Python."""
    return len(blanks.rpartition("\f")[2].expandtabs(8))


class _Layout:
    """Adds the structure to leaves: logical lines, and the blocks their indents open and close."""

    def __init__(self, text: str, leaves: list[Token]) -> None:
        self.tokens: list[Token] = []
        self._text = text
        self._end = 0
        self._brackets = _unopened_brackets(leaves)
        self._columns: list[int] = []
        self._new_line: int | None = None if self._brackets else 0
        self._statement_is_open = False
        self._suite_is_inline = False
        self._awaits_colon = False
        self._after_colon = False
        self._lambdas = 0

    def add(self, leaf: Token) -> None:
        self._see_newline(leaf.start)
        self._end = leaf.end
        if leaf.kind == "comment":
            self.tokens.append(leaf)
            return
        if self._new_line is not None and not self._brackets:
            self._start_line(leaf)
        elif self._after_colon:
            self._mark("newline", leaf.start)
            self._mark("indent", leaf.start)
            self._suite_is_inline = True
        self._after_colon = False
        if leaf.kind == ";" and not self._brackets:
            self.tokens.append(Token("newline", "", leaf.start, leaf.end))
            self._statement_is_open = False
            return
        self.tokens.append(leaf)
        self._statement_is_open = True
        self._follow(leaf.kind)

    def finish(self) -> None:
        self._end_line()
        for _ in self._columns[1:]:
            self._mark("dedent", self._end)

    def _mark(self, kind: str, offset: int) -> None:
        self.tokens.append(Token(kind, "", offset, offset))

    def _see_newline(self, start: int) -> None:
        """End the logical line if the blanks before ``start`` do."""
        if self._brackets or not (gap := self._text[self._end : start]):
            return
        joined = _CONTINUATION.sub(lambda match: " " * len(match[0]), gap)
        newline = joined.rfind("\n")
        if newline >= 0:
            self._end_line()
            self._new_line = self._end + newline + 1

    def _end_line(self) -> None:
        if self._statement_is_open:
            self._mark("newline", self._end)
        if self._suite_is_inline:
            self._mark("dedent", self._end)
        self._statement_is_open = self._suite_is_inline = False
        self._awaits_colon = self._after_colon = False
        self._lambdas = 0

    def _start_line(self, leaf: Token) -> None:
        blanks = _BLANKS.match(self._text, self._new_line or 0)
        column = _width(blanks[0] if blanks else "")
        self._new_line = None
        self._awaits_colon = leaf.text in _CLAUSES
        columns = self._columns
        while columns and column < columns[-1]:
            columns.pop()
            self._mark("dedent", leaf.start)
        if columns and column > columns[-1]:
            self._mark("indent", leaf.start)
        if not columns or column > columns[-1]:
            columns.append(column)

    def _follow(self, kind: str) -> None:
        """Keep count of the brackets, and find the colon that opens a clause's block."""
        if kind in ("(", "[", "{"):
            self._brackets += 1
        elif kind in (")", "]", "}"):
            self._brackets = max(0, self._brackets - 1)
        elif self._awaits_colon and not self._brackets:
            if kind == "lambda":
                self._lambdas += 1
            elif kind == ":" and self._lambdas:
                self._lambdas -= 1
            elif kind == ":":
                self._awaits_colon = False
                self._after_colon = True


def _unopened_brackets(leaves: list[Token]) -> int:
    """How many brackets are open before the first leaf, as in the last lines of a call."""
    depth = lowest = 0
    for leaf in leaves:
        if leaf.kind in ("(", "[", "{"):
            depth += 1
        elif leaf.kind in (")", "]", "}"):
            depth -= 1
            lowest = min(lowest, depth)
    return -lowest


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


def token_fingerprint(text: str) -> str:
    """The sha256 (hex) of the canonical text's tokens without comments.

    Of leaves the text counts and of structure the kind, so that renamed grammar nodes change
    nothing; lengths go first, so that no two sequences of tokens read the same.

    Raises:
        AnnotateError: as `parse` does.
    """
    digest = hashlib.sha256()
    for token in tokens(canonical(text)):
        if token.kind in _STRUCTURE:
            digest.update(b"%s;" % token.kind.encode())
        elif token.kind != "comment":
            content = token.text.encode()
            digest.update(b"%d:%s" % (len(content), content))
    return digest.hexdigest()
