"""Report pages in a real browser: Debian's Chromium, driven by Playwright. `make browser` installs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsing import Visit
from manylabel.cli.run import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

NEXT_FRAME = "new Promise(requestAnimationFrame)"
STEPS = 8
"""Presses of an arrow key; the chart is drawn anew after each."""


@pytest.fixture(scope="module", params=["townhall", "reuters21578"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an evaluation."""
    if request.param != "townhall":
        request.getfixturevalue("data_folder")
    path = tmp_path_factory.mktemp("report") / "page.html"
    assert run(["evaluate", request.param, "--method", "nb-binary", "--report", str(path)]) == 0
    return path


@pytest.fixture(scope="module", params=[(1280, "light"), (420, "dark")], ids=["desk", "phone"])
def visit(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The report, opened once at the width of a desk, and once dark at the width of a phone."""
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    visit = Visit(page)
    page.goto(report.as_uri())
    page.wait_for_selector("ml-thresholds ml-chart svg")
    yield visit
    page.close()


def test_nothing_is_wrong_and_no_request_leaves(visit: Visit) -> None:
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    assert visit.page.locator("main > ml-chart").count() == 5
    width = visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "the page is wider than the window"
    assert visit.page.locator("main > p").first.text_content().startswith("nb-binary reaches a micro F1 of ")


def test_axe_finds_no_serious_violation(visit: Visit) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(visit.page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def figures(explorer: Locator) -> dict[str, str]:
    names, values = explorer.locator("dt").all_text_contents(), explorer.locator("dd.now").all_text_contents()
    return dict(zip(names, values, strict=True))


def expected(curve: dict[str, Any], place: int) -> dict[str, str]:
    """The figures at a point of a curve, as the page should show them."""
    right, predicted, true = curve["right"][place], curve["predicted"][place], curve["true"]
    shares = {"precision": right / predicted, "recall": right / true, "F1": 2 * right / (predicted + true)}
    counts = {"predicted": predicted, "right": right, "wrong": predicted - right, "missed": true - right}
    return {
        **{name: f"{100 * value:.1f} %" for name, value in shares.items()},
        **{name: f"{value:,}" for name, value in counts.items()},
    }


def test_the_slider_changes_the_figures_by_keyboard(visit: Visit) -> None:
    page, explorer = visit.page, visit.page.locator("ml-thresholds")
    data = json.loads(explorer.locator("script").text_content() or "")
    slider, choice = explorer.get_by_role("slider"), explorer.get_by_role("combobox")
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(STEPS):
        page.keyboard.press("ArrowRight")
    page.evaluate(NEXT_FRAME)
    assert figures(explorer) == expected(data["common"], STEPS)
    said = slider.get_attribute("aria-valuetext") or ""
    assert said.startswith(f"threshold {data['common']['thresholds'][STEPS]:g}: precision ")
    choice.select_option(index=2)
    page.evaluate(NEXT_FRAME)
    label = data["labels"][1]
    slider.focus()
    page.keyboard.press("End")
    page.evaluate(NEXT_FRAME)
    assert figures(explorer) == expected(label, len(label["thresholds"]) - 1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.evaluate(NEXT_FRAME)
    own = figures(explorer)
    assert abs(int(own["predicted"].replace(",", "")) - label["own_predicted"]) <= 2, "back to the model's own"


def test_tables_are_sorted(visit: Visit) -> None:
    table = visit.page.locator("ml-table").filter(has_text="F1 interval").first
    column = table.get_by_role("button", name="test", exact=True)
    numbers = table.locator("tbody tr td:nth-child(2)")
    if (more := table.get_by_role("button", name="Show all")).count():
        more.click()
    column.click()
    falling = [int(text.replace(",", "")) for text in numbers.all_text_contents()]
    assert falling == sorted(falling, reverse=True)
    column.press("Enter")
    rising = [int(text.replace(",", "")) for text in numbers.all_text_contents()]
    assert rising == sorted(falling)
    assert table.locator("th[aria-sort=ascending]").count() == 1


def test_the_legend_hides_a_series_and_the_table_shows_figures(visit: Visit) -> None:
    chart = visit.page.locator("main > ml-chart").first
    before = chart.locator("svg g[stroke-dasharray]").count()
    button = chart.get_by_role("button", name="all labels, macro")
    button.focus()
    visit.page.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "false"
    assert chart.locator("svg g[stroke-dasharray]").count() < before
    chart.locator("summary").press("Enter")
    chart.locator("tbody tr").nth(50).wait_for()


REACHED = """() => {
  const found = [];
  const visit = (root) => {
    for (const one of root.querySelectorAll("*")) {
      const used = one.matches("a[href], button, input, select, summary, .wide, .rows, pre");
      if (used && one.tabIndex < 0) found.push(one.outerHTML);
      if (one.shadowRoot) visit(one.shadowRoot);
    }
  };
  visit(document);
  return found;
}"""


def test_the_keyboard_reaches_everything_and_links_lead_to_headings(visit: Visit) -> None:
    assert visit.page.evaluate(REACHED) == []
    targets = visit.page.locator("nav a").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert len(targets) >= 8
    assert all(visit.page.locator(f"h2{target}").count() == 1 for target in targets)


def test_nothing_depends_on_colour(visit: Visit) -> None:
    """Lines differ by their dashes or widths, and so do series in every chart."""
    for chart in visit.page.locator("main > ml-chart").all()[:2]:
        drawn = chart.locator("svg g[aria-label=line], svg g[stroke-width]").evaluate_all(
            "lines => lines.map((one) => `${one.getAttribute('stroke-dasharray')} ${one.getAttribute('stroke-width')}`)"
        )
        assert len(set(drawn)) >= min(len(drawn), 5)


def test_print_shows_whole_tables(visit: Visit) -> None:
    visit.page.emulate_media(media="print")
    boxes = visit.page.locator("ml-table .wide").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).overflowX)"
    )
    assert set(boxes) == {"visible"}
    assert not visit.page.locator("nav").is_visible()
    visit.page.emulate_media(media="screen")


def test_long_tables_have_a_filter(browser: Browser, tmp_path: Path) -> None:
    from manylabel.reports.html_page import page_html
    from manylabel.reports.page import Column, Table

    rows = [[f"label {number}", number, number / 5000] for number in range(5000)]
    path = tmp_path / "long.html"
    columns = [Column("label"), Column("documents", "count"), Column("F1", "share")]
    path.write_text(page_html("Long", [Table(columns, rows)]))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('tbody').rows.length === 100")
    page.get_by_role("button", name="F1", exact=True).click()
    assert page.locator("tbody tr").first.text_content() == "label 49994,999100.0 %"
    page.get_by_label("Filter the rows of this table").fill("label 4999")
    assert page.locator("tbody tr").all_text_contents() == ["label 49994,999100.0 %"]
    assert page.get_by_role("status").text_content() == "1 of 5000 rows"
    page.get_by_label("Filter the rows of this table").fill("")
    page.get_by_role("button", name="Show all 5000 rows").click()
    page.wait_for_function("document.querySelector('tbody').rows.length === 5000")
    page.close()


def test_bars_against_a_label_are_hatched_and_go_to_the_left(browser: Browser, tmp_path: Path) -> None:
    from manylabel.reports.html_page import page_html
    from manylabel.reports.page import Column, Table

    path = tmp_path / "bars.html"
    path.write_text(page_html("Bars", [Table([Column("term"), Column("", "balance")], [["bus", 1.0], ["fast", -0.5]])]))
    page = browser.new_page()
    page.goto(path.as_uri())
    plus, minus = page.locator("td.balance span").all()
    assert (plus.bounding_box() or {})["x"] > (minus.bounding_box() or {})["x"]
    assert "repeating-linear-gradient" in minus.evaluate("one => getComputedStyle(one).backgroundImage")
    assert minus.get_attribute("aria-label") == "−50 %"
    page.close()


def test_texts_of_strangers_are_only_shown(browser: Browser, tmp_path: Path) -> None:
    from manylabel.evaluation.threshold_curves import ThresholdCurve
    from manylabel.reports.charts import Axis, Chart, Series
    from manylabel.reports.html_page import Thresholds, page_html
    from manylabel.reports.page import Column, Heading, Items, Note, Table

    hostile = "</script><!--<script><img src=x onerror=\"document.title='taken'\">"
    blocks = [
        Heading(hostile),
        Note(hostile),
        Items([hostile]),
        Table([Column(hostile)], [[hostile], ["b"]]),
        Chart(hostile, Axis(hostile), Axis(), [Series(hostile, [1, 2], [1, 2]), Series("b", [1, 2], [1, 2])]),
        Thresholds(None, [ThresholdCurve(hostile, 2, 4, 0.5, 1, 1, [0.1, 0.5], [2, 1], [4, 1])], True),
    ]
    path = tmp_path / "hostile.html"
    path.write_text(page_html("Ours", blocks))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("ml-thresholds ml-chart svg")
    assert page.title() == "Ours"
    assert page.locator("img").count() == 0
    assert page.locator("main > ml-chart figcaption").text_content() == hostile
    assert (page.locator("option").text_content() or "").startswith(hostile)
    page.close()
