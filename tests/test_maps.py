"""`annotate map`, `log` and `diff` as their users run them, with a project and without one."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.upstream.commits import line
from tests.upstream.repositories import Repository

MEAN = """\
def mean(values, weights=None):
    total = sum(values)
    count = len(values)
    if weights is not None:
        count = sum(weights)
    return total / count
"""
OTHER = "def other(x):\n    return [x, x]\n"
NOTES = "# Notes\n\nMeans are taken over values.\nWeights are optional.\n"
STATES: list[dict[str, str]] = [
    {
        "kit/__init__.py": "from kit.a import mean\n",
        "kit/a.py": f"{MEAN}\n\n{OTHER}",
        "N.md": NOTES,
    },
    {
        "kit/__init__.py": "from kit.b import average\n",
        "kit/a.py": OTHER,
        "kit/b.py": MEAN.replace("mean", "average"),
        "N.md": f"Read this.\n\n{NOTES}",
    },
]


@dataclass
class Sandbox:
    """An empty folder to run in, a cache of its own, and an upstream."""

    root: Path
    repository: Repository
    commits: list[str]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-P", "-W", "error", "-m", "annotate.cli", *arguments],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root / "home"),
                "ANNOTATE_CACHE": str(self.root.parent / "cache"),
                "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
                "PIP_CONFIG_FILE": os.devnull,
            },
            capture_output=True,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--format", "json").stdout)


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    repository = Repository(tmp_path_factory.mktemp("served") / "kit.git")
    commits = line(repository, *STATES)
    repository.git("tag", "v1", commits[0])
    return repository, commits


@pytest.fixture
def sandbox(tmp_path: Path, upstream: tuple[Repository, list[str]]) -> Sandbox:
    root = tmp_path / "work"
    root.mkdir()
    return Sandbox(root, *upstream)


@pytest.fixture
def configured(sandbox: Sandbox) -> Sandbox:
    """The same with a project that pins the first commit."""
    (sandbox.root / "annotate.toml").write_text(
        f'[upstream.kit]\nrepository = "{sandbox.repository.url}"\n'
        f'commit = "{sandbox.commits[0]}"\n'
    )
    return sandbox


class TestMap:
    @pytest.mark.parametrize("is_address", [True, False])
    def test_without_a_project(self, sandbox: Sandbox, is_address: bool) -> None:
        place = sandbox.repository.url if is_address else str(sandbox.repository.path)
        arguments = ("map", "kit/a.py::mean", "--from", "v1", "--to", "latest")
        done = sandbox.run(*arguments, "--repository", place)
        assert done.returncode == 0
        assert "moved-and-renamed: kit/b.py::average  kit/b.py:1-6" in done.stdout
        assert f"kit: v1 is commit {sandbox.commits[0]}" in done.stderr

    def test_json(self, configured: Sandbox) -> None:
        found = configured.json("map", "kit/a.py::mean", "--from", "v1", "--to", "main")
        assert found.pop("reason")
        assert 0 < found.pop("confidence") <= 1
        assert found == {
            "version": 1,
            "path": "kit/b.py",
            "start_line": 1,
            "end_line": 6,
            "symbol": "kit/b.py::average",
            "verdict": "moved-and-renamed",
            "candidates": [],
        }

    def test_backwards_through_an_alias_in_dotted_spelling(self, configured: Sandbox) -> None:
        found = configured.json("map", "kit::average", "--from", "main", "--to", "v1")
        assert (found["symbol"], found["start_line"]) == ("kit/a.py::mean", 1)

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("N.md#L3-L4", ("N.md", 5, 6, "moved")),
            ("kit/a.py#L2-L3", ("kit/b.py", 2, 3, "moved-to-file")),
            ("N.md", ("N.md", 3, 6, "moved")),
        ],
    )
    def test_lines(
        self, source: str, expected: tuple[str, int, int, str], configured: Sandbox
    ) -> None:
        found = configured.json("map", source, "--from", "v1", "--to", "main")
        keys = ("path", "start_line", "end_line", "verdict")
        assert tuple(found[key] for key in keys) == expected
        assert found["symbol"] is None

    def test_no_place(self, configured: Sandbox) -> None:
        arguments = ("map", "N.md#L1-L1", "--from", "main", "--to", "v1")
        assert configured.run(*arguments).returncode == 1
        found = configured.json(*arguments)
        assert found["verdict"] == "deleted"
        assert [found[key] for key in ("path", "start_line", "end_line", "symbol")] == [None] * 4

    def test_folders(self, sandbox: Sandbox) -> None:
        for name, state in zip(("old", "new"), STATES, strict=True):
            for path, text in state.items():
                file = sandbox.root / name / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        found = sandbox.json("map", "kit/a.py::mean", "--from", "old", "--to", "./new")
        assert found["symbol"] == "kit/b.py::average"

    @pytest.mark.parametrize(
        ("source", "version"), [("kit/a.py::means", "v1"), ("x.md#L1", "v1"), ("N.md", "v2")]
    )
    def test_what_is_not_there(self, source: str, version: str, configured: Sandbox) -> None:
        done = configured.run("map", source, "--from", version, "--to", "main")
        assert done.returncode in (2, 3)
        assert done.stdout == ""
        assert "annotate: " in done.stderr


class TestLog:
    def test_json(self, configured: Sandbox) -> None:
        found = configured.json("log", "kit/b.py::average", "--from", "main")
        old, new = configured.commits
        assert found == {
            "version": 1,
            "symbol": "kit/b.py::average",
            "changes": [
                {
                    "commit": new,
                    "kind": "move+rename",
                    "symbol": "kit/b.py::average",
                    "path": "kit/b.py",
                },
                {
                    "commit": old,
                    "kind": "introduced",
                    "symbol": "kit/a.py::mean",
                    "path": "kit/a.py",
                },
            ],
        }

    def test_from_the_pin(self, configured: Sandbox) -> None:
        found = configured.json("log", "kit/a.py::mean")
        assert [change["commit"] for change in found["changes"]] == [configured.commits[0]]

    def test_text_without_a_project(self, sandbox: Sandbox) -> None:
        done = sandbox.run("log", "kit/b.py::average", "--repository", str(sandbox.repository.path))
        assert done.returncode == 0
        lines = done.stdout.splitlines()
        assert lines[0] == "kit/b.py::average"
        assert lines[1] == f"{sandbox.commits[1]}  2001-09-09  move+rename  State 1"
        assert lines[2].endswith("introduced  as kit/a.py::mean  State 0")

    def test_lines_have_no_history_of_their_own(self, configured: Sandbox) -> None:
        done = configured.run("log", "N.md#L1")
        assert done.returncode == 2
        assert "names no symbol" in done.stderr


class TestDiff:
    def test_json(self, configured: Sandbox) -> None:
        found = configured.json("diff", "v1", "main")
        assert found["version"] == 1
        assert [found["from"], found["to"]] == [f"commit {each}" for each in configured.commits]
        assert found["summary"] == {"moved-and-renamed": 1}
        (change,) = found["changes"]
        assert change["old"]["symbol"] == "kit/a.py::mean"
        assert change["new"] == {
            "symbol": "kit/b.py::average",
            "path": "kit/b.py",
            "start_line": 1,
            "end_line": 6,
        }

    def test_text_without_a_project(self, sandbox: Sandbox) -> None:
        done = sandbox.run("diff", "main", "v1", "--repository", str(sandbox.repository.path))
        assert done.returncode == 0
        assert "moved and renamed (1)\n  kit/b.py::average  → kit/a.py::mean" in done.stdout

    def test_nothing_differs(self, configured: Sandbox) -> None:
        assert "no symbol differs" in configured.run("diff", "v1", "v1").stdout

    def test_what_is_needed_is_said(self, sandbox: Sandbox) -> None:
        done = sandbox.run("diff", "v1", "v2")
        assert done.returncode == 2
        assert "--repository" in done.stderr

    def test_a_malformed_configuration_is_not_passed_over(self, sandbox: Sandbox) -> None:
        (sandbox.root / "annotate.toml").write_text("[upstream.kit\n")
        done = sandbox.run("diff", "v1", "v2")
        assert done.returncode == 2
        assert "annotate.toml" in done.stderr
