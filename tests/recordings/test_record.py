"""Every script in cases/ is recorded, and the file compared byte for byte with its .json.

To add a case, add a script; to accept what is recorded now, run pytest with ANNOTATE_ACCEPT=1.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.recordings import Call, Moment, Recording, State
from annotate.recordings.record import Recorded
from annotate.recordings.runner import Sandbox
from annotate.upstream.index import Index
from tests.recordings.material import HERE, UPSTREAM

LINES_OF = (3, 11)
"""The Python whose lines the golden recordings have: which lines count as run differs a little."""
CASES = sorted((HERE / "cases").glob("*.py"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_case(case: Path, within: Sandbox, run: Callable[..., Recorded]) -> None:
    recorded = run(case.stem, case.read_bytes(), within=within)
    golden = case.with_suffix(".json")
    if os.environ.get("ANNOTATE_ACCEPT"):
        golden.write_bytes(recorded.recording.dump())
    if sys.version_info[:2] == LINES_OF:
        assert recorded.recording.dump().decode() == golden.read_text(encoding="utf-8")
    assert recorded.recording.difference(Recording.load(golden)) == ""
    assert recorded.sandbox == within
    assert len(recorded.seconds) == len(recorded.cpu_seconds) == 2


def calls_of(recorded: Recorded) -> list[tuple[int, str, str, str]]:
    return [
        (call.depth, call.symbol.rpartition("::")[2], call.inner, call.wraps)
        for call in recorded.recording.calls
    ]


def test_a_call_is_found_by_position_although_the_name_lies(run: Callable[..., Recorded]) -> None:
    recorded = run("lies", b"from tiny import boundary\nboundary(len)('ab')\n")
    assert calls_of(recorded) == [
        (0, "boundary", "", ""),
        (1, "checked", "", ""),
        (0, "boundary.wrapped", "", "len"),
        (1, "checked", "", ""),
    ]


def test_a_staged_rule_shows_both_its_stages(run: Callable[..., Recorded]) -> None:
    recorded = run("staged", b"from tiny.core import RULES\nRULES['exp'](2, 1)(3)\n")
    assert calls_of(recorded) == [
        (0, 'rule_for("exp")', "<lambda>", ""),
        (0, 'rule_for("exp")', "<lambda>.<lambda>", ""),
        (1, "checked", "", ""),
    ]


def test_equal_calls_in_a_row_are_one_row(run: Callable[..., Recorded]) -> None:
    script = b"from tiny import stage\nfor _ in range(7):\n    stage(1)(2)\nstage(1)\n"
    recorded = run("rows", script)
    name = "tiny/core.py::stage"
    # The maker and its pullback alternate: only what repeats as it is can be folded.
    assert len(recorded.recording.calls) == 7 * 3 + 1
    recorded = run("rows", b"from tiny.core import depth\nfor _ in range(7):\n    depth(1)\n")
    name = "tiny/core.py::depth"
    assert recorded.recording.calls == (
        Call(0, name, line=3, times=7, path="2 ("),
        Call(1, name, path="2"),
    )
    assert [tuple(edge) for edge in _edges(recorded)] == [
        ("docs/experiments/rows.py", name, 7),
        (name, name, 7),
    ]


def _edges(recorded: Recorded) -> list[tuple[str, str, int]]:
    return [(edge.caller, edge.callee, edge.count) for edge in recorded.recording.edges]


def test_the_tree_goes_before_what_is_installed(
    run: Callable[..., Recorded], upstream: Path
) -> None:
    (upstream / "click.py").write_text("name = 'from the tree'\n", encoding="utf-8")
    (upstream / "src").mkdir()
    (upstream / "src" / "inside.py").write_text("name = 'from src'\n", encoding="utf-8")
    script = b"import click, inside\nprint(click.name, inside.name)\n"
    assert run("path", script, upstream).recording.stdout == ("from the tree from src",)


def test_a_script_runs_as_if_by_hand(run: Callable[..., Recorded]) -> None:
    script = b"""import os, sys, __main__
