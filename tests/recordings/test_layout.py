from pathlib import Path

import pytest

from annotate.errors import AnnotateError
from annotate.recordings import experiments, recording_path, script_path


def test_names_and_paths(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "experiments"
    (folder / "recordings").mkdir(parents=True)
    for name in ("tanh.py", "custom_primitive.py", "notes.md", "with space.py", ".hidden.py"):
        (folder / name).touch()
    assert experiments(tmp_path) == ["custom_primitive", "tanh"]
    assert (tmp_path / script_path("tanh")).exists()
    assert recording_path("tanh") == "docs/experiments/recordings/tanh.json"


@pytest.mark.parametrize("name", ["", "../tanh", "a/b", "tanh.py", "-x", "a b", "tanh\n"])
def test_bad_names(name: str) -> None:
    with pytest.raises(AnnotateError, match="not the name of an experiment"):
        script_path(name)
    with pytest.raises(AnnotateError, match="not the name of an experiment"):
        recording_path(name)
