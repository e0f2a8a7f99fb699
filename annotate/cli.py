"""The command line: argv → verb → exit code; the only module that writes to stdout."""

import contextlib
import fnmatch
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from annotate import terminal
from annotate.accept import accept as accept_symbols
from annotate.accept import unrecorded
from annotate.errors import AnnotateError, Exit
from annotate.project import Project, Report
from annotate.report import github, json, sarif, text
from annotate.upstream.index import Index, Place

if TYPE_CHECKING:
    from annotate.experiments import Mode
    from annotate.maps import Upstream

Verb = TypeVar("Verb", bound=Callable[..., Any])

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text.render,
    "json": json.render,
    "github": github.render,
    "sarif": sarif.render,
}


def main() -> None:
    """Run one verb and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A page or a file may have a name that the terminal's encoding cannot say.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except AnnotateError as error:
        _complain(error)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        click.echo("annotate: interrupted", err=True)
        code = 130
    except BrokenPipeError:
        # The reader of a pipe (head, less) went away; there is nobody left to tell.
        _give_up_on_output()
        code = Exit.FAILED
    except OSError as error:
        # A full disk, a folder that may not be read: nothing was judged, whatever it was.
        _complain(AnnotateError(f"{error.filename or 'output'}: {error.strerror or error}"))
        code = Exit.NOTHING_JUDGED
        _give_up_on_output()
    sys.exit(int(code or 0))


def _give_up_on_output() -> None:
    """Keep the interpreter from trying again, at its end, to write what could not be written."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _source_options(verb: Verb) -> Verb:
    """Where the bytes come from: the same two options on every verb that reads upstream."""
    verb = click.option(
        "--source",
        metavar="SOURCE",
        help="Read upstream from here only: store, git, release, or a folder.",
    )(verb)
    return click.option(
        "--exact", is_flag=True, help="Do not let a release stand in for the pinned commit."
    )(verb)


_upstream_option = click.option(
    "--upstream", default="", metavar="NAME", help="Which upstream, where several are pinned."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="annotate")
def cli() -> None:
    """Check articles about somebody else's source code against one pinned commit."""


@cli.command()
@_source_options
def fetch(source: str | None, exact: bool) -> Exit:
    """Bring the pinned trees into the store."""
    project = _open(source, exact, refresh=True)
    for index in project.indexes.values():
        tree = index.tree
        click.echo(f"{tree.pin.name}: {text.describe(tree)}, {len(tree.files)} files")
    return Exit.CLEAN


@cli.command()
@click.argument("pages", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format", "output", type=click.Choice(list(FORMATS)), default="text", show_default=True
)
@click.option("-v", "--verbose", is_flag=True, help="List the claims that hold as well.")
@_source_options
def verify(
    pages: tuple[Path, ...], output: str, verbose: bool, source: str | None, exact: bool
) -> Exit:
    """Judge every claim of PAGES (default: all pages of the project).

    Exit code: 0 clean, 1 a claim fails, 2 usage or configuration, 3 nothing could be judged.
    """
    # Exact or not, a stand-in is judged: the reader learns which claims it cannot show.
    report = _open(source, exact=False, refresh=exact).check(pages, exact=exact)
    if output == "text":
        click.echo(text.render(report, verbose=verbose), nl=False)
    else:
        click.echo(FORMATS[output](report), nl=False)
    return report.exit_code


@cli.command()
@click.argument("symbol")
@_upstream_option
@_source_options
def show(symbol: str, upstream: str, source: str | None, exact: bool) -> Exit:
    """Print the source of SYMBOL with its true line numbers."""
    index = _open(source, exact).index(upstream)
    place = index.named(symbol)
    click.echo(_heading(place, index))
    width = len(str(place.last_line))
    for number, line in enumerate(place.text.split("\n"), place.first_line):
        click.echo(text.plain(f"{number:>{width}}  {line}").rstrip())
    if place.doubt:
        raise AnnotateError(
            f"{place.id}: {place.doubt}",
            "What is shown may not be what Python sees.",
            exit_code=Exit.NOTHING_JUDGED,
        )
    return Exit.CLEAN


