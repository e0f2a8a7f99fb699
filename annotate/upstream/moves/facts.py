"""What comparing trees needs of a file: its definitions and its tokens, as numbers.

Computed once for each distinct blob and kept in the store by blob id, so that a walk over a
history parses nothing twice.
"""

import hashlib
import json
import re
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from annotate.errors import AnnotateError
from annotate.upstream import syntax
from annotate.upstream.index import PYTHON_SUFFIXES
from annotate.upstream.store import Store
from annotate.upstream.symbols import Symbol
from annotate.upstream.table import ModuleTable, read_table
from annotate.upstream.tree import Tree

_FORMAT = 2

_STRUCTURE = ("newline", "indent", "dedent")

_PUNCTUATION = frozenset("()[]{},:.;=")

_NUMBERS = re.compile(r"#[0-9]+(?=\.|\Z)")
_LAST_NUMBER = re.compile(r"#[0-9]+\Z")

OWN_NAME = 1
"""The number of a definition's own name, where names are masked; containers count on by 2."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition of a file, and where its tokens lie among the file's.

    Attributes:
        qualname: its qualified name.
        kind: as in `annotate.upstream.symbols.Symbol`.
        first_line: its first line, counting from 1.
        last_line: its last line, included.
        first_column: as in `Symbol`.
        last_column: as in `Symbol`.
        start: its first token.
        body: the token its body begins with: behind the colon of a class or function, else
            ``start``.
        end: behind its last token, structure at the end left out.
        container: position of the definition around it in the file's list, or -1.
        text: fingerprint of its canonical text.
        doubt: why it cannot be judged, or "".
    """

    qualname: str
    kind: str
    first_line: int
    last_line: int
    first_column: int
    last_column: int | None
    start: int
    body: int
    end: int
    container: int
    text: str
    doubt: str

    @property
    def name(self) -> str:
        """Its own name, without the containers' and without ``#2``."""
        return own_name(self.qualname)

    @property
    def around(self) -> str:
        """The names of its containers, without numbers; "" at the top of the file."""
        plain = without_numbers(self.qualname)
        return "" if "(" in plain else plain.rpartition(".")[0]


def own_name(qualname: str) -> str:
    """The last part of a qualified name; a registration's (``f(a.b)``) is all of it."""
    plain = without_numbers(qualname)
    return plain if "(" in plain else plain.rpartition(".")[2]


def without_numbers(qualname: str) -> str:
    """A qualified name without the ``#2`` of any of its parts."""
    if "#" not in qualname:
        return qualname
    if "(" in qualname:
        return _LAST_NUMBER.sub("", qualname)
    return _NUMBERS.sub("", qualname)


class FileFacts:
    """The definitions of one blob in source order, and its tokens.

    A token is a number made of its text; an odd one is content (a name, a literal, a keyword, an
    operator), an even one punctuation or structure. Comments are left out, and so is the
    indentation inside strings that span lines, which moves with the definition.
    """

    def __init__(self, definitions: tuple[Definition, ...], tokens: "array[int]") -> None:
        self.definitions = definitions
        self._tokens = tokens

    @cached_property
    def by_name(self) -> dict[str, int]:
        """Qualified name → position in ``definitions``."""
        return {each.qualname: number for number, each in enumerate(self.definitions)}

    @cached_property
    def children(self) -> list[list[int]]:
        """For each definition, those directly inside it."""
        below: list[list[int]] = [[] for _ in self.definitions]
        for number, each in enumerate(self.definitions):
            if each.container >= 0:
                below[each.container].append(number)
        return below

    def tokens(self, number: int) -> list[int]:
        """All tokens of a definition."""
        each = self.definitions[number]
        return self._tokens[each.start : each.end].tolist()

    def head(self, number: int) -> list[int]:
        """The tokens before the body of a class or function, decorators among them."""
        each = self.definitions[number]
        return self._tokens[each.start : each.body].tolist()

    def own_tokens(self, number: int) -> list[int]:
        """The tokens of a definition that lie in no definition inside it."""
        each = self.definitions[number]
        own: list[int] = []
        position = each.start
        for child in self.children[number]:
            below = self.definitions[child]
            own += self._tokens[position : below.start]
            position = max(position, below.end)
        return own + self._tokens[position : each.end].tolist()

    def masked(self, number: int) -> list[int]:
        """Its tokens, its own name and those of its containers replaced by numbers of rank."""
        each = self.definitions[number]
        if each.kind == "registration":
            return self.tokens(number)
        names = {
            token_number(part): OWN_NAME + 2 * rank
            for rank, part in enumerate(reversed(without_numbers(each.qualname).split(".")))
        }
        return [names.get(token, token) for token in self.tokens(number)]


