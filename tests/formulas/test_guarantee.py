"""Conformal risk control by hand: which threshold keeps a guarantee, and which guarantee no threshold can keep."""

import math
from typing import Any

import numpy as np
import pytest

from manylabel.decisions import guarantee as guarantee_module
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.guarantee import Guarantee, bound_of, false_discovery_threshold, recall_threshold
from manylabel.decisions.table import find_rule
from manylabel.estimator import Csr
from manylabel.exceptions import DecisionError, ParameterError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import ScoreKind

KEYS = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.5], [0.3, 0.25]])
TRUTH = np.array([[True, False], [True, False], [True, True], [True, False]])


def test_recall_of_four_documents() -> None:
    """Missed shares at the thresholds 0.9, 0.8, 0.6, 0.5, 0.3: (0 1 1 1), (0 0 1 1), (0 0 ½ 1), (0 0 0 1), none.

    With α = 0.6 the sum of losses may be 5 · 0.6 − 1 = 2: reached at 0.8. The threshold lies half-way down to 0.6.
    """
    found = recall_threshold(KEYS, TRUTH, alpha=0.6)
    assert found.threshold == pytest.approx((0.8 + 0.6) / 2)
    assert found.risk == pytest.approx(2 / 4)
    assert found.bound == pytest.approx((4 * 2 / 4 + 1) / 5)


def test_a_higher_recall_needs_a_lower_threshold() -> None:
    """α = 0.5 allows a sum of 1.5 (0.6), α = 0.4 of 1 (0.5), α = 0.3 of 0.5: only 0.3 has so little."""
    thresholds = [recall_threshold(KEYS, TRUTH, alpha).threshold for alpha in (0.5, 0.4, 0.3)]
    assert thresholds == pytest.approx([(0.6 + 0.5) / 2, (0.5 + 0.3) / 2, (0.3 + 0.25) / 2])


def test_what_four_documents_cannot_guarantee() -> None:
    """Nothing missed still leaves (0 + 1)/5: no α below 0.2 can be guaranteed."""
    found = recall_threshold(KEYS, TRUTH, alpha=0.19)
    assert (found.risk, found.bound) == (0, 0.2)
    assert bound_of(0, 4) == 0.2


def test_impossible_labels_are_missed_at_every_threshold() -> None:
    """A label training never saw (−∞) costs its document half a recall, whatever the threshold: (½ + 1)/5 at best."""
    keys = KEYS.copy()
    keys[2, 1] = -math.inf
    assert recall_threshold(keys, TRUTH, alpha=0.2).bound == pytest.approx((0.5 + 1) / 5)


def test_false_discoveries_of_four_documents() -> None:
    """Document 0 has its wrong label first: 1, then ½, but 1 is what counts from there on. 0.5 and 0.2 are wrong too.

    Greatest shares so far at 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.2: sums 1, 1, 1, 1, 1½, 1½, 2.
    α = 0.4 allows 5 · 0.4 − 1 = 1, so that 0.6 is the last threshold that will do; α = 0.5 allows 1½, down to 0.4.
    """
    keys = np.array([[0.9, 0.7], [0.8, 0.5], [0.6, 0.2], [0.4, 0.1]])
    truth = np.array([[False, True], [True, False], [True, False], [True, True]])
    found = false_discovery_threshold(keys, truth, alpha=0.4)
    assert found.threshold == pytest.approx((0.6 + 0.5) / 2)
    assert found.risk == pytest.approx(1 / 4)
    assert found.bound == pytest.approx(2 / 5)
    assert false_discovery_threshold(keys, truth, alpha=0.5).threshold == pytest.approx((0.4 + 0.2) / 2)
    assert false_discovery_threshold(keys, truth, alpha=0.39).threshold == math.inf


def test_labels_of_one_key_come_together() -> None:
    """A right and a wrong label of the same key: the share is ½ at once, never 1."""
    found = false_discovery_threshold(np.array([[0.5, 0.5]]), np.array([[False, True]]), alpha=0.75)
    assert found.threshold == pytest.approx(0.5, rel=1e-5)
    assert (found.risk, found.bound) == (0.5, 0.75)


def prepared(**settings: Any) -> Guarantee:
    """A rule whose probabilities are those of the log-odds themselves: slope 1, intercept 0."""
    rule = Guarantee(**settings)
    calibration = Calibration(shrinkage=0)
    calibration.slopes_, calibration.intercepts_ = np.ones(2), np.zeros(2)
    rule.calibration_ = calibration
    return rule


