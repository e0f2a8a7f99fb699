"""Running an experiment twice and keeping what it did, if it did the same twice.

The second run has another folder and another hash seed. Only what
`annotate.recordings.runner.readable` replaces may differ between the two.
"""

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

from annotate.errors import AnnotateError, Exit
from annotate.location import refuse_unsafe_path
from annotate.recordings import runner
from annotate.recordings.calls import Call, Calls, Origins
from annotate.recordings.marks import Graph, State, noted
from annotate.recordings.recording import Confirmation, Recording, bounded, identity
from annotate.recordings.runner import Run, Sandbox
from annotate.recordings.watch import Limits
from annotate.upstream.index import Index
from annotate.upstream.tree import Tree

HASH_SEEDS = (0, 1)
TEXT_DIGITS = 16
"""How much is kept of a text fingerprint, which here only has to tell versions apart."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A new recording, and how its two runs went; the runs are not part of the recording.

    Attributes:
        recording: what to keep.
        sandbox: what held the script: ``namespaces`` (no network, nothing escapes) or ``session``.
        seconds: wall clock of each run.
        cpu_seconds: processor time of each run.
        calls: the number of calls seen, before any folding.
    """

    recording: Recording
    sandbox: Sandbox
    seconds: tuple[float, ...]
    cpu_seconds: tuple[float, ...]
    calls: int


def record(
    project: Path,
    script: str,
    index: Index,
    limits: Limits | None = None,
    *,
    within: Sandbox | None = None,
) -> Recorded:
    """Run an experiment against a tree, twice, and make its recording. Nothing is written.

    Args:
        project: the project's folder.
        script: the script's path in it, with forward slashes.
        index: the symbols of the tree to run against.
        limits: what each run may use.
        within: the sandbox to use, or None for the best that the kernel grants.

    Raises:
        AnnotateError: there is no such script, a run reached a limit or failed, the two runs
            differ, or calls cannot be told apart.
    """
    refuse_unsafe_path(script)
    try:
        source = (project / script).read_bytes()
    except OSError as error:
        raise AnnotateError(
            f"the script {script} cannot be read: {error.strerror}",
            "Name a script by its path in the project, such as docs/experiments/NAME.py.",
        ) from error
    limits = limits or Limits()
    within = within or runner.sandbox()
    origins = Origins(index, script, source)
    runs: list[Run] = []
    made: list[Recording] = []
    for hash_seed in HASH_SEEDS:
        with tempfile.TemporaryDirectory(prefix="annotate-", ignore_cleanup_errors=True) as folder:
            root = Path(folder).resolve()
            name = script.rpartition("/")[2]
            _materialise(index.tree, root / "tree")
            _write(root / "script" / name, source)
            run = runner.run(name, root, limits, hash_seed=hash_seed, within=within)
        runs.append(run)
        made.append(_recording(run, script, source, index, origins, limits))
        if made[0].dump() != made[-1].dump():
            difference = made[0].difference(made[-1]) or "other symbols ran during imports"
            raise AnnotateError(
                f"two runs of {script} differ; nothing was recorded\n{difference}",
                "Make the script deterministic: seed random generators, sort sets, print no times.",
                exit_code=Exit.FAILED,
            )
    return Recorded(
        made[0],
        within,
        tuple(run.seconds for run in runs),
        tuple(run.cpu_seconds for run in runs),
        len(runs[0].notes["lines"]),
    )


def _materialise(tree: Tree, folder: Path) -> None:
    folder.mkdir()
    for path, file in tree.files.items():
        refuse_unsafe_path(path)
        _write(folder / path, tree.read_blob(file.blob))


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _recording(
    run: Run, script: str, source: bytes, index: Index, origins: Origins, limits: Limits
) -> Recording:
    calls = Calls(run.notes, origins, script)
    made: list[Call] = []
    marks: list[State | Graph] = []
    for each in calls.rows():
        if isinstance(each, Call):
            made.append(each)
        else:
            marks.append(noted(run.notes["marks"][each.number], len(made), each.depth))
    traced = sorted({call.symbol for call in made if call.path} - {script})
    recording = Recording(
        script=script,
        sha256=hashlib.sha256(source).hexdigest(),
        exit_status=0,
        stdout=_lines(run.stdout),
        stderr=_lines(run.stderr),
        executed={symbol: origins.fingerprint(symbol) for symbol in calls.executed},
        edges=calls.edges,
        calls=tuple(made),
        depth_limit=None,
        texts={
            symbol: origins.text_fingerprint(symbol)[:TEXT_DIGITS]
            for symbol in traced
            if symbol.partition("::")[0] != script
        },
        marks=tuple(marks),
        confirmed=(Confirmation(identity(index.tree), {}),),
    )
    return bounded(recording, limits.recording)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").split("\n")) if text else ()
