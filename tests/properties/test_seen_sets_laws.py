"""Laws of calibration and of choosing among seen label sets, and the grouped expectations against all pairs of sets."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from manylabel.decisions import seen_sets
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.seen_sets import SeenSets, SetTable
from manylabel.estimator import Csr
from manylabel.models.score_kinds import ScoreKind

MARGIN = ScoreKind.MARGIN
GRID = st.sampled_from([-math.inf, -3.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 2.5, 30.0])
CURVES = ("logistic", "isotonic")


@st.composite
def scored(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Scores with many ties and impossible labels, and the truth."""
    shape = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    return (
        draw(hnp.arrays(np.float64, shape, elements=GRID)),
        draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1))),
    )


@pytest.mark.parametrize("curve", CURVES)
@given(scored(), st.sampled_from([0.0, 0.5, 20.0]))
@settings(max_examples=40)
def test_probabilities_never_fall(curve: Any, case: Any, shrinkage: float) -> None:
    scores, truth = case
    calibration = Calibration(curve, shrinkage).fit(scores, Csr(truth))
    rising = np.repeat(
        np.array([[-math.inf], [-50.0], [-1.0], [0.0], [0.3], [2.0], [math.inf]]), truth.shape[1], axis=1
    )
    found = calibration.transform(rising)
    assert (np.diff(found, axis=0) >= -1e-12).all()
    assert (found[0] == 0).all()
    assert ((found[1:] > 0) & (found <= 1)[1:]).all()


@pytest.mark.parametrize("curve", CURVES)
@given(scored(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_permuting_documents_or_labels_changes_nothing(curve: Any, case: Any, random: Any) -> None:
    scores, truth = case
    rows, columns = list(range(truth.shape[0])), list(range(truth.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    found = Calibration(curve).fit(scores, Csr(truth)).transform(scores)
    moved = Calibration(curve).fit(scores[rows][:, columns], Csr(truth[rows][:, columns])).transform(scores[:, columns])
    np.testing.assert_allclose(moved, found[:, columns], atol=1e-6)


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(0, 1)),
    st.integers(0, 10_000),
)
def test_expectations_equal_those_over_all_pairs(rows: np.ndarray, seed: int) -> None:
    sets = np.unique(rows, axis=0)
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(sets)), size=3).T
    table = SetTable.of(Csr(sets))
    common = sets.astype(int) @ sets.T.astype(int)
    sizes = sets.sum(axis=1, dtype=int)
    both = sizes[:, np.newaxis] + sizes
    f1 = np.where(both == 0, 1.0, 2 * common / np.maximum(both, 1))
    np.testing.assert_allclose(table.expected_f1(weights), f1 @ weights, atol=1e-12)
    wrong = (both - 2 * common) @ weights  # expected |S△T|
    agreement = table.expected_agreement(weights)
    np.testing.assert_allclose(wrong + agreement, np.broadcast_to((wrong + agreement)[0], wrong.shape), atol=1e-12)


@pytest.mark.parametrize("metric", ["sample-f1", "exact-match", "hamming-loss"])
@given(case=scored())
@settings(max_examples=30)
def test_batches_do_not_change_the_answer(metric: Any, case: Any) -> None:
    """Each document by itself, in batches of two, and all at once: the same sets and the same probabilities."""
    scores, truth = case
    rule = SeenSets(metric).fit(scores, Csr(truth), MARGIN)
    together = rule.decide(scores, MARGIN).toarray()
    np.testing.assert_array_equal(np.vstack([rule.decide(row[None], MARGIN).toarray() for row in scores]), together)
    given_memory = seen_sets.BATCH_MEMORY
    try:
        seen_sets.BATCH_MEMORY = 2 * 24 * SetTable.of(rule.sets_).cells_per_document
        np.testing.assert_array_equal(rule.decide(scores, MARGIN).toarray(), together)
    finally:
        seen_sets.BATCH_MEMORY = given_memory


@given(scored())
@settings(max_examples=30)
def test_permuting_labels_permutes_the_sets(case: Any) -> None:
    scores, truth = case
    rule = SeenSets().fit(scores, Csr(truth), MARGIN)
    turned = SeenSets().fit(scores[:, ::-1], Csr(np.ascontiguousarray(truth[:, ::-1])), MARGIN)
    np.testing.assert_array_equal(turned.sets_.toarray(), rule.sets_.toarray()[:, ::-1])
    np.testing.assert_allclose(
        turned.set_probabilities(scores[:, ::-1], MARGIN), rule.set_probabilities(scores, MARGIN), atol=1e-6
    )
