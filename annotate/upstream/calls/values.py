"""What an expression can stand for, as far as calls go, and the frames names live in.

A set of values is a frozenset: empty where nothing arrives (a function that never returns),
with `UNKNOWN` in it where something else may arrive as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from operator import attrgetter

from annotate.upstream.calls.code import Code

MAX_VALUES = 40
"""A set that would hold more is taken as unknown, so that no call fans out further."""


class Frame:
    """The names of one module, class body or one analysed call of a function.

    Attributes:
        code: whose names they are.
        parent: the frame the code was defined in; None for a module.
        path: the file.
        names: name → values.
        owner: of a method's frame, the class whose body defined it.
        caller: index of the code that calls made here belong to (a class body has none itself).
    """

    __slots__ = ("caller", "code", "journals", "names", "owner", "parent", "path")

    def __init__(self, code: Code, parent: "Frame | None", path: str) -> None:
        self.code = code
        self.parent = parent
        self.path = path
        self.names: dict[str, Values] = {}
        self.journals: list[dict[str, Values | None]] = []
        self.owner: Class | None = None
        self.caller = 0

    def set(self, name: str, values: "Values") -> None:
        """Bind a name, and remember what it was while a branch is being analysed."""
        if self.journals:
            self.journals[-1].setdefault(name, self.names.get(name))
        self.names[name] = values

    def unset(self, name: str) -> None:
        """Forget a name."""
        if name in self.names:
            if self.journals:
                self.journals[-1].setdefault(name, self.names[name])
            del self.names[name]

    def restore(self, journal: "dict[str, Values | None]") -> "dict[str, Values | None]":
        """Undo a branch; returns what it had bound."""
        bound: dict[str, Values | None] = {}
        for name, before in journal.items():
            bound[name] = self.names.get(name)
            if before is None:
                self.names.pop(name, None)
            else:
                self.names[name] = before
        return bound


class Cell:
    """One name of a frame, for those who read it and want to know when it changed."""

    __slots__ = ("changed",)

    def __init__(self) -> None:
        self.changed = 0


_serials = count()


@dataclass(eq=False, slots=True)
class _Thing:
    """What can be in a set; ``serial`` gives sets an order that is the same in every run."""

    serial: int = field(default_factory=_serials.__next__, init=False, repr=False)


@dataclass(eq=False, slots=True)
class Unknown(_Thing):
    """Something that cannot be told; ``name`` where it is an attribute of something unknown."""

    name: str = ""


@dataclass(eq=False, slots=True)
class Constant(_Thing):
    """A str, int, bool or None literal."""

    value: str | int | bool | None


@dataclass(eq=False, slots=True)
class Native(_Thing):
    """A builtin function or class, or a value of a builtin type (``instance``)."""

    name: str
    instance: bool = False


@dataclass(eq=False, slots=True)
class External(_Thing):
    """Something of a module that is not in the tree; ``result`` where it came out of a call."""

    dotted: str
    result: bool = False


@dataclass(eq=False, slots=True)
class Module(_Thing):
    """A module of the tree, or a folder without ``__init__.py`` (path "")."""

    path: str
    dotted: str


@dataclass(eq=False, slots=True)
class Function(_Thing):
    """A function or lambda with the frame it closes over."""

    code: Code
    frame: Frame
    defaults: "dict[str, Values]" = field(default_factory=dict)
    owner: "Class | None" = None
    decorated: bool = False


@dataclass(eq=False, slots=True)
class Bound(_Thing):
    """A method with the object it is bound to."""

    function: "Value"
    receiver: "Value"


@dataclass(eq=False, slots=True)
class Class(_Thing):
    """A class of the tree; ``frame`` holds the names its body binds."""

    code: Code
    frame: Frame
    bases: "tuple[Value, ...]" = ()
    mro: "tuple[Value, ...]" = ()
    metaclasses: "Values" = frozenset()
    subclasses: "list[Class]" = field(default_factory=list)
    fields: "dict[str, Values]" = field(default_factory=dict)
    everything: "Instance | None" = None
    changed: int = 0


@dataclass(eq=False, slots=True)
class Instance(_Thing):
    """Objects of a class: those made at one place, or all of them (``summary``)."""

    class_: Class
    summary: bool = False
    fields: "dict[str, Values]" = field(default_factory=dict)
    items: "Container | None" = None
    changed: int = 0


@dataclass(eq=False, slots=True)
class Container(_Thing):
    """A list, tuple, set or dict made at one place.

    Attributes:
        kind: list, tuple, set or dict.
        known: constant key or index → values.
        rest: what stands under any other key.
        length: of a list or tuple, where it is known.
        keys: of a dict, keys that are no constants.
        shared: made more than once at that place, so that nothing in it is ever replaced.
        factories: what makes the values that are missing, as in ``defaultdict(list)``.
    """

    kind: str
    known: "dict[str | int | bool | None, Values]" = field(default_factory=dict)
    rest: "Values" = frozenset()
    length: int | None = None
    keys: "Values" = frozenset()
    shared: bool = False
    factories: "Values" = frozenset()
    changed: int = 0


@dataclass(eq=False, slots=True)
class Iterator(_Thing):
    """A generator, or what a lazy builtin such as ``map`` gives: the values it yields."""

    yields: "Values" = frozenset()


@dataclass(eq=False, slots=True)
class Partial(_Thing):
    """``functools.partial``."""

    functions: "Values"
    positional: "tuple[Values, ...]"
    keywords: "dict[str, Values]"


@dataclass(eq=False, slots=True)
class Descriptor(_Thing):
    """``property``, ``staticmethod`` or ``classmethod`` around functions."""

    kind: str
    functions: "Values"
    setters: "Values" = frozenset()


@dataclass(eq=False, slots=True)
class Super(_Thing):
    """``super()``: what comes after a class in the MRO of an object's class."""

    class_: Class
    receiver: "Value"


@dataclass(eq=False, slots=True)
class Method(_Thing):
    """A method of a builtin container or string, bound."""

    receiver: "Value"
    name: str


@dataclass(eq=False, slots=True)
class Wrapping(_Thing):
    """``functools.wraps(f)``, which leaves what it decorates as it is."""

    wrapped: "Values"


@dataclass(eq=False, slots=True)
class Pending(_Thing):
    """A name of a module that has not run yet, as in a circle of imports."""

    path: str
    name: str


Value = (
    Unknown
    | Constant
    | Native
    | External
    | Module
    | Function
    | Bound
    | Class
    | Instance
    | Container
    | Iterator
    | Partial
    | Descriptor
    | Super
    | Method
    | Wrapping
    | Pending
)
Values = frozenset[Value]

UNKNOWN = Unknown()
NOTHING: Values = frozenset()
ANYTHING: Values = frozenset({UNKNOWN})


def join(left: Values, right: Values) -> Values:
    """Both sets, or unknown where that is too many."""
    if not left or left is right:
        return right
    if not right:
        return left
    values = left | right
    return limited(values) if len(values) > MAX_VALUES else values


def limited(values: Values) -> Values:
    """A set made small: constants go first, then objects of one class become all of its objects."""
    kept = {value for value in values if not isinstance(value, Constant)}
    if len(kept) < len(values):
        kept.add(UNKNOWN)
    return frozenset(kept) if len(kept) <= MAX_VALUES else ANYTHING


def ordered(values: Values) -> Iterable[Value]:
    """The values of a set, in the order in which they were made."""
    return values if len(values) < 2 else sorted(values, key=attrgetter("serial"))
