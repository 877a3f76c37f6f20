"""The view Rules in a browser: keyword rules, what they match, and how they are saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlencode

import pytest

from browsing import Served, Visit

RULES = "transport/buses: bus OR buses\nleisure/parks: park* AND NOT parking"


SAVED = "/v1/corpora/townhall/rules"
REFUSED = ("409", "503")
"""Answers that a test asks for, of which the browser complains."""
NEW_VIEW = """address => {
  const workbench = document.querySelector('ml-workbench');
  workbench.view = null;
  history.replaceState(null, '', address);
  return workbench.open();
}"""
"""Opens an address with a new element, as from another view."""


def save(served: Served, rules: str) -> None:
    """Save rules on the server, unless they are the saved ones."""
    found = served.ask(SAVED)
    if found["rules"] != rules:
        served.ask(SAVED, {"by": "Ann", "rules": rules, "revision": found["revision"]}, "PUT")


@pytest.fixture(scope="module")
def page_of_all(opened: Callable[..., Visit], served: Served) -> Iterator[Visit]:
    yield opened("#/townhall/rules")
    save(served, "")


@pytest.fixture
def begin(page_of_all: Visit, served: Served) -> Iterator[Callable[..., Visit]]:
    """What opens the view anew with some rules typed and some saved, whatever other tests left behind."""
    visit = page_of_all
    visit.complaints.clear()

    def open_view(typed: str, saved: str = "") -> Visit:
        save(served, saved)
        visit.page.unroute("**/v1/jobs")
        visit.page.evaluate(NEW_VIEW, f"#/townhall/rules?{urlencode({'rules': typed})}")
        wait_for_rows(visit, typed)
        return visit

    yield open_view
    assert [text for text in visit.complaints if not any(code in text for code in REFUSED)] == []


def figures(visit: Visit, row: int) -> list[str]:
    cells = visit.page.locator(".rules-table tbody tr").nth(row).locator("td.figure")
    return [text.split("\n")[0].strip() for text in cells.all_inner_texts()]


def studied(visit: Visit, rules: str) -> None:
    """Type rules and wait until all of them are in the table."""
    visit.page.fill("#rules-text", rules)
    wait_for_rows(visit, rules)


def wait_for_rows(visit: Visit, rules: str) -> None:
    """Wait until the view shows a row for each rule."""
    visit.page.wait_for_selector("#rules-text")
    lines = [line for line in rules.split("\n") if line]
    visit.page.wait_for_function(
        "lines => document.querySelectorAll('.rules-table tbody tr:not(.together)').length === lines", arg=len(lines)
    )


def test_figures_follow_the_text_and_open_their_documents(begin: Callable[..., Visit], served: Served) -> None:
    visit = begin("")
    studied(visit, RULES)
    for row, line in enumerate(RULES.split("\n")):
        label, query = line.split(": ")
        counts = []
        for labels in ([], [("true", label)], [("not true", label)]):
            conditions = [{"relation": relation, "label": name} for relation, name in labels]
            body = {"filter": {"rule": query, "labels": conditions}, "limit": 1}
            counts.append(served.ask("/v1/corpora/townhall/search", body)["total"])
        shown = figures(visit, row)
        assert shown[1:4] == [f"{number:,}" for number in counts]
        assert shown[4] == f"{100 * counts[1] / counts[0]:.1f} %", "all documents of this corpus are labelled"
    link = visit.page.locator(".rules-table tbody tr").first.get_by_title("Without the label").get_attribute("href")
    assert link == "#/townhall/errors?rule=bus+OR+buses&is=not+true%3Atransport%2Fbuses"
    assert "rules=" in visit.page.url


def test_a_rule_shows_its_documents_with_the_words_marked(begin: Callable[..., Visit]) -> None:
    page = begin(RULES).page
    page.locator("h1").click()
    page.keyboard.press("j")
    page.wait_for_function("() => document.querySelector('.rules-found h2').innerText === 'Documents of line 2'")
    page.wait_for_function(
        "() => document.querySelector('.rule-sample mark')?.innerText.toLowerCase().startsWith('park')"
    )
    page.locator(".rules-found select").select_option("missed")
    page.wait_for_function(
        "() => document.querySelector('.rule-sample') && !document.querySelector('.rule-sample mark')"
    )


def test_words_and_labels_are_offered(begin: Callable[..., Visit]) -> None:
    page = begin(RULES).page
    word = page.locator(".rules-editor .chips button").first
    added = word.inner_text().removeprefix("+ ")
    word.click()
    assert page.input_value("#rules-text").split("\n")[0].endswith(f"OR {added}")
    page.keyboard.press("Control+z")
    assert page.input_value("#rules-text") == RULES
    page.get_by_role("combobox", name="Begin a rule for a label").fill("librar")
    page.keyboard.press("Enter")  # before anything was found
    page.wait_for_function("wanted => document.activeElement.value === wanted", arg=RULES + "\neducation/libraries: ")
    page.keyboard.type("librar*")
    page.wait_for_function("() => document.querySelectorAll('.rules-table tbody tr').length === 3")


def test_mistakes_stand_at_their_line(begin: Callable[..., Visit]) -> None:
    visit = begin(RULES)
    page = visit.page
    page.fill("#rules-text", RULES + "\nbuses: road OR (")
    page.wait_for_selector(".rule-problems li")
    assert "Line 3" in page.locator(".rule-problems").inner_text()
    assert page.get_attribute("#rules-text", "aria-invalid") == "true"
    page.get_by_role("button", name="Line 3").click()
    assert page.evaluate("() => document.activeElement.value.slice(document.activeElement.selectionStart)").startswith(
        "buses: road"
    )
    assert figures(visit, 0)[1] != ""


def test_rules_are_saved_undone_and_never_overwritten_silently(begin: Callable[..., Visit], served: Served) -> None:
    page, path = begin(RULES).page, SAVED
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Undo saving").wait_for()
    page.wait_for_function("() => !location.hash.includes('rules=')")
    saved = served.ask(path)
    assert (saved["rules"], saved["by"]) == (RULES, "Ann")
    page.get_by_role("button", name="Undo saving").click()
    page.get_by_role("button", name="Undo saving").wait_for(state="detached")
    assert served.ask(path)["rules"] != RULES
    served.ask(path, {"by": "Bob", "rules": "leisure/parks: tree", "revision": served.ask(path)["revision"]}, "PUT")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("What Bob saved meanwhile").wait_for()
    assert served.ask(path)["by"] == "Bob"
    assert "by 'Bob'" in page.locator(".problem").inner_text()
    page.get_by_role("button", name="Save mine instead").click()
    page.get_by_role("button", name="Undo saving").wait_for()
    assert served.ask(path)["rules"] == RULES


def test_a_model_is_trained_with_the_saved_rules(begin: Callable[..., Visit]) -> None:
    visit = begin(RULES, saved=RULES)
    page = visit.page
    page.route(
        "**/v1/jobs", lambda route: route.fulfill(status=503) if route.request.method == "POST" else route.continue_()
    )
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/v1/jobs")) as sent:
        page.get_by_role("button", name="Retrain with the rules").press("Enter")
    assert sent.value.post_data_json == {
        "kind": "retrain",
        "model": "townhall",
        "method": "svm",
        "rules": True,
        "corpus": "townhall",
    }
    page.locator("ml-review-jobs .problem button").press("Enter")
    page.unroute("**/v1/jobs")
    studied(visit, RULES + "\nstreets/roads: road")
    assert page.get_by_role("button", name="Retrain with the rules").is_disabled()


def test_the_labels_of_a_rule_are_taken_with_a_preview(begin: Callable[..., Visit]) -> None:
    visit = begin(RULES)
    page = visit.page
    without = figures(visit, 0)[3]
    page.get_by_role("link", name="Take the labels of this rule").first.press("Enter")
    page.get_by_role("button", name=f"Make {without} changes").wait_for()
    dialog = page.locator("ml-review-bulk dialog")
    assert "transport/buses" in dialog.inner_text()
    assert "bulk=" not in page.url
    dialog.get_by_role("button", name="Close").click()
    page.go_back()
    page.wait_for_selector("#rules-text")


def test_rules_do_not_change_the_address_of_a_view_that_is_being_opened(begin: Callable[..., Visit]) -> None:
    page = begin("").page
    page.evaluate(
        """rules => {
          const area = document.querySelector('#rules-text');
          area.value = rules;
          area.dispatchEvent(new Event('input'));
          history.replaceState(null, '', '#/townhall/try');  // as long as the other view is being fetched
        }""",
        RULES,
    )
    page.wait_for_timeout(300)
    assert page.url.endswith("#/townhall/try")


def test_rules_typed_just_before_another_view_is_opened_are_kept(begin: Callable[..., Visit]) -> None:
    page = begin("").page
    page.evaluate(
        """rules => {
          const area = document.querySelector('#rules-text');
          area.value = rules;
          area.dispatchEvent(new Event('input'));
          location.hash = '#/townhall/try';
        }""",
        RULES,
    )
    page.wait_for_selector("ml-try-view")
    page.wait_for_timeout(300)  # the view waits 250 ms for further letters
    assert page.url.endswith("#/townhall/try")
    page.evaluate("() => { location.hash = '#/townhall/rules'; }")
    page.wait_for_selector("#rules-text")
    page.wait_for_function("rules => document.querySelector('#rules-text').value === rules", arg=RULES)
