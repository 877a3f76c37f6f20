"""A chain of value-weighted naive Bayes learned in one model is the chain learned link by link."""

from typing import Any

import numpy as np
import pytest

from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.strategies.classifier_chain import ClassifierChain

SETTINGS: list[dict[str, Any]] = [
    {"refine": "none"},
    {"refine": "none", "event": "categorical", "norm": "global"},
    {"refine": "none", "event": "categorical", "norm": "global", "norm_joint": True},
    {"refine": "none", "event": "categorical", "norm": "feature"},
    {"refine": "none", "event": "multinomial", "weight": "none"},
    {"event": "categorical", "refine_cells": "seen"},
    {},
]


@pytest.fixture
def corpus() -> tuple[np.ndarray, np.ndarray]:
    """Fifty documents; label 2 nearly implies label 0, label 3 is on none."""
    random = np.random.default_rng(0)
    words, labels = random.poisson(0.6, (50, 8)).astype(float), (random.random((50, 5)) < 0.4).astype(int)
    labels[:, 2] = labels[:, 0] & (random.random(50) < 0.9)
    labels[:, 3] = 0
    return words, labels


@pytest.mark.parametrize("labels", ["true", "out-of-fold"])
@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_one_model_equals_one_model_per_link(settings: Any, labels: Any, corpus: Any, monkeypatch: Any) -> None:
    X, Y = corpus
    chain = ClassifierChain(ValueWeightedNaiveBayes(n_bins=3, **settings), labels=labels, folds=3)
    together = chain.fit(X, Y)
    assert len(together.links_) == 1
    scores, predicted = together.scores(X), together.predict(X)
    monkeypatch.setattr(ValueWeightedNaiveBayes, "hides_labels", False)
    link_by_link = ClassifierChain(chain.model, labels=labels, folds=3).fit(X, Y)
    assert len(link_by_link.links_) == 4
    np.testing.assert_allclose(scores, link_by_link.scores(X), atol=1e-9)
    np.testing.assert_array_equal(predicted, link_by_link.predict(X))
