"""Hostile and very large content in every view: it is shown as text, runs nothing, and leaves the page usable."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from browsing import Served, Visit
from controls import Watched
from manylabel.web import FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Dialog

VIEWS = re.findall(r'\{ name: "(\w+)", title:', (FOLDER / "workbench" / "app.js").read_text(encoding="utf-8"))
LABELS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "quote\"s 'and' \\more",
    "a/b/c",
    "time: past: far",
    "..",
    "../../etc",
    "%2F..%2F%00",
    "x?y=1&z=2#w",
    "\u202egnp.exe \u2066mixed",
    "👩‍👩‍👧 family",
    "e\u0301\u0308\u0323 combining",
    "{{7*7}} ${8*8}",
    "nul \u2400 like \u200b zero",
]
MANY = 5_000
MOST_NODES = 20_000
RUN = "document.querySelectorAll('#view script, #view img, #view [onclick], #view [onerror], #view iframe').length"
"""How many elements of documents or labels became part of the page as HTML."""


def upload(served: Served, name: str, documents: list[dict[str, object]]) -> None:
    body = "\n".join(map(json.dumps, documents)).encode()
    request = urllib.request.Request(f"{served.url}/v1/data/{name}.jsonl", body, method="PUT")
    with urllib.request.urlopen(request, timeout=60) as response:
        assert response.status < 300
    served.run(kind="import", data=name, corpus=name)


@pytest.fixture(scope="module")
def hostile(served: Served) -> str:
    """A corpus whose ids, texts and labels are hostile, with scores and a model; one document has 2 MB."""
    documents: list[dict[str, object]] = [
        {
            "id": f"{LABELS[n % len(LABELS)]} {n}",
            "text": f"word{n % len(LABELS)} {LABELS[n % len(LABELS)]} <b onclick=alert(3)>bold</b> \u202e reversed {n}",
            "labels": [LABELS[n % len(LABELS)], LABELS[(5 * n + 1) % len(LABELS)]],
        }
        for n in range(70)
    ]
    text = "a long text <script>alert(4)</script> of many words "
    documents.append({"id": "long", "text": text * (2_000_000 // len(text)), "labels": [LABELS[0]]})
    upload(served, "hostile", documents)
    served.run(kind="train", corpus="hostile", model="hostile", method="rocchio")
    served.run(kind="score", corpus="hostile", method="rocchio")
    return "hostile"


@pytest.fixture(scope="module")
def many(served: Served) -> str:
    """A corpus of 5,000 labels."""
    each = 25
    upload(
        served,
        "many",
        [
            {"id": str(n), "text": f"words {n}", "labels": [f"label {n * each + place:04d}" for place in range(each)]}
            for n in range(MANY // each)
        ],
    )
    return "many"


def refuse(visit: Visit, dialog: Dialog) -> None:
    visit.complaints.append(f"dialog {dialog.message}")
    dialog.dismiss()


@pytest.fixture(scope="module")
def watched(opened: Callable[..., Visit], hostile: str, many: str) -> tuple[Visit, Watched]:
    visit = opened(f"#/{hostile}/try")
    visit.page.on("dialog", lambda dialog: refuse(visit, dialog))
    made = Watched.watch(visit.page)
    visit.page.reload()
    made.settle()
    return visit, made


def state(view: str, label: str) -> str:
    """The parameters of a view that show a label most."""
    rule = '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '": word1'
    chosen = {
        "labels": {"label": label},
        "try": {"document": "1", "label": label},
        "rules": {"rules": rule},
        "review": {"document": "1", "is": f"true:{label}"},
    }
    return urlencode(chosen.get(view, {"is": f"true:{label}"}))


def check(visit: Visit) -> None:
    assert visit.page.evaluate(RUN) == 0
    assert visit.complaints == []


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_labels_and_documents_are_text(watched: tuple[Visit, Watched], view: str, hostile: str) -> None:
    visit, watch = watched
    for label in LABELS if view in ("labels", "errors") else LABELS[:3]:
        watch.open(f"#/{hostile}/{view}?{state(view, label)}")
        check(visit)
        if view in ("labels", "errors", "rules"):
            shown = visit.page.evaluate(
                "() => document.querySelector('#view').textContent + [...document.querySelectorAll('#view input')]"
                ".map(({ value }) => value).join()"
            )
            assert label in shown


def test_filters_find_the_documents_of_hostile_labels(
    watched: tuple[Visit, Watched], served: Served, hostile: str
) -> None:
    visit, watch = watched
    for label in LABELS:
        body = {"filter": {"labels": [{"label": label, "relation": "true"}]}, "limit": 1}
        expected = served.ask(f"/v1/corpora/{hostile}/search", body)["total"]
        assert expected > 0
        watch.open(f"#/{hostile}/errors?{urlencode({'is': f'true:{label}'})}")
        assert visit.page.locator("ml-documents .count").inner_text().startswith(f"{expected} document")
    watch.page.locator("ml-chips button").first.press("Enter")
    watch.settle()
    assert "is=" not in visit.page.url
    check(visit)


def test_hostile_labels_are_reviewed(opened: Callable[..., Visit], served: Served, hostile: str) -> None:
    visit = opened(f"#/{hostile}/review?document=1")
    visit.page.locator(".review-head").wait_for()
    for label in LABELS:
        visit.page.keyboard.press("l")
        visit.page.keyboard.insert_text(label)
        visit.page.keyboard.press("Enter")
        visit.page.locator(".review-saved", has_text=label.strip()).wait_for()
        visit.page.keyboard.press("Escape")
        visit.page.locator("h1").click()
    found = served.ask(f"/v1/corpora/{hostile}/documents/1")["labels"]
    assert {one["label"] for one in found if one["state"] == "accepted"} == set(LABELS)
    for _ in LABELS:
        served.ask(f"/v1/corpora/{hostile}/undo", {"by": "Ann"})
    check(visit)


@pytest.mark.parametrize("view", [view for view in VIEWS if view in ("try", "review", "errors")])
def test_a_document_of_2_mb_stays_fluid(watched: tuple[Visit, Watched], hostile: str, view: str) -> None:
    visit, watch = watched
    watch.open(f"#/{hostile}/{view}?document=71")
    assert visit.page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    visit.page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    assert visit.page.evaluate(RUN) == 0
    check(visit)


@pytest.mark.parametrize("view", VIEWS)
def test_5000_labels_do_not_fill_the_page(watched: tuple[Visit, Watched], many: str, view: str) -> None:
    visit, watch = watched
    watch.open(f"#/{many}/{view}")
    assert visit.page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    check(visit)
