"""The button that scores the documents is off while a job does it, also one that was started elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from browsing import Served, Visit

STARTED_ELSEWHERE: dict[str, Any] = {
    "id": "0" * 16, "kind": "score", "state": "running", "created": time.time(), "started": time.time(), "ended": None,
    "attempt": 1, "remark": None, "error": None, "request": {"kind": "score", "corpus": "townhall"}, "result": None,
    "progress": {"stages": [{"stage": "Folds", "done": 2, "total": 5}]},
}  # fmt: skip


@pytest.fixture(scope="module")
def visit(opened: Callable[..., Visit]) -> Visit:
    return opened("#/townhall/data")


def report(visit: Visit, **job: Any) -> None:
    """Have the server list a job among those that run, until `visit.page.unroute_all` ends that."""
    listed = json.dumps({"jobs": [{**STARTED_ELSEWHERE, **job}]})
    visit.page.route("**/v1/jobs?state=running*", lambda route: route.fulfill(body=listed))


def test_a_job_that_was_started_elsewhere_turns_the_button_off(visit: Visit) -> None:
    button = visit.page.locator("ml-score button")
    visit.page.wait_for_selector("ml-score button:enabled >> text=Score them again")
    report(visit)
    visit.page.wait_for_selector("ml-score button:disabled >> text=Scoring … 40 %")
    assert button.get_attribute("title") == "The documents are being scored already"
    visit.page.unroute_all()
    visit.page.wait_for_selector("ml-score button:enabled >> text=Score them again")


def test_jobs_of_other_corpora_and_kinds_leave_the_button_on(visit: Visit) -> None:
    report(visit, request={"kind": "score", "corpus": "another"})
    visit.page.wait_for_selector("ml-job >> text=score another")
    assert visit.page.locator("ml-score button").is_enabled()
    visit.page.unroute_all()
    report(visit, kind="audit", request={"kind": "audit", "corpus": "townhall"})
    visit.page.wait_for_selector("ml-job >> text=audit townhall")
    assert visit.page.locator("ml-score button").is_enabled()
    visit.page.unroute_all()


def test_the_button_is_off_until_its_own_job_has_ended(visit: Visit, served: Served) -> None:
    served.run(kind="import", data="townhall", corpus="scoring")
    visit.page.goto(f"{served.url}/#/scoring/errors")
    visit.page.get_by_role("button", name="Score the documents", exact=True).click()
    visit.page.wait_for_selector("ml-score button:disabled >> text=Scoring …")
    (job,) = served.ask("/v1/jobs?corpus=scoring&kind=score")["jobs"]
    served.ask(f"/v1/jobs/{job['id']}/cancel", {})
    visit.page.wait_for_selector("ml-score button:enabled >> text=Score the documents")
    assert len(served.ask("/v1/jobs?corpus=scoring&kind=score")["jobs"]) == 1
    visit.page.goto(f"{served.url}/#/townhall/data")
    remove = "fetch('/v1/corpora/scoring', { method: 'DELETE' }).then(({ ok }) => ok)"
    assert visit.page.evaluate(remove)
    visit.forget("/v1/corpora/scoring")
    assert visit.complaints == []
