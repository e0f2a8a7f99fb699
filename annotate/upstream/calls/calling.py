"""Calls of functions and classes: arguments meet parameters, bodies run once per context.

A context is a function with the values of its arguments. Each is analysed as if it ran there and
then, and again when what it read has changed. A function called with ever new arguments falls back
to one context for all of them, so that the whole stays bounded.
"""

from collections.abc import Mapping
from dataclasses import replace

from annotate.upstream.calls.annotations import Annotations
from annotate.upstream.calls.bindings import free_names
from annotate.upstream.calls.code import Code, ModuleCode
from annotate.upstream.calls.core import (
    MAX_CALLEES,
    MAX_CALLEES_IN_ALL,
    MAX_OPEN_CALLEES,
    MAX_TOUCHED,
    Arguments,
    Context,
    Site,
)
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    UNKNOWN,
    Bound,
    Class,
    Constant,
    Container,
    Descriptor,
    External,
    Frame,
    Function,
    Instance,
    Iterator,
    Native,
    Partial,
    Unknown,
    Value,
    Values,
    Wrapping,
    join,
    ordered,
)

MAX_DEPTH = 40
"""Calls analysed inside one another; deeper ones wait until the others are done."""

MAX_CONTEXTS = 400
"""Contexts of one function with one closure."""

STEPS_PER_CODE = 800
"""Expressions evaluated for one function before new arguments share a context."""

BASE_STEPS = 100_000
STEPS_PER_DEFINITION = 10
"""Expressions evaluated in all before every function has one context only."""

MAX_MERGED = 8
"""Values of one parameter that a shared context tells apart."""

MAX_RUNS = 3
"""How often a recursive function runs to see its own results."""

MAX_REPEATS = 4
"""How often a context runs again where it is called, because what it read has changed."""

MAX_LATE_REPEATS = 2
"""How often it runs again later, for arguments it has got since."""


