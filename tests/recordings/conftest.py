import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.recordings.record import Recorded, record
from annotate.recordings.runner import Sandbox, sandbox
from annotate.upstream import folder
from annotate.upstream.index import Index
from annotate.upstream.store import Store
from tests.recordings.material import PIN, SMALL, UPSTREAM


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """A copy of the upstream package that a test may change."""
    copy = tmp_path / "upstream"
    shutil.copytree(UPSTREAM, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.fixture
def indexed(tmp_path: Path) -> Callable[[Path], Index]:
    """Reads a folder as a tree and indexes it."""
    store = Store(tmp_path / "store")
    return lambda path: Index(folder.read(PIN, path), store)


@pytest.fixture
def run(tmp_path: Path, indexed: Callable[[Path], Index]) -> Callable[..., Recorded]:
    """Records a script's bytes as an experiment of a fresh project."""
    project = tmp_path / "project"

    def run(
        name: str,
        script: bytes,
        tree: Path = UPSTREAM,
        within: Sandbox | None = None,
        **changed: float,
    ) -> Recorded:
        path = project / "docs" / "experiments" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(script)
        limits = dataclasses.replace(SMALL, **changed)
        return record(project, f"docs/experiments/{name}.py", indexed(tree), limits, within=within)

    return run


@pytest.fixture(params=["namespaces", "session"])
def within(request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "namespaces" and sandbox() != "namespaces":
        pytest.skip("the kernel grants no namespaces here")
    return request.param
