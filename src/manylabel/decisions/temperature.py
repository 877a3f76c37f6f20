"""Scores → the probability of each label, where every document has exactly one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.models.exported import Form
from manylabel.stored import Scalar, Stored

STEPS = 60
"""Steps of the search for the factor, each of which narrows it to 62 % of its range."""
GOLDEN = (5**0.5 - 1) / 2


class Temperature(Estimator):
    """P_k(x) = exp(a f_k) / Σ_j exp(a f_j): probabilities that sum to 1, in the order of the scores.

    The factor a, the same for all labels, maximises the likelihood of the true labels of documents the model did not
    see, each counted as (N + 1)/(N + 2) true, as Platt (1999) does, so that scores that separate all labels do not make
    certainties. The label with the highest score has the highest probability. Impossible labels (score −∞) have 0; a
    document whose labels are all impossible has 0 everywhere. Documents whose true label is impossible, or that have a
    certain label (+∞), are left out of learning.

    Source: Guo, Pleiss, Sun & Weinberger 2017 (temperature scaling).

    >>> scores = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> Y_true = Csr([[1, 0], [0, 1], [1, 0], [0, 1]])
    >>> Temperature().fit(scores, Y_true).transform(np.array([[1.0, 0.0]])).round(3).tolist()
    [[0.667, 0.333]]
    """

    factor_: float
    learned: ClassVar[Mapping[str, Stored]] = {"factor_": Scalar()}

    def __init__(self) -> None:
        """Takes no parameters."""

    def of_labels(self, columns: Ints) -> Self:
        """The same factor."""
        return self

    def beside(self, other: Estimator) -> Self:
        """The same factor, whatever the added labels learned."""
        return self

    def fit(self, scores: Any, Y: Any) -> Self:
        """Learn from scores, documents × labels, and the one true label of each document."""
        values, Y_true = np.asarray(scores, dtype=np.float64), Csr(Y)
        column = Y_true.indices
        usable = np.isfinite(values[np.arange(len(values)), column]) & ~np.isposinf(values).any(axis=1)
        values, column = values[usable], column[usable]
        low, high = np.log(1e-3), np.log(1e3)
        if not len(values):
            self.factor_ = 1.0
            return self
        smoothing = 1 / (len(values) + 2)
        spread = float(np.std(values[np.isfinite(values)])) or 1.0

        def loss(log_factor: float) -> float:
            scaled = values * (np.exp(log_factor) / spread)
            highest = scaled.max(axis=1)
            total = np.log(np.exp(scaled - highest[:, np.newaxis]).sum(axis=1)) + highest
            finite = np.where(np.isfinite(scaled), scaled, 0.0)
            true = scaled[np.arange(len(scaled)), column]
            others = (finite.sum(axis=1) - true) / max(scaled.shape[1] - 1, 1)
            return float((total - (1 - smoothing) * true - smoothing * others).sum())

        for _ in range(STEPS):
            left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            if loss(left) <= loss(right):
                high = right
            else:
                low = left
        self.factor_ = float(np.exp((low + high) / 2) / spread)
        return self

    def transform(self, scores: Any) -> Floats:
        """The probabilities, documents × labels."""
        self.check_fitted()
        scaled = np.asarray(scores, dtype=np.float64) * self.factor_
        certain = np.isposinf(scaled)
        scaled = np.where(certain.any(axis=1, keepdims=True), np.where(certain, 0.0, -np.inf), scaled)
        highest = scaled.max(axis=1, keepdims=True, initial=-np.inf)
        powers = np.exp(scaled - np.where(np.isneginf(highest), 0.0, highest))
        total = powers.sum(axis=1, keepdims=True)
        return np.asarray(powers / np.where(total == 0, 1.0, total), dtype=np.float64)

    def exported(self) -> Form:
        """The factor in the form in which it is exported."""
        return {"curve": "softmax", "factor": self.factor_}
