"""The state of one analysis: modules, frames, the clock, and the calls found so far."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotate.upstream.calls.code import Body, Code, Expression, ModuleCode
from annotate.upstream.calls.values import (
    NOTHING,
    UNKNOWN,
    Cell,
    Class,
    Constant,
    Container,
    External,
    Frame,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
    Values,
    join,
)

MAX_TOUCHED = 32
"""Objects one analysed call is said to depend on; more are not looked at."""

MAX_CALLEES = 8
"""Functions one place may call, besides others that are not known; of more, none is told."""

MAX_CALLEES_IN_ALL = 32
"""Functions one place may call where all are known, as in a loop over a list of them."""

MAX_LABELS = 4
"""Functions one wrapper is said to wrap at one place."""

MAX_RECEIVERS = 3
"""Objects whose special methods one operator or loop is said to call."""

MAX_OPEN_CALLEES = 2
"""The same for a method of an object that may be of a class that is not known."""

Node = tuple[str, int]
"""A code by file and index."""

SiteKey = tuple[Node, int, int, str]
"""Caller, line, position and kind of a call."""


@dataclass(slots=True)
class Site:
    """Where a call stands, and how well it is known what it calls.

    Attributes:
        frame: the frame that calls.
        line: in its file, from 1.
        why: one short phrase.
        key: tells places apart where objects are made.
        expected: what the expression itself says is called: a code, or True for whatever its
            one value is.
        proof: the phrase where that is so.
        guess: values are followed through the call, but it is not kept in the graph.
        among: how many things may be called there, as far as one analysed call can tell.
    """

    frame: Frame
    line: int
    why: str = ""
    key: int = 0
    expected: Code | bool = False
    proof: str = ""
    guess: bool = False
    among: int = 1

    def implied(self, why: str, receivers: Values = NOTHING) -> "Site":
        """The site of a call that Python makes on the way, on one of some objects."""
        guess = self.guess or not is_settled(receivers)
        return Site(self.frame, self.line, why, self.key, guess=guess)


@dataclass(slots=True)
class Arguments:
    """What a call passes; ``rest`` and ``others`` come from ``*`` and ``**`` of unknown length."""

    positional: list[Values] = field(default_factory=list)
    keywords: dict[str, Values] = field(default_factory=dict)
    rest: Values = NOTHING
    others: Values = NOTHING


@dataclass(frozen=True, slots=True)
class Found:
    """Why a call is in the graph: the best evidence met."""

    certain: bool
    why: str
    line: int
    labels: tuple[str, ...] = ()
    among: int = 1


@dataclass(eq=False, slots=True)
class Context:
    """One analysed call of a function: with these arguments, from this closure.

    Attributes:
        touched: objects outside of its frame that were read, by it or by what it calls.
        incomplete: something it looked for was not there yet.
        outdated: it has got other arguments since it ran.
        repeats: how often it ran again where it was called.
        late_repeats: how often it ran again later.
        ran: the clock when it last ran; 0 before.
        checked: the clock when it was last known to be up to date.
        callers: the contexts that used its result.
    """

    function: Function
    arguments: dict[str, Values]
    frame: Frame
    result: Values = NOTHING
    yields: Values = NOTHING
    running: bool = False
    recursive: bool = False
    incomplete: bool = False
    outdated: bool = False
    repeats: int = 0
    late_repeats: int = 0
    ran: int = 0
    checked: int = 0
    touched: set[Cell | Class | Instance | Container] = field(default_factory=set)
    callers: "dict[Context, None]" = field(default_factory=dict)


class Core(ABC):
    """State, interning and bookkeeping; the layers above evaluate and call."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        self.modules = modules
        self.clock = 1
        self.branches = 0
        self.sites: dict[SiteKey, dict[Node, Found]] = {}
        self.external: dict[tuple[Node, str], Found] = {}
        self.natives: dict[tuple[Node, str], Found] = {}
        self.unresolved: dict[tuple[Node, int, int, int], bool] = {}
        self.functions: dict[tuple[str, int, Frame], Function] = {}
        self.stack: list[Context] = []
        self._constants: dict[tuple[type, object], Constant] = {}
        self._literals: dict[tuple[type, object], Values] = {}
        self._instances_of: dict[str, Values] = {}
        self._natives: dict[tuple[str, bool], Native] = {}
        self._externals: dict[tuple[str, bool], External] = {}
        self._unknown: dict[str, Unknown] = {}
        self.frames: dict[str, Frame] = {}
        self.stored_attributes = frozenset().union(
            *(module.stored_attributes for module in modules.values())
        )

    @abstractmethod
    def call(self, callees: Values, arguments: Arguments, site: Site) -> Values:
        """Call every one of some values; returns what they return."""

    @abstractmethod
    def evaluate(self, expression: Expression, frame: Frame) -> Values:
        """What an expression stands for in a frame."""

    @abstractmethod
    def execute(self, body: Body, frame: Frame) -> bool:
        """Run statements; returns whether the end is reached."""

    def constant(self, value: str | int | bool | None) -> Constant:
        """The one `Constant` of a literal; ``1`` and ``True`` differ."""
        key = (type(value), value)
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = Constant(value)
        return found

    def literal(self, value: str | int | bool | None) -> Values:
        """The set of one constant; there are many, so each is made once."""
        key = (type(value), value)
        found = self._literals.get(key)
        if found is None:
            found = self._literals[key] = frozenset({self.constant(value)})
        return found

    def instance_of(self, name: str) -> Values:
        """The set of one value of a builtin type, made once."""
        found = self._instances_of.get(name)
        if found is None:
            found = self._instances_of[name] = frozenset({self.native(name, instance=True)})
        return found

    def native(self, name: str, *, instance: bool = False) -> Native:
        """The one `Native` of a name."""
        key = (name, instance)
        found = self._natives.get(key)
        if found is None:
            found = self._natives[key] = Native(name, instance)
        return found

    def outside(self, dotted: str, *, result: bool = False) -> External:
        """The one `External` of a dotted name."""
        key = (dotted, result)
        found = self._externals.get(key)
        if found is None:
            found = self._externals[key] = External(dotted, result)
        return found

    def unknown_attribute(self, name: str) -> Unknown:
        """An attribute of something unknown."""
        found = self._unknown.get(name)
        if found is None:
            found = self._unknown[name] = Unknown(name)
        return found

    def code(self, path: str, index: int) -> Code:
        """A code of the tree."""
        return self.modules[path].codes[index]

    def everything_of(self, class_: Class) -> Instance:
        """The object that stands for all objects of a class."""
        if class_.everything is None:
            class_.everything = Instance(class_, summary=True)
        return class_.everything

    def touch(self, thing: Cell | Class | Instance | Container) -> None:
        """Note that the running function read something that others may change."""
        if self.stack:
            touched = self.stack[-1].touched
            if len(touched) < MAX_TOUCHED:
                touched.add(thing)

    def cell(self, frame: Frame, name: str) -> Cell:
        """What stands for one name of a frame where it is told that it changed."""
        raise NotImplementedError

    def miss(self) -> None:
        """Note that the running function looked for something that is not there yet."""
        if self.stack:
            self.stack[-1].incomplete = True

    def change(self, thing: Cell | Class | Instance | Container) -> None:
        """Note that something that others may have read has changed."""
        self.clock += 1
        thing.changed = self.clock

    def function_of(self, node: Node) -> Code:
        """The code a node names."""
        return self.code(*node)

    def caller(self, site: Site) -> Node:
        """Whom a call at a site belongs to."""
        return site.frame.path, site.frame.caller

    def record(self, site: Site, callee: Node, *, alone: bool, label: str) -> None:
        """Keep an edge of the graph; certain evidence replaces other."""
        if site.guess:
            return
        certain = alone and (site.expected is True or site.expected is self.code(*callee))
        key = (self.caller(site), site.line, site.key, "" if site.expected else site.why)
        callees = self.sites.setdefault(key, {})
        found = callees.get(callee)
        labels = found.labels if found is not None else ()
        if label and label not in labels and len(labels) <= MAX_LABELS:
            labels = (*labels, label)
        if found is None or (certain and not found.certain) or labels != found.labels:
            certain = certain or (found is not None and found.certain)
            why = site.proof if certain else site.why
            among = min(site.among, found.among) if found is not None else site.among
            callees[callee] = Found(certain, why, site.line, labels, among)
        elif site.among < found.among:
            callees[callee] = replace(found, among=site.among)

    def edges(self) -> dict[tuple[Node, Node], Found]:
        """The calls found, but for those at places where too many things may be called."""
        edges: dict[tuple[Node, Node], Found] = {}
        for (caller, *_), callees in self.sites.items():
            for callee in self._told(callees):
                found = callees[callee]
                known = edges.get((caller, callee))
                if known is None or (found.certain and not known.certain):
                    edges[caller, callee] = found
        return edges

    def untold(self) -> set[tuple[Node, int, int]]:
        """Caller, line and position of the calls that may call too many things."""
        return {
            (caller, line, start)
            for (caller, line, start, _), callees in self.sites.items()
            if start > 0 and not self._told(callees)
        }

    def _told(self, callees: dict[Node, Found]) -> list[Node]:
        """What one place is said to call."""
        told = [each for each, found in callees.items() if found.among <= MAX_CALLEES_IN_ALL]
        certain = [each for each in told if callees[each].certain]
        if len(told) > MAX_CALLEES_IN_ALL:
            return certain
        guesses = [each for each in told if not callees[each].certain]
        concrete = [each for each in guesses if not is_abstract(self.code(*each))]
        return certain + (concrete or guesses)

    def record_external(self, site: Site, dotted: str) -> None:
        """Keep a call of something outside of the tree."""
        key = (self.caller(site), dotted)
        self.external.setdefault(key, Found(site.expected is not False, site.why, site.line))

    def record_native(self, site: Site, name: str) -> None:
        """Keep a call of a builtin."""
        key = (self.caller(site), name)
        self.natives.setdefault(key, Found(site.expected is not False, site.why, site.line))


