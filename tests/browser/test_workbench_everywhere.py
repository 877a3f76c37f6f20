"""Every view of the workbench: at two widths and in both themes, by keyboard alone, without a dead control."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from browsing import Served, Visit
from controls import Watched
from manylabel.web import FOLDER

VIEWS = re.findall(r'\{ name: "(\w+)", title:', (FOLDER / "workbench" / "app.js").read_text(encoding="utf-8"))
LABEL = "transport/buses"
PARAMETERS = {
    "try": "text=The+bus+is+late+and+the+road+has+a+hole.",
    "review": "queue=disagreement",
    "errors": f"is=false+negative:{LABEL}",
    "labels": f"label={LABEL}",
    "rules": f"rules={LABEL}:+bus%0A{LABEL}:+tram%0A{LABEL}:+stop&line=2",
}
"""By view, the state in which it shows most."""
EXCEPTIONS: dict[str, dict[str, str]] = {
    "data": {
        "form.tools:0 > label > select": "the format of an export: the button beside it takes it",
        "form.tools:1 > label > select": "the model to download: the button beside it takes it",
        "form.panel.make > div.tools > label > input": "the name of a new corpus: the button below takes it",
    },
    "review": {"select.relation": "what a filter asks of a label: the label that is chosen beside it takes it"},
}
"""By view, parts of the places of controls that need not have an effect of their own, with the reason."""
FOLLOW_FOCUS = """() => {
  const view = document.querySelector('#view');
  window.__reached = [];
  window.__follow ??= ({ target }) => window.__reached.push(
    document.querySelector('#view').contains(target) ? target.dataset.place ?? '' : null);
  document.addEventListener('focusin', window.__follow);
  view.focus();
}"""
STEPS = 20
"""Presses of Tab between two looks at what they reached."""
ENABLED_KEYS = """async () => (await import('/web/workbench/shortcuts.js')).all()
  .flatMap(([, all]) => all.filter(({ enabled }) => enabled?.() ?? true).flatMap(({ keys }) => keys))"""
CONTRAST = {"runOnly": ["color-contrast"]}
"""All that depends on the theme."""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def address_of(view: str) -> str:
    return f"#/townhall/{view}?{PARAMETERS.get(view, 'nothing=1')}"


@pytest.fixture(scope="module")
def watched(opened: Callable[..., Visit], served: Served) -> tuple[Visit, Watched]:
    visit = opened("#/townhall/try")
    made = Watched.watch(visit.page)
    visit.page.reload()
    made.settle()
    return visit, made


def test_all_views_are_there() -> None:
    assert VIEWS == ["data", "compare", "labels", "try", "review", "errors", "rules"]


def test_an_address_with_a_stray_percent_sign_is_read(opened: Callable[..., Visit]) -> None:
    visit = opened("#%")
    visit.page.wait_for_function("() => /^#[/]\\w+[/]review/.test(location.hash)")
    read = """async (hashes) => {
      const { parse } = await import('/web/workbench/route.js');
      return hashes.map(parse).map(({ corpus, view }) => [corpus, view]);
    }"""
    addresses = {
        "#/100%/try": ["100%", "try"],
        "#/a%2Fb/try": ["a/b", "try"],
        "#/%E0%A4/data": ["%E0%A4", "data"],  # half of a character
        "#%": [None, "%"],
    }
    assert visit.page.evaluate(read, list(addresses)) == list(addresses.values())
    assert visit.complaints == []


@pytest.mark.parametrize("view", VIEWS)
def test_views_fit_and_are_accessible_in_both_themes(watched: tuple[Visit, Watched], served: Served, view: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visit, page = watched[0], watched[0].page
    found: list[str] = []
    for width in (1440, 420):
        page.set_viewport_size({"width": width, "height": 900})
        watched[1].open(address_of(view))
        if (wider := page.evaluate(WIDER)) > 0:
            found.append(f"{width} px: the page is {wider} px wider than the window")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            options = {"resultTypes": ["violations"], **(CONTRAST if scheme == "dark" else {})}
            violations = axe.run(page, options=options).response["violations"]
            found += [
                f"{width} px, {scheme}: {one['id']}: {one['nodes'][0]['html'][:300]}"
                for one in violations
                if one["impact"] in ("serious", "critical")
            ]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.emulate_media(color_scheme="light")
    assert not found, "\n".join(found)
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith((served.url, "data:", "blob:"))] == []


@pytest.mark.parametrize("view", VIEWS)
def test_every_control_is_reached_by_tab(watched: tuple[Visit, Watched], view: str) -> None:
    page, watch = watched[0].page, watched[1]
    watch.open(address_of(view))
    expected = page.evaluate(
        "() => Object.values(window.__watch.controls()).filter((one) => one.type !== 'radio')"
        ".map((one, place) => { one.dataset.place = place; return place; }).length"
    )
    page.evaluate(FOLLOW_FOCUS)
    reached: list[str | None] = []
    for number in range(400):
        page.keyboard.press("Tab")
        if number % STEPS == 0 and None in (reached := page.evaluate("window.__reached")):
            break
    missing = sorted({str(place) for place in range(expected)} - set(reached[: reached.index(None)]))
    kinds = watch.kinds()
    assert [kinds[int(place)] for place in missing] == []


def test_a_dead_control_is_found(watched: tuple[Visit, Watched]) -> None:
    page, watch = watched[0].page, watched[1]
    watch.open("#/townhall/try")
    page.reload()
    watch.settle()
    page.evaluate("() => document.querySelector('#view').append(document.createElement('button'))")
    # What a busy computer draws late looks like an effect, so one of three tries must see none.
    assert any(watch.operate("main > button[submit]") is False for _ in range(3))
    page.reload()
    watch.settle()


@pytest.mark.parametrize("view", VIEWS)
def test_no_control_is_dead(watched: tuple[Visit, Watched], view: str) -> None:
    watch = watched[1]
    watch.dead.clear()
    watch.operated = 0
    watch.operate_all(address_of(view), EXCEPTIONS.get(view, {}))
    assert watch.operated > 2
    assert not watch.dead, "\n".join(watch.dead)


@pytest.mark.parametrize("view", VIEWS)
def test_every_shortcut_does_something(watched: tuple[Visit, Watched], view: str) -> None:
    page, watch = watched[0].page, watched[1]
    watch.open(address_of(view))
    dead = []
    for keys in page.evaluate(ENABLED_KEYS):
        watch.open(address_of(view))
        page.evaluate("() => { document.activeElement.blur(); window.__watch.begin(); }")
        for key in keys.split(" ") if keys.strip() else [keys]:
            page.keyboard.press(key)
        if not watch.sees():
            dead.append(keys)
    assert dead == []


def test_a_key_before_a_shortcut_of_two_keys_takes_nothing_from_it(watched: tuple[Visit, Watched]) -> None:
    page, watch = watched[0].page, watched[1]
    watch.open("#/townhall/data")
    page.locator("#view a").first.focus()
    for key in ("Tab", "x", "g", "g", "c"):
        page.keyboard.press(key)
    page.locator("h1", has_text="Compare").wait_for()
