"""The view Errors in a browser: mistakes by label, confusions, filters with chips, and a document with its evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from browsing import Served, Visit

LABEL = "environment/noise"


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    return opened("#/townhall/errors")


def show(visit: Visit, served: Served, parameters: str = "") -> None:
    """Open an address of the view without loading the page again."""
    visit.page.goto(f"{served.url}/#/townhall/errors{parameters}")
    visit.page.wait_for_selector("ml-errors-view h1")


def counts(visit: Visit, documents: int) -> None:
    """Wait until the list has so many documents."""
    noun = "document" if documents == 1 else "documents"
    wanted = f"{documents} {noun}"
    visit.page.wait_for_function(
        "text => document.querySelector('ml-documents .count')?.innerText === text", arg=wanted
    )


def total(served: Served, **filter: Any) -> int:
    found: int = served.ask("/v1/corpora/townhall/search", {"filter": filter, "limit": 1})["total"]
    return found


def test_every_number_opens_its_documents(visit: Visit, served: Served) -> None:
    show(visit, served)
    rows = visit.page.locator("ml-virtual-table tbody tr[data-place]")
    rows.first.wait_for()
    study = served.ask("/v1/corpora/townhall/thresholds/study", {})["labels"]
    both = {one["label"]: one["saved"]["false_positives"] + one["saved"]["false_negatives"] for one in study}
    label = rows.first.locator("th").inner_text()
    assert both[label] == max(both.values())
    for place, kind in enumerate(("disagreement", "false positive", "false negative")):
        number = rows.first.locator("td").nth(place).locator("a")
        documents = int(number.inner_text())
        number.click()
        visit.page.wait_for_selector(f".chip >> text={kind}: {label}")
        counts(visit, documents)
        assert total(served, labels=[{"label": label, "relation": kind}]) == documents
    visit.page.get_by_role("button", name="false +").click()
    assert "sort=-wrong" in visit.page.url


def test_a_confusion_opens_its_documents(visit: Visit, served: Served) -> None:
    show(visit, served, "?show=confusions")
    visit.page.fill(".find", "noise")
    visit.page.wait_for_function("() => location.hash.includes('find=noise')")
    pairs = served.ask("/v1/corpora/townhall/confusions?typed=noise")["pairs"]
    first = visit.page.locator("ml-virtual-table tbody tr[data-place]").first
    visit.page.wait_for_function(
        "text => document.querySelector('ml-errors-view .count').innerText === text", arg=f"{len(pairs)} pairs"
    )
    assert first.locator("th, td").all_inner_texts() == [
        pairs[0]["missed"],
        pairs[0]["wrong"],
        str(pairs[0]["documents"]),
    ]
    first.locator("a").click()
    counts(visit, pairs[0]["documents"])
    assert visit.page.locator(".chip > span").all_inner_texts() == [
        f"false negative: {pairs[0]['missed']}",
        f"false positive: {pairs[0]['wrong']}",
    ]


def test_every_condition_is_a_chip_that_can_be_removed(visit: Visit, served: Served) -> None:
    show(visit, served, f"?is=predicted:{quote(LABEL)}")
    page = visit.page
    page.fill("#errors-text", "night")
    page.wait_for_selector(".chip >> text=holds: night")
    page.get_by_label("Split").select_option("train")
    page.get_by_label("Some label").select_option("false negative")
    page.get_by_label("State").select_option("not reviewed")
    page.wait_for_function("() => document.querySelectorAll('.chip').length === 5")
    labels = [{"label": LABEL, "relation": "predicted"}]
    counts(
        visit,
        total(served, labels=labels, text="night", split="train", any_label="false negative", state="not reviewed"),
    )
    for left in range(4, -1, -1):
        page.locator(".chip button").last.click()
        page.wait_for_function("left => document.querySelectorAll('.chip').length === left", arg=left)
    counts(visit, 605)


def test_a_document_shows_its_labels_scores_and_evidence(visit: Visit, served: Served) -> None:
    show(visit, served, f"?is=false+positive:{quote(LABEL)}&order=-score")
    page = visit.page
    query = {"filter": {"labels": [{"label": LABEL, "relation": "false positive"}]}, "order": "score", "label": LABEL}
    found = served.ask("/v1/corpora/townhall/search", {**query, "descending": True})["documents"]
    page.wait_for_selector(f"ml-error-document h2 >> text={found[0]['id']}")
    assert page.locator("ml-documents .row-id").first.inner_text() == found[0]["id"]
    page.locator("h1").click()
    page.keyboard.press("j")
    page.wait_for_selector(f"ml-error-document h2 >> text={found[1]['id']}")
    page.wait_for_selector("ml-error-document .marked-text mark")
    row = page.locator("ml-error-document .mistakes tr", has=page.get_by_role("button", name=LABEL))
    assert row.locator("td").all_inner_texts()[0] == "○ predicted, not true"
    assert row.get_by_role("button").get_attribute("aria-pressed") == "true"
    other = page.locator("ml-error-document .mistakes button[aria-pressed=false]").first
    name = other.inner_text()
    other.click()
    page.wait_for_function(
        "name => document.querySelector('ml-error-document .legend span')?.innerText === name", arg=name
    )
    assert f"document={found[1]['number']}" in str(page.get_by_role("link", name="Review it").get_attribute("href"))
    assert visit.complaints == []


def test_a_filter_without_documents_says_what_to_do(visit: Visit, served: Served) -> None:
    show(visit, served, "?text=zzzz")
    visit.page.wait_for_selector(".empty >> text=Remove a condition")
