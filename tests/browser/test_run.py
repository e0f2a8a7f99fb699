"""*Run* in Chromium, with a Pyodide that is put together from what package registries have."""

import functools
import hashlib
import http.server
import json
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

import annotate
from annotate import experiments
from annotate.project import Project
from annotate.recordings import layout
from annotate.runnable import runtime
from tests.browser.conftest import REPOSITORY, QuietHandler
from tests.browser.test_site import CONTRAST

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent / "running"
WHEELS = REPOSITORY.parent / "shared" / "pyodide"
NPM_PACKAGE = "pyodide@0.27.7"
# Nothing from elsewhere, and no text is run as code; Material itself has scripts in its pages.
STRICT = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)
A_WHILE = 120_000
"""Milliseconds; a first result takes four seconds on an idle machine."""
OWN = layout.experiments(REPOSITORY)

OpenPage = Callable[..., Page]


class StrictHandler(QuietHandler):
    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", STRICT)
        super().end_headers()


@pytest.fixture(scope="session")
def pyodide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Pyodide and its numpy."""
    if not WHEELS.is_dir():
        pytest.skip(f"the wheel of numpy for Pyodide is not at hand: there is no {WHEELS}")
    if shutil.which("npm") is None:
        pytest.skip("there is no npm to bring Pyodide")
    folder = tmp_path_factory.mktemp("pyodide")
    command = ["npm", "pack", "--silent", NPM_PACKAGE]
    packed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if packed.returncode != 0:
        pytest.skip(f"npm could not bring {NPM_PACKAGE}: {packed.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    package = folder / "package"
    lock = json.loads((package / runtime.LOCK).read_bytes())
    numpy = lock["packages"]["numpy"]
    wheel = WHEELS / numpy["file_name"]
    assert hashlib.sha256(wheel.read_bytes()).hexdigest() == numpy["sha256"]
    shutil.copy(wheel, package)
    return package


I18N = """\
  - i18n:
      docs_structure: suffix
      languages:
        - {locale: en, name: English, default: true, build: true}
        - {locale: zh, name: 中文, build: true}
"""


def built(root: Path, source: str, options: str, more_plugins: str = I18N) -> Path:
    """The site of a project that has recordings."""
    shutil.copytree(REPOSITORY / "docs" / "stylesheets", root / "docs" / "stylesheets")
    (root / "mkdocs.yml").write_text(
        f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\n"
        "strict: false\n"
        f"theme: {{custom_dir: {REPOSITORY / 'docs' / 'overrides'}}}\n"
        "nav: [{Overview: index.md}]\n"
        "plugins:\n"
        f"  - annotate: {{source: '{source}', {options}}}\n"
        f"  - search\n{more_plugins}"
    )
    folder = root / "site"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(root / "mkdocs.yml"), site_dir=str(folder)))
    return folder


@contextmanager
def served(folder: Path, kind: type[QuietHandler] = StrictHandler) -> Iterator[str]:
    handler = functools.partial(kind, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project, its one experiment recorded here."""
    root = tmp_path_factory.mktemp("orchard") / "project"
    shutil.copytree(HERE / "project", root)
    helper = root / "docs" / "experiments" / "annotate"
    helper.mkdir()
    shutil.copy(Path(annotate.__file__).with_name("experiment.py"), helper)
    project = Project.open(root, source=f"folder:{HERE / 'upstream'}")
    outcomes = experiments.run(project, [], experiments.Mode.RECORD, tell=lambda _: None)
    assert [outcome.message for outcome in outcomes if outcome.failed] == []
    return root


