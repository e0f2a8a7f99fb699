"""Running experiments: new recordings are kept, checked, or added to as confirmations."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from annotate.edit import write_atomically
from annotate.errors import AnnotateError
from annotate.project import Project
from annotate.recordings import layout
from annotate.recordings.record import record
from annotate.recordings.recording import Recording
from annotate.upstream.index import Index


class Mode(StrEnum):
    """What to do with a run's recording.

    ``RECORD`` keeps it, ``CHECK`` only compares it with the kept one, ``CONFIRM`` adds the tree to
    the kept one if script and behaviour are the same.
    """

    RECORD = "record"
    CHECK = "check"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one experiment went.

    Attributes:
        name: the experiment.
        failed: whether it could not be run, or did not do what `Mode` asks for.
        message: one line about it.
        details: a diff or a hint, or "".
    """

    name: str
    failed: bool
    message: str
    details: str = ""


def run(
    project: Project,
    names: Iterable[str],
    mode: Mode,
    *,
    upstream: str = "",
    tell: Callable[[Outcome], None],
) -> list[Outcome]:
    """Run experiments side by side on all cores, each twice.

    Args:
        project: the project, its tree at hand.
        names: the experiments; none means all.
        mode: what to do with what they did.
        upstream: whose tree they run against, where several are pinned.
        tell: called with each outcome as soon as it is known, one at a time.

    Raises:
        AnnotateError: there is no such experiment, or none at all.
    """
    known = layout.experiments(project.config.root)
    chosen = list(dict.fromkeys(names)) or known
    for name in chosen:
        if name not in known:
            raise AnnotateError(
                f"there is no experiment “{name}”",
                f"{layout.EXPERIMENTS} has: {', '.join(known) or 'none'}.",
            )
    if not chosen:
        raise AnnotateError(
            "the project has no experiments", f"Put a script into {layout.EXPERIMENTS}."
        )
    index = project.index(upstream)
    outcomes = []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for outcome in pool.map(lambda name: _run_one(project, name, index, mode), chosen):
            tell(outcome)
            outcomes.append(outcome)
    return outcomes


def _run_one(project: Project, name: str, index: Index, mode: Mode) -> Outcome:
    root = project.config.root
    path = root / layout.recording_path(name)
    try:
        kept = Recording.load(path) if path.exists() else None
        made = record(root, layout.script_path(name), index)
    except AnnotateError as error:
        return Outcome(name, True, error.message, error.hint)
    new = made.recording
    seconds = f"{sum(made.seconds):.1f} s, {made.calls:,} calls, sandbox: {made.sandbox}"
    same_script = kept is not None and kept.sha256 == new.sha256
    difference = kept.difference(new) if kept is not None and same_script else ""
    if kept is not None and same_script and not difference:
        joined = kept.confirmed_by(new)
        if mode is Mode.CHECK or joined == kept:
            return Outcome(name, False, f"did what was recorded ({seconds})")
        write_atomically(path, joined.dump())
        return Outcome(name, False, f"confirmed on {new.confirmed[0]} ({seconds})")
    if mode is Mode.RECORD:
        write_atomically(path, new.dump())
        return Outcome(name, False, f"recorded on {new.confirmed[0]} ({seconds})", difference)
    if kept is None:
        return Outcome(name, True, "has no recording yet", f"annotate run {name} makes it")
    if not same_script:
        return Outcome(name, True, "the script has changed since it was recorded")
    return Outcome(name, True, f"did something else on {new.confirmed[0]}", difference)
