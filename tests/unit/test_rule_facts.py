"""What decision rules declare: defaults, thresholds and exported forms, and which documents they learn from."""

import math
from typing import Any

import numpy as np
import pytest

from manylabel.decisions import base as base_module
from manylabel.decisions.accumulated_posterior import AccumulatedPosterior
from manylabel.decisions.auto import AutoModel
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.best_rule import BestRule, is_target_metric
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.corrected import CorrectedThresholds, LabelThresholds
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.guarantee import Guarantee
from manylabel.decisions.micro_macro import MicroMacroThreshold
from manylabel.decisions.natural import Natural
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.proportional import Proportional
from manylabel.decisions.seen_sets import SeenSets
from manylabel.decisions.single_label import has_one_label_each, one_label_decision
from manylabel.decisions.table import find_rule
from manylabel.decisions.threshold import GlobalThreshold, Threshold
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr, Estimator
from manylabel.exceptions import UnknownNameError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind

LOG_ODDS, MARGIN, POSTERIOR, SIMILARITY = (
    ScoreKind.LOG_ODDS,
    ScoreKind.MARGIN,
    ScoreKind.POSTERIOR,
    ScoreKind.SIMILARITY,
)
LOG_4 = math.log(4)  # the log-odds of 0.8


# ---- defaults --------------------------------------------------------------------------------------------------------

NONE = {"fallback": "none"}
DECIDED = {"rule": None, "folds": 5, "seed": 0, "probabilities": None}
DEFAULTS: list[tuple[Estimator, dict[str, Any]]] = [
    (Natural(), NONE),
    (Threshold(), {"value": None, **NONE}),
    (GlobalThreshold(), {"metric": "micro-f1", **NONE}),
    (PerLabelThreshold(), {"shrinkage": 5.0, "floor": 0.1, "below_floor": "fbr.1", **NONE}),
    (MicroMacroThreshold(), {"folds": 5, **NONE}),
    (TopK(), {"k": 1, **NONE}),
    (AccumulatedPosterior(), {"threshold": 0.5, "metric": "exact-match", "log_tail": False, **NONE}),
    (Proportional(), {"share": 1.0, "threshold": "learned", **NONE}),
    (CalibratedThreshold(), {"metric": "micro-f1", "shrinkage": 0.0, **NONE}),
    (BestRule(), {"metric": "micro-f1", "folds": 5, "tolerance": 0.001, "single_label": False}),
    (CorrectedThresholds(), NONE),
    (Calibration(), {"curve": "logistic", "shrinkage": 1.0}),
    (
        SeenSets(),
        {
            "metric": "sample-f1",
            "dependence": 0.5,
            "curve": "logistic",
            "shrinkage": 0.0,
            "min_count": 1,
            "allow_empty": True,
            **NONE,
        },
    ),
    (
        Guarantee(),
        {"metric": "recall", "level": 0.9, "share": 0.2, "curve": "logistic", "shrinkage": 1.0, **NONE},
    ),
    (DecidedModel(LinearSVM()), DECIDED),
    (
        AutoModel(LinearSVM()),
        {
            "others": (),
            "costs": (),
            "C": None,
            "views": (),
            "stacked": False,
            "label_names": False,
            "most_work": 1e7,
            "n_jobs": None,
            **DECIDED,
        },
    ),
]


@pytest.mark.parametrize(("rule", "expected"), DEFAULTS, ids=lambda value: type(value).__name__)
def test_defaults_are_those_of_the_documentation(rule: Estimator, expected: dict[str, Any]) -> None:
    found = rule.get_params(deep=False)
    assert {name: value for name, value in found.items() if name != "model"} == expected


# ---- thresholds and exported forms -----------------------------------------------------------------------------------


def with_thresholds(rule: Any, *thresholds: float) -> Any:
    return rule.restore({"thresholds_": np.array(thresholds)})


def seen_sets(curve: Any = "logistic") -> SeenSets:
    """Two labels that are sets of their own."""
    scores, Y_true = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0]]), Csr([[1, 0], [0, 1], [1, 0]])
    return SeenSets(curve=curve).fit(scores, Y_true, MARGIN)


