"""Work in pieces, verdicts, and the pages made of them."""

from __future__ import annotations

import html.parser
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from manylabel.evaluation.findings import Claim, Curves, Entry, Experiment, Reproduction, Sheet, Verdict
from manylabel.exceptions import UnknownNameError
from manylabel.papers import PAPERS, find_paper
from manylabel.papers.jobs import Job, Ledger, Plan, fingerprint, run_jobs
from manylabel.papers.numbers import numbers
from manylabel.reports.reproduction_page import (
    reproduction_html,
    reproduction_markdown,
    reproduction_page,
    summary_rows,
)

NASTY = "</script><b>&'\""


@pytest.fixture
def found() -> list[Reproduction]:
    experiment = Experiment(
        f"a setting {NASTY}",
        [f"a choice {NASTY}"],
        [Sheet(f"sheet {NASTY}", [f"column {NASTY}"], {f"row {NASTY}": [Entry(50.0, 1.0, 48.5)], "other": [Entry()]})],
        [Curves(f"curve {NASTY}", "x", "y", {f"line {NASTY}": [(0.0, 1.0), (1.0, 2.0)]})],
        [Claim(f"a claim {NASTY}", Verdict.IN_PART, "found", "Table 1", "a reason | with a bar")],
        "X-0",
        f"a title {NASTY}",
    )
    return [Reproduction("vilar2004", f"citation {NASTY}", [experiment], 2.0)]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    done: list[str] = []

    def work(name: str) -> Any:
        if name == "b" and len(done) == 1:
            raise KeyboardInterrupt
        done.append(name)
        return {"value": (1, 0.1)}

    jobs = [Job(f"paper/{name}", 1, partial(work, name)) for name in "abc"]
    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs, Ledger(tmp_path), "Working")
    done.append("interrupted")
    outcomes, _ = run_jobs(jobs, Ledger(tmp_path), "Working")
    assert done == ["a", "interrupted", "b", "c"]
    assert outcomes == {f"paper/{name}": {"value": [1, 0.1]} for name in "abc"}  # as read back, whether new or kept


def test_work_struck_out_is_done_again(tmp_path: Path) -> None:
    ledger, count = Ledger(tmp_path), iter(range(10))
    jobs = [Job("paper/one", 1, lambda: next(count))]
    assert run_jobs(jobs, ledger, "Working")[0] == run_jobs(jobs, ledger, "Working")[0] == {"paper/one": 0}
    ledger.forget(["paper/one"])
    assert run_jobs(jobs, ledger, "Working")[0] == {"paper/one": 1}


def test_keys_that_look_alike_are_kept_apart(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    keys = ["a/b", "a-b", "a_b", "x" * 100 + "1", "x" * 100 + "2", "b = n1/(n1 + n2)"]
    for place, key in enumerate(keys):
        ledger.keep(key, place, 0.0)
    assert [ledger.find(key) for key in keys] == [(place, 0.0) for place in range(len(keys))]


def test_outcomes_are_kept_by_paper_seed_and_amount() -> None:
    plans = [Plan(0), Plan(1), Plan(0, quick=True)]
    assert len({fingerprint(plan, paper) for plan in plans for paper in ("vilar2004", "lecture")}) == 6
    threads = [fingerprint(Plan(0, n_jobs=n_jobs), "lecture") for n_jobs in (1, 2)]
    assert threads[0] == threads[1]  # they change no result


def test_an_unknown_paper_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'vilar2004'\? Known: all, "):
        find_paper("vilar2005")


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_has_its_module_and_numbers_with_sources(name: str) -> None:
    module = find_paper(name)
    keys = [job.key for job in module.jobs(Plan(quick=True))]
    assert len(keys) == len(set(keys))
    assert all(key.startswith(f"{name}/") for key in keys)
    tables = numbers(name)
    assert all("source" in table for table in tables.values() if isinstance(table, dict))


@pytest.mark.parametrize("name", PAPERS)
@pytest.mark.parametrize("quick", [False, True])
def test_the_experiments_of_a_paper_share_out_its_jobs(name: str, quick: bool) -> None:
    module = find_paper(name)
    keys = [job.key for job in module.jobs(Plan(quick=quick))]
    used = [[key for key in keys if study.rests_on(key)] for study in module.STUDIES]
    assert all(used)
    assert {key for own in used for key in own} == set(keys)


def test_experiments_have_keys_of_their_own() -> None:
    keys = [study.key for name in PAPERS for study in find_paper(name).STUDIES]
    assert len(set(keys)) == len(keys)


class _Texts(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_shows_everything_and_runs_nothing_it_was_given(found: list[Reproduction]) -> None:
    page = _Texts()
    page.feed(reproduction_html(found))
    whole = "".join(page.texts)
    assert "b" not in page.tags
    assert page.tags.count("script") == 5  # those of a page with charts, and the data of its one chart
    for text in ("a title", "a setting", "a choice", "sheet", "column", "row", "a claim", "citation"):
        assert f"{text} {NASTY}" in whole
    assert "50.0 ±1.0" in whole
    assert "48.5" in whole


def test_text_and_markdown_tell_the_same(found: list[Reproduction]) -> None:
    markdown = reproduction_markdown(found, "manylabel reproduce vilar2004")
    assert "`manylabel reproduce vilar2004`" in markdown
    assert "50.0 ±1.0 [48.5]" in markdown
    assert "a reason \\| with a bar" in markdown
    assert summary_rows(found) == [("vilar2004", 0, 1, 0, 0)]
    assert any(getattr(block, "text", "").startswith("X-0 a title") for block in reproduction_page(found))


def test_a_reproduction_is_plain_data(found: list[Reproduction]) -> None:
    assert json.loads(json.dumps(found[0].as_dict()))["experiments"][0]["claims"][0]["verdict"] == "reproduced in part"
