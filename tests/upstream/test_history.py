"""Whole histories: read where they lie or cloned, names resolved, trees listed, little trusted."""

import subprocess
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream import git
from annotate.upstream.history import History, open_history
from annotate.upstream.store import Store
from annotate.upstream.tree import MAX_FILE_BYTES
from tests.upstream.commits import commit, line
from tests.upstream.repositories import GitServer, Repository, silent_port

STATES = [
    {"a.py": "x = 1\n", "pkg/b.py": "y = 1\n"},
    {"a.py": "x = 2\n", "pkg/b.py": "y = 1\n"},
    {"a.py": "x = 2\n", "pkg/c.py": "y = 1\n"},
]
QUICK = git.Limits(connect=1, stall=1, total=30)


def pin(repository: Path | str, wanted: str = "") -> Pin:
    return Pin("upstream", str(repository), wanted)


@pytest.fixture
def commits(repository: Repository) -> list[str]:
    return line(repository, *STATES)


class TestCommits:
    def test_ancestors_newest_first(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        with open_history(pin(repository.path), store, None) as history:
            found = history.ancestors(commits[2])
        assert [each.id for each in found] == commits[::-1]
        assert [each.subject for each in found] == ["State 2", "State 1", "State 0"]
        assert found[0].parents == (commits[1],)
        assert found[2].parents == ()
        assert found[0].time == 1_000_000_000

    def test_no_parent_comes_before_its_child(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        side = commit(repository, {"d.py": "z = 1\n"}, commits[0])
        merge = commit(repository, STATES[2], commits[2], side, message="Merge")
        with open_history(pin(repository.path), store, None) as history:
            found = history.ancestors(merge)
            main = history.ancestors(merge, first_parents=True)
        order = {each.id: number for number, each in enumerate(found)}
        assert set(order) == {*commits, side, merge}
        assert all(order[each.id] < order[parent] for each in found for parent in each.parents)
        assert [each.id for each in main] == [merge, *commits[::-1]]

    def test_a_subject_that_is_no_utf8(self, repository: Repository, store: Store) -> None:
        tree = repository.files({"a.py": b""})
        raw = f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n".encode()
        odd = repository.git(
            "hash-object", "-w", "-t", "commit", "--stdin", data=raw + b"caf\xe9 \x01 two\nmore\n"
        )
        with open_history(pin(repository.path), store, None) as history:
            found = history.ancestors(odd)
        assert [(each.id, each.parents) for each in found] == [(odd, ())]
        assert found[0].subject.startswith("caf")

    def test_an_absent_commit(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        with (
            open_history(pin(repository.path), store, None) as history,
            pytest.raises(AnnotateError, match="has no commit") as caught,
        ):
            history.commit("a" * 40)
        assert caught.value.exit_code is Exit.NOTHING_JUDGED

    def test_half_a_history_is_refused(
        self, repository: Repository, commits: list[str], store: Store, tmp_path: Path
    ) -> None:
        part = tmp_path / "part"
        subprocess.run(
            ["git", "clone", "--quiet", "--bare", "--depth", "1", repository.url, str(part)],
            check=True,
        )
        with (
            open_history(pin(part), store, None) as history,
            pytest.raises(AnnotateError, match="only part of its history"),
        ):
            history.ancestors(commits[2])


class TestTrees:
    def test_files_and_their_bytes(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        with open_history(pin(repository.path), store, None) as history:
            for wanted, state in zip(commits, STATES, strict=True):
                tree = history.tree(wanted)
                assert {path: tree.read(path).decode() for path in tree.files} == state
                assert (tree.pin.commit, tree.source) == (wanted, "git")
                assert tree.is_pinned_commit

    def test_only_plain_files_with_safe_names(self, repository: Repository, store: Store) -> None:
        blob = repository.blob(b"x = 1\n")
        inner = repository.tree([("100755", b"run.py", blob), ("120000", b"link", blob)])
        tree = repository.tree(
            [
                ("100644", b"..", blob),
                ("100644", b"a\nb.py", blob),
                ("100644", b"a.py", blob),
                ("100644", b"bad\xff.py", blob),
                ("160000", b"module", "a" * 40),
                ("40000", b"pkg", inner),
                ("40000", b".git", inner),
            ]
        )
        odd = repository.commit(tree)
        with open_history(pin(repository.path), store, None) as history:
            assert list(history.tree(odd).files) == ["a.py", "pkg/run.py"]

    def test_a_file_that_is_not_there(self, repository: Repository, store: Store) -> None:
        tree = repository.tree([("100644", b"a.py", "b" * 40)])
        odd = repository.commit(tree)
        with open_history(pin(repository.path), store, None) as history:
            found = history.tree(odd)
            assert list(found.files) == ["a.py"]
            with pytest.raises(AnnotateError, match="b" * 40) as caught:
                found.read("a.py")
        assert caught.value.exit_code is Exit.NOTHING_JUDGED

    def test_a_large_file(self, repository: Repository, store: Store) -> None:
        large = commit(repository, {"a.txt": b"x" * (MAX_FILE_BYTES + 1)})
        with (
            open_history(pin(repository.path), store, None) as history,
            pytest.raises(AnnotateError, match="are not read"),
        ):
            history.tree(large).read("a.txt")

    def test_a_replaced_object_is_not_followed(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        repository.git("replace", repository.blob(b"x = 2\n"), repository.blob(b"evil = 1\n"))
        with open_history(pin(repository.path), store, None) as history:
            assert history.tree(commits[2]).read("a.py") == b"x = 2\n"

    def test_ids_of_sha256(self, tmp_path: Path, store: Store) -> None:
        repository = Repository(tmp_path / "long.git", "sha256")
        commits = line(repository, *STATES)
        for place in (repository.path, repository.url):
            with open_history(pin(place, commits[2]), store, None) as history:
                assert len(history.ancestors(commits[2])) == 3
                assert history.tree(commits[1]).read("a.py") == b"x = 2\n"


class TestNames:
    @pytest.fixture
    def history(self, repository: Repository, commits: list[str], store: Store):  # type: ignore[no-untyped-def]
        repository.git("tag", "v1", commits[0])
        repository.git("tag", "-a", "-m", "Second", "v2", commits[1])
        repository.git("tag", "a-tree", f"{commits[0]}^{{tree}}")
        repository.branch("topic/one", commits[1])
        with open_history(pin(repository.path), store, None) as history:
            yield history

    def test_names(self, history: History, commits: list[str]) -> None:
        names = ["v1", "v2", "topic/one", "main", "latest", "main~2", commits[1], commits[1][:10]]
        assert [history.resolve(name) for name in names] == [
            *(commits[0], commits[1], commits[1], commits[2], commits[2], commits[0]),
            *(commits[1], commits[1]),
        ]

    def test_tags_that_name_commits(self, history: History, commits: list[str]) -> None:
        assert history.tags() == {"v1": commits[0], "v2": commits[1]}

    @pytest.mark.parametrize(
        "name",
        ["nothing", "a-tree", "--all", "-n1", ":/State", "main:a.py", "@{upstream}", "", "a b"],
    )
    def test_what_names_no_commit(self, name: str, history: History) -> None:
        with pytest.raises(AnnotateError, match=r"no commit called|no name of a commit"):
            history.resolve(name)


class TestPlaces:
    def test_a_checkout_and_its_worktree(
        self, repository: Repository, commits: list[str], store: Store, tmp_path: Path
    ) -> None:
        checkout, other = tmp_path / "checkout", tmp_path / "other"
        for arguments in (
            ["clone", "--quiet", repository.url, str(checkout)],
            ["-C", str(checkout), "worktree", "add", "--quiet", "--detach", str(other)],
        ):
            subprocess.run(["git", *arguments], check=True, capture_output=True)
        for place in (checkout, other):
            with open_history(pin(place), store, None) as history:
                assert history.resolve("latest") == commits[2]
        assert not (store.root / "histories").exists()

    @pytest.mark.parametrize("name", ["empty", "nothing"])
    def test_no_repository(self, name: str, store: Store, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        with (
            pytest.raises(AnnotateError, match="no git repository"),
            open_history(pin(tmp_path / name), store, None),
        ):
            pass

    def test_the_environment_says_nothing(
        self,
        repository: Repository,
        commits: list[str],
        store: Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        stranger = Repository(tmp_path / "stranger.git")
        monkeypatch.setenv("GIT_DIR", str(stranger.path))
        monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(stranger.path / "objects"))
        with open_history(pin(repository.path), store, None) as history:
            assert history.tree(commits[0]).read("a.py") == b"x = 1\n"

    def test_a_repository_with_a_will_of_its_own(
        self, repository: Repository, commits: list[str], store: Store, tmp_path: Path
    ) -> None:
        mark = tmp_path / "ran"
        evil = f"touch {mark}; false"
        for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "diff.external"):
            repository.git("config", key, evil)
        repository.git("config", "filter.evil.smudge", evil)
        with open_history(pin(repository.path), store, None) as history:
            history.ancestors(history.resolve("latest"))
            history.tree(commits[0]).read("a.py")
            history.tags()
        assert not mark.exists()


class TestClones:
    @pytest.mark.parametrize("protocol", ["file", "http"])
    def test_a_clone_is_kept(
        self,
        protocol: str,
        repository: Repository,
        server: GitServer,
        commits: list[str],
        store: Store,
    ) -> None:
        address = repository.url if protocol == "file" else server.url("upstream.git")
        for _ in range(2):
            with open_history(pin(address), store, None) as history:
                assert history.resolve("latest") == commits[2]
                assert len(history.ancestors(commits[2])) == 3
                assert history.tree(commits[0]).read("a.py") == b"x = 1\n"
            asked = len(server.requests)
        assert len(server.requests) == asked
        assert len(list((store.root / "histories").iterdir())) == 1

    def test_a_new_commit_is_fetched(
        self, repository: Repository, commits: list[str], store: Store
    ) -> None:
        with open_history(pin(repository.url, commits[2]), store, None):
            pass
        new = commit(repository, {"a.py": "x = 3\n"}, commits[2])
        repository.branch("main", new)
        with open_history(pin(repository.url, new), store, None) as history:
            assert len(history.ancestors(new)) == 4

    def test_a_commit_that_no_branch_names(
        self, repository: Repository, commits: list[str], server: GitServer, store: Store
    ) -> None:
        hidden = commit(repository, {"a.py": "x = 3\n"}, commits[2])
        with open_history(pin(server.url("upstream.git"), hidden), store, None) as history:
            assert len(history.ancestors(hidden)) == 4

    def test_a_commit_that_does_not_exist(
        self, repository: Repository, commits: list[str], server: GitServer, store: Store
    ) -> None:
        with (
            pytest.raises(AnnotateError, match="has no commit"),
            open_history(pin(server.url("upstream.git"), "a" * 40), store, None),
        ):
            pass

    def test_a_partial_clone_is_read_where_it_lies(
        self, repository: Repository, store: Store
    ) -> None:
        lacking = repository.tree(
            [("100644", b"a.py", repository.blob(b"x = 1\n")), ("100644", b"big", "b" * 40)]
        )
        only = repository.commit(lacking)
        repository.branch("main", only)
        said: list[str] = []
        with open_history(pin(repository.url), store, None, say=said.append) as history:
            assert history.tree(history.resolve("main")).read("a.py") == b"x = 1\n"
        assert len(said) == 1
        assert "where it lies" in said[0]
        assert not (store.root / "histories").exists()

    def test_an_address_that_git_may_not_have(self, store: Store) -> None:
        for address in ("ext::sh -c x", "ssh://host/x", "http://example.org/x", "https://u:p@h/x"):
            with pytest.raises(AnnotateError), open_history(pin(address), store, None):
                pass
        assert not (store.root / "histories").exists()

    def test_a_failed_clone_leaves_nothing(self, store: Store) -> None:
        with (
            silent_port() as port,
            pytest.raises(AnnotateError),
            open_history(pin(f"http://127.0.0.1:{port}/x.git"), store, None, limits=QUICK),
        ):
            pass
        assert not [path for path in store.root.rglob("*") if path.is_file()]
