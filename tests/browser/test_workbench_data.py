"""The view Data in a browser: upload, preview, corpora, export and deletion, with names that could do harm."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browsing import Served, Visit
from manylabel import load_corpus

FILE = 'Hostile "näme" <script>alert(1)</script> 🚀.csv'
NAME = "Hostile-name-script-alert-1-script"
LABELS = ["parks; trees", "<script>alert(1)</script>", 'he said "no"', "\u202eabc", "🚀🌳", "a/b\\c", "O'Brien"]
TEXTS = ["the road has a hole near the school", "the park needs trees", "the bus is late", "water leaks in the street"]
ROWS = [
    {
        "id": f'"{number}" <b>',
        "title": f"<img src=x onerror=alert({number})> 🚀",
        "body <i>": f"{TEXTS[number % 4]}; \u202e<script>alert('x')</script> {number}",
        "topics": "|".join(sorted({LABELS[number % 7], LABELS[number * 3 % 7]})) if number % 9 else "",
        "split": "test" if number % 4 == 0 else "train",
    }
    for number in range(40)
]
WAIT = 60_000


def table() -> bytes:
    written = io.StringIO()
    rows = csv.DictWriter(written, list(ROWS[0]), delimiter=";")
    rows.writeheader()
    rows.writerows(ROWS)
    return written.getvalue().encode()


def wait_for_preview(page: Any) -> None:
    page.wait_for_selector("ml-preview .preview-results[aria-busy=false] .sample", timeout=WAIT)


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    """The view with a file that was just chosen."""
    visit = opened("#/townhall/data")
    visit.page.set_input_files("input[type=file]", {"name": FILE, "mimeType": "text/csv", "buffer": table()})
    wait_for_preview(visit.page)
    return visit


def test_guesses_are_shown_and_can_be_changed(visit: Visit) -> None:
    page = visit.page
    assert f"data={NAME}" in page.url
    assert page.evaluate("document.activeElement.localName") == "h1"
    assert page.get_by_label("Between cells", exact=True).input_value() == ";"
    formats = page.get_by_label("Format", exact=True)
    assert formats.input_value() == "csv"
    assert {"tsv", "excel", "arff"} <= set(formats.locator("option").all_inner_texts())
    assert page.get_by_label("Text", exact=True).input_value() == "title"
    page.get_by_label("Text", exact=True).select_option("body <i>")
    page.get_by_label("Between labels", exact=True).select_option("|")
    wait_for_preview(page)
    page.wait_for_function("() => document.querySelectorAll('.bars tbody tr').length === 7", timeout=WAIT)
    assert set(page.locator(".bars tbody th").all_text_contents()) == set(LABELS)
    page.get_by_role("button", name="Show 20 documents").press("Enter")
    assert page.locator(".sample tbody tr").count() == 20
    assert "<script>alert('x')</script> 3" in page.locator(".sample tbody tr").nth(3).inner_text()
    assert page.locator(".guess.changed").count() == 2


def test_a_reload_keeps_what_was_chosen(visit: Visit) -> None:
    page = visit.page
    page.reload()
    wait_for_preview(page)
    assert page.get_by_label("Between labels", exact=True).input_value() == "|"
    assert page.get_by_label("Text", exact=True).input_value() == "body <i>"


def test_a_corpus_is_made_and_exported_with_the_same_labels(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.get_by_role("button", name="Make the corpus").press("Enter")
    page.wait_for_url(re.compile(f"#/{NAME}/data$"), timeout=WAIT)
    page.wait_for_selector(f"text=Corpus {NAME}")
    page.wait_for_function("() => document.activeElement.localName === 'h1'")
    assert page.get_by_role("link", name="40", exact=True).first.get_attribute("href") == f"#/{NAME}/review"
    page.wait_for_selector("select[name=format] option", state="attached")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the corrected corpus").press("Enter")
    saved.value.save_as(exported := tmp_path / saved.value.suggested_filename)
    assert exported.read_bytes() == table()  # nothing was decided
    corpus = load_corpus(str(exported), text_column="body <i>", label_separator="|").corpus
    found = dict(zip(corpus.ids, zip(corpus.fields["text"], corpus.label_sets, strict=True), strict=True))
    for row in ROWS:
        text, labels = found[row["id"]]
        assert text == row["body <i>"]
        assert set(labels) == set(filter(None, row["topics"].split("|")))
    assert visit.complaints == []


def test_the_user_decides_what_documents_without_a_label_mean(opened: Callable[..., Visit], served: Served) -> None:
    """Retraining leaves out what is not labelled yet; both are said where the choice is made and after training."""
    rows = "".join(
        f"{text} {n},{'' if n % 5 == 0 else 'roads' if n % 2 else 'parks'}\n" for n, text in enumerate(TEXTS * 10)
    )
    visit = opened("#/townhall/data")
    page = visit.page
    page.set_input_files(
        "input[type=file]", {"name": "tickets.csv", "mimeType": "", "buffer": f"text,labels\n{rows}".encode()}
    )
    wait_for_preview(page)
    choice = page.get_by_role("group", name="8 documents have no label")
    assert choice.get_by_role("radio", name="not labelled yet").is_checked()
    assert "training leaves them out" in choice.inner_text()
    page.get_by_role("button", name="Make the corpus").press("Enter")
    page.wait_for_url(re.compile("#/tickets/data$"), timeout=WAIT)
    assert served.ask("/v1/corpora/tickets")["states"]["no label applies"] == 0
    page.evaluate("location.hash = '#/tickets/review'")
    page.get_by_role("button", name="Retrain").press("Enter")
    gain = page.locator(".review-gain[open]")
    gain.wait_for(timeout=WAIT)
    assert "on 32 documents (8 without a label were left out)" in gain.inner_text()
    page.evaluate("location.hash = '#/tickets/data?data=tickets'")
    wait_for_preview(page)
    page.get_by_role("radio", name="no label applies").check()
    page.get_by_role("button", name="Make the corpus").press("Enter")
    page.wait_for_url(re.compile("#/tickets-2/data$"), timeout=WAIT)
    assert served.ask("/v1/corpora/tickets-2")["states"]["no label applies"] == 8
    assert visit.complaints == []


def test_an_upload_that_is_not_used_can_be_deleted(opened: Callable[..., Visit], served: Served) -> None:
    visit = opened("#/townhall/data")
    page = visit.page
    page.set_input_files("input[type=file]", {"name": "unused.csv", "mimeType": "", "buffer": table()})
    wait_for_preview(page)
    assert "The file stays on the server until you delete it." in page.locator(".title-row").inner_text()
    assert "unused" in served.ask("/v1/data")["data"]
    page.get_by_role("button", name="Delete this upload").press("Enter")
    page.get_by_role("button", name="Delete unused").press("Enter")
    page.wait_for_url(re.compile("#/townhall/data$"), timeout=WAIT)
    assert "unused" not in served.ask("/v1/data")["data"]
    assert visit.complaints == []


def test_a_file_that_cannot_be_read_is_explained(opened: Callable[..., Visit]) -> None:
    visit = opened("#/townhall/data", width=420, scheme="dark")
    page = visit.page
    page.set_input_files("input[type=file]", {"name": "numbers", "mimeType": "", "buffer": b"1"})
    assert "no ending that shows its format" in page.locator("ml-upload [role=alert]").inner_text()
    page.set_input_files("input[type=file]", {"name": "numbers.csv", "mimeType": "", "buffer": b"a,b\n1,2\n3,4\n"})
    page.wait_for_selector(".failure", timeout=WAIT)
    printed = page.locator(".failure").inner_text()
    assert "There is no column of texts" in printed
    assert "Use “Text” (the longest" in printed
    assert "options" not in printed
    assert page.get_by_role("button", name="Make the corpus").is_disabled()
    assert visit.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_several_columns_of_labels_are_typed_with_commas(opened: Callable[..., Visit]) -> None:
    rows = "".join(f"{text},{('roads', 'Roads')[n % 2]},parks {n % 2}\n" for n, text in enumerate(TEXTS))
    written = f"text,Kategorie,Kategorie 2\n{rows}".encode()
    page = opened("#/townhall/data").page
    page.set_input_files("input[type=file]", {"name": "two.csv", "mimeType": "", "buffer": written})
    page.wait_for_selector(".failure", timeout=WAIT)
    printed = page.locator(".failure").inner_text()
    assert "Give one of them with “Labels”, or several to join them: “Labels”: Kategorie, Kategorie 2." in printed
    labels = page.get_by_label("Labels", exact=True)
    assert labels.get_attribute("placeholder") == "column, or several separated by commas"
    labels.fill("Kategorie, Kategorie 2")
    labels.press("Tab")
    wait_for_preview(page)
    assert page.locator(".sample tbody tr").first.locator(".label").all_inner_texts() == ["parks 0", "roads"]
    warnings = page.locator(".warnings").inner_text()
    assert "“Merge labels that differ only in case" in warnings
    assert "options" not in warnings


def test_a_workbook_whose_first_sheet_cannot_be_read_is_read_by_another_one(opened: Callable[..., Visit]) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, 2])
    letters = book.create_sheet("letters")
    for row in [("key", "text", "labels"), *((f"k{n}", text, "roads; parks") for n, text in enumerate(TEXTS))]:
        letters.append(row)
    written = io.BytesIO()
    book.save(written)
    page = opened("#/townhall/data").page
    page.set_input_files("input[type=file]", {"name": "book.xlsx", "mimeType": "", "buffer": written.getvalue()})
    page.wait_for_selector(".failure", timeout=WAIT)
    for name, value in (("Ids", "key"), ("Sheet", "letters")):
        page.get_by_label(name, exact=True).fill(value)
        page.get_by_label(name, exact=True).press("Tab")
    wait_for_preview(page)
    assert page.locator(".sample tbody tr").count() == len(TEXTS)
    assert page.get_by_label("Sheet", exact=True).input_value() == "letters"
    assert page.get_by_label("Ids", exact=True).input_value() == "key"


def test_a_corpus_is_deleted_after_a_question(visit: Visit, served: Served) -> None:
    page = visit.page
    assert visit.violations() == []
    page.get_by_role("button", name="Delete this corpus").press("Enter")
    question = page.locator("ml-corpus dialog")
    assert "40 documents and 7 labels will be lost" in question.inner_text()
    page.keyboard.press("Enter")
    assert NAME in served.ask("/v1/corpora")["corpora"]
    page.get_by_role("button", name="Delete this corpus").press("Enter")
    question.get_by_role("button", name=f"Delete {NAME}").press("Enter")
    page.wait_for_url(re.compile("#/[a-z-]+/data$"))
    page.wait_for_selector(f"text=Corpus {served.ask('/v1/corpora')['corpora'][0]}")
    assert NAME not in served.ask("/v1/corpora")["corpora"]
    visit.forget(f"/v1/corpora/{NAME}")
    assert visit.complaints == []


def test_a_corpus_that_was_deleted_a_moment_ago_is_left_out(opened: Callable[..., Visit], served: Served) -> None:
    """Somebody may delete a corpus between the list of the names and the figures of each."""
    visit, page = (found := opened("#/townhall/review")), found.page
    names = [*served.ask("/v1/corpora")["corpora"], "deleted"]
    page.route("**/v1/corpora", lambda route: route.fulfill(json={"corpora": names}))
    page.goto(f"{served.url}/#/townhall/data")
    page.wait_for_selector(".list-table")
    assert page.locator(".list-table tbody th").all_inner_texts() == names[:-1]
    assert page.locator(".problem").count() == 0
    assert visit.complaints
    visit.forget("/v1/corpora/deleted")
    assert visit.complaints == []


def test_uploaded_data_are_deleted_after_a_question(visit: Visit, served: Served) -> None:
    page = visit.page
    page.get_by_role("button", name=f"Delete the uploaded data {NAME}").press("Enter")
    assert "keep their own copy" in page.locator("dialog.doom").inner_text()
    page.keyboard.press("Enter")  # keep them
    assert NAME in served.ask("/v1/data")["data"]
    page.get_by_role("button", name=f"Delete the uploaded data {NAME}").press("Enter")
    page.locator("dialog.doom").get_by_role("button", name=f"Delete {NAME}").press("Enter")
    page.get_by_role("button", name=f"Delete the uploaded data {NAME}").wait_for(state="detached")
    assert NAME not in served.ask("/v1/data")["data"]
    assert visit.complaints == []


def test_frequent_labels_of_usual_length_stand_on_one_line(opened: Callable[..., Visit]) -> None:
    page = opened("#/townhall/data", width=1280).page
    page.wait_for_selector(".bars tbody th", timeout=WAIT)
    lines = "(cells) => cells.filter((cell) => cell.getBoundingClientRect().height > 40).map((cell) => cell.innerText)"
    assert page.locator(".bars tbody th").evaluate_all(lines) == []
