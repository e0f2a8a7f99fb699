"""Type annotations: which objects a parameter or a result is said to be."""

from collections.abc import Mapping

from annotate.upstream.calls.attributes import Attributes
from annotate.upstream.calls.code import Expression, ModuleCode
from annotate.upstream.calls.core import Site
from annotate.upstream.calls.values import (
    NOTHING,
    Class,
    Container,
    External,
    Frame,
    Iterator,
    Native,
    Value,
    Values,
    join,
)

_OPTIONAL = frozenset({"Optional", "Union", "Annotated", "Final", "ClassVar", "Awaitable"})
_LISTS = frozenset(
    {
        *("list", "List", "Sequence", "MutableSequence", "set", "Set", "frozenset", "FrozenSet"),
        *("Collection", "deque", "Deque", "AbstractSet", "MutableSet"),
    }
)
_ITERATORS = frozenset(
    {"Iterable", "Iterator", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"}
)
_DICTS = frozenset(
    {"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"}
)


class Annotations(Attributes):
    """Reads annotations without evaluating what they call."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self._hinted: dict[tuple[Expression, str, Values], Container | Iterator] = {}

    def name_in(self, name: str, frame: Frame) -> Values:
        """What a name stands for in a frame."""
        raise NotImplementedError

    def annotated(self, annotation: Expression | None, frame: Frame) -> Values:
        """The objects an annotation speaks of; nothing where it says nothing about calls."""
        if annotation is None:
            return NOTHING
        return self._objects(annotation, frame, 0)

    def _objects(self, annotation: Expression, frame: Frame, depth: int) -> Values:
        if depth > 6:
            return NOTHING
        kind = annotation[0]
        if kind in ("n", "a"):
            return self._of_classes(self._meant(annotation, frame))
        if kind == "b" and annotation[1] == "|":
            left = self._objects(annotation[2], frame, depth + 1)
            return join(left, self._objects(annotation[3], frame, depth + 1))
        if kind == "s":
            return self._generic(annotation, frame, depth)
        return NOTHING

    def _meant(self, annotation: Expression, frame: Frame) -> Values:
        """What a dotted name stands for."""
        if annotation[0] == "n":
            return self.name_in(annotation[1], frame)
        if annotation[0] == "a":
            owners = self._meant(annotation[1], frame)
            return self.attribute(owners, annotation[2], Site(frame, annotation[3]))
        return NOTHING

    def _of_classes(self, values: Values) -> Values:
        found: set[Value] = set()
        for value in values:
            if isinstance(value, Class):
                found.add(self.everything_of(value))
            elif isinstance(value, Native) and not value.instance and value.name[:1].islower():
                if value.name != "object":
                    found.add(self.native(value.name, instance=True))
            elif isinstance(value, External) and _is_class_name(value.dotted):
                found.add(self.outside(value.dotted, result=True))
        return frozenset(found)

    def _generic(self, annotation: Expression, frame: Frame, depth: int) -> Values:
        origin, key = annotation[1], annotation[2]
        name = origin[2] if origin[0] == "a" else origin[1] if origin[0] == "n" else ""
        arguments: tuple[Expression, ...] = key[1] if key[0] == "t" else (key,)
        if name in _OPTIONAL:
            found = NOTHING
            for each in arguments if name == "Union" else arguments[:1]:
                found = join(found, self._objects(each, frame, depth + 1))
            return found
        if name in ("Type", "type"):
            return frozenset(
                value for value in self._meant(arguments[0], frame) if isinstance(value, Class)
            )
        if name in _LISTS or name in _ITERATORS or name in ("tuple", "Tuple"):
            items = NOTHING
            each_own = name in ("tuple", "Tuple") and ("K", "ellipsis") not in arguments
            for each in arguments if each_own else arguments[:1]:
                items = join(items, self._objects(each, frame, depth + 1))
            return self._filled(annotation, name, items)
        if name in _DICTS and len(arguments) == 2:
            return self._filled(annotation, name, self._objects(arguments[1], frame, depth + 1))
        if origin[0] in ("n", "a"):
            return self._of_classes(self._meant(origin, frame))
        return NOTHING

    def _filled(self, annotation: Expression, name: str, items: Values) -> Values:
        key = (annotation, name, items)
        found = self._hinted.get(key)
        if found is None:
            if name in _ITERATORS:
                found = Iterator(items)
            elif name in _DICTS:
                found = Container("dict", rest=items, shared=True)
            else:
                found = Container("list", rest=items, shared=True)
            self._hinted[key] = found
        return frozenset({found})


def _is_class_name(dotted: str) -> bool:
    return dotted.rpartition(".")[2][:1].isupper()
