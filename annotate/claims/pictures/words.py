"""The words in pictures, in the site's languages."""

from collections.abc import Mapping

from annotate.claims.markup import word

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "sequence": "Sequence of calls in {}",
        "summary": "{} calls between {}. Each arrow goes from the caller to the called.",
        "line": "line {}",
        "call": "{} call",
        "calls": "{} calls",
        "inside": "{} calls inside are not shown",
        "resumed": "goes on",
        "states": "States of {}",
        "moment": "moment",
        "graph": "Graph {} of {}",
        "graphs": "Graphs",
        "graph summary": "Each arrow goes from a node to one computed from it. {}",
        "from": "{} from {}",
        "input": "{} is where it starts",
        "replay": "Replay of {}",
        "position": "Step",
        "first": "To the start",
        "back": "One step back",
        "over": "On to the next line here, past the calls in between",
        "forward": "One step on",
        "last": "To the end",
        "jump": "Jump to",
        "start": "start",
        "stack": "Call stack",
        "state": "State",
        "no state": "Nothing has been noted yet.",
        "source": "Source",
        "script": "the script",
        "keys": "Keys: ← and → step, ↓ passes over calls, Home and End go to either end.",
        "other text": "Its lines are not marked: the text is not the one that ran.",
    },
    "zh": {
        "sequence": "{} 的调用顺序",
        "summary": "共 {} 次调用，涉及 {}。箭头由调用者指向被调用者。",
        "line": "第 {} 行",
        "call": "{} 次调用",
        "calls": "{} 次调用",
        "inside": "内部另有 {} 次调用未画出",
        "resumed": "继续",
        "states": "{} 的状态",
        "moment": "时刻",
        "graph": "{1} 的计算图 {0}",
        "graphs": "计算图",
        "graph summary": "箭头由一个节点指向由它算出的节点。{}",
        "from": "{} 来自 {}",
        "input": "{} 是起点",
        "replay": "{} 的逐步回放",
        "position": "步",
        "first": "回到开头",
        "back": "后退一步",
        "over": "到本函数的下一行，越过其间的调用",
        "forward": "前进一步",
        "last": "到结尾",
        "jump": "跳到",
        "start": "开头",
        "stack": "调用栈",
        "state": "状态",
        "no state": "还没有记录任何状态。",
        "source": "源码",
        "script": "脚本",
        "keys": "按键：← 与 → 逐步，↓ 越过调用，Home 与 End 到两端。",
        "other text": "各行未标出：这里的文本不是当时运行的那一份。",
    },
}


def words(language: str) -> Mapping[str, str]:
    """The words for a page's language."""
    return _WORDS["en" if word("exact", language) == "exact" else "zh"]
