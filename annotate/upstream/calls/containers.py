"""Lists, tuples, sets and dicts: what is put in, and what comes out again."""

from collections.abc import Mapping

from annotate.upstream.calls.calling import Calling
from annotate.upstream.calls.code import Expression, ModuleCode
from annotate.upstream.calls.core import MAX_OPEN_CALLEES, Arguments, Site, is_settled
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    Class,
    Constant,
    Container,
    External,
    Frame,
    Instance,
    Iterator,
    Method,
    Native,
    Value,
    Values,
    join,
    ordered,
)

MAX_KNOWN = 512
"""Keys of one container that are told apart."""

Key = str | int | bool | None


class Containers(Calling):
    """Builtin containers by the place where they are made."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self._containers: dict[tuple[object, ...], Container] = {}
        self._packed: dict[tuple[object, ...], Container] = {}
        self._yielding: dict[tuple[object, ...], Iterator] = {}

    def container(self, kind: str, place: object, frame: Frame) -> Container:
        """The container made at one place by one frame; made again, it is ``shared``."""
        key = (kind, id(place) if not isinstance(place, int) else place, frame)
        found = self._containers.get(key)
        if found is None:
            found = self._containers[key] = Container(kind, shared=self.branches > 0)
        else:
            found.shared = True
        return found

    def fill(self, container: Container, items: list[Values], rest: Values = NOTHING) -> Values:
        """Put items into a fresh list, tuple or set."""
        if container.kind in ("set", "frozenset"):
            for each in items:
                rest = join(rest, each)
            items = []
        for index, values in enumerate(items):
            if index < MAX_KNOWN:
                self.put(container, index, values)
            else:
                rest = join(rest, values)
        if rest:
            self.put_anywhere(container, rest)
            container.length = None
        elif container.length is None and not container.shared:
            container.length = len(items)
        elif container.length != len(items):
            container.length = None
        return frozenset({container})

    def packed(self, kind: str, items: list[Values], rest: Values) -> Values:
        """A tuple of arguments, one for equal ones."""
        key = (kind, tuple(items), rest)
        found = self._packed.get(key)
        if found is None:
            known: dict[Key, Values] = dict(enumerate(items))
            length = None if rest else len(items)
            found = Container(kind, known, rest, length, shared=True)
            self._packed[key] = found
        return frozenset({found})

    def packed_keywords(self, keywords: dict[str, Values], others: Values) -> Values:
        """A dict of keyword arguments, one for equal ones."""
        key = (
            "dict",
            tuple(sorted(keywords)),
            tuple(keywords[k] for k in sorted(keywords)),
            others,
        )
        found = self._packed.get(key)
        if found is None:
            known: dict[Key, Values] = dict(keywords.items())
            found = self._packed[key] = Container("dict", known, others, shared=True)
        return frozenset({found})

    def put(self, container: Container, key: Key, values: Values) -> None:
        """Store under a constant key; replaces only what is certainly the same object's."""
        key = _distinct(key)
        before = container.known.get(key)
        if before is None and len(container.known) >= MAX_KNOWN:
            self.put_anywhere(container, values)
            return
        replace = before is None or not (container.shared or self.branches)
        after = values if replace or before is None else join(before, values)
        if after != before:
            container.known[key] = after
            self.change(container)

    def put_anywhere(self, container: Container, values: Values) -> None:
        """Store under a key that is not known."""
        after = join(container.rest, values)
        if after != container.rest:
            container.rest = after
            self.change(container)

    def contents(self, container: Container) -> Values:
        """All values of a container."""
        self.touch(container)
        found = container.rest
        for values in container.known.values():
            found = join(found, values)
        return found

    def item(self, values: Values, keys: Values, site: Site) -> Values:
        """What ``value[key]`` is."""
        found = NOTHING
        if not is_settled(values):
            site = Site(site.frame, site.line, site.why, site.key, guess=True)
        for value in ordered(values):
            found = join(found, self._item_of(value, keys, site))
        return found

    def _item_of(self, value: Value, keys: Values, site: Site) -> Values:
        if isinstance(value, Container):
            return self.item_in(value, keys, site)
        if isinstance(value, Instance):
            method = self.method(value, "__getitem__", site)
            if method:
                return self.call(method, Arguments([keys]), site.implied("subscript"))
            if value.items is not None:
                return self.item_in(value.items, keys, site)
            return ANYTHING
        if isinstance(value, Class):
            method = self.method(value, "__getitem__", site)
            if method:
                return self.call(method, Arguments([keys]), site.implied("subscript"))
            found = self.in_class(value, "__class_getitem__")
            if isinstance(found, tuple):
                bound = self.bound(found[1], value, value, site)
                return self.call(bound, Arguments([keys]), site.implied("subscript"))
            return frozenset({value})
        if isinstance(value, External):
            return frozenset({self.outside(value.dotted, result=True)})
        if isinstance(value, Native):
            return frozenset({value})
        if isinstance(value, Constant) and isinstance(value.value, str):
            return self.instance_of("str")
        return ANYTHING

    def item_in(self, container: Container, keys: Values, site: Site) -> Values:
        """What a container has under some keys."""
        self.touch(container)
        found = NOTHING
        for key in keys:
            if not isinstance(key, Constant):
                contents = self.contents(container)
                # One of many is taken, and which one is not known.
                some = ANYTHING if len(contents) > MAX_OPEN_CALLEES else NOTHING
                found = join(join(found, contents), some)
                continue
            index: Key = _distinct(key.value)
            if type(index) is int and index < 0 and container.length is not None:
                index += container.length
            values = container.known.get(index)
            if values is None and container.length is not None and container.kind != "dict":
                continue
            if values is None or container.rest:
                values = join(values or NOTHING, container.rest)
            if type(index) is int and index < 0:
                values = self.contents(container)
            found = join(found, values)
        if not found:
            self.miss()
            if container.factories:
                found = self.call(container.factories, Arguments(), site.implied("factory"))
                self.put_anywhere(container, found)
            return found or ANYTHING
        return found

    def slice(self, values: Values, bounds: Expression, place: object, frame: Frame) -> Values:
        """What ``value[low:high:step]`` is; bounds that are no literals keep everything."""
        found = NOTHING
        for value in ordered(values):
            if isinstance(value, Container) and value.kind in ("list", "tuple"):
                found = join(found, self._slice_of(value, bounds, place, frame))
            elif isinstance(value, Instance):
                site = Site(frame, frame.code.line)
                found = join(found, self._item_of(value, ANYTHING, site))
            else:
                found = join(found, self._item_of(value, ANYTHING, Site(frame, 0)))
        return found

    def _slice_of(
        self, value: Container, bounds: Expression, place: object, frame: Frame
    ) -> Values:
        self.touch(value)
        result = self.container(value.kind, place, frame)
        if value.length is None or not all(_is_number(each) for each in bounds[1:]):
            return self.fill(result, [], self.contents(value))
        low, high, step = (each[1] if each is not None else None for each in bounds[1:])
        items = [value.known.get(index, ANYTHING) for index in range(value.length)]
        return self.fill(result, items[low : high : step or None])

    def store_item(self, receivers: Values, keys: Values, values: Values, site: Site) -> None:
        """Do ``receiver[key] = values``."""
        for value in ordered(receivers):
            if isinstance(value, Instance):
                method = self.method(value, "__setitem__", site)
                if method:
                    self.call(method, Arguments([keys, values]), site.implied("subscript"))
                    continue
                if value.items is None:
                    continue
            container = value.items if isinstance(value, Instance) else value
            if not isinstance(container, Container):
                continue
            constants = [key for key in keys if isinstance(key, Constant)]
            uncertain = len(receivers) > 1 or len(keys) > 1
            self.branches += uncertain
            for key in constants:
                index: Key = key.value
                if type(index) is int and index < 0 and container.length is not None:
                    index += container.length
                self.put(container, index, values)
            if len(constants) < len(keys):
                self.put_anywhere(container, values)
                container.keys = join(container.keys, keys)
            self.branches -= uncertain

    def iterated(self, values: Values, site: Site) -> Values:
        """What iterating over values yields; calls ``__iter__`` and ``__next__``."""
        found = NOTHING
        if not is_settled(values):
            site = Site(site.frame, site.line, site.why, site.key, guess=True)
        for value in ordered(values):
            found = join(found, self._iterated(value, site))
        return found

    def _iterated(self, value: Value, site: Site) -> Values:
        if isinstance(value, Container):
            return self.keys_of(value) if value.kind == "dict" else self.contents(value)
        if isinstance(value, Iterator):
            return value.yields
        if isinstance(value, Instance | Class):
            return self._iterated_object(value, site)
        if isinstance(value, Constant) and isinstance(value.value, str):
            return self.instance_of("str")
        if isinstance(value, Native) and value.instance:
            return ANYTHING
        return ANYTHING

    def _iterated_object(self, value: Instance | Class, site: Site) -> Values:
        implied = site.implied("iteration")
        method = self.method(value, "__iter__", site)
        if method:
            return self.next_of(self.call(method, Arguments(), implied), site)
        method = self.method(value, "__getitem__", site)
        if method:
            index = self.instance_of("int")
            return self.call(method, Arguments([index]), implied)
        if isinstance(value, Instance) and value.items is not None:
            return self._iterated(value.items, site)
        return ANYTHING

    def next_of(self, values: Values, site: Site) -> Values:
        """What ``next()`` of iterators gives."""
        found = NOTHING
        for value in ordered(values):
            if isinstance(value, Instance):
                method = self.method(value, "__next__", site)
                if method:
                    result = self.call(method, Arguments(), site.implied("iteration"))
                    found = join(found, result)
                    continue
                found = join(found, ANYTHING)
            else:
                found = join(found, self._iterated(value, site))
        return found

    def keys_of(self, container: Container) -> Values:
        """The keys of a dict."""
        self.touch(container)
        found: Values = frozenset(
            self.constant(key) for key in list(container.known)[: MAX_KNOWN // 16]
        )
        return join(found, container.keys) or ANYTHING

    def elements(self, values: Values, count: int, site: Site) -> list[Values]:
        """What the first ``count`` targets of an unpacking get."""
        result = [NOTHING] * count
        for value in ordered(values):
            if isinstance(value, Container) and value.kind in ("list", "tuple"):
                self.touch(value)
                for index in range(count):
                    values_at = join(value.known.get(index, NOTHING), value.rest)
                    result[index] = join(result[index], values_at or ANYTHING)
            else:
                each = self._iterated(value, site)
                result = [join(before, each) for before in result]
        return result

    def iterator(self, place: object, frame: Frame, yields: Values) -> Values:
        """What a generator expression or a lazy builtin gives."""
        key = (id(place) if not isinstance(place, int) else place, frame)
        found = self._yielding.get(key)
        if found is None:
            found = self._yielding[key] = Iterator()
        found.yields = join(found.yields, yields)
        return frozenset({found})

    def call_method(self, method: Method, arguments: Arguments, site: Site) -> Values:
        """Call a method of a builtin container, iterator or string."""
        receiver = method.receiver
        first = arguments.positional[0] if arguments.positional else NOTHING
        second = arguments.positional[1] if len(arguments.positional) > 1 else NOTHING
        if isinstance(receiver, Iterator):
            return receiver.yields if method.name in ("__next__", "send") else ANYTHING
        if not isinstance(receiver, Container):
            return self._string_method(receiver, method.name)
        if receiver.kind == "dict":
            return self._dict_method(receiver, method.name, arguments, first, second, site)
        return self._list_method(receiver, method.name, arguments, first, second, site)

    def _string_method(self, receiver: Value, name: str) -> Values:
        text = self.native("str", instance=True)
        if not (isinstance(receiver, Native) and receiver.name == "str"):
            return ANYTHING
        if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
            return self.packed("list", [], frozenset({text}))
        if name in ("encode", "find", "index", "count") or name.startswith("is"):
            return self.instance_of("int")
        return frozenset({text})

    def _dict_method(
        self,
        receiver: Container,
        name: str,
        arguments: Arguments,
        first: Values,
        second: Values,
        site: Site,
    ) -> Values:
        if name in ("get", "pop", "__getitem__"):
            return join(self.item_in(receiver, first, site), second)
        if name == "setdefault":
            self.branches += 1
            self.store_item(frozenset({receiver}), first, second, site)
            self.branches -= 1
            return self.item_in(receiver, first, site)
        if name == "__setitem__":
            self.store_item(frozenset({receiver}), first, second, site)
        elif name == "update":
            for values in arguments.positional:
                self.update(receiver, values, site)
            for key, values in arguments.keywords.items():
                self.put(receiver, key, values)
            if arguments.others:
                self.put_anywhere(receiver, arguments.others)
        elif name in ("values", "keys", "items", "popitem", "__iter__"):
            return self._dict_view(receiver, name, site)
        elif name == "copy":
            copy = self.container("dict", site.key, site.frame)
            self.update(copy, frozenset({receiver}), site)
            copy.factories = receiver.factories
            return frozenset({copy})
        elif name == "move_to_end" or name == "clear":
            return NOTHING
        else:
            return ANYTHING
        return self.literal(None)

    def _dict_view(self, receiver: Container, name: str, site: Site) -> Values:
        if name == "values":
            return self.iterator(site.key, site.frame, self.contents(receiver))
        if name in ("keys", "__iter__"):
            return self.packed("list", [], self.keys_of(receiver))
        pairs = NOTHING
        for key, values in list(receiver.known.items())[:MAX_KNOWN]:
            constant = self.literal(key)
            pairs = pairs | self.packed("tuple", [constant, join(values, receiver.rest)], NOTHING)
        if receiver.rest or not pairs:
            self.touch(receiver)
            keys = receiver.keys or ANYTHING
            pairs = pairs | self.packed("tuple", [keys, receiver.rest or ANYTHING], NOTHING)
        if len(pairs) > 16:
            keys, values = self.keys_of(receiver), self.contents(receiver)
            pairs = self.packed("tuple", [keys, values], NOTHING)
        return pairs if name == "popitem" else self.packed("list", [], pairs)

    def update(self, receiver: Container, values: Values, site: Site) -> None:
        """Do ``receiver.update(values)``."""
        for value in ordered(values):
            if isinstance(value, Container) and value.kind == "dict":
                self.touch(value)
                for key, each in list(value.known.items()):
                    self.put(receiver, key, each)
                if value.rest:
                    self.put_anywhere(receiver, value.rest)
                    receiver.keys = join(receiver.keys, value.keys)
            else:
                keys, pairs = self.elements(self._iterated(value, site), 2, site)
                self.branches += 1
                self.store_item(frozenset({receiver}), keys, pairs, site)
                self.branches -= 1

    def _list_method(
        self,
        receiver: Container,
        name: str,
        arguments: Arguments,
        first: Values,
        second: Values,
        site: Site,
    ) -> Values:
        if name in ("append", "add", "appendleft"):
            self._append(receiver, first, at_end=name == "append")
        elif name == "insert":
            self._append(receiver, second, at_end=False)
        elif name in ("extend", "update", "extendleft"):
            receiver.length = None
            self.put_anywhere(receiver, self.iterated(first, site))
        elif name in ("pop", "popleft", "__getitem__"):
            if first and name != "popleft":
                return self.item_in(receiver, first, site)
            return self.contents(receiver) or ANYTHING
        elif name in ("copy", "union", "difference", "intersection"):
            copy = self.container(receiver.kind, site.key, site.frame)
            rest = self.contents(receiver)
            if name == "union":
                rest = join(rest, self.iterated(first, site))
            return self.fill(copy, [], rest)
        elif name == "sort":
            key = arguments.keywords.get("key", NOTHING)
            self.call(key, Arguments([self.contents(receiver)]), site)
        elif name == "__iter__":
            return self.iterator(site.key, site.frame, self.contents(receiver))
        elif name in ("index", "count"):
            return self.instance_of("int")
        elif name not in ("remove", "discard", "clear", "reverse", "__setitem__"):
            return ANYTHING
        return self.literal(None)

    def _append(self, receiver: Container, values: Values, *, at_end: bool) -> None:
        if at_end and receiver.length is not None and not (receiver.shared or self.branches):
            self.put(receiver, receiver.length, values)
            receiver.length += 1
            return
        receiver.length = None
        self.put_anywhere(receiver, values)


def _is_number(bound: Expression | None) -> bool:
    """Whether a slice bound is left out or a literal."""
    return bound is None or (bound[0] == "k" and (bound[1] is None or type(bound[1]) is int))


def _distinct(key: Key) -> Key:
    """Keys that are equal to Python are one: ``True`` and ``1``."""
    return int(key) if isinstance(key, bool) else key