print(__name__, __main__.__dict__ is globals(), sys.argv == [__file__], __spec__)
print(sorted(name for name in os.environ if "ANNOTATE" in name), os.listdir("."))
print(sys.stdin.read() == "", sys.flags.dont_write_bytecode, sys.flags.safe_path)
"""
    assert run("by_hand", script).recording.stdout == (
        "__main__ True True None",
        "[] []",
        "True 1 True",
    )


def test_the_environment_is_not_passed_on(
    run: Callable[..., Recorded], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    script = (
        b"import os\nprint('SECRET_TOKEN' in os.environ, os.environ['LANG'], os.environ['TZ'])\n"
    )
    assert run("environment", script).recording.stdout == ("False C.UTF-8 UTC",)


def test_deep_calls_are_left_out_of_a_large_recording(
    run: Callable[..., Recorded],
) -> None:
    script = b"from tiny.core import depth\nfor number in range(40):\n    depth(number)\n"
    whole = run("large", script).recording
    recording = run("large", script, recording=20_000).recording
    assert 15_000 < len(recording.dump()) <= 20_000
    assert recording.depth_limit == max(call.depth for call in recording.calls) + 1
    assert recording.calls == tuple(
        call for call in whole.calls if call.depth < recording.depth_limit
    )
    assert recording.edges == whole.edges
    with pytest.raises(AnnotateError, match=r"would have [\d,]+ bytes; 1,000 are kept"):
        run("large", script, recording=1_000)


def test_a_long_way_through_a_function_is_cut(run: Callable[..., Recorded]) -> None:
    script = b"""from tiny.core import checked
def around(count):
    for number in range(count):
        number += 1
    return checked(1)
around(1000)
print("done")
"""
    (call, below) = run("way", script).recording.calls
    steps = call.path.split()
    assert (len(steps), steps[-1]) == (301, "…")
    assert steps[:5] == ["2", "3", "2", "3", "2"]
    assert below.path == "2 3"


def test_when_too_many_lines_run_the_calls_are_recorded_all_the_same(
    run: Callable[..., Recorded],
) -> None:
    script = b"""from tiny.core import checked
def around(count):
    for number in range(count):
        number += 1
    return checked(1)
around(10000)
"""
    recorded = run("lines", script)
    assert [call.symbol.partition("::")[2] for call in recorded.recording.calls] == [
        "around",
        "checked",
    ]
    assert recorded.recording.calls[1].path == ""


def test_looking_at_a_value_runs_no_upstream_code(run: Callable[..., Recorded]) -> None:
    script = b"""from annotate.experiment import snapshot
from tiny.core import Box
snapshot("box", box=Box(2))
"""
    recording = run("looking", script).recording
    assert [call.symbol for call in recording.calls] == ["tiny/core.py::Box.__init__"]
    assert "tiny/core.py::Box.twice" not in recording.executed
    assert recording.marks == (State(Moment(1, 0, 3), "box", {"box": "Box#1(value=2)"}),)


def test_marks_keep_their_place_when_deep_calls_are_left_out(
    run: Callable[..., Recorded],
) -> None:
    script = b"""from annotate.experiment import snapshot
from tiny.core import depth
for number in range(40):
    depth(number)
    snapshot("went down", number=number)
"""
    whole = run("placed", script).recording
    recording = run("placed", script, recording=20_000).recording
    assert recording.depth_limit is not None
    assert len(recording.marks) == len(whole.marks) == 40
    for mark, original in zip(recording.marks, whole.marks, strict=True):
        before = [call for call in whole.calls[: original.when.after] if call.depth == 0]
        kept = recording.calls[: mark.when.after]
        assert [call for call in kept if call.depth == 0] == before


def test_code_outside_of_any_symbol_is_bound_to_its_file(
    run: Callable[..., Recorded], upstream: Path
) -> None:
    odd = "class Holder:\n    pass\n\n\nHolder.method = lambda self: 1\n"
    (upstream / "odd.py").write_text(odd, encoding="utf-8")
    recorded = run("odd", b"from odd import Holder\nprint(Holder().method())\n", upstream)
    assert list(recorded.recording.executed) == ["odd.py"]
    assert calls_of(recorded) == [(0, "odd.py", "<lambda>", "")]


def test_symbols_that_python_does_not_confirm_are_refused(
    run: Callable[..., Recorded], upstream: Path
) -> None:
    script = b"""from tiny import core
code = compile("def other():\\n    pass\\n", core.__file__, "exec")
names = {}
exec(code.replace(co_firstlineno=6), names)
names["other"].__code__ = names["other"].__code__.replace(co_firstlineno=9)
names["other"]()
"""
    with pytest.raises(AnnotateError, match="Python ran other where checked stands") as caught:
        run("renamed", script, upstream)
    assert caught.value.exit_code == Exit.NOTHING_JUDGED


def test_there_is_no_such_script(indexed: Callable[[Path], Index], tmp_path: Path) -> None:
    from annotate.recordings.record import record

    with pytest.raises(AnnotateError, match=r"docs/experiments/none\.py cannot be read"):
        record(tmp_path, "docs/experiments/none.py", indexed(UPSTREAM))
    with pytest.raises(AnnotateError, match="not inside"):
        record(tmp_path, "../none.py", indexed(UPSTREAM))
