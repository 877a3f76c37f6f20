"""The workbench in Chromium on 100,000 documents × 1,000 labels: ``python -m benchmarks.workbench``.

The corpus is that of `benchmarks.store`. A server is started on it, and Chromium walks all views. For each step the
table shows the time from the address or key to the last change of the page, the median and the worst of some runs,
and the CPU time of server and tab together, which other work on the computer hardly changes. The goals are 300
milliseconds, 1 second for the first paint and 300 MB for the memory of the tab.
`--folder` keeps the corpus for another run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.store import made_up
from manylabel.server.store.files import CorpusFile
from manylabel.server.store.filling import fill, keep_scores

CORPUS = "made-up"
TICKS = os.sysconf("SC_CLK_TCK")
STEP, PAINT, MEMORY = 300.0, 1_000.0, 300.0
"""The goals: milliseconds of a step and of the first paint, megabytes of the tab."""
VIEWS = ("data", "compare", "labels", "try", "review", "errors", "rules")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-proxy-server", "--disable-background-networking", "--disable-sync"]
WATCH = """(() => {
  const plain = window.fetch, seen = (window.__seen = { flying: 0, last: 0, began: 0 });
  const isPoll = (path) => String(path).startsWith("/v1/jobs?");
  window.fetch = async (path, options) => {
    if (isPoll(path)) return plain(path, options);
    seen.flying += 1;
    try { return await plain(path, options); } finally { seen.flying -= 1; seen.last = performance.now(); }
  };
  new MutationObserver(() => { seen.last = performance.now(); })
    .observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  seen.begin = () => { seen.began = seen.last = performance.now(); };
  seen.isQuiet = () => seen.flying === 0 && performance.now() - seen.last > 400;
})()"""
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def steps() -> dict[str, list[str]]:
    """By name, the addresses that one after the other are opened and timed."""

    def found(view: str, *states: dict[str, str]) -> list[str]:
        return [f"#/{CORPUS}/{view}?{urlencode(state)}" for state in states]

    wrong = [{"is": f"false positive:label {number}"} for number in (0, 1, 2, 50, 900)]
    return {
        "filter: mistakes of a label": found("errors", *wrong),
        "filter: split and state": found(
            "errors", {"split": "test", "state": "not reviewed"}, {"split": "train"}, {"any": "disagreement"}
        ),
        "search: words": found("errors", *({"text": text} for text in ("word0", "word700 word3", "word1*", "word3"))),
        "review: a queue by search": found("review", *({"text": text} for text in ("word5", "word9 word2", "word40"))),
        "label page": found("labels", *({"label": f"label {number}"} for number in (0, 1, 2, 50, 900))),
    }


def make_corpus(folder: Path, documents: int, labels: int) -> None:
    """Fill the folder of a server, unless it has the corpus already."""
    corpus = CorpusFile(folder / "corpora" / CORPUS)
    if corpus.path.exists():
        return
    corpus.folder.mkdir(parents=True)
    plain, scores = made_up(documents, labels)
    corpus.create({"name": CORPUS, "format": "csv", "is_counts": False})
    with corpus.writing() as database:
        fill(database, plain)
    with corpus.writing() as database:
        keep_scores(database, scores)


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, int]]:
    """The address of a server on the folder, and its process."""
    command = [sys.executable, "-m", "manylabel", "serve", "--data", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(found[1] for line in process.stderr if (found := re.search(r"on (http://\S+?),", line))), process.pid
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


def cpu_milliseconds(process: int) -> float:
    """The CPU time of a process and its descendants so far; 0 outside Linux."""
    found, used = [process], 0.0
    for one in found:
        status = Path(f"/proc/{one}/stat")
        if not status.exists():
            continue
        numbers = status.read_text().rpartition(")")[2].split()
        used += 1e3 * (int(numbers[11]) + int(numbers[12])) / TICKS
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return used


@dataclass
class Times:
    """What one step took."""

    passed: float
    used: float


class Tab:
    """A tab of the browser, and how long steps in it take."""

    def __init__(self, browser: Browser, url: str, process: int) -> None:
        self.process = process
        self.page: Page = browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.add_init_script(WATCH)
        self.page.goto(f"{url}/#/{CORPUS}/errors")
        self.page.wait_for_selector("#view h1")
        self.settle()
        found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        self.renderers = [int(one["id"]) for one in found if one["type"] == "renderer"]
        """The process of the tab, and those that Chromium keeps for the next tabs, which do nothing."""

    def used(self) -> float:
        """The CPU time of the server and the tab so far."""
        return sum(map(cpu_milliseconds, (self.process, *self.renderers)))

    def settle(self) -> None:
        """Wait until nothing is loaded or drawn any more."""
        self.page.wait_for_function("() => window.__seen.isQuiet()", polling=50)

    def opened(self, address: str) -> Times:
        """What it takes until the page shows an address."""
        before = self.used()
        self.page.evaluate("address => { window.__seen.begin(); location.hash = address; }", address)
        self.settle()
        return Times(float(self.page.evaluate("window.__seen.last - window.__seen.began")), self.used() - before)

    def dragged(self) -> tuple[list[Times], list[Times]]:
        """What it takes until the figures, and the documents that enter and leave, follow the slider of a threshold."""
        self.opened(f"#/{CORPUS}/labels?label=label+0")
        self.page.locator("ml-threshold-studio input[type=range]").focus()
        figures, documents = [], []
        for key in ("ArrowRight", "ArrowRight", "PageUp", "ArrowLeft", "PageDown", "End", "Home"):
            before = self.used()
            self.page.keyboard.press(key)
            self.settle()
            noted = self.page.evaluate("() => ({ ...document.querySelector('ml-threshold-studio').dataset })")
            figures.append(Times(float(noted["figures"]), 0.0))
            documents.append(Times(float(noted["milliseconds"]), self.used() - before))
        return figures, documents

    def ruled(self) -> list[Times]:
        """What it takes until keyword rules are studied, without the pause after typing."""
        found = []
        for word in ("word3", "word700", "word1*"):
            used = self.opened(f"#/{CORPUS}/rules?{urlencode({'rules': f'label 0: {word}'})}").used
            noted = self.page.evaluate("document.querySelector('ml-rules-view').dataset.milliseconds")
            found.append(Times(float(noted), used))
        return found

    def megabytes(self) -> tuple[float, float]:
        """The JavaScript heap after a collection, and all memory of the tab's process."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"] / 1e6, self._resident() / 1e6

    def _resident(self) -> float:
        """Bytes in memory of the process of the tab, with what it shares with others; 0 outside Linux."""
        paths = [path for one in self.renderers if (path := Path(f"/proc/{one}/status")).exists()]
        sizes = [re.search(r"^VmRSS:\s+(\d+) kB", path.read_text(), re.MULTILINE) for path in paths]
        return max([1024.0 * int(size[1]) for size in sizes if size], default=0.0)


