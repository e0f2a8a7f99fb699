"""A tree from a folder that the user names: for upstream's own developers, and for tests.

Taken are regular files, hidden ones (``.pre-commit-config.yaml``) among them. Left out are
symbolic links, hidden folders (``.git``, ``.venv``, ``.tox``), ``__pycache__``, virtual
environments under any name, and names that are not safe paths.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

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
        data = self._read(path)
        blob = blob_id(data)
        self._path_of_blob[blob] = path
        return TreeFile(blob, len(data))

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
        data = self._read(path)
        if blob_id(data) != blob:
            raise AnnotateError(
                f"{self._root / path} changed while it was being read",
                "Run the command again.",
                exit_code=Exit.NOTHING_JUDGED,
            )
        return data

    def _read(self, path: str) -> bytes:
        try:
            return (self._root / path).read_bytes()
        except OSError as error:
            raise AnnotateError(
                f"{self._root / path} cannot be read: {error.strerror}",
                "Run the command again if the file was just removed.",
                exit_code=Exit.NOTHING_JUDGED,
            ) from error


def _walk(root: Path) -> Iterator[str]:
    folders = [(os.fspath(root), "")]
    while folders:
        folder, prefix = folders.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if not is_safe_path(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if not _is_left_out(entry):
                        folders.append((entry.path, f"{path}/"))
                elif entry.is_file(follow_symlinks=False):
                    yield path


def _is_left_out(folder: os.DirEntry[str]) -> bool:
    return (
        folder.name.startswith(".")
        or folder.name == "__pycache__"
        or (Path(folder.path) / "pyvenv.cfg").is_file()
    )
