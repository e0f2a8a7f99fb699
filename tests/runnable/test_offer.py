"""What the site carries: the archive, and what *Run* asks for."""

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.project import Project
from annotate.recordings.record import record
from annotate.runnable import FOLDER, downloads, files, from_cdn
from annotate.upstream.tree import SourceName
from tests.projects import open_project

UPSTREAM = {
    "LICENSE": b"The MIT License (MIT)\n",
    "README.md": b"Kettles\n",
    "kettle/__init__.py": b"",
    "kettle/core.py": b"import numpy as np\n\n\ndef boil(x):\n    return float(np.sum(x))\n",
    "examples/brew.py": b"def brew():\n    return 'tea'\n",
}
SCRIPT = """\
import runpy
from pathlib import Path

import kettle
from kettle.core import boil

print(f"boiled: {boil([1.5, 2.0])}")
brew = Path(kettle.__file__).parents[1] / "examples" / "brew.py"
print(runpy.run_path(str(brew))["brew"]())
"""

Open = Callable[..., Project]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """A project with one experiment, recorded."""

    def opened(source: SourceName = "git") -> Project:
        folder = tmp_path / "project" / "docs" / "experiments"
        (folder / "recordings").mkdir(parents=True, exist_ok=True)
        (folder / "brew_up.py").write_text(SCRIPT)
        project = open_project(
            tmp_path / "project", {"kettle": UPSTREAM}, tmp_path / "store", source
        )
        made = record(project.config.root, "docs/experiments/brew_up.py", project.index())
        (folder / "recordings" / "brew_up.json").write_bytes(made.recording.dump())
        (folder / "beside.txt").write_text("beside")
        (folder / "__pycache__").mkdir(exist_ok=True)
        (folder / "__pycache__" / "brew_up.pyc").write_bytes(b"")
        return project

    return opened


def zipped(project: Project) -> zipfile.ZipFile:
    content = files(project, None, "Tea")["experiments/kettle-experiments.zip"]
    assert isinstance(content, bytes)
    return zipfile.ZipFile(io.BytesIO(content))


def test_the_archive_has_what_the_scripts_need_and_the_licence(opened: Open) -> None:
    archive = zipped(opened())
    assert archive.namelist() == [
        "kettle-experiments/LICENSE",
        "kettle-experiments/README.md",
        "kettle-experiments/beside.txt",
        "kettle-experiments/brew_up.py",
        "kettle-experiments/examples/brew.py",
        "kettle-experiments/kettle/__init__.py",
        "kettle-experiments/kettle/core.py",
        "kettle-experiments/recorded/brew_up.txt",
        "kettle-experiments/requirements.txt",
    ]
    for path in ("LICENSE", "kettle/core.py", "examples/brew.py"):
        assert archive.read(f"kettle-experiments/{path}") == UPSTREAM[path]
    recorded = archive.read("kettle-experiments/recorded/brew_up.txt")
    assert recorded == b"boiled: 3.5\ntea\n"
    readme = archive.read("kettle-experiments/README.md").decode()
    assert "Kettles" not in readme, "the README is about the experiments"


def test_the_same_files_give_the_same_bytes(opened: Open) -> None:
    project = opened()
    first = files(project, None, "Tea")["experiments/kettle-experiments.zip"]
    (project.config.root / "docs/experiments/beside.txt").touch()
    assert files(project, None, "Tea")["experiments/kettle-experiments.zip"] == first
    assert isinstance(first, bytes)
    for entry in zipfile.ZipFile(io.BytesIO(first)).infolist():
        assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        assert entry.compress_type == zipfile.ZIP_STORED


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("git", "They are those of that commit, unchanged."),
        ("release", "release kettle 1.0, which stood in for the commit"),
        ("folder", "a folder that was read instead of the commit"),
    ],
)
def test_the_readme_says_how_the_files_relate_to_the_pin(
    opened: Open, source: SourceName, told: str
) -> None:
    readme = zipped(opened(source)).read("kettle-experiments/README.md").decode()
    assert told in readme
    assert f"commit `{'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}`" in readme
    assert "Its licence is in `LICENSE`." in readme
    assert "checkout" not in readme, "what a folder is called is nobody's business"


