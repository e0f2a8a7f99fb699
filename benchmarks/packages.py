"""The public packages that are measured: fetched by hash, unpacked, and put under git."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotate import terminal
from annotate.pin import Pin, Release
from annotate.upstream import release
from annotate.upstream.store import Store

SMALL = Release(
    "autograd", "1.9.1", "7818c5c69ddf9efb7da74097bd741a4c7920133f41966f68537223a15ef798bc"
)
LARGE = Release(
    "sympy", "1.14.0", "d3d3fe8df1e5a0b42f0e7bdf50541697dbe7d23746e894990c030e2b05e72517"
)

_GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "benchmarks",
    "GIT_AUTHOR_EMAIL": "benchmarks@localhost",
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "benchmarks",
    "GIT_COMMITTER_EMAIL": "benchmarks@localhost",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


@dataclass(frozen=True, slots=True)
class Package:
    """A package's files, and a repository whose one pinned commit holds them.

    Attributes:
        name: what it is called, with its version.
        source: the folder of its files.
        repository: a bare git repository.
        commit: the full id of the commit that holds the files.
    """

    name: str
    source: Path
    repository: Path
    commit: str

    def python_files(self) -> list[Path]:
        """Its Python files, sorted."""
        return sorted(self.source.rglob("*.py"))

    def line_count(self) -> int:
        """How many lines of Python it has."""
        return sum(file.read_bytes().count(b"\n") for file in self.python_files())


def unpack(published: Release, workspace: Path) -> Package:
    """Fetch a source distribution from the package index and unpack it below the workspace.

    Raises:
        AnnotateError: it cannot be had, or is not the archive with that sha256.
    """
    pin = Pin(published.name, "https://localhost/none", "0" * 40, published)
    store = Store(workspace / "downloads")
    tree = store.release_tree(pin) or release.fetch(pin, store, terminal.progress())
    source = workspace / published.name / "source"
    for path in tree.files:
        target = source / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(tree.read(path))
    return under_git(str(published), source)


def under_git(name: str, source: Path) -> Package:
    """Put a folder under git: a first commit with half of its files, then one with all.

    The repository lies beside the folder; the first commit is the history that a fetch at
    depth 1 leaves behind.
    """
    repository = source.with_name("repository.git")
    files = sorted(path.relative_to(source).as_posix() for path in _files(source))
    _git("init", "--quiet", "--bare", str(repository))
    commit = ""
    for chosen in (files[::2], files):
        _git(
            "--git-dir", str(repository), "--work-tree", str(source),
            "-c", "core.autocrlf=false", "add", "--force", "--pathspec-from-file=-",
            text="\n".join(chosen),
        )  # fmt: skip
        tree = _git("--git-dir", str(repository), "write-tree")
        parent = ["-p", commit] if commit else []
        commit = _git("--git-dir", str(repository), "commit-tree", *parent, "-m", name, tree)
    _git("--git-dir", str(repository), "update-ref", "refs/heads/main", commit)
    _git("--git-dir", str(repository), "symbolic-ref", "HEAD", "refs/heads/main")
    _git("--git-dir", str(repository), "repack", "-adq")
    return Package(name, source, repository, commit)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _git(*arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments],
        input=text.encode(),
        stdout=subprocess.PIPE,
        env={**os.environ, **_GIT_ENVIRONMENT},
        check=True,
    )
    return done.stdout.decode().strip()
