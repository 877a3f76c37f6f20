"""The workbench in Chromium on 100,000 documents × 1,000 labels: ``python -m benchmarks.workbench``.

The corpus is that of `benchmarks.store`. A server is started on it, and Chromium walks all views. For each step the
table shows the time from the address or key to the last change of the page, the median and the worst of some runs;
the goals are 300 milliseconds, 1 second for the first paint and 300 MB for the memory of the tab.
`--folder` keeps the corpus for another run.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.store import made_up
from manylabel.server.store.files import CorpusFile
from manylabel.server.store.filling import fill, keep_scores

CORPUS = "made-up"
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
def server(folder: Path) -> Iterator[str]:
    """The address of a server on the folder."""
    command = [sys.executable, "-m", "manylabel", "serve", "--data", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield next(found[1] for line in process.stderr if (found := re.search(r"on (http://\S+?),", line)))
    finally:
        process.terminate()
        process.wait(60)
        process.stderr.close()


class Tab:
    """A tab of the browser, and how long steps in it take."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.page: Page = browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.add_init_script(WATCH)
        self.page.goto(f"{url}/#/{CORPUS}/review")
        self.page.wait_for_selector("#view h1")
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is loaded or drawn any more."""
        self.page.wait_for_function("() => window.__seen.isQuiet()", polling=50)

    def timed(self) -> float:
        """Milliseconds from the beginning of a step to the last change of the page."""
        self.settle()
        return float(self.page.evaluate("window.__seen.last - window.__seen.began"))

    def opened(self, address: str) -> float:
        """Milliseconds until the page shows an address."""
        self.page.evaluate("address => { window.__seen.begin(); location.hash = address; }", address)
        return self.timed()

    def dragged(self) -> list[tuple[float, float]]:
        """Milliseconds until the figures, and the documents that enter and leave, follow the slider of a threshold."""
        self.opened(f"#/{CORPUS}/labels?label=label+0")
        self.page.locator("ml-threshold-studio input[type=range]").focus()
        found = []
        for key in ("ArrowRight", "ArrowRight", "PageUp", "ArrowLeft", "PageDown", "End", "Home"):
            self.page.keyboard.press(key)
            self.settle()
            noted = self.page.evaluate("() => ({ ...document.querySelector('ml-threshold-studio').dataset })")
            found.append((float(noted["figures"]), float(noted["milliseconds"])))
        return found

    def ruled(self) -> list[float]:
        """Milliseconds until keyword rules are studied, without the pause after typing."""
        found = []
        for word in ("word3", "word700", "word1*"):
            self.opened(f"#/{CORPUS}/rules?{urlencode({'rules': f'label 0: {word}'})}")
            found.append(
                float(self.page.evaluate("Number(document.querySelector('ml-rules-view').dataset.milliseconds)"))
            )
        return found

    def megabytes(self) -> tuple[float, float]:
        """The JavaScript heap after a collection, and all memory of the tab's process where Linux tells it."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        session.send("Performance.enable")
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return metrics["JSHeapUsedSize"] / 1e6, self._private() / 1e6

    def _private(self) -> float:
        """Bytes that belong to the largest renderer alone."""
        session = self.page.context.browser.new_browser_cdp_session()  # type: ignore[union-attr]
        found = session.send("SystemInfo.getProcessInfo")["processInfo"]
        sizes = [0.0]
        for one in found:
            path = Path(f"/proc/{one['id']}/smaps_rollup")
            if one["type"] == "renderer" and path.exists():
                lines = re.findall(r"^Private_\w+:\s+(\d+) kB", path.read_text(), re.MULTILINE)
                sizes.append(1024.0 * sum(map(int, lines)))
        return max(sizes)


def show(name: str, values: list[float], goal: float = STEP, unit: str = "ms") -> None:
    """Print a line of the table."""
    middle, worst = statistics.median(values), max(values)
    late = "" if middle <= goal else f"  over {goal:,.0f} {unit}"
    print(f"{name:44s} {middle:8.0f} {worst:8.0f} {unit}{late}", flush=True)


def measure(tab: Tab) -> None:
    """Print the times of all steps, then the memory of the tab."""
    print(f"{'':44s} {'median':>8s} {'worst':>8s}")
    show("first paint", [float(tab.page.evaluate(FIRST_PAINT))], PAINT)
    for name, addresses in steps().items():
        tab.opened(addresses[-1])
        show(name, [tab.opened(address) for address in addresses])
    dragged = tab.dragged()
    show("threshold drag: figures", [figures for figures, _ in dragged])
    show("threshold drag: documents", [documents for _, documents in dragged])
    show("keyword rule: what it matches", tab.ruled())
    show("a view: opened", [tab.opened(f"#/{CORPUS}/{view}") for view in VIEWS])
    heap, private = tab.megabytes()
    show("JavaScript heap after all views", [heap], MEMORY, "MB")
    if private:
        show("memory of the tab alone after all views", [private], MEMORY, "MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=1_000)
    parser.add_argument("--folder", type=Path, help="Where the corpus is kept for another run.")
    asked = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("There is no Chromium. Run `make browser` first.")
    with ExitStack() as stack:
        folder = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        make_corpus(folder, asked.documents, asked.labels)
        url = stack.enter_context(server(folder))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        print(f"{asked.documents:,} documents × {asked.labels:,} labels")
        measure(Tab(browser, url))
        browser.close()


if __name__ == "__main__":
    main()
