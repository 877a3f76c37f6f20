"""What `evaluate` says of a method beside its figures."""

from __future__ import annotations

from typing import Any

import pytest

from manylabel import TextClassifier
from manylabel.data.labels import LabelSets
from manylabel.evaluation.experiment import evaluate
from manylabel.reports.page import render_text
from manylabel.reports.result_page import choices_text, result_page

TEXTS = ["bus late again", "hole in the road", "bus stuck in a hole in the road", "late bus", "road works", "bus"] * 4
LABELS: LabelSets = [["buses"], ["roads"], ["buses", "roads"], ["buses"], ["roads"], ["buses"]] * 4
RARELY: LabelSets = [["buses"], ["roads"], [], [], [], []] * 4
ASKED = ["late bus", "road", "again", "bus road"]


def _result(method: str, labels: LabelSets = LABELS, **settings: Any) -> Any:
    model = TextClassifier(method, n_jobs=1, **settings).fit(TEXTS, labels)
    names = [["buses"], ["roads"], [], ["buses", "roads"]]
    return evaluate(model, ASKED, names, ids=list("abcd"), data="streets", split="test")


def test_documents_without_a_positive_score_are_counted_before_the_fallback() -> None:
    """F-1: the share of all-negative documents is reported though each gets its best label."""
    result = _result("svm-zero", RARELY, model={"C": 0.001})  # so little cost that the bias alone speaks
    assert result.remarks == {"all_negative_share": 1.0}
    assert result.metrics["all"]["all-negative-share"] == 0.0
    assert (
        choices_text(result) == "svm-zero: 100.0 % of the documents had no label by themselves and got their best one."
    )


def test_without_a_fallback_there_is_nothing_to_say() -> None:
    assert _result("svm-zero", decision={"fallback": "none"}).remarks == {}
    assert _result("svm").remarks == {}


@pytest.mark.parametrize(("method", "name"), [("svm-hf", "f"), ("band-svm", "band"), ("confmat", "beta")])
def test_what_was_tuned_is_said(method: str, name: str) -> None:
    result = _result(method)
    assert list(result.remarks["chosen"]) == [name]
    assert f"{method}: {name} = {result.remarks['chosen'][name]:g}; " in choices_text(result)
    fixed = _result(method, model={name: 0.5})
    assert "chosen" not in fixed.remarks


def test_who_supports_whom_is_a_table() -> None:
    """F-2: buses and roads mostly come alone: each speaks against the other."""
    result = _result("svm-hf", model={"f": 0.5})
    assert set(result.remarks["supports"]) == {"buses", "roads"}
    assert "labels that support or oppose each other" in render_text(result_page([result], "test"))
