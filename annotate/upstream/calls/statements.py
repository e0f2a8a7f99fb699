"""Runs statements: names are bound in order, branches are followed side by side."""

from collections.abc import Callable, Iterable, Mapping

from annotate.upstream.calls.attributes import linearize
from annotate.upstream.calls.code import Body, Code, Expression, ModuleCode, Statement
from annotate.upstream.calls.core import Arguments, Site
from annotate.upstream.calls.expressions import Expressions
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    UNKNOWN,
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
    Unknown,
    Value,
    Values,
    join,
    ordered,
)

Journal = dict[str, Values | None]


class Statements(Expressions):
    """Runs statements."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self.classes: dict[tuple[str, int, Frame], Class] = {}
        self._runners: dict[str, Callable[[Statement, Frame], bool]] = {
            "e": self._expression,
            "=": self._assignment,
            "ann": self._annotated_assignment,
            "+=": self._augmented,
            "def": self._definition,
            "import": self._import,
            "from": self._import_from,
            "ret": self._return,
            "raise": self._raise,
            "del": self._delete,
            "assert": self._assert,
            "if": self._if,
            "while": self._while,
            "for": self._for,
            "try": self._try,
            "with": self._with,
            "match": self._match,
            "stop": lambda _s, _f: False,
        }

    def import_into(self, statement: Statement, frame: Frame) -> None:
        """Run an import statement."""
        raise NotImplementedError

    def execute(self, body: Body, frame: Frame) -> bool:
        """Run statements until one of them leaves."""
        return all(self._runners[statement[0]](statement, frame) for statement in body)

    def _expression(self, statement: Statement, frame: Frame) -> bool:
        self.evaluate(statement[1], frame)
        return True

    def _assignment(self, statement: Statement, frame: Frame) -> bool:
        values = self.evaluate(statement[2], frame)
        for target in statement[1]:
            self.assign(target, values, frame)
        return True

    def _annotated_assignment(self, statement: Statement, frame: Frame) -> bool:
        _, target, annotation, value = statement
        values = self.evaluate(value, frame) if value is not None else NOTHING
        if not values or UNKNOWN in values:
            hinted = self.annotated(annotation, frame)
            # A class's bare annotation is no attribute of it: only its objects may have one.
            if value is None:
                if frame.code.kind == "class" and hinted and target[0] == "n":
                    self._hint_field(frame, target[1], hinted)
                return True
            values = join(values - {UNKNOWN}, hinted) if hinted else values
        self.assign(target, values, frame)
        return True

    def _hint_field(self, frame: Frame, name: str, hinted: Values) -> None:
        if frame.owner is not None:
            everything = self.everything_of(frame.owner)
            everything.fields.setdefault(name, hinted)

    def _augmented(self, statement: Statement, frame: Frame) -> bool:
        _, operator, target, value, line = statement
        before = self.evaluate(target, frame)
        values = self.evaluate(value, frame)
        site = Site(frame, line, f"operator {operator}=")
        if operator == "+":
            for each in ordered(before):
                if isinstance(each, Container) and each.kind == "list":
                    each.length = None
                    self.put_anywhere(each, self.iterated(values, site))
                    return True
        inplace = {"+": "__iadd__", "-": "__isub__", "*": "__imul__", "|": "__ior__"}
        name = inplace.get(operator)
        result = self._by_method(before, name, values, site) if name else NOTHING
        if not result:
            result = self.operate(operator, before, values, site)
        self.assign(target, result or ANYTHING, frame)
        return True

    def assign(self, target: Expression, values: Values, frame: Frame) -> None:
        """Do ``target = values``."""
        kind = target[0]
        if kind == "n":
            self._bind_name(target[1], values, frame)
        elif kind == "a":
            receivers = self.evaluate(target[1], frame)
            site = Site(frame, target[3], "attribute")
            self.store_attribute(receivers, target[2], values, site)
        elif kind == "s":
            receivers = self.evaluate(target[1], frame)
            keys = self.evaluate(target[2], frame)
            self.store_item(receivers, keys, values, Site(frame, target[3], "subscript"))
        elif kind in ("t", "l"):
            self._unpack(target[1], values, frame)
        elif kind == "*":
            self.assign(target[1], values, frame)

    def _unpack(self, targets: tuple[Expression, ...], values: Values, frame: Frame) -> None:
        site = Site(frame, frame.code.line, "unpacking")
        star = next((i for i, each in enumerate(targets) if each[0] == "*"), None)
        if star is None:
            parts = self.elements(values, len(targets), site)
            for target, part in zip(targets, parts, strict=True):
                self.assign(target, part or ANYTHING, frame)
            return
        after = len(targets) - star - 1
        value = next(iter(values)) if len(values) == 1 else None
        if isinstance(value, Container) and value.length is not None and not value.rest:
            items = [value.known.get(index, ANYTHING) for index in range(value.length)]
            middle = items[star : len(items) - after] if len(items) >= len(targets) - 1 else []
            for target, part in zip(targets[:star], items[:star], strict=False):
                self.assign(target, part, frame)
            rest = self.container("list", targets, frame)
            self.assign(targets[star], self.fill(rest, middle), frame)
            if after:
                for target, part in zip(targets[star + 1 :], items[-after:], strict=False):
                    self.assign(target, part, frame)
            return
        each = self.iterated(values, site) or ANYTHING
        for target in targets:
            if target[0] == "*":
                rest = self.container("list", targets, frame)
                self.assign(target, self.fill(rest, [], each), frame)
            else:
                self.assign(target, each, frame)

    def _bind_name(self, name: str, values: Values, frame: Frame) -> None:
        scope: Frame | None = frame
        if name in frame.code.shared:
            scope = self.frames[frame.path]
        elif name in frame.code.outer:
            scope = frame.parent
            while scope is not None and name not in scope.code.local:
                scope = scope.parent
        if scope is None:
            return
        before = scope.names.get(name)
        if scope is not frame and self.branches and before is not None:
            values = join(before, values)
        if before is not None and before != values and self.is_unsteady(scope.path, name):
            self.change(self.cell(scope, name))
        scope.set(name, values)

    def _definition(self, statement: Statement, frame: Frame) -> bool:
        _, index, name = statement
        code = self.code(frame.path, index)
        if code.kind == "class":
            values: Values = frozenset({self._make_class(index, frame)})
        else:
            values = frozenset({self.define(index, frame)})
        for decorator in reversed(code.decorators):
            values = self._decorated(decorator, values, code, frame)
        self._bind_name(name, values, frame)
        return True

    def _decorated(self, decorator: Expression, values: Values, code: Code, frame: Frame) -> Values:
        """What a decorator makes of a definition; one from outside leaves it as it is."""
        decorators = self.evaluate(decorator, frame)
        site = self.site(decorator, frame, code.line, decorator[-2] if decorator[0] == "c" else 0)
        site.why = "decorator"
        site.proof = "decorator"
        site.key = -code.line
        known = frozenset(
            each
            for each in decorators
            if not (isinstance(each, Native) and "." not in each.name and each.name.islower())
        )
        if len(known) < len(decorators):
            # `@property` and its like are descriptors, whose call nobody would look for.
            kinds = {each.name for each in decorators if isinstance(each, Native)}
            kind = next(iter(kinds & {"property", "staticmethod", "classmethod"}), None)
            if kind is not None:
                return frozenset({self.descriptor(kind, values, site)})
        result = self.call(decorators, Arguments([values]), site)
        kept = frozenset(
            each for each in result if not isinstance(each, Unknown | External | Native | Constant)
        )
        outside = len(kept) < len(result) or not result
        if not kept:
            return values if outside else result
        return kept

    def define(self, index: int, frame: Frame) -> Value:
        """The function of a code, made in a frame, its defaults evaluated."""
        key = (frame.path, index, frame)
        found = self.functions.get(key)
        code = self.code(frame.path, index)
        if found is None:
            found = Function(code, frame)
            if frame.code.kind == "class":
                found.owner = frame.owner
            self.functions[key] = found
        for parameter in code.parameters:
            if parameter.default is not None:
                values = self.evaluate(parameter.default, frame)
                before = found.defaults.get(parameter.name, NOTHING)
                found.defaults[parameter.name] = join(before, values)
        return found

    def _make_class(self, index: int, frame: Frame) -> Class:
        key = (frame.path, index, frame)
        found = self.classes.get(key)
        code = self.code(frame.path, index)
        bases = [self._base(self.evaluate(base, frame)) for base in code.bases]
        if found is None:
            body = Frame(code, frame, frame.path)
            body.caller = frame.caller
            found = self.classes[key] = Class(code, body)
            body.owner = found
        found.bases = tuple(base for base in bases if base is not found)
        found.mro = linearize(found)
        for base in found.bases:
            if isinstance(base, Class) and found not in base.subclasses:
                base.subclasses.append(found)
            if isinstance(base, Class) and not found.metaclasses:
                found.metaclasses = base.metaclasses
        for name, value in code.keywords:
            values = self.evaluate(value, frame)
            if name == "metaclass":
                found.metaclasses = values
        self.execute(code.body, found.frame)
        self._created(found, frame)
        return found

    def _created(self, class_: Class, frame: Frame) -> None:
        """What creating a class calls: ``__set_name__``, its metaclass, ``__init_subclass__``."""
        site = Site(frame, class_.code.line, "class creation", class_.code.line)
        for name, values in list(class_.frame.names.items()):
            for value in ordered(values):
                if isinstance(value, Instance):
                    method = self.method(value, "__set_name__", site)
                    constant = self.literal(name)
                    self.call(method, Arguments([frozenset({class_}), constant]), site)
        for metaclass in ordered(class_.metaclasses):
            if not isinstance(metaclass, Class):
                continue
            for name in ("__new__", "__init__"):
                found = self.in_class(metaclass, name)
                if isinstance(found, tuple):
                    own = metaclass if name == "__new__" else class_
                    name_of = self.literal(class_.code.name)
                    arguments = Arguments([frozenset({own}), name_of, ANYTHING, ANYTHING])
                    self.call(found[1], arguments, site)
        for base in class_.mro[1:]:
            if isinstance(base, Class):
                hook = base.frame.names.get("__init_subclass__")
                if hook:
                    arguments = Arguments([frozenset({class_})], others=ANYTHING)
                    for value in ordered(hook):
                        functions = value.functions if isinstance(value, Descriptor) else hook
                        self.call(functions, arguments, site)
                    break

    def _base(self, values: Values) -> Value:
        known = [value for value in ordered(values) if isinstance(value, Class | External | Native)]
        return known[0] if known else UNKNOWN

    def _import(self, statement: Statement, frame: Frame) -> bool:
        self.import_into(statement, frame)
        return True

    def _import_from(self, statement: Statement, frame: Frame) -> bool:
        self.import_into(statement, frame)
        return True

    def _return(self, statement: Statement, frame: Frame) -> bool:
        values = self.evaluate(statement[1], frame)
        if self.stack and self.stack[-1].frame is frame:
            context = self.stack[-1]
            context.result = join(context.result, values)
        return False

    def _raise(self, statement: Statement, frame: Frame) -> bool:
        _, value, cause, line = statement
        for part in (value, cause):
            if part is None:
                continue
            values = self.evaluate(part, frame)
            classes: Values = frozenset(v for v in values if isinstance(v, Class))
            if classes:
                site = self.site(part, frame, line, line)
                site.why = site.proof = "raised"
                self.call(classes, Arguments(), site)
        return False

    def _assert(self, statement: Statement, frame: Frame) -> bool:
        _, test, message = statement
        self.evaluate(test, frame)
        if message is not None:
            self.branches += 1
            self.evaluate(message, frame)
            self.branches -= 1
        for name, values in self.narrowed(test, frame, holds=True):
            frame.set(name, values)
        return bool(test != ("k", False))

    def _delete(self, statement: Statement, frame: Frame) -> bool:
        for target in statement[1]:
            if target[0] == "s":
                receivers = self.evaluate(target[1], frame)
                keys = self.evaluate(target[2], frame)
                site = Site(frame, target[3], "del")
                self.special(receivers, ("__delitem__",), site, keys)
            elif target[0] == "n" and not self.branches:
                frame.unset(target[1])
        return True

    def _branches(
        self,
        runs: Iterable[Callable[[], bool]],
        frame: Frame,
        *,
        may_skip: bool,
    ) -> bool:
        """Run alternatives from the same start, and go on with what any of them leaves."""
        results: list[Journal] = []
        reaches = may_skip
        self.branches += 1
        for run in runs:
            journal: Journal = {}
            frame.journals.append(journal)
            ended = run()
            frame.journals.pop()
            bound = frame.restore(journal)
            if ended:
                reaches = True
                results.append(bound)
        self.branches -= 1
        names = dict.fromkeys(name for bound in results for name in bound)
        for name in names:
            before = frame.names.get(name)
            after = before if may_skip and before is not None else NOTHING
            for bound in results:
                values = bound.get(name, before)
                after = join(after, values or NOTHING)
            if after:
                frame.set(name, after)
        return reaches

    def _if(self, statement: Statement, frame: Frame) -> bool:
        _, test, then, otherwise = statement
        values = self.evaluate(test, frame)
        self.special(values, ("__bool__", "__len__"), Site(frame, frame.code.line, "truth"))
        if test[0] == "k":
            return self.execute(then if test[1] else otherwise, frame)

        def side(body: Body, *, holds: bool) -> Callable[[], bool]:
            def run() -> bool:
                for name, narrowed in self.narrowed(test, frame, holds=holds):
                    frame.set(name, narrowed)
                return self.execute(body, frame)

            return run

        return self._branches(
            (side(then, holds=True), side(otherwise, holds=False)), frame, may_skip=False
        )

    def _while(self, statement: Statement, frame: Frame) -> bool:
        _, test, body, otherwise = statement

        def run() -> bool:
            self.evaluate(test, frame)
            self.execute(body, frame)
            return True

        if test == ("k", False):
            return self.execute(otherwise, frame)
        for _ in range(2):
            self._branches((run,), frame, may_skip=True)
        self.evaluate(test, frame)
        self.execute(otherwise, frame)
        return True

    def _for(self, statement: Statement, frame: Frame) -> bool:
        _, target, iterable, body, otherwise, line = statement
        values = self.evaluate(iterable, frame)
        site = Site(frame, line, "iteration", line)
        items = self.iterated(values, site) or ANYTHING

        def run() -> bool:
            self.assign(target, items, frame)
            self.execute(body, frame)
            return True

        for _ in range(2):
            self._branches((run,), frame, may_skip=True)
        # The name stays bound to the last item.
        self.execute(otherwise, frame)
        return True

    def _try(self, statement: Statement, frame: Frame) -> bool:
        _, body, handlers, otherwise, final = statement
        journal: Journal = {}
        frame.journals.append(journal)
        self.branches += bool(handlers)
        ended = self.execute(body, frame)
        if ended:
            ended = self.execute(otherwise, frame)
        self.branches -= bool(handlers)
        frame.journals.pop()
        # A handler may run from any point of the body: after all of it, or before.
        bound = frame.restore(journal)
        before = {name: frame.names.get(name) for name in bound}
        runs: list[Callable[[], bool]] = []
        for types, name, handler in handlers:
            runs.append(self._handler(types, name, handler, bound, frame))
        if ended:
            runs.append(lambda: self._rebind(bound, frame))
        reaches = self._branches(runs, frame, may_skip=False) if runs else False
        if not reaches and final:
            for name, values in bound.items():
                frame.set(name, join(values or NOTHING, before[name] or NOTHING))
        return self.execute(final, frame) and reaches

    def _rebind(self, bound: Journal, frame: Frame) -> bool:
        for name, values in bound.items():
            if values is None:
                frame.unset(name)
            else:
                frame.set(name, values)
        return True

    def _handler(
        self, types: Expression, name: str | None, body: Body, bound: Journal, frame: Frame
    ) -> Callable[[], bool]:
        def run() -> bool:
            for bound_name, values in bound.items():
                before = frame.names.get(bound_name, NOTHING)
                frame.set(bound_name, join(before, values or NOTHING))
            caught = self.evaluate(types, frame)
            if name is not None:
                self._bind_name(name, self._caught(caught), frame)
            return self.execute(body, frame)

        return run

    def _caught(self, types: Values) -> Values:
        found: set[Value] = set()
        for value in types:
            flat = self.contents(value) if isinstance(value, Container) else {value}
            for each in flat:
                if isinstance(each, Class):
                    found.add(self.everything_of(each))
                elif isinstance(each, Native):
                    found.add(self.native(each.name, instance=True))
                else:
                    found.add(UNKNOWN)
        return frozenset(found) or ANYTHING

    def _with(self, statement: Statement, frame: Frame) -> bool:
        _, items, body, line = statement
        site = Site(frame, line, "with", line)
        exits: list[Values] = []
        for context, target in items:
            managers = self.evaluate(context, frame)
            entered = self.special(managers, ("__enter__",), site)
            entered = join(entered, self.special(managers, ("__aenter__",), site))
            for value in ordered(managers):
                if isinstance(value, Iterator):
                    # A function under `contextlib.contextmanager` yields what is entered.
                    entered = join(entered, value.yields)
                elif isinstance(value, External | Native):
                    entered = join(entered, frozenset({value}))
            if target is not None:
                self.assign(target, entered or ANYTHING, frame)
            exits.append(managers)
        reaches = self.execute(body, frame)
        none = self.literal(None)
        for managers in reversed(exits):
            self.special(managers, ("__exit__",), site, none, none, none)
            self.special(managers, ("__aexit__",), site, none, none, none)
        # `__exit__` may swallow what was raised, but a return stays one.
        return reaches or not _returns(body)

    def _match(self, statement: Statement, frame: Frame) -> bool:
        _, subject, cases, line = statement
        values = self.evaluate(subject, frame)

        def side(case: tuple[Expression, Expression | None, Body]) -> Callable[[], bool]:
            def run() -> bool:
                self._bind_pattern(case[0], values, frame, line)
                if case[1] is not None:
                    self.evaluate(case[1], frame)
                return self.execute(case[2], frame)

            return run

        return self._branches([side(case) for case in cases], frame, may_skip=True)

    def _bind_pattern(self, pattern: Expression, values: Values, frame: Frame, line: int) -> None:
        kind = pattern[0]
        if kind == "bind":
            if pattern[2] is not None:
                values = self._matching(pattern[2], values, frame)
                self._bind_pattern(pattern[2], values, frame, line)
            self._bind_name(pattern[1], values, frame)
        elif kind == "any":
            for each in pattern[1]:
                self._bind_pattern(each, values, frame, line)
        elif kind == "class":
            self._bind_class_pattern(pattern, values, frame, line)
        elif kind == "items":
            site = Site(frame, line, "match", line)
            each_values = self.elements(values, len(pattern[1]), site)
            for each, part in zip(pattern[1], each_values, strict=True):
                inner = each[1] if each[0] == "rest" else each
                self._bind_pattern(inner, part or ANYTHING, frame, line)
        elif kind == "keys":
            for key, each in pattern[1]:
                keys = self.evaluate(key, frame)
                part = self.item(values, keys, Site(frame, line, "match", line))
                self._bind_pattern(each, part or ANYTHING, frame, line)
            self._bind_pattern(pattern[2], values, frame, line)
        elif kind == "rest":
            self._bind_pattern(pattern[1], values, frame, line)
        elif kind == "value":
            self.evaluate(pattern[1], frame)

    def _matching(self, pattern: Expression, values: Values, frame: Frame) -> Values:
        if pattern[0] != "class":
            return values
        classes = {v for v in self.evaluate(pattern[1], frame) if isinstance(v, Class)}
        fitting: Values = frozenset(
            v
            for v in values
            if isinstance(v, Instance) and any(each in v.class_.mro for each in classes)
        )
        if fitting or not classes:
            return fitting or values
        return frozenset(self.everything_of(each) for each in classes)

    def _bind_class_pattern(
        self, pattern: Expression, values: Values, frame: Frame, line: int
    ) -> None:
        matching = self._matching(pattern, values, frame)
        site = Site(frame, line, "match", line)
        names = self.item_names(matching)
        for number, each in enumerate(pattern[2]):
            part = ANYTHING
            if number < len(names):
                part = self.attribute(matching, names[number], site)
            self._bind_pattern(each, part, frame, line)
        for name, each in pattern[3]:
            self._bind_pattern(each, self.attribute(matching, name, site), frame, line)

    def item_names(self, values: Values) -> list[str]:
        """The ``__match_args__`` of objects."""
        for value in ordered(values):
            if isinstance(value, Instance):
                found = self.in_class(value.class_, "__match_args__")
                if isinstance(found, tuple):
                    names = [
                        constant.value
                        for each in found[1]
                        if isinstance(each, Container)
                        for index in range(each.length or 0)
                        for constant in each.known.get(index, NOTHING)
                        if isinstance(constant, Constant)
                    ]
                    return [name for name in names if isinstance(name, str)]
        return []


def _returns(body: Body) -> bool:
    return bool(body) and body[-1][0] == "ret"
