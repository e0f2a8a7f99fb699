"""Versions by name: commits, tags, branches, releases, folders."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.errors import AnnotateError
from annotate.pin import Pin, Release
from annotate.upstream import release
from annotate.upstream.store import Store
from annotate.upstream.tree import Tree
from annotate.upstream.versions import Versions
from tests.upstream.archives import IndexServer, release_of, sdist, sha256, zip_of
from tests.upstream.commits import commit, line
from tests.upstream.repositories import GitServer, Repository, closed_port, serving

STATES = [{"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"}]
OLD, NEW = sdist({"a.py": b"x = 1\n"}), sdist({"a.py": b"x = 2\n"}, "upstream-1.1")


@pytest.fixture
def commits(repository: Repository) -> list[str]:
    found = line(repository, *STATES)
    repository.git("tag", "v1", found[0])
    return found


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    server = IndexServer()
    server.archives = {
        "upstream-1.0-py3-none-any.whl": zip_of({"a.py": b"wheel"}),
        "upstream-1.0.tar.gz": OLD,
        "upstream-1.1.tar.gz": NEW,
    }
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    with serving(server):
        yield server


class Asking:
    """Opens versions through one store and keeps what was said."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.said: list[str] = []

    def __call__(
        self,
        version: str,
        repository: str = "",
        *,
        stand_in: Release | None = None,
        package: str = "",
    ) -> bytes:
        return self.tree(version, repository, stand_in, package).read("a.py")

    def tree(self, version: str, repository: str, stand_in: Release | None, package: str) -> Tree:
        self.said = []
        pin = Pin("upstream", repository, "", stand_in)
        with Versions(pin, package, self.store, self.said.append, None) as versions:
            tree = versions.tree(version)
            tree.read("a.py")
            kept = {path: tree.read(path) for path in tree.files}
        return Tree(tree.pin, tree.source, tree.identity, tree.files, lambda _: kept["a.py"])


@pytest.fixture
def ask(store: Store) -> Asking:
    return Asking(store)


class TestCommits:
    @pytest.mark.parametrize("place", ["path", "file", "http"])
    def test_every_name(
        self,
        place: str,
        ask: Asking,
        repository: Repository,
        server: GitServer,
        commits: list[str],
    ) -> None:
        address = {
            "path": str(repository.path),
            "file": repository.url,
            "http": server.url("upstream.git"),
        }[place]
        assert ask(commits[0], address) == b"x = 1\n"
        assert ask.said == []
        for name in ("v1", "main~1", commits[0][:8]):
            assert ask(name, address) == b"x = 1\n"
            assert ask.said == [f"upstream: {name} is commit {commits[0]}"]
        assert ask("latest", address) == b"x = 2\n"

    def test_one_commit_needs_no_clone(
        self, ask: Asking, server: GitServer, commits: list[str]
    ) -> None:
        address = server.url("upstream.git")
        ask(commits[0], address)
        asked = len(server.requests)
        ask(commits[0], address)
        assert len(server.requests) == asked
        assert not (ask.store.root / "histories").exists()

    def test_names_are_asked_for_anew(
        self, ask: Asking, repository: Repository, commits: list[str], tmp_path: Path
    ) -> None:
        assert ask("main", repository.url) == b"x = 2\n"
        new = commit(repository, {"a.py": b"x = 3\n"}, commits[1])
        repository.branch("main", new)
        assert ask("main", repository.url) == b"x = 3\n"
        repository.path.rename(tmp_path / "gone.git")
        assert ask("main", repository.url) == b"x = 3\n"
        assert "as they were when it was last asked" in ask.said[0]

    def test_a_commit_that_the_clone_does_not_have(
        self, ask: Asking, repository: Repository, server: GitServer, commits: list[str]
    ) -> None:
        address = server.url("upstream.git")
        hidden = commit(repository, {"a.py": b"x = 3\n"}, commits[1])
        pin = Pin("upstream", address, "")
        with Versions(pin, "", ask.store, ask.said.append, None) as versions:
            assert versions.tree("main").read("a.py") == b"x = 2\n"
            assert versions.tree(hidden).read("a.py") == b"x = 3\n"

    def test_without_a_repository(self, ask: Asking) -> None:
        for version in ("v1", "a" * 40):
            with pytest.raises(AnnotateError, match="no repository") as caught:
                ask(version)
            assert "--repository" in caught.value.hint


class TestFolders:
    def test_a_path(self, ask: Asking, repository: Repository, commits: list[str]) -> None:
        here = Path("checkout")
        here.mkdir()
        (here / "a.py").write_bytes(b"x = 3\n")
        for version in ("./checkout", "folder:checkout", str(here.absolute())):
            assert ask(version, repository.url) == b"x = 3\n"

    def test_a_bare_name_is_a_folder_only_where_it_can_be_nothing_else(
        self, ask: Asking, repository: Repository, commits: list[str]
    ) -> None:
        Path("v1").mkdir()
        (Path("v1") / "a.py").write_bytes(b"x = 3\n")
        assert ask("v1") == b"x = 3\n"
        assert ask("v1", repository.url) == b"x = 1\n"


class TestReleases:
    def test_a_version_is_looked_up_once(self, ask: Asking, index: IndexServer) -> None:
        assert ask("release:1.1") == b"x = 2\n"
        assert ask.said == [f"upstream: release upstream 1.1 has the sha256 {sha256(NEW)}"]
        asked = len(index.requests)
        assert ask("release:1.1") == b"x = 2\n"
        assert ask.said == []
        assert len(index.requests) == asked

    def test_the_pinned_one_is_held_to_its_hash(self, ask: Asking, index: IndexServer) -> None:
        index.archives["upstream-1.0.tar.gz"] = sdist({"a.py": b"evil\n"})
        with pytest.raises(AnnotateError, match="sha256"):
            ask("release:1.0", stand_in=release_of(OLD))

    def test_another_package_name(self, ask: Asking, index: IndexServer) -> None:
        with pytest.raises(AnnotateError, match="no project stranger") as caught:
            ask("release:1.0", package="stranger")
        assert "--package" in caught.value.hint

    @pytest.mark.parametrize("version", ["2.0", "1"])
    def test_no_such_version(self, version: str, ask: Asking, index: IndexServer) -> None:
        with pytest.raises(AnnotateError, match=f"no source distribution of upstream {version}"):
            ask(f"release:{version}")

    def test_an_index_without_hashes_vouches_for_nothing(
        self, ask: Asking, index: IndexServer
    ) -> None:
        index.hashes = False
        with pytest.raises(AnnotateError, match="no source distribution"):
            ask("release:1.0")

    def test_no_index(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with closed_port() as port:
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
            with pytest.raises(AnnotateError, match="cannot be asked for upstream"):
                release.published("upstream", "upstream", "1.0")
