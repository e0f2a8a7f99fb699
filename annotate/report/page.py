"""A report for readers: the site's verification page, and whose source its pages quote."""

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from annotate.claims.markup import escaped, inline, link, word
from annotate.location import Location
from annotate.project import Report
from annotate.upstream.tree import Tree
from annotate.verdict import Judgement

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Verification",
        "intro": "Every statement these pages make about the source, what checking it found, and "
        "how to check it again.",
        "pinned": "Pinned",
        "was_read": "Read",
        "stand_in": "The pinned commit was not at hand when this site was built. What was read "
        "instead, {read}, is not the same code: what is marked ≈ differs from the text that was "
        "reviewed, or has none to be compared with.",
        "summary": "{claims} claims on {pages} pages and in the records: {ok} hold as written, "
        "{notes} with a note, {warnings} with a warning, {errors} fail.",
        "reproduce": "In a checkout of this project, this judges all of it again and changes "
        "nothing:",
        "records": "Records",
        "unclaimed": "Python code and table cells that claim nothing, and are not checked: {}",
        "line": "Line",
        "claim": "Claim",
        "found": "Found",
        "quoted": "Quoted source: ",
    },
    "zh": {
        "title": "核对结果",
        "intro": "这些页面对源码所作的每一条断言、核对的结果，以及怎样重新核对一遍。",
        "pinned": "锁定",
        "was_read": "实际读取",
        "stand_in": "构建本站时取不到锁定的提交，读的是替身版本 {read}。两者的代码并不相同："
        "带 ≈ 的地方与审读过的文本不同，或者没有可比的文本。",
        "summary": "{pages} 个页面及记录中共 {claims} 条断言：{ok} 条与所写一致，"
        "{notes} 条有说明，{warnings} 条有警告，{errors} 条不成立。",
        "reproduce": "在本项目的检出中运行下面的命令，会把这一切重新核对一遍，不改动任何文件：",
        "records": "记录",
        "unclaimed": "没有作出断言、因而不检查的 Python 代码与表格单元：{}",
        "line": "行",
        "claim": "断言",
        "found": "结果",
        "quoted": "引用的源码：",
    },
}

COMMAND = "annotate verify"

_LICENCE_FILE = re.compile(r"(?:licen[cs]e|copying)(?:\.\w+)?", re.IGNORECASE)
_MAX_LICENCE_NAME = 120


def render(report: Report, language: str, address: Callable[[Location], str | None]) -> str:
    """The page as Markdown; all of it but the title is one block of escaped HTML.

    ``address`` gives the address of a claim, relative to this page, or None for what is on no
    page of the site.
    """
    words = _words(language)
    parts = [f"<p>{words['intro']}</p>"]
    parts += [_tree(tree, words) for tree in report.trees]
    parts.append(f"<p>{_summary(report, words)}</p>")
    parts.append(f"<p>{words['reproduce']}</p>")
    parts.append(f"<pre><code>{COMMAND}</code></pre>")
    for path, judgements in groupby(report.judgements, lambda judgement: judgement.location.path):
        parts.append(_page(path, judgements, words, language, address))
    if report.unclaimed:
        items = "".join(
            f"<li>{link(str(location), address(location))}</li>" for location in report.unclaimed
        )
        title = words["unclaimed"].format(len(report.unclaimed))
        parts.append(f"<details><summary>{title}</summary><ul>{items}</ul></details>")
    # One block of HTML, since a blank line would end it for Markdown.
    body = "\n".join(part for part in parts if part)
    return f'# {words["title"]}\n\n<div class="verification">\n{body}\n</div>\n'


def licences(trees: Iterable[Tree], language: str) -> str:
    """Whose source is quoted and under which licences, as one line of HTML.

    A licence is named by the first line of its file and by its first copyright line.
    """
    named = [_licence(tree) for tree in trees]
    return _words(language)["quoted"] + "; ".join(named)


def _licence(tree: Tree) -> str:
    parts = [link(tree.pin.name, tree.pin.repository)]
    path = next((path for path in tree.files if _LICENCE_FILE.fullmatch(path)), None)
    if path is not None:
        text = tree.read(path).decode("utf-8", "replace")
        lines = [line.strip()[:_MAX_LICENCE_NAME] for line in text.splitlines() if line.strip()]
        holder = next((line for line in lines if line.startswith("Copyright")), "")
        parts.append(link(lines[0] if lines else path, tree.pin.permalink(path)))
        parts += [escaped(holder)] if holder and holder != lines[0] else []
    return ", ".join(parts)


def _words(language: str) -> Mapping[str, str]:
    return _WORDS["en" if word("exact", language) == "exact" else "zh"]


def _tree(tree: Tree, words: Mapping[str, str]) -> str:
    pin = tree.pin
    banner = ""
    if tree.is_stand_in:
        text = words["stand_in"].format(read=escaped(tree.identity))
        banner = f'\n<p class="verification-banner" role="note">{text}</p>'
    pinned = pin.commit or str(pin.release)
    return (
        f"<dl><dt>{words['pinned']}</dt>"
        f"<dd>{link(pin.repository, pin.repository)} <code>{escaped(pinned)}</code></dd>"
        f"<dt>{words['was_read']}</dt><dd>{escaped(tree.identity)}</dd></dl>{banner}"
    )


def _summary(report: Report, words: Mapping[str, str]) -> str:
    summary = report.summary
    return words["summary"].format(
        claims=summary.claims,
        pages=report.pages,
        ok=summary.ok,
        notes=summary.notes,
        warnings=summary.warnings,
        errors=summary.errors,
    )


def _page(
    path: str,
    judgements: Iterable[Judgement],
    words: Mapping[str, str],
    language: str,
    address: Callable[[Location], str | None],
) -> str:
    rows = "\n".join(_row(judgement, language, address) for judgement in judgements)
    head = "".join(
        f'<th scope="col">{text}</th>'
        for text in (words["line"], words["claim"], word("verdict", language), words["found"])
    )
    return (
        f"<h2>{link(path, address(Location(path, 0)))}</h2>\n"
        '<table class="claim-table" data-search-exclude>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>"
    )


def _row(judgement: Judgement, language: str, address: Callable[[Location], str | None]) -> str:
    found = f"<span>{escaped(str(judgement.found))}</span>" if judgement.found else ""
    verdict = judgement.verdict.value
    return (
        f'<tr data-severity="{judgement.severity.value}"><td>{judgement.location.line}</td>'
        f'<th scope="row">{link(judgement.subject, address(judgement.location))}</th>'
        f'<td><span class="claim-verdict">{escaped(word(verdict, language))}</span></td>'
        f"<td>{inline(judgement.message)}{found}</td></tr>"
    )
