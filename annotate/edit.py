"""Edits to the project's own files: described first, written atomically later."""

import codecs
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annotate.errors import AnnotateError


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace whole lines ``first`` to ``last`` (from 1, both included) of a page by ``text``."""

    path: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What would make a claim true again: one sentence for people, edits for machines."""

    description: str
    edits: tuple[Edit, ...] = ()


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply edits to the bytes of the one file they are for; every byte outside of them stays.

    New lines end as the first of the lines they replace, the last one of them as the last.

    Raises:
        AnnotateError: edits overlap, or name lines that the file does not have.
    """
    lines = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    start_of_next = len(lines) + 1
    for edit in sorted(edits, key=lambda edit: edit.first, reverse=True):
        if not 1 <= edit.first <= edit.last < start_of_next:
            raise AnnotateError(
                f"{edit.path}: lines {edit.first}-{edit.last} cannot be edited: they overlap with "
                "another edit, or the file does not have them",
                "Run the check again; the page may have changed since.",
            )
        start_of_next = edit.first
        # The last line of a file may end without a line end, and says nothing about others.
        is_last_of_file = edit.first == len(lines) > 1
        first_end = _carriage_return(lines[edit.first - (2 if is_last_of_file else 1)])
        last_end = _carriage_return(lines[edit.last - 1])
        *new, last = edit.text.encode().split(b"\n")
        replacement = [line + first_end for line in new] + [last + last_end]
        lines[edit.first - 1 : edit.last] = replacement
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    return bom + b"\n".join(lines)


def _carriage_return(line: bytes) -> bytes:
    return b"\r" if line.endswith(b"\r") else b""


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old bytes or the new, nothing between.

    Raises:
        AnnotateError: it cannot be written.
    """
    try:
        _write_atomically(path, data)
    except OSError as error:
        raise AnnotateError(
            f"{path} cannot be written: {error.strerror}", "Check the permissions of its folder."
        ) from error


def _write_atomically(path: Path, data: bytes) -> None:
    # Through a link to the file it names: the link itself is the author's.
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