@cli.command()
@click.argument("pattern", default="*")
@_upstream_option
@_source_options
def symbols(pattern: str, upstream: str, source: str | None, exact: bool) -> Exit:
    """List the symbols whose id contains or matches PATTERN (shell wildcards)."""
    index = _open(source, exact).index(upstream)
    wanted = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    count = 0
    for path in index.python_paths():
        try:
            table = index.module(path)
        except AnnotateError as error:
            click.echo(text.plain(error.message), err=True)
            continue
        for symbol in table.symbols.values():
            name = f"{path}::{symbol.qualname}"
            if fnmatch.fnmatchcase(name, wanted):
                count += 1
                lines = f"{path}:{symbol.first_line}-{symbol.last_line}"
                click.echo(text.plain(f"{name}\t{symbol.kind}\t{lines}"))
    if count == 0:
        raise AnnotateError(f"no symbol of {index.tree.identity} matches “{pattern}”")
    return Exit.CLEAN


@cli.command()
@click.argument("symbol", required=False)
@click.option("--depth", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--graph",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Print the call graph of any folder of Python files instead, as JSON with dotted names.",
)
@click.option("--builtins", is_flag=True, help="With --graph: calls of builtins as well.")
@_upstream_option
@_source_options
def calls(
    symbol: str | None,
    depth: int,
    graph: Path | None,
    builtins: bool,
    upstream: str,
    source: str | None,
    exact: bool,
) -> Exit:
    """Print who calls SYMBOL and what it calls, with the evidence for each call."""
    # Only this verb needs the call graph.
    from annotate.report import calls as report

    if (symbol is None) == (graph is None):
        raise click.UsageError("name a SYMBOL, or a folder with --graph")
    if graph is not None:
        click.echo(report.render_graph(graph, builtins=builtins), nl=False)
        return Exit.CLEAN
    project = _open(source, exact)
    place = project.index(upstream).named(str(symbol))
    click.echo(
        report.render(place.id, project.calls(upstream), project.recordings, depth=depth), nl=False
    )
    return Exit.CLEAN


@cli.command()
@click.argument("symbols", nargs=-1, metavar="[SYMBOL]...")
@click.option("--new", is_flag=True, help="Also every symbol that pages name without a record.")
@_upstream_option
@_source_options
def accept(
    symbols: tuple[str, ...], new: bool, upstream: str, source: str | None, exact: bool
) -> Exit:
    """Record the text of each SYMBOL as it is now, once its prose has been read again."""
    project = _open(source, exact)
    wanted = list(symbols)
    if new:
        wanted += unrecorded(project, project.check(), upstream)
    if not wanted and not new:
        raise click.UsageError("name a SYMBOL, or say --new")
    for entry in accept_symbols(project, wanted, upstream):
        state = "recorded" if entry.changed else "unchanged"
        file = entry.file.relative_to(project.config.root).as_posix()
        click.echo(f"{entry.symbol}: {state} from {entry.recorded} in {file}")
    return Exit.CLEAN


@cli.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--check", is_flag=True, help="Compare with the recordings and write nothing.")
@click.option("--confirm", is_flag=True, help="Only add the tree to recordings that it confirms.")
@_upstream_option
@_source_options
def run(
    names: tuple[str, ...],
    check: bool,
    confirm: bool,
    upstream: str,
    source: str | None,
    exact: bool,
) -> Exit:
    """Run each experiment NAME (default: all) against the pinned tree, twice, and record it."""
    # Only this verb starts processes; the others need not wait for what that takes to import.
    from annotate import experiments

    if check and confirm:
        raise click.UsageError("--check and --confirm exclude each other")
    mode = experiments.Mode.RECORD
    if check or confirm:
        mode = experiments.Mode.CHECK if check else experiments.Mode.CONFIRM

    failed = _run_experiments(_open(source, exact), names, mode, upstream)
    return Exit.FAILED if failed else Exit.CLEAN


def _run_experiments(project: Project, names: tuple[str, ...], mode: "Mode", upstream: str) -> bool:
    """Run experiments and say how each went; returns whether one failed."""
    from annotate import experiments

    def tell(outcome: experiments.Outcome) -> None:
        click.echo(f"{outcome.name}: {'failed: ' if outcome.failed else ''}{outcome.message}")
        if outcome.details:
            click.echo("\n".join(f"    {text.plain(line)}" for line in outcome.details.split("\n")))

    outcomes = experiments.run(project, names, mode, upstream=upstream, tell=tell)
    return any(outcome.failed for outcome in outcomes)


