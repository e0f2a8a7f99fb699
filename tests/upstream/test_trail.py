"""Places followed commit by commit, where the two ends alone do not tell."""

from collections.abc import Iterator

import pytest

from annotate.pin import Pin
from annotate.upstream.history import History, open_history
from annotate.upstream.moves import Facts, Moves, Site
from annotate.upstream.store import Store
from annotate.upstream.trail import Trail
from tests.upstream.commits import commit, line
from tests.upstream.repositories import Repository

STEPS = """\
def mean(values, weights=None):
    total = sum(values)
    count = len(values)
    if weights is not None:
        count = sum(weights)
    return total / count
""".splitlines(keepends=True)
MEAN = "".join(STEPS)
NEW_MEAN = "def mean(path):\n    with open(path) as file:\n        return parse(file.read())\n"
OTHER = "def other(x):\n    return [x, x]\n"


@pytest.fixture
def history(repository: Repository, store: Store) -> Iterator[History]:
    commit(repository, {"a.py": ""})
    with open_history(Pin("upstream", str(repository.path), ""), store, None) as opened:
        yield opened


@pytest.fixture
def trail(history: History, store: Store) -> Trail:
    return Trail(history, Facts(store))


def rewritten(steps: int) -> str:
    """The function with that many of its lines replaced, from the second on."""
    lines = [*STEPS]
    for number in range(1, 1 + steps):
        lines[number] = f"    line_{number} = compute(number={number}, of=values, by=weights)\n"
    return "".join(lines)


def test_a_name_that_was_given_away(
    repository: Repository, history: History, trail: Trail, store: Store
) -> None:
    renamed = MEAN.replace("mean", "average")
    commits = line(
        repository,
        {"a.py": f"{MEAN}\n\n{OTHER}"},
        {"a.py": f"{renamed}\n\n{OTHER}"},
        {"a.py": f"{renamed}\n\n{OTHER}\n\n{NEW_MEAN}"},
    )
    ends = Moves(history.tree(commits[0]), history.tree(commits[2]), Facts(store))
    move = ends.of("a.py", "mean")
    assert move.new is None
    followed = trail.follow(commits[0], commits[2], move.old)
    assert followed is not None
    assert followed.new == Site("a.py", "average", 1, 6)
    assert followed.verdict == "renamed"
    assert "2" in followed.reason
    assert followed.new is not None
    back = trail.follow(commits[2], commits[0], followed.new)
    assert back is not None
    assert back.new == move.old


def test_a_file_renamed_and_then_rewritten(
    repository: Repository, history: History, trail: Trail
) -> None:
    states = [rewritten(number) for number in range(5)]
    commits = line(
        repository,
        {"old.py": f"{states[0]}\n\n{OTHER}"},
        *({"new.py": f"{state}\n\n{OTHER}"} for state in states),
    )
    followed = trail.follow(commits[0], commits[-1], Site("old.py", "mean", 1, 6))
    assert followed is not None
    assert followed.verdict == "moved-and-changed"
    assert followed.new == Site("new.py", "mean", 1, 6)
    assert 0.3 <= followed.confidence < 1


def test_lines(repository: Repository, history: History, trail: Trail) -> None:
    text = "# Title\n\nOne line of words here.\nAnother line of words there.\n"
    commits = line(
        repository,
        {"README": text},
        {"README.md": text},
        {"README.md": f"Notice.\n\n{text}"},
        {"README.md": f"Notice.\n\n{text.replace('words here', 'words')}"},
    )
    followed = trail.follow(commits[0], commits[3], Site("README", "", 3, 4))
    assert followed is not None
    assert followed.new == Site("README.md", "", 5, 6)
    assert followed.verdict == "moved-and-changed"
    unchanged = trail.follow(commits[1], commits[1], Site("README.md", "", 3, 4))
    assert unchanged is not None
    assert unchanged.verdict == "unchanged"


def test_from_branch_to_branch(repository: Repository, history: History, trail: Trail) -> None:
    root = commit(repository, {"a.py": f"{MEAN}\n\n{OTHER}"})
    one = commit(repository, {"b.py": f"{MEAN}\n\n{OTHER}"}, root)
    two = commit(repository, {"a.py": f"{MEAN.replace('mean', 'average')}\n\n{OTHER}"}, root)
    followed = trail.follow(one, two, Site("b.py", "mean", 1, 6))
    assert followed is not None
    assert followed.new == Site("a.py", "average", 1, 6)
    assert followed.verdict == "moved-and-renamed"


def test_lost_on_the_way(repository: Repository, history: History, trail: Trail) -> None:
    commits = line(repository, {"a.py": MEAN}, {"a.py": OTHER}, {"a.py": f"{OTHER}\n\n{MEAN}"})
    assert trail.follow(commits[0], commits[2], Site("a.py", "mean", 1, 6)) is None


def test_nothing_in_common(repository: Repository, history: History, trail: Trail) -> None:
    one, two = commit(repository, {"a.py": MEAN}), commit(repository, {"a.py": f"\n{MEAN}"})
    assert trail.follow(one, two, Site("a.py", "mean", 1, 6)) is None