def set_item(table: dict[str, Values], name: str, values: Values, *, replace: bool) -> bool:
    """Store in a table, replacing or adding; returns whether it changed."""
    before = table.get(name)
    after = values if replace or before is None else join(before, values)
    if after == before:
        return False
    table[name] = after
    return True


def is_abstract(code: Code) -> bool:
    """Whether a function does nothing but say that a subclass has to define it."""
    body = code.body
    if code.kind != "function" or len(body) != 1:
        return False
    if body[0][:2] == ("assert", ("k", False)):
        return True
    raised = body[0][1] if body[0][0] == "raise" else None
    while raised and raised[0] == "c":
        raised = raised[1]
    return raised == ("n", "NotImplementedError")


def is_settled(receivers: Values) -> bool:
    """Whether objects are known well enough to tell the special methods Python calls on them."""
    return len(receivers) <= MAX_RECEIVERS and not any(
        isinstance(value, Unknown | External | Native) for value in receivers
    )


def without_unknown(values: Values) -> Values:
    """The values that say something."""
    return frozenset(value for value in values if not isinstance(value, Unknown))


def only(values: Values) -> Value | None:
    """The one value of a set; None where there are several, or none, or it is unknown."""
    if len(values) != 1:
        return None
    (value,) = values
    return None if value is UNKNOWN else value
