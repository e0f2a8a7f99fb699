"""What fetching a pinned commit costs beside git's own fetch of it."""

import json
import shutil
import sys
from pathlib import Path

from benchmarks.measure import Run, Sample, in_turn, run
from benchmarks.packages import Package
from benchmarks.served import Server
from benchmarks.table import MEMORY_AIM, Measure, Row, Words


def measure(package: Package, rounds: int, workspace: Path) -> list[Row]:
    """The rows about one package, served over HTTP from this machine."""
    with Server(package.repository) as server:
        fetches = {
            "annotate": _annotate(server.address, package, workspace / "annotate"),
            "git": _git(server.address, package, workspace / "git"),
            "checkout": _git(server.address, package, workspace / "checkout", files=True),
        }
        samples = in_turn(rounds, {name: server.counting(fetch) for name, fetch in fetches.items()})
    ours = samples["annotate"]
    what = Words(f"`annotate fetch`, {package.name}", f"`annotate fetch`，{package.name}")
    git = Words("`git fetch --depth=1` of the same id", "`git fetch --depth=1` 同一提交")
    checkout = Words(f"{git.en}, and checkout", f"{git.zh}，并检出")
    rows = [
        Row(
            what,
            git,
            Measure.BYTES,
            [sample.received for sample in ours],
            [sample.received for sample in samples["git"]],
            aim=1.0,
        )
    ]
    for name, words in (("git", git), ("checkout", checkout)):
        theirs = [sample.wall for sample in samples[name]]
        rows.append(
            Row(what, words, Measure.WALL, [sample.wall for sample in ours], theirs, aim=1.0)
        )
    rows.append(Row(what, None, Measure.MEMORY, [each.peak for each in ours], aim=MEMORY_AIM))
    return rows


def _annotate(address: str, package: Package, folder: Path) -> Run:
    folder.mkdir(parents=True)
    (folder / "annotate.toml").write_text(
        f'[upstream.package]\nrepository = {json.dumps(address)}\ncommit = "{package.commit}"\n',
        "utf-8",
    )
    store = folder / "store"

    def fetch() -> Sample:
        shutil.rmtree(store, ignore_errors=True)
        return run(
            [sys.executable, "-m", "annotate.cli", "fetch", "--exact"],
            folder=folder,
            environment={"ANNOTATE_CACHE": str(store)},
        )

    return fetch


def _git(address: str, package: Package, folder: Path, *, files: bool = False) -> Run:
    script = 'git init --quiet . && git fetch --progress --depth=1 --no-tags "$1" "$2"' + (
        " && git checkout --quiet FETCH_HEAD" if files else ""
    )

    def fetch() -> Sample:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return run(
            ["sh", "-c", script, "sh", address, package.commit],
            folder=folder,
            environment={"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"},
        )

    return fetch