class Calling(Annotations):
    """Calls what is defined in the tree; `Natives` calls the rest."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self.steps = 0
        definitions = sum(len(module.codes) for module in modules.values())
        self.max_steps = BASE_STEPS + STEPS_PER_DEFINITION * definitions
        self.contexts: dict[tuple[object, ...], Context] = {}
        self.deferred: dict[Context, None] = {}
        self._contexts_of: dict[tuple[str, int], int] = {}
        self._steps_of: dict[tuple[str, int], int] = {}
        self._nested_steps = 0
        self._captured: dict[tuple[str, int], frozenset[str]] = {}
        self._bound: dict[tuple[Value, Value], Bound] = {}
        self._made: dict[tuple[Class, int, Frame], Instance] = {}
        self._function_fields: dict[tuple[Function, str], Values] = {}
        self._iterators: dict[Context, Iterator] = {}

    @property
    def function_fields(self) -> dict[tuple[Function, str], Values]:
        """Attributes of functions."""
        return self._function_fields

    def bind(self, function: Value, receiver: Value) -> Bound:
        """The one bound method of a function and an object."""
        key = (function, receiver)
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = Bound(function, receiver)
        return found

    def call_native(self, callee: Value, arguments: Arguments, site: Site) -> Values:
        """Call something that is not defined in the tree."""
        raise NotImplementedError

    def unique_method(self, name: str) -> Function | None:
        """The method of that name if only one class of the tree defines it."""
        raise NotImplementedError

    def call(self, callees: Values, arguments: Arguments, site: Site) -> Values:
        """Call every one of some values."""
        result = NOTHING
        alone = len(callees) == 1
        if not alone:
            known = [value for value in callees if not isinstance(value, Unknown | Constant)]
            among = len(known)
            if len(known) < len(callees):
                methods = any(isinstance(value, Bound | Class) for value in known)
                if among > (MAX_OPEN_CALLEES if methods else MAX_CALLEES):
                    among = MAX_CALLEES_IN_ALL + 1
            site = replace(site, among=max(among, site.among))
        for callee in ordered(callees):
            result = join(result, self.call_one(callee, arguments, site, alone=alone))
        return result

    def call_one(self, callee: Value, arguments: Arguments, site: Site, *, alone: bool) -> Values:
        """Call one value; ``alone``: nothing else may be what is called."""
        if isinstance(callee, Function):
            return self.call_function(callee, arguments, site, alone=alone)
        if isinstance(callee, Bound):
            inner = Arguments(
                [frozenset({callee.receiver}), *arguments.positional],
                arguments.keywords,
                arguments.rest,
                arguments.others,
            )
            return self.call_one(callee.function, inner, site, alone=alone)
        if isinstance(callee, Class):
            return self.instantiate(callee, arguments, site, alone=alone)
        if isinstance(callee, Instance):
            method = self.method(callee, "__call__", site)
            if method:
                return self.call(method, arguments, site)
            return ANYTHING
        if isinstance(callee, Partial):
            inner = Arguments(
                [*callee.positional, *arguments.positional],
                {**callee.keywords, **arguments.keywords},
                arguments.rest,
                arguments.others,
            )
            return self.call(callee.functions, inner, site)
        if isinstance(callee, Descriptor):
            return self.call(callee.functions, arguments, site)
        if isinstance(callee, Wrapping):
            return arguments.positional[0] if arguments.positional else ANYTHING
        if isinstance(callee, Unknown):
            return self._call_unknown(callee, arguments, site) if alone else ANYTHING
        if isinstance(callee, Constant | Container | Iterator):
            return NOTHING if isinstance(callee, Constant) else ANYTHING
        return self.call_native(callee, arguments, site)

    def _call_unknown(self, callee: Unknown, arguments: Arguments, site: Site) -> Values:
        function = self.unique_method(callee.name) if callee.name else None
        if function is None or function.owner is None:
            return ANYTHING
        guess = site.implied("only class that defines it")
        receiver = self.everything_of(function.owner)
        return self.call_one(self.bind(function, receiver), arguments, guess, alone=False)

    def call_function(
        self, function: Function, arguments: Arguments, site: Site, *, alone: bool
    ) -> Values:
        """Call a function or lambda: an edge, and what it returns for these arguments."""
        node = (function.frame.path, self.index_of(function))
        if function.frame.parent is not None:
            self.record(site, node, alone=alone, label=self._wrapped(function, node))
        else:
            self.record(site, node, alone=alone, label="")
        bound = self._bind_arguments(function, arguments)
        context = self._context(function, node, bound)
        if self.stack:
            context.callers[self.stack[-1]] = None
        self._ensure(context)
        if self.stack:
            top = self.stack[-1]
            if len(top.touched) < MAX_TOUCHED:
                top.touched |= context.touched
            if not context.result or context.running:
                top.incomplete = True
        return context.result

    def _wrapped(self, function: Function, node: tuple[str, int]) -> str:
        """What a closure wraps: the one function among the parameters it captures."""
        outer = function.frame
        names = self._captured.get(node)
        if names is None:
            names = free_names(function.code) & {each.name for each in outer.code.parameters}
            self._captured[node] = names
        found = [
            value
            for name in sorted(names)
            if len(values := outer.names.get(name, NOTHING)) == 1
            for value in values
        ]
        labels = [label for value in found if (label := _label(value))]
        return labels[0] if len(labels) == 1 else ""

    def index_of(self, function: Function) -> int:
        """The index of a function's code in its file."""
        return self.index_of_code(function.code, function.frame.path)

    def index_of_code(self, code: Code, path: str) -> int:
        """The index of a code in its file."""
        raise NotImplementedError

    def _bind_arguments(self, function: Function, arguments: Arguments) -> dict[str, Values]:
        """Parameter → values (language reference, "Calls")."""
        bound: dict[str, Values] = {}
        positional = list(arguments.positional)
        keywords = dict(arguments.keywords)
        for parameter in function.code.parameters:
            name = parameter.name
            if parameter.kind == "*":
                bound[name] = self.packed("tuple", positional, arguments.rest)
                positional = []
                continue
            if parameter.kind == "**":
                bound[name] = self.packed_keywords(keywords, arguments.others)
                continue
            if positional and parameter.kind != "k":
                values = positional.pop(0)
            elif name in keywords and parameter.kind != "po":
                values = keywords.pop(name)
            else:
                values = arguments.others
                if parameter.kind != "k":
                    values = join(values, arguments.rest)
                if parameter.default is not None:
                    values = join(values, function.defaults.get(name, NOTHING))
                elif not values:
                    values = ANYTHING
            if UNKNOWN in values or not values:
                hinted = self.annotated(parameter.annotation, function.frame)
                if hinted:
                    values = join(values - {UNKNOWN}, hinted)
            bound[name] = values
        return bound

    def packed(self, kind: str, items: list[Values], rest: Values) -> Values:
        """A tuple of arguments; equal ones are one value, so that contexts are found again."""
        raise NotImplementedError

    def packed_keywords(self, keywords: dict[str, Values], others: Values) -> Values:
        """A dict of keyword arguments."""
        raise NotImplementedError

    def _context(
        self, function: Function, node: tuple[str, int], bound: dict[str, Values]
    ) -> Context:
        key: tuple[object, ...] = (node, function.frame, *bound.values())
        found = self.contexts.get(key)
        if found is not None:
            return found
        count = self._contexts_of.get(node, 0)
        if (
            count >= MAX_CONTEXTS
            or self.steps > self.max_steps
            or (count > 2 and self._steps_of.get(node, 0) > STEPS_PER_CODE)
        ):
            return self._shared_context(function, node, bound)
        self._contexts_of[node] = count + 1
        return self._new_context(key, function, node, bound)

    def _new_context(
        self,
        key: tuple[object, ...],
        function: Function,
        node: tuple[str, int],
        bound: dict[str, Values],
    ) -> Context:
        frame = Frame(function.code, function.frame, node[0])
        frame.owner = function.owner
        frame.caller = node[1]
        context = Context(function, bound, frame)
        self.contexts[key] = context
        return context

    def _shared_context(
        self, function: Function, node: tuple[str, int], bound: dict[str, Values]
    ) -> Context:
        key = (node, function.frame, "shared")
        context = self.contexts.get(key)
        if context is None:
            bound = {name: widened(values, self) for name, values in bound.items()}
            return self._new_context(key, function, node, bound)
        changed = False
        for name, values in bound.items():
            before = context.arguments.get(name, NOTHING)
            if values <= before or before is ANYTHING:
                continue
            after = widened(join(before, values), self)
            if after != before:
                context.arguments[name] = after
                changed = True
        if changed:
            context.outdated = True
        return context

    def _ensure(self, context: Context) -> None:
        """Run a context unless what it found still holds."""
        if context.running:
            context.recursive = True
            return
        if context.ran and not context.outdated and not self._has_changed(context):
            return
        if context.ran and (context.repeats >= MAX_REPEATS or self.steps > self.max_steps):
            if context.late_repeats < MAX_LATE_REPEATS:
                self.deferred[context] = None
            return
        if len(self.stack) >= MAX_DEPTH:
            self.deferred[context] = None
            return
        context.repeats += context.ran > 0
        self.run(context)

    def _has_changed(self, context: Context) -> bool:
        """Whether something a context read has changed since it ran."""
        if context.checked == self.clock:
            return False
        context.checked = self.clock
        if context.repeats >= MAX_REPEATS:
            return False
        return any(thing.changed > context.ran for thing in context.touched)

    def run(self, context: Context) -> None:
        """Analyse a context, a recursive one until its result stays the same."""
        node = (context.frame.path, context.frame.caller)
        for _ in range(MAX_RUNS):
            before = context.result
            start = self.steps
            nested = self._nested_steps
            self._run_once(context)
            spent = self.steps - start - (self._nested_steps - nested)
            self._nested_steps = nested + self.steps - start
            self._steps_of[node] = self._steps_of.get(node, 0) + spent
            if not context.recursive or context.result == before:
                break

    def _run_once(self, context: Context) -> None:
        frame = context.frame
        code = context.function.code
        context.running = True
        context.recursive = context.incomplete = context.outdated = False
        context.ran = self.clock
        context.touched.clear()
        self.stack.append(context)
        for name, values in context.arguments.items():
            frame.set(name, values)
        self.execute(code.body, frame)
        self.stack.pop()
        context.running = False
        if code.generator:
            context.result = frozenset({self.iterator_of(context)})
        elif code.kind == "function" and (not context.result or UNKNOWN in context.result):
            hinted = self.annotated(code.returns, context.function.frame)
            if hinted:
                context.result = join(context.result - {UNKNOWN}, hinted)

    def iterator_of(self, context: Context) -> Iterator:
        """What calling a generator function gives."""
        found = self._iterators.get(context)
        if found is None:
            found = self._iterators[context] = Iterator()
        found.yields = context.yields
        return found

    def instantiate(
        self, class_: Class, arguments: Arguments, site: Site, *, alone: bool
    ) -> Values:
        """Call a class: its metaclass's ``__call__``, ``__new__`` and ``__init__``."""
        for metaclass in ordered(class_.metaclasses):
            if isinstance(metaclass, Class):
                found = self.in_class(metaclass, "__call__")
                if isinstance(found, tuple):
                    call = self.bound(found[1], class_, metaclass, site)
                    return self.call(call, arguments, site)
        return self.make(class_, arguments, site, alone=alone)

    def make(self, class_: Class, arguments: Arguments, site: Site, *, alone: bool) -> Values:
        """``type.__call__``: make an object and initialise it."""
        made: Values = frozenset({self.new_instance(class_, site)})
        new = self.in_class(class_, "__new__")
        if isinstance(new, tuple):
            inner = Arguments(
                [frozenset({class_}), *arguments.positional],
                arguments.keywords,
                arguments.rest,
                arguments.others,
            )
            result = NOTHING
            for function in ordered(new[1]):
                if isinstance(function, Descriptor):
                    result = join(result, self.call(function.functions, inner, site))
                else:
                    result = join(result, self.call_one(function, inner, site, alone=alone))
            known = frozenset(value for value in result if not isinstance(value, Unknown))
            made = known or made
        initialiser = self.in_class(class_, "__init__")
        for value in ordered(made):
            if not isinstance(value, Instance) or class_ not in value.class_.mro:
                continue
            if isinstance(initialiser, tuple):
                bound = self.bound(initialiser[1], value, value.class_, site)
                expected = alone and site.expected is not False
                making = Site(
                    *(site.frame, site.line, site.why, site.key),
                    expected=expected and site.expected in (True, class_.code),
                    proof="makes an instance",
                )
                self.call(bound, arguments, making)
            elif isinstance(initialiser, External):
                self.record_external(site, f"{initialiser.dotted}.__init__")
            else:
                self._fill_fields(value, arguments, site)
        return made

    def new_instance(self, class_: Class, site: Site) -> Instance:
        """The objects of a class that are made at one place by one frame."""
        key = (class_, site.key, site.frame)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Instance(class_)
            self.everything_of(class_)
        return found

    def _fill_fields(self, value: Instance, arguments: Arguments, site: Site) -> None:
        """The ``__init__`` that ``dataclass`` and ``NamedTuple`` write from annotations."""
        fields: list[str] = []
        for base in reversed(value.class_.mro):
            if isinstance(base, Class):
                for statement in base.code.body:
                    if statement[0] != "ann" or statement[1][0] != "n":
                        continue
                    if statement[1][1] not in fields:
                        fields.append(statement[1][1])
        positional = list(arguments.positional)
        for name in fields:
            values = positional.pop(0) if positional else arguments.keywords.get(name)
            if values is not None:
                self.store_attribute(frozenset({value}), name, values, site)
        after = self.method(value, "__post_init__", site)
        if fields and after:
            self.call(after, Arguments(), site.implied("dataclass"))


def _label(value: Value) -> str:
    if isinstance(value, Function):
        return value.code.bound_name or value.code.name
    if isinstance(value, External) and not value.result:
        return value.dotted
    if isinstance(value, Native) and not value.instance:
        return value.name
    return ""


def widened(values: Values, analysis: Calling) -> Values:
    """A parameter's values in a context that all calls share."""
    classes: dict[Class, int] = {}
    for value in values:
        if isinstance(value, Instance):
            classes[value.class_] = classes.get(value.class_, 0) + 1
    kept: set[Value] = set()
    constants = 0
    for value in values:
        if isinstance(value, Instance) and classes[value.class_] > 1:
            kept.add(analysis.everything_of(value.class_))
        else:
            kept.add(value)
            constants += isinstance(value, Constant)
    result = frozenset(kept)
    if len(result) > MAX_MERGED and constants:
        result = frozenset(v for v in result if not isinstance(v, Constant)) | {UNKNOWN}
    return result if len(result) <= MAX_MERGED else ANYTHING