def show(name: str, times: list[Times]) -> None:
    """Print a line of the table."""
    passed = [one.passed for one in times]
    middle, used = statistics.median(passed), statistics.median(one.used for one in times)
    late = "" if middle <= STEP else f"  over {STEP:.0f} ms"
    print(f"{name:40s} {middle:8.0f} {max(passed):8.0f} {used:8.0f}{late}", flush=True)


def show_one(name: str, value: float, goal: float, unit: str) -> None:
    """Print a figure that was measured once."""
    late = "" if value <= goal else f"  over {goal:,.0f} {unit}"
    print(f"{name:40s} {value:8.0f} {unit}{late}", flush=True)


def measure(tab: Tab) -> None:
    """Print the times of all steps, then the memory of the tab."""
    show_one("first paint", float(tab.page.evaluate(FIRST_PAINT)), PAINT, "ms")
    print(f"{'milliseconds':40s} {'median':>8s} {'worst':>8s} {'CPU':>8s}")
    for name, addresses in steps().items():
        tab.opened(addresses[-1])
        show(name, [tab.opened(address) for address in addresses])
    figures, documents = tab.dragged()
    show("threshold drag: figures", figures)
    show("threshold drag: documents", documents)
    show("keyword rule: what it matches", tab.ruled())
    show("a view, opened", [tab.opened(f"#/{CORPUS}/{view}") for view in VIEWS])
    heap, resident = tab.megabytes()
    show_one("JavaScript heap after all views", heap, MEMORY, "MB")
    show_one("memory of the tab after all views", resident, MEMORY, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="Where the corpus is kept for another run.")
    asked = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if chromium is None:
        raise SystemExit("There is no Chromium. Run `make browser` first.")
    with ExitStack() as stack:
        folder = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_corpus(folder, asked.documents, asked.labels)
        url, process = stack.enter_context(server(folder))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        print(f"{asked.documents:,} documents × {asked.labels:,} labels")
        measure(Tab(browser, url, process))
        browser.close()


if __name__ == "__main__":
    main()
