"""Beyond the papers: what is chosen how, and counts that add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from manylabel.data.corpus import Corpus
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.seen_sets import SeenSets
from manylabel.estimator import Csr
from manylabel.evaluation.findings import Verdict
from manylabel.metrics import compute_metrics
from manylabel.models.score_kinds import ScoreKind
from manylabel.papers import beyond
from manylabel.papers.beyond import METRICS, READINGS, RULES
from manylabel.papers.jobs import Plan, read_studies
from manylabel.papers.numbers import numbers


def _label_sets(seed: int, n_documents: int = 60, n_labels: int = 5) -> Csr:
    return Csr((np.random.default_rng(seed).random((n_documents, n_labels)) < 0.3).astype(np.int8))


def test_counts_of_splits_pool_to_the_metrics_of_the_whole() -> None:
    truth, given = _label_sets(0), _label_sets(1)
    cuts = [slice(0, 13), slice(13, 14), slice(14, 60)]
    found = beyond.pooled([beyond.counted(Csr(truth[rows]), Csr(given[rows])) for rows in cuts])
    assert found == pytest.approx([100 * v for v in compute_metrics(truth, given, list(METRICS.values())).values()])


def test_pooled_by_hand() -> None:
    # label 0: 2·1/(2 + 1); label 1: 0/(1 + 0); one of two documents wholly right
    counts = beyond.counted(Csr(np.array([[1, 0], [1, 1]])), Csr(np.array([[1, 0], [0, 0]])))
    assert counts == {"right": [1, 0], "given": [1, 0], "true": [2, 1], "exact": 1, "documents": 2}
    assert beyond.pooled([counts]) == pytest.approx([100 * 2 / 4, 100 * (2 / 3) / 2, 50])


def test_thresholds_are_averaged_over_divisions() -> None:
    Y = Csr([[1], [1], [0], [0]])
    first, second = np.array([[2.0], [1.0], [0.0], [-1.0]]), np.array([[4.0], [3.0], [0.0], [-1.0]])
    # the middles of the gaps, 0.5 and 1.5, have the mean 1.0
    asked = np.array([[0.99], [1.0]])
    rule = PerLabelThreshold(shrinkage=0)
    assert beyond.decided(rule, [first, second], Y, asked).toarray().tolist() == [[0], [1]]
    assert beyond.decided(rule, [first], Y, asked).toarray().tolist() == [[1], [1]]


def test_seen_sets_are_learned_on_the_first_division() -> None:
    rng = np.random.default_rng(0)
    Y, rule = _label_sets(2), SeenSets(metric="exact-match", dependence=0.25)
    first, second = (Y.toarray() + rng.normal(0, scale, Y.shape) for scale in (0.5, 5.0))
    found = beyond.decided(rule, [first, second], Y, first)
    alone = rule.fit(first, Y, ScoreKind.MARGIN).decide(first, ScoreKind.MARGIN)
    assert found.toarray().tolist() == alone.toarray().tolist()


def test_readings_stand_side_by_side_with_length_one_and_words_of_training_only() -> None:
    train = Corpus(["0", "1"], {"title": ["wheat", "ships"], "body": ["wheat exports", "ships sail"]})
    asked = Corpus(["2"], {"title": ["ship"], "body": ["unheard ships"]})
    one = ({"fields": ("title", "*")},)
    two = (*one, {"stemmer": "english"})
    (narrow, _), (V, W) = (beyond.side_by_side(readings, train, asked, 1) for readings in (one, two))
    assert np.sqrt(V.multiply(V).sum(axis=1)) == pytest.approx([1, 1])
    assert V[:, : narrow.shape[1]].toarray() == pytest.approx(narrow.toarray() / np.sqrt(2))
    assert W.shape[1] == V.shape[1]
    assert W.nnz == 2  # the word ships, and the stem ship for both forms of it: neither unheard nor a title word


def _outcomes(plan: Plan) -> dict[str, Any]:
    """Every recipe alike, but that one is better on training documents and worse on the test split."""
    n_labels = 2
    plain = {"right": [5] * n_labels, "given": [10] * n_labels, "true": [10] * n_labels, "exact": 5, "documents": 10}
    outcomes: dict[str, Any] = {}
    for reading in beyond._readings(plan):
        for block in range(beyond.blocks(plan)):
            outcomes[f"beyond/reuters/{reading}/{block}"] = {rule: dict(plain) for rule in RULES}
        outcomes[f"beyond/reuters/{reading}/test"] = {
            rule: {"metrics": [99.0, 99.0, 99.0], "intervals": [[98.0, 100.0]] * 3} for rule in RULES
        }
    last, rule = list(READINGS)[-1], "thresholds shrunken by 2"
    outcomes[f"beyond/reuters/{last}/0"][rule] = {**plain, "right": [9] * n_labels, "exact": 9}
    outcomes[f"beyond/reuters/{last}/test"][rule] = {
        "metrics": [88.0, 63.0, 84.5],
        "intervals": [[87.0, 88.5], [60.0, 66.0], [83.0, 86.0]],
    }
    for problem in beyond.PROBLEMS:
        for draw in range(5):
            outcomes[f"beyond/yahoo/{problem}/{draw}"] = {"C": 1.0, "sample-f1": 68.0}
    return outcomes


@pytest.mark.parametrize("quick", [True, False])
def test_the_recipe_is_chosen_by_training_documents_not_by_the_test_part(quick: bool) -> None:
    plan = Plan(quick=quick)
    reuters, _ = read_studies(beyond.STUDIES, plan, _outcomes(plan))
    named = [f"{metric}: words and stems, thresholds shrunken by 2." for metric in METRICS]
    assert reuters.chosen[: len(named)] == named
    assert [row[1].ours for row in reuters.sheets[0].rows.values()] == [88.0, 63.0, 84.5]


def test_the_verdict_says_which_aims_were_missed_and_how_far() -> None:
    plan = Plan()
    aims = numbers("beyond")["reuters"]["aims"]
    assert aims == {"micro F1": 88.6, "macro F1": 62.9, "exact match": 84.2}
    claim = read_studies(beyond.STUDIES, plan, _outcomes(plan))[0].claims[0]
    assert claim.verdict is Verdict.IN_PART
    assert claim.found == "88.00, 63.00 and 84.50."
    assert claim.reason == " ".join(
        f"The aim of {metric} lies {where} our interval."
        for metric, where in zip(METRICS, ("above", "within", "within"), strict=True)
    )
    quick = read_studies(beyond.STUDIES, Plan(quick=True), _outcomes(Plan(quick=True)))[0].claims[0]
    assert quick.verdict is Verdict.QUICK
    assert quick.found == claim.found
