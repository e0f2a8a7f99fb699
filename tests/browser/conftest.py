"""A site in the look of this repository, about a small upstream of its own, in Chromium."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REPOSITORY = Path(__file__).parents[2]
HERE = Path(__file__).parent


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(HERE / "project", root, dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "docs" / "stylesheets", root / "docs" / "stylesheets")
    (root / "mkdocs.yml").write_text(
        f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\n"
        f"theme: {{custom_dir: {REPOSITORY / 'docs' / 'overrides'}}}\n"
        "nav: [{Overview: index.md}, {Verification: verification.md}]\n"
    )
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANNOTATE_CACHE", str(root / "store"))
        environment.setenv("ANNOTATE_SOURCE", f"folder:{HERE / 'upstream'}")
        environment.setenv("ANNOTATE_EXACT", "false")
        environment.setenv("NO_MKDOCS_2_WARNING", "1")
        build(load_config(str(root / "mkdocs.yml"), site_dir=str(folder)))
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture
def open_page(site: str, browser: Browser) -> Iterator[object]:
    """Opens a page of the site: path, width, and what Playwright's ``new_context`` takes."""
    contexts: list[BrowserContext] = []

    def open_page(path: str = "/", *, width: int = 1280, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.goto(site + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