class Facts:
    """The facts of all blobs that a process meets, through the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, FileFacts | None] = {}

    def file(self, tree: Tree, path: str) -> FileFacts | None:
        """The facts of one file; None where it is no Python or its bytes cannot be judged."""
        if not path.endswith(PYTHON_SUFFIXES):
            return None
        blob = tree.files[path].blob
        if blob not in self._files:
            self._files[blob] = self._read(tree, path, blob)
        return self._files[blob]

    def _read(self, tree: Tree, path: str, blob: str) -> FileFacts | None:
        kept = self._store.derived(_derived_kind(), blob)
        if kept is not None:
            return _from_bytes(kept)
        try:
            facts = _compute(read_table(tree, path, self._store))
        except AnnotateError:
            return None
        self._store.put_derived(_derived_kind(), blob, _to_bytes(facts))
        return facts


_numbers: dict[str, int] = {}


def token_number(text: str) -> int:
    """The number of a token's text: 64 bits of BLAKE2b, the lowest of them telling its sort."""
    number = _numbers.get(text)
    if number is None:
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little") & ~1
        number |= text not in _PUNCTUATION
        if len(text) < 80:
            _numbers[text] = number
    return number


_STRUCTURE_NUMBERS = {kind: (rank + 1) * 2 for rank, kind in enumerate(_STRUCTURE)}


def _compute(table: ModuleTable) -> FileFacts:
    numbers: array[int] = array("Q")
    starts: list[int] = []
    ends: list[int] = []
    structure: list[bool] = []
    colons: list[int] = []
    for token in syntax.tokens(table.text):
        if token.kind == "comment":
            continue
        if token.kind == "indent":
            colons.append(len(numbers))
        mark = _STRUCTURE_NUMBERS.get(token.kind)
        structure.append(mark is not None)
        numbers.append(mark if mark is not None else token_number(_unindented(token)))
        starts.append(token.start)
        ends.append(token.end)
    places = _Offsets(table.text)
    definitions: list[Definition] = []
    open_ones: list[tuple[int, int]] = []
    for symbol in table.definitions.values():
        first, last = places.span(symbol)
        start = bisect_left(starts, first)
        while start < len(structure) and structure[start]:
            start += 1
        end = bisect_left(starts, last, start)
        while end > start and structure[end - 1]:
            end -= 1
        while open_ones and open_ones[-1][1] < end:
            open_ones.pop()
        container = -1
        for number, _ in reversed(open_ones):
            if symbol.qualname.startswith(f"{definitions[number].qualname}."):
                container = number
                break
        body = start
        if symbol.kind in ("class", "function", "method"):
            position = bisect_left(colons, start)
            body = colons[position] if position < len(colons) else end
        place = table.place(symbol)
        open_ones.append((len(definitions), end))
        definitions.append(
            Definition(
                symbol.qualname,
                symbol.kind,
                symbol.first_line,
                symbol.last_line,
                symbol.first_column,
                symbol.last_column,
                start,
                min(body, end),
                end,
                container,
                syntax.text_fingerprint(place.text)[:32],
                place.doubt,
            )
        )
    return FileFacts(tuple(definitions), numbers)


class _Offsets:
    """Lines and columns → character offsets."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        position = text.find("\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1)
        self._starts.append(len(text) + 1)

    def span(self, symbol: Symbol) -> tuple[int, int]:
        first = self._starts[symbol.first_line - 1] + symbol.first_column
        if symbol.last_column is None:
            return first, self._starts[symbol.last_line]
        return first, self._starts[symbol.last_line - 1] + symbol.last_column


def _unindented(token: syntax.Token) -> str:
    if "\n" not in token.text:
        return token.text
    return "\n".join(line.strip() for line in token.text.split("\n"))


def _derived_kind() -> str:
    python = f"py{sys.version_info.major}.{sys.version_info.minor}"
    return f"moves-{_FORMAT}-{syntax.GRAMMAR_VERSION}-{python}"


def _to_bytes(facts: FileFacts) -> bytes:
    rows = [[getattr(each, field) for field in Definition.__slots__] for each in facts.definitions]
    tokens = facts._tokens
    if sys.byteorder == "big":
        tokens = array("Q", tokens)
        tokens.byteswap()
    return json.dumps(rows, separators=(",", ":")).encode() + b"\n" + tokens.tobytes()


def _from_bytes(data: bytes) -> FileFacts:
    rows, _, numbers = data.partition(b"\n")
    tokens: array[int] = array("Q")
    tokens.frombytes(numbers)
    if sys.byteorder == "big":
        tokens.byteswap()
    return FileFacts(tuple(Definition(*row) for row in json.loads(rows)), tokens)


def content(tokens: Iterable[int]) -> list[int]:
    """The tokens that say something: names, literals, keywords and operators."""
    return [token for token in tokens if token & 1]
