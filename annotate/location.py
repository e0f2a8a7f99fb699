"""Places: a line of a file, and the two ways an author names a piece of upstream source."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from annotate.errors import AnnotateError


@dataclass(frozen=True, order=True, slots=True)
class Location:
    """One line of a file; ``line`` counts from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class SymbolReference:
    """``file::qualified.name``, the file as a path or as a dotted module, as it was written."""

    file: str
    qualname: str

    def __str__(self) -> str:
        return f"{self.file}::{self.qualname}"

    def paths(self) -> tuple[str, ...]:
        """The tree paths the file part can mean, most likely first."""
        if "/" in self.file or self.file.endswith((".py", ".pyi")):
            return (self.file,)
        stem = self.file.replace(".", "/")
        candidates = (f"{stem}.py", f"{stem}/__init__.py")
        return candidates + tuple(f"src/{candidate}" for candidate in candidates)


@dataclass(frozen=True, slots=True)
class RangeReference:
    """Lines of a file that need not be Python: ``README.md#L10-L20``, ``README.md#L10``.

    ``first`` and ``last`` count from 1, both included; ``last`` is None for "to the end".
    """

    file: str
    first: int
    last: int | None

    def __str__(self) -> str:
        if self.last is None:
            return self.file if self.first == 1 else f"{self.file}#L{self.first}-"
        if self.last == self.first:
            return f"{self.file}#L{self.first}"
        return f"{self.file}#L{self.first}-L{self.last}"


Reference = SymbolReference | RangeReference

_RANGE = re.compile(r"(?P<file>[^#]+)#L(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9}))?")


def parse_reference(text: str) -> Reference:
    """Read ``file::symbol``, ``file#L10-L20`` or a bare file name.

    Raises:
        AnnotateError: the text is none of these, or its path is absolute or leaves the tree.
    """
    text = text.strip()
    file, separator, qualname = text.partition("::")
    if separator:
        if not file.strip() or not qualname.strip():
            raise AnnotateError(
                f"“{text}” names no symbol",
                "Write path/to/file.py::Class.method.",
            )
        reference: Reference = SymbolReference(file.strip(), qualname.strip())
    elif match := _RANGE.fullmatch(text):
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        if first < 1 or last < first:
            raise AnnotateError(
                f"“{text}” is not a line range", "Lines count from 1: README.md#L10-L20."
            )
        reference = RangeReference(match["file"], first, last)
    elif text and "#" not in text:
        reference = RangeReference(text, 1, None)
    else:
        raise AnnotateError(
            f"“{text}” names no source",
            "Write path/to/file.py::symbol, or path/to/file#L10-L20 for other text.",
        )
    refuse_unsafe_path(reference.file)
    return reference


def is_safe_path(path: str) -> bool:
    """Whether a path stays inside the tree: relative, no ``..``, no backslash, no control byte."""
    return bool(path) and not (
        path.startswith("/")
        or "\\" in path
        or any(ord(character) < 32 or ord(character) == 127 for character in path)
        or any(part in ("", ".", "..", ".git") for part in path.split("/"))
        or PurePosixPath(path).is_absolute()
    )


def refuse_unsafe_path(path: str) -> None:
    """Raise `AnnotateError` for a path that is not inside the tree."""
    if not is_safe_path(path):
        raise AnnotateError(
            f"the path “{path}” is not inside the upstream tree",
            "Give it relative to the root of the upstream repository, with forward slashes.",
        )
