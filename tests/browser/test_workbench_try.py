"""The workbench in a browser: its frame, and the view Try."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from browsing import Served, Visit

TEXT = "The bus is late again, and the road to the school has a deep hole."


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    return opened("#/townhall/try")


def test_labels_and_evidence_follow_the_text(visit: Visit) -> None:
    page = visit.page
    page.fill("#try-text", TEXT)
    page.wait_for_selector(".score-row")
    marked = page.locator("ml-marked-text mark").all_inner_texts()
    assert marked
    assert all(word in TEXT for word in marked)
    assert "text=" in page.url
    first = page.locator(".score-name").first.inner_text()
    page.fill("#try-text", "The trees in the park need care, and the playground is broken.")
    page.wait_for_function("first => document.querySelector('.score-name').innerText !== first", arg=first)
    assert visit.complaints == []


def test_shortcuts_are_shown(visit: Visit) -> None:
    page = visit.page
    page.locator("h1").click()
    page.keyboard.press("?")
    assert "Edit the text" in page.locator("#shortcuts").inner_text()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.id") == "try-text"


def test_shortcuts_can_be_turned_off(visit: Visit) -> None:
    page = visit.page
    page.locator("h1").click()
    page.keyboard.press("?")
    page.get_by_label("Shortcuts are on").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    assert page.evaluate("document.activeElement.id") != "try-text"
    page.keyboard.press("?")
    page.get_by_label("Shortcuts are on").check()
    page.keyboard.press("Escape")


def test_two_keys_in_a_row_open_a_view(visit: Visit) -> None:
    page = visit.page
    assert "text=" in page.url
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url(lambda url: url.endswith("/try"))


def test_a_document_of_the_corpus_is_taken_with_its_fields(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("searchbox").fill("bus")
    page.get_by_role("button", name="Take a document").click()
    page.wait_for_function(
        "() => location.hash.includes('document=') && document.querySelectorAll('.try textarea').length === 2"
    )
    page.wait_for_selector(".score-row")
    assert page.locator("label[for^=try-text]").all_inner_texts() == ["title", "body"]
    assert "has the true labels" in page.locator(".try .panel").first.inner_text()
    assert page.locator(".contributions tbody tr").count() > 0
    page.locator("#try-text").fill("A title of mine")
    page.wait_for_function("() => location.hash.includes('fields=') && !location.hash.includes('document=')")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_function("() => document.querySelectorAll('.try textarea').length === 1")
    assert page.evaluate("location.hash") == "#/townhall/try"


def test_two_models_stand_side_by_side(visit: Visit, served: Served) -> None:
    served.run(kind="train", corpus="townhall", model="neighbours", method="knn")
    page = visit.page
    page.reload()
    page.wait_for_selector("#try-text")
    page.fill("#try-text", TEXT)
    page.get_by_label("Beside it").select_option("neighbours")
    page.wait_for_selector(".difference")
    answers = page.locator("section[aria-label^='Labels by']")
    predicted = []
    for place in range(2):
        rows = answers.nth(place).locator(".score-row")
        names = rows.locator(".score-name").evaluate_all("all => all.map((one) => one.childNodes[3].data.trim())")
        predicted.append({name for name, text in zip(names, rows.all_inner_texts(), strict=True) if "✓" in text})
    both, only_first, only_second = (
        set(page.locator(".difference dd").nth(place).locator(".label").all_inner_texts()) for place in range(3)
    )
    assert both == predicted[0] & predicted[1]
    assert (only_first, only_second) == (predicted[0] - predicted[1], predicted[1] - predicted[0])
    assert "Nearest training documents" in answers.nth(1).inner_text()
    assert visit.complaints == []


def test_a_text_over_the_limit_is_refused_in_words(visit: Visit) -> None:
    page = visit.page
    page.fill("#try-text", "bus " * 60_000)
    page.wait_for_selector(".problem")
    assert "up to 200,000 are allowed" in page.locator(".problem").inner_text()
    assert "the message above says why" in page.locator("section[aria-label^='Labels by']").first.inner_text()
    page.get_by_role("button", name="Clear").click()
    page.wait_for_selector(".problem", state="detached")
    assert all("413" in text for text in visit.complaints)  # the browser itself notes refused requests
    visit.complaints.clear()


def test_no_request_leaves_the_server(visit: Visit, served: Served) -> None:
    assert all(url.startswith((served.url, "data:", "blob:")) for url in visit.requests)