def log_odds(probabilities: list[list[float]]) -> np.ndarray:
    p = np.array(probabilities)
    return np.asarray(np.log(p / (1 - p)))


def test_what_a_label_adds_to_the_recall() -> None:
    """With p = (0.8, 0.5): 0.8/(1 + 0.5) and 0.5/(1 + 0.8); for the false-discovery rate p itself."""
    scores = log_odds([[0.8, 0.5]])
    assert prepared().keys(scores, ScoreKind.MARGIN)[0] == pytest.approx([0.8 / 1.5, 0.5 / 1.8])
    assert prepared(metric="fdr").keys(scores, ScoreKind.MARGIN)[0] == pytest.approx([0.8, 0.5])


def test_documents_without_a_label_do_not_count_for_a_guaranteed_recall() -> None:
    scores = log_odds([[0.9, 0.1], [0.6, 0.2], [0.7, 0.7]])
    with_empty = prepared(level=0.5).fit(scores, Csr([[1, 0], [1, 0], [0, 0]]), ScoreKind.MARGIN)
    without = prepared(level=0.5).fit(scores[:2], Csr([[1, 0], [1, 0]]), ScoreKind.MARGIN)
    assert with_empty.guarantee() == without.guarantee()
    record = with_empty.guarantee()
    assert (record.documents, record.metric, record.level) == (2, "recall", 0.5)
    assert (record.threshold, record.risk, record.bound) == (with_empty.threshold_, with_empty.risk_, with_empty.bound_)


def test_the_best_label_of_a_document_left_empty() -> None:
    """With the fallback the first label is always given: only the third document misses ½ then. Level 0.7 allows a sum
    of 4 · 0.3 − 1 = 0.2, so that its second label is needed; 0.5 allows 1, and the best labels alone will do.
    """
    scores = log_odds([[0.6, 0.3], [0.2, 0.1], [0.9, 0.4]])
    rule = prepared(level=0.7, fallback="argmax").fit(scores, Csr([[1, 0], [1, 0], [1, 1]]), ScoreKind.MARGIN)
    assert rule.threshold_ == pytest.approx((0.4 / 1.9 + 0.3 / 1.6) / 2)
    assert rule.decide(scores, ScoreKind.MARGIN).toarray().tolist() == [[1, 0], [1, 0], [1, 1]]
    lenient = prepared(level=0.5, fallback="argmax").fit(scores, Csr([[1, 0], [1, 0], [1, 1]]), ScoreKind.MARGIN)
    assert lenient.threshold_ == math.inf
    assert lenient.decide(scores, ScoreKind.MARGIN).toarray().tolist() == [[1, 0], [1, 0], [1, 0]]


def test_a_guaranteed_false_discovery_rate() -> None:
    """Shares of wrong labels at .9, .7 (a right and a wrong label), .6, .2, .1: sums 0, ½, ½, 1, 1½ of 3 documents.

    Level ½ allows 4 · ½ − 1 = 1: down to .2. A document without a label counts here: at .8 its label is wrong, and the
    sums are 0, 1, 1½, 1½, 2, 2½ of 4; level ½ allows 5 · ½ − 1 = 1½, down to .6.
    """
    labels = Csr([[1, 0], [1, 0], [0, 1]])
    rule = prepared(metric="fdr", level=0.5).fit(HELD_OUT, labels, ScoreKind.MARGIN)
    record = rule.guarantee()
    assert record.documents == 3
    assert [record.risk, record.bound] == pytest.approx([1 / 3, 0.5])
    assert record.threshold == pytest.approx((0.2 + 0.1) / 2)
    assert rule.decide(HELD_OUT, ScoreKind.MARGIN).toarray().tolist() == [[1, 0], [1, 1], [1, 1]]
    more, labels = np.vstack([HELD_OUT, log_odds([[0.8, 0.05]])]), Csr([[1, 0], [1, 0], [0, 1], [0, 0]])
    wider = prepared(metric="fdr", level=0.5).fit(more, labels, ScoreKind.MARGIN).guarantee()
    assert wider.documents == 4
    assert wider.risk == pytest.approx(1.5 / 4)
    assert wider.threshold == pytest.approx((0.6 + 0.2) / 2)
    assert record.as_dict() == {
        "metric": "fdr",
        "level": 0.5,
        "documents": 3,
        "threshold": record.threshold,
        "risk": record.risk,
        "bound": record.bound,
    }


