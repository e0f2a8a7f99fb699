"""What a comparison says beyond its verdict: places, reasons, confidence; what it refuses."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.errors import AnnotateError
from annotate.upstream.moves import Change, Facts, Moves, TextChange
from annotate.upstream.moves.difference import difference
from annotate.upstream.store import Store
from tests.upstream.moves.trees import tree

CODE = """\
LIMIT = 3


def depth(tree, start=0):
    \"\"\"How deep a tree is.\"\"\"
    if not tree or start > LIMIT:
        return start
    return max(depth(branch, start + 1) for branch in tree)


class Walk:
    def __init__(self, tree):
        self.tree = tree

    def leaves(self):
        for branch in self.tree:
            yield from Walk(branch).leaves()
"""


@pytest.fixture
def facts(store: Store) -> Facts:
    return Facts(store)


def test_a_move_says_where_from_and_where_to(facts: Facts) -> None:
    moves = Moves(tree({"a.py": CODE}), tree({"a.py": f"import os\n\n{CODE}"}), facts)
    move = moves.of("a.py", "depth")
    assert move.verdict is Change.UNCHANGED
    assert (move.old.first_line, move.old.last_line) == (4, 8)
    assert move.new is not None
    assert (move.new.first_line, move.new.last_line) == (6, 10)
    assert move.text is TextChange.SAME
    assert not move.has_moved


def test_confidence_falls_with_evidence(facts: Facts) -> None:
    moved = CODE.split("\n\n\n")
    same = Moves(tree({"a.py": CODE}), tree({"a.py": CODE}), facts).of("a.py", "depth")
    edited = Moves(
        tree({"a.py": CODE}), tree({"a.py": CODE.replace("start > LIMIT", "LIMIT < 9")}), facts
    ).of("a.py", "depth")
    elsewhere = Moves(
        tree({"a.py": CODE}), tree({"a.py": moved[0], "b.py": f"{moved[1]}\n"}), facts
    ).of("a.py", "depth")
    assert same.confidence == 1.0
    assert 0 < edited.confidence < 1.0
    assert 0 < elsewhere.confidence < 1.0
    assert elsewhere.verdict is Change.MOVED_TO_FILE


def test_an_ambiguous_one_names_its_candidates(facts: Facts) -> None:
    body = "(g, ans, x):\n    return unbroadcast(x, g * cos(x), broadcast=True)\n"
    old = {"a.py": f"def first{body}"}
    new = {"a.py": f"def second{body}\n\ndef third{body}"}
    move = Moves(tree(old), tree(new), facts).of("a.py", "first")
    assert move.verdict is Change.AMBIGUOUS
    assert move.new is None
    assert {site.qualname for site in move.candidates} == {"second", "third"}


def test_a_copy_is_mentioned(facts: Facts) -> None:
    new = CODE.replace("start > LIMIT", "start >= LIMIT")
    copy = CODE.split("\n\n\n")[1].replace("depth", "old_depth")
    moves = Moves(tree({"a.py": CODE}), tree({"a.py": f"{new}\n\n{copy}\n"}), facts)
    move = moves.of("a.py", "depth")
    assert move.verdict is Change.EDITED
    assert [site.qualname for site in move.candidates] == ["old_depth"]
    assert "old_depth" in move.reason


def test_a_piece_taken_out_is_mentioned(facts: Facts) -> None:
    old = """\
    def run(jobs, out):
        for job in sorted(jobs, key=lambda job: job.priority):
            out.write(job.name + ": ")
            out.write(job.describe(width=80) + "\\n")
        results = [job.start() for job in jobs if job.ready]
        return Report(results, failed=[each for each in results if not each])
    """
    new = """\
    def show(jobs, out):
        for job in sorted(jobs, key=lambda job: job.priority):
            out.write(job.name + ": ")
            out.write(job.describe(width=80) + "\\n")


    def run(jobs, out):
        show(jobs, out)
        results = [job.start() for job in jobs if job.ready]
        return Report(results, failed=[each for each in results if not each])
    """
    moves = Moves(tree({"a.py": textwrap.dedent(old)}), tree({"a.py": textwrap.dedent(new)}), facts)
    move = moves.of("a.py", "run")
    assert move.verdict is Change.EDITED
    assert "a.py::show" in move.reason


@pytest.mark.parametrize("data", [b"def depth(tree):\r    return 1\n", b"\xff\xfe"])
def test_a_file_that_cannot_be_judged_any_more(data: bytes, facts: Facts) -> None:
    moves = Moves(tree({"a.py": CODE}), tree({"a.py": data}), facts)
    assert moves.of("a.py", "depth").verdict is Change.UNVERIFIABLE


def test_what_the_parsers_disagree_on_is_not_judged(facts: Facts) -> None:
    broken = "def f(:\n    return 1\n\n\ndef g(x):\n    return x\n"
    moves = Moves(tree({"a.py": broken}), tree({"a.py": f"\n{broken}"}), facts)
    assert moves.of("a.py", "g").verdict is Change.UNVERIFIABLE


def test_a_symbol_that_is_not_there(facts: Facts) -> None:
    moves = Moves(tree({"a.py": CODE}), tree({"a.py": CODE}), facts)
    with pytest.raises(AnnotateError, match="no symbol"):
        moves.of("a.py", "breadth")
    with pytest.raises(AnnotateError, match="no symbol"):
        moves.of("b.py", "depth")


def test_line_ends_and_tabs(facts: Facts) -> None:
    windows = Moves(tree({"a.py": CODE}), tree({"a.py": CODE.replace("\n", "\r\n")}), facts)
    assert {move.verdict for move in windows.all()} == {Change.UNCHANGED}
    tabs = Moves(tree({"a.py": CODE}), tree({"a.py": CODE.replace("    ", "\t")}), facts)
    assert tabs.of("a.py", "Walk.leaves").verdict is Change.REFORMATTED


def test_each_blob_is_parsed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from annotate.upstream import syntax

    parsed: list[str] = []
    tokens = syntax.tokens
    monkeypatch.setattr(syntax, "tokens", lambda text: parsed.append(text) or tokens(text))
    old, new = tree({"a.py": CODE, "b.py": CODE}), tree({"c.py": CODE})
    list(Moves(old, new, Facts(store)).all())
    assert len(parsed) == 1
    list(Moves(new, old, Facts(store)).all())
    assert len(parsed) == 1


def test_difference_leaves_out_what_changed_only_inside(facts: Facts) -> None:
    new = CODE.replace("yield from Walk(branch)", "yield from type(self)(branch)")
    found = difference(Moves(tree({"a.py": CODE}), tree({"a.py": new}), facts))
    assert [move.old.qualname for move in found.changes] == ["Walk.leaves"]
    assert found.added == ()


def test_difference_of_equal_trees(facts: Facts) -> None:
    found = difference(Moves(tree({"a.py": CODE}), tree({"a.py": CODE}), facts))
    assert (found.changes, found.added) == ((), ())


BODIES = st.lists(
    st.sampled_from(
        [
            "    total = sum(item.price for item in items if item.sold)\n    return total\n",
            "    while queue:\n        yield queue.pop(0).result(timeout=3)\n",
            "    with open(path) as file:\n        return json.load(file)['names']\n",
            "    first, *rest = sorted(values, key=len, reverse=True)\n    return first\n",
        ]
    ),
    min_size=1,
    max_size=4,
    unique=True,
)


@given(bodies=BODIES, targets=st.permutations(["a.py", "b.py", "c.py", "d.py"]))
@settings(max_examples=40)
def test_a_pure_move_and_its_inverse(
    bodies: list[str], targets: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    facts = Facts(Store(tmp_path_factory.getbasetemp() / "pure-moves"))
    definitions = [f"def f{number}(items):\n{body}" for number, body in enumerate(bodies)]
    anchor = "def anchor(x):\n    return [x] * 3\n"
    old = {"a.py": "\n\n".join([anchor, *definitions])}
    new: dict[str, str] = {"a.py": anchor}
    for definition, path in zip(definitions, targets, strict=False):
        new[path] = f"{new[path]}\n\n{definition}" if path in new else definition
    there = Moves(tree(old), tree(new), facts)
    back = Moves(tree(new), tree(old), facts)
    for number in range(len(bodies)):
        move = there.of("a.py", f"f{number}")
        assert move.new is not None
        assert move.new.path == targets[number]
        home = back.of(move.new.path, move.new.qualname)
        assert home.new == move.old


@given(parts=st.permutations(CODE.split("\n\n\n")))
def test_a_tree_is_itself_in_any_order(
    parts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    facts = Facts(Store(tmp_path_factory.getbasetemp() / "any-order"))
    moves = Moves(tree({"a.py": CODE}), tree({"a.py": "\n\n\n".join(parts) + "\n"}), facts)
    assert {move.verdict for move in moves.all()} == {Change.UNCHANGED}
    assert moves.added() == []
