"""A tree from a folder that the user names: for upstream's own developers, and for tests.

Taken are regular files, hidden ones (``.pre-commit-config.yaml``) among them. Left out are
symbolic links, hidden folders (``.git``, ``.venv``, ``.tox``), ``__pycache__``, virtual
environments under any name, and names that are not safe paths.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from annotate.errors import AnnotateError, Exit
from annotate.location import is_safe_path
from annotate.pin import Pin
from annotate.upstream.store import unavailable
from annotate.upstream.tree import Tree, TreeFile, blob_id


def read(pin: Pin, path: Path) -> Tree:
    """List the files below a folder as they are now; each is read when it is asked for.

    Raises:
        AnnotateError: there is no such folder, or it is the inside of a git repository.
    """
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise unavailable(
            pin,
            f"the source folder {path} {what}",
            "Give the folder that holds a checkout of the upstream repository.",
        )
    if (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir():
        raise unavailable(
            pin,
            f"{path} is a git directory, not a folder of source files",
            f'Set repository = "{path.resolve().as_uri()}" and let git read the commit from it.',
        )
    files = _FolderFiles(path)
    return Tree(pin, "folder", f"folder {path}", files, files.read_blob)


class _FolderFiles(Mapping[str, TreeFile]):
    """Path → file; listing reads no file, looking one up reads and hashes that one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._paths = dict.fromkeys(sorted(_walk(root)))
        self._path_of_blob: dict[str, str] = {}

    def __getitem__(self, path: str) -> TreeFile:
        if path not in self._paths:
            raise KeyError(path)
        with self._reading(path) as file:
            size = os.fstat(file.fileno()).st_size
            blob = _blob_id_in_pieces(file, size)
        self._path_of_blob[blob] = path
        return TreeFile(blob, size)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, path: object) -> bool:
        return path in self._paths

    def read_blob(self, blob: str) -> bytes:
        """Read a file that was looked up before.

        Raises:
            AnnotateError: the file is gone, or is no longer what it was when it was looked up.
        """
        path = self._path_of_blob[blob]
        with self._reading(path) as file:
            data = file.read()
        if blob_id(data) != blob:
            raise AnnotateError(
                f"{self._root / path} changed while it was being read",
                "Run the command again.",
                exit_code=Exit.NOTHING_JUDGED,
            )
        return data

    @contextlib.contextmanager
    def _reading(self, path: str) -> Iterator[BinaryIO]:
        try:
            with (self._root / path).open("rb") as file:
                yield file
        except OSError as error:
            raise _unreadable(self._root / path, error) from error


def _walk(root: Path) -> Iterator[str]:
    folders = [(root, "")]
    while folders:
        folder, prefix = folders.pop()
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError as error:
            raise _unreadable(folder, error) from error
        for entry in found:
            path = prefix + entry.name
            if not is_safe_path(path):
                continue
            if entry.is_file(follow_symlinks=False):
                yield path
            elif entry.is_dir(follow_symlinks=False) and not _is_left_out(entry):
                folders.append((Path(entry.path), f"{path}/"))


def _blob_id_in_pieces(file: BinaryIO, size: int) -> str:
    """Compute the blob id of a file that may be too large to be held."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def _unreadable(path: Path, error: OSError) -> AnnotateError:
    return AnnotateError(
        f"{path} cannot be read: {error.strerror}",
        "Check that it is still there and may be read, then run the command again.",
        exit_code=Exit.NOTHING_JUDGED,
    )


def _is_left_out(folder: os.DirEntry[str]) -> bool:
    return (
        folder.name.startswith(".")
        or folder.name == "__pycache__"
        # What may not be looked into is no virtual environment, but an error where it is read.
        or os.path.isfile(f"{folder.path}/pyvenv.cfg")  # noqa: PTH113
    )
