"""The view Labels in a browser: the table, the threshold studio, saving, changes of labels and the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import pytest

from browsing import Served, Visit

LABEL = "environment/noise"
STUDY = "/v1/corpora/townhall/thresholds/study"
FIGURES = ("precision", "recall", "f1", "true_positives", "false_positives", "false_negatives")


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    return opened("#/townhall/labels")


def show(visit: Visit, served: Served, address: str) -> None:
    """Open an address of the view without loading the page again."""
    visit.page.goto(f"{served.url}/#/townhall/labels{address}")
    visit.page.wait_for_selector("ml-threshold-studio .figures" if "label=" in address else "ml-labels-view h1")


def tried(visit: Visit) -> dict[str, float]:
    """The thresholds in the address."""
    given = parse_qs(unquote(visit.page.url).partition("?")[2]).get("try", [])
    return {label: float(number) for number, _, label in (one.partition(":") for one in given)}


def figures(visit: Visit) -> list[str]:
    """The figures of the label at the slider."""
    found = visit.page.locator("ml-threshold-studio .figures dt + dd").all_inner_texts()
    return [" ".join(one.split()[:2]) if "%" in one else one.split()[0] for one in found]


def written(study: dict[str, Any]) -> list[str]:
    """The figures of a study as the page writes them."""
    now = study["labels"][0]["now"]
    return [f"{100 * now[name]:.1f} %" if name in FIGURES[:3] else f"{now[name]:,}" for name in FIGURES]


def settled(visit: Visit) -> None:
    """Wait until the slider rests and its threshold stands in the address."""
    visit.page.wait_for_timeout(350)
    visit.page.wait_for_function(
        "() => (({ studied, threshold }) => studied.now.threshold === threshold)"
        "(document.querySelector('ml-threshold-studio'))"
    )


def test_a_number_opens_exactly_so_many_documents(visit: Visit, served: Served) -> None:
    show(visit, served, "?sort=-false_positives")
    rows = visit.page.locator("ml-virtual-table tbody tr[data-place]")
    rows.first.locator("td").nth(6).wait_for()
    study = {one["label"]: one["saved"] for one in served.ask(STUDY, {})["labels"]}
    assert visit.page.locator("ml-virtual-table table").get_attribute("aria-rowcount") == "30"
    label = rows.first.locator("th a").inner_text()
    assert study[label]["false_positives"] == max(one["false_positives"] for one in study.values())
    for column, expected in ((0, None), (5, "true_positives"), (6, "false_positives"), (7, "false_negatives")):
        number = rows.first.locator("td").nth(column).locator("a")
        text = number.inner_text()
        assert expected is None or int(text) == study[label][expected]
        number.click()
        visit.page.wait_for_function(
            "text => document.querySelector('ml-documents .count')?.innerText === text", arg=f"{text} documents"
        )
        visit.page.go_back()
        rows.first.wait_for()
    assert visit.complaints == []


def test_the_figures_of_all_labels_say_how_they_were_measured(visit: Visit, served: Served) -> None:
    show(visit, served, "")
    note = visit.page.locator("ml-labels-view .how-measured")
    note.wait_for()
    how = served.ask("/v1/corpora/townhall")["scores"]
    assert note.inner_text().startswith(f"By {how}, each label at its threshold. Training prints another figure")


def test_names_of_labels_have_room_beside_their_figures(visit: Visit, served: Served) -> None:
    show(visit, served, "")
    names = visit.page.locator("ml-virtual-table tbody tr[data-place] th")
    names.first.wait_for()
    assert names.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")


def test_the_slider_shows_what_the_server_studies(visit: Visit, served: Served) -> None:
    show(visit, served, f"?label={quote(LABEL)}")
    page = visit.page
    slider = page.locator("#studio-slider")
    slider.focus()
    for key in ("PageUp", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    settled(visit)
    threshold = tried(visit)[LABEL]
    study = served.ask(STUDY, {"label": LABEL, "threshold": threshold, "documents": 50})
    assert figures(visit) == written(study)
    assert study["leave"]
    listed = page.locator("section[aria-label=Leave] .moved li")
    assert listed.locator("a").all_inner_texts() == [one["id"] for one in study["leave"]]
    words = {True: "✓ true", False: "✕ not true", None: "○ not labelled"}
    marks = [words[one["is_true"]] for one in study["leave"]]
    assert {"✓ true", "✕ not true"} <= set(marks)
    assert listed.locator("span:nth-child(2)").all_inner_texts() == marks
    assert f"threshold {threshold:.3g}" in str(slider.get_attribute("aria-valuetext"))
    asked = sum(url.endswith(STUDY) for url in visit.requests)
    page.keyboard.press("Home")
    settled(visit)
    assert sum(url.endswith(STUDY) for url in visit.requests) == asked + 1
    study = served.ask(STUDY, {"label": LABEL, "threshold": tried(visit)[LABEL], "documents": 50})
    assert figures(visit) == written(study)
    assert page.locator("section[aria-label=Enter] .moved a").all_inner_texts() == [one["id"] for one in study["enter"]]


def test_figures_that_stay_the_same_are_explained(visit: Visit, served: Served) -> None:
    saved = served.ask(STUDY, {"label": LABEL})["labels"][0]["saved"]["threshold"]
    show(visit, served, f"?label={quote(LABEL)}&try={saved + 1e-9!r}:{quote(LABEL)}")
    settled(visit)
    said = visit.page.locator("#studio-unmoved")
    assert "no document has a score between the saved threshold and this one" in said.inner_text()
    visit.page.fill("#studio-number", "0.99")
    visit.page.keyboard.press("Enter")
    settled(visit)
    assert said.count() == 0


def test_impossible_thresholds_are_explained_and_change_nothing(visit: Visit, served: Served) -> None:
    page, rule = visit.page, "must be a number from 0 to 1, because scores are shown as probabilities"
    show(visit, served, f"?label={quote(LABEL)}&try=0.6:{quote(LABEL)}")
    settled(visit)
    before, field, warning = (
        figures(visit),
        page.locator("#studio-number"),
        page.locator("ml-threshold-studio .warning"),
    )
    for typed, given in (("3", ", not 3"), ("-1", ", not -1"), ("abc", "")):
        field.fill("")
        field.press_sequentially(typed)
        field.press("Enter")
        page.wait_for_function("() => document.querySelector('#studio-number').value === '0.6'")
        assert f"The threshold {rule}{given}. Nothing was changed." in warning.inner_text()
        assert (figures(visit), tried(visit)) == (before, {LABEL: 0.6})
    show(visit, served, "")
    form = page.locator("ml-target-form")
    form.locator("select").select_option("threshold")
    for kind, text in (
        ("threshold", f"The threshold {rule}, not 300."),
        ("recall", "The recall must be a number above"),
    ):
        form.locator("select").select_option(kind)
        form.locator("input").fill("300")
        form.get_by_role("button", name="Try").press("Enter")
        assert text in form.get_by_role("alert").inner_text()
        assert "all=" not in page.url
    assert visit.violations() == []


@pytest.mark.parametrize(("width", "fits"), [(1280, True), (420, False)])
def test_all_columns_are_in_sight_or_known_to_be_there(opened: Callable[..., Visit], width: int, fits: bool) -> None:
    page = opened("#/townhall/labels", width=width).page
    page.wait_for_selector("ml-virtual-table tbody tr[data-place]")
    note, edge = page.locator(".table-more"), page.evaluate("document.documentElement.scrollWidth")
    assert edge <= width
    last = page.locator("ml-virtual-table thead th").last
    if not fits:
        note.wait_for()
        assert "scroll to the right" in note.inner_text()
        page.evaluate("document.querySelector('.table-box').scrollLeft = 10_000")
        note.wait_for(state="detached")
    box = last.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width
    assert note.count() == 0


def test_what_is_tried_can_be_shared_undone_and_redone(visit: Visit, served: Served) -> None:
    page = visit.page
    show(visit, served, f"?label={quote(LABEL)}&try=0.6:{quote(LABEL)}&lock=streets/roads")
    settled(visit)
    before = figures(visit)
    assert before == written(served.ask(STUDY, {"label": LABEL, "threshold": 0.6}))
    page.fill("#studio-number", "0.7")
    page.keyboard.press("Enter")
    settled(visit)
    assert (tried(visit), figures(visit) != before) == ({LABEL: 0.7}, True)
    page.get_by_role("button", name="Undo", exact=True).click()
    page.wait_for_function("() => location.hash.includes('try=0.6')")
    settled(visit)
    assert figures(visit) == before
    page.get_by_role("button", name="Redo", exact=True).click()
    page.wait_for_function("() => location.hash.includes('try=0.7')")
    page.get_by_role("button", name=f"Take back: {LABEL}: 0.7").click()
    page.wait_for_function("() => !location.hash.includes('try=')")
    assert "lock=streets%2Froads" in page.url


def test_all_labels_reach_a_precision_except_locked_ones(visit: Visit, served: Served) -> None:
    page = visit.page
    show(visit, served, "?lock=streets/roads")
    page.locator("ml-target-form input").fill("0.9")
    page.get_by_role("button", name="Try", exact=True).click()
    page.wait_for_function("() => document.querySelector('.figures.all .change')")
    study = served.ask(STUDY, {"precision": 0.9, "locked": ["streets/roads"]})
    assert (
        page.locator(".figures.all dt + dd")
        .first.inner_text()
        .startswith(f"{100 * study['all']['now']['precision']:.1f} %")
    )
    changed = sum(one["now"]["threshold"] != one["saved"]["threshold"] for one in study["labels"])
    assert page.get_by_role("button", name=f"Save {changed} thresholds").is_enabled()
    assert "all=precision%3A0.9" in page.url
    page.get_by_role("button", name="Back to the saved ones").click()


def saved(served: Served) -> dict[str, float]:
    return {one["label"]: one["saved"]["threshold"] for one in served.ask(STUDY, {"documents": 0})["labels"]}


def test_a_threshold_is_saved_undone_and_never_overwrites_that_of_another(visit: Visit, served: Served) -> None:
    page, before = visit.page, saved(served)
    show(visit, served, f"?label={quote(LABEL)}&try=0.6:{quote(LABEL)}")
    save = page.get_by_role("button", name="Save 1 threshold")
    save.click()
    page.wait_for_selector(".done >> text=Saved the threshold of 1 label.")
    assert saved(served) == before | {LABEL: 0.6}
    page.locator(".done").get_by_role("button", name="Undo").click()
    page.wait_for_selector(".done >> text=Undone.")
    assert saved(served) == before
    show(visit, served, f"?label={quote(LABEL)}&try=0.61:{quote(LABEL)}")
    save.wait_for()
    revision = served.ask(STUDY, {"documents": 0})["revision"]
    other = {"by": "Bob", "revision": revision, "thresholds": {LABEL: 0.4}}
    event = served.ask("/v1/corpora/townhall/thresholds", other, "PUT")["event"]
    save.click()
    page.wait_for_selector(".conflict tbody tr")
    assert "'Bob' changed" in page.locator(".conflict p").first.inner_text()
    assert page.locator(".conflict tbody td").all_inner_texts() == [f"{before[LABEL]:.3g}", "0.4", "0.61"]
    assert saved(served)[LABEL] == 0.4
    page.get_by_role("button", name="Look first").click()
    served.ask("/v1/corpora/townhall/undo", {"by": "Bob", "event": event})
    assert saved(served) == before
    visit.complaints[:] = [one for one in visit.complaints if "409" not in one]


def test_saved_thresholds_become_a_model(visit: Visit, served: Served) -> None:
    page = visit.page
    show(visit, served, "")
    page.get_by_role("button", name="Save as a new model version").click()
    page.get_by_label("Name of the new model").fill("reviewed")
    page.keyboard.press("Enter")
    page.wait_for_selector("ml-model-version >> text=predicts with the saved thresholds now", timeout=60_000)
    page.locator("ml-model-version").get_by_role("button", name="Close").click()
    for _ in range(50):  # the server looks for new files of models every second
        if "reviewed" in [one["name"] for one in served.ask("/v1/models")["models"]]:
            return
        page.wait_for_timeout(100)
    raise AssertionError("the model is not served")


def test_labels_are_added_renamed_and_retired(visit: Visit, served: Served) -> None:
    page = visit.page
    show(visit, served, "")
    page.get_by_role("button", name="Add a label").click()
    page.fill("dialog[open] input[name=name]", '<b>"x"</b>/y')
    page.keyboard.press("Enter")
    page.wait_for_selector(".done >> text=Added")
    page.fill("#find-label", '"X"<')
    page.get_by_role("link", name='<b>"x"</b>/y').click()
    page.get_by_role("button", name="Rename").click()
    page.fill("dialog[open] input[name=name]", "snow")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1 >> text=snow")
    page.get_by_role("button", name="Retire").click()
    page.get_by_role("button", name="Retire", exact=True).click()
    page.wait_for_selector(".done >> text=Retired")
    assert served.ask("/v1/corpora/townhall")["labels"] == 29
    assert page.locator("ml-label-changes dialog[open]").count() == 0


def test_the_report_draws_labels_that_occur_together(visit: Visit, served: Served) -> None:
    page = visit.page
    show(visit, served, "?show=report")
    page.get_by_role("button", name="Write").click()
    page.wait_for_selector("ml-label-graph a", timeout=60_000)
    report = served.ask(f"/v1/jobs/{served.ask('/v1/jobs?kind=labels&state=done')['jobs'][0]['id']}")["result"]
    names = {name for pair in report["together"] for name in (pair["first"], pair["second"])}
    assert (
        set(
            page.locator("ml-label-graph a").evaluate_all("found => found.map((one) => one.getAttribute('aria-label'))")
        )
        == names
    )
    both = (
        page.locator("section >> text=Labels that occur together")
        .locator("xpath=..")
        .locator("tbody td.figure a")
        .first
    )
    assert int(both.inner_text()) == report["together"][0]["both"]
    assert visit.complaints == []


def test_the_table_and_the_report_are_accessible_on_a_phone(opened: Callable[..., Visit], served: Served) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visit = opened("#/townhall/labels?all=recall:0.9", width=420, scheme="dark")
    for address in ("?all=recall:0.9", "?show=report"):
        show(visit, served, address)
        visit.page.wait_for_selector(
            "ml-virtual-table td a" if "all" in address else "ml-label-report .empty, ml-label-graph"
        )
        found = axe.run(visit.page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert visit.complaints == []
