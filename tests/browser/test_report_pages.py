"""Report pages in a real browser: Debian's Chromium, driven by Playwright. `make browser` installs it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from manylabel.cli.run import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; `make browser` installs it"),
    pytest.mark.xdist_group("browser"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


class Visit:
    """A page, and what went wrong in it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda entry: self.complaints.append(entry.text) if entry.type == "error" else None)
        page.on("request", lambda request: self.requests.append(request.url))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an evaluation with two methods."""
    path = tmp_path_factory.mktemp("report") / "page.html"
    methods = ["--method", "nb-binary", "--method", "nb-app"]
    assert run(["evaluate", "townhall", *methods, "--report", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(params=[1280, 420])
def visit(browser: Browser, report: Path, request: pytest.FixtureRequest) -> Iterator[Visit]:
    """The report, opened at the width of a desk and of a phone."""
    page = browser.new_page(viewport={"width": request.param, "height": 900})
    page.set_default_timeout(5000)
    visit = Visit(page)
    page.goto(report.as_uri())
    page.wait_for_selector("ml-chart svg")
    yield visit
    page.close()


def test_nothing_is_wrong_and_no_request_leaves(visit: Visit) -> None:
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []
    assert visit.page.locator("main > ml-chart").count() == 6
    width = visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert width <= 0, "the page is wider than the window"


def test_tables_are_sorted_and_filtered(visit: Visit) -> None:
    table = visit.page.locator("ml-table").filter(has_text="R-precision").first
    column = table.get_by_role("button", name="documents", exact=True)
    figures = table.locator("tbody tr td:nth-child(2)")
    column.click()
    falling = [int(text.replace(",", "")) for text in figures.all_text_contents()]
    assert falling == sorted(falling, reverse=True)
    column.press("Enter")
    rising = [int(text.replace(",", "")) for text in figures.all_text_contents()]
    assert rising == sorted(falling)
    assert table.locator("th[aria-sort=ascending]").count() == 1


def test_long_tables_have_a_filter(browser: Browser, tmp_path: Path) -> None:
    from manylabel.reports.html_page import page_html
    from manylabel.reports.page import Column, Table

    rows = [[f"label {number}", number] for number in range(5000)]
    path = tmp_path / "long.html"
    path.write_text(page_html("Long", [Table([Column("label"), Column("documents", "count")], rows)]))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('tbody').rows.length === 100")
    page.get_by_label("Filter the rows of this table").fill("label 4999")
    assert page.locator("tbody tr").all_text_contents() == ["label 49994,999"]
    assert page.get_by_role("status").text_content() == "1 of 5000 rows"
    page.get_by_label("Filter the rows of this table").fill("")
    page.get_by_role("button", name="Show all 5000 rows").click()
    page.wait_for_function("document.querySelector('tbody').rows.length === 5000")
    page.close()


def test_the_legend_hides_a_series_and_the_table_shows_figures(visit: Visit) -> None:
    chart = visit.page.locator("main > ml-chart").first
    before = chart.locator("svg g[stroke-dasharray]").count()
    button = chart.get_by_role("button", name="nb-binary, macro")
    button.focus()
    visit.page.keyboard.press("Space")
    assert button.get_attribute("aria-pressed") == "false"
    assert chart.locator("svg g[stroke-dasharray]").count() < before
    chart.locator("summary").click()
    chart.locator("tbody tr").nth(50).wait_for()


def test_axe_finds_no_serious_violation(visit: Visit) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(visit.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_texts_of_strangers_are_only_shown(browser: Browser, tmp_path: Path) -> None:
    from manylabel.reports.charts import Axis, Chart, Series
    from manylabel.reports.html_page import page_html
    from manylabel.reports.page import Column, Heading, Note, Table

    hostile = "</script><!--<script><img src=x onerror=\"document.title='taken'\">"
    blocks = [
        Heading(hostile),
        Note(hostile),
        Table([Column(hostile)], [[hostile], ["b"]]),
        Chart(hostile, Axis(hostile), Axis(), [Series(hostile, [1, 2], [1, 2]), Series("b", [1, 2], [1, 2])]),
    ]
    path = tmp_path / "hostile.html"
    path.write_text(page_html("Ours", blocks))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("ml-chart svg")
    assert page.title() == "Ours"
    assert page.locator("img").count() == 0
    assert page.locator("ml-chart figcaption").text_content() == hostile
    page.close()
