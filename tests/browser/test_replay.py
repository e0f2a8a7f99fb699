"""Pictures of recordings and the replay in Chromium: by mouse, by keyboard, without a script."""

import functools
import http.server
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import annotate
from annotate import experiments
from annotate.project import Project
from tests.browser.conftest import REPOSITORY, QuietHandler
from tests.browser.test_site import CONTRAST

pytestmark = pytest.mark.browser

HERE = Path(__file__).parent / "replaying"
UPSTREAM = Path(__file__).parents[1] / "recordings" / "upstream"

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def replay_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site about the small upstream of the recordings' tests."""
    root = tmp_path_factory.mktemp("replaying")
    shutil.copytree(HERE, root, dirs_exist_ok=True)
    shutil.copytree(REPOSITORY / "docs" / "stylesheets", root / "docs" / "stylesheets")
    (root / "mkdocs.yml").write_text(
        f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\n"
        f"theme: {{custom_dir: {REPOSITORY / 'docs' / 'overrides'}}}\n"
        "nav: [{Overview: index.md}, {Verification: verification.md}]\n"
        # MkDocs takes note of anchors before underscores in them are what they will be.
        "validation: {links: {anchors: ignore}}\n"
    )
    folder = tmp_path_factory.mktemp("site")
    source = f"folder:{UPSTREAM}"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ANNOTATE_CACHE", str(root / "store"))
        environment.setenv("ANNOTATE_SOURCE", source)
        environment.setenv("ANNOTATE_EXACT", "false")
        environment.setenv("NO_MKDOCS_2_WARNING", "1")
        project = Project.open(root, source=source)
        outcomes = experiments.run(project, [], experiments.Mode.RECORD, tell=lambda _: None)
        assert not [outcome for outcome in outcomes if outcome.failed]
        build(load_config(str(root / "mkdocs.yml"), site_dir=str(folder)))
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def open_page(replay_site: str, browser: Browser) -> Iterator[OpenPage]:
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_page(path: str = "/", *, width: int = 1280, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(replay_site + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def player(page: Page, number: int = 0) -> Locator:
    return page.locator(".replay-player").nth(number)


def lit(player: Locator) -> str:
    """The line that runs, as it reads."""
    return player.locator(".replay-source [aria-current]").inner_text().strip()


def position(player: Locator) -> tuple[int, int]:
    at, of = player.locator("output").inner_text().split(" / ")
    return int(at), int(of)


def stack(player: Locator) -> list[str]:
    return player.locator(".replay-stack button").all_inner_texts()


def test_it_steps_forward_and_back_by_click(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    assert position(replay)[0] == 1
    assert stack(replay) == ["the script"]
    forward, back = replay.get_by_label("One step on"), replay.get_by_label("One step back")
    expect(back).to_be_disabled()
    seen = []
    for _ in range(4):
        forward.click()
        seen.append((lit(replay), stack(replay)[0]))
    assert seen[0] == ("def stage(x):", "stage")
    assert seen[1][0] == "return lambda g: g * checked(x)"
    back.click()
    back.click()
    assert (lit(replay), stack(replay)[0]) == seen[1]


def test_it_goes_everywhere_by_keyboard(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    replay.get_by_label("One step on").focus()
    page.keyboard.press("End")
    at, last = position(replay)
    assert at == last > 10
    expect(replay.get_by_label("One step on")).to_be_disabled()
    page.keyboard.press("Home")
    assert position(replay)[0] == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert position(replay)[0] == 3
    page.keyboard.press("ArrowLeft")
    assert position(replay)[0] == 2
    page.keyboard.press("PageDown")
    assert position(replay)[0] == 12
    page.keyboard.press("PageUp")
    assert position(replay)[0] == 2


def test_tab_reaches_every_control_and_leaves_the_player(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    replay.get_by_label("One step on").focus()
    names = []
    for _ in range(20):
        page.keyboard.press("Tab")
        names.append(
            page.evaluate(
                """() => document.activeElement.closest('.replay-player') &&
                (document.activeElement.getAttribute('aria-label')
                 || document.activeElement.textContent)"""
            )
        )
    assert "Step" in names
    assert "Jump to" in names
    assert "the script" in names
    assert None in names


def test_over_passes_the_calls_made_on_a_line(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    replay.get_by_label("One step on").focus()
    while "depth" not in stack(replay)[0] or len(stack(replay)) < 3:
        page.keyboard.press("ArrowRight")
    deep = len(stack(replay))
    page.keyboard.press("ArrowLeft")
    assert len(stack(replay)) < deep
    before = position(replay)[0]
    page.keyboard.press("ArrowDown")
    assert len(stack(replay)) < deep
    assert position(replay)[0] > before + 2
    after, height = position(replay)[0], len(stack(replay))
    page.keyboard.press("ArrowUp")
    assert position(replay)[0] < after
    assert len(stack(replay)) <= height


def test_states_and_graphs_follow(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    expect(replay.get_by_text("Nothing has been noted yet.")).to_be_visible()
    replay.get_by_label("Jump to").select_option(label="on the way")
    expect(replay.locator(".replay-values")).to_have_text(re.compile(r"number\s*2"))
    expect(replay.locator(".replay-values .changed")).to_have_count(1)
    expect(replay.locator(".replay-graphs svg:visible")).to_have_count(0)
    replay.get_by_label("Jump to").focus()
    replay.get_by_label("To the end").click()
    graphs = replay.locator(".replay-graphs svg:visible")
    expect(graphs).to_have_count(1)
    expect(graphs).to_contain_text("g = 1.0")
    replay.get_by_label("Jump to").select_option(index=4)
    expect(graphs).to_contain_text("g = not yet")


def test_a_frame_of_the_stack_leads_to_where_it_was_entered(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    replay.get_by_label("One step on").focus()
    while len(stack(replay)) < 3:
        page.keyboard.press("ArrowRight")
    entered = position(replay)[0]
    page.keyboard.press("ArrowRight")
    replay.locator(".replay-stack button").first.click()
    assert position(replay)[0] == entered


def test_the_address_names_the_step(open_page: OpenPage, replay_site: str) -> None:
    page = open_page("/#step=5")
    replay = player(page)
    assert position(replay)[0] == 5
    expect(page.locator("figure", has=page.locator(".replay")).first).to_be_in_viewport()
    replay.get_by_label("One step on").click()
    expect(page).to_have_url(re.compile("#step=6$"))
    player(page, 1).get_by_label("One step on").click()
    expect(page).to_have_url(re.compile("#2-step=2$"))
    page.evaluate("location.hash = '#step=9'")
    expect(replay.locator("output")).to_have_text(re.compile("^9 / "))
    page.goto(f"{replay_site}/#step=99999")
    page.reload()
    at, last = position(player(page))
    assert at == last
    page.goto(f"{replay_site}/#9-step=2")
    page.reload()
    assert position(player(page))[0] == 1


def test_what_ran_is_said_aloud(open_page: OpenPage) -> None:
    page = open_page()
    replay = player(page)
    replay.get_by_label("One step on").click()
    heard = replay.locator("[aria-live=polite]")
    expect(heard).to_have_text("Step 2: stage, def stage(x):")


def test_without_a_script_the_sequence_stands_in_its_place(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    expect(player(page)).not_to_be_visible()
    still = page.locator(".replay-still").first
    expect(still.locator("svg").first).to_be_visible()
    expect(still.locator("a", has_text="stage").first).to_be_visible()
    folded = page.locator(".picture-sequence details").first
    expect(folded.locator("svg")).to_be_visible()
    folded.locator("summary").click()
    expect(folded.locator("svg")).not_to_be_visible()


def test_on_paper_the_sequence_stands_in_its_place(open_page: OpenPage) -> None:
    page = open_page()
    page.emulate_media(media="print")
    expect(player(page)).not_to_be_visible()
    expect(page.locator(".replay-still svg").first).to_be_visible()


def test_a_call_leads_to_its_source(open_page: OpenPage, replay_site: str) -> None:
    page = open_page()
    link = page.locator(".picture-sequence a", has_text="stage").first
    address = link.get_attribute("href")
    assert address
    assert page.request.get(f"{replay_site}/{address.partition('#')[0]}").ok
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(":target")).to_be_in_viewport()


def test_a_table_of_states_is_a_table(open_page: OpenPage) -> None:
    page = open_page()
    table = page.get_by_role("table", name="States of docs/experiments/walk.py")
    assert table.get_by_role("columnheader").all_inner_texts() == ["moment", "x", "g", "number"]
    row = table.get_by_role("row").nth(2)
    expect(row.get_by_role("rowheader")).to_have_text("on the way")
    assert row.get_by_role("cell").all_inner_texts() == ["", "", "2"]


@pytest.mark.parametrize("path", ["/", "/zh/"])
def test_a_phone_scrolls_pictures_not_the_page(open_page: OpenPage, path: str) -> None:
    page = open_page(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = page.locator("svg.picture text").evaluate_all(
        "texts => texts.filter(t => t.checkVisibility()).map(t => t.getBoundingClientRect().height)"
    )
    assert sizes
    assert min(sizes) >= 10
    table = page.locator(".picture-states")
    expect(table.locator("tbody th").first).to_be_visible()
    box = table.bounding_box()
    assert box
    assert box["width"] <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_stand_out_from_their_ground(open_page: OpenPage, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    player(page).get_by_label("To the end").click()
    # Of text in a picture the colour is the fill.
    page.add_style_tag(content="svg.picture, svg.picture * { background: none }")
    page.evaluate(
        """() => document.querySelectorAll('svg.picture :is(text, tspan)').forEach(each => {
            each.style.color = getComputedStyle(each).fill;
        })"""
    )
    assert page.locator("article").evaluate(CONTRAST) == []


def test_it_is_small_and_comes_only_where_it_is_needed(
    open_page: OpenPage, replay_site: str
) -> None:
    script = Path(annotate.__file__).parent / "assets" / "replay.js"
    assert script.stat().st_size < 30_000
    page = open_page("/")
    assert page.locator('script[src$="replay.js"]').count() == 1
    page.goto(f"{replay_site}/verification/")
    assert page.locator('script[src$="replay.js"]').count() == 0
