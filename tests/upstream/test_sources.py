"""Which source is used, what is said about it, and what happens when a fetch is cut short."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin, Release
from annotate.upstream import git, release
from annotate.upstream.sources import obtain
from annotate.upstream.store import Store
from annotate.upstream.tree import Tree
from tests.upstream.archives import IndexServer, release_of, sdist
from tests.upstream.repositories import GitServer, Repository, closed_port, serving

FILES = {"pkg/core.py": b"x = 1\n", "README.md": b"# The commit\n"}
RELEASED = {"pkg/core.py": b"x = 0\n", "PKG-INFO": b"Name: upstream\n"}
ARCHIVE = sdist(RELEASED)
NOWHERE = "file:///no/such/repository"


class Asking:
    """Obtains trees from one store and keeps what was said."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.said: list[str] = []

    def __call__(self, pin: Pin, source: str | None = None, **options: Any) -> Tree:
        self.said = []
        options.setdefault("exact", False)
        tree = obtain(
            pin, source=source, store=self.store, say=self.said.append, progress=None, **options
        )
        assert len(self.said) == 1
        assert "\n" not in self.said[0]
        return tree

    def refused(self, pin: Pin, source: str | None = None, **options: Any) -> AnnotateError:
        with pytest.raises(AnnotateError) as caught:
            self(pin, source, **options)
        assert self.said == []
        assert caught.value.hint
        return caught.value


@pytest.fixture
def ask(store: Store) -> Asking:
    return Asking(store)


@pytest.fixture
def commit(repository: Repository) -> str:
    return repository.commit(repository.files(FILES))


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    server = IndexServer()
    server.archives["upstream-1.0.tar.gz"] = ARCHIVE
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    with serving(server):
        yield server


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise AssertionError("a source was asked")

    monkeypatch.setattr(git, "fetch", fail)
    monkeypatch.setattr(release, "fetch", fail)


def pin(repository: str, commit: str = "a" * 40, stand_in: Release | None = None) -> Pin:
    return Pin("upstream", repository, commit, stand_in)


def contents(tree: Tree) -> dict[str, bytes]:
    return {path: tree.read(path) for path in tree.files}


