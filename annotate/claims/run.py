"""The place of *Run* below an experiment's output: empty and hidden until a script fills it."""

import json
from collections.abc import Mapping
from html import escape

from annotate.claims.markup import word

_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "group": "Run {} in your browser",
        "run": "Run",
        "stop": "Stop",
        "edit": "Edit",
        "reset": "Reset",
        "code": "Code of {}. Ctrl+Enter runs it.",
        "output": "Output in your browser",
        "offer": "In your browser. Python ({} MB) is loaded from this site when you press Run.",
        "offer_host": "In your browser. Python ({} MB) is loaded from {} when you press Run.",
        "load_python": "Loading Python from {}…",
        "load_numpy": "Loading numpy from {}…",
        "load_source": "Loading the pinned source…",
        "running": "Running on Python {}, numpy {}…",
        "ended": "Python {}, numpy {}, {} s.",
        "exit": "It ended with exit status {}.",
        "same": "The output is the recorded one.",
        "same_changed": "With your changes the output is still the recorded one.",
        "differs": "Line {} is not the recorded one.",
        "differs_changed": "With your changes, line {} is not the recorded one.",
        "recorded": "Recorded",
        "found": "Here",
        "no_line": "no such line",
        "stopped": "Stopped. The next run starts afresh.",
        "flood": "Stopped: it printed more than is shown.",
        "crashed": "Python itself gave up: {}. The next run starts afresh.",
        "offline": "Your browser is offline, and Python has to be loaded. What was recorded stands "
        "above.",
        "not_loaded": "What Run needs could not be loaded from {}: {}. What was recorded stands "
        "above.",
        "file": "This page was opened as a file, from which browsers start no Python. Serve the "
        "site's folder, for example with: python -m http.server",
        "unsupported": "This browser has no WebAssembly, which Python needs here.",
    },
    "zh": {
        "group": "在浏览器中运行 {}",
        "run": "运行",
        "stop": "停止",
        "edit": "编辑",
        "reset": "还原",
        "code": "{} 的代码。按 Ctrl+Enter 运行。",
        "output": "在你浏览器中的输出",
        "offer": "在你的浏览器中运行。按下“运行”时才从本站加载 Python（{} MB）。",
        "offer_host": "在你的浏览器中运行。按下“运行”时才加载 Python（{} MB，来自 {}）。",
        "load_python": "正在从 {} 加载 Python…",
        "load_numpy": "正在从 {} 加载 numpy…",
        "load_source": "正在加载锁定的源码…",
        "running": "正在运行：Python {}，numpy {}…",
        "ended": "Python {}，numpy {}，{} 秒。",
        "exit": "退出状态 {}。",
        "same": "输出与录制的一致。",
        "same_changed": "改动之后，输出仍与录制的一致。",
        "differs": "第 {} 行与录制的不同。",
        "differs_changed": "改动之后，第 {} 行与录制的不同。",
        "recorded": "录制",
        "found": "此处",
        "no_line": "没有这一行",
        "stopped": "已停止。下次运行从头开始。",
        "flood": "已停止：输出太多，未全部显示。",
        "crashed": "Python 本身中止了：{}。下次运行从头开始。",
        "offline": "浏览器离线，无法加载 Python。上面是录制的输出。",
        "not_loaded": "无法从 {} 加载运行所需的文件：{}。上面是录制的输出。",
        "file": "本页是作为文件打开的，浏览器不会由此启动 Python。请用服务器打开站点文件夹，"
        "例如：python -m http.server",
        "unsupported": "此浏览器没有 WebAssembly，无法在此运行 Python。",
    },
}


def run_place(experiment: str, language: str) -> str:
    """The element in which ``assets/run/run.js`` builds the buttons, with the words it needs."""
    words = _WORDS["en" if word("exact", language) == "exact" else "zh"]
    told = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
    return (
        f'<div class="claim-run" hidden data-experiment="{escape(experiment)}"'
        f' data-words="{escape(told)}"></div>'
    )
