"""Small trees before and after a change: each file in ``cases`` is a test."""

from pathlib import Path

import pytest

from annotate.upstream.moves import Facts, Moves
from annotate.upstream.store import Store
from tests.upstream.moves.trees import read_case, tree

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path, store: Store) -> None:
    case = read_case(file)
    moves = Moves(tree(case.old), tree(case.new), Facts(store))
    answers = {
        move.old.id: (move.verdict.value, move.new.id if move.new else "") for move in moves.all()
    }
    expected = {name: ("unchanged", name) for name in answers} | case.expected
    assert answers == expected
    if case.added:
        assert {site.id for site in moves.added()} == case.added


def test_there_are_cases() -> None:
    assert len(CASES) > 25
