"""What an experiment's script can say beyond printing: moments to look at, states, graphs.

Run by hand, these functions do nothing. `annotate run` puts in their place ones that record.

This file needs nothing, annotate included: a project keeps a copy of it beside its scripts, as
``docs/experiments/annotate/experiment.py``, so that they run by hand wherever that folder goes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any


def snapshot(moment: str, /, **values: object) -> None:
    """Record a state: a row of the state table, a column for each of the values.

    Text is shown as it is, floats with six significant digits, arrays short. Any other object is
    shown by its type, a number that stays the same for it throughout the run, and its attributes
    to a small depth; neither its ``__repr__`` nor its properties are run.
    """


def step(title: str, /) -> None:
    """Name a moment, for the replay to jump to."""


def graph(
    name: str,
    root: Any,
    /,
    *,
    parents: Callable[[Any], Iterable[Any]],
    label: Callable[[Any], str] | None = None,
    values: Callable[[Any], Mapping[str, object]] | None = None,
) -> None:
    """Record the graph that is reached from ``root``, as it is now.

    A name may be recorded again and again while its values change: the last one is drawn, the
    replay shows each in its turn.

    Args:
        name: which graph this is.
        root: a node; nodes may be any objects, and are told apart by identity.
        parents: node → the nodes its edges come from.
        label: node → what is written in it; by default its type and number.
        values: node → name → value, written beside it.
    """
