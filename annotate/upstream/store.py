"""The store: what was read upstream before, kept in the user's cache by content.

Layout, below the root: ``blobs/ab/cdef…`` holds file contents under their git blob ids,
``trees/`` and ``releases/`` hold one manifest each per commit and per stand-in, ``derived/`` what
was computed from a blob, and ``tmp/`` what is being written. A manifest is put in place last, by
one rename, so a killed fetch leaves no tree behind. Nothing is flushed to disk one file at a time:
sizes are compared when a tree is opened and contents when a blob is read, so that what a power
cut took counts as absent.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol

import platformdirs

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream.tree import MAX_FILE_BYTES, Tree, TreeFile, blob_id

_FORMAT = 1
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ABANDONED_AFTER_SECONDS = 24 * 3600

Entry = tuple[str, TreeFile, bytes | None]
"""A path, its file, and its bytes; None where the store has them or they are not to be kept."""


class Progress(Protocol):
    """Shows how far a fetch has come: one task at a time, each started and stopped.

    Calls may come from another thread.
    """

    def start(self, description: str, total: int | None) -> None:
        """Begin a task of that many objects or bytes; None where that is not known."""

    def advance(self, amount: int) -> None:
        """Go that many objects or bytes further."""

    def stop(self) -> None:
        """End the task, whether or not it came to its total; without a task, do nothing."""


def unavailable(pin: Pin, message: str, hint: str) -> AnnotateError:
    """Make the error that says why a source cannot fill the tree of a pin."""
    return AnnotateError(f"{pin.name}: {message}", hint, exit_code=Exit.NOTHING_JUDGED)


class Store:
    """A content-addressed cache that several processes may read and fill at once.

    ``root`` defaults to the folder named by the environment variable ``ANNOTATE_CACHE``, or else
    to the user's cache folder.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root if root is not None else _default_root()).absolute()

    def tree(self, pin: Pin) -> Tree | None:
        """Open the pinned commit itself; None where it is not here as a whole."""
        return self._open(self._tree_manifest(pin), pin)

    def release_tree(self, pin: Pin) -> Tree | None:
        """Open the stand-in of the pin; None where it has none or that is not here as a whole."""
        manifest = self._release_manifest(pin)
        return None if manifest is None else self._open(manifest, pin)

    def left_out(self, tree: Tree) -> tuple[str, ...]:
        """List what a stored tree does not have although its source does, each with the reason."""
        manifest = self._manifest(tree.pin, tree.source)
        return tuple(json.loads(manifest.read_bytes())["left_out"])

    def has_blob(self, blob: str, size: int) -> bool:
        """Tell whether a blob of that size is here; only reading it looks at its content."""
        try:
            return self._blob_path(blob).stat().st_size == size
        except OSError:
            return False

    def read_blob(self, blob: str) -> bytes:
        """Read the bytes of a blob.

        Raises:
            AnnotateError: it is not in the store, or what is there has another id.
        """
        path = self._blob_path(blob)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AnnotateError(
                f"blob {blob} cannot be read from the store at {self.root}: {error.strerror}",
                "Run `annotate fetch`: it fetches what is missing.",
                exit_code=Exit.NOTHING_JUDGED,
            ) from error
        if blob_id(data, algorithm=object_algorithm(blob)) != blob:
            raise AnnotateError(
                f"{path} is damaged: its bytes are not those of blob {blob}",
                "Delete that file and run `annotate fetch`: it fetches what is missing.",
                exit_code=Exit.NOTHING_JUDGED,
            )
        return data

    def add_tree(
        self,
        pin: Pin,
        source: Literal["git", "release"],
        identity: str,
        entries: Iterable[Entry],
        left_out: Iterable[str] = (),
    ) -> Tree:
        """Keep a tree: its blobs first, its manifest last.

        Paths that differ only in case or Unicode form are left out on top of what the caller left
        out, since no two of them could be written side by side on every file system.

        Args:
            pin: what the tree is for.
            source: what filled it; a ``release`` is kept under the pin's release.
            identity: what was read, for people.
            entries: the files; taken one by one, and nothing is kept if taking one raises.
            left_out: paths that were not taken, each with the reason.

        Raises:
            AnnotateError: bytes do not have the id they came under, or the store cannot be
                written.
        """
        files: dict[str, TreeFile] = {}
        with self.temporary() as folder:
            waiting: dict[str, Path] = {}
            for path, file, data in entries:
                files[path] = file
                if data is None or file.blob in waiting:
                    continue
                if blob_id(data, algorithm=object_algorithm(file.blob)) != file.blob:
                    raise AnnotateError(
                        f"{path} of {identity} does not have the bytes of blob {file.blob}",
                        exit_code=Exit.NOTHING_JUDGED,
                    )
                waiting[file.blob] = folder / file.blob
                self._write(waiting[file.blob], data)
            colliding = _collisions(files)
            kept = {path: files[path] for path in sorted(files) if path not in colliding}
            everything_left_out = sorted(
                [*left_out, *(f"{path} (differs from another only in case)" for path in colliding)]
            )
            for blob, temporary in waiting.items():
                self._place(temporary, self._blob_path(blob))
            manifest = folder / "manifest.json"
            self._write(
                manifest,
                json.dumps(
                    {
                        "format": _FORMAT,
                        "repository": pin.repository,
                        "commit": pin.commit,
                        "source": source,
                        "identity": identity,
                        "files": {path: [file.blob, file.size] for path, file in kept.items()},
                        "left_out": everything_left_out,
                    }
                ).encode(),
            )
            self._place(manifest, self._manifest(pin, source))
        return Tree(pin, source, identity, kept, self.read_blob)

    def derived(self, kind: str, key: str) -> bytes | None:
        """Read what was computed before under that key; None where it is absent or damaged."""
        try:
            stored = self._derived_path(kind, key).read_bytes()
        except OSError:
            return None
        digest, data = stored[:32], stored[32:]
        return data if hashlib.sha256(data).digest() == digest else None

    def put_derived(self, kind: str, key: str, data: bytes) -> None:
        """Keep what was computed; a store that cannot be written only costs the time again."""
        target = self._derived_path(kind, key)
        # A folder for each, as `temporary` makes it, would cost more than the file itself.
        temporary = self.root / "tmp" / os.urandom(16).hex()
        with contextlib.suppress(AnnotateError, OSError):
            try:
                self._write(temporary, hashlib.sha256(data).digest() + data)
                self._place(temporary, target)
            finally:
                temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def temporary(self) -> Iterator[Path]:
        """Make a folder on the store's own file system, and remove it afterwards.

        Raises:
            AnnotateError: the store cannot be written.
        """
        parent = self.root / "tmp"
        try:
            parent.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(dir=parent))
        except OSError as error:
            raise self._cannot_write(error) from error
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def remove_abandoned(self) -> None:
        """Remove what killed processes left in ``tmp`` more than a day ago."""
        horizon = time.time() - _ABANDONED_AFTER_SECONDS
        with contextlib.suppress(OSError):
            for path in (self.root / "tmp").iterdir():
                if path.lstat().st_mtime >= horizon:
                    continue
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)

    def _open(self, manifest: Path, pin: Pin) -> Tree | None:
        try:
            content = json.loads(manifest.read_bytes())
            if content["format"] != _FORMAT:
                return None
            files = {path: TreeFile(blob, size) for path, (blob, size) in content["files"].items()}
            source, identity = content["source"], content["identity"]
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        for file in files.values():
            if file.size <= MAX_FILE_BYTES and not self.has_blob(file.blob, file.size):
                return None
        return Tree(pin, source, identity, files, self.read_blob, from_store=True)

    def _manifest(self, pin: Pin, source: str) -> Path:
        manifest = self._release_manifest(pin) if source == "release" else self._tree_manifest(pin)
        if manifest is None:
            raise ValueError(f"{pin.name} has no release to keep a stand-in under")
        return manifest

    def _tree_manifest(self, pin: Pin) -> Path:
        repository = pin.repository.rstrip("/").removesuffix(".git")
        return self.root / "trees" / f"{_name(repository, pin.commit)}.json"

    def _release_manifest(self, pin: Pin) -> Path | None:
        if pin.release is None:
            return None
        release = pin.release
        name = _name(release.name, release.version, release.sha256)
        return self.root / "releases" / f"{name}.json"

    def _blob_path(self, blob: str) -> Path:
        if not _OBJECT_ID.fullmatch(blob):
            raise ValueError(f"not a blob id: {blob!r}")
        return self.root / "blobs" / blob[:2] / blob[2:]

    def _derived_path(self, kind: str, key: str) -> Path:
        if not re.fullmatch(r"[a-z0-9_.-]+", kind) or kind.startswith("."):
            raise ValueError(f"not a kind of derived data: {kind!r}")
        name = _name(key)
        return self.root / "derived" / kind / name[:2] / name[2:]

    def _write(self, path: Path, data: bytes) -> None:
        self._in_folder(path.parent, partial(path.write_bytes, data))

    def _place(self, temporary: Path, target: Path) -> None:
        self._in_folder(target.parent, partial(temporary.replace, target))

    def _in_folder(self, folder: Path, write: Callable[[], object]) -> None:
        """Write into a folder, which is made only where that fails: nearly always it is there."""
        try:
            try:
                write()
            except FileNotFoundError:
                folder.mkdir(parents=True, exist_ok=True)
                write()
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> AnnotateError:
        return AnnotateError(
            f"the store at {self.root} cannot be written: {error.strerror}",
            "Set ANNOTATE_CACHE to a folder that can be written.",
            exit_code=Exit.NOTHING_JUDGED,
        )


def _default_root() -> Path:
    named = os.environ.get("ANNOTATE_CACHE")
    return Path(named).expanduser() if named else platformdirs.user_cache_path("annotate")


def object_algorithm(object_id: str) -> str:
    """Tell which hash a git object id is made with; its length says so."""
    return "sha1" if len(object_id) == 40 else "sha256"


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _collisions(paths: Iterable[str]) -> set[str]:
    """Find the paths that a file system which ignores case and Unicode form would mix up."""
    exact = set(paths)
    folders = {str(parent) for path in exact for parent in PurePosixPath(path).parents}
    files = Counter(_folded(path) for path in exact)
    folded_folders = {_folded(folder) for folder in folders}
    return {path for path in exact if files[_folded(path)] > 1 or _folded(path) in folded_folders}


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
