"""What scripts import: it does nothing by hand, and a project's copy of it is the same file."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import annotate.experiment
from annotate import recordings

ROOT = Path(__file__).parents[1]
SCRIPTS = [ROOT / recordings.script_path(name) for name in recordings.experiments(ROOT)]


def test_the_copy_beside_the_scripts_is_the_file_itself() -> None:
    copy = ROOT / recordings.EXPERIMENTS / "annotate" / "experiment.py"
    assert copy.read_bytes() == Path(annotate.experiment.__file__).read_bytes()


def test_nothing_happens_by_hand() -> None:
    assert annotate.experiment.snapshot("now", value=1) is None
    assert annotate.experiment.step("then") is None
    assert annotate.experiment.graph("g", 0, parents=lambda _: pytest.fail("was called")) is None


def test_what_records_has_the_same_signatures() -> None:
    from ast import FunctionDef, parse, unparse

    observer = parse((ROOT / "annotate" / "recordings" / "observer.py").read_bytes())
    found = {node.name: node for node in observer.body if isinstance(node, FunctionDef)}
    ours = parse(inspect.getsource(annotate.experiment))
    for node in ours.body:
        if isinstance(node, FunctionDef):
            assert unparse(found[node.name].args) == unparse(node.args)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_by_hand_and_prints_what_is_recorded(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("autograd")
    # As on a machine without annotate: `-S` leaves out what is installed, links to it included.
    packages = [
        str(Path(sys.modules[name].__file__ or "").parents[1])
        for name in ("numpy", "autograd")
        if __import__(name)
    ]
    for package in dict.fromkeys(packages):
        for name in ("numpy", "numpy.libs", "autograd"):
            if (Path(package) / name).exists():
                (tmp_path / name).symlink_to(Path(package) / name)
    ran = subprocess.run(
        [sys.executable, "-B", "-S", str(script)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    recorded = recordings.Recording.load(ROOT / recordings.recording_path(script.stem))
    # A wheel has no examples folder, whose line `annotate run` prints.
    expected = [line for line in recorded.stdout if not line.startswith("logsumexp's pullback")]
    printed = ran.stdout.splitlines()
    assert [line for line in printed if not line.startswith("logsumexp's pullback")] == expected