def at(*values: float, strict: bool = False, log_odds: bool = False) -> dict[str, Any]:
    return {"rule": "thresholds", "thresholds": list(values), "strict": strict, "log_odds": log_odds}


BEST: dict[str, Any] = {"rule": "top-k", "k": 1}
FORMS: list[tuple[DecisionRule, ScoreKind, dict[str, Any] | None]] = [
    (Natural(), LOG_ODDS, at(0, 0)),
    (Natural(), MARGIN, at(0, 0, strict=True)),
    (Natural(), POSTERIOR, BEST),
    (Natural(), SIMILARITY, BEST),
    (Threshold(0.8), LOG_ODDS, at(1.386294361, 1.386294361)),
    (Threshold(), MARGIN, at(0, 0, strict=True)),
    (Threshold(0), MARGIN, at(0, 0)),
    (Threshold(), POSTERIOR, at(0.5, 0.5)),
    (Threshold(2), SIMILARITY, at(2, 2)),
    (GlobalThreshold().restore({"threshold_": 0.25}), MARGIN, at(0.25, 0.25)),
    (with_thresholds(PerLabelThreshold(), 0.1, 0.2), MARGIN, at(0.1, 0.2)),
    (with_thresholds(CalibratedThreshold(), 0.1, 0.2), MARGIN, at(0.1, 0.2)),
    (with_thresholds(CalibratedThreshold(), 0.1, 0.2), POSTERIOR, at(0.1, 0.2, log_odds=True)),
    (with_thresholds(Proportional(), 0.1, 0.2), MARGIN, at(0.1, 0.2)),
    (with_thresholds(Proportional(threshold="batch"), 0.1, 0.2), MARGIN, None),
    (TopK(3), MARGIN, {"rule": "top-k", "k": 3}),
    (AccumulatedPosterior(0.7), POSTERIOR, {"rule": "accumulated-posterior", "threshold": 0.7, "log_tail": False}),
    (
        AccumulatedPosterior("learn", log_tail=True).restore({"threshold_": -9.0}),
        POSTERIOR,
        {"rule": "accumulated-posterior", "threshold": -9.0, "log_tail": True},
    ),
    (BestRule().restore({"rule_": TopK(3), "tried_": []}), MARGIN, {"rule": "top-k", "k": 3}),
    (seen_sets("isotonic"), MARGIN, None),
    (Guarantee(), MARGIN, None),
]


@pytest.mark.parametrize(("rule", "kind", "expected"), FORMS)
def test_exported_forms(rule: DecisionRule, kind: ScoreKind, expected: dict[str, Any] | None) -> None:
    """The form of docs/exporting.md, for two labels."""
    found: Any = rule.exported(2, kind)
    if found is not None and "thresholds" in found:
        found = {**found, "thresholds": found["thresholds"].round(9).tolist()}
    assert found == expected


def test_exported_seen_sets() -> None:
    """Sets {A}, twice, and {B}: π = 2.5/4 and 1.5/4, odds 5/3 and 3/5, so that √(2/(5/3)) and √(1/(3/5)) are added."""
    rule = seen_sets()
    form = rule.exported(2, MARGIN)
    assert form is not None
    assert (form["rule"], form["metric"]) == ("seen-sets", "sample-f1")
    assert form["sets"].toarray().tolist() == [[1, 0], [0, 1]]
    assert form["sets"].dtype == np.float64
    assert form["log_dependence"].tolist() == pytest.approx([math.log(6 / 5) / 2, math.log(5 / 3) / 2])
    assert form["curves"]["curve"] == "logistic"
    assert form["curves"]["slopes"] is rule.calibration_.slopes_
    assert form["curves"]["intercepts"] is rule.calibration_.intercepts_


