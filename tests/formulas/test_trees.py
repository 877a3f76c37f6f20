"""Decision trees whose questions and leaves can be written down."""

import numpy as np
import pytest

from manylabel.models.random_forest import RandomForest
from manylabel.models.trees import DecisionTrees, chosen_terms

X = np.array([[0, 5], [1, 0], [2, 5], [3, 0], [7, 5]])
Y = np.array([[1], [1], [0], [0], [0]])


def test_one_question_and_the_shares_of_its_leaves() -> None:
    """Term 0 at 1.5 divides the labels: 2 of 2 on the left, 0 of 3 on the right."""
    model = DecisionTrees(min_leaf=1, m=0).fit(X, Y)
    assert (model.terms_.tolist(), model.left_.tolist(), model.threshold_[0]) == ([0], [1, -1, -1], 1.5)  # type: ignore[attr-defined]
    assert model.predict_proba([[1.5, 0], [1.6, 0]]).tolist() == [[1.0], [0.0]]
    assert model.scores([[0, 0], [9, 0]]).tolist() == [[np.inf], [-np.inf]]


@pytest.mark.parametrize("per_label", [True, False])
def test_m_estimate(per_label: bool) -> None:
    """Prior 2/5; m = 1: (2 + .4)/(2 + 1) = .8 on the left and .4/(3 + 1) = .1 on the right."""
    model = DecisionTrees(per_label=per_label, min_leaf=1, m=1).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba([[0, 0], [9, 0]]), [[0.8], [0.1]])
    two = DecisionTrees(per_label=per_label, min_leaf=1, m=1).fit(X, np.hstack([Y, 1 - Y]))
    np.testing.assert_allclose(two.predict_proba([[0, 0], [9, 0]]), [[0.8, 0.2], [0.1, 0.9]])


def test_evidence_is_the_change_along_the_path() -> None:
    """The share is (2 + .4)/6 = .4 at the root and .8 at the left leaf; all evidence is on term 0."""
    model = DecisionTrees(min_leaf=1, m=1).fit(X, Y)
    found = model.evidence([[0, 5]])
    assert found.indices.tolist() == [0]
    np.testing.assert_allclose(found.data, np.log(0.8 / 0.2) - np.log(0.4 / 0.6))


def test_small_leaves_are_not_made() -> None:
    """With leaves of three documents or more, five documents cannot be divided: every one has the root's share."""
    assert DecisionTrees(min_leaf=3, m=0).fit(X, Y).predict_proba(X).ravel().tolist() == [0.4] * 5


def test_constant_labels_need_no_tree() -> None:
    labels = np.hstack([np.zeros_like(Y), Y, np.ones_like(Y)])
    for model in (DecisionTrees(min_leaf=1), DecisionTrees(per_label=False, min_leaf=1), RandomForest(5)):
        P = model.fit(X, labels).predict_proba(X)
        assert P[:, [0, 2]].tolist() == [[0.0, 1.0]] * 5
        assert not model.evidence(X[:1], [0, 2]).nnz
    assert DecisionTrees().fit(X, labels[:, ::2]).predict(X).tolist() == [[0, 1]] * 5


def test_terms_are_chosen_by_information_or_frequency() -> None:
    """Term 0 is where label 0 is, term 1 nearly everywhere, term 2 nowhere else than in one document."""
    from manylabel.estimator import Csr

    counts = Csr(np.array([[1.0, 1, 0], [2, 1, 0], [0, 1, 1], [0, 0, 0]]))
    labels = Csr(np.array([[1, 0], [1, 0], [0, 1], [0, 1]]))
    assert chosen_terms(counts, labels, 1, "ig").tolist() == [0]
    assert chosen_terms(counts, labels, 1, "df").tolist() == [1]
    assert chosen_terms(counts, labels, 2, "df").tolist() == [0, 1]
    assert chosen_terms(counts, labels, None, "df").tolist() == [0, 1, 2]
