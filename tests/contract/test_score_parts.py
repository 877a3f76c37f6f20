"""The parts of a score, for every method of the catalogue: intercept and evidence add up to it, or it says they do not.

Where the score is no sum, the parts add up to the quantity it is computed from, which the test computes apart; the
methods explained by removal are written down.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from manylabel.catalog import METHODS
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import LOG_JOINT
from manylabel.models.score_kinds import ScoreKind
from manylabel.recipe import Recipe
from smaller import SMALLER

BY_REMOVAL = {"label-tree", "neural", "ensemble-votes", "svm-closed", "svm-top-down", "svm-propagated"}
NOT_THE_SCORE = {"nb-powerset", "mnb-vw-ecc", "one-vs-one"}
"""Their parts add up to a quantity that formula tests hold; the score is computed from several such quantities."""
NEIGHBOURS = {"knn", "knn-majority", "ml-knn"}
LABELS_SPEAK = {"mnb-vw-cc", "mnb-vw-ecc", "mnb-vwco", "mnb-vwco-reference", "svm-hf", "svm-hf-tfidf"}
pytestmark = [
    pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning:sklearn"),
]
each = pytest.mark.parametrize("name", METHODS)
scores = pytest.mark.parametrize("name", [name for name in METHODS if name not in NOT_THE_SCORE])


@cache
def fitted(name: str) -> MultiLabelModel:
    """The method's model, fitted to 60 documents in which two terms decide two labels, one of them seldom."""
    random = np.random.default_rng(7)
    Y = (random.random((60, 4)) < [0.5, 0.3, 0.2, 0.4]).astype(int)
    Y[:, 3] &= Y[:, 0]
    X = random.poisson(0.5, (60, 15)).astype(float)
    X[:, :4] += 2 * Y
    model = Recipe.of(name).build_model()
    known = model.get_params()
    model.set_params(**({key: 2 for key in ("folds", "n_chains") if key in known} | SMALLER.get(name, {})))
    return model.fit(sparse.csr_array(X), sparse.csr_array(Y))


def document(seed: int) -> sparse.csr_array:
    return sparse.csr_array(np.random.default_rng(seed).poisson([[0.8] * 15]).astype(float))


def sums(parts: Any) -> np.ndarray:
    labels = 0.0 if parts.labels is None else parts.labels.sum(axis=1)
    return np.asarray(parts.intercept + parts.terms.sum(axis=1) + labels)


@each
def test_parts_add_up(name: str) -> None:
    model = fitted(name)
    for seed in range(6):
        parts = model.score_parts(document(seed))
        if name in BY_REMOVAL:
            assert np.isnan(parts.intercept).all()
            continue
        assert not np.isnan(parts.intercept).any()
        np.testing.assert_allclose(sums(parts), parts.total, rtol=0, atol=1e-9)


@scores
def test_the_sum_is_the_score(name: str) -> None:
    """Or the logarithm of a posterior, up to a number that all labels share."""
    model = fitted(name)
    for seed in range(6):
        x = document(seed)
        parts, scores = model.score_parts(x), model.scores(x)[0]
        if parts.quantity == LOG_JOINT:
            assert model.score_kind is ScoreKind.POSTERIOR
            total = np.exp(parts.total - parts.total.max())
            np.testing.assert_allclose(total / total.sum(), scores, rtol=0, atol=1e-9)
        else:
            assert parts.quantity == "score"
            np.testing.assert_allclose(parts.total, scores, rtol=0, atol=1e-9)


@each
def test_some_labels_as_asked(name: str) -> None:
    model, x = fitted(name), document(1)
    whole, some = model.score_parts(x), model.score_parts(x, [2, 0])
    np.testing.assert_allclose(some.total, whole.total[[2, 0]])
    np.testing.assert_allclose(some.terms.toarray(), whole.terms.toarray()[[2, 0]], atol=1e-12)
    np.testing.assert_allclose(some.intercept, whole.intercept[[2, 0]])
    assert (whole.labels is not None) == (name in LABELS_SPEAK)
    if whole.labels is not None and some.labels is not None:
        np.testing.assert_allclose(some.labels.toarray(), whole.labels.toarray()[[2, 0]], atol=1e-12)
        assert whole.labels.shape == (4, 4)


@each
def test_members_share_the_total(name: str) -> None:
    """Shares of calibrated members and the intercept of their combination add up; votes are ±1."""
    model = fitted(name)
    parts = model.score_parts(document(2))
    is_ensemble = name in {"ensemble", "ensemble-stacked", "ensemble-votes", "mnb-vw-ecc"}
    assert bool(parts.members) == is_ensemble
    if name in {"ensemble", "ensemble-stacked"}:
        rest = parts.total - np.sum([share for _, share in parts.members], axis=0)
        np.testing.assert_allclose(rest, model.intercept_, atol=1e-9)  # type: ignore[attr-defined]
    elif name == "ensemble-votes":
        assert {abs(value) for _, share in parts.members for value in share.tolist()} == {1 / 3}


@each
def test_neighbours_vote(name: str) -> None:
    """Their votes for a label are its score (`knn`), or are counted (`ml-knn`)."""
    model, x = fitted(name), document(3)
    found = model.neighbour_votes(x)
    assert (found is not None) == (name in NEIGHBOURS)
    if found is None:
        return
    assert (np.diff(found.similarities) <= 0).all()
    np.testing.assert_allclose(found.terms.sum(axis=1), found.votes, atol=1e-6)
    if name != "ml-knn":
        np.testing.assert_allclose(found.votes @ found.label_sets, model.scores(x)[0], atol=1e-9)
