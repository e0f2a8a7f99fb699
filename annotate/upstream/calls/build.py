"""From a tree to its call graph."""

import gc
import platform
from collections.abc import Mapping
from importlib.metadata import version

from annotate.errors import AnnotateError
from annotate.upstream import syntax
from annotate.upstream.calls.analysis import Analysis
from annotate.upstream.calls.code import FORMAT, ModuleCode, from_json, to_json
from annotate.upstream.calls.core import Found
from annotate.upstream.calls.graph import CallGraph, Edge, Evidence, Unresolved
from annotate.upstream.calls.lower import lower
from annotate.upstream.calls.modules import Modules
from annotate.upstream.calls.naming import DottedNames, SymbolNames
from annotate.upstream.index import Index
from annotate.upstream.symbols import DEFINITIONS
from annotate.upstream.tree import Tree

MAX_EXPRESSION = 80
"""Characters of an unresolved call that are shown."""


def call_graph(index: Index, *, builtins: bool = False) -> CallGraph:
    """The call graph of a whole tree, from its ``.py`` files; those not judgeable are left out.

    What a file does is kept in the store by its blob id, so that only changed files are parsed.
    ``builtins``: list calls of builtins among the external ones.
    """
    modules: dict[str, ModuleCode] = {}
    for path in index.python_paths():
        if path.endswith(".py"):
            try:
                modules[path] = from_json(index.derived(path, _derived_kind(), _summary))
            except AnnotateError:
                continue
    analysis = _analyse(modules)
    names = _symbol_names(index, modules)
    edges = [
        _edge(names.id(caller), names.id(callee), caller[0], found)
        for (caller, callee), found in analysis.edges().items()
    ]
    outside = [
        _edge(names.id(caller), dotted, caller[0], found)
        for (caller, dotted), found in analysis.external.items()
    ]
    if builtins:
        outside += [
            _edge(names.id(caller), f"<builtin>.{name}", caller[0], found)
            for (caller, name), found in analysis.natives.items()
        ]
    unresolved = _unresolved(index, analysis, names)
    return CallGraph(tuple(sorted(edges)), tuple(unresolved), tuple(sorted(outside)))


def _analyse(modules: Mapping[str, ModuleCode]) -> Analysis:
    """Run the analysis, with the collector kept from walking the files' tuples again and again."""
    gc.freeze()
    try:
        analysis = Analysis(modules, Modules(modules))
        analysis.run_all()
    finally:
        gc.unfreeze()
    return analysis


def _summary(text: str) -> bytes:
    return to_json(lower(text))


def _derived_kind() -> str:
    """Names what is cached, so that another grammar or Python reads the file again."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"calls-{FORMAT}-{version('tree-sitter-python')}-{python}"


def _symbol_names(index: Index, modules: Mapping[str, ModuleCode]) -> SymbolNames:
    qualnames: dict[str, dict[tuple[int, str], str]] = {}
    registrations: dict[str, list[tuple[int, int, str]]] = {}
    for path in modules:
        for symbol in index.module(path).symbols.values():
            if symbol.kind in DEFINITIONS or symbol.kind == "lambda":
                last = symbol.qualname.rpartition(".")[2].partition("#")[0]
                qualnames.setdefault(path, {})[symbol.first_line, last] = symbol.qualname
            elif symbol.kind == "registration":
                spans = registrations.setdefault(path, [])
                spans.append((symbol.first_line, symbol.last_line, symbol.qualname))
    return SymbolNames(modules, qualnames, registrations)


def _edge(caller: str, callee: str, path: str, found: Found) -> Edge:
    evidence = Evidence.CERTAIN if found.certain else Evidence.MAY
    why = found.why
    if found.labels:
        why = f"{why}, wraps {', '.join(found.labels)}"
    return Edge(caller, callee, evidence, why, path, found.line)


def _unresolved(index: Index, analysis: Analysis, names: SymbolNames) -> list[Unresolved]:
    untold = analysis.untold()
    sources: dict[str, bytes] = {}
    found: list[Unresolved] = []
    for (caller, line, start, end), is_unresolved in analysis.unresolved.items():
        if not is_unresolved and (caller, line, start) not in untold:
            continue
        path = caller[0]
        if path not in sources:
            sources[path] = index.module(path).text.encode()
        text = " ".join(sources[path][start:end].decode().split())
        if len(text) > MAX_EXPRESSION:
            text = f"{text[: MAX_EXPRESSION - 1]}…"
        found.append(Unresolved(names.id(caller), text, path, line))
    return sorted(found)


def dotted_graph(tree: Tree, *, builtins: bool = False) -> dict[str, list[str]]:
    """The call graph in the form other tools write: dotted caller → sorted dotted callees.

    A module's body goes by the module's name, lambdas by ``<lambda1>`` counted per scope, builtins
    (left out unless asked for) by ``<builtin>.name``, and calling a class is calling its
    ``__init__`` if a class of the tree defines one. What is outside of the tree keeps the name it
    is imported by. Files that cannot be judged are left out.
    """
    modules: dict[str, ModuleCode] = {}
    for path in tree.files:
        if path.endswith(".py"):
            try:
                modules[path] = lower(syntax.decode(tree.read(path)))
            except AnnotateError:
                continue
    return graph_of(modules, builtins=builtins)


def graph_of(modules: Mapping[str, ModuleCode], *, builtins: bool) -> dict[str, list[str]]:
    """The dotted graph of files that were read already."""
    analysis = _analyse(modules)
    names = DottedNames(modules, Modules(modules))
    found: dict[str, set[str]] = {name: set() for name in names.everything()}
    for caller, callee in analysis.edges():
        found[names.name(caller)].add(names.name(callee))
    for caller, dotted in analysis.external:
        found[names.name(caller)].add(dotted)
    if builtins:
        for caller, builtin in analysis.natives:
            found[names.name(caller)].add(f"<builtin>.{builtin}")
    for callees in list(found.values()):
        for each in callees:
            found.setdefault(each, set())
    return {name: sorted(found[name]) for name in sorted(found)}
