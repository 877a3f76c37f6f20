"""A model of manylabel as a pipeline of scikit-learn. Written by `manylabel export`.

from manylabel_sklearn import load

pipeline = load()
pipeline.predict(["The bus was late."])            # texts × labels, 1 for each predicted label
pipeline.decision_function(["The bus was late."])  # the scores that the decision rule reads
pipeline.classes_                                  # the names of the labels, in the order of the columns
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from manylabel_model import Model  # type: ignore[import-not-found]
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if


def load(path: str | Path | None = None) -> Pipeline:
    """The pipeline of the model in a file, by default model.json beside this one: counts of terms, then labels."""
    model = Model.read(Path(__file__).with_name("model.json") if path is None else path)
    return Pipeline([("counts", TermCounter(model)), ("labels", LabelModel(model))])


class TermCounter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts → counts of the terms that the model knows, texts × terms."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, texts: Any, y: Any = None) -> TermCounter:
        """Do nothing: the terms are known."""
        return self

    def transform(self, texts: Any) -> Any:
        """The counts, texts × terms."""
        return self.model.counts(texts)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms."""
        return np.array(self.model.terms, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _has_probabilities(estimator: LabelModel) -> bool:
    form = estimator.model.form
    return bool(form["shown"]["curve"] != "none" or form["score_kind"] == "posterior")


class LabelModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Counts → labels."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, counts: Any, y: Any = None) -> LabelModel:
        """Do nothing: the model has learned already."""
        return self

    @property
    def classes_(self) -> np.ndarray:
        """The names of the labels."""
        return np.array(self.model.labels, dtype=object)

    def decision_function(self, counts: Any) -> np.ndarray:
        """The scores that the decision rule reads, documents × labels."""
        found: np.ndarray = self.model.raw_scores(counts)
        return found

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, counts: Any) -> np.ndarray:
        """The probability of each label, documents × labels; only where the model has probabilities."""
        found: np.ndarray = self.model.shown(self.model.raw_scores(counts))
        return found

    def predict(self, counts: Any) -> np.ndarray:
        """The predicted labels, documents × labels, as 0 and 1."""
        found: np.ndarray = self.model.decide(counts, self.model.raw_scores(counts)).astype(np.int64)
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return True
