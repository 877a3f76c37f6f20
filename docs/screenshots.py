"""Make the pictures of reports and the workbench in docs/images: `make screenshots`. Needs Chromium (`make browser`).

Every report is made anew from the data that manylabel carries, opened in a browser, and cut to one part of the page.
The workbench is that of `manylabel serve --demo`; `python docs/screenshots.py workbench` takes its pictures alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from manylabel.cli.run import run

IMAGES = Path(__file__).resolve().parent / "images"
MOST_BYTES = 150_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-lcd-text"]
LETTER = "The bus was late again, and the driver drove too fast past the school. My bin was not emptied on Monday."


@dataclass(frozen=True)
class Shot:
    """A picture of a report: which, its name, the width and scheme of the window, where it begins, and its height."""

    report: str
    name: str
    width: int
    scheme: str
    start: str
    """The text of the heading it begins with; empty for the top of the page."""
    height: int
    label: int = 0
    """The number of the label that is chosen under the thresholds; 0 for all labels."""


SHOTS = (
    Shot("evaluation", "evaluation-report", 1280, "light", "", 590),
    Shot("evaluation", "evaluation-labels", 1280, "light", "Labels", 600),
    Shot("evaluation", "evaluation-thresholds", 1280, "light", "Thresholds", 1010, label=1),
    Shot("evaluation", "evaluation-mistakes", 1280, "dark", "Worst mistakes: wrong labels with high scores", 640),
    Shot("evaluation", "evaluation-phone", 420, "light", "", 1000),
    Shot("evaluation", "evaluation-phone-thresholds", 420, "dark", "Thresholds", 1000, label=1),
    Shot("labels", "label-report", 1280, "light", "", 800),
    Shot("labels", "label-report-phone", 420, "dark", "The model", 1000),
    Shot("audit", "audit", 1280, "light", "", 640),
    Shot("audit", "audit-phone", 420, "dark", "", 1000),
    Shot("explanation", "explanation", 1280, "light", "", 700),
    Shot("explanation", "explanation-phone", 420, "dark", "", 1000),
)


def make_reports(folder: Path) -> None:
    """Write the reports as HTML files, each named after what it is."""
    os.chdir(folder)  # pages name the files as the commands do
    model, letter = "letters.manylabel", Path("letter.jsonl")
    letter.write_text(f'{{"text": "{LETTER}"}}\n', encoding="utf-8")
    commands = {
        "": ["train", "townhall", "-m", model],
        "evaluation": ["evaluate", "townhall", "--model", model],
        "labels": ["labels", "townhall", "--model", model],
        "audit": ["audit", "townhall"],
        "explanation": ["explain", model, str(letter)],
    }
    for name, command in commands.items():
        report = ["--report", str(folder / f"{name}.html")] if name else []
        if run([*command, *report]) != 0:
            raise SystemExit(f"manylabel {' '.join(command)} failed.")


def take(browser: Browser, folder: Path, shot: Shot) -> None:
    """Open a report and save the picture."""
    page = browser.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme)  # type: ignore[arg-type]
    page.goto((folder / f"{shot.report}.html").as_uri())
    page.wait_for_timeout(500)
    if shot.label:
        page.locator("ml-thresholds select").select_option(index=shot.label)
        page.wait_for_timeout(300)
    path = IMAGES / f"{shot.name}.png"
    page.screenshot(path=path, full_page=True, clip=_clip(page, shot))
    page.close()
    if path.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes, more than {MOST_BYTES:,}. Make it smaller.")


def _clip(page: Page, shot: Shot) -> Any:
    top = 0.0
    if shot.start:
        box = page.locator("h2").filter(has_text=shot.start).first.bounding_box()
        assert box is not None
        top = box["y"] - 16
    whole = page.evaluate("document.documentElement.scrollHeight")
    return {"x": 0, "y": top, "width": shot.width, "height": min(shot.height, whole - top)}


RULES = """transport/buses: bus* OR timetable
leisure/parks: park* AND NOT parking
streets/lighting: lamp* OR lights"""
VIEWS: dict[str, dict[str, str]] = {
    "data": {},
    "compare": {},
    "labels": {"label": "transport/buses", "try": "0.2:transport/buses"},
    "try": {"text": LETTER, "label": "transport/buses"},
    "review": {"queue": "audit"},
    "errors": {"is": "false negative:leisure/parks"},
    "rules": {"rules": RULES},
}
"""By view of the workbench, the state of the picture."""
IS_SHOWN = "() => !/(Loading|Matching|Labelling|Waiting) …/.test(document.querySelector('#view').innerText)"
"""Whether a view waits for nothing."""
WIDTHS = {"": 1440, "-phone": 420}
SECONDS = 300


def _wait_for_jobs(url: str) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{url}/v1/jobs") as response:
            jobs = json.load(response)["jobs"]
        if failed := [one for one in jobs if one["state"] == "failed"]:
            raise SystemExit(f"A job of the demo failed: {failed[0]['error']}")
        if all(one["state"] == "done" for one in jobs):
            return
        time.sleep(1)
    raise SystemExit(f"The jobs of the demo took more than {SECONDS} seconds.")


@contextmanager
def demo_server() -> Iterator[str]:
    """The address of `manylabel serve --demo`, once all its jobs are done."""
    command = [sys.executable, "-m", "manylabel", "serve", "--demo", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert process.stderr is not None
    try:
        url = next(found[1] for line in process.stderr if (found := re.search(r"on (http://\S+?),", line)))
        _wait_for_jobs(url)
        yield url
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


def take_workbench(browser: Browser, url: str) -> None:
    """Save pictures of all views, wide and narrow, light and dark."""
    for suffix, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
            page.add_init_script("localStorage.setItem('manylabel-user', 'Ann')")
            for view, state in VIEWS.items():
                page.goto(f"{url}/#/townhall/{view}?{urlencode(state)}")
                page.wait_for_selector(f"#view > ml-{view}-view h1")
                page.wait_for_load_state("networkidle")
                page.wait_for_timeout(1_000)
                page.wait_for_function(IS_SHOWN, timeout=SECONDS * 1_000)
                path = IMAGES / f"workbench-{view}{suffix}{'-dark' if scheme == 'dark' else ''}.jpg"
                page.screenshot(path=path, type="jpeg", quality=70)
            page.close()


def main() -> None:
    """Make all pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if chromium is None:
        raise SystemExit("There is no Chromium. Run `make browser` first.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        with demo_server() as url:
            take_workbench(browser, url)
        if sys.argv[1:] != ["workbench"]:
            make_reports(folder)
            for shot in SHOTS:
                take(browser, folder, shot)
        browser.close()


if __name__ == "__main__":
    main()