@pytest.fixture(scope="session")
def site_folder(orchard: Path, pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("folder") / "project"
    shutil.copytree(orchard, root)
    options = f"pyodide: folder, pyodide_folder: '{pyodide}'"
    return built(root, f"folder:{HERE / 'upstream'}", options)


@pytest.fixture(scope="session")
def run_site(site_folder: Path) -> Iterator[str]:
    with served(site_folder) as address:
        yield address


@pytest.fixture
def open_run(run_site: str, browser: Browser) -> Iterator[OpenPage]:
    """Opens a page with something to run: path, width, what Playwright's ``new_context`` takes."""
    contexts: list[BrowserContext] = []

    def open_run(
        path: str = "/", *, width: int = 1280, site: str = run_site, **options: object
    ) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.goto(site + path)
        return page

    yield open_run
    for context in contexts:
        context.close()


def place(page: Page) -> Locator:
    return page.locator(".claim-run")


def button(page: Page, name: str) -> Locator:
    return place(page).get_by_role("button", name=name, exact=True)


def status(page: Page) -> Locator:
    return place(page).get_by_role("status")


def printed(page: Page) -> Locator:
    return place(page).locator("pre > code")


def code(page: Page) -> Locator:
    return place(page).get_by_role("textbox")


def write(page: Page, text: str) -> None:
    """Opens the editor and puts a script into it."""
    button(page, "Edit").click()
    code(page).fill(text)


def test_nothing_is_asked_before_run_and_then_nothing_of_another_host(
    open_run: OpenPage, run_site: str
) -> None:
    page = open_run("/404.html")
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(run_site, wait_until="networkidle")
    before = [url for url in requested if "/assets/run/" in url or "/experiments/" in url]
    assert [url.rpartition("/")[2] for url in before] == ["run.css", "run.js"]
    button(page, "Run").click()
    expect(status(page)).to_contain_text("The output is the recorded one.", timeout=A_WHILE)
    assert any(url.endswith("/pyodide.asm.wasm") for url in requested)
    assert [url for url in requested if not url.startswith((run_site, "data:", "blob:"))] == []


def test_the_pinned_files_are_what_runs(open_run: OpenPage) -> None:
    page = open_run()
    button(page, "Run").click()
    expect(printed(page)).to_contain_text("keeper: Pomona", timeout=A_WHILE)
    expect(printed(page)).to_contain_text("says /experiments/orchard-experiments/notes/keeper.py")
    expect(printed(page).locator(".stderr")).to_contain_text("ripe")


def test_edited_by_keyboard_alone_and_compared(open_run: OpenPage) -> None:
    page = open_run()
    button(page, "Run").focus()
    for name in ("Stop", "Edit"):
        page.keyboard.press("Tab")
        expect(button(page, name)).to_be_focused()
    page.keyboard.press("Enter")
    expect(code(page)).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("print('one more')\n")
    page.keyboard.press("Control+Enter")
    expect(status(page)).to_contain_text(
        "With your changes, line 4 is not the recorded one.", timeout=A_WHILE
    )
    expect(status(page)).to_contain_text("Recorded: no such line")
    expect(status(page)).to_contain_text("Here: one more")
    expect(code(page)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(button(page, "Reset")).to_be_focused()
    page.keyboard.press("Enter")
    assert "one more" not in code(page).input_value()
    expect(printed(page)).to_be_hidden()


def test_a_runaway_loop_is_stopped_and_the_next_run_works(open_run: OpenPage) -> None:
    page = open_run()
    write(page, "print('round and round', flush=True)\nwhile True:\n    pass\n")
    button(page, "Run").click()
    expect(printed(page)).to_contain_text("round and round", timeout=A_WHILE)
    expect(button(page, "Run")).to_have_attribute("aria-disabled", "true")
    button(page, "Stop").click()
    expect(status(page)).to_contain_text("Stopped.")
    expect(printed(page)).to_contain_text("round and round")
    button(page, "Reset").click()
    button(page, "Run").click()
    expect(status(page)).to_contain_text("The output is the recorded one.", timeout=A_WHILE)


def test_each_run_is_a_fresh_interpreter(open_run: OpenPage) -> None:
    page = open_run()
    write(page, "import orchard\nprint(hasattr(orchard, 'seen'))\norchard.seen = True\n")
    for _ in range(2):
        button(page, "Run").click()
        expect(status(page)).to_contain_text("Recorded", timeout=A_WHILE)
        expect(printed(page)).to_have_text("False")


def test_errors_are_shown_as_by_the_interpreter(open_run: OpenPage) -> None:
    page = open_run()
    write(page, "import sys\n\ndef fail():\n    raise ValueError('<b>unripe</b>')\n\nfail()\n")
    button(page, "Run").click()
    expect(status(page)).to_contain_text("It ended with exit status 1.", timeout=A_WHILE)
    shown = printed(page).inner_text().rstrip().split("\n")
    assert shown[0] == "Traceback (most recent call last):"
    assert shown[1].endswith('harvest.py", line 6, in <module>')
    assert shown[-1] == "ValueError: <b>unripe</b>"
    code(page).fill("print('a'\n")
    button(page, "Run").click()
    expect(printed(page)).to_contain_text("SyntaxError", timeout=A_WHILE)
    code(page).fill("import sys\nsys.exit('no more')\n")
    button(page, "Run").click()
    expect(printed(page)).to_have_text("no more", timeout=A_WHILE)
    expect(status(page)).to_contain_text("It ended with exit status 1.")


def test_a_flood_is_stopped(open_run: OpenPage) -> None:
    page = open_run()
    write(page, "while True:\n    print('drip' * 20)\n")
    button(page, "Run").click()
    expect(status(page)).to_contain_text("it printed more than is shown", timeout=A_WHILE)
    assert len(printed(page).inner_text()) < 500_000


@pytest.mark.parametrize("missing", ["pyodide/*.wasm", "pyodide/*.whl", "experiments.json"])
def test_what_is_missing_is_named_and_the_recording_stays(open_run: OpenPage, missing: str) -> None:
    page = open_run()
    page.route(f"**/assets/run/{missing}", lambda route: route.fulfill(status=404))
    button(page, "Run").click()
    expect(status(page)).to_contain_text("could not be loaded from 127.0.0.1", timeout=A_WHILE)
    expect(page.locator(".claim pre")).to_contain_text("apples: 4.0 kg")
    expect(button(page, "Run")).to_have_attribute("aria-disabled", "false")
    page.unroute(f"**/assets/run/{missing}")
    button(page, "Run").click()
    expect(status(page)).to_contain_text("The output is the recorded one.", timeout=A_WHILE)


def test_offline_it_says_so(open_run: OpenPage) -> None:
    page = open_run()
    page.context.set_offline(True)
    button(page, "Run").click()
    expect(status(page)).to_contain_text("Your browser is offline")
    expect(page.locator(".claim pre")).to_contain_text("apples: 4.0 kg")


def test_a_page_opened_as_a_file_says_that_it_needs_a_server(
    browser: Browser, site_folder: Path
) -> None:
    page = browser.new_page()
    page.goto((site_folder / "index.html").as_uri())
    button(page, "Run").click()
    expect(status(page)).to_contain_text("python -m http.server")
    page.close()


def test_without_javascript_there_is_no_button(open_run: OpenPage) -> None:
    page = open_run(java_script_enabled=False)
    expect(place(page)).to_be_hidden()
    expect(page.locator(".claim pre")).to_contain_text("apples: 4.0 kg")


def test_speaks_the_language_of_the_page(open_run: OpenPage) -> None:
    page = open_run("/zh/")
    expect(button(page, "运行")).to_be_visible()
    expect(status(page)).to_contain_text("按下“运行”时才从本站加载 Python")


def test_a_reader_is_told_what_is_loaded_before_it_is(open_run: OpenPage) -> None:
    page = open_run()
    expect(status(page)).to_contain_text("Python (17 MB) is loaded from this site")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_of_it_stands_out_from_its_ground(
    browser: Browser, site_folder: Path, scheme: str
) -> None:
    # Without the policy of the other tests, which keeps out what the test evaluates.
    with served(site_folder, QuietHandler) as address:
        page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 900})
        page.goto(address)
        write(page, "import sys\nprint(1)\nprint('a' * 200, file=sys.stderr)\n")
        button(page, "Run").click()
        expect(status(page)).to_contain_text("Recorded", timeout=A_WHILE)
        assert place(page).evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.close()


