"""Make the pictures of reports in docs/images: `make screenshots`. Needs Chromium (`make browser`).

Every report is made anew from the data that manylabel carries, opened in a browser, and cut to one part of the page.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def main() -> None:
    """Make all pictures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("There is no Chromium. Run `make browser` first.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make_reports(folder)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for shot in SHOTS:
            take(browser, folder, shot)
        browser.close()


if __name__ == "__main__":
    main()
