"""The one rule by which claims are decided, and the verdicts that rested on ties or hundredths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.evaluation.findings import IN_VIEW, Claim, Experiment, Reading, Reproduction, Verdict
from manylabel.evaluation.gaps import CLEAR, NEAR, Gap, Ratios, leads, near, paired_gap, repeat_gap
from manylabel.papers import godbole2004, lecture, vilar2004
from manylabel.papers.godbole2004_runs import METHODS, per_document
from manylabel.papers.godbole2004_tables import FORCED, LABELLED, PLAIN, TRIED, document_ratios
from manylabel.papers.jobs import Plan, read_studies
from manylabel.reports.reproduction_page import reproduction_html, reproduction_markdown, summary_markdown


def test_papers_page_rule_is_open_on_ties_and_where_the_interval_contains_the_bound() -> None:
    assert Gap(0.0, 0.0, 0.0).above() is None
    assert Gap(0.18, -0.05, 0.4).above() is None
    assert Gap(6.1, 4.7, 7.5).above(CLEAR) is None
    assert Gap(2.0, 1.0, 3.0).level() is None
    assert Gap(0.5, 0.2, NEAR).level() is True
    assert near(90.0, 91.5)
    assert not near(90.0, 91.6)
    assert Verdict.of([True, None]) is Verdict.IN_PART
    assert Verdict.of([False, None]) is Verdict.IN_PART
    assert Verdict.of([False, False]) is Verdict.NOT_REPRODUCED


def test_papers_page_intervals_are_paired_and_repeatable() -> None:
    """The same documents are drawn for both: a constant lead has an interval of no width, however they vary."""
    values = np.random.default_rng(3).random(200)
    gap = paired_gap(Ratios.mean(values + 0.01), Ratios.mean(values), 100.0)
    assert (gap.value, gap.low, gap.high) == pytest.approx((1.0, 1.0, 1.0))
    assert repeat_gap([1.0, 2.0, 4.0], [1.0, 1.0, 1.0]) == repeat_gap([1.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    # 20 documents of 200 right by one method only: ±1.96 √(.1 · .9 / 200) = ±4.2 points
    one_only = Ratios.mean(np.repeat([1.0, 0.0], [20, 180]))
    gap = paired_gap(one_only, Ratios.mean(np.zeros(200)), 100.0)
    assert gap.value == pytest.approx(10)
    assert (gap.low, gap.high) == pytest.approx((5.8, 14.2), abs=1.0)


def test_papers_page_leaves_undefined_ratios_out_of_the_mean() -> None:
    """Three documents: right, without a predicted label, without a true one but with a predicted one."""
    Y = np.array([[1, 0], [1, 0], [0, 0]])
    scores = np.array([[1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    documents = per_document(Csr(Y), scores)
    one = np.ones((1, 3))
    every = [document_ratios(documents, "plain", column, labelled=False).resampled(one)[0] for column in range(3)]
    assert every == pytest.approx([1 / 3, 1 / 2, 1 / 2])  # accuracy of 3, precision of 2, recall of 2 documents
    one = np.ones((1, 2))
    some = [document_ratios(documents, "plain", column, labelled=True).resampled(one)[0] for column in range(3)]
    assert some == pytest.approx([1 / 2, 1, 1 / 2])


def _godbole(plan: Plan) -> dict[str, Any]:
    """Four methods that are the same but for a few documents; in the readings the paper's order, clearly."""
    order = {"SVM": (80, 95, 80), "ConfMat": (75, 85, 90), "BandSVM": (82, 90, 85), "SVM-HF": (86, 91, 84)}
    outcomes: dict[str, Any] = {}
    for job in godbole2004.jobs(plan):
        _, part, name, *rest = job.key.split("/")
        split = int(rest[0]) if rest else 0
        row = [float(value) for value in order[name.partition(",")[0]]] if "," in name else [84.0, 90.0, 87.0]
        values = [value + 0.1 * split for value in (*row, 88.0)]
        fixed = "," in name or "," in part
        right = [1] * (80 if not fixed else 60 + 10 * list(order).index(name.partition(",")[0]))
        right += [0] * (100 - len(right))
        counts = {"right": right, "predicted": [1] * 100}
        outcomes[job.key] = {
            "metrics": dict.fromkeys((FORCED, PLAIN, "forced, all documents"), values),
            "micro": values[:3],
            "all_negative": 18.0 if name == "SVM, C = 0.35" else 9.0 - 0.01 * (name == "ConfMat"),
            "sizes": [50.0] * 9,
            "coefficients": {"grain": 2.0, "wheat": 1.0, "money-fx": -1.0, "sugar": -2.0},
            "chosen": 1.0,
            "documents": {"true": [1] * 100, "forced": counts, "plain": counts},
        }
    return outcomes