SHOWN: list[tuple[DecisionRule, ScoreKind, list[float] | None, list[float] | None]] = [
    (Natural(), LOG_ODDS, [0.5, 0.5], [0, 0]),
    (Natural(), MARGIN, [0, 0], [0, 0]),
    (Natural(), SIMILARITY, None, None),
    (Threshold(0.8), LOG_ODDS, [0.8, 0.8], [LOG_4, LOG_4]),
    (Threshold(), POSTERIOR, [0.5, 0.5], [0.5, 0.5]),
    (Threshold(), MARGIN, [0, 0], [0, 0]),
    (Threshold(), SIMILARITY, [0.5, 0.5], [0.5, 0.5]),
    (GlobalThreshold().restore({"threshold_": LOG_4}), LOG_ODDS, [0.8, 0.8], [LOG_4, LOG_4]),
    (with_thresholds(PerLabelThreshold(), LOG_4, 0), LOG_ODDS, [0.8, 0.5], [LOG_4, 0]),
    (with_thresholds(CalibratedThreshold(), LOG_4, 0), LOG_ODDS, [0.8, 0.5], [LOG_4, 0]),
    (with_thresholds(CalibratedThreshold(), LOG_4, 0), POSTERIOR, [0.8, 0.5], [0.8, 0.5]),
    (with_thresholds(CalibratedThreshold(), LOG_4, 0), MARGIN, [LOG_4, 0], [LOG_4, 0]),
    (with_thresholds(Proportional(), LOG_4, 0), LOG_ODDS, [0.8, 0.5], [LOG_4, 0]),
    (with_thresholds(Proportional(threshold="batch"), LOG_4, 0), LOG_ODDS, None, None),
    (BestRule().restore({"rule_": Threshold(0.8), "tried_": []}), LOG_ODDS, [0.8, 0.8], [LOG_4, LOG_4]),
    (TopK(2), MARGIN, None, None),
]


@pytest.mark.parametrize(("rule", "kind", "shown", "scores"), SHOWN)
def test_thresholds_in_both_units(
    rule: DecisionRule, kind: ScoreKind, shown: list[float] | None, scores: list[float] | None
) -> None:
    """σ(log 4) = 0.8 and σ(0) = 0.5."""
    for found, expected in ((rule.shown_thresholds(2, kind), shown), (rule.score_thresholds(2, kind), scores)):
        assert (None if found is None else found.tolist()) == (None if expected is None else pytest.approx(expected))


def test_rules_without_anything_special() -> None:
    rule = Threshold(0.5)
    assert rule.at_threshold(0.3) is None
    assert AccumulatedPosterior(0.9, log_tail=True).at_threshold(0.3).get_params() == {
        **AccumulatedPosterior().get_params(),
        "threshold": 0.3,
    }
    assert rule.corrected_thresholds() is None
    assert rule.changes() == []
    assert rule.guarantee() is None
    assert rule.choice({"C": 1.0}) is None
    assert rule.settled() is rule
    assert rule.divide(Csr([[1, 0]]), 0) is None
    for learned in (GlobalThreshold(), SeenSets()):
        with pytest.raises(ValueError, match=f"^{type(learned).__name__} has not learned anything$"):
            learned.check_learned({})
    with pytest.raises(ValueError, match=r"^Calibration has no isotonic curves of all labels$"):
        Calibration("isotonic").check_learned({"slopes_": np.ones(2), "intercepts_": np.zeros(2)})


def test_thresholds_of_labels_are_a_mapping() -> None:
    changed: list[Any] = []
    thresholds = LabelThresholds({"roads": 0.5, "buses": 0.25}, changed.append)
    thresholds["roads"] = 1
    assert dict(thresholds) == {"roads": 1.0, "buses": 0.25}
    assert (len(thresholds), list(thresholds), type(thresholds["roads"])) == (2, ["roads", "buses"], float)
    assert changed == [{"roads": 1}]


def test_names_of_rules_and_metrics() -> None:
    with pytest.raises(UnknownNameError, match=r"^Unknown decision rule: '7'"):
        find_rule(7)  # type: ignore[arg-type]
    known = ("micro-f1", "macro-f1", "sample-f1", "exact-match", "hamming-loss", "recall@1", "recall@999999")
    assert all(map(is_target_metric, known))
    assert not any(map(is_target_metric, ("accuracy", "recall@0", "recall@1000000", "recall@5x", "recall@", 5, None)))


# ---- documents that rules learn from ---------------------------------------------------------------------------------


