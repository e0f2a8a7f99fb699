"""Hand-written call tables: each symbol and each call they name is judged."""

from pathlib import Path

from annotate.project import Project, Report
from annotate.verdict import Verdict
from tests.projects import open_project

FILES = {
    "kettle/__init__.py": b"from .heat import boil as boil_water\n",
    "kettle/heat.py": b"def boil(it):\n    warm(it)\n\n\ndef warm(it):\n    return it\n",
    "kettle/cli.py": b"from kettle.heat import boil\n\n\ndef main(unused):\n    boil(1)\n",
    "other/cli.py": b"def start():\n    pass\n",
}


def check(root: Path, page: str) -> Report:
    (root / "docs").mkdir()
    (root / "docs" / "page.md").write_text(page)
    project: Project = open_project(root, {"kettle": FILES}, root / "store")
    return project.check()


def verdicts(report: Report) -> dict[str, Verdict]:
    return {each.subject: each.verdict for each in report.judgements}


HEAD = "| Symbol | Called by | Calls | Why |\n|---|---|---|---|\n"


def test_calls_that_are_there(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| kettle.heat :: boil | cli.main | `warm()` | heats |\n")
    assert verdicts(report) == {
        "kettle.heat::boil": Verdict.EXACT,
        "kettle.heat::boil is called by cli.main": Verdict.EXACT,
        "kettle.heat::boil calls warm()": Verdict.EXACT,
    }
    assert report.unclaimed == ()


def test_a_call_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| heat.py :: warm | main | boil | |\n")
    found = {each.subject: each for each in report.judgements}
    wrong = found["kettle/heat.py::warm is called by main"]
    assert wrong.verdict is Verdict.EDITED
    assert "kettle/heat.py::boil" in wrong.message
    assert found["kettle/heat.py::warm calls boil"].verdict is Verdict.EDITED


def test_importing_is_not_calling(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| kettle :: boil_water | | heat.boil | |\n")
    found = {each.subject: each for each in report.judgements}
    wrong = found["kettle::boil_water calls heat.boil"]
    assert wrong.verdict is Verdict.EDITED
    assert "by import" in wrong.message


def test_a_symbol_that_is_not_there(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| heat.py :: simmer | main | | |\n")
    assert verdicts(report) == {"kettle/heat.py::simmer": Verdict.MISSING}
    assert len(report.unclaimed) == 1


def test_a_file_name_that_several_files_have(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| cli.py :: gone | | | |\n")
    assert set(verdicts(report).values()) == {Verdict.AMBIGUOUS}


def test_only_one_of_several_files_defines_it(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| cli.py :: start | | | |\n")
    assert verdicts(report) == {"other/cli.py::start": Verdict.EXACT}


def test_prose_is_left_alone_and_counted(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| heat.py :: boil | whoever is thirsty | warm | |\n")
    assert len(report.unclaimed) == 1
    assert Verdict.EDITED not in verdicts(report).values()


def test_what_is_written_as_code_has_to_be_there(tmp_path: Path) -> None:
    report = check(tmp_path, HEAD + "| heat.py :: boil | `simmer` | chill() | |\n")
    found = {each.subject: each.verdict for each in report.judgements}
    assert found["kettle/heat.py::boil is called by simmer"] is Verdict.MISSING
    assert found["kettle/heat.py::boil calls chill()"] is Verdict.MISSING
    assert report.unclaimed == ()