@pytest.fixture(scope="session")
def cdn_site(orchard: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("cdn") / "project"
    shutil.copytree(orchard, root)
    folder = built(root, f"folder:{HERE / 'upstream'}", "pyodide: cdn")
    assert not (folder / "assets" / "run" / "pyodide").exists()
    with served(folder, QuietHandler) as address:
        yield address


@pytest.mark.parametrize("tampered", ["", *runtime.FILES, "numpy"])
def test_from_a_cdn_every_file_is_checked(
    open_run: OpenPage, cdn_site: str, pyodide: Path, tampered: str
) -> None:
    page = open_run(site=cdn_site)
    asked: list[str] = []

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        asked.append(name)
        content = (pyodide / name).read_bytes()
        if tampered and name.startswith(tampered):
            content += b"\n"
        types = {"js": "text/javascript", "wasm": "application/wasm"}
        route.fulfill(
            body=content,
            content_type=types.get(name.rpartition(".")[2], "application/octet-stream"),
            headers={"Access-Control-Allow-Origin": "*"},
        )

    page.context.route("https://cdn.jsdelivr.net/**", answer)
    expect(status(page)).to_contain_text("Python (17 MB) is loaded from cdn.jsdelivr.net")
    assert asked == []
    button(page, "Run").click()
    if tampered:
        expect(status(page)).to_contain_text(
            "could not be loaded from cdn.jsdelivr.net", timeout=A_WHILE
        )
    else:
        expect(status(page)).to_contain_text("The output is the recorded one.", timeout=A_WHILE)
        assert {*runtime.FILES} < set(asked)


@pytest.fixture(scope="session")
def own_site(pyodide: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """All experiments of this repository on one page, with their recordings as they are kept."""
    root = tmp_path_factory.mktemp("own") / "project"
    shutil.copytree(REPOSITORY / "docs" / "experiments", root / "docs" / "experiments")
    shutil.copy(REPOSITORY / "pyproject.toml", root)
    fences = [f'```{{.experiment run="{name}" show="output"}}\n```\n' for name in OWN]
    (root / "docs" / "index.md").write_text("# All\n\n" + "\n".join(fences))
    options = f"pyodide: folder, pyodide_folder: '{pyodide}'"
    with served(built(root, "", options, more_plugins="")) as address:
        yield address


@pytest.mark.parametrize("name", OWN)
def test_the_experiments_of_this_repository_print_what_was_recorded(
    open_run: OpenPage, own_site: str, name: str
) -> None:
    page = open_run(site=own_site)
    one = page.get_by_role("group", name=f"Run {name} in your browser")
    one.get_by_role("button", name="Run", exact=True).click()
    expect(one.get_by_role("status")).to_contain_text(
        "The output is the recorded one.", timeout=A_WHILE
    )


def test_one_runs_at_a_time(open_run: OpenPage, own_site: str) -> None:
    page = open_run(site=own_site)
    first, second = place(page).first, place(page).nth(1)
    first.get_by_role("button", name="Run", exact=True).click()
    expect(first.get_by_role("status")).to_contain_text("Loading")
    second.get_by_role("button", name="Run", exact=True).click()
    expect(first.get_by_role("status")).to_contain_text("Stopped.")
    expect(second.get_by_role("status")).to_contain_text(
        "The output is the recorded one.", timeout=A_WHILE
    )
