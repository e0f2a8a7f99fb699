"""A tree from git: one commit, fetched by its id at depth 1.

It comes into a bare repository that is thrown away, and its blobs are read from there by id.

git gets nothing but what stands in this file: none of the caller's ``GIT_…`` variables, no
configuration of the user or the machine, no hooks, submodules, filters or work tree, no prompt,
and only the one protocol that the configured repository uses. What comes back is checked: git
itself checks the form of every object (``transfer.fsckObjects``) and names objects by their
content; the commit and each blob are hashed here once more.
"""

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from annotate.errors import AnnotateError, Exit
from annotate.location import is_safe_path
from annotate.pin import Pin, is_full_commit
from annotate.upstream.address import (
    refuse_missing_folder,
    refuse_unreachable,
    repository_address,
    unreachable,
)
from annotate.upstream.store import Entry, Progress, Store, unavailable
from annotate.upstream.tree import MAX_FILE_BYTES, Tree, TreeFile

if TYPE_CHECKING:
    from git import RemoteProgress, Repo

OLDEST_GIT = (2, 32)
"""The first git that can be told to read no configuration (``GIT_CONFIG_GLOBAL``)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, in seconds: for a connection, for the next byte, for all of it."""

    connect: float = 4
    stall: int = 10
    total: float = 600


@dataclass(frozen=True, slots=True)
class _Listing:
    """What ``git ls-tree`` found: the plain files, and the rest with the reason."""

    files: dict[str, TreeFile]
    left_out: tuple[str, ...]


_ENVIRONMENT_LOCK = threading.RLock()


def fetch(pin: Pin, store: Store, progress: Progress | None, limits: Limits | None = None) -> Tree:
    """Fetch the pinned commit and keep its plain files in the store.

    Symbolic links, submodules and unsafe paths are left out; `Store.left_out` lists them.

    Args:
        pin: its repository is an address over https, or a file:// or loopback http one.
        store: where the blobs go.
        progress: told how much of the pack has come, or None.
        limits: how long to wait.

    Raises:
        AnnotateError: the address is not one of these (exit code ``USAGE``), or the commit cannot
            be had from it (exit code ``NOTHING_JUDGED``).
    """
    limits = limits or Limits()
    address = repository_address(pin)
    if not is_full_commit(pin.commit):
        raise AnnotateError(
            f"{pin.name}: “{pin.commit}” is not a full commit id",
            "Write all 40 (or 64) hex digits, in lower case: `git rev-parse COMMIT` prints them.",
        )
    if address.scheme == "file":
        refuse_missing_folder(pin, address)
    else:
        refuse_unreachable(pin, address, limits.connect)
    with (
        _environment(_configuration(pin, address, limits)),
        store.temporary() as folder,
        _repository(pin, folder) as repository,
    ):
        _fetch_commit(pin, repository, address, progress, limits)
        _verify_commit(pin, repository)
        listing = _list_files(repository, pin.commit)
        entries = _entries(repository, listing.files, store, folder)
        return store.add_tree(pin, "git", f"commit {pin.commit}", entries, listing.left_out)


def _configuration(pin: Pin, address: SplitResult, limits: Limits) -> dict[str, str]:
    """All the configuration that git gets."""
    return {
        "remote.upstream.url": pin.repository,
        "protocol.allow": "never",
        f"protocol.{address.scheme}.allow": "always",
        "protocol.version": "2",
        "transfer.fsckObjects": "true",
        "fetch.unpackLimit": "1",
        "fetch.recurseSubmodules": "false",
        "core.hooksPath": os.devnull,
        "gc.auto": "0",
        "maintenance.auto": "false",
        "http.lowSpeedLimit": "1",
        "http.lowSpeedTime": str(limits.stall),
    }


