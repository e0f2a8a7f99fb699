"""Bytes → text, as Python reads its source; refuses what the parser cannot be trusted with."""

import bisect
import codecs
import re

from annotate.errors import AnnotateError, Exit
from annotate.upstream.tree import MAX_FILE_BYTES

MAX_INDENTS = 100
"""Python's own limit (``MAXINDENT`` of its tokenizer); the grammar's scanner crashes at 511."""

MAX_INDENT_COLUMNS = 10_000
"""The grammar's scanner keeps columns in 16 bits: a line at column 65,536 is lost silently."""

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
    refuse_indentation(text)
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
CONTINUATION = re.compile(r"\\\r?\n")
_CONTINUES = re.compile(r"\\(?=\r?\n)")
_INDENT = re.compile(r"^(?:[ \t\f\r]|\\\r?\n)*+", re.MULTILINE)


def lone_continuations(text: str) -> list[int]:
    """The offsets of the backslashes that stand alone on their line.

    Where such a line begins a statement, Python takes its indent and the grammar adds it to the
    next line's: a method then becomes nested in the one before, without an ERROR node.
    """
    if "\\" not in text:
        return []
    offsets = (match.start() for match in _CONTINUES.finditer(text))
    return [at for at in offsets if not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t\f\r")]


def refuse_indentation(text: str) -> None:
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
        if text[indent.end() : indent.end() + 1] in ("", "\n"):
            continue
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
    last = re.split(r"[\f\r]", CONTINUATION.sub("", blanks))[-1]
    return last.count(" ") + 8 * last.count("\t")
