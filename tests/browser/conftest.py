"""A browser, and a server of the workbench with the letters that come with manylabel."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsing import Served, Visit, start_server, stop_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]
DIRECT = "--no-proxy-server"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests are skipped where there is no browser."""
    for item in items:
        if CHROMIUM is None and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="there is no Chromium; `make browser` installs it"))


@pytest.fixture(scope="package")  # it keeps an event loop running, in which no other test of the process could run one
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, DIRECT])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the corpus 'townhall', scored, and the model 'townhall' of a fast method."""
    started = start_server(tmp_path_factory.mktemp("server"))
    try:
        started.run(kind="import", data="townhall", corpus="townhall")
        started.run(kind="train", corpus="townhall", model="townhall", method="svm")
        started.run(kind="score", corpus="townhall", method="svm")
        yield started
    finally:
        stop_server(started)


@pytest.fixture(scope="module")
def opened(browser: Browser, served: Served) -> Iterator[Callable[..., Visit]]:
    """What opens a view of the workbench in a page of its own: `opened("#/townhall/try", width=420, scheme="dark")`."""
    pages: list[Page] = []

    def open_page(address: str = "", *, width: int = 1440, scheme: Any = "light", user: str = "Ann") -> Visit:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(page)
        page.add_init_script(f"localStorage.setItem('manylabel-user', {json.dumps(user)})")
        visit = Visit(page)
        page.goto(f"{served.url}/{address}")
        page.wait_for_selector("ml-workbench h1")
        return visit

    yield open_page
    for page in pages:
        page.close()
