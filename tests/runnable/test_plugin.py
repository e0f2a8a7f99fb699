"""What the MkDocs plugin makes of the experiments' files."""

import shutil
from pathlib import Path

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

import annotate
from annotate import experiments
from annotate.project import Project
from annotate.runnable.runtime import from_cdn

RUNNING = Path(__file__).parents[1] / "browser" / "running"
SOURCE = f"folder:{RUNNING / 'upstream'}"
I18N = """\
  - i18n:
      docs_structure: suffix
      languages:
        - {locale: en, name: English, default: true, build: true}
        - {locale: zh, name: 中文, build: true}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("orchard") / "project"
    shutil.copytree(RUNNING / "project", root)
    helper = root / "docs" / "experiments" / "annotate"
    helper.mkdir()
    shutil.copy(Path(annotate.__file__).with_name("experiment.py"), helper)
    (root / "docs" / "bare.md").write_text("# Nothing to run\n")
    project = Project.open(root, source=SOURCE)
    outcomes = experiments.run(project, [], experiments.Mode.RECORD, tell=lambda _: None)
    assert not any(outcome.failed for outcome in outcomes), outcomes
    return root


def build(recorded: Path, tmp_path: Path, options: str = "", more: str = "") -> Path:
    root = tmp_path / "project"
    shutil.copytree(recorded, root)
    (root / "mkdocs.yml").write_text(
        "site_name: Orchard\nstrict: true\ntheme: {name: material, font: false}\n"
        f"plugins:\n  - annotate: {{source: '{SOURCE}'{options}}}\n{I18N}{more}"
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NO_MKDOCS_2_WARNING", "1")
        mkdocs_build(load_config(str(root / "mkdocs.yml"), site_dir=str(tmp_path / "site")))
    return tmp_path / "site"


def test_each_language_finds_script_archive_and_run(recorded: Path, tmp_path: Path) -> None:
    site = build(recorded, tmp_path)
    for page, up in (("index.html", ""), ("zh/index.html", "../")):
        html = (site / page).read_text("utf-8")
        for address in (
            f'href="{up}experiments/harvest.py"',
            f'href="{up}experiments/orchard-experiments.zip"',
            f'href="{up}assets/run/run.css"',
            f'src="{up}assets/run/run.js" defer data-host="cdn.jsdelivr.net"',
            '<div class="claim-run" hidden data-experiment="harvest"',
        ):
            assert address in html, (page, address)
    assert (site / "experiments/orchard-experiments.zip").is_file()
    assert (site / "assets/run/experiments.json").is_file()
    assert not (site / "zh/assets/run").exists()
    assert not (site / "assets/run/pyodide").exists()


def test_no_script_comes_to_a_page_without_experiments(recorded: Path, tmp_path: Path) -> None:
    site = build(recorded, tmp_path)
    assert "assets/run/" not in (site / "bare" / "index.html").read_text("utf-8")


def test_scripts_that_are_kept_out_of_the_site_can_be_downloaded(
    recorded: Path, tmp_path: Path
) -> None:
    site = build(recorded, tmp_path, more="exclude_docs: /experiments/\n")
    assert {path.name for path in (site / "experiments").iterdir()} == {
        "harvest.py",
        "orchard-experiments.zip",
    }


def test_none_offers_no_run(recorded: Path, tmp_path: Path) -> None:
    site = build(recorded, tmp_path, ", pyodide: none")
    assert "assets/run/" not in (site / "index.html").read_text("utf-8")
    assert not (site / "assets" / "run").exists()
    assert (site / "experiments/orchard-experiments.zip").is_file()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (", pyodide: folder", "no folder is named"),
        (", pyodide: folder, pyodide_folder: docs", "has no pyodide-lock.json"),
    ],
)
def test_a_folder_that_will_not_do_stops_the_build(
    recorded: Path,
    tmp_path: Path,
    options: str,
    told: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(Abort):
        build(recorded, tmp_path, options)
    assert told in caplog.text
    assert not (tmp_path / "site").exists()


def test_a_cdn_is_the_default_and_named(recorded: Path, tmp_path: Path) -> None:
    html = (build(recorded, tmp_path) / "index.html").read_text("utf-8")
    assert f'data-host="{from_cdn().host}" data-megabytes="17"' in html