class TestOrder:
    def test_the_commit_from_git_and_then_from_the_store(
        self, ask: Asking, repository: Repository, commit: str
    ) -> None:
        wanted = pin(repository.url, commit, release_of(ARCHIVE))
        assert contents(ask(wanted)) == FILES
        assert ask.said == [f"upstream: fetched commit {commit[:7]} from {repository.url}"]
        again = ask(wanted)
        assert contents(again) == FILES
        assert again.from_store
        assert ask.said == [f"upstream: reading commit {commit[:7]} from the store"]

    def test_what_was_left_out_is_said(self, ask: Asking, repository: Repository) -> None:
        link = repository.blob(b"/etc/passwd")
        names = (b"a", b"b", b"c", b"d", b"e")
        commit = repository.commit(repository.tree(("120000", name, link) for name in names))
        ask(pin(repository.url, commit))
        assert ask.said[0].endswith(
            ", without 'a' (a symbolic link), 'b' (a symbolic link), 'c' (a symbolic link)"
            " and 2 more"
        )

    def test_the_release_where_the_commit_cannot_be_had(
        self, ask: Asking, index: IndexServer
    ) -> None:
        wanted = pin(NOWHERE, stand_in=release_of(ARCHIVE))
        tree = ask(wanted)
        assert contents(tree) == RELEASED
        assert tree.is_stand_in
        assert ask.said == [
            f"upstream: there is no repository at {NOWHERE}; reading release upstream 1.0"
            " instead of commit aaaaaaa"
        ]

    def test_a_host_that_cannot_be_reached(self, ask: Asking, index: IndexServer) -> None:
        with closed_port() as port:
            tree = ask(pin(f"http://127.0.0.1:{port}/r", stand_in=release_of(ARCHIVE)))
        assert tree.is_stand_in
        assert ask.said == [
            "upstream: 127.0.0.1 cannot be reached (connection refused);"
            " reading release upstream 1.0 instead of commit aaaaaaa"
        ]

    def test_a_stand_in_that_was_kept_needs_no_network(
        self, ask: Asking, index: IndexServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wanted = pin(NOWHERE, stand_in=release_of(ARCHIVE))
        ask(wanted)
        monkeypatch.setenv("PIP_INDEX_URL", "https://index.invalid/simple")
        monkeypatch.setattr(git, "fetch", None)
        tree = ask(wanted)
        assert tree.from_store
        assert contents(tree) == RELEASED
        assert ask.said == [
            "upstream: reading release upstream 1.0 from the store instead of commit aaaaaaa;"
            " `annotate fetch` tries for the commit again"
        ]

    def test_refresh_tries_for_the_commit_again(
        self, ask: Asking, index: IndexServer, repository: Repository, commit: str
    ) -> None:
        repository.path.rename(repository.path.with_name("moved"))
        wanted = pin(repository.url, commit, release_of(ARCHIVE))
        assert ask(wanted).is_stand_in

        index.requests.clear()
        still = ask(wanted, refresh=True)
        assert still.is_stand_in
        assert index.requests == []
        assert ask.said[0].startswith("upstream: there is no repository at ")

        repository.path.with_name("moved").rename(repository.path)
        assert ask(wanted).is_stand_in
        assert contents(ask(wanted, refresh=True)) == FILES
        assert ask(wanted).is_pinned_commit

    def test_nothing_can_be_had(self, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
        with closed_port() as port:
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
            error = ask.refused(pin(NOWHERE, stand_in=release_of(ARCHIVE)))
        assert error.exit_code is Exit.NOTHING_JUDGED
        assert error.message.splitlines() == [
            f"upstream: commit {'a' * 40} cannot be had, and release upstream 1.0 neither:",
            f"  there is no repository at {NOWHERE}",
            "  release upstream 1.0 cannot be had from the package index 127.0.0.1: no connection",
        ]

    def test_no_release_is_pinned(self, ask: Asking) -> None:
        error = ask.refused(pin(NOWHERE))
        assert error.exit_code is Exit.NOTHING_JUDGED
        assert "no release stands in for it" in error.message
        assert NOWHERE in error.message

    def test_a_refused_address_is_not_papered_over_by_a_release(
        self, ask: Asking, index: IndexServer
    ) -> None:
        error = ask.refused(pin("ext::touch", stand_in=release_of(ARCHIVE)))
        assert error.exit_code is Exit.USAGE
        assert index.requests == []


class TestExact:
    def test_the_commit_will_do(self, ask: Asking, repository: Repository, commit: str) -> None:
        wanted = pin(repository.url, commit, release_of(ARCHIVE))
        assert ask(wanted, exact=True).is_pinned_commit
        assert ask(wanted, exact=True).from_store

    @pytest.mark.parametrize("source", [None, "store", "git", "release"])
    @pytest.mark.parametrize("refresh", [False, True])
    def test_a_release_will_not(
        self, source: str | None, refresh: bool, ask: Asking, index: IndexServer
    ) -> None:
        wanted = pin(NOWHERE, stand_in=release_of(ARCHIVE))
        assert ask(wanted).is_stand_in
        index.requests.clear()
        error = ask.refused(wanted, source, exact=True, refresh=refresh)
        assert error.exit_code is Exit.NOTHING_JUDGED
        assert index.requests == []
        if source is None:
            assert "release upstream 1.0 may not stand in for it" in error.message
            assert f"there is no repository at {NOWHERE}" in error.message


class TestNamedSource:
    def test_the_store_and_nothing_else(self, ask: Asking, no_network: None, store: Store) -> None:
        wanted = pin(NOWHERE, stand_in=release_of(ARCHIVE))
        error = ask.refused(wanted, "store")
        assert error.exit_code is Exit.NOTHING_JUDGED
        assert "annotate fetch" in error.hint
        store.add_tree(wanted, "release", "release upstream 1.0", [])
        assert ask(wanted, "store").is_stand_in
        store.add_tree(wanted, "git", f"commit {wanted.commit}", [])
        assert ask(wanted, "store").is_pinned_commit

    def test_git_and_not_the_release(self, ask: Asking, index: IndexServer) -> None:
        error = ask.refused(pin(NOWHERE, stand_in=release_of(ARCHIVE)), "git")
        assert error.message == f"upstream: there is no repository at {NOWHERE}"
        assert index.requests == []

    def test_the_release_and_not_git(
        self, ask: Asking, index: IndexServer, repository: Repository, commit: str
    ) -> None:
        wanted = pin(repository.url, commit, release_of(ARCHIVE))
        ask(wanted)
        assert contents(ask(wanted, "release")) == RELEASED
        assert ask.said == ["upstream: fetched release upstream 1.0 from the package index"]
        assert ask(wanted, "release").from_store

    @pytest.mark.parametrize("spelling", ["folder:{}", "{}", "{}/"])
    def test_a_folder(self, spelling: str, ask: Asking, tmp_path: Path, no_network: None) -> None:
        (tmp_path / "checkout").mkdir()
        (tmp_path / "checkout" / "a.py").write_bytes(b"here")
        tree = ask(pin(NOWHERE), spelling.format(tmp_path / "checkout"))
        assert contents(tree) == {"a.py": b"here"}
        assert tree.source == "folder"
        assert ask.said == [f"upstream: reading folder {tmp_path / 'checkout'}"]

    def test_a_folder_by_its_plain_name(
        self, ask: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "checkout").mkdir()
        monkeypatch.chdir(tmp_path)
        assert ask(pin(NOWHERE), "checkout").source == "folder"
        assert ask(pin(NOWHERE), "folder:checkout").source == "folder"

    def test_a_folder_that_is_not_there(self, ask: Asking) -> None:
        for spelling in ("folder:missing", "./missing", "/no/such"):
            assert "does not exist" in ask.refused(pin(NOWHERE), spelling).message

    @pytest.mark.parametrize("source", ["", "GIT", "github", "folder", "folder:"])
    def test_no_such_source(self, source: str, ask: Asking) -> None:
        error = ask.refused(pin(NOWHERE), source)
        assert error.exit_code is Exit.USAGE
        assert "folder:PATH" in error.hint


SCRIPT = """
import sys
from pathlib import Path
from annotate.pin import Pin
from annotate.upstream.sources import obtain
from annotate.upstream.store import Store
tree = obtain(Pin("upstream", *sys.argv[2:]), source=None, exact=True,
              store=Store(Path(sys.argv[1])), say=print, progress=None)
assert {path: tree.read(path) for path in tree.files}
"""


def start(store: Store, wanted: Pin) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(store.root), wanted.repository, wanted.commit],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


class TestProcesses:
    def test_a_killed_fetch_leaves_nothing_half_made(
        self, ask: Asking, server: GitServer, commit: str, store: Store
    ) -> None:
        wanted = pin(server.url("upstream.git"), commit)
        server.pause = threading.Event()
        process = start(store, wanted)
        try:
            assert server.half_sent.wait(30)
            process.send_signal(signal.SIGKILL)
            assert process.wait(30) == -signal.SIGKILL
        finally:
            process.communicate()
            server.pause.set()
        assert store.tree(wanted) is None
        assert {child.name for child in store.root.iterdir()} == {"tmp"}

        server.pause = None
        assert contents(ask(wanted)) == FILES
        assert contents(ask(wanted)) == FILES

    def test_two_processes_fetch_the_same_commit_at_once(
        self, server: GitServer, commit: str, store: Store
    ) -> None:
        wanted = pin(server.url("upstream.git"), commit)
        server.pause = threading.Event()
        processes = [start(store, wanted) for _ in range(2)]
        assert server.half_sent.wait(30)
        server.pause.set()
        outputs = [process.communicate(timeout=60) for process in processes]
        assert [process.returncode for process in processes] == [0, 0], outputs
        assert [error for _, error in outputs] == ["", ""]
        tree = store.tree(wanted)
        assert tree is not None
        assert contents(tree) == FILES
        assert list((store.root / "tmp").iterdir()) == []
