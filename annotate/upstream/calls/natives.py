"""Builtin functions, and the few of the standard library that pass functions through.

Models follow the library reference: which of their arguments they call, and what they return.
"""

from collections.abc import Callable, Mapping

from annotate.upstream.calls.code import ModuleCode
from annotate.upstream.calls.containers import Containers
from annotate.upstream.calls.core import Arguments, Site
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    Bound,
    Class,
    Constant,
    Container,
    Descriptor,
    External,
    Frame,
    Function,
    Instance,
    Method,
    Module,
    Native,
    Partial,
    Super,
    Value,
    Values,
    Wrapping,
    join,
    ordered,
)

Model = Callable[[Arguments, Site], Values]

_SPECIAL = {
    **dict.fromkeys(("str", "print", "ascii"), ("__str__", "__repr__")),
    **{name: (f"__{name}__",) for name in ("len", "hash", "abs", "round", "int", "float", "bytes")},
    **{name: (f"__{name}__",) for name in ("complex", "dir", "divmod", "pow", "reversed")},
    "repr": ("__repr__",),
    "bool": ("__bool__", "__len__"),
    "format": ("__format__", "__str__", "__repr__"),
}
"""Builtin → the special methods it calls, of which an object's class has the first or a later."""

_CONSTRUCTED = frozenset({"str", "bytes", "int", "float", "complex", "bool"})
_SAME = frozenset(
    {
        *(
            "copy.copy",
            "copy.deepcopy",
            "asyncio.run",
            "typing.no_type_check",
            "abc.abstractmethod",
        ),
        *("atexit.register", "functools.total_ordering", "contextlib.contextmanager"),
        *("contextlib.asynccontextmanager", "typing.overload", "typing.final"),
        *("functools.singledispatch", "functools.cache", "dataclasses.dataclass", "enum.unique"),
        *("typing.runtime_checkable", "contextlib.closing", "asyncio.create_task"),
        *("asyncio.ensure_future", "weakref.proxy", "inspect.unwrap", "types.coroutine"),
    }
)
"""What returns its first argument, or something that does what it does when called."""

_PROPERTIES = frozenset({"functools.cached_property", "abc.abstractproperty"})
_ITERATED = frozenset({"list", "tuple", "set", "frozenset"})
_CONTAINERS = {
    "collections.OrderedDict": "dict",
    "collections.deque": "list",
    "types.MappingProxyType": "dict",
}
_FLATTENING = frozenset({"itertools.chain", "itertools.chain.from_iterable"})
_PASSING = frozenset({"itertools.islice", "itertools.cycle", "itertools.tee"})


