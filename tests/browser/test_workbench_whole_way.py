"""The workbench from a table to a model in use, by keyboard alone: nothing here clicks, or calls the server."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from browsing import SECONDS, Served, Visit
from manylabel import TextClassifier, load_corpus

if TYPE_CHECKING:
    from playwright.sync_api import Download, Locator, Page

ROWS = 120
NAME = "whole-way"
MOST_STOPS = 200
IS_FOCUSED = "one => one === document.activeElement"
LONG = SECONDS * 1000


def table() -> bytes:
    """Some letters as a semicolon-separated table, with names of columns of its own."""
    letters, out = load_corpus("townhall").corpus, io.StringIO()
    rows = csv.writer(out, delimiter=";")
    rows.writerow(["key", "body", "topics"])
    for number, (text, labels) in enumerate(zip(letters.joined_texts[:ROWS], letters.label_sets[:ROWS], strict=True)):
        rows.writerow([f"L{number}", text, "|".join(labels)])
    return out.getvalue().encode()


def tab_to(page: Page, control: Locator) -> None:
    """Press Tab until a control has the focus."""
    control.wait_for(state="attached", timeout=LONG)
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if control.evaluate(IS_FOCUSED):
            return
    raise AssertionError(f"Tab does not reach {control}")


def press(page: Page, role: str, name: str, key: str = "Enter") -> None:
    """Go to a control by Tab and operate it."""
    tab_to(page, page.get_by_role(role, name=name, exact=True))  # type: ignore[arg-type]
    page.keyboard.press(key)


def open_view(page: Page, keys: str, title: str) -> None:
    """Go to a view by its shortcut."""
    for key in keys:
        page.keyboard.press(key)
    page.locator("h1", has_text=title).wait_for()


def file_of(page: Page, name: str) -> Path:
    """What the browser saves when a button is pressed."""
    with page.expect_download(timeout=LONG) as waiting:
        press(page, "button", name)
    found: Download = waiting.value
    return Path(found.path())


def upload(page: Page) -> None:
    page.on("filechooser", lambda _: None)  # without a listener, the browser would open its own dialog
    tab_to(page, page.locator("input[type=file]"))
    with page.expect_file_chooser() as waiting:
        page.keyboard.press("Enter")
    waiting.value.set_files({"name": f"{NAME}.csv", "mimeType": "text/csv", "buffer": table()})
    page.wait_for_selector("ml-preview .preview-results[aria-busy=false] .sample", timeout=LONG)
    guessed = {name: page.get_by_label(name, exact=True).input_value() for name in ("Format", "Between cells", "Text")}
    assert guessed == {"Format": "csv", "Between cells": ";", "Text": "body"}
    assert page.get_by_label("Between labels", exact=True).input_value() == "|"
    press(page, "button", "Make the corpus")
    page.locator("h2", has_text=f"Corpus {NAME}").wait_for(timeout=LONG)


def compare_and_train(page: Page) -> None:
    open_view(page, "gc", "Compare")
    tab_to(page, page.get_by_role("radio", name="Quick"))
    page.keyboard.press("ArrowUp")  # the last one: my choice
    for method in ("nb", "rocchio", "auto", "svm"):
        tab_to(page, page.locator(f".methods label:has(strong:text-is('{method}')) input"))
        page.keyboard.press("Space")
    assert page.locator(".methods legend").inner_text() == "Methods: 1 chosen"
    press(page, "button", "Start the comparison")
    button = page.locator(".board tbody tr").first.get_by_role("button")
    tab_to(page, button)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+A")
    page.keyboard.type(NAME)
    page.keyboard.press("Enter")
    page.locator(".train [role=status]", has_text=f"The model {NAME} was trained on").wait_for(timeout=LONG)
    page.keyboard.press("Tab")  # out of the field, where letters are typed


def review(page: Page) -> tuple[str, str]:
    """Decide on some documents; returns one of them and a label that was rejected there."""
    open_view(page, "gr", "Review")
    title = page.locator(".review-pane h2")
    title.wait_for()
    first, saved = title.inner_text(), page.locator(".review-saved")
    label = page.locator(".review-label[data-focused] .review-name [dir]").inner_text()
    page.keyboard.press("a")
    page.get_by_role("dialog", name="Who decides?").wait_for()
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    saved.filter(has_text=f"accepted {label}").wait_for()
    for key, words in {"r": "rejected", "z": "taken back: rejected", "Z": "done again: rejected"}.items():
        page.keyboard.press(key)
        saved.filter(has_text=f"{words} {label}").wait_for()
    page.keyboard.press("s")
    page.wait_for_function("before => document.querySelector('.review-pane h2').textContent !== before", arg=first)
    second = title.inner_text()
    page.keyboard.press("j")
    page.wait_for_function("before => document.querySelector('.review-pane h2').textContent !== before", arg=second)
    page.keyboard.press("Enter")
    saved.filter(has_text="marked as reviewed").wait_for()
    return first, label


def retrain(page: Page) -> None:
    page.keyboard.press("t")
    gain = page.locator(".review-gain[open]")
    gain.wait_for(timeout=LONG)
    words = gain.inner_text()
    assert "95 % interval" in words
    assert "2 documents were reviewed" in words or "1 document was reviewed" in words
    assert gain.locator("tbody tr").count() == 2


def adjust_threshold(page: Page) -> Path:
    """Move a threshold, save it, write it into a model; returns the file of the model."""
    open_view(page, "gl", "Labels")
    page.keyboard.press("/")
    page.keyboard.type("buses")
    tab_to(page, page.locator("tbody th a", has_text="transport/buses"))
    page.keyboard.press("Enter")
    page.locator("#studio-slider").wait_for()
    page.keyboard.press("t")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.locator(".save-bar").wait_for()
    assert "Enter: 0" not in page.locator(".moved-lists").inner_text()
    press(page, "button", "Save 1 threshold")
    page.locator(".done", has_text="Saved the threshold of 1 label.").wait_for()
    press(page, "button", "Save as a new model version …")
    tab_to(page, page.get_by_label("Name of the new model"))
    page.keyboard.type("final")
    page.keyboard.press("Enter")
    page.locator("dialog [role=status]", has_text="final predicts with the saved thresholds").wait_for(timeout=LONG)
    return file_of(page, "Download the model")


def test_from_a_table_to_a_model_by_keyboard(opened: Callable[..., Visit], served: Served) -> None:
    visit = opened("#/townhall/data", user="")
    page = visit.page
    upload(page)
    compare_and_train(page)
    document, rejected = review(page)
    retrain(page)
    model = adjust_threshold(page)
    page.keyboard.press("Escape")
    open_view(page, "gd", "Data")
    page.locator("select[name=format] option[value=jsonl]").wait_for(state="attached")
    tab_to(page, page.locator("select[name=format]"))
    page.keyboard.type("jsonl")
    corpus = [json.loads(line) for line in file_of(page, "Download the corrected corpus").read_text().splitlines()]
    assert len(corpus) == ROWS
    (corrected,) = (one for one in corpus if one["id"] == document)
    assert rejected not in corrected["labels"]
    assert model.read_bytes() == (served.folder / "models" / "final.manylabel").read_bytes()
    assert set(TextClassifier.load(model).labels_) >= {"transport/buses"}
    assert visit.complaints == []