def _version_options(verb: Verb) -> Verb:
    """Which upstream, for verbs that compare versions and need no project."""
    for option in (
        click.option(
            "--format",
            "output",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
        ),
        click.option(
            "--repository",
            default="",
            metavar="URL_OR_PATH",
            help="The upstream repository, instead of the configured one.",
        ),
        click.option(
            "--package",
            default="",
            metavar="NAME",
            help="The name its releases are published under.",
        ),
        _upstream_option,
    ):
        verb = option(verb)
    return verb


@cli.command(name="map")
@click.argument("source")
@click.option("--from", "old", required=True, metavar="A", help="The version SOURCE is named in.")
@click.option("--to", "new", required=True, metavar="B", help="The version to look in.")
@_version_options
def map_source(
    source: str, old: str, new: str, upstream: str, package: str, repository: str, output: str
) -> Exit:
    """Find where SOURCE (a symbol, or path#L10-L20) of version A is in version B.

    A and B, either one the later: a commit id, a tag, a branch, `latest`, release:VERSION, or a
    folder. Exit code: 0 it has a place, 1 it has none or several.
    """
    from annotate.report import map as report

    with _upstream(repository, package, upstream) as compared:
        move = compared.map(source, old, new)
    click.echo(report.render_json(move) if output == "json" else report.render_text(move), nl=False)
    return Exit.CLEAN if move.new is not None else Exit.FAILED


@cli.command()
@click.argument("symbol", required=False)
@click.option("--from", "start", default="", metavar="COMMIT", help="Default: the pinned commit.")
@_version_options
def log(
    symbol: str | None, start: str, upstream: str, package: str, repository: str, output: str
) -> Exit:
    """List the commits that changed SYMBOL, through renames and moves, newest first.

    Without SYMBOL, count those of every symbol that the pages name; the site shows the counts.
    """
    from annotate.report import log as report

    with _upstream(repository, package, upstream) as compared:
        if symbol is None:
            if output == "json":
                raise click.UsageError("--format json goes with a SYMBOL")
            for name in _open(None, exact=False).named_symbols():
                name, steps = compared.log(name, start)
                click.echo(report.render_count(name, steps), nl=False)
            return Exit.CLEAN
        name, steps = compared.log(symbol, start)
        render = report.render_json if output == "json" else report.render_text
        click.echo(render(name, steps), nl=False)
    return Exit.CLEAN


@cli.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@_version_options
def diff(old: str, new: str, upstream: str, package: str, repository: str, output: str) -> Exit:
    """List the symbols that version B adds to version A, removes, moves, renames or edits."""
    from annotate.report import diff as report

    with _upstream(repository, package, upstream) as compared:
        found = compared.difference(old, new)
    render = report.render_json if output == "json" else report.render_text
    click.echo(render(found), nl=False)
    return Exit.CLEAN


@contextlib.contextmanager
def _upstream(repository: str, package: str, upstream: str) -> Iterator["Upstream"]:
    # Comparing versions loads what the other verbs do without.
    from annotate.maps import Upstream

    compared = Upstream(
        Path.cwd(),
        repository=repository,
        package=package,
        upstream=upstream,
        say=lambda line: click.echo(line, err=True),
        progress=terminal.progress(),
    )
    with compared.versions:
        yield compared