def test_candidates_of_held_out_documents_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with all scores, the others −∞; keys are computed in batches of one document."""
    scores = np.array([[1.0, -math.inf], [0.5, 2.0], [-math.inf, 0.3], [0.2, -1.0]])
    rows, columns = np.nonzero(np.isfinite(scores))
    candidates = Csr((scores[rows, columns], (rows, columns)), shape=scores.shape)
    Y = Csr([[1, 0], [0, 1], [1, 1], [1, 0]])
    monkeypatch.setattr(guarantee_module, "WORKING_MEMORY", 1)
    for settings in ({"level": 0.5}, {"metric": "fdr", "level": 0.7}):
        few = prepared(**settings).fit_candidates(candidates, Y, ScoreKind.MARGIN)
        assert few.guarantee() == prepared(**settings).fit(scores, Y, ScoreKind.MARGIN).guarantee()


HELD_OUT, HELD_OUT_LABELS = log_odds([[0.9, 0.1], [0.6, 0.2], [0.7, 0.7]]), Csr([[1, 0], [1, 0], [0, 1]])
REFUSED: dict[str, tuple[Guarantee, Csr]] = {
    "recall=0.9 cannot be guaranteed: giving every label that training has seen to 3 held-out documents with a label "
    "allows at most 0.75. Ask for that, give more documents, or hold out a larger share.": (
        prepared(level=0.9),
        HELD_OUT_LABELS,
    ),
    "fdr=0.2 cannot be guaranteed: 3 held-out documents allow no less than about 0.5. "
    "Ask for that, give more documents, or hold out a larger share.": (
        prepared(metric="fdr", level=0.2),
        HELD_OUT_LABELS,
    ),
    "recall=0.9 cannot be guaranteed: there are no held-out documents with a label. "
    "Give more documents or a larger share.": (prepared(level=0.9), Csr(np.zeros((3, 2), dtype=np.int8))),
    "Guarantee: a label forced on every document (fallback='argmax') does not go with a guaranteed "
    "false-discovery rate. Leave fallback at 'none'.": (Guarantee("fdr", fallback="argmax"), HELD_OUT_LABELS),
    "Guarantee: call prepare with out-of-fold scores before fit with held-out ones.": (Guarantee(), HELD_OUT_LABELS),
}


def test_what_can_be_guaranteed_is_rounded_down() -> None:
    """Of 8 documents nothing is missed: 1 − 1/9 = .8888…"""
    scores, labels = np.vstack([HELD_OUT] * 3)[:8], Csr(np.vstack([HELD_OUT_LABELS.toarray()] * 3)[:8])
    with pytest.raises(
        DecisionError, match=r"to 8 held-out documents with a label allows at most 0\.888\. Ask for that"
    ):
        prepared(level=0.95).fit(scores, labels, ScoreKind.MARGIN)


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_guaranteed_is_refused(message: str) -> None:
    rule, truth = REFUSED[message]
    with pytest.raises((DecisionError, ParameterError)) as error:
        rule.fit(HELD_OUT, truth, ScoreKind.MARGIN)
    assert str(error.value) == message


def test_a_level_must_be_below_1() -> None:
    with pytest.raises(ParameterError, match="level must be a number above 0 and below 1"):
        prepared(level=1.0).fit(HELD_OUT, HELD_OUT_LABELS, ScoreKind.MARGIN)
    assert find_rule("guarantee") is Guarantee


def test_the_model_never_sees_what_was_held_out() -> None:
    """Fitted on the rows that were kept, and on nothing else; the rule rests on the other ones."""
    random = np.random.default_rng(0)
    X, Y = Csr(random.random((60, 8))), Csr((random.random((60, 3)) < 0.5).astype(np.int8))
    decided = DecidedModel(LinearSVM(), Guarantee(level=0.7, share=0.25), folds=3, seed=5)
    parts = Guarantee(level=0.7, share=0.25).divide(Y, seed=5)
    assert parts is not None
    kept, held = parts
    assert (len(kept), len(held)) == (45, 15)
    decided.fit(X, Y)
    alone = LinearSVM().fit(X[kept], Y[kept])
    np.testing.assert_array_equal(decided.scores(X), alone.scores(X))
    guarantee = decided.guarantee()
    assert guarantee is not None
    labelled = np.diff(Y[held].indptr) > 0
    assert guarantee.documents == labelled.sum()
    right = Y[held].multiply(decided.predict(X[held])).sum(axis=1)
    recall = (right[labelled] / np.diff(Y[held].indptr)[labelled]).mean()
    assert guarantee.risk == pytest.approx(1 - recall)
    assert guarantee.bound <= 0.3