def test_only_with_a_runtime_is_there_something_to_run(opened: Open) -> None:
    project = opened()
    assert set(files(project, None, "Tea")) == {
        "experiments/brew_up.py",
        "experiments/kettle-experiments.zip",
    }
    carried = files(project, from_cdn(), "Tea")
    assert {path for path in carried if path.startswith(FOLDER)} == {
        f"{FOLDER}/{name}" for name in ("experiments.json", "run.css", "run.js", "worker.js")
    }


def test_the_manifest_has_code_recorded_output_and_checks(opened: Open) -> None:
    content = files(opened(), from_cdn(), "Tea")[f"{FOLDER}/experiments.json"]
    assert isinstance(content, bytes)
    manifest = json.loads(content)
    assert manifest["experiments"] == {
        "brew_up": {
            "code": SCRIPT,
            "stdout": "boiled: 3.5\ntea\n",
            "stderr": "",
            "archive": "../../experiments/kettle-experiments.zip",
            "folder": "kettle-experiments",
        }
    }
    assert manifest["pyodide"]["integrity"] == dict(from_cdn().integrity)


def test_what_can_be_downloaded(opened: Open) -> None:
    assert downloads(opened()) == {
        "brew_up": ("experiments/brew_up.py", "experiments/kettle-experiments.zip")
    }


def test_a_project_without_recordings_offers_nothing(opened: Open, tmp_path: Path) -> None:
    opened()
    (tmp_path / "project/docs/experiments/recordings/brew_up.json").write_text("{}")
    project = open_project(tmp_path / "project", {"kettle": UPSTREAM}, tmp_path / "store")
    assert files(project, from_cdn(), "Tea") == {}
    assert downloads(project) == {}


def instructions(readme: str) -> list[str]:
    block = re.search(r"```sh\n(.*?)```", readme, re.DOTALL)
    assert block
    return block[1].splitlines()


def test_unpacked_it_runs_beside_an_installed_package_of_that_name(
    opened: Open, tmp_path: Path
) -> None:
    zipped(opened()).extractall(tmp_path)
    folder = tmp_path / "kettle-experiments"
    other = tmp_path / "installed" / "kettle"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ImportError('not this one')")
    printed = subprocess.run(
        [sys.executable, "-B", "brew_up.py"],
        cwd=folder,
        env={"PYTHONPATH": str(other.parent)},
        capture_output=True,
        check=True,
    )
    assert printed.stdout == (folder / "recorded/brew_up.txt").read_bytes()


@pytest.mark.slow
def test_the_readmes_instructions_work_on_a_clean_machine(opened: Open, tmp_path: Path) -> None:
    zipped(opened()).extractall(tmp_path)
    folder = tmp_path / "kettle-experiments"
    lines = instructions((folder / "README.md").read_text("utf-8"))
    assert len(lines) == 3
    for line in lines:
        done = subprocess.run(["sh", "-ec", line], cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == (folder / "recorded/brew_up.txt").read_bytes()


@pytest.mark.slow
def test_the_experiments_of_this_repository_run_from_their_archive(tmp_path: Path) -> None:
    project = Project.open(Path(__file__).parents[2])
    content = files(project, None, "Tea")["experiments/autograd-experiments.zip"]
    assert isinstance(content, bytes)
    assert len(content) < 500_000
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    folder = tmp_path / "autograd-experiments"
    lines = instructions((folder / "README.md").read_text("utf-8"))
    for line in lines[:-1]:
        subprocess.run(["sh", "-ec", line], cwd=folder, check=True)
    assert project.recordings
    for name in project.recordings:
        command = [".venv/bin/python", "-B", f"{name}.py"]
        printed = subprocess.run(command, cwd=folder, capture_output=True, check=True)
        assert printed.stdout == (folder / f"recorded/{name}.txt").read_bytes()
