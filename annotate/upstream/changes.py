"""How often a symbol changed, as its whole lineage told when it was last looked at.

Following a symbol through a history takes seconds, so that whoever draws a page asks only for what
`annotate log` has found before; the store keeps it.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotate.upstream.store import Store

if TYPE_CHECKING:
    from annotate.upstream.lineage import Step

_KIND = "changes-1"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a symbol up to a commit.

    Attributes:
        count: how many commits changed it, the one that introduced it not counted.
        last: the newest commit that changed or introduced it, as a full id.
        time: when that was committed, in seconds since 1970.
    """

    count: int
    last: str
    time: int


def keeping(store: Store, commit: str, symbol: str, steps: "Iterable[Step]") -> "Iterator[Step]":
    """Pass a symbol's lineage on, and keep what it comes to once it was followed to its end."""
    newest: Step | None = None
    count = -1
    for step in steps:
        newest = newest or step
        count += 1
        yield step
    if newest is not None:
        found = {"count": count, "last": newest.commit.id, "time": newest.commit.time}
        store.put_derived(_KIND, f"{commit} {symbol}", json.dumps(found).encode())


def kept(store: Store, commit: str, symbol: str) -> Changes | None:
    """What was found of a symbol at a commit, or None where nobody has looked yet."""
    data = store.derived(_KIND, f"{commit} {symbol}")
    return None if data is None else Changes(**json.loads(data))
