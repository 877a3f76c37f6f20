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


def test_no_request_leaves_the_server(visit: Visit, served: Served) -> None:
    assert all(url.startswith((served.url, "data:", "blob:")) for url in visit.requests)
