"""Classes and attributes: the C3 order, what ``object.name`` is, and what storing it does."""

from annotate.upstream.calls.core import Arguments, Core, Site, is_settled, set_item
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
    Function,
    Instance,
    Iterator,
    Method,
    Module,
    Native,
    Partial,
    Super,
    Unknown,
    Value,
    Values,
    join,
    ordered,
)

MAX_OVERRIDES = 3
"""Subclasses that may stand in for a method their base leaves to them."""

CONTAINERS = frozenset({"list", "tuple", "set", "frozenset", "dict"})
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def linearize(class_: Class) -> tuple[Value, ...]:
    """The method resolution order (C3, as in "The Python 2.3 Method Resolution Order").

    Where the bases contradict each other, which Python refuses: depth first.
    """
    orders = [list(base.mro) if isinstance(base, Class) else [base] for base in class_.bases]
    pending = [order for order in [*orders, list(class_.bases)] if order]
    merged: list[Value] = [class_]
    while pending:
        for order in pending:
            head = order[0]
            if not any(head in other[1:] for other in pending):
                break
        else:
            head = pending[0][0]
        merged.append(head)
        pending = [rest for order in pending if (rest := [v for v in order if v is not head])]
    return tuple(merged)


class Attributes(Core):
    """Looking attributes up and storing them."""

    def module_attribute(self, module: Module, name: str) -> Values:
        """What a name of a module is; modules run when they are first imported."""
        raise NotImplementedError

    def attribute(self, values: Values, name: str, site: Site) -> Values:
        """What ``.name`` of each of some values is, together."""
        if len(values) == 1:
            (value,) = values
            return self.attribute_of(value, name, site)
        if not is_settled(values):
            site = Site(site.frame, site.line, site.why, site.key, guess=True)
        found = NOTHING
        for value in ordered(values):
            found = join(found, self.attribute_of(value, name, site))
        return found

    def attribute_of(self, value: Value, name: str, site: Site) -> Values:
        """What ``value.name`` is; calls the getter of a property."""
        if isinstance(value, Instance):
            return self._instance_attribute(value, name, site)
        if isinstance(value, Class):
            return self._class_attribute(value, name, site)
        if isinstance(value, Module):
            return self.module_attribute(value, name)
        if isinstance(value, External):
            return frozenset({self.outside(f"{value.dotted}.{name}")})
        if isinstance(value, Super):
            return self._super_attribute(value, name, site)
        if isinstance(value, Container | Iterator):
            return frozenset({Method(value, name)})
        if isinstance(value, Constant):
            return self._constant_attribute(value, name)
        if isinstance(value, Native):
            return self._native_attribute(value, name)
        if isinstance(value, Bound):
            if name == "__self__":
                return frozenset({value.receiver})
            if name == "__func__":
                return frozenset({value.function})
            return self.attribute_of(value.function, name, site)
        if isinstance(value, Function):
            return self._function_attribute(value, name)
        if isinstance(value, Descriptor):
            return frozenset({Method(value, name)})
        if isinstance(value, Partial) and name == "func":
            return value.functions
        if isinstance(value, Unknown):
            return frozenset({self.unknown_attribute(name)})
        return ANYTHING

    def _constant_attribute(self, value: Constant, name: str) -> Values:
        if isinstance(value.value, str):
            return frozenset({Method(self.native("str", instance=True), name)})
        return NOTHING if value.value is None else ANYTHING

    def _native_attribute(self, value: Native, name: str) -> Values:
        if value.instance:
            return frozenset({Method(value, name)})
        if name == "__new__":
            return frozenset({self.native("object.__new__")})
        return frozenset({self.native(f"{value.name}.{name}")})

    def _function_attribute(self, value: Function, name: str) -> Values:
        if name == "__call__":
            return frozenset({value})
        if name == "__name__":
            return self.literal(value.code.name)
        stored = self.function_fields.get((value, name))
        return stored if stored is not None else ANYTHING

    @property
    def function_fields(self) -> dict[tuple[Function, str], Values]:
        """Attributes of functions."""
        raise NotImplementedError

    def in_class(self, class_: Class, name: str) -> tuple[Class, Values] | External | None:
        """Where the MRO of a class has a name; an `External` base that may have it."""
        for base in class_.mro:
            if isinstance(base, Class):
                found = base.frame.names.get(name)
                if found:
                    self.touch(base)
                    return base, found
            elif isinstance(base, External):
                return base
        return None

    def method(self, value: Value, name: str, site: Site) -> Values:
        """A special method, which Python looks up in the class; nothing where there is none."""
        if isinstance(value, Instance):
            found = self.in_class(value.class_, name)
            if isinstance(found, tuple):
                return self.bound(found[1], value, value.class_, site)
        if isinstance(value, Class):
            for metaclass in ordered(value.metaclasses):
                if isinstance(metaclass, Class):
                    found = self.in_class(metaclass, name)
                    if isinstance(found, tuple):
                        return self.bound(found[1], value, metaclass, site)
        return NOTHING

    def bound(self, values: Values, receiver: Value, class_: Class, site: Site) -> Values:
        """What values found in a class become on one of its objects (descriptor protocol)."""
        found = NOTHING
        for value in ordered(values):
            if isinstance(value, Function):
                if value.code.name in _CLASS_METHODS and value.owner is not None:
                    receiver = class_
                found = join(found, frozenset({self.bind(value, receiver)}))
            elif isinstance(value, Descriptor):
                found = join(found, self._described(value, receiver, class_, site))
            elif isinstance(value, Partial | External | Native | Unknown):
                found = join(found, frozenset({value}))
            elif isinstance(value, Instance):
                getter = self.method(value, "__get__", site)
                if getter:
                    arguments = Arguments([frozenset({receiver}), frozenset({class_})])
                    implicit = site.implied("descriptor")
                    found = join(found, self.call(getter, arguments, implicit))
                else:
                    found = join(found, frozenset({value}))
            else:
                found = join(found, frozenset({value}))
        return found

    def bind(self, function: Value, receiver: Value) -> Bound:
        """The one bound method of a function and an object."""
        raise NotImplementedError

    def _described(self, value: Descriptor, receiver: Value, class_: Class, site: Site) -> Values:
        if value.kind == "staticmethod":
            return value.functions
        if value.kind == "classmethod":
            return frozenset(
                self.bind(function, class_)
                if isinstance(function, Function | Instance | Partial)
                else function
                for function in value.functions
            )
        getter = site.implied("property")
        return self.call(value.functions, Arguments([frozenset({receiver})]), getter)

    def _instance_attribute(self, value: Instance, name: str, site: Site) -> Values:
        class_ = value.class_
        if name == "__class__":
            return frozenset({class_})
        self.touch(value)
        found = self.in_class(class_, name)
        if isinstance(found, tuple) and any(
            isinstance(each, Descriptor) and each.kind == "property" for each in found[1]
        ):
            return self.bound(found[1], value, class_, site)
        stored = value.fields.get(name)
        if stored is None and not value.summary and class_.everything is not None:
            stored = class_.everything.fields.get(name)
        if stored is None and value.summary:
            stored = self._inherited_field(class_, name)
        if isinstance(found, tuple):
            in_class = self.bound(found[1], value, class_, site)
            if stored is None:
                return in_class
            # What the class has is the default that stands until the object has its own.
            return (
                stored
                if value.fields.get(name) and not value.summary
                else join(stored, frozenset(v for v in in_class if not isinstance(v, Constant)))
            )
        if stored is not None:
            return stored
        getter = self.method(value, "__getattr__", site)
        if getter:
            arguments = Arguments([self.literal(name)])
            return self.call(getter, arguments, site.implied("__getattr__"))
        if any(isinstance(base, Native) and base.name in CONTAINERS for base in class_.mro):
            return frozenset({Method(self.items_of(value), name)})
        self.miss()
        overrides = self._overrides(class_, name)
        if overrides:
            result = NOTHING
            for subclass in overrides:
                result = join(
                    result, self._instance_attribute(self.everything_of(subclass), name, site)
                )
            return result | {UNKNOWN}
        if isinstance(found, External):
            return frozenset({self.outside(f"{found.dotted}.{name}")})
        if any(isinstance(base, Unknown) for base in class_.mro):
            return frozenset({self.unknown_attribute(name)})
        return ANYTHING

    def items_of(self, value: Instance) -> Container:
        """What an object of a subclass of a builtin container holds."""
        if value.items is None:
            kinds = [base.name for base in value.class_.mro if isinstance(base, Native)]
            kind = next((kind for kind in kinds if kind in CONTAINERS), "list")
            value.items = Container(kind, shared=True)
        return value.items

    def _inherited_field(self, class_: Class, name: str) -> Values | None:
        for base in class_.mro[1:]:
            if isinstance(base, Class) and base.everything is not None:
                stored = base.everything.fields.get(name)
                if stored is not None:
                    return stored
        return None

    def _overrides(self, class_: Class, name: str) -> list[Class]:
        """The subclasses that define what a class itself leaves out; none if there are many."""
        found: list[Class] = []
        pending = list(class_.subclasses)
        seen = set(pending)
        while pending:
            subclass = pending.pop(0)
            if name in subclass.frame.names:
                found.append(subclass)
                continue
            fresh = [each for each in subclass.subclasses if each not in seen]
            seen.update(fresh)
            pending.extend(fresh)
        return found if len(found) <= MAX_OVERRIDES else []

    def _class_attribute(self, value: Class, name: str, site: Site) -> Values:
        if name == "__name__":
            return self.literal(value.code.name)
        found = self.in_class(value, name)
        if isinstance(found, tuple):
            result = NOTHING
            for each in ordered(found[1]):
                if isinstance(each, Descriptor) and each.kind != "property":
                    result = join(result, self._described(each, value, value, site))
                else:
                    result = join(result, frozenset({each}))
            return result
        inherited = self.method(value, name, site)
        if inherited:
            return inherited
        self.miss()
        if isinstance(found, External):
            return frozenset({self.outside(f"{found.dotted}.{name}")})
        if name == "__new__":
            return frozenset({self.native("object.__new__")})
        if any(isinstance(base, Unknown) for base in value.mro):
            return frozenset({self.unknown_attribute(name)})
        return ANYTHING

    def _super_attribute(self, value: Super, name: str, site: Site) -> Values:
        receiver = value.receiver
        class_ = receiver.class_ if isinstance(receiver, Instance) else receiver
        order = class_.mro if isinstance(class_, Class) else value.class_.mro
        if value.class_ not in order and isinstance(receiver, Class):
            # In a metaclass the object is a class, and what counts is the class of that.
            for metaclass in ordered(receiver.metaclasses):
                if isinstance(metaclass, Class) and value.class_ in metaclass.mro:
                    order = metaclass.mro
        if value.class_ in order:
            order = order[order.index(value.class_) + 1 :]
        for base in order:
            if isinstance(base, Class):
                found = base.frame.names.get(name)
                if found:
                    self.touch(base)
                    owner = class_ if isinstance(class_, Class) else value.class_
                    return self.bound(found, receiver, owner, site)
            elif isinstance(base, External):
                return frozenset({self.outside(f"{base.dotted}.{name}")})
            elif isinstance(base, Native):
                return frozenset({self.bind(self.native(f"{base.name}.{name}"), receiver)})
        if name == "__new__":
            return frozenset({self.native("object.__new__")})
        return frozenset({self.bind(self.native(f"object.{name}"), receiver)})

    def store_attribute(self, receivers: Values, name: str, values: Values, site: Site) -> None:
        """Do ``receiver.name = values``; calls the setter of a property."""
        for value in ordered(receivers):
            if isinstance(value, Instance):
                self._store_in_instance(value, name, values, len(receivers) == 1, site)
            elif isinstance(value, Class):
                replace = len(receivers) == 1 and not self.branches
                before = value.frame.names.get(name)
                after = values if replace or before is None else join(before, values)
                if after != before:
                    value.frame.set(name, after)
                    self.change(value)
            elif isinstance(value, Function):
                key = (value, name)
                before = self.function_fields.get(key)
                self.function_fields[key] = join(before or NOTHING, values)
            elif isinstance(value, Module):
                self.store_in_module(value, name, values)

    def store_in_module(self, module: Module, name: str, values: Values) -> None:
        """Do ``module.name = values``."""
        raise NotImplementedError

    def _store_in_instance(
        self, value: Instance, name: str, values: Values, alone: bool, site: Site
    ) -> None:
        found = self.in_class(value.class_, name)
        if isinstance(found, tuple):
            for each in ordered(found[1]):
                if isinstance(each, Descriptor) and each.setters:
                    setter = site.implied("property")
                    self.call(each.setters, Arguments([frozenset({value}), values]), setter)
                    return
        setter_of_all = self.method(value, "__setattr__", site)
        if setter_of_all:
            arguments = Arguments([self.literal(name), values])
            self.call(setter_of_all, arguments, site.implied("__setattr__"))
        replace = alone and not value.summary and not self.branches
        if set_item(value.fields, name, values, replace=replace):
            self.change(value)
        if not value.summary:
            everything = self.everything_of(value.class_)
            if set_item(everything.fields, name, values, replace=False):
                self.change(everything)
