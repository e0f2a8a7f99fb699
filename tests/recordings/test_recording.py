import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError
from annotate.pin import Release
from annotate.recordings import (
    Call,
    Confirmation,
    Edge,
    Graph,
    Moment,
    Node,
    Recording,
    State,
    check,
)
from annotate.recordings.record import Recorded
from annotate.recordings.recording import executed_on, identity
from annotate.upstream.index import Index
from annotate.upstream.tree import Tree
from tests.recordings.material import PIN

SCRIPT = b"from tiny.core import stage\nprint(stage(2)(3))\n"
STAGE = "tiny/core.py::stage"
CHECKED = "tiny/core.py::checked"

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
calls = st.builds(
    Call,
    depth=st.integers(0, 9),
    symbol=text,
    inner=text,
    wraps=text,
    line=st.integers(0, 99),
    times=st.integers(1, 9),
    resumed=st.booleans(),
    path=st.sampled_from(["", "1", "1 ( 2", "2 !"]),
)
moments = st.builds(Moment, st.integers(0, 9), st.integers(0, 9), st.integers(1, 99))
values = st.dictionaries(text, text, max_size=3)
nodes = st.builds(Node, text, text, st.lists(st.integers(0, 3), max_size=2).map(tuple), values)
marks = st.builds(State, moments, text, values) | st.builds(
    Graph, moments, text, st.lists(nodes, max_size=3).map(tuple)
)
symbols = st.sampled_from("abcd")
fingerprints = st.sampled_from(["1", "2"])
commits = st.builds(lambda digit: {"upstream": "u", "source": "git", "commit": digit * 40}, symbols)
releases = st.builds(
    lambda version: {
        "upstream": "u",
        "source": "release",
        "name": "u",
        "version": version,
        "sha256": "5" * 64,
    },
    symbols,
)
folders = st.builds(lambda digest: {"upstream": "u", "source": "folder", "files": digest}, symbols)
recordings = st.builds(
    Recording,
    script=text,
    sha256=text,
    exit_status=st.just(0),
    stdout=st.lists(text, max_size=4).map(tuple),
    stderr=st.lists(text, max_size=2).map(tuple),
    executed=st.dictionaries(text, text, max_size=4),
    edges=st.lists(st.builds(Edge, text, text, text, st.integers(1, 9)), max_size=4).map(tuple),
    calls=st.lists(calls, max_size=6).map(tuple),
    depth_limit=st.none() | st.integers(1, 9),
    texts=st.dictionaries(text, text, max_size=2),
    marks=st.lists(marks, max_size=3).map(tuple),
    confirmed=st.lists(
        st.builds(
            Confirmation,
            commits | releases | folders,
            st.dictionaries(text, st.none() | text, max_size=3),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
)


@given(recordings)
def test_what_is_dumped_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, recording: Recording
) -> None:
    path = tmp_path_factory.mktemp("recording") / "recording.json"
    path.write_bytes(recording.dump())
    assert Recording.load(path) == recording
    assert Recording.load(path).dump() == recording.dump()
    assert recording.difference(Recording.load(path)) == ""


def on_tree(tree: dict[str, str], executed: dict[str, str]) -> Recording:
    confirmation = Confirmation(tree, {})
    return Recording("s.py", "0", 0, (), (), executed, (), (), None, {}, (), (confirmation,))


seen = st.builds(
    on_tree, commits | releases | folders, st.dictionaries(symbols, fingerprints, max_size=4)
)


@given(st.lists(seen, min_size=2, max_size=4, unique_by=lambda each: str(each.confirmed[0].tree)))
def test_confirmations_join_in_any_order(each: list[Recording]) -> None:
    joined, backwards = each[0], each[-1]
    for recording in each[1:]:
        joined = joined.confirmed_by(recording)
    for recording in reversed(each[:-1]):
        backwards = backwards.confirmed_by(recording)
    assert joined.dump() == backwards.dump()
    assert joined.confirmed_by(joined) == joined
    executed = {str(one.tree): executed_on(joined, one) for one in joined.confirmed}
    assert executed == {str(one.confirmed[0].tree): dict(one.executed) for one in each}
    sources = [one.tree["source"] for one in joined.confirmed]
    assert sources == sorted(sources, key=["git", "release", "folder"].index)


def test_a_new_run_on_the_same_tree_takes_the_place_of_the_old() -> None:
    tree = {"upstream": "u", "source": "git", "commit": "a" * 40}
    old, new = on_tree(tree, {"a": "1"}), on_tree(tree, {"a": "2"})
    assert old.confirmed_by(new) == new


def test_other_behaviour_confirms_nothing() -> None:
    tree = {"upstream": "u", "source": "git", "commit": "a" * 40}
    one = on_tree(tree, {})
    for other in (
        replace(one, stdout=("x",)),
        replace(one, calls=(Call(0, "a"),)),
        replace(one, edges=(Edge("a", "b", "", 1),)),
        replace(one, marks=(State(Moment(0, 0, 1), "now", {"x": "1"}),)),
        replace(one, sha256="1"),
    ):
        with pytest.raises(ValueError, match="different behaviour"):
            one.confirmed_by(other)


def test_a_difference_is_a_diff_of_bounded_length() -> None:
    tree = {"upstream": "u", "source": "git", "commit": "a" * 40}
    one = replace(on_tree(tree, {}), stdout=("same", "old"))
    assert one.difference(replace(one, stdout=("same", "new"))).endswith(" same\n-old\n+new")
    long = replace(one, stdout=tuple(map(str, range(500)))).difference(one)
    assert len(long.splitlines()) == 41
    assert re.search(r"… and \d+ more lines$", long)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a recording that can be read"),
        (b"\xff", "not a recording that can be read"),
        (b"[]", "its version is None, not 2"),
        (b'{"version": 1}', "its version is 1, not 2"),
        (b'{"version": 2}', "KeyError: 'confirmed'"),
        (b'{"version": 2, "confirmed": []}', "no tree confirms it"),
        (b'{"version": 2, "confirmed": [{"source": "rumour"}]}', "no source rumour"),
        (b'{"version": 2, "confirmed": 7}', "TypeError"),
    ],
)
def test_a_file_that_is_no_recording(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(data)
    with pytest.raises(AnnotateError, match=re.escape(why)):
        Recording.load(path)


def test_there_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(AnnotateError, match="there is no recording"):
        Recording.load(tmp_path / "none.json")


def test_a_call_with_an_unknown_detail_is_refused(
    tmp_path: Path, run: Callable[..., Recorded]
) -> None:
    data = json.loads(run("stage", SCRIPT).recording.dump())
    data["calls"][0] = [0, STAGE, {"colour": "red"}]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(AnnotateError, match="not a recording that can be read"):
        Recording.load(path)


@pytest.mark.parametrize(
    ("old", "new"), [('"6"', '"7"'), ('"line": 2', '"line": 1'), ('"times": 2', '"times": 3')]
)
def test_a_recording_that_somebody_edited_is_none(
    tmp_path: Path, run: Callable[..., Recorded], old: str, new: str
) -> None:
    script = b"from tiny.core import half, stage\nprint(stage(2)(3))\nprint(half(1), half(2))\n"
    written = run("edited", script).recording.dump().decode()
    path = tmp_path / "edited.json"
    path.write_text(written, encoding="utf-8")
    Recording.load(path)
    assert written.count(old) >= 1
    path.write_text(written.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(AnnotateError, match="changed after it was made"):
        Recording.load(path)


def test_a_tree_is_identified_alike_on_every_machine(
    upstream: Path, indexed: Callable[[Path], Index]
) -> None:
    folder = indexed(upstream).tree
    before = identity(folder)
    assert before["source"] == "folder"
    assert str(upstream) not in str(before)
    (upstream / "unrelated.py").write_text("changed = True\n", encoding="utf-8")
    assert identity(indexed(upstream).tree) != before
    pin = replace(PIN, release=Release("tiny", "1.0", "5" * 64))
    release = Tree(pin, "release", "release tiny 1.0", folder.files, folder.read_blob)
    assert identity(release) == {
        "upstream": "tiny",
        "source": "release",
        "name": "tiny",
        "version": "1.0",
        "sha256": "5" * 64,
    }
    commit = Tree(pin, "git", "commit", folder.files, folder.read_blob)
    assert identity(commit) == {"upstream": "tiny", "source": "git", "commit": "0" * 40}


def change(upstream: Path, old: str, new: str) -> None:
    core = upstream / "tiny" / "core.py"
    source = core.read_text(encoding="utf-8")
    assert source.count(old) == 1
    core.write_text(source.replace(old, new), encoding="utf-8")


def test_a_recording_holds_while_what_ran_stays_the_same(
    run: Callable[..., Recorded], upstream: Path, indexed: Callable[[Path], Index]
) -> None:
    recording = run("stage", SCRIPT, upstream).recording
    assert check(recording, SCRIPT, indexed(upstream)) == []
    change(upstream, "def drained(number):\n", "# a comment\ndef drained(number, more=0):\n")
    change(upstream, "    return lambda g: g * checked(x)", "    return (lambda g: g * checked(x))")
    reasons = check(recording, SCRIPT, indexed(upstream))
    assert [reason.subject for reason in reasons] == [STAGE]
    change(upstream, "    return (lambda g: g * checked(x))", "    return lambda g: g*checked( x )")
    assert check(recording, SCRIPT, indexed(upstream)) == []


def test_reasons_name_script_and_symbols(
    run: Callable[..., Recorded], upstream: Path, indexed: Callable[[Path], Index]
) -> None:
    recording = run("stage", SCRIPT, upstream).recording
    change(upstream, "def stage(x)", "def staged(x)")
    change(upstream, "assert number < LIMIT", "assert number <= LIMIT")
    reasons = check(recording, SCRIPT + b"\n", indexed(upstream))
    tree = str(recording.confirmed[0])
    assert tree.startswith("folder with files ")
    assert [(reason.subject, reason.message) for reason in reasons] == [
        (
            "docs/experiments/stage.py",
            "docs/experiments/stage.py has changed since it was recorded",
        ),
        (CHECKED, f"{CHECKED} is not the code that ran on {tree}"),
        (STAGE, f"{STAGE}, which ran on {tree}, does not exist"),
    ]
    (upstream / "tiny" / "core.py").unlink()
    missing = check(recording, SCRIPT, indexed(upstream))
    assert {reason.subject for reason in missing} == set(recording.executed)
    assert STAGE in recording.executed


def test_a_change_of_code_that_runs_at_import_counts(
    run: Callable[..., Recorded], upstream: Path, indexed: Callable[[Path], Index]
) -> None:
    recording = run("stage", SCRIPT, upstream).recording
    change(upstream, "RULES[name] = maker", "RULES[name] = maker or None")
    reasons = check(recording, SCRIPT, indexed(upstream))
    assert [reason.subject for reason in reasons] == ["tiny/core.py::rule_for"]


def test_it_holds_on_any_tree_it_was_confirmed_on_but_on_no_mixture(
    run: Callable[..., Recorded], upstream: Path, indexed: Callable[[Path], Index]
) -> None:
    first = run("stage", SCRIPT, upstream).recording
    change(upstream, "assert number < LIMIT", "assert number <= LIMIT")
    change(upstream, "    RULES[name] = maker", "    RULES[name] = RULES.get(name, maker)")
    second = run("stage", SCRIPT, upstream).recording
    both = first.confirmed_by(second)
    assert both.dump() == second.confirmed_by(first).dump()
    assert len(both.confirmed) == 2
    assert sorted(both.confirmed[1].differs) == [CHECKED, "tiny/core.py::rule_for"]
    assert check(both, SCRIPT, indexed(upstream)) == []
    assert check(first, SCRIPT, indexed(upstream)) != []
    change(upstream, "assert number <= LIMIT", "assert number < LIMIT")
    mixture = check(both, SCRIPT, indexed(upstream))
    assert len(mixture) == 1
