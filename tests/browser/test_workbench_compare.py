"""The view Compare in a browser: a comparison from its start to a trained model."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from browsing import Served, Visit

WAIT = 120_000


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    """The view after a comparison of two fast methods, all by keyboard."""
    visit = opened("#/townhall/compare")
    page = visit.page
    page.wait_for_selector("text=No comparison yet")
    page.get_by_role("radio", name="Quick").focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    for name, wanted in (("auto", False), ("svm", False), ("rocchio", True), ("nb-binary", True), ("nb", False)):
        box = page.locator(".methods label", has=page.get_by_text(name, exact=True)).get_by_role("checkbox")
        if box.is_checked() != wanted:
            box.press("Space")
    page.locator("select[name=budget]").select_option("30")
    page.get_by_role("button", name="Start the comparison").press("Enter")
    page.wait_for_url(re.compile(r"\?job=[0-9a-f]{16}$"))
    page.wait_for_selector("ml-leaderboard .board", timeout=WAIT)
    return visit


def test_the_leaderboard_shows_intervals_and_tests(visit: Visit, served: Served) -> None:
    page = visit.page
    job = served.ask("/v1/jobs/" + page.url.rpartition("=")[2])
    assert (job["request"]["methods"], job["request"]["budget"]) == (["nb-binary", "rocchio"], 30)
    rows = page.locator(".board tbody tr")
    assert rows.count() == len(job["result"]["leaderboard"])
    best = job["result"]["leaderboard"][0]
    assert best["method"] in rows.first.inner_text()
    assert f"{100 * best['value']:.1f} %" in rows.first.inner_text()
    assert f"{100 * best['low']:.1f} to {100 * best['high']:.1f} %" in rows.first.inner_text()
    assert page.locator("ml-chart svg[role=img]").count() == 1
    page.locator("ml-chart summary").press("Enter")
    page.locator("ml-chart .rows tbody tr").first.wait_for()
    assert page.locator("ml-chart .rows tbody tr").count() == rows.count()
    assert page.locator(".plain a[aria-current=true]").count() == 1


def test_a_quick_comparison_has_the_default_method(opened: Callable[..., Visit], served: Served) -> None:
    page = opened("#/townhall/compare?job=none").page
    assert page.get_by_role("radio", name="Quick the default method and four fast ones").is_checked()
    page.get_by_role("button", name="Start the comparison").press("Enter")
    page.wait_for_url(re.compile(r"\?job=[0-9a-f]{16}$"))
    job = served.ask("/v1/jobs/" + page.url.rpartition("=")[2])
    served.ask(f"/v1/jobs/{job['id']}/cancel", {})
    assert job["request"]["methods"] == ["auto", "svm", "logistic", "nb", "rocchio"]


def test_a_model_is_trained_with_a_row(visit: Visit, served: Served) -> None:
    page = visit.page
    page.locator(".board tbody tr").first.get_by_role("button").press("Enter")
    assert page.evaluate("document.activeElement.matches('.train input')")
    page.keyboard.press("Control+A")
    page.keyboard.type("compared")
    page.keyboard.press("Enter")
    page.wait_for_selector(".train [role=status]", timeout=WAIT)
    assert "The model compared was trained on" in page.locator(".train [role=status]").inner_text()
    assert page.get_by_role("link", name="Try it").get_attribute("href") == "#/townhall/try?model=compared"
    assert "compared" in [one["name"] for one in served.ask("/v1/models")["models"]]


def test_jobs_are_listed_with_their_logs(visit: Visit) -> None:
    page = visit.page
    page.get_by_text("All jobs of this server").press("Enter")
    page.wait_for_selector(".job-list > li:first-child:has-text('retrain'):has-text('done')")  # the list lags behind
    first = page.locator(".job-list > li").first
    first.locator("summary").press("Enter")
    page.wait_for_function("() => !document.querySelector('.job-list pre').textContent.includes('Loading')")


def test_the_address_keeps_the_comparison_on_a_phone_in_the_dark(visit: Visit, opened: Callable[..., Visit]) -> None:
    other = opened("#" + visit.page.url.partition("#")[2], width=420, scheme="dark")
    other.page.wait_for_selector("ml-leaderboard .board")
    assert other.violations() == []
    assert visit.violations() == []
    assert other.page.evaluate("document.documentElement.scrollWidth") <= 420
    assert visit.complaints == other.complaints == []
