"""The atlas: one generated page for each upstream module, made of the same claims as any page.

A page is Markdown: for each symbol a ``{.facts}`` block (`annotate.claims.facts`) with its heading,
its source, who calls it, what it calls and where it is discussed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from annotate.claims.code_links import first_doc_line
from annotate.claims.pictures.imports import picture
from annotate.errors import AnnotateError
from annotate.upstream.index import Index
from annotate.upstream.symbols import Symbol
from annotate.upstream.table import ModuleTable

FOLDER = "source"
"""Where the atlas stands in the site."""

_SIDE_FOLDERS = frozenset({"tests", "test", "testing", "docs", "doc", "benchmarks", "examples"})

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Source",
        "intro": "Every module of {name} as it was read, with every symbol's callers, callees and "
        "captured variables, and the chapters and experiments that deal with it.",
        "module": "Module",
        "about": "What it says of itself",
        "symbols": "Symbols",
        "back": "All modules",
        "modules": "All of them",
        "imports": "Which module imports which",
        "arrows": "An arrow leads from a module to one that imports it. Left out are arrows that "
        "a longer way implies and, where imports go round in a circle, the last of them.",
    },
    "zh": {
        "title": "源码",
        "intro": "{name} 的每个模块，照所读的原样；每个符号列出谁调用它、它调用谁、捕获了哪些变量，"
        "以及哪些章节和实验谈到它。",
        "module": "模块",
        "about": "它的自述",
        "symbols": "符号",
        "back": "全部模块",
        "modules": "全部模块",
        "imports": "模块之间的导入",
        "arrows": "箭头由一个模块指向导入它的模块。绕更长的路也能到达的箭头略去不画；"
        "导入成环时，略去最后一条。",
    },
}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a symbol stands in the site: a page's source path, and the anchor on it."""

    page: str
    anchor: str


class Atlas:
    """The pages of one upstream.

    Args:
        index: its symbols.
        quoted: paths that pages quote; they get a page even if they lie outside of the packages.
        folder: where its pages stand in the site.
    """

    def __init__(self, index: Index, quoted: Iterable[str] = (), folder: str = FOLDER) -> None:
        self.index = index
        self.folder = folder
        self.paths = _paths(index, set(quoted))
        self._anchors: dict[str, dict[str, str]] = {}

    @property
    def overview(self) -> str:
        """The source path of the page that lists all modules."""
        return f"{self.folder}/index.md"

    def page(self, path: str) -> str:
        """The source path of a module's page."""
        # A page called index or README would become the folder's own.
        stem = path.removesuffix(".py").removesuffix(".pyi")
        name = stem.rpartition("/")[2].lower()
        return f"{self.folder}/{stem}{'-module' if name in ('index', 'readme') else ''}.md"

    def address(self, symbol: str) -> Address | None:
        """Where a symbol is shown, or None if its module has no page."""
        path, _, qualname = symbol.partition("::")
        if path not in self.paths:
            return None
        anchor = self._anchors_of(path).get(qualname, "") if qualname else ""
        return Address(self.page(path), anchor) if anchor or not qualname else None

    def overview_text(self, language: str, href: Callable[[str], str | None]) -> str:
        """The page that lists all modules; ``href`` gives a module's address."""
        words = _words(language)
        name = self.index.tree.pin.name
        # What only a page quotes stands beside the packages, and would widen the picture.
        imports = {
            path: modules
            for path, modules in dependencies(self).items()
            if path.partition("/")[0] not in _SIDE_FOLDERS
        }
        drawn = picture(imports, href, words["imports"], words["arrows"])
        lines = [f"# {words['title']}", "", words["intro"].format(name=name), ""]
        lines += [f"## {words['imports']}", "", words["arrows"], ""]
        lines += [
            '<div class="claim"><div class="picture-scroll" tabindex="0" role="group"'
            f' aria-label="{words["imports"]}">{drawn}</div></div>',
            "",
            f"## {words['modules']}",
            "",
        ]
        lines += [
            f"| {words['module']} | {words['symbols']} | {words['about']} |",
            "|---|---|---|",
        ]
        for path in self.paths:
            table = self.index.module(path)
            page = self.page(path).removeprefix(f"{self.folder}/")
            about = first_doc_line(table.text).replace("|", "\\|")
            about = f"`{about.replace('`', '')}`" if about else ""
            lines.append(f"| [`{path}`]({page}) | {len(table.definitions)} | {about} |")
        return "\n".join(lines) + "\n"

    def module_text(self, path: str, language: str) -> str:
        """The page of one module."""
        words = _words(language)
        table = self.index.module(path)
        depth = self.page(path).count("/") - self.folder.count("/") - 1
        # A module's headings are too many to stand beside the page.
        lines = [
            "---",
            "hide:",
            "  - toc",
            "---",
            "",
            f"# `{path}`",
            "",
            f"[{words['back']}]({'../' * depth}index.md)",
            "",
            f'```{{.facts module="{path}"}}',
            "```",
            "",
        ]
        anchors = self._anchors_of(path)
        shown_until = 0
        for symbol in table.definitions.values():
            nested = symbol.last_line <= shown_until
            if not nested:
                shown_until = symbol.last_line
            reference = _quoted(f"{path}::{symbol.qualname}")
            source = "" if nested else ".quoted "
            level = 3 if nested else 2
            anchor = anchors[symbol.qualname]
            lines += [
                f'```{{.facts {source}#{anchor} symbol={reference} level="{level}"}}',
                "```",
                "",
            ]
        return "\n".join(lines)

    def _anchors_of(self, path: str) -> dict[str, str]:
        anchors = self._anchors.get(path)
        if anchors is None:
            anchors = self._anchors[path] = _anchors(self.index.module(path))
        return anchors