def test_no_more_documents_are_held_out_than_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of 40 documents; in 48 bytes, 3 rows of two scores, or 1 of six."""
    Y, rule = Csr(np.ones((40, 2), dtype=np.int8)), Guarantee(share=0.25)
    assert [len(rows) for rows in rule.divide(Y, 0) or ()] == [30, 10]
    monkeypatch.setattr(base_module, "WORKING_MEMORY", 48)
    assert [len(rows) for rows in rule.divide(Y, 0) or ()] == [37, 3]
    assert [len(rows) for rows in rule.divide(Y, 0, 6) or ()] == [39, 1]
    assert [len(rows) for rows in rule.divide(Y, 0, 1000) or ()] == [39, 1]


def test_each_fold_is_decided_by_a_rule_of_the_others() -> None:
    random = np.random.default_rng(0)
    Y = Csr((random.random((12, 2)) < 0.5).astype(np.int8))
    scores = Y.toarray() + random.normal(size=(12, 2))
    rule = GlobalThreshold()
    crossed = rule.fit_crossed(scores, Y, MARGIN)
    assert crossed is not None
    assert rule.threshold_ == GlobalThreshold().fit(scores, Y, MARGIN).threshold_
    assert sorted(crossed.rows.tolist()) == list(range(12))
    assert np.unique(crossed.folds).tolist() == [0, 1, 2, 3, 4]
    (decided,) = crossed.decisions
    for fold in range(5):
        inside, others = crossed.rows[crossed.folds == fold], crossed.rows[crossed.folds != fold]
        alone = GlobalThreshold().fit(scores[others], Csr(Y[others]), MARGIN).decide(scores[inside], MARGIN)
        assert decided[crossed.folds == fold].toarray().tolist() == alone.toarray().tolist()
    assert (crossed.metric, crossed.tolerance) == (None, 0.0)
    assert GlobalThreshold().fit_crossed(scores[:4], Csr(Y[:4]), MARGIN) is None
    assert GlobalThreshold().fit_crossed(scores[:5], Csr(Y[:5]), MARGIN) is not None


def test_a_rule_that_learns_nothing_decides_all_documents_unseen() -> None:
    crossed = TopK(1).fit_crossed(np.array([[1.0, 2.0], [3.0, 0.0]]), Csr([[0, 1], [0, 1]]), MARGIN)
    assert crossed is not None
    assert (crossed.rows.tolist(), crossed.folds.tolist()) == ([0, 1], [0, 0])
    assert [decided.toarray().tolist() for decided in crossed.decisions] == [[[0, 1], [1, 0]]]


# ---- documents with one label each -----------------------------------------------------------------------------------


def test_one_label_each() -> None:
    assert has_one_label_each(Csr([[1, 0], [0, 1]]))
    for Y in (Csr((0, 2)), Csr([[1], [1]]), Csr([[1, 0], [0, 0]]), Csr([[1, 1], [0, 1]])):
        assert not has_one_label_each(Y)


@pytest.mark.parametrize(
    ("decision", "preset", "expected"),
    [
        ({"rule": "best", "metric": "recall@3"}, "best", None),
        ({"rule": "top-k", "k": 3}, "best", None),
        ({"rule": "best"}, "natural", {"rule": "best", "metric": "micro-f1", "single_label": True}),
        (
            {"rule": "best", "metric": "macro-f1", "folds": 3, "tolerance": 0.01},
            "best",
            {"rule": "best", "metric": "macro-f1", "single_label": True, "folds": 3, "tolerance": 0.01},
        ),
        (
            {"rule": "global", "metric": "exact-match", "probabilities": "isotonic"},
            "global",
            {"rule": "best", "metric": "micro-f1", "single_label": True, "probabilities": "isotonic"},
        ),
        ({"rule": "own", "probabilities": None}, "own", {"rule": "top-k", "k": 1, "probabilities": None}),
        ({"rule": "threshold", "value": 0.3}, "threshold", {"rule": "top-k", "k": 1}),
    ],
)
def test_the_decision_for_one_label(decision: dict[str, Any], preset: str, expected: dict[str, Any] | None) -> None:
    assert one_label_decision(decision, preset) == expected