def test_papers_page_calls_equal_models_in_part_with_difference_and_interval() -> None:
    plan = Plan()
    whole, thirty, _, sizes, *_ = read_studies(godbole2004.STUDIES, plan, _godbole(plan))
    for claim in (*whole.claims[1:], thirty.claims[0]):
        assert claim.verdict is Verdict.IN_PART, claim.text
        assert "+0.00 (+0.00 to +0.00)" in claim.found
        assert claim.readings[0].text.startswith(IN_VIEW)
    assert whole.claims[3].readings[0].verdict is Verdict.REPRODUCED
    fewer = sizes.claims[0]
    assert fewer.verdict is Verdict.IN_PART
    assert "SVM minus ConfMat +0.01 (+0.01 to +0.01), BandSVM +0.00 (+0.00 to +0.00)" in fewer.found
    assert fewer.readings[0].verdict is Verdict.REPRODUCED


def test_papers_page_runs_every_row_of_the_readings() -> None:
    keys = {job.key for job in godbole2004.jobs(Plan())}
    assert {f"godbole2004/135, labelled/{name}" for name in LABELLED} < keys
    assert {f"godbole2004/30/{name}/9" for name in TRIED} < keys
    assert set(METHODS) < set(TRIED)


def test_papers_page_quick_run_judges_only_what_it_computes_in_full() -> None:
    plan = Plan(quick=True)
    whole, thirty, test, sizes, grain, stand_in = read_studies(godbole2004.STUDIES, plan, _godbole(plan))
    for experiment in (thirty, test, sizes):
        assert {claim.verdict for claim in experiment.claims} == {Verdict.QUICK}
    assert all(claim.verdict is not Verdict.QUICK for claim in (*whole.claims, *grain.claims))
    assert stand_in.claims[0].verdict is Verdict.NOT_TESTED
    # these two do the same work in a quick run, and so keep their verdicts
    for paper in (vilar2004, lecture):
        assert [job.key for job in paper.jobs(plan)] == [job.key for job in paper.jobs(Plan())]


def test_papers_page_prints_no_verdict_and_the_reading_in_all_forms() -> None:
    reading = Reading("with hinge loss", Verdict.REPRODUCED, "A minus B +2.0.")
    claim = Claim("A is best.", Verdict.IN_PART, "A minus B +0.1 (-0.2 to +0.4).", readings=[reading])
    full = [
        Reproduction("vilar2004", "a citation", [Experiment("a setting", claims=[claim], key="X-0", title="a title")])
    ]
    quick = [Reproduction("vilar2004", "a citation", [full[0].experiments[0].without_verdicts()], quick=True)]
    for render in (reproduction_html, lambda found: reproduction_markdown(found, "manylabel reproduce")):
        assert f"{IN_VIEW}: with hinge loss: reproduced. A minus B +2.0." in render(full)
        assert "no verdict: quick settings" not in render(full)
        assert "no verdict: quick settings" in render(quick)
        assert "A minus B +0.1 (-0.2 to +0.4)." in render(quick)
    assert len(summary_markdown(full)[0].split("|")) == len(summary_markdown(quick)[0].split("|")) - 1


def test_papers_page_leads_name_every_rival() -> None:
    figures = {name: Ratios.mean([value, value]) for name, value in (("A", 2.0), ("B", 1.0), ("C", 3.0))}
    assert {name: gap.above() for name, gap in leads(figures, "A").items()} == {"B": True, "C": False}
