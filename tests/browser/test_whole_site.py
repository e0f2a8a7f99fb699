"""This repository's own site: its links, the size of its pages, the way through the atlas."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import REPOSITORY, QuietHandler

pytestmark = pytest.mark.browser

LARGEST_PAGE = 500_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; it fetches what it is about, as for anybody."""
    target = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "annotate.cli", "build", "--site-dir", str(target)],
        cwd=REPOSITORY,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return target


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class Links(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.requested: set[str] = set()
        self.anchors: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.anchors.append(values["id"] or "")
        for name in ("href", "src"):
            if values.get(name):
                self.addresses.add(values[name] or "")
                if tag in ("script", "img", "iframe", "source") or (
                    tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload")
                ):
                    self.requested.add(values[name] or "")


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, Links]:
    """Address of each page relative to the site → its links."""
    return {
        file.relative_to(folder).as_posix().removesuffix("index.html"): Links(file.read_text())
        for file in sorted(folder.rglob("*.html"))
        if file.name != "404.html"
    }


def test_no_link_and_no_anchor_is_dead(folder: Path, pages: dict[str, Links]) -> None:
    dead = set()
    checked = 0
    for page, links in pages.items():
        for written in links.addresses:
            target = urlsplit(urljoin(f"http://site/{page}", written))
            if target.netloc != "site" or target.scheme not in ("http", ""):
                continue
            checked += 1
            path = unquote(target.path).lstrip("/")
            anchor = unquote(target.fragment)
            if path in pages:
                # The player of a replay reads its own fragment.
                if anchor and anchor not in pages[path].anchors and "step=" not in anchor:
                    dead.add(f"{page}: {written}")
            elif not (folder / path).is_file():
                dead.add(f"{page}: {written}")
    assert checked > 5_000
    assert sorted(dead) == []


def test_every_anchor_is_there_once(pages: dict[str, Links]) -> None:
    for page, links in pages.items():
        own = [each for each in links.anchors if not each.startswith("__")]
        assert len(own) == len(set(own)), page


def test_nothing_is_requested_from_another_host(pages: dict[str, Links]) -> None:
    foreign = {
        written
        for links in pages.values()
        for written in links.requested
        if urlsplit(written).netloc
    }
    assert foreign == set()


def test_pages_stay_small(folder: Path) -> None:
    sizes = {file: file.stat().st_size for file in folder.rglob("*.html")}
    assert {file: size for file, size in sizes.items() if size > LARGEST_PAGE} == {}


def test_every_module_of_the_package_has_a_page_in_both_languages(pages: dict[str, Links]) -> None:
    modules = {page for page in pages if re.match(r"source/autograd/.", page)}
    assert len(modules) == 37
    assert {f"zh/{page}" for page in modules} <= pages.keys()


@pytest.mark.parametrize("prefix", ["", "zh/"])
def test_from_grad_to_the_node_and_back(address: str, browser: Browser, prefix: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}{prefix}source/autograd/differential_operators/#grad")
    facts = page.locator("#grad ~ dl.claim-facts").first
    page.locator("h2#grad").wait_for()
    facts.get_by_role("link", name="autograd/core.py::make_vjp", exact=True).click()
    page.wait_for_url("**/source/autograd/core/#make_vjp")
    # In its code, the name of the class that its graph is made of.
    page.locator("#make_vjp ~ figure").first.locator("pre a", has_text="VJPNode").first.click()
    page.wait_for_url("**#VJPNode")
    page.locator("h2#VJPNode ~ figure").first.locator("pre a", has_text="__init__").click()
    page.wait_for_url("**#VJPNode.__init__")
    caller = page.locator("h3[id='VJPNode.__init__'] ~ dl.claim-facts").first
    caller.get_by_role("link", name="autograd/tracer.py::primitive.f_wrapped").click()
    page.wait_for_url("**/source/autograd/tracer/#primitive.f_wrapped")
    for _ in range(4):
        page.go_back()
    page.wait_for_url("**/differential_operators/#grad")
    page.close()


@pytest.mark.parametrize(("prefix", "title"), [("", "13"), ("zh/", "13")])
def test_a_chapter_leads_to_the_source_and_back(
    address: str, browser: Browser, prefix: str, title: str
) -> None:
    page = browser.new_page()
    page.goto(f"{address}{prefix}chapters/13-custom-primitive/")
    subject = page.locator("code.claim-subject", has_text="autograd/core.py::defvjp_argnums")
    card = page.locator("figure.claim", has=subject).first
    card.locator("ul.claim-footer a").first.click()
    page.wait_for_url("**/source/autograd/core/#defvjp_argnums")
    back = page.locator("h2#defvjp_argnums ~ dl.claim-facts").first
    back.get_by_role("link", name=re.compile(title)).first.click()
    page.wait_for_url(re.compile(rf"/{prefix}chapters/13-custom-primitive/#claim-\d+$"))
    page.close()


@pytest.mark.parametrize("prefix", ["", "zh/"])
def test_search_finds_a_symbol(address: str, browser: Browser, prefix: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}{prefix}")
    page.locator("input.md-search__input").fill("VJPNode")
    result = page.locator(".md-search-result__link[href*='source/autograd/core']").first
    result.wait_for(timeout=20_000)
    page.close()
