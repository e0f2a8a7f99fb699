"""What the experiments saw called, beside what the text of the upstream tells.

    python -m benchmarks.calls [--write]

In a project with recordings, of the pinned tree: the calls between two of its symbols that the
recordings of all experiments hold, how many of them the static graph has, and how many static
calls from functions that ran were never seen. `--write` puts the figures into the documentation.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from annotate.project import Project
from annotate.upstream.calls import Evidence

BEGIN = "<!-- calls: written by python -m benchmarks.calls --write -->"
END = "<!-- calls: end -->"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Calls seen and calls read.

    Attributes:
        seen: calls between two symbols that some experiment made.
        told: those of them that the static graph has.
        certain: static calls, of certain evidence, from functions that ran.
        certain_unseen: those of them that no experiment made.
        may: static calls that only may be, from functions that ran.
        may_unseen: those of them that no experiment made.
    """

    seen: int
    told: int
    certain: int
    certain_unseen: int
    may: int
    may_unseen: int


def measure(project: Project) -> Coverage:
    """Compare the recordings of a project with the call graph of its tree."""
    recordings = project.recordings.values()
    seen = {
        (edge.caller, edge.callee)
        for recording in recordings
        for edge in recording.edges
        # Calls out of a nameless function inside a symbol have another name in the graph.
        if "::" in edge.caller and "::" in edge.callee and not edge.inner
    }
    ran = {symbol for recording in recordings for symbol in recording.executed}
    graph = project.calls()
    static = {
        evidence: {
            (edge.caller, edge.callee)
            for edge in graph.edges
            if edge.evidence is evidence and edge.caller in ran
        }
        for evidence in Evidence
    }
    told = seen & (static[Evidence.CERTAIN] | static[Evidence.MAY])
    return Coverage(
        seen=len(seen),
        told=len(told),
        certain=len(static[Evidence.CERTAIN]),
        certain_unseen=len(static[Evidence.CERTAIN] - seen),
        may=len(static[Evidence.MAY]),
        may_unseen=len(static[Evidence.MAY] - seen),
    )


def table(coverage: Coverage, identity: str, *, chinese: bool = False) -> str:
    """The figures as a Markdown table."""
    head, rows = (
        (
            f"| {identity} | 条数 |",
            (
                "实验中见到的调用",
                "其中静态图已有",
                "执行过的函数中，确定的静态调用",
                "其中从未见到",
                "执行过的函数中，可能的静态调用",
                "其中从未见到",
            ),
        )
        if chinese
        else (
            f"| {identity} | calls |",
            (
                "seen in experiments",
                "of these, in the static graph",
                "static and certain, from functions that ran",
                "of these, never seen",
                "static and possible, from functions that ran",
                "of these, never seen",
            ),
        )
    )
    figures = (
        coverage.seen,
        coverage.told,
        coverage.certain,
        coverage.certain_unseen,
        coverage.may,
        coverage.may_unseen,
    )
    lines = [f"| {name} | {figure:,} |" for name, figure in zip(rows, figures, strict=True)]
    return "\n".join([head, "| --- | --- |", *lines])


def main() -> None:
    """Measure, print, and write where asked for."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true")
    options = arguments.parse_args()
    project = Project.open(Path.cwd())
    coverage = measure(project)
    identity = project.index().tree.identity
    print(table(coverage, identity))
    if options.write:
        for name, chinese in (("benchmarks.md", False), ("benchmarks.zh.md", True)):
            page = project.config.root / "docs" / name
            before, begin, rest = page.read_text().partition(BEGIN)
            _, end, after = rest.partition(END)
            if begin and end:
                written = table(coverage, identity, chinese=chinese)
                page.write_text(f"{before}{BEGIN}\n\n{written}\n\n{END}{after}")


if __name__ == "__main__":
    main()
