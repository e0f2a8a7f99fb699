"""What was measured → a Markdown table, put into the pages of the documentation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from benchmarks.measure import Spread

MEMORY_AIM = 200_000_000
"""Bytes that no process of annotate should need."""

BEGIN = "<!-- benchmarks: written by python -m benchmarks --write -->"
END = "<!-- benchmarks: end -->"


@dataclass(frozen=True, slots=True)
class Words:
    """A text in the languages of the documentation."""

    en: str
    zh: str

    def get(self, language: str) -> str:
        """The text in ``en`` or ``zh``."""
        return self.zh if language == "zh" else self.en


class Measure(Enum):
    """What was measured, as it is called in the table."""

    CPU = Words("CPU time", "CPU 时间")
    WALL = Words("time", "用时")
    BYTES = Words("bytes received", "接收字节")
    MEMORY = Words("peak memory", "内存峰值")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        what: what was measured.
        beside: what ran in turn with it, or None for a figure that stands alone.
        measure: which of its costs.
        ours: the cost of each round: seconds or bytes.
        theirs: that of what ran beside it, by round; empty if there is none.
        aim: the largest ratio (or, alone, the largest cost) aimed at, or None.
    """

    what: Words
    beside: Words | None
    measure: Measure
    ours: Sequence[float]
    theirs: Sequence[float] = ()
    aim: float | None = None

    @property
    def ratios(self) -> Spread | None:
        """Ours to theirs, each pair from one round."""
        if not self.theirs:
            return None
        return Spread.of([a / b for a, b in zip(self.ours, self.theirs, strict=True)])

    @property
    def holds(self) -> bool | None:
        """Whether the median is within the aim, to a thousandth; None if there is none.

        Two fetches of the same bytes differ by a few: how often git tells of its progress.
        """
        if self.aim is None:
            return None
        ratios = self.ratios
        return round(ratios.median if ratios else max(self.ours), 3) <= round(self.aim, 3)


_HEADINGS = {
    "en": ("What", "Measure", "Median", "Beside", "Median", "Ratio (min–max)", "Aim", "Held"),
    "zh": ("测什么", "量", "中位数", "对照", "中位数", "比值（最小–最大）", "目标", "达到"),
}
_HOLDS = {
    "en": {True: "yes", False: "**no**", None: ""},
    "zh": {True: "是", False: "**否**", None: ""},
}


def render(rows: Iterable[Row], language: str) -> str:
    """The rows as a Markdown table in ``en`` or ``zh``."""
    headings = _HEADINGS[language]
    lines = [_line(headings), _line("---" for _ in headings)]
    for row in rows:
        lines.append(_line(_cells(row, language)))
    return "\n".join(lines)


def put_into(page: Path, text: str) -> None:
    """Replace what stands between the two marks of a page.

    Raises:
        ValueError: the page does not have both marks once, in their order.
    """
    content = page.read_text("utf-8")
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after:
        raise ValueError(f"{page} does not have the lines {BEGIN} and {END} once each")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8", newline="\n")


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: Row, language: str) -> tuple[str, ...]:
    ratios = row.ratios
    shown = ""
    if ratios:
        shown = f"{_ratio(ratios.median)} ({_ratio(ratios.low)}–{_ratio(ratios.high)})"
    aim = ""
    if row.aim is not None:
        aim = f"≤ {_ratio(row.aim) if ratios else _amount(row.aim, row.measure)}"
    return (
        row.what.get(language),
        row.measure.value.get(language),
        _amount(Spread.of(row.ours).median, row.measure),
        row.beside.get(language) if row.beside else "",
        _amount(Spread.of(row.theirs).median, row.measure) if row.theirs else "",
        shown,
        aim,
        _HOLDS[language][row.holds],
    )


def _amount(value: float, measure: Measure) -> str:
    if measure is Measure.MEMORY:
        return f"{value / 1e6:.0f} MB"
    if measure is Measure.BYTES:
        return f"{value / 1e3:,.0f} kB"
    return f"{value:.2f} s" if value >= 1 else f"{value * 1000:.0f} ms"


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value < 0.2 else f"{value:.2f}"