def dependencies(atlas: Atlas) -> dict[str, set[str]]:
    """Module path → the modules of the atlas it imports, by the imports at its top level."""
    found: dict[str, set[str]] = {}
    for path in atlas.paths:
        table = atlas.index.module(path)
        imported = {
            module
            for symbol in table.symbols.values()
            if symbol.kind == "alias"
            for module in [_imported(atlas, path, symbol)]
            if module is not None and module != path and not _is_around(module, path)
        }
        found[path] = imported
    return found


def _is_around(package: str, path: str) -> bool:
    """Whether a module is the ``__init__`` of a package that another lies in.

    Python has begun to import it by then, whatever the other says.
    """
    folder, _, name = package.rpartition("/")
    return name == "__init__.py" and path.startswith(f"{folder}/")


def _imported(atlas: Atlas, path: str, alias: Symbol) -> str | None:
    module, _, name = alias.target.partition(":")
    if name and name != "*":
        dotted = f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
        submodule = atlas.index.module_path(path, dotted)
        if submodule in atlas.paths:
            return submodule
    target = atlas.index.module_path(path, module)
    return target if target in atlas.paths else None


def _paths(index: Index, quoted: set[str]) -> list[str]:
    """The modules of the tree's packages and those that pages quote, which can be judged."""
    packages = {
        path.rpartition("/")[0] for path in index.python_paths() if path.endswith("/__init__.py")
    }
    chosen = []
    for path in index.python_paths():
        folder = path.rpartition("/")[0]
        aside = any(part in _SIDE_FOLDERS for part in folder.split("/")[:1])
        if path in quoted or (folder in packages and not aside):
            try:
                index.module(path)
            except AnnotateError:
                continue
            chosen.append(path)
    return chosen


def _anchors(table: ModuleTable) -> dict[str, str]:
    """Qualified name → an anchor of letters, digits, dots and dashes, unique on the page."""
    anchors: dict[str, str] = {}
    taken: set[str] = set()
    for qualname in table.definitions:
        plain = re.sub(r"[^\w.]+", "-", qualname.replace("#", "-")).strip("-")
        anchor, number = plain, 2
        while anchor.lower() in taken:
            anchor, number = f"{plain}-{number}", number + 1
        taken.add(anchor.lower())
        anchors[qualname] = anchor
    return anchors


def _quoted(text: str) -> str:
    """An attribute's value; a registration's name may hold quotation marks of both kinds."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _words(language: str) -> Mapping[str, str]:
    return _WORDS["zh" if language.lower().startswith("zh") else "en"]
