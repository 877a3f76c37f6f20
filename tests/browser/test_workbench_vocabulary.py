"""Labels of a vocabulary in the workbench: found by any of their names, and by their URIs."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable

from browsing import Served, Visit

WORDS = "uri,label_de,label_en\nhttp://x.org/1,Busse,buses\nhttp://x.org/2,Wege,roads\nhttp://x.org/3,Bahn,trams\n"


def test_labels_are_added_by_any_name_of_the_vocabulary(served: Served, opened: Callable[..., Visit]) -> None:
    for name, content in (
        ("words.csv", WORDS),
        ("titles.tsv", "a late bus\t<http://x.org/1>\na hole\t<http://x.org/2>\n"),
    ):
        urllib.request.urlopen(urllib.request.Request(f"{served.url}/v1/data/{name}", content.encode(), method="PUT"))
    served.run(kind="import", data="titles", corpus="titles")
    page = opened("#/titles/review?document=1").page
    field = page.get_by_role("combobox", name="Add a label")
    field.fill("Wege")
    page.get_by_role("option", name="roads Wege").wait_for()
    field.fill("night")
    page.get_by_role("option", name="night add as a new label (not in the vocabulary)").wait_for()
    field.fill("http://x.org/3")
    page.get_by_role("option", name="trams http://x.org/3, in the vocabulary").click()
    page.locator(".review-label", has_text="trams").wait_for()


def test_a_vocabulary_is_shown_as_one(served: Served, opened: Callable[..., Visit]) -> None:
    for name, content in (("names.csv", WORDS), ("broken.ttl", "<http://x.org/1> a\n")):
        urllib.request.urlopen(urllib.request.Request(f"{served.url}/v1/data/{name}", content.encode(), method="PUT"))
    page = opened("#/townhall/data?data=names").page
    page.get_by_text("Vocabulary with 3 concepts (de, en). It names").wait_for()
    assert page.locator(".failure").count() == 0
    page.get_by_role("link", name="← All data").click()
    listed = page.locator("section", has=page.get_by_role("heading", name="Vocabularies"))
    listed.get_by_role("link", name="broken").click()
    page.get_by_role("heading", name="The vocabulary could not be read").wait_for()