class Natives(Containers):
    """Calls what is not defined in the tree."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self._descriptors: dict[tuple[str, Values, Values], Descriptor] = {}
        self._partials: dict[tuple[object, ...], Partial] = {}
        self._models: dict[str, Model] = {
            "super": self._super,
            "type": self._type,
            "getattr": self._getattr,
            "setattr": self._setattr,
            "property": self._property,
            "staticmethod": lambda a, s: self._descriptor("staticmethod", a, s),
            "classmethod": lambda a, s: self._descriptor("classmethod", a, s),
            "iter": self._iter,
            "next": self._next,
            "map": self._map,
            "filter": self._filter,
            "zip": self._zip,
            "enumerate": self._enumerate,
            "sorted": self._sorted,
            "min": self._extreme,
            "max": self._extreme,
            "sum": self._sum,
            "any": self._consumed,
            "all": self._consumed,
            "dict": self._dict,
            "range": lambda _a, s: self._numbers(s),
            "object.__new__": self._new,
            "type.__call__": self._type_call,
            "type.__new__": self._type_new,
            "object.__setattr__": self._object_setattr,
            "object.__getattribute__": self._getattr,
        }
        self._outside: dict[str, Model] = {
            "functools.partial": self._partial,
            "functools.partialmethod": self._partial,
            "functools.wraps": lambda a, _s: frozenset({Wrapping(_first(a))}),
            "functools.update_wrapper": lambda a, _s: _first(a),
            "functools.lru_cache": self._cache,
            "functools.reduce": self._reduce,
            "collections.defaultdict": self._defaultdict,
            "typing.cast": lambda a, _s: a.positional[1] if len(a.positional) > 1 else ANYTHING,
            "types.MethodType": self._method_type,
            "importlib.import_module": self._import_module,
            "operator.call": self._apply,
        }

    def import_dotted(self, dotted: str, frame: Frame) -> Values:
        """Import a module by its absolute name."""
        raise NotImplementedError

    def call_native(self, callee: Value, arguments: Arguments, site: Site) -> Values:
        """Call a builtin, a method of a builtin type, or something outside."""
        if isinstance(callee, Method):
            if isinstance(callee.receiver, Descriptor):
                return self._accessor(callee.receiver, callee.name, arguments)
            return self.call_method(callee, arguments, site)
        if isinstance(callee, External):
            return self._call_external(callee, arguments, site)
        if isinstance(callee, Native):
            return self._call_builtin(callee, arguments, site)
        if isinstance(callee, Module):
            return NOTHING
        return ANYTHING

    def _call_builtin(self, callee: Native, arguments: Arguments, site: Site) -> Values:
        name = callee.name
        if callee.instance:
            return ANYTHING
        if "." not in name:
            self.record_native(site, name)
        model = self._models.get(name)
        if model is not None:
            return model(arguments, site)
        if name in _SPECIAL:
            for values in arguments.positional:
                self.special(values, _SPECIAL[name], site)
        if name in _ITERATED:
            return self._built(name, arguments, site)
        if name == "reversed":
            return self.iterator(site.key, site.frame, self.iterated(_first(arguments), site))
        if name in _CONSTRUCTED:
            return self.instance_of(name)
        method = name.rpartition(".")[2]
        if "." in name and method in ("__init__", "__init_subclass__"):
            return self.literal(None)
        if "." in name and arguments.positional:
            return self._unbound(method, arguments, site)
        if name[:1].isupper() or name == "object":
            return self.instance_of(name)
        return ANYTHING

    def _unbound(self, method: str, arguments: Arguments, site: Site) -> Values:
        """``dict.update(self, …)`` and what ``super()`` reaches in a builtin class."""
        result = NOTHING
        rest = Arguments(arguments.positional[1:], arguments.keywords)
        for value in ordered(_first(arguments)):
            if isinstance(value, Instance) and value.items is not None:
                value_items: Container | None = value.items
            else:
                value_items = value if isinstance(value, Container) else None
            if value_items is not None:
                result = join(result, self.call_method(Method(value_items, method), rest, site))
        return result or ANYTHING

    def special(self, values: Values, names: tuple[str, ...], site: Site, *more: Values) -> Values:
        """Call the first special method each object has; returns what they return."""
        result = NOTHING
        for value in ordered(values):
            if not isinstance(value, Instance | Class):
                continue
            for name in names:
                method = self.method(value, name, site)
                if method:
                    implied = site.implied(f"{name} of its class", values)
                    result = join(result, self.call(method, Arguments(list(more)), implied))
                    break
        return result

    def _built(self, name: str, arguments: Arguments, site: Site) -> Values:
        source = _first(arguments)
        value = next(iter(source)) if len(source) == 1 else None
        result = self.container(name, site.key, site.frame)
        if isinstance(value, Container) and value.kind in ("list", "tuple") and not value.rest:
            self.touch(value)
            if value.length is not None:
                return self.fill(
                    result, [value.known.get(i, ANYTHING) for i in range(value.length)]
                )
        items = self.iterated(source, site) if arguments.positional else NOTHING
        return self.fill(result, [], items)

    def _numbers(self, site: Site) -> Values:
        number = self.instance_of("int")
        return self.iterator(site.key, site.frame, number)

    def _super(self, arguments: Arguments, site: Site) -> Values:
        if len(arguments.positional) >= 2:
            classes, receivers = arguments.positional[:2]
            found: set[Value] = set()
            for class_ in classes:
                if isinstance(class_, Class):
                    found.update(Super(class_, each) for each in ordered(receivers))
            return self._supers(frozenset(found))
        frame: Frame | None = site.frame
        while frame is not None and frame.owner is None:
            frame = frame.parent
        if frame is None or frame.owner is None or not frame.code.parameters:
            return ANYTHING
        receivers = frame.names.get(frame.code.parameters[0].name, NOTHING)
        known = {Super(frame.owner, each) for each in ordered(receivers)}
        return self._supers(frozenset(known))

    def _supers(self, values: Values) -> Values:
        kept = [
            value
            for value in values
            if isinstance(value, Super) and isinstance(value.receiver, Instance | Class)
        ]
        if kept:
            return frozenset(kept)
        for value in values:
            if isinstance(value, Super):
                return frozenset({Super(value.class_, self.everything_of(value.class_))})
        return ANYTHING

    def _type(self, arguments: Arguments, _site: Site) -> Values:
        if len(arguments.positional) != 1:
            return ANYTHING
        found: set[Value] = set()
        for value in arguments.positional[0]:
            if isinstance(value, Instance):
                found.add(value.class_)
            elif isinstance(value, Class) and value.metaclasses:
                found.update(value.metaclasses)
            elif isinstance(value, Native) and value.instance:
                found.add(self.native(value.name))
        return frozenset(found) or ANYTHING

    def _getattr(self, arguments: Arguments, site: Site) -> Values:
        names = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
        found = NOTHING
        for name in ordered(names):
            if isinstance(name, Constant) and isinstance(name.value, str):
                found = join(found, self.attribute(_first(arguments), name.value, site))
            else:
                found = join(found, ANYTHING)
        default = arguments.positional[2] if len(arguments.positional) > 2 else NOTHING
        return join(found, default) or ANYTHING

    def _setattr(self, arguments: Arguments, site: Site) -> Values:
        if len(arguments.positional) == 3:
            receivers, names, values = arguments.positional
            for name in ordered(names):
                if isinstance(name, Constant) and isinstance(name.value, str):
                    self.store_attribute(receivers, name.value, values, site)
        return self.literal(None)

    def _object_setattr(self, arguments: Arguments, _site: Site) -> Values:
        # The object's own `__setattr__` is what calls this one.
        if len(arguments.positional) == 3:
            receivers, names, values = arguments.positional
            for receiver in ordered(receivers):
                for name in ordered(names):
                    if (
                        isinstance(receiver, Instance)
                        and isinstance(name, Constant)
                        and isinstance(name.value, str)
                    ):
                        before = receiver.fields.get(name.value, NOTHING)
                        receiver.fields[name.value] = join(before, values)
        return self.literal(None)

    def _descriptor(self, kind: str, arguments: Arguments, site: Site) -> Values:
        return frozenset({self.descriptor(kind, _first(arguments), site)})

    def descriptor(
        self, kind: str, functions: Values, _site: Site, setters: Values = NOTHING
    ) -> Descriptor:
        """The one descriptor of some functions."""
        key = (kind, functions, setters)
        found = self._descriptors.get(key)
        if found is None:
            found = self._descriptors[key] = Descriptor(kind, functions, setters)
        return found

    def _property(self, arguments: Arguments, site: Site) -> Values:
        getter = arguments.keywords.get("fget", _first(arguments))
        setter = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
        setter = arguments.keywords.get("fset", setter)
        return frozenset({self.descriptor("property", getter, site, setter)})

    def _accessor(self, descriptor: Descriptor, name: str, arguments: Arguments) -> Values:
        if name == "setter":
            made = Descriptor(descriptor.kind, descriptor.functions, _first(arguments))
            return frozenset({made})
        if name == "getter":
            return frozenset({Descriptor(descriptor.kind, _first(arguments), descriptor.setters)})
        if name == "__func__":
            return descriptor.functions
        return frozenset({descriptor})

    def _iter(self, arguments: Arguments, site: Site) -> Values:
        found = NOTHING
        for value in ordered(_first(arguments)):
            method = self.method(value, "__iter__", site)
            if method:
                found = join(found, self.call(method, Arguments(), site.implied("iteration")))
            else:
                yields = self.iterated(frozenset({value}), site)
                found = join(found, self.iterator(site.key, site.frame, yields))
        return found

    def _next(self, arguments: Arguments, site: Site) -> Values:
        default = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
        return join(self.next_of(_first(arguments), site), default)

    def _map(self, arguments: Arguments, site: Site) -> Values:
        items = [self.iterated(values, site) for values in arguments.positional[1:]]
        yields = self.call(_first(arguments), Arguments(items), site.implied("map"))
        return self.iterator(site.key, site.frame, yields)

    def _filter(self, arguments: Arguments, site: Site) -> Values:
        if len(arguments.positional) < 2:
            return ANYTHING
        items = self.iterated(arguments.positional[1], site)
        self.call(_first(arguments), Arguments([items]), site.implied("filter"))
        return self.iterator(site.key, site.frame, items)

    def _zip(self, arguments: Arguments, site: Site) -> Values:
        items = [self.iterated(values, site) or ANYTHING for values in arguments.positional]
        rest = self.iterated(arguments.rest, site)
        pairs = self.packed("tuple", items, rest)
        return self.iterator(site.key, site.frame, pairs)

    def _enumerate(self, arguments: Arguments, site: Site) -> Values:
        number: Values = self.instance_of("int")
        items = self.iterated(_first(arguments), site) or ANYTHING
        pairs = self.packed("tuple", [number, items], NOTHING)
        return self.iterator(site.key, site.frame, pairs)

    def _sorted(self, arguments: Arguments, site: Site) -> Values:
        items = self.iterated(_first(arguments), site)
        key = arguments.keywords.get("key", NOTHING)
        self.call(key, Arguments([items]), site.implied("sort key"))
        if not key:
            self.special(items, ("__lt__",), site, items)
        return self.fill(self.container("list", site.key, site.frame), [], items)

    def _extreme(self, arguments: Arguments, site: Site) -> Values:
        if len(arguments.positional) == 1:
            items = self.iterated(_first(arguments), site)
        else:
            items = NOTHING
            for values in arguments.positional:
                items = join(items, values)
        key = arguments.keywords.get("key", NOTHING)
        self.call(key, Arguments([items]), site.implied("key"))
        return join(items, arguments.keywords.get("default", NOTHING))

    def _sum(self, arguments: Arguments, site: Site) -> Values:
        items = self.iterated(_first(arguments), site)
        return self.special(items, ("__radd__", "__add__"), site, items) or ANYTHING

    def _consumed(self, arguments: Arguments, site: Site) -> Values:
        self.iterated(_first(arguments), site)
        return self.instance_of("bool")

    def _dict(self, arguments: Arguments, site: Site) -> Values:
        made = self.container("dict", site.key, site.frame)
        for values in arguments.positional:
            self.update(made, values, site)
        for key, values in arguments.keywords.items():
            self.put(made, key, values)
        if arguments.others:
            self.put_anywhere(made, arguments.others)
        return frozenset({made})

    def _new(self, arguments: Arguments, site: Site) -> Values:
        made: set[Value] = set()
        for value in ordered(_first(arguments)):
            if isinstance(value, Class):
                made.add(self.new_instance(value, site))
        return frozenset(made) or ANYTHING

    def _type_call(self, arguments: Arguments, site: Site) -> Values:
        result = NOTHING
        rest = Arguments(
            arguments.positional[1:], arguments.keywords, arguments.rest, arguments.others
        )
        for value in ordered(_first(arguments)):
            if isinstance(value, Class):
                result = join(result, self.make(value, rest, site, alone=False))
        return result or ANYTHING

    def _type_new(self, _arguments: Arguments, _site: Site) -> Values:
        return ANYTHING

    def _partial(self, arguments: Arguments, _site: Site) -> Values:
        key = (_first(arguments), *arguments.positional[1:], *arguments.keywords.items())
        found = self._partials.get(key)
        if found is None:
            found = Partial(_first(arguments), tuple(arguments.positional[1:]), arguments.keywords)
            self._partials[key] = found
        return frozenset({found})

    def _cache(self, arguments: Arguments, _site: Site) -> Values:
        functions = frozenset(v for v in _first(arguments) if isinstance(v, Function | Bound))
        return functions or frozenset({Wrapping(NOTHING)})

    def _reduce(self, arguments: Arguments, site: Site) -> Values:
        if len(arguments.positional) < 2:
            return ANYTHING
        items = self.iterated(arguments.positional[1], site)
        start = arguments.positional[2] if len(arguments.positional) > 2 else items
        implied = site.implied("functools.reduce")
        result = self.call(_first(arguments), Arguments([start, items]), implied)
        again = self.call(_first(arguments), Arguments([join(start, result), items]), implied)
        return join(join(result, again), start)

    def _defaultdict(self, arguments: Arguments, site: Site) -> Values:
        made = self.container("dict", site.key, site.frame)
        made.factories = _first(arguments)
        for values in arguments.positional[1:]:
            self.update(made, values, site)
        return frozenset({made})

    def _method_type(self, arguments: Arguments, _site: Site) -> Values:
        if len(arguments.positional) != 2:
            return ANYTHING
        functions, receivers = arguments.positional
        return frozenset(self.bind(f, r) for f in ordered(functions) for r in ordered(receivers))

    def _import_module(self, arguments: Arguments, site: Site) -> Values:
        names = [v.value for v in ordered(_first(arguments)) if isinstance(v, Constant)]
        if len(names) == 1 and isinstance(names[0], str) and not names[0].startswith("."):
            return self.import_dotted(names[0], site.frame)
        return ANYTHING

    def _apply(self, arguments: Arguments, site: Site) -> Values:
        rest = Arguments(arguments.positional[1:], arguments.keywords)
        return self.call(_first(arguments), rest, site)

    def _call_external(self, callee: External, arguments: Arguments, site: Site) -> Values:
        dotted = callee.dotted
        self.record_external(site, dotted)
        model = self._outside.get(dotted)
        if model is not None:
            return model(arguments, site)
        if dotted in _SAME:
            return _first(arguments) or frozenset({Wrapping(NOTHING)})
        if dotted in _PROPERTIES:
            return self._descriptor("property", arguments, site)
        if dotted in _CONTAINERS:
            made = self.container(_CONTAINERS[dotted], site.key, site.frame)
            if made.kind == "dict":
                for values in arguments.positional:
                    self.update(made, values, site)
                for key, values in arguments.keywords.items():
                    self.put(made, key, values)
                return frozenset({made})
            return self.fill(made, [], self.iterated(_first(arguments), site))
        if dotted in _FLATTENING or dotted in _PASSING:
            yields = NOTHING
            for values in arguments.positional:
                yields = join(yields, self.iterated(values, site))
            yields = join(yields, self.iterated(arguments.rest, site))
            if dotted.endswith("from_iterable"):
                yields = self.iterated(yields, site)
            return self.iterator(site.key, site.frame, yields)
        return frozenset({self.outside(dotted, result=True)})


def _first(arguments: Arguments) -> Values:
    if arguments.positional:
        return arguments.positional[0]
    return ANYTHING if arguments.rest else NOTHING
