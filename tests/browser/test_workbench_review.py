"""The workbench in a browser: the view Review, by keyboard, with several people, and with a server that is killed."""

from __future__ import annotations

import csv
import io
import random
import shutil
import sqlite3
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsing import SECONDS, Served, Visit, kill_server, start_server, stop_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WORDS = {
    "roads": "road hole asphalt tar traffic",
    "parks": "park tree lawn bench flower",
    "buses": "bus stop driver timetable fare",
    'say "hi"/<b>': "greeting hello welcome wave smile",
}
HOSTILE = "<script>document.title = 'broken'</script> \u202e road \U0001f68c hole"
LONG = 210_000
"""Characters: more than the server explains."""


def letters() -> bytes:
    """A table of 40 documents; the first is hostile and the second is long."""
    drawn, out = random.Random(0), io.StringIO()
    table = csv.writer(out)
    table.writerow(["id", "text", "labels"])
    for number in range(40):
        names = drawn.sample(list(WORDS), 1 + number % 2)
        words = " ".join(drawn.choices(" ".join(WORDS[name] for name in names).split(), k=12))
        text = {0: HOSTILE, 1: "The road " * (LONG // 9)}.get(number, f"Letter {number}: {words}.")
        table.writerow([f"letter {number}", text, ";".join(names)])
    return out.getvalue().encode()


def import_letters(served: Served) -> None:
    request = urllib.request.Request(f"{served.url}/v1/data/review.csv", letters(), method="PUT")
    urllib.request.urlopen(request, timeout=SECONDS).close()
    served.run(kind="import", data="review", corpus="review")


@pytest.fixture(scope="module")
def corpus(served: Served) -> Served:
    """A corpus of its own, since these tests change it."""
    import_letters(served)
    served.run(kind="score", corpus="review", method="svm")
    return served


def document(served: Served, number: int) -> dict[str, Any]:
    found: dict[str, Any] = served.ask(f"/v1/corpora/review/documents/{number}")
    return found


def labels(served: Served, number: int, *states: str) -> set[str]:
    return {one["label"] for one in document(served, number)["labels"] if one["state"] in states}


def saved(page: Page, text: str) -> None:
    """Wait until the page shows that a decision was saved."""
    page.locator(".review-saved", has_text=text).wait_for()
    assert page.locator(".review-saved .good").inner_text() == "✓ Saved"


def add_label(page: Page, typed: str, shown: str) -> None:
    page.keyboard.press("l")
    page.keyboard.type(typed)
    page.locator("ml-review-document li[aria-selected=true]", has_text=shown).wait_for()
    page.keyboard.press("Enter")


@pytest.fixture(scope="module")
def visit(corpus: Served, opened: Callable[..., Visit]) -> Visit:
    visit = opened("#/review/review?queue=all&document=3")
    visit.page.locator(".review-pane h2", has_text="letter 2").wait_for()
    return visit


def test_the_whole_loop_by_keyboard(visit: Visit, corpus: Served) -> None:
    page = visit.page
    (imported,) = labels(corpus, 3, "imported")
    page.keyboard.press("1")
    saved(page, f"accepted {imported}")
    page.keyboard.press("r")
    saved(page, f"rejected {imported}")
    assert labels(corpus, 3, "rejected") == {imported}
    page.keyboard.press("a")
    saved(page, f"accepted {imported}")
    other = "parks" if imported != "parks" else "buses"
    add_label(page, other[:3], other)
    saved(page, f"accepted {other}")
    add_label(page, "bridges", "add as a new label")
    saved(page, "accepted bridges")
    page.keyboard.press("Enter")
    page.locator(".review-pane h2", has_text="letter 3").wait_for()
    found = document(corpus, 3)
    assert (found["state"], found["reviewed_by"]) == ("reviewed", "Ann")
    assert labels(corpus, 3, "accepted") == {imported, other, "bridges"}
    before = labels(corpus, 4, "imported")
    page.keyboard.press("0")
    saved(page, "reviewed, no label applies")
    assert document(corpus, 4)["state"] == "no label applies"
    assert labels(corpus, 4, "rejected") == before
    page.locator(".review-pane h2", has_text="letter 4").wait_for()
    page.keyboard.press("z")
    saved(page, "taken back")
    page.locator(".review-pane h2", has_text="letter 3").wait_for()
    assert labels(corpus, 4, "imported") == before
    assert document(corpus, 4)["state"] == "not reviewed"
    assert visit.complaints == []


def test_a_misspelt_label_offers_the_nearest_one_first(visit: Visit, corpus: Served) -> None:
    page = visit.page
    page.evaluate("location.hash = '#/review/review?queue=all&document=15'")
    page.locator(".review-pane h2", has_text="letter 14").wait_for()
    add_label(page, "parxs", "parks")
    saved(page, "accepted parks")
    page.keyboard.press("l")
    page.keyboard.type("parxs")
    options = page.locator("ml-review-document [role=option]")
    options.filter(has_text="did you mean").wait_for()
    assert [one.split()[0] for one in options.all_inner_texts()] == ["parks", "parxs"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    saved(page, "accepted parxs")
    page.keyboard.press("z")
    saved(page, "taken back")
    assert "parxs" not in [one["label"] for one in corpus.ask("/v1/corpora/review/labels")["labels"]]
    page.evaluate("location.hash = '#/review/review?queue=all&document=3'")
    page.locator(".review-pane h2", has_text="letter 2").wait_for()


def test_the_list_of_labels_stays_open_when_the_field_is_left_for_a_moment(visit: Visit) -> None:
    """Who chooses a label and types the next one at once leaves the field and comes back within a tenth of a second."""
    page = visit.page
    field = page.locator("ml-review-document input[role=combobox]")
    field.focus()
    page.keyboard.type("par")
    page.locator("ml-review-document li[aria-selected=true]", has_text="parks").wait_for()
    field.evaluate("(field) => { field.blur(); field.focus(); }")
    page.wait_for_timeout(250)
    assert field.get_attribute("aria-expanded") == "true"
    field.fill("")
    field.evaluate("(field) => field.blur()")
    page.wait_for_function("(field) => field.ariaExpanded === 'false'", arg=field.element_handle())


def test_the_last_decisions_can_be_taken_back_one_by_one(visit: Visit, corpus: Served) -> None:
    page = visit.page
    page.locator(".review-history summary").press("Enter")
    row = page.locator(".review-history li", has_text="accepted bridges in letter 2")
    row.get_by_role("button", name="Undo").press("Enter")
    page.locator(".review-history li.undone", has_text="accepted bridges").wait_for()
    assert "bridges" not in labels(corpus, 3, "accepted")
    assert "taken back" in row.inner_text()


def test_retraining_shows_the_gain_with_its_interval(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("t")
    gain = page.locator(".review-gain[open]")
    gain.wait_for(timeout=SECONDS * 1000)
    assert "95 % interval" in gain.inner_text()
    assert "reviewed and" in gain.inner_text()
    assert gain.locator("tbody tr").count() == 2


def test_retraining_asks_before_it_replaces_a_saved_threshold(visit: Visit, corpus: Served) -> None:
    page, address = visit.page, "/v1/corpora/review"
    revision = corpus.ask(f"{address}/thresholds/study", {})["revision"]
    saved = {"by": "Ann", "revision": revision, "thresholds": {"roads": 0.875}}
    corpus.ask(f"{address}/thresholds", saved, method="PUT")
    page.keyboard.press("t")
    dialog = page.get_by_role("dialog", name="1 saved threshold would be replaced")
    dialog.get_by_role("button", name="Cancel").press("Enter")
    dialog.wait_for(state="detached")
    assert page.locator("button:has-text('Retraining')").count() == 0
    page.keyboard.press("t")
    dialog.get_by_role("button", name="Keep it").press("Enter")
    page.wait_for_selector("button:has-text('Retraining')")
    page.locator(".review-gain[open]").wait_for(timeout=SECONDS * 1000)
    found = corpus.ask(f"{address}/labels")["labels"]
    assert {one["label"]: one["threshold"] for one in found}["roads"] == 0.875


def test_documents_are_text_and_long_ones_are_shown_without_evidence(visit: Visit) -> None:
    page = visit.page
    page.evaluate("location.hash = '#/review/review?queue=all&document=1'")
    page.locator(".review-pane h2", has_text="letter 0").wait_for()
    assert "<script>" in page.locator("ml-review-document ml-marked-text").inner_text()
    assert "broken" not in page.title()
    page.locator("ml-review-document mark").first.wait_for()
    page.keyboard.press("j")
    page.locator(".legend", has_text="Evidence is marked in documents of up to 200,000").wait_for()
    assert visit.complaints == []


def test_a_key_that_is_held_down_decides_once(visit: Visit, corpus: Served) -> None:
    page = visit.page
    page.evaluate("location.hash = '#/review/review?queue=all&document=30'")
    page.locator(".review-pane h2", has_text="letter 29").wait_for()
    for _ in range(3):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.locator(".review-pane h2", has_text="letter 30").wait_for()
    assert [document(corpus, number)["state"] for number in (30, 31, 32)] == [
        "reviewed",
        "not reviewed",
        "not reviewed",
    ]


def test_the_list_is_one_stop_of_tab_and_arrows_go_through_it(visit: Visit) -> None:
    page = visit.page
    page.evaluate("location.hash = '#/review/review?queue=all&document=20'")
    page.locator(".review-pane h2", has_text="letter 19").wait_for()
    assert page.locator("ml-documents a[tabindex='0']").count() == 1
    page.locator("ml-documents .list").evaluate("box => { box.scrollTop = 0; }")
    page.locator("ml-documents a[data-number='1']").focus()
    for number in range(2, 26):
        page.keyboard.press("ArrowDown")
        page.wait_for_function("number => document.activeElement.dataset.number === number", arg=str(number))
    page.keyboard.press("Enter")
    page.locator(".review-pane h2", has_text="letter 24").wait_for()
    page.wait_for_function("document.activeElement.type === 'radio'")


def test_the_list_folds_away_on_a_phone(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 420, "height": 900})
    listed = page.locator("ml-documents .list")
    listed.wait_for(state="hidden")
    page.get_by_role("button", name="Show the list").press("Enter")
    listed.wait_for()
    assert page.locator("ml-documents a[aria-current=true]").is_visible()
    page.locator("ml-documents a[data-number='24']").press("Enter")
    page.locator(".review-pane h2", has_text="letter 23").wait_for()
    listed.wait_for(state="hidden")
    page.set_viewport_size({"width": 1440, "height": 900})
    listed.wait_for()


def test_filters_stand_in_the_address(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("/")
    page.keyboard.type("bench -road")
    page.locator(".chip", has_text="holds: bench -road").wait_for()
    assert "text=bench" in page.url
    page.get_by_role("button", name="Remove the filter").click()
    page.locator("ml-documents .count", has_text="40 documents").wait_for()


def test_bulk_actions_have_a_preview_and_an_undo(visit: Visit, corpus: Served) -> None:
    page, wanted = visit.page, {"filter": {"labels": [{"label": "bridges", "relation": "accepted"}]}, "limit": 1}
    corpus.ask("/v1/corpora/review/labels", {"by": "Dora", "do": "add", "label": "bridges"})
    page.goto(page.url.split("#")[0] + "#/review/review?queue=all&text=asphalt")
    page.locator(".review-pane h2").wait_for()
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog", name="Change all documents of the queue")
    dialog.get_by_role("combobox", name="label").fill("bridges")
    dialog.locator("li[aria-selected=true]", has_text="bridges").click()
    button = dialog.get_by_role("button", name="Make")
    dialog.locator(".chosen", has_text="bridges").wait_for()
    button.wait_for()
    changes = int(button.inner_text().split()[1])
    assert changes > 1
    assert corpus.ask("/v1/corpora/review/search", wanted)["total"] == 0
    button.press("Enter")
    dialog.get_by_text("Saved:").wait_for()
    assert corpus.ask("/v1/corpora/review/search", wanted)["total"] == changes
    dialog.get_by_role("button", name="Undo").press("Enter")
    dialog.get_by_text("Taken back:").wait_for()
    assert corpus.ask("/v1/corpora/review/search", wanted)["total"] == 0
    page.keyboard.press("Escape")


def test_y_takes_the_suggestions_of_the_audit(opened: Callable[..., Visit], corpus: Served) -> None:
    doubted, kept = sorted(labels(corpus, 26, "imported"))
    with closing(sqlite3.connect(corpus.folder / "corpora" / "review" / "corpus.sqlite")) as database, database:
        suggested = "SELECT 26, number, 'remove', 0.97, 'audit' FROM labels WHERE name = ?"
        database.execute(f"INSERT OR REPLACE INTO suggestions {suggested}", (doubted,))
    page = opened("#/review/review?queue=audit&document=26").page
    page.locator(".review-pane h2", has_text="letter 25").wait_for()
    page.locator(".review-foot button", has_text="Take suggestions, next").wait_for()
    page.keyboard.press("y")
    saved(page, f"rejected {doubted}")
    assert document(corpus, 26)["state"] == "reviewed"
    assert doubted in labels(corpus, 26, "rejected")
    assert kept in labels(corpus, 26, "accepted")


def test_a_label_is_not_merged_into_itself(opened: Callable[..., Visit], corpus: Served) -> None:
    page = opened("#/review/review?queue=all&document=30").page
    page.locator(".review-pane h2", has_text="letter 29").wait_for()
    page.keyboard.press("w")
    dialog = page.get_by_role("dialog", name="Merge a label")
    label = dialog.locator("strong").first.inner_text()
    dialog.get_by_role("combobox", name="Merge into").focus()
    dialog.get_by_role("option").nth(2).wait_for()
    offered = [one.locator("span").first.inner_text() for one in dialog.get_by_role("option").all()]
    assert set(offered) >= set(WORDS) - {label}
    assert label not in offered


def test_two_people_never_overwrite_each_other_silently(opened: Callable[..., Visit], corpus: Served) -> None:
    ann, ben = (opened("#/review/review?queue=all&document=10", user=name).page for name in ("Ann", "Ben"))
    for page in (ann, ben):
        page.locator(".review-pane h2", has_text="letter 9").wait_for()
    ann.evaluate("clearTimeout(document.querySelector('ml-review-view').looking)")
    ben.keyboard.press("1")
    saved(ben, "accepted")
    (first,) = labels(corpus, 10, "accepted")
    ann.keyboard.press("r")
    notice = ann.locator(".notice.bad")
    notice.wait_for()
    assert f"Ben accepted {first}" in notice.inner_text()
    assert ann.locator(".review-saved .good").count() == 0
    assert labels(corpus, 10, "accepted") == {first}
    notice.get_by_role("button", name="Decide this all the same").press("Enter")
    saved(ann, "rejected")
    ben.evaluate("document.querySelector('ml-review-view').look()")
    ben.locator(".notice", has_text="Ann changed 1 document").wait_for()
    ben.locator(".review-label.rejected").first.wait_for()


def test_the_name_is_asked_for_once(opened: Callable[..., Visit], corpus: Served) -> None:
    page = opened("#/review/review?queue=all&document=12", user="").page
    page.locator(".review-pane h2", has_text="letter 11").wait_for()
    page.keyboard.press("1")
    page.get_by_role("dialog", name="Who decides?").wait_for()
    page.keyboard.type("Cleo")
    page.keyboard.press("Enter")
    saved(page, "accepted")
    assert {one["by"] for one in document(corpus, 12)["labels"] if one["state"] == "accepted"} == {"Cleo"}
    page.keyboard.press("1")
    saved(page, "rejected")


def test_the_corrected_corpus_is_exported(visit: Visit, corpus: Served) -> None:
    page, changed = visit.page, document(corpus, 20)
    rejected = next(one["label"] for one in changed["labels"] if one["state"] == "imported")
    decision = {"document": 20, "revision": changed["revision"], "reject": [rejected]}
    corpus.ask("/v1/corpora/review/decisions", {"by": "Dora", "decisions": [decision]})
    page.keyboard.press("x")
    dialog = page.get_by_role("dialog", name="Export")
    dialog.get_by_label("Format").select_option("jsonl")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Export the corpus").press("Enter")
    assert len(Path(download.value.path()).read_text().splitlines()) == 40
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Export the decisions").press("Enter")
    assert '"by": "Dora"' in Path(download.value.path()).read_text()
    page.keyboard.press("Escape")


@pytest.fixture
def own_server(tmp_path: Path, corpus: Served) -> Iterator[list[Served]]:
    """A server with the same corpus that may be killed: the last one of the list is stopped."""
    original, copy = corpus.folder / "corpora" / "review", tmp_path / "corpora" / "review"
    shutil.copytree(original, copy, ignore=shutil.ignore_patterns("*.sqlite*"))  # the other server has it open
    with (
        closing(sqlite3.connect(original / "corpus.sqlite")) as opened,
        closing(sqlite3.connect(copy / "corpus.sqlite")) as copied,
    ):
        opened.backup(copied)
    servers = [start_server(tmp_path)]
    yield servers
    stop_server(servers[-1])


def test_what_was_confirmed_survives_a_kill(browser: Browser, own_server: list[Served]) -> None:
    first = own_server[0]
    page = browser.new_page()
    page.add_init_script("localStorage.setItem('manylabel-user', 'Ann')")
    page.goto(f"{first.url}/#/review/review?queue=all&document=25")
    page.locator(".review-pane h2", has_text="letter 24").wait_for()
    page.keyboard.press("1")
    saved(page, "accepted")
    kill_server(first)
    page.keyboard.press("1")
    notice = page.locator(".notice.bad", has_text="Not saved")
    notice.wait_for()
    assert page.locator(".review-saved .good").count() == 0
    own_server.append(start_server(first.folder, "--port", first.url.rpartition(":")[2]))
    second = own_server[1]
    assert len(labels(second, 25, "accepted")) == 1
    notice.get_by_role("button", name="Try again").press("Enter")
    saved(page, "rejected")
    assert len(labels(second, 25, "rejected")) == 1
    page.close()
