"""``python -m benchmarks``: run the comparisons and print one table of them."""

import datetime
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Collection
from importlib.metadata import version
from pathlib import Path

import click

from annotate.errors import AnnotateError
from benchmarks import building, extraction, fetching, packages, table, verification
from benchmarks.measure import apart
from benchmarks.table import Row
from benchmarks.verification import Size

ROOT = Path(__file__).parent.parent
PAGES = {"en": ROOT / "docs" / "benchmarks.md", "zh": ROOT / "docs" / "benchmarks.zh.md"}
SIZE, LARGER = Size(1_000, 50), Size(10_000, 500)

DISTRIBUTIONS = ("tree-sitter", "tree-sitter-python", "mkdocs", "mkdocs-material", "sphinx")
PARTS = ("extraction", "verification", "building", "fetching")


@click.command()
@click.option("--only", type=click.Choice(PARTS), help="Run one part and print its rows.")
@click.option("--rounds", type=click.IntRange(1), default=7, show_default=True)
@click.option("--write", is_flag=True, help="Put the table into docs/benchmarks.md and its twin.")
def main(only: str | None, rounds: int, write: bool) -> None:
    """Measure annotate beside other tools, each pair in turn, and print the table."""
    if only and write:
        raise click.UsageError("--write takes the whole table, and --only runs a part of it")
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        try:
            rows = measure(Path(folder), rounds, (only,) if only else PARTS)
        except AnnotateError as error:
            raise click.ClickException(f"{error.message}. {error.hint}") from error
    for language, page in PAGES.items():
        text = f"{conditions(rounds, language)}\n\n{table.render(rows, language)}"
        if language == "en":
            click.echo(text)
        if write:
            table.put_into(page, text)


def measure(workspace: Path, rounds: int, parts: Collection[str]) -> list[Row]:
    """Run parts of the benchmarks below an empty folder."""
    small = apart(packages.unpack, packages.SMALL, workspace)
    large = apart(packages.unpack, packages.LARGE, workspace)
    measures: dict[str, Callable[[Path], list[Row]]] = {
        "extraction": lambda _: extraction.measure(large, rounds),
        "verification": lambda folder: verification.measure(
            small, large, SIZE, LARGER, rounds, folder
        ),
        "building": lambda folder: building.measure(small, SIZE, rounds, folder),
        "fetching": lambda folder: [
            *fetching.measure(small, rounds, folder / "small"),
            *fetching.measure(large, rounds, folder / "large"),
        ],
    }
    rows = []
    for part in parts:
        click.echo(f"{part} …", err=True)
        rows += measures[part](workspace / part)
    return rows


def conditions(rounds: int, language: str) -> str:
    """When and on what the table was measured, as one sentence in ``en`` or ``zh``."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    cores = len(os.sched_getaffinity(0))
    programs = [f"{platform.python_implementation()} {platform.python_version()}"]
    programs += [f"{name} {version(name)}" for name in DISTRIBUTIONS]
    programs += [_first_line("git", "--version"), _first_line("ctags", "--version")]
    listed = ", ".join(programs)
    load = os.getloadavg()[2]
    if language == "zh":
        return (
            f"{day} 测于 {cores} 个核心，每组轮流运行 {rounds} 轮，"
            f"结束时 15 分钟平均负载 {load:.1f}：{listed}。"
        )
    return (
        f"Measured on {day} on {cores} cores, {rounds} rounds of each, "
        f"with a load average over 15 minutes of {load:.1f} at the end: {listed}."
    )


def _first_line(*command: str) -> str:
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    return output.partition("\n")[0].partition(",")[0]


if __name__ == "__main__":
    main()
