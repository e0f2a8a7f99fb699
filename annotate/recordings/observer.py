"""What `annotate.experiment` is inside an experiment's process: it notes down what it is given.

This file is never imported by annotate. The runner copies it, as ``annotate/experiment.py``, into
the folder that stands first on the child's path. It needs the standard library alone, and the
tracer, which is paused while a value is looked at: what looking calls was not called by the script.
"""

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import sitecustomize  # type: ignore[import-not-found]  # what the runner calls the tracer

TRACER = sitecustomize.TRACER

DEPTH = 2
"""How many objects deep a value is shown."""
MAX_ITEMS = 6
MAX_CHARACTERS = 160
MAX_NODES = 200

ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{6,16}\b")


def snapshot(moment: str, /, **values: object) -> None:
    """Note a state of the script."""
    with TRACER.paused():
        shown = [[name, text(value)] for name, value in values.items()]
        TRACER.mark(sys._getframe(), {"moment": str(moment), "values": shown})


def step(title: str, /) -> None:
    """Note a moment."""
    snapshot(title)


def graph(
    name: str,
    root: Any,
    /,
    *,
    parents: Callable[[Any], Iterable[Any]],
    label: Callable[[Any], str] | None = None,
    values: Callable[[Any], Mapping[str, object]] | None = None,
) -> None:
    """Note the graph reached from a node, in the order of a walk from it."""
    with TRACER.paused():
        found = {id(root): 0}
        nodes = [root]
        notes = []
        for node in nodes:
            above = list(parents(node))
            for parent in above:
                if id(parent) not in found:
                    found[id(parent)] = len(nodes)
                    nodes.append(parent)
            if len(nodes) > MAX_NODES:
                TRACER.trouble.append("graph")
                return
            own = values(node) if values else {}
            notes.append(
                [
                    identity(node),
                    str(label(node)) if label else identity(node),
                    [found[id(parent)] for parent in above],
                    [[key, text(value)] for key, value in own.items()],
                ]
            )
        TRACER.mark(sys._getframe(), {"graph": str(name), "nodes": notes})


NUMBERED: dict[int, tuple[object, str]] = {}
COUNTS: dict[str, int] = {}


def identity(value: object) -> str:
    """An object's type and its number among those of the type, which it keeps."""
    known = NUMBERED.get(id(value))
    if known is None:
        name = class_name(type(value))
        COUNTS[name] = COUNTS.get(name, 0) + 1
        # The object is kept as well: the id of one that is gone could be lent to another.
        known = NUMBERED[id(value)] = (value, f"{name}#{COUNTS[name]}")
    return known[1]


def class_name(kind: type) -> str:
    """A class's own name, whatever its metaclass says."""
    return str(type.__dict__["__name__"].__get__(kind))


def text(value: object) -> str:
    """A value as text, alike in every run and on every machine."""
    shown = value if isinstance(value, str) and type(value) is str else show(value, DEPTH, set())
    shown = ADDRESS.sub("0x…", " ".join(shown.split()))
    return shown if len(shown) <= MAX_CHARACTERS else f"{shown[: MAX_CHARACTERS - 1]}…"


def show(value: Any, depth: int, seen: set[int]) -> str:
    """A value at some depth of another; ``seen`` are the objects shown already."""
    kind = type(value)
    if kind in PLAIN:
        return PLAIN[kind](value)
    if kind in (tuple, list, set, frozenset, dict):
        return container(value, kind, depth, seen)
    if kind.__module__ == "numpy" and hasattr(kind, "dtype") and hasattr(kind, "tolist"):
        return array(value)
    if isinstance(value, type):
        return class_name(value)
    if isinstance(value, FunctionType):
        return function(value, depth, seen)
    if isinstance(value, (BuiltinFunctionType, MethodType)):
        return value.__name__
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, BaseException):
        message = ", ".join(
            each if type(each) is str else show(each, 0, seen) for each in value.args
        )
        return f"{class_name(kind)}: {message}" if message else class_name(kind)
    return structure(value, depth, seen)


def number(value: float) -> str:
    """A float with six significant digits, recognisable as a float."""
    shown = f"{value:.6g}"
    return f"{shown}.0" if shown.lstrip("-").isdigit() else shown


PLAIN: dict[type, Callable[[Any], str]] = {
    float: number,
    complex: lambda value: f"({number(value.real)}, {number(value.imag)}j)",
    **dict.fromkeys((bool, int, str, bytes, range, slice, type(None), type(...)), repr),
}


def container(value: Any, kind: type, depth: int, seen: set[int]) -> str:
    """A container of Python's own with its first items."""
    items: Iterable[Any] = value.items() if kind is dict else value
    if kind is dict:
        shown = [f"{show(key, 0, seen)}: {show(item, depth - 1, seen)}" for key, item in items]
    else:
        shown = [show(item, depth - 1, seen) for item in items]
    if kind in (set, frozenset):
        shown.sort()
    if len(shown) > MAX_ITEMS:
        shown[MAX_ITEMS:] = [f"… {len(shown) - MAX_ITEMS} more"]
    comma = "," if kind is tuple and len(value) == 1 else ""
    return BRACKETS[kind].format(", ".join(shown) + comma)


BRACKETS: dict[type, str] = {
    tuple: "({})",
    list: "[{}]",
    set: "{{{}}}",
    frozenset: "{{{}}}",
    dict: "{{{}}}",
}


def array(value: Any) -> str:
    """An array, or a number of NumPy's: its items, or its shape where there are many."""
    shape = value.shape
    if shape == ():
        return show(value.tolist(), 0, set())
    dtype = str(value.dtype)
    if value.size > MAX_ITEMS:
        return f"array of shape {shape}, {dtype}"
    kept = "" if dtype in ("float64", "int64") else f", {dtype}"
    return f"array({show(value.tolist(), DEPTH, set())}{kept})"


def function(value: FunctionType, depth: int, seen: set[int]) -> str:
    """A function by its name; one that is nameless or hands out its own name, with its captures.

    A wrapper that took another function's name is shown by that alone.
    """
    code = value.__code__
    nameless = code.co_name == "<lambda>"
    name = code.co_qualname.replace(".<locals>", "") if nameless else value.__name__
    if value.__name__ != code.co_name or depth < 1 or not value.__closure__ or id(value) in seen:
        return name
    seen.add(id(value))
    captures = [
        f"{free}={show(contents(cell), depth, seen)}"
        for free, cell in zip(code.co_freevars, value.__closure__, strict=True)
    ]
    return f"{name}[{', '.join(captures)}]"


def contents(cell: CellType) -> object:
    """What a closure's cell holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def structure(value: object, depth: int, seen: set[int]) -> str:
    """An object by its type and number, and its attributes where it is not too deep."""
    name = identity(value)
    if depth < 1 or id(value) in seen:
        return name
    seen.add(id(value))
    attributes: dict[str, object] = {}
    for kind in reversed(type(value).__mro__):
        for slot, descriptor in vars(kind).items():
            if type(descriptor) is MemberDescriptorType and not slot.startswith("__"):
                try:
                    attributes[slot] = descriptor.__get__(value)
                except AttributeError:
                    continue
    with contextlib.suppress(AttributeError):
        attributes.update(object.__getattribute__(value, "__dict__"))
    shown = [
        f"{key}={show(item, depth - 1, seen)}"
        for key, item in attributes.items()
        if not key.startswith("__")
    ]
    if len(shown) > MAX_ITEMS:
        shown[MAX_ITEMS:] = [f"… {len(shown) - MAX_ITEMS} more"]
    return f"{name}({', '.join(shown)})" if shown else name
