"""Evaluates expressions to values, and calls what they call."""

from collections.abc import Callable, Mapping

from annotate.upstream.calls.code import Expression, ModuleCode
from annotate.upstream.calls.core import Arguments, Site
from annotate.upstream.calls.evidence import Evidence
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    Class,
    Constant,
    Container,
    Frame,
    Function,
    Instance,
    Native,
    Unknown,
    Value,
    Values,
    join,
    ordered,
)

_OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "@": "matmul",
    "**": "pow",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
}
_UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}
_COMPARISONS = {
    "<": ("__lt__", "__gt__"),
    "<=": ("__le__", "__ge__"),
    ">": ("__gt__", "__lt__"),
    ">=": ("__ge__", "__le__"),
    "==": ("__eq__", "__eq__"),
    "!=": ("__ne__", "__ne__"),
}


class Expressions(Evidence):
    """Evaluates expressions."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self._evaluators: dict[str, Callable[[Expression, Frame], Values]] = {
            "n": lambda e, f: self.name_in(e[1], f),
            "k": lambda e, _f: self.literal(e[1]),
            "K": lambda e, _f: self.instance_of(e[1]),
            "a": self._attribute,
            "c": self._call,
            "s": self._subscript,
            "l": lambda e, f: self._items("list", e, f),
            "t": lambda e, f: self._items("tuple", e, f),
            "S": lambda e, f: self._items("set", e, f),
            "d": self._dictionary,
            "lc": lambda e, f: self._comprehension("list", e, f),
            "sc": lambda e, f: self._comprehension("set", e, f),
            "gc": self._generator,
            "dc": self._dict_comprehension,
            "L": lambda e, f: frozenset({self.define(e[1], f)}),
            "if": self._conditional,
            "or": self._or,
            "and": self._and,
            "not": self._not,
            "b": self._binary,
            "u": self._unary,
            "cmp": self._comparison,
            ":=": self._named,
            "aw": self._await,
            "y": self._yield,
            "yf": self._yield_from,
            "*": lambda e, f: self.evaluate(e[1], f),
            "fs": self._formatted,
            "seq": self._sequence,
            "sl": self._slice,
        }

    def evaluate(self, expression: Expression, frame: Frame) -> Values:
        """What an expression stands for in a frame."""
        self.steps += 1
        return self._evaluators[expression[0]](expression, frame)

    def define(self, index: int, frame: Frame) -> Value:
        """The function or class of a code, made in a frame."""
        raise NotImplementedError

    def assign(self, target: Expression, values: Values, frame: Frame) -> None:
        """Do ``target = values``."""
        raise NotImplementedError

    def narrowed(self, test: Expression, frame: Frame, *, holds: bool) -> list[tuple[str, Values]]:
        """Names that a test tells more about where it holds, or where it does not."""
        if test[0] == "not":
            return self.narrowed(test[1], frame, holds=not holds)
        if test[0] == "and" and holds:
            return [
                *self.narrowed(test[1], frame, holds=True),
                *self.narrowed(test[2], frame, holds=True),
            ]
        if test[0] == "n":
            return self._truthy(test[1], frame, holds=holds)
        if test[0] == "cmp" and test[1] in (("is",), ("is not",), ("==",), ("!=",)):
            left, right = test[2][0], test[2][-1]
            if left[0] == "n" and right == ("k", None):
                is_none = holds == (test[1] in (("is",), ("==",)))
                return self._none(left[1], frame, is_none=is_none)
        if (
            test[0] == "c"
            and test[1] == ("n", "isinstance")
            and len(test[2]) == 2
            and test[2][0][0] == "n"
        ):
            return self._instances(test[2][0][1], test[2][1], frame, holds=holds)
        return []

    def _own(self, name: str, frame: Frame) -> Values | None:
        return frame.names.get(name) if name in frame.code.local else None

    def _truthy(self, name: str, frame: Frame, *, holds: bool) -> list[tuple[str, Values]]:
        values = self._own(name, frame)
        if not values:
            return []
        if holds:
            kept = frozenset(v for v in values if not (isinstance(v, Constant) and not v.value))
        else:
            kept = frozenset(v for v in values if not isinstance(v, Function | Class))
        return [(name, kept)] if kept and kept != values else []

    def _none(self, name: str, frame: Frame, *, is_none: bool) -> list[tuple[str, Values]]:
        values = self._own(name, frame)
        none = self.constant(None)
        if not values or none not in values:
            return []
        if is_none:
            return [(name, frozenset({none}))]
        return [(name, values - {none})] if values - {none} else []

    def _instances(
        self, name: str, classes: Expression, frame: Frame, *, holds: bool
    ) -> list[tuple[str, Values]]:
        values = self._own(name, frame)
        if not values:
            return []
        wanted = self.evaluate(classes, frame)
        flat: set[Value] = set()
        for each in wanted:
            flat |= set(self.contents(each)) if isinstance(each, Container) else {each}
        if not all(isinstance(each, Class) for each in flat):
            return []
        known = {each for each in flat if isinstance(each, Class)}
        kept: set[Value] = set()
        for value in values:
            if isinstance(value, Instance):
                if any(class_ in value.class_.mro for class_ in known) == holds:
                    kept.add(value)
            elif not holds:
                kept.add(value)
            elif isinstance(value, Unknown):
                kept.update(self.everything_of(class_) for class_ in known)
        return [(name, frozenset(kept))] if kept else []

    def _attribute(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        return self.attribute(values, expression[2], Site(frame, expression[3], "attribute"))

    def _call(self, expression: Expression, frame: Frame) -> Values:
        _, callee, positional, keywords, line, start, end = expression
        callees = self.evaluate(callee, frame)
        arguments = self._arguments(positional, keywords, frame)
        site = self.site(callee, frame, line, start)
        known = any(not isinstance(value, Unknown) for value in callees)
        if not known:
            known = any(
                isinstance(value, Unknown) and value.name and self.unique_method(value.name)
                for value in callees
            )
        key = (self.caller(site), line, start, end)
        self.unresolved[key] = self.unresolved.get(key, True) and not known
        return self.call(callees, arguments, site)

    def _arguments(
        self,
        positional: tuple[Expression, ...],
        keywords: tuple[tuple[str | None, Expression], ...],
        frame: Frame,
    ) -> Arguments:
        arguments = Arguments()
        site = Site(frame, 0, "unpacking")
        for each in positional:
            values = self.evaluate(each, frame)
            if each[0] != "*":
                if arguments.rest:
                    arguments.rest = join(arguments.rest, values)
                else:
                    arguments.positional.append(values)
                continue
            value = next(iter(values)) if len(values) == 1 else None
            if (
                isinstance(value, Container)
                and value.length is not None
                and not value.rest
                and not arguments.rest
            ):
                self.touch(value)
                arguments.positional.extend(
                    value.known.get(index, ANYTHING) for index in range(value.length)
                )
            else:
                found = self.iterated(values, site) or ANYTHING
                arguments.rest = join(arguments.rest, found)
        for name, expression in keywords:
            values = self.evaluate(expression, frame)
            if name is not None:
                arguments.keywords[name] = values
                continue
            for value in ordered(values):
                if isinstance(value, Container) and value.kind == "dict":
                    self.touch(value)
                    for key, item in value.known.items():
                        if isinstance(key, str):
                            before = arguments.keywords.get(key, NOTHING)
                            arguments.keywords[key] = join(before, item)
                    arguments.others = join(arguments.others, value.rest)
                else:
                    arguments.others = join(arguments.others, ANYTHING)
        return arguments

    def _subscript(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        key = expression[2]
        if key[0] == "sl":
            self._slice(key, frame)
            return self.slice(values, key, expression, frame)
        return self.item(values, self.evaluate(key, frame), Site(frame, expression[3], "subscript"))

    def _slice(self, expression: Expression, frame: Frame) -> Values:
        for part in expression[1:]:
            if part is not None:
                self.evaluate(part, frame)
        return ANYTHING

    def _items(self, kind: str, expression: Expression, frame: Frame) -> Values:
        items: list[Values] = []
        rest = NOTHING
        for each in expression[1]:
            values = self.evaluate(each, frame)
            if each[0] != "*":
                if rest:
                    rest = join(rest, values)
                else:
                    items.append(values)
                continue
            value = next(iter(values)) if len(values) == 1 else None
            if isinstance(value, Container) and value.length is not None and not value.rest:
                self.touch(value)
                items.extend(value.known.get(index, ANYTHING) for index in range(value.length))
            else:
                rest = join(rest, self.iterated(values, Site(frame, 0, "unpacking")) or ANYTHING)
        if kind == "tuple":
            return self.packed("tuple", items, rest)
        return self.fill(self.container(kind, expression, frame), items, rest)

    def _dictionary(self, expression: Expression, frame: Frame) -> Values:
        made = self.container("dict", expression, frame)
        for key, value in expression[1]:
            values = self.evaluate(value, frame)
            if key is None:
                self.update(made, values, Site(frame, 0, "unpacking"))
            else:
                keys = self.evaluate(key, frame)
                self.store_item(frozenset({made}), keys, values, Site(frame, 0, "subscript"))
        return frozenset({made})

    def _clauses(self, expression: Expression, frame: Frame) -> None:
        for target, iterable, conditions in expression[2]:
            values = self.evaluate(iterable, frame)
            items = self.iterated(values, Site(frame, frame.code.line, "iteration"))
            self.assign(target, items or ANYTHING, frame)
            for condition in conditions:
                self.evaluate(condition, frame)

    def _comprehension(self, kind: str, expression: Expression, frame: Frame) -> Values:
        made = self.container(kind, expression, frame)
        self.branches += 1
        self._clauses(expression, frame)
        values = self.evaluate(expression[1], frame)
        self.branches -= 1
        return self.fill(made, [], values)

    def _generator(self, expression: Expression, frame: Frame) -> Values:
        self.branches += 1
        self._clauses(expression, frame)
        values = self.evaluate(expression[1], frame)
        self.branches -= 1
        return self.iterator(expression, frame, values)

    def _dict_comprehension(self, expression: Expression, frame: Frame) -> Values:
        made = self.container("dict", expression, frame)
        self.branches += 1
        self._clauses(expression, frame)
        keys = self.evaluate(expression[1][0], frame)
        values = self.evaluate(expression[1][1], frame)
        site = Site(frame, 0, "subscript")
        self.store_item(frozenset({made}), keys, values, site)
        self.branches -= 1
        return frozenset({made})

    def _conditional(self, expression: Expression, frame: Frame) -> Values:
        _, test, then, otherwise = expression
        self.evaluate(test, frame)
        self.branches += 1
        result = NOTHING
        for branch, holds in ((then, True), (otherwise, False)):
            journal: dict[str, Values | None] = {}
            frame.journals.append(journal)
            for name, values in self.narrowed(test, frame, holds=holds):
                frame.set(name, values)
            result = join(result, self.evaluate(branch, frame))
            frame.journals.pop()
            bound = frame.restore(journal)
            for name, bound_values in bound.items():
                if bound_values and name not in dict(self.narrowed(test, frame, holds=holds)):
                    frame.set(name, join(frame.names.get(name, NOTHING), bound_values))
        self.branches -= 1
        return result

    def _or(self, expression: Expression, frame: Frame) -> Values:
        left = self.evaluate(expression[1], frame)
        self.special(left, ("__bool__", "__len__"), Site(frame, frame.code.line, "truth"))
        self.branches += 1
        right = self.evaluate(expression[2], frame)
        self.branches -= 1
        kept = frozenset(v for v in left if not (isinstance(v, Constant) and not v.value))
        return join(kept, right)

    def _and(self, expression: Expression, frame: Frame) -> Values:
        left = self.evaluate(expression[1], frame)
        self.special(left, ("__bool__", "__len__"), Site(frame, frame.code.line, "truth"))
        self.branches += 1
        right = self.evaluate(expression[2], frame)
        self.branches -= 1
        # An object is true unless it says otherwise: what is false is a constant or unknown.
        kept = frozenset(v for v in left if isinstance(v, Constant | Native | Unknown))
        return join(kept, right)

    def _not(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        self.special(values, ("__bool__", "__len__"), Site(frame, frame.code.line, "truth"))
        return self.instance_of("bool")

    def _binary(self, expression: Expression, frame: Frame) -> Values:
        _, operator, left_part, right_part, line = expression
        left = self.evaluate(left_part, frame)
        right = self.evaluate(right_part, frame)
        return self.operate(operator, left, right, Site(frame, line, f"operator {operator}"))

    def operate(self, operator: str, left: Values, right: Values, site: Site) -> Values:
        """What ``left operator right`` is; calls the special methods of objects."""
        name = _OPERATORS.get(operator)
        if name is None:
            return ANYTHING
        mine = self._by_method(left, f"__{name}__", right, site)
        if mine:
            return mine
        theirs = self._by_method(right, f"__r{name}__", left, site)
        if theirs:
            return theirs
        return self._plain_operation(operator, left, right)

    def _by_method(self, values: Values, name: str, other: Values, site: Site) -> Values:
        result = NOTHING
        for value in ordered(values):
            if isinstance(value, Instance | Class):
                method = self.method(value, name, site)
                if method:
                    implied = site.implied(site.why, values)
                    result = join(result, self.call(method, Arguments([other]), implied))
        return frozenset(v for v in result if not _is_not_implemented(v)) or result

    def _plain_operation(self, operator: str, left: Values, right: Values) -> Values:
        lists = [
            value
            for value in (*left, *right)
            if isinstance(value, Container) and value.kind in ("list", "tuple", "dict", "set")
        ]
        if lists and operator in ("+", "|", "*", "-", "&"):
            contents = NOTHING
            for each in lists:
                contents = join(contents, self.contents(each))
            first, second = (next(iter(each), None) for each in (left, right))
            kind = lists[0].kind
            if (
                operator == "+"
                and len(left) == len(right) == 1
                and isinstance(first, Container)
                and isinstance(second, Container)
                and first.length is not None
                and second.length is not None
                and kind in ("list", "tuple")
            ):
                items = [first.known.get(i, ANYTHING) for i in range(first.length)]
                items += [second.known.get(i, ANYTHING) for i in range(second.length)]
                return self.packed(kind, items, NOTHING)
            if kind == "dict":
                return self.packed_keywords({}, contents)
            return self.packed(kind, [], contents)
        for value in left:
            if isinstance(value, Native) and value.instance and value.name in ("str", "int"):
                return frozenset({value})
            if isinstance(value, Constant) and type(value.value) in (str, int):
                kind = "str" if isinstance(value.value, str) else "int"
                return self.instance_of(kind)
        return ANYTHING

    def _unary(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[2], frame)
        name = _UNARY.get(expression[1])
        if name is None:
            return ANYTHING
        site = Site(frame, expression[3], f"operator {expression[1]}")
        return self.special(values, (name,), site) or ANYTHING

    def _comparison(self, expression: Expression, frame: Frame) -> Values:
        _, operators, operands, line = expression
        values = [self.evaluate(each, frame) for each in operands]
        for operator, left, right in zip(operators, values, values[1:], strict=False):
            site = Site(frame, line, f"operator {operator}")
            if operator in ("in", "not in"):
                if not self.special(right, ("__contains__",), site, left):
                    self.iterated(frozenset(v for v in right if isinstance(v, Instance)), site)
            elif operator in _COMPARISONS:
                mine, theirs = _COMPARISONS[operator]
                if not self._by_method(left, mine, right, site):
                    self._by_method(right, theirs, left, site)
        return self.instance_of("bool")

    def _named(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[2], frame)
        self.assign(("n", expression[1]), values, frame)
        return values

    def _await(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        site = Site(frame, frame.code.line, "await")
        awaited = self.special(values, ("__await__",), site)
        return awaited or values

    def _yield(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        if self.stack and self.stack[-1].frame is frame:
            context = self.stack[-1]
            context.yields = join(context.yields, values)
        return ANYTHING

    def _yield_from(self, expression: Expression, frame: Frame) -> Values:
        values = self.evaluate(expression[1], frame)
        yields = self.iterated(values, Site(frame, frame.code.line, "iteration"))
        if self.stack and self.stack[-1].frame is frame:
            context = self.stack[-1]
            context.yields = join(context.yields, yields)
        return ANYTHING

    def _formatted(self, expression: Expression, frame: Frame) -> Values:
        for part in expression[1]:
            values = self.evaluate(part, frame)
            site = Site(frame, expression[2], "formatting")
            self.special(values, ("__format__", "__str__", "__repr__"), site)
        return self.instance_of("str")

    def _sequence(self, expression: Expression, frame: Frame) -> Values:
        for part in expression[1]:
            self.evaluate(part, frame)
        return ANYTHING


def _is_not_implemented(value: Value) -> bool:
    return isinstance(value, Native) and value.name == "NotImplemented"
