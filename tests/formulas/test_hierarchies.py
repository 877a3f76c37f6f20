"""B-8, hierarchical part: flat, top-down by argmax, top-down by threshold, and propagated, on trees by hand.

The tree of most examples, node numbers in front:

    0 sport          3 politics
    ├── 1 football   └── 4 elections
    └── 2 tennis
"""

import math

import numpy as np
import pytest
from scipy import sparse

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.metrics import compute_hierarchical_metrics, hierarchical_counts
from manylabel.metrics.ancestors import ancestor_table, checked_parents, closed, depths, levels
from manylabel.models.linear_svm import LinearSVM
from manylabel.strategies.hierarchical import SiblingModel
from manylabel.strategies.hierarchies import ClosedLabels, Propagated, TopDown
from manylabel.strategies.node_scores import (
    blocked,
    closed_upwards,
    descent_thresholds,
    node_thresholds,
    path_log_odds,
    sibling_leads,
)

PARENTS = np.array([-1, 0, 0, -1, 3])


def test_closure_adds_all_ancestors() -> None:
    deep = np.array([-1, 0, 1, 2])
    assert closed(Csr([[0, 0, 0, 1], [0, 1, 0, 0]]), deep).toarray().tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]
    assert depths(deep).tolist() == [0, 1, 2, 3]
    assert [nodes.tolist() for nodes in levels(PARENTS)] == [[0, 3], [1, 2, 4]]
    assert ancestor_table(deep).toarray()[3].tolist() == [4, 3, 2, 1]


def test_groups_that_are_no_labels_stand_behind_the_labels() -> None:
    assert closed(Csr([[1, 0], [0, 1]]), np.array([2, 3, -1, -1])).toarray().tolist() == [[1, 0, 1, 0], [0, 1, 0, 1]]


def test_hierarchical_measures_by_hand() -> None:
    """Two documents. Football for tennis: one of two right; elections found, and a needless tennis beside it.

    T̃ = {0, 2}, {3, 4}; S̃ = {0, 1}, {3, 4, 0, 2}: right 1 + 2, predicted 2 + 4, true 2 + 2.
    """
    T = [[0, 0, 1, 0, 0], [0, 0, 0, 0, 1]]
    S = [[0, 1, 0, 0, 0], [0, 0, 1, 0, 1]]
    found = compute_hierarchical_metrics(T, S, PARENTS)
    assert found["hierarchical-precision"] == 3 / 6
    assert found["hierarchical-recall"] == 3 / 4
    assert found["hierarchical-f1"] == pytest.approx(2 * 3 / (6 + 4))
    # per document 2·1/(2 + 2) and 2·2/(2 + 4)
    assert found["hierarchical-sample-f1"] == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_a_parent_named_or_not_counts_once() -> None:
    """Sets that differ only in ancestors are the same set once they are closed."""
    counts = hierarchical_counts([[0, 1, 0, 0, 0]], [[1, 1, 0, 0, 0]], PARENTS)
    assert counts.documents.right.tolist() == counts.documents.true.tolist() == [2]


def test_hierarchical_measures_of_a_flat_forest_are_the_micro_ones() -> None:
    found = compute_hierarchical_metrics([[1, 0], [1, 1]], [[1, 1], [0, 1]], np.array([-1, -1]))
    assert found["hierarchical-f1"] == 2 * 2 / (3 + 3)


def test_nothing_predicted_counts_zero() -> None:
    found = compute_hierarchical_metrics([[0, 1, 0, 0, 0]], [[0, 0, 0, 0, 0]], PARENTS)
    assert (found["hierarchical-precision"], found["hierarchical-f1"]) == (0.0, 0.0)


# A document about a football match, written so that "sport" is narrowly missed.
MISSED = np.array([[-0.2, 1.0, -0.8, -1.0, 0.1]])


def test_flat_brings_the_ancestors_along() -> None:
    """Football is above 0, so sport is; elections is above 0 and brings politics."""
    assert closed_upwards(MISSED, PARENTS).tolist() == [[1.0, 1.0, -0.8, 0.1, 0.1]]


def test_top_down_blocks_the_subtree() -> None:
    """An error above blocks the subtree: football, sure as it is, is not reached."""
    found = blocked(MISSED, PARENTS)
    assert found.tolist() == [[-0.2, -0.2, -0.8, -1.0, -1.0]]
    assert not (found > 0).any()


