"""The members of a source distribution, read one after the other within limits, never extracted.

An archive's hash says that it is the pinned one, not that it is harmless: bytes are counted as
they inflate, whatever the headers claim, and only regular files have content here.
"""

import gzip
import hashlib
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from annotate.errors import AnnotateError
from annotate.location import is_safe_path
from annotate.pin import Pin
from annotate.upstream.store import Entry, unavailable
from annotate.upstream.tree import MAX_FILE_BYTES, TreeFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_INFLATED_BYTES = 500_000_000
MAX_MEMBERS = 50_000

_FILE_TYPE = 0o170000
_REGULAR = 0o100000


@dataclass(frozen=True, slots=True)
class Archive:
    """A downloaded source distribution: where it is, and its name, whose ending is its format."""

    path: Path
    name: str
    max_inflated_bytes: int = MAX_INFLATED_BYTES
    max_members: int = MAX_MEMBERS

    def entries(self, pin: Pin, left_out: list[str]) -> Iterator[Entry]:
        """Read the regular files, without the one folder that wraps them all.

        Args:
            pin: named in error messages.
            left_out: takes the paths of links, devices and unsafe names, each with the reason.

        Raises:
            AnnotateError: the archive is damaged, over the limits, or no source distribution.
        """
        top: str | None = None
        try:
            for number, member in enumerate(self._members(pin)):
                if number >= self.max_members:
                    raise _TooLargeError(f"it has more than {self.max_members:,} files")
                folder, _, path = member.name.partition("/")
                if member.content is None:
                    left_out.append(f"{path or folder!a} (not a regular file)")
                elif not is_safe_path(member.name) or not _is_text(member.name):
                    left_out.append(f"{member.name!a} (not a safe path)")
                elif not path or top not in (None, folder):
                    raise self._no_source_distribution(
                        pin, f"{member.name} is not in the one folder that holds its files"
                    )
                else:
                    top = folder
                    blob, data = _read(member.content, member.size)
                    yield path, TreeFile(blob, member.size), data
        except _TooLargeError as error:
            raise unavailable(
                pin, f"{self.name} is refused: {error}", "Pin a smaller release."
            ) from error
        except (*_DAMAGE, OSError) as error:
            raise unavailable(
                pin, f"{self.name} is damaged: {error}", "Pin another release."
            ) from error
        if top is None:
            raise self._no_source_distribution(pin, "it holds no file")

    def _members(self, pin: Pin) -> "Iterator[_Member]":
        if self.name.endswith((".tar.gz", ".tgz")):
            return _tar_members(self.path, self.max_inflated_bytes)
        if self.name.endswith(".zip"):
            return _zip_members(self.path, self.max_inflated_bytes)
        raise self._no_source_distribution(pin, "it is neither a .tar.gz nor a .zip")

    def _no_source_distribution(self, pin: Pin, why: str) -> AnnotateError:
        return unavailable(
            pin, f"{self.name} is no source distribution: {why}", "Pin another release."
        )


@dataclass(frozen=True, slots=True)
class _Member:
    """One entry that is not a folder; ``content`` is None for what is no regular file."""

    name: str
    size: int
    content: IO[bytes] | None


class _TooLargeError(Exception):
    """The archive is beyond a limit."""


_DAMAGE = (
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the standard library raises over an archive it cannot read (RuntimeError: encrypted)."""


class _Counted(io.RawIOBase):
    """A stream that fails once more than so many bytes came out of it."""

    def __init__(self, stream: gzip.GzipFile, limit: int) -> None:
        self._stream, self._limit, self._left = stream, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        count = self._stream.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise _TooLargeError(f"it inflates to more than {self._limit:,} bytes")
        return count


class _StrictHeader(tarfile.TarInfo):
    """A header whose damage is an error, where tarfile would take it for the archive's end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):
                raise  # a block of zeros is the regular end
            raise tarfile.ReadError(str(error)) from error


def _tar_members(path: Path, max_inflated_bytes: int) -> Iterator[_Member]:
    with (
        gzip.open(path) as inflated,
        io.BufferedReader(_Counted(inflated, max_inflated_bytes)) as counted,
        tarfile.open(fileobj=counted, mode="r|", tarinfo=_StrictHeader) as tar,
    ):
        for info in tar:
            if info.isreg() and not info.issparse():
                yield _Member(info.name, info.size, tar.extractfile(info))
            elif not info.isdir():
                yield _Member(info.name, 0, None)
        while counted.read(1 << 16):
            pass  # on to the checksum of the compression, which stands at its very end


def _zip_members(path: Path, max_inflated_bytes: int) -> Iterator[_Member]:
    left = max_inflated_bytes
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            kind = (info.external_attr >> 16) & _FILE_TYPE
            if info.is_dir():
                continue
            if kind not in (0, _REGULAR):
                yield _Member(info.filename, 0, None)
                continue
            left -= info.file_size
            if left < 0:
                raise _TooLargeError(f"it inflates to more than {max_inflated_bytes:,} bytes")
            with file.open(info) as content:
                yield _Member(info.filename, info.file_size, content)


def _read(content: IO[bytes], size: int) -> tuple[str, bytes | None]:
    """Compute a member's blob id; its bytes come along unless there are too many to be read."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    kept = io.BytesIO()
    left = size
    while chunk := content.read(1 << 16):
        left -= len(chunk)
        digest.update(chunk)
        if size <= MAX_FILE_BYTES:
            kept.write(chunk)
    if left:
        raise EOFError(f"{left:,} bytes of a member are missing")
    return digest.hexdigest(), kept.getvalue() if size <= MAX_FILE_BYTES else None


def _is_text(name: str) -> bool:
    """Whether a name was UTF-8 in the archive (tarfile escapes other bytes as surrogates)."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