@cli.command()
@click.argument("version", metavar="COMMIT")
@click.option("--dry-run", is_flag=True, help="Say what would be done and write nothing.")
@click.option("--patch", is_flag=True, help="Print the change as a unified diff; write nothing.")
@click.option("--run", "rerun", is_flag=True, help="Run the experiments at COMMIT as well.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
)
@_upstream_option
@_source_options
def regenerate(
    version: str,
    dry_run: bool,
    patch: bool,
    rerun: bool,
    output: str,
    upstream: str,
    source: str | None,
    exact: bool,
) -> Exit:
    """Carry the project to COMMIT: move what merely moved, list what must be read again.

    COMMIT is a full id, a tag, a branch, `latest`, or release:VERSION; --source may name a folder
    that holds its files. Exit code: 0 the project verifies there, 1 some claims need a person.
    """
    # Only this verb compares trees and rewrites pages.
    from annotate import experiments, journal
    from annotate.regenerate import carry_over
    from annotate.report import regeneration

    formats = {
        "text": regeneration.render_text,
        "json": regeneration.render_json,
        "markdown": regeneration.render_markdown,
    }
    # --source says where the files of COMMIT come from; what is pinned now was fetched before.
    project = _open(None, exact)
    plan = carry_over(
        project,
        version,
        upstream,
        source=source,
        say=lambda line: click.echo(line, err=True),
        progress=terminal.progress(),
    )
    if patch:
        click.echo(plan.patch(), nl=False)
        return Exit.CLEAN
    click.echo(formats[output](plan), nl=False)
    failed = plan.report.failed
    if not dry_run:
        journal.apply(project.config.root, plan.changes)
        if rerun:
            failed |= _run_experiments(_open(None, exact), (), experiments.Mode.CHECK, upstream)
    return Exit.FAILED if failed else Exit.CLEAN


@cli.command()
@click.option("--site-dir", type=click.Path(path_type=Path), help="Where to write the site.")
@_source_options
def build(site_dir: Path | None, source: str | None, exact: bool) -> Exit:
    """Fetch, verify and build the site; a failing claim stops it before anything is written."""
    project = _open(source, exact, refresh=True)
    report = project.check()
    click.echo(text.render(report), nl=False)
    if report.exit_code is not Exit.CLEAN:
        click.echo("annotate: the site was not built", err=True)
        return report.exit_code
    options = ["--site-dir", str(site_dir.resolve())] if site_dir else []
    _become_mkdocs(project, ["build", "--strict", "--quiet", *options], source, exact)
    return Exit.CLEAN


@cli.command()
@click.option("--address", default="127.0.0.1:8000", show_default=True, metavar="HOST:PORT")
@_source_options
def serve(address: str, source: str | None, exact: bool) -> Exit:
    """Build the site, serve it, and build it again whenever a page changes."""
    project = _open(source, exact)
    _become_mkdocs(project, ["serve", "--no-strict", "--dev-addr", address], source, exact)
    return Exit.CLEAN


def _become_mkdocs(project: Project, command: list[str], source: str | None, exact: bool) -> None:
    """Replace this process by MkDocs, which finds annotate again as its plugin."""
    configuration = project.config.root / "mkdocs.yml"
    if not configuration.is_file():
        raise AnnotateError(
            f"there is no {configuration}", "A site needs one, with the annotate plugin in it."
        )
    text_of_it = configuration.read_text("utf-8", errors="replace")
    if "annotate" not in text_of_it and "INHERIT" not in text_of_it:
        raise AnnotateError(
            f"{configuration} does not use the annotate plugin",
            "Add “- annotate” below plugins: without it, claims are shown as they are written.",
        )
    sys.stdout.flush()
    environment = {
        "SOURCE_DATE_EPOCH": "0",
        "NO_MKDOCS_2_WARNING": "1",
        **os.environ,
        "ANNOTATE_SOURCE": source or "",
        "ANNOTATE_EXACT": "true" if exact else "false",
    }
    # The plugin reads the store that was just filled; a folder is named from the current directory.
    argv = [sys.executable, "-m", "mkdocs", *command, "--config-file", str(configuration)]
    os.execve(sys.executable, argv, environment)  # noqa: S606 (an argument list, no shell)


def _open(source: str | None, exact: bool, *, refresh: bool = False) -> Project:
    return Project.open(
        Path.cwd(),
        source=source,
        exact=exact,
        refresh=refresh,
        say=lambda line: click.echo(line, err=True),
        progress=terminal.progress(),
    )


def _heading(place: Place, index: Index) -> str:
    return f"{place.id}  {place.span}  ({index.tree.identity})"


def _complain(error: AnnotateError) -> None:
    for line in f"annotate: {error.message}".split("\n"):
        click.echo(text.plain(line), err=True)
    if error.hint:
        click.echo(text.plain(f"  {error.hint}"), err=True)


if __name__ == "__main__":
    main()
