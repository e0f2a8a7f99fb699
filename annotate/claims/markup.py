"""Text → HTML for everything a claim shows, and the site's own words in its languages.

All text is escaped here and goes into the page as it is, so that nothing in quoted source, in a
note or in a name is ever read as HTML, Markdown or a template.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal

Language = Literal["en", "zh"]

_WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "verdict": "Verdict",
        "symbol": "Symbol",
        "signature": "Signature",
        "role": "Role",
        "calls": "Symbols, who calls whom, and the part they play",
        "called by": "Called by",
        "callees": "Calls",
        "unresolved": "Calls not resolved",
        "captures": "Captures",
        "discussed in": "Discussed in",
        "run by": "Run by",
        "lines run": "Lines seen running",
        "history": "History",
        "changed": "changed {0}×; last in {1} ({2})",
        "exercised by": "exercised by {}",
        "file": "File",
        "symbols": "Symbols",
        "more": "{} more",
        "bound on line": "bound on line {}",
        "called by N": "called by {}",
        "calls N": "calls {}",
        "in the atlas": "in the source",
        "certain": "certain",
        "may": "may",
        "observed": "observed",
        "source": "Source of {}",
        "lines": "lines {}",
        "note": "Note {}",
        "notes": "Notes on the code",
        "exact": "exact",
        "reformatted": "reformatted",
        "moved": "moved",
        "edited": "edited",
        "missing": "missing",
        "ambiguous": "ambiguous",
        "unverifiable": "unverifiable",
        "stand-in": "stand-in",
    },
    "zh": {
        "verdict": "判定",
        "symbol": "符号",
        "signature": "签名",
        "role": "角色",
        "calls": "相关符号、调用关系与角色",
        "called by": "谁调用它",
        "callees": "它调用谁",
        "unresolved": "未能解析的调用",
        "captures": "捕获",
        "discussed in": "正文谈到",
        "run by": "运行它的实验",
        "lines run": "运行到的行",
        "history": "历史",
        "changed": "改过 {0} 次，最近一次在 {1}（{2}）",
        "exercised by": "实验 {} 运行过它",
        "file": "文件",
        "symbols": "符号",
        "more": "另外 {} 项",
        "bound on line": "绑定于第 {} 行",
        "called by N": "被 {} 处调用",
        "calls N": "调用 {} 处",
        "in the atlas": "查看源码页",
        "certain": "确定",
        "may": "可能",
        "observed": "运行所见",
        "source": "{} 的源码",
        "lines": "第 {} 行",
        "note": "注 {}",
        "notes": "代码注释",
        "exact": "逐字一致 exact",
        "reformatted": "仅排版不同 reformatted",
        "moved": "已移动 moved",
        "edited": "已改动 edited",
        "missing": "未找到 missing",
        "ambiguous": "有歧义 ambiguous",
        "unverifiable": "无法判定 unverifiable",
        "stand-in": "替身版本 stand-in",
    },
}


def word(key: str, locale: str) -> str:
    """One of the site's own words in the reader's language; an unknown key is its own word.

    Chinese for every ``zh`` locale, English for all others.
    """
    language: Language = "zh" if locale.lower().replace("_", "-").split("-")[0] == "zh" else "en"
    return _WORDS[language].get(key, key)


def inline(text: str) -> str:
    """Plain text as HTML; a pair of backticks makes code, nothing else is markup."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        # A backtick without a partner is just a backtick.
        pieces[-2:] = [f"{pieces[-2]}`{pieces[-1]}"]
    return "".join(
        f"<code>{escaped(piece)}</code>" if index % 2 else escaped(piece)
        for index, piece in enumerate(pieces)
    )


@dataclass(frozen=True, slots=True)
class Link:
    """An address, and what hovering over the link says; a reader gets the same by following it."""

    href: str
    title: str = ""

    def tag(self) -> str:
        """The start tag's attributes as HTML, or "" for an address a browser may not follow."""
        if not is_followable(self.href):
            return ""
        # A line end would end the line of code that the link stands in.
        said = escaped(self.title).replace("\n", "&#10;")
        title = f' title="{said}"' if said else ""
        return f'href="{escape(self.href)}"{title}'


def link(label: str, href: str | None) -> str:
    """Text as HTML, linked where there is an address a browser may follow."""
    if href is None or not is_followable(href):
        return inline(label)
    return f'<a href="{escape(href)}">{inline(label)}</a>'


# Control characters have no glyph, and two of them (STX, ETX) delimit Python-Markdown's own
# placeholders; bidirectional controls make code look like other code (CVE-2021-42574).
_CONTROLS = {
    **{code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"},
    127: "\u2421",
    **{
        code: f"[U+{code:04X}]"
        for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
}
_HAS_CONTROL = re.compile(f"[{''.join(map(re.escape, map(chr, _CONTROLS)))}]")


def visible(text: str) -> str:
    """The text with control characters made visible."""
    return text.translate(_CONTROLS) if _HAS_CONTROL.search(text) else text


def escaped(text: str) -> str:
    """Text as HTML, in an element or in a quoted attribute."""
    # Quotation marks are escaped as well: Material's search drops what looks like one of its
    # attributes (data-search-x="…") from the finished page, in code too.
    return escape(visible(text))


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_followable(href: str) -> bool:
    """Whether an address is relative or opens a web page; upstream names may look like schemes."""
    return not _SCHEME.match(href) or href.startswith(("https:", "http:", "mailto:"))
