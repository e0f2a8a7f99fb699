"""A definition's history, through renames, moves and merges, newest first."""

from collections.abc import Callable

import pytest

from annotate.pin import Pin
from annotate.upstream.history import open_history
from annotate.upstream.lineage import KINDS, Lineage, Step
from annotate.upstream.moves import Facts
from annotate.upstream.store import Store
from tests.upstream.commits import commit, line
from tests.upstream.repositories import Repository

MEAN = """\
def mean(values, weights=None):
    total = sum(values)
    count = len(values)
    if weights is not None:
        count = sum(weights)
    return total / count
"""
OTHER = "def other(x):\n    return [x, x]\n"

Log = Callable[[str, str], list[Step]]


@pytest.fixture
def log(repository: Repository, store: Store) -> Log:
    def steps(start: str, symbol: str) -> list[Step]:
        path, _, qualname = symbol.partition("::")
        with open_history(Pin("upstream", str(repository.path), ""), store, None) as history:
            return list(Lineage(history, Facts(store)).of(start, path, qualname))

    return steps


def told(steps: list[Step]) -> list[tuple[str, str, str]]:
    return [(step.commit.id, step.kind, step.symbol) for step in steps]


def test_every_kind_of_change(repository: Repository, log: Log) -> None:
    edited = MEAN.replace("total / count", "total / max(count, 1)")
    renamed = edited.replace("mean", "average")
    decorated = f"@cache\n{renamed}"
    signed = decorated.replace("weights=None", "*, weights=None")
    spread = signed.replace("total / max(count, 1)", "total / max(count,1)")
    commits = line(
        repository,
        {"a.py": OTHER},
        {"a.py": f"{OTHER}\n\n{MEAN}"},
        {"a.py": f"{MEAN}\n\n{OTHER}"},
        {"a.py": f"{edited}\n\n{OTHER}"},
        {"a.py": f"{renamed}\n\n{OTHER}"},
        {"a.py": f"{decorated}\n\n{OTHER}"},
        {"a.py": f"{signed}\n\n{OTHER}", "b.py": "LIMIT = 1\n"},
        {"a.py": OTHER, "b.py": f"LIMIT = 1\n\n\n{signed}"},
        {"a.py": OTHER, "b.py": f"LIMIT = 1\n\n\n{spread}"},
        {"a.py": OTHER, "c.py": f"LIMIT = 1\n\n\n{spread}"},
        {"a.py": OTHER, "c.py": f"LIMIT = 2\n\n\n{spread}"},
    )
    assert told(log(commits[-1], "c.py::average")) == [
        (commits[9], "file rename", "c.py::average"),
        (commits[8], "reformatted", "b.py::average"),
        (commits[7], "move", "b.py::average"),
        (commits[6], "signature change", "a.py::average"),
        (commits[5], "decorator change", "a.py::average"),
        (commits[4], "rename", "a.py::average"),
        (commits[3], "body change", "a.py::mean"),
        (commits[1], "introduced", "a.py::mean"),
    ]


def test_several_changes_in_one_commit(repository: Repository, log: Log) -> None:
    new = MEAN.replace("mean", "average").replace("weights=None", "weights=()")
    commits = line(
        repository,
        {"a.py": f"{MEAN}\n\n{OTHER}", "b.py": "LIMIT = 1\n"},
        {"a.py": OTHER, "b.py": f"LIMIT = 1\n\n\n{new}"},
    )
    assert told(log(commits[1], "b.py::average")) == [
        (commits[1], "move+rename+signature change", "b.py::average"),
        (commits[0], "introduced", "a.py::mean"),
    ]


def test_kinds_have_an_order(repository: Repository, log: Log) -> None:
    order = {kind: number for number, kind in enumerate(KINDS)}
    new = f"@cache\n{MEAN}".replace("mean", "average").replace("total / count", "total // count")
    commits = line(repository, {"a.py": f"{MEAN}\n\n{OTHER}"}, {"a.py": f"{new}\n\n{OTHER}"})
    kinds = log(commits[1], "a.py::average")[0].kind.split("+")
    assert len(kinds) == 3
    assert kinds == sorted(kinds, key=order.__getitem__)


def test_members_of_a_class_that_moves(repository: Repository, log: Log) -> None:
    held = "class Holder:\n" + "".join(f"    {each}\n" for each in MEAN.splitlines())
    commits = line(repository, {"a.py": f"{OTHER}\n\n{MEAN}"}, {"a.py": f"{OTHER}\n\n{held}"})
    assert told(log(commits[1], "a.py::Holder.mean")) == [
        (commits[1], "move", "a.py::Holder.mean"),
        (commits[0], "introduced", "a.py::mean"),
    ]


def test_ambiguity_is_where_it_ends(repository: Repository, log: Log) -> None:
    twins = MEAN + "\n\n" + MEAN.replace("mean", "average")
    commits = line(repository, {"a.py": twins}, {"a.py": MEAN.replace("mean", "middle")})
    assert told(log(commits[1], "a.py::middle")) == [
        (commits[1], "introduced", "a.py::middle"),
    ]


def test_a_merge_is_followed_to_the_side_that_changed_it(repository: Repository, log: Log) -> None:
    edited = MEAN.replace("total / count", "total // count")
    root = commit(repository, {"a.py": MEAN})
    side = commit(repository, {"a.py": edited}, root)
    main = commit(repository, {"a.py": MEAN, "b.py": OTHER}, root)
    merge = commit(repository, {"a.py": edited, "b.py": OTHER}, main, side)
    expected = [
        (side, "body change", "a.py::mean"),
        (root, "introduced", "a.py::mean"),
    ]
    assert told(log(merge, "a.py::mean")) == expected


def test_a_merge_of_two_changes_is_not_listed(repository: Repository, log: Log) -> None:
    top = MEAN.replace("sum(values)", "fsum(values)")
    bottom = MEAN.replace("total / count", "total // count")
    both = top.replace("total / count", "total // count")
    root = commit(repository, {"a.py": MEAN})
    one = commit(repository, {"a.py": top}, root)
    two = commit(repository, {"a.py": bottom}, root)
    merge = commit(repository, {"a.py": both}, one, two)
    found = told(log(merge, "a.py::mean"))
    assert sorted(found[:2]) == sorted(
        [(one, "body change", "a.py::mean"), (two, "body change", "a.py::mean")]
    )
    assert found[2:] == [(root, "introduced", "a.py::mean")]


def test_what_only_the_merge_brings(repository: Repository, log: Log) -> None:
    root = commit(repository, {"a.py": OTHER})
    one = commit(repository, {"a.py": OTHER, "b.py": "x = 1\n"}, root)
    two = commit(repository, {"a.py": OTHER, "c.py": "x = 1\n"}, root)
    merge = commit(repository, {"a.py": f"{OTHER}\n\n{MEAN}"}, one, two)
    assert told(log(merge, "a.py::mean")) == [(merge, "introduced", "a.py::mean")]


def test_commits_that_leave_it_alone_parse_nothing(
    repository: Repository, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate.upstream import syntax

    commits = line(repository, *({"a.py": MEAN, "b.py": f"x = {number}\n"} for number in range(20)))
    parsed = []
    tokens = syntax.tokens
    monkeypatch.setattr(syntax, "tokens", lambda text: parsed.append(text) or tokens(text))
    assert told(log(commits[-1], "a.py::mean")) == [(commits[0], "introduced", "a.py::mean")]
    assert len(parsed) <= 2