def test_propagation_repairs_blocking() -> None:
    """Share ½, slope 1, thresholds 0, scores as flat and as sibling scores.

    P(sport) = σ(−0.2) = 0.450166, P(football | sport) = σ(1) = 0.731059, product 0.329098, log-odds −0.712269; football
    then has ½ · 1 − ½ · 0.712269 = 0.143865 and is predicted, and sport with it. For elections, σ(−1) σ(0.1) =
    0.141189, log-odds −1.805452, and ½ · 0.1 − ½ · 1.805452 is far below 0: politics held it back.
    """
    path = path_log_odds(MISSED, PARENTS, slope=1.0)
    assert path[0].round(6).tolist() == [-0.2, -0.712269, -1.818925, -1.0, -1.805452]
    mixed = closed_upwards(0.5 * MISSED + 0.5 * path, PARENTS)
    assert mixed[0].round(4).tolist() == [0.1439, 0.1439, -1.3095, -0.8527, -0.8527]
    assert (mixed > 0).tolist() == [[True, True, False, False, False]]


def test_path_log_odds_at_the_edges() -> None:
    """Certainty on the path changes nothing, impossibility everything; margins far out do not overflow."""
    chain = np.array([-1, 0])
    assert path_log_odds(np.array([[1e6, 0.5]]), chain, 1.0)[0, 1] == pytest.approx(0.5)
    assert path_log_odds(np.array([[-math.inf, 0.5]]), chain, 1.0)[0, 1] == -math.inf
    assert path_log_odds(np.array([[1e6, 1e5]]), chain, 4.0)[0, 1] == 1e5
    # slope 4 on margins of 0: P = ¼, log(⅓)/4
    assert path_log_odds(np.zeros((1, 2)), chain, 4.0)[0, 1] == pytest.approx(math.log(1 / 3) / 4)


def test_argmax_takes_the_best_child_at_every_step() -> None:
    """Roots: sport −0.2 beats politics −1; below it football beats tennis; politics' child is not reached."""
    leads = sibling_leads(MISSED, PARENTS)
    assert leads.round(6).tolist() == [[0.8, 1.8, -1.8, -0.8, 1.0]]
    assert (blocked(leads, PARENTS) > 0).tolist() == [[True, True, False, False, False]]


def test_argmax_ties_go_to_the_first_and_unseen_nodes_never_win() -> None:
    roots = np.array([-1, -1, -1])
    assert (sibling_leads(np.array([[1.0, 1.0, 0.0]]), roots) > 0).tolist() == [[True, False, False]]
    assert (sibling_leads(np.array([[-math.inf, -2.0, -math.inf]]), roots) > 0).tolist() == [[False, True, False]]
    assert not (sibling_leads(np.full((1, 3), -math.inf), roots) > 0).any()


def test_thresholds_of_nodes() -> None:
    """One node, four documents: F1 is best between 0.5 and −0.1; a second node without documents takes the common."""
    scores = np.array([[0.9, 0.0], [0.5, 0.0], [-0.1, 0.0], [-0.7, 0.0]])
    thresholds = node_thresholds(scores, Csr([[1, 0], [1, 0], [0, 0], [0, 0]]), shrinkage=5.0, floor=0.1)
    assert thresholds.round(9).tolist() == [0.2, 0.2]


def test_thresholds_of_the_descent_are_learned_on_the_documents_that_arrive() -> None:
    """Root 0 with one child 1. Documents a, b have both, c, d, e none.

    The root's threshold is (0.4 − 0.2)/2 = 0.1: a and b pass, and so does nobody else, so the child's threshold has
    nothing to keep out: all that arrive are predicted, though d has the child's highest score.
    """
    scores = np.array([[1.0, 0.3], [0.4, -0.5], [-0.2, -0.9], [-0.5, 2.0], [-1.0, -1.0]])
    Y = Csr([[1, 1], [1, 1], [0, 0], [0, 0], [0, 0]])
    thresholds = descent_thresholds(scores, Y, np.array([-1, 0]), shrinkage=0.0, floor=0.1)
    assert thresholds[0] == pytest.approx(0.1)
    assert thresholds[1] == pytest.approx(-0.5, rel=1e-5)
    assert (blocked(scores - thresholds, np.array([-1, 0])) > 0)[:, 1].tolist() == [True, True, False, False, False]


