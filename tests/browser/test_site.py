"""The built site in Chromium: what a reader, on a desk or a phone, can see and reach."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]


def card(page: Page) -> Locator:
    return page.locator(".claim").first


def code(page: Page) -> Locator:
    return card(page).locator("pre > code")


def note(page: Page, text: str) -> Locator:
    return card(page).locator("details > span", has_text=text)


@pytest.mark.parametrize("javascript", [True, False])
def test_a_note_opens_at_its_line_by_click_and_by_key(
    open_page: OpenPage, javascript: bool
) -> None:
    page = open_page(java_script_enabled=javascript)
    tortoise, fee = note(page, "tortoise"), note(page, "fee")
    expect(tortoise).not_to_be_visible()
    card(page).get_by_label("Note 1").click()
    expect(tortoise).to_be_visible()
    expect(fee).not_to_be_visible()
    card(page).get_by_label("Note 2").press("Enter")
    expect(fee).to_be_visible()
    line = card(page).locator('i[data-n="11"]').bounding_box()
    below = card(page).locator('i[data-n="12"]').bounding_box()
    box = tortoise.bounding_box()
    assert line
    assert below
    assert box
    assert line["y"] < box["y"] < below["y"]


def test_the_keyboard_reaches_place_code_and_notes_in_this_order(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    card(page).locator("figcaption a").focus()
    page.keyboard.press("Tab")
    expect(card(page).get_by_label("Source of ledger/book.py::posted")).to_be_focused()
    # Names in the code that can be followed are reached one after the other, notes among them.
    reached = []
    for _ in range(card(page).locator("pre a, pre summary").count()):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "document.activeElement.getAttribute('aria-label')"
                " || document.activeElement.tagName"
            )
        )
    assert [each for each in reached if each != "A"] == ["Note 1", "Note 2"]


def test_code_wider_than_the_screen_scrolls_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page(width=390)
    code(page).focus()
    outline = code(page).evaluate("element => getComputedStyle(element).outlineStyle")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.claim pre > code').scrollLeft > 0")
    assert outline == "solid"


def test_a_hundred_columns_need_no_scrolling_at_1280(open_page: OpenPage) -> None:
    page = open_page()
    widths = code(page).evaluate("element => [element.scrollWidth, element.clientWidth]")
    assert widths[0] <= widths[1]


def test_prose_is_about_seventy_characters_wide(open_page: OpenPage) -> None:
    page = open_page()
    lengths = page.locator("article p").first.evaluate(
        """paragraph => {
            const text = paragraph.firstChild, range = document.createRange(), lines = {};
            for (let i = 0; i < text.length; i++) {
                range.setStart(text, i); range.setEnd(text, i + 1);
                const box = range.getClientRects()[0];
                if (box) lines[Math.round(box.top)] = (lines[Math.round(box.top)] || 0) + 1;
            }
            return Object.values(lines).slice(0, -1);
        }"""
    )
    assert len(lengths) >= 2
    assert 60 <= sum(lengths) / len(lengths) <= 80


def selected(page: Page) -> str:
    return code(page).evaluate(
        """element => {
            const range = document.createRange(), selection = getSelection();
            range.selectNodeContents(element);
            selection.removeAllRanges();
            selection.addRange(range);
            return selection.toString();
        }"""
    )


def test_copied_code_is_the_code(open_page: OpenPage) -> None:
    page = open_page()
    text = selected(page)
    assert text.startswith("def posted(entries, *, since=None")
    assert text.endswith("if rounded_to_cents else total")
    assert text.count("\n") == 6
    card(page).get_by_label("Note 1").click()
    assert "tortoise" not in selected(page)


def test_the_copy_button_copies_the_code(open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    before = selected(page)
    card(page).get_by_label("Note 1").click()
    card(page).hover()
    card(page).locator("[data-md-type=copy]").click()
    expect(page.locator(".md-dialog")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == before


def test_on_a_phone_the_notes_lie_under_the_code(open_page: OpenPage) -> None:
    page = open_page(width=390)
    listed = card(page).locator(".claim-notes > li")
    expect(listed.first).to_be_visible()
    assert listed.count() == 2
    expect(note(page, "tortoise")).not_to_be_visible()
    bottom = code(page).bounding_box()
    top = listed.first.bounding_box()
    assert bottom
    assert top
    assert top["y"] >= bottom["y"] + bottom["height"] - 1


@pytest.mark.parametrize("path", ["/", "/zh/", "/verification/", "/zh/verification/"])
def test_on_a_phone_only_the_code_scrolls_sideways(open_page: OpenPage, path: str) -> None:
    page = open_page(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_paper_the_notes_are_listed_and_no_code_is_cut(open_page: OpenPage) -> None:
    page = open_page(width=700)
    page.emulate_media(media="print")
    expect(card(page).locator(".claim-notes")).to_be_visible()
    widths = code(page).evaluate("element => [element.scrollWidth, element.clientWidth]")
    assert widths[0] <= widths[1]


# Relative luminance and contrast as in WCAG 2.2; a canvas turns any CSS colour into RGB.
CONTRAST = """root => {
    const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    const rgb = (...colours) => {
        context.clearRect(0, 0, 1, 1);
        for (const colour of colours) {
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
        }
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const luminance = (parts) => parts
        .map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const found = [];
    for (const element of root.querySelectorAll("*")) {
        for (const pseudo of [null, "::before"]) {
            const style = getComputedStyle(element, pseudo);
            const texts = [...element.childNodes].some(n => n.nodeType === 3 && n.data.trim());
            const drawn = pseudo ? !["none", "normal"].includes(style.content) : texts;
            if (!drawn || !element.checkVisibility()) continue;
            const behind = [];
            if (pseudo) behind.unshift(style.backgroundColor);
            for (let node = element; node; node = node.parentElement)
                behind.unshift(getComputedStyle(node).backgroundColor);
            const back = luminance(rgb("white", ...behind));
            const front = luminance(rgb("white", ...behind, style.color));
            const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
            if (ratio * style.opacity < 4.5)
                found.push([element.outerHTML.slice(0, 80), pseudo, ratio, style.opacity]);
        }
    }
    return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/verification/"])
def test_all_text_stands_out_from_its_ground(open_page: OpenPage, path: str, scheme: str) -> None:
    page = open_page(path, color_scheme=scheme)
    for summary in page.locator(".claim summary").all():
        summary.click()
    ground = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert ("rgb(253" in ground) == (scheme == "light")
    assert page.locator("article").evaluate(CONTRAST) == []


def test_the_verdict_is_a_word(open_page: OpenPage) -> None:
    page = open_page()
    assert card(page).locator(".claim-verdict").inner_text().endswith("exact")
    page = open_page("/zh/")
    assert "逐字一致" in card(page).locator(".claim-verdict").inner_text()


@pytest.mark.parametrize("path", ["/", "/zh/", "/verification/"])
def test_asks_nothing_of_another_host_and_misses_nothing_of_its_own(
    open_page: OpenPage, site: str, path: str
) -> None:
    page = open_page("/404.html")
    requested: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    page.on("response", lambda answer: failed.append(answer.url) if answer.status > 399 else None)
    page.goto(site + path, wait_until="networkidle")
    assert requested
    assert [url for url in requested if not url.startswith((site, "data:"))] == []
    assert failed == []


@pytest.mark.parametrize(
    ("path", "words", "found"),
    [
        ("/", "hippopotamus", True),
        ("/", "tortoise", True),
        ("/", "is_between", False),
        ("/zh/", "账本", True),
        ("/zh/", "中文词语", True),
    ],
)
def test_search_finds_prose_and_notes_in_both_languages_but_not_code(
    open_page: OpenPage, path: str, words: str, found: bool
) -> None:
    page = open_page(path)
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").fill(words)
    page.locator(".md-search__input").press("End")
    results = page.locator(".md-search-result__item")
    if found:
        expect(results.first).to_be_visible()
    else:
        expect(page.locator(".md-search-result__meta")).to_contain_text("No matching documents")


def test_the_language_switch_leads_to_the_same_page(open_page: OpenPage, site: str) -> None:
    page = open_page("/verification/")
    page.locator(".md-select").hover()
    page.get_by_role("link", name="中文").click()
    expect(page.locator("h1")).to_contain_text("核对结果")


def test_a_claim_is_reached_from_the_verification_page(open_page: OpenPage) -> None:
    page = open_page("/verification/")
    page.get_by_role("link", name="ledger/book.py::posted").first.click()
    expect(page.locator(":target .claim")).to_be_in_viewport()


def test_formulas_are_drawn_without_a_script(open_page: OpenPage) -> None:
    page = open_page(java_script_enabled=False)
    box = page.locator("math[display=block]").bounding_box()
    assert box
    assert box["height"] > 25
