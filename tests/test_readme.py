"""The README's commands are the ones CI runs, and install what the project says it needs."""

import os
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from annotate.pages import blocks, read_page

ROOT = Path(__file__).resolve().parents[1]
README = read_page(ROOT / "README.md", "README.md")
COMMANDS = [block.text for block in blocks(README) if block.language == "sh"]
CI = (ROOT / ".ci" / "run").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def constraints() -> dict[str, Requirement]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").split("\n")
    entries = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(entry.name): entry for entry in entries}


def test_there_are_two_commands_of_one_line() -> None:
    assert len(COMMANDS) == 2
    assert all("\n" not in command and "\\" not in command for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_ci_runs_the_command_as_it_is_written(command: str) -> None:
    assert command in [line.strip() for line in CI.split("\n")]


@pytest.mark.parametrize("broken", ["", "python3", "pip", "annotate", "python", "ruff", "mypy"])
def test_ci_ends_with_the_first_command_that_fails(broken: str, tmp_path: Path) -> None:
    """Run where all programs are stubs that succeed, but for one."""
    script = tmp_path / ".ci" / "run"
    script.parent.mkdir()
    shutil.copy(ROOT / ".ci" / "run", script)
    stubs = tmp_path / "stubs"
    stubs.mkdir()

    def stub(name: str, body: str) -> None:
        status = 1 if name == broken else 0
        (stubs / name).write_text(f"#!/bin/sh\n{body}\nexit {status}\n")
        (stubs / name).chmod(0o755)

    stub("apt-get", "")
    stub("dpkg-query", "echo installed")
    said = 'echo "$(basename "$0") $*"'
    stub("python3", f"{said} && mkdir -p .venv/bin && cp {stubs}/* .venv/bin/")
    for name in ("annotate", "mypy", "pip", "python", "ruff"):
        stub(name, said)
    environment = {"PATH": f"{stubs}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    run = subprocess.run(["bash", str(script)], env=environment, capture_output=True, text=True)
    lines = run.stdout.rstrip("\n").split("\n")
    if broken:
        assert run.returncode == 1
        assert [line.startswith(f"{broken} ") for line in lines].index(True) == len(lines) - 1
    else:
        assert run.returncode == 0
        assert lines[-1].startswith("python -m pytest -m slow or browser")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_installs_an_extra_that_exists_under_the_constraints(command: str) -> None:
    (target,) = re.findall(r"pip install -c constraints\.txt -e '?(\S+?)'? &&", command)
    extras = Requirement(target.replace(".", "annotate", 1)).extras
    assert extras <= set(EXTRAS)


def test_ci_is_a_script_that_bash_can_read() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
    assert "\nset -euo pipefail\n" in CI


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#([\w-]+))?\)", README)
    assert len(links) > 5
    for path, anchor in links:
        assert (ROOT / path).is_file(), path
        if anchor:
            assert f"{{ #{anchor} }}" in (ROOT / path).read_text("utf-8"), f"{path}#{anchor}"


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    for entry in constraints().values():
        assert [specifier.operator for specifier in entry.specifier] == ["=="], entry
        assert entry.url is None


def test_constraints_fit_what_the_project_asks_for() -> None:
    pinned = constraints()
    for line in [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]:
        wanted = Requirement(line)
        (specifier,) = pinned[canonicalize_name(wanted.name)].specifier
        assert wanted.specifier.contains(specifier.version), f"{line}: {specifier}"


def test_constraints_cover_all_that_is_installed_with_the_project() -> None:
    pinned = constraints()
    waiting = [Requirement(line) for line in [*PROJECT["dependencies"], *EXTRAS["test"]]]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        assert key[0] in pinned, f"{wanted.name} has no exact version in constraints.txt"
        for line in metadata.requires(wanted.name) or ():
            inner = Requirement(line)
            extras = wanted.extras or {""}
            if inner.marker is None or any(inner.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(inner)
    assert len(seen) > len(PROJECT["dependencies"])


def test_the_workflow_runs_what_the_readme_says() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/verify.yml").read_text("utf-8"))
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    runs = [step["run"] for step in steps if "run" in step]
    assert set(COMMANDS) <= set(runs)
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", s["uses"]) for s in steps if "uses" in s)
