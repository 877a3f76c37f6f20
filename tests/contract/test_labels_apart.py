"""What a model offers that declares `learns_labels_apart`: labels learned from documents and costs of their own."""

from typing import Any

import numpy as np
import pytest

from manylabel.catalog import METHODS
from manylabel.estimator import Csr, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.recipe import Recipe

RNG = np.random.default_rng(5)
X = Csr(RNG.poisson(0.8, (40, 6)).astype(np.float64))
Y = Csr((np.asarray(X[:, :3].todense()) + RNG.poisson(0.3, (40, 3)) > 1).astype(np.int8))
ALL = np.arange(3)


def models_of_the_catalogue() -> list[MultiLabelModel]:
    """One model of each class that any method of the catalogue is built from."""
    built = [one for name in METHODS for one in Recipe.of(name).build().walk() if isinstance(one, MultiLabelModel)]
    return list({type(one): unfitted_copy(one) for one in built}.values())


MODELS = models_of_the_catalogue()
APART = [one for one in MODELS if one.learns_labels_apart]
apart = pytest.mark.parametrize("model", APART, ids=repr)


def test_some_model_declares_it_and_others_refuse() -> None:
    assert APART
    for model in MODELS:
        if not model.learns_labels_apart:
            with pytest.raises(NotImplementedError):
                unfitted_copy(model).for_labels(ALL)


@apart
def test_labels_are_independent(model: Any) -> None:
    assert model.independent_labels


@apart
def test_models_of_some_labels_become_one(model: Any) -> None:
    parts = [model.for_labels(labels).fit(X, Y[:, labels]) for labels in (ALL[:1], ALL[1:])]
    scores = model.joined(parts, 6).scores(X)
    np.testing.assert_allclose(scores, np.hstack([part.scores(X) for part in parts]), rtol=1e-12)
    np.testing.assert_allclose(scores, unfitted_copy(model).fit(X, Y).scores(X), atol=3e-3)  # each solved within tol


@apart
def test_joined_models_read_the_columns_they_learned_from(model: Any) -> None:
    columns = [np.array([0, 2, 5], dtype=np.int32), np.array([1, 3], dtype=np.int32)]
    parts = [unfitted_copy(model).fit(X[:, one], Y[:, [label]]) for label, one in enumerate(columns)]
    expected = np.column_stack([part.scores(X[:, one]) for part, one in zip(parts, columns, strict=True)])
    np.testing.assert_allclose(model.joined(parts, 6, columns).scores(X), expected, rtol=1e-12)


@apart
def test_costs_are_weights_of_the_documents_of_a_label(model: Any) -> None:
    found = unfitted_copy(model).fit_with_costs(X, Y, np.array([2.0, 1.0, 5.0]))
    weights = np.where(Y[:, [2]].toarray().ravel() > 0, 5.0, 1.0)
    alone = unfitted_copy(model).fit_weighted(X, Y[:, [2]], weights)
    np.testing.assert_allclose(found.scores(X)[:, 2], alone.scores(X)[:, 0], atol=3e-3)


@apart
def test_excluded_documents_are_left_out(model: Any) -> None:
    kept = (Y[:, [1]].toarray().ravel() > 0) | (np.arange(40) % 2 == 0)
    excluded = np.zeros((40, 3), dtype=np.int8)
    excluded[~kept, 1] = 1
    found = unfitted_copy(model).fit_excluding(X, Y, Csr(excluded)).scores(X)
    alone = unfitted_copy(model).fit(X[kept], Y[kept][:, [1]]).scores(X)
    np.testing.assert_allclose(found[:, 1], alone[:, 0], atol=3e-3)
    np.testing.assert_allclose(found[:, 0], unfitted_copy(model).fit(X, Y).scores(X)[:, 0], atol=3e-3)


@apart
def test_scores_of_one_label_are_those_of_all(model: Any) -> None:
    fitted = unfitted_copy(model).fit(X, Y)
    for label in range(3):
        np.testing.assert_allclose(fitted.scores_of_label(X, label), fitted.scores(X)[:, label], rtol=1e-12)
