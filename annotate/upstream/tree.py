"""A tree: the files of one upstream at one pin, and where their bytes were read."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin

MAX_FILE_BYTES = 2_000_000
"""Larger files are listed but not read: no source worth quoting is larger, and parsers suffer."""

SourceName = Literal["git", "release", "folder"]


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One regular file: its git blob id and its size in bytes."""

    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Tree:
    """The files at a pin.

    Attributes:
        pin: what was asked for.
        source: what filled it: the commit itself (``git``), a ``release``, or a ``folder``.
        identity: what was read, for people: ``commit f53a2173…``, ``release autograd 1.9.1``.
        files: path (relative, forward slashes) → file, sorted by path.
        read_blob: blob id → bytes.
        from_store: whether the files were already in the store, so that nothing was fetched.
    """

    pin: Pin
    source: SourceName
    identity: str
    files: Mapping[str, TreeFile]
    read_blob: Callable[[str], bytes]
    from_store: bool = False

    @property
    def is_stand_in(self) -> bool:
        """Whether a release stands in for the pinned commit."""
        return self.source == "release" and bool(self.pin.commit)

    @property
    def is_pinned_commit(self) -> bool:
        """Whether the bytes are those of the pinned commit, so that its line numbers hold."""
        return self.source == "git"

    @property
    def recorded_as(self) -> str:
        """What a record says its fingerprints were read from."""
        if self.is_pinned_commit:
            return self.pin.commit
        # Where a folder lies is nobody else's business.
        return "folder" if self.source == "folder" else self.identity

    def read(self, path: str) -> bytes:
        """The bytes of one file.

        Raises:
            AnnotateError: there is no such file, or it is larger than `MAX_FILE_BYTES`.
        """
        file = self.files.get(path)
        if file is None:
            raise AnnotateError(f"{self.identity} has no file {path}")
        if file.size > MAX_FILE_BYTES:
            raise AnnotateError(
                f"{path} has {file.size:,} bytes; files over {MAX_FILE_BYTES:,} are not read",
                exit_code=Exit.NOTHING_JUDGED,
            )
        return self.read_blob(file.blob)


def blob_id(data: bytes, *, algorithm: str = "sha1") -> str:
    """The id git gives these bytes as a blob (gitformat-pack: a header, then the content)."""
    digest = hashlib.new(algorithm, b"blob %d\0" % len(data), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