def test_positives_are_descendants_and_negatives_siblings() -> None:
    """A term of all sport documents separates sport from politics, but not football from tennis."""
    words = ["ball", "metric", "racket", "vote"]
    X = np.array([[1, 1, 0, 0], [1, 2, 0, 0], [1, 0, 1, 0], [1, 0, 2, 0], [0, 0, 0, 1], [0, 0, 0, 2]], dtype=float)
    Y = closed(Csr([[0, 1, 0, 0, 0]] * 2 + [[0, 0, 1, 0, 0]] * 2 + [[0, 0, 0, 0, 1]] * 2), PARENTS)
    model = SiblingModel(LinearSVM(bias="none")).fit(X, Y, parents=PARENTS)
    of_roots, of_sport, of_politics = (fitted.coef_ for fitted in model.models_)  # type: ignore[attr-defined]
    of_roots, of_sport = np.asarray(of_roots), np.asarray(of_sport)
    assert of_roots[0][words.index("ball")] > 0
    # football against tennis and nothing else: their documents mirror each other in metric and racket
    assert of_sport[0] == pytest.approx(-of_sport[1], abs=1e-3)
    assert of_sport[0][words.index("ball")] == pytest.approx(0, abs=1e-3)
    assert of_sport[:, words.index("vote")].tolist() == [0, 0]
    # the only child of politics has no negatives: it scores 1 whatever is written
    assert not np.any(sparse.csr_array(of_politics).toarray())
    assert model.scores(X)[:, 4].tolist() == [1.0] * 6


def _toy() -> tuple[np.ndarray, np.ndarray]:
    """Six documents per label, with a term of the label and one of its group: 0 and 1 in group 4, 2 and 3 in 5."""
    X, Y = [], []
    for label in range(4):
        for extra in range(6):
            row = np.zeros(7)
            row[label], row[4 + label // 2], row[6] = 1 + extra % 2, 1, extra % 3
            X.append(row)
            Y.append(np.eye(4, dtype=int)[label])
    return np.array(X), np.array(Y)


@pytest.mark.parametrize("strategy", [ClosedLabels, TopDown, Propagated])
def test_every_strategy_learns_a_toy_and_keeps_groups_to_itself(strategy: type) -> None:
    X, Y = _toy()
    model = strategy(LinearSVM()).fit(X, Y, parents=[4, 4, 5, 5, -1, -1])
    assert model.scores(X).shape == (24, 4)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_argmax_descends_to_a_leaf() -> None:
    X, Y = _toy()
    model = TopDown(LinearSVM(), descent="argmax").fit(X, Y, parents=[4, 4, 5, 5, -1, -1])
    np.testing.assert_array_equal(model.predict(X), Y)
    assert (model.predict(np.zeros((1, 7))).sum(axis=1) == 1).all()


def test_a_document_that_carries_only_the_leaf_teaches_its_ancestors() -> None:
    """Label 1 lies under label 0, and no document names 0: it is predicted all the same."""
    X, Y = _toy()
    Y[:, 0] = 0
    for strategy in (ClosedLabels, TopDown, Propagated):
        predicted = strategy(LinearSVM(), thresholds="natural").fit(X, Y, parents=[-1, 0, -1, -1]).predict(X[6:12])
        assert predicted.tolist() == [[1, 1, 0, 0]] * 6


@pytest.mark.parametrize(
    ("parents", "problem"),
    [
        ([1, 0, -1], "cycle"),
        ([0, -1, -1], "cycle"),
        ([-1, -1], "one whole number for each of the 3 labels"),
        ([-1, -1, 7], "between -1"),
        ([-2, -1, -1], "between -1"),
        ([[-1, -1, -1]], "one whole number for each"),
        ([-1.0, 0.0, 0.0], "whole number"),
    ],
)
def test_impossible_parents_are_refused(parents: list[int], problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        checked_parents(parents, 3)


def test_what_is_wrong_with_parents_is_said_in_full() -> None:
    wrong = {
        "parents must lie between -1 (a root) and 2, the last node.": [-1, -1, 3],
        "The label hierarchy has a cycle through node 1.": [1, 0, -1],
        "parents must hold one whole number for each of the 3 labels (groups that are not labels may follow), not an "
        "array of shape (2,) and type int64.": [-1, -1],
    }
    for message, parents in wrong.items():
        with pytest.raises(DataError) as error:
            checked_parents(parents, 3)
        assert str(error.value) == message
    assert checked_parents([-1, 0, 1], 3).tolist() == [-1, 0, 1]  # a chain through all nodes is no cycle
    assert checked_parents(None, 2).tolist() == [-1, -1]
    assert checked_parents(np.zeros(0, dtype=np.int64), 0).tolist() == []
    assert levels(np.zeros(0, dtype=np.int64)) == []
    assert ancestor_table(np.zeros(0, dtype=np.int64)).shape == (0, 0)
    flat = Csr([[1, 0]])
    assert closed(flat, np.array([-1, -1])) is flat
    assert closed(flat, np.array([-1, -1, -1])).toarray().tolist() == [[1, 0, 0]]