@contextlib.contextmanager
def _environment(configuration: Mapping[str, str]) -> Iterator[None]:
    """Run git in a clean environment.

    GitPython hands every child a copy of this process's environment and can only add to it, so
    the variables are taken out here and put back afterwards, one fetch at a time. Which
    certificates to trust is the machine's business and stays.
    """
    clean = {
        "GIT_ASKPASS": "",
        "GIT_CONFIG_COUNT": str(len(configuration)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TEMPLATE_DIR": "",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for number, (key, value) in enumerate(configuration.items()):
        clean[f"GIT_CONFIG_KEY_{number}"] = key
        clean[f"GIT_CONFIG_VALUE_{number}"] = value
    certificates = os.environ.get("GIT_SSL_CAINFO") or os.environ.get("SSL_CERT_FILE")
    if certificates:
        clean["GIT_SSL_CAINFO"] = certificates
    with _ENVIRONMENT_LOCK:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name.startswith("GIT_") and not name.startswith("GIT_PYTHON_")
        }
        for name in inherited:
            del os.environ[name]
        os.environ.update(clean)
        try:
            yield
        finally:
            for name in clean:
                os.environ.pop(name, None)
            os.environ.update(inherited)


@contextlib.contextmanager
def _repository(pin: Pin, folder: Path) -> Iterator["Repo"]:
    """Make a bare repository, and end its child processes afterwards."""
    try:
        import git
    except ImportError as error:  # GitPython's way to say that it finds no git program
        raise unavailable(pin, "git cannot be run here", "Install git.") from error
    if git.Git().version_info[:2] < OLDEST_GIT:
        raise unavailable(
            pin, "the git program is too old", "Install git {}.{} or newer.".format(*OLDEST_GIT)
        )
    algorithm = "sha1" if len(pin.commit) == 40 else "sha256"
    repository = git.Repo.init(
        folder / "repository.git", bare=True, expand_vars=False, object_format=algorithm
    )
    with contextlib.closing(repository):
        yield repository


def _fetch_commit(
    pin: Pin, repository: "Repo", address: SplitResult, progress: Progress | None, limits: Limits
) -> None:
    import git

    try:
        git.Remote(repository, "upstream").fetch(
            pin.commit,
            progress=_remote_progress(pin, progress) if progress else None,
            verbose=False,
            kill_after_timeout=limits.total,
            depth=1,
            no_tags=True,
        )
    except git.GitCommandError as error:
        raise _explain(pin, address, str(error.stderr), limits) from error
    finally:
        if progress:
            progress.stop()


def _remote_progress(pin: Pin, progress: Progress) -> "RemoteProgress":
    import git

    class Relay(git.RemoteProgress):
        """Tell our progress what git tells about its own."""

        done = 0

        def update(
            self,
            op_code: int,
            cur_count: str | float,
            max_count: str | float | None = None,
            message: str = "",  # noqa: ARG002 (the signature is GitPython's)
        ) -> None:
            if op_code & self.BEGIN:
                receiving = op_code & self.RECEIVING
                what = "receiving" if receiving else "waiting for"
                progress.stop()
                progress.start(f"{what} {pin.name}", int(max_count) if max_count else None)
                self.done = 0
            progress.advance(int(cur_count) - self.done)
            self.done = int(cur_count)

    return Relay()


def _verify_commit(pin: Pin, repository: "Repo") -> None:
    """Refuse anything but a commit with that very id: a tag or a tree has an id as well."""
    import git

    try:
        data = repository.git.cat_file(
            "commit", pin.commit, stdout_as_string=False, strip_newline_in_stdout=False
        )
    except git.GitCommandError as error:
        raise unavailable(
            pin, f"{pin.commit} is not a commit", "Pin the commit: `git rev-parse NAME^{commit}`."
        ) from error
    digest = hashlib.new(
        "sha1" if len(pin.commit) == 40 else "sha256",
        b"commit %d\0" % len(data) + data,
        usedforsecurity=False,
    )
    if digest.hexdigest() != pin.commit:
        raise unavailable(
            pin, f"{pin.commit} is not a commit", "Pin the commit: `git rev-parse NAME^{commit}`."
        )


def _list_files(repository: "Repo", commit: str) -> _Listing:
    output: bytes = repository.git.ls_tree(
        "-r", "-l", "-z", "--full-tree", commit, stdout_as_string=False
    )
    files: dict[str, TreeFile] = {}
    left_out: list[str] = []
    for line in output.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, _, blob, size = facts.decode("ascii").split()
        path = name.decode("utf-8", "backslashreplace")
        if mode not in ("100644", "100755"):
            left_out.append(f"{path!a} ({_KINDS.get(mode, 'not a plain file')})")
        elif path.encode() != name or not is_safe_path(path):
            left_out.append(f"{path!a} (not a safe path)")
        else:
            files[path] = TreeFile(blob, int(size))
    return _Listing(files, tuple(left_out))


_KINDS = {"120000": "a symbolic link", "160000": "a submodule"}


def _entries(
    repository: "Repo", files: Mapping[str, TreeFile], store: Store, folder: Path
) -> Iterator[Entry]:
    """Read the files, but not the bytes that the store has or that are too many to be read."""
    wanted: dict[str, str] = {}
    for path, file in files.items():
        if (
            file.size > MAX_FILE_BYTES
            or file.blob in wanted
            or store.has_blob(file.blob, file.size)
        ):
            yield path, file, None
        else:
            wanted[file.blob] = path
    for blob, data in _read_blobs(repository, list(wanted), folder):
        yield wanted[blob], files[wanted[blob]], data


def _read_blobs(
    repository: "Repo", blobs: Sequence[str], folder: Path
) -> Iterator[tuple[str, bytes]]:
    """Read blobs by id, all through one process.

    Not through GitPython's object database: that one costs half as much again and takes only
    SHA-1 ids.
    """
    names = folder / "wanted"
    names.write_text("".join(f"{blob}\n" for blob in blobs), encoding="ascii")
    with names.open("rb") as wanted:
        process = repository.git.cat_file("--batch", istream=wanted, as_process=True)
        for blob in blobs:
            name, kind, size = process.stdout.readline().decode("ascii").split()
            data = process.stdout.read(int(size))
            process.stdout.read(1)
            if (name, kind, len(data)) != (blob, "blob", int(size)):
                raise AnnotateError(f"git did not give blob {blob}", exit_code=Exit.NOTHING_JUDGED)
            yield blob, data
        process.wait()


def _explain(pin: Pin, address: SplitResult, stderr: str, limits: Limits) -> AnnotateError:
    """Say what git's messages mean to the user."""
    host = address.hostname or "the repository"
    text = stderr.lower()

    def says(*fragments: str) -> bool:
        return any(fragment in text for fragment in fragments)

    if says("not our ref", "unadvertised object", "couldn't find remote ref"):
        return unavailable(
            pin,
            f"{pin.repository} has no commit {pin.commit}",
            "Check the commit id, and that it was pushed.",
        )
    if says("could not read username", "authentication failed", "terminal prompts disabled"):
        return unavailable(
            pin,
            f"{host} asks for a login: {pin.repository} is private or does not exist",
            "Check the address; git finds a login for the host in ~/.netrc.",
        )
    if says("error: 403", "error: 401"):
        return unavailable(pin, f"{host} denies access to {pin.repository}", "Check the address.")
    if says("dubious ownership"):
        return unavailable(
            pin, f"git refuses {pin.repository}: another user owns it", "Make a copy of your own."
        )
    if says("not found", "does not appear to be a git repository", "not a git repository"):
        return unavailable(pin, f"there is no repository at {pin.repository}", "Check the address.")
    if says("certificate"):
        return unavailable(
            pin,
            f"the certificate of {host} is not trusted",
            "Name the file with your network's certificates in SSL_CERT_FILE.",
        )
    if says("operation too slow"):
        return unreachable(pin, host, f"it sent nothing for {limits.stall} s")
    if says("timed out. kill_after_timeout"):
        return unreachable(pin, host, f"not all had come after {limits.total:g} s")
    if says("could not resolve", "failed to connect", "couldn't connect", "timed out", "refused"):
        return unreachable(pin, host, "no connection")
    if says("fsck", "invalid index-pack output", "index-pack failed"):
        return unavailable(
            pin,
            f"git refuses what {host} sent: {_last_words(stderr)}",
            "Its objects are malformed; pin a commit of a sound repository.",
        )
    return unavailable(pin, f"git could not fetch {pin.commit}: {_last_words(stderr)}", "")


def _last_words(stderr: str) -> str:
    """Cut out git's first complaint, on one line and without what a terminal would obey."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    complaints = [line for line in lines if line.startswith(("error:", "fatal:"))] or lines
    first = complaints[0] if complaints else "no message"
    return "".join(c for c in first if c.isprintable())[:300]
