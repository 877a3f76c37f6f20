"""Where nothing differs, tests say so as often as they guarantee; where something does, they find it."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.data.labels import label_matrix
from manylabel.evaluation.paired_tests import (
    holm,
    mcnemar_exact_match,
    mcnemar_labels,
    permutation_test,
    sign_test_labels,
)
from manylabel.evaluation.rank_tests import friedman, wilcoxon
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics

PAIRS = 300
LEVEL = 0.05
LOWEST, HIGHEST = binom.ppf([1e-4, 1 - 1e-4], PAIRS, LEVEL)  # type: ignore[misc]


@cache
def simulated(better: float = 0.0) -> list[tuple[DocumentStatistics, DocumentStatistics]]:
    """Pairs of systems that err independently on equally hard documents; the first a little less often."""
    rng = np.random.default_rng(11)
    pairs = []
    for _ in range(PAIRS):
        truth = rng.random((90, 15)) < 0.25
        hard = 0.25 * rng.random((90, 1))
        one, two = (truth ^ (rng.random(truth.shape) < rate * hard) for rate in (1 - better, 1.0))
        pairs.append((document_statistics(truth, one), document_statistics(truth, two)))
    return pairs


def alarms(p_values: list[float]) -> int:
    return sum(p <= LEVEL for p in p_values)


@pytest.mark.parametrize("metric", ["micro-f1", "sample-f1"])
def test_permutation_is_at_its_level(metric: str) -> None:
    found = [permutation_test(a, b, metric, seed, 199).p for seed, (a, b) in enumerate(simulated())]
    assert LOWEST <= alarms(found) <= HIGHEST
    assert 0.4 < np.mean(found) < 0.6  # p is uniform, or nearly, where the null holds


def test_macro_f1_is_held_to_both_kinds_of_chance() -> None:
    """Coins for documents and coins for labels are each at their level; the larger p is below it."""
    found = [permutation_test(a, b, "macro-f1", seed, 199) for seed, (a, b) in enumerate(simulated())]
    over_documents, over_labels = [one.over_documents for one in found], [one.over_labels or 0.0 for one in found]
    assert LOWEST <= alarms(over_documents) <= HIGHEST
    assert LOWEST <= alarms(over_labels) <= HIGHEST
    assert 0.4 < np.mean(over_documents) < 0.6
    assert 0.4 < np.mean(over_labels) < 0.6
    assert 0 < alarms([one.p for one in found]) <= min(alarms(over_documents), alarms(over_labels))


def test_mcnemar_and_signs_stay_below_their_level() -> None:
    """Exact tests of whole numbers are conservative: at most their level, seldom at it."""
    documents = [mcnemar_exact_match(a, b).p for a, b in simulated()]
    signs = [sign_test_labels(a, b).p for a, b in simulated()]
    families = [min(holm([label.p for label in mcnemar_labels(a, b)])) for a, b in simulated()[:150]]
    assert 0 < alarms(documents) <= HIGHEST
    assert 0 < alarms(signs) <= HIGHEST
    assert alarms(families) <= binom.ppf(1 - 1e-4, 150, LEVEL)


def test_friedman_and_wilcoxon_are_at_their_level() -> None:
    tables = np.random.default_rng(5).random((PAIRS, 12, 4))
    found = [friedman(table) for table in tables]
    assert LOWEST <= alarms([one.p for one in found]) <= HIGHEST
    assert alarms([one.chi2_p for one in found]) <= alarms([one.p for one in found])  # χ² is the more conservative
    assert LOWEST / 2 <= alarms([wilcoxon(*table[:, :2].T).p for table in tables]) <= HIGHEST


def test_a_real_difference_is_found() -> None:
    pairs = simulated(better=0.4)[:60]
    assert alarms([permutation_test(a, b, "micro-f1", 0, 199).p for a, b in pairs]) > 55
    assert alarms([permutation_test(a, b, "macro-f1", 0, 199).p for a, b in pairs]) > 55
    assert alarms([mcnemar_exact_match(a, b).p for a, b in pairs]) > 30
    assert alarms([sign_test_labels(a, b).p for a, b in pairs]) > 45
    tables = np.random.default_rng(6).random((60, 12, 4)) + 0.8 * np.eye(4)[0]
    assert alarms([friedman(table).p for table in tables]) > 55


@pytest.mark.slow
def test_the_same_method_with_another_seed_is_seldom_called_another() -> None:
    """`svm` on the letters with 40 seeds, which decide the folds that thresholds are learned on: all 780 pairs.

    The pairs share their models, so the shares below vary more than those of 780 independent pairs would.
    """
    answers = same_method_other_seeds("svm", 40)
    pairs = list(combinations(answers, 2))
    share = {
        metric: alarms([permutation_test(a, b, metric, permutations=499).p for a, b in pairs]) / len(pairs)
        for metric in ("micro-f1", "macro-f1", "sample-f1", "exact-match")
    }
    share["mcnemar"] = alarms([mcnemar_exact_match(a, b).p for a, b in pairs]) / len(pairs)
    share["signs"] = alarms([sign_test_labels(a, b).p for a, b in pairs]) / len(pairs)
    assert max(share.values()) < 0.08, share


def same_method_other_seeds(method: str, seeds: int) -> list[DocumentStatistics]:
    """What models that differ by their seed alone answer to the test letters."""
    corpus = load("townhall").corpus
    train, test, names = corpus.split("train"), corpus.split("test"), list(corpus.label_names)
    truth = label_matrix(test.label_sets, names)
    answers = []
    for seed in range(seeds):
        model = TextClassifier(method, seed=seed).fit(train.texts, train.label_sets, label_names=names)
        answers.append(document_statistics(truth, label_matrix(model.predict(test.texts), names)))
    return answers
