"""The two views of a document in co-training: its labels alone, and its words together with its labels.

Either way a label is learned from the other labels as columns (and the words, if the view has them), never from itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import unfitted_copy
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import Bools
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.strategies.binary_relevance_problem import carriers, fit_problem, problem_evidence, problem_scores
from manylabel.strategies.co_training_loop import Rows, View

_LINEAR = (BinaryNaiveBayes, LinearSVM, ValueWeightedNaiveBayes)
"""Models whose score is a sum in which every label column has its own term."""


ROUNDING = 1e-12


# --- learning -------------------------------------------------------------------------------------------------------


def fit_view(model: Any, words: Csr | None, shown: Csr, Y: Csr, scale: float, **options: Any) -> list[Any]:
    """The models of all labels, each learned from the words, if any, and from all labels but its own.

    `shown` are the label columns (0/1, documents × labels), `Y` what is learned. Value-weighted naive Bayes learns all
    labels in one model, which is then the only one in the list.
    """
    n_labels = Y.shape[1]
    if _is_one_model(model):
        fresh = unfitted_copy(model).set_params(binary_columns=n_labels, skip_own=True)
        return [fresh.fit(_side_by_side(words, shown.astype(np.float64)), Y, **options)]
    by_label = sparse.csc_array(Y)
    return [
        fit_problem(model, beside_words(words, shown, label, scale), carriers(by_label, label), n_labels - 1, **options)
        for label in range(n_labels)
    ]


def _is_one_model(model: Any) -> bool:
    return isinstance(model, ValueWeightedNaiveBayes) and model.target == "labels"


def beside_words(words: Csr | None, state: Bools | Csr, label: int, scale: float) -> Csr:
    """The words of documents, if any, and beside them their labels but the one asked for, each of value `scale`.

    >>> beside_words(Csr([[5.0]]), np.array([[True, False, True]]), 0, 2.0).toarray().tolist()
    [[5.0, 0.0, 2.0]]
    """
    others = Csr(state)
    keep = others.indices != label
    ends = np.concatenate([[0], np.cumsum(keep)])[others.indptr]
    columns = others.indices[keep]
    columns = columns - (columns > label)
    labels = Csr((np.full(len(columns), scale), columns, ends), shape=(others.shape[0], others.shape[1] - 1))
    return _side_by_side(words, labels)


def _side_by_side(words: Csr | None, labels: Csr) -> Csr:
    return labels if words is None else Csr(sparse.hstack([words, labels], format="csr"))


# --- asking ---------------------------------------------------------------------------------------------------------


def make_view(models: Sequence[Any], words: Csr | None, n_labels: int, scale: float, added: Floats | None) -> View:
    """The view of some documents through fitted models; `added` (documents × labels) is added to its scores."""
    if isinstance(models[0], _LINEAR):
        return _linear_view(models, words, n_labels, scale, added)
    return ModelView(models, words, scale, added)


def view_evidence(models: Sequence[Any], document: Csr, state: Bools, labels: Ints, scale: float) -> Csr | list[Csr]:
    """What each word and label column of one document adds to the scores of some labels, its labels being `state`.

    One table of all labels where the view is one model, else one row a label; the words are the first columns.
    """
    if len(models) == 1:
        table: Csr = models[0].evidence(_side_by_side(document, Csr(state.astype(np.float64))), labels)
        return table
    rows = []
    for label in labels.tolist():
        row = problem_evidence(models[label], beside_words(document, state, label, scale))
        rows.append(Csr(row[:, : document.shape[1]]))
    return rows


@dataclass(frozen=True, slots=True)
class LinearView:
    """A view in which each label adds its share by itself: s = base + v · weights + words.

    Naive Bayes and linear models are of this form: what the labels say is one small table (labels × labels, nothing
    from a label to itself), and the words' part does not change while the labels do. A pass over all documents and
    labels is one sparse product.
    """

    base: Floats
    weights: Floats
    words: Floats | None = None

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state."""
        return _ties_at_zero(self._sums(state, rows))

    def _sums(self, state: Bools, rows: Rows) -> Floats:
        scores = np.asarray(Csr(state.astype(np.float64)) @ self.weights) + self.base
        return scores if self.words is None else scores + self.words[rows]

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of the labels in turn: a label that changes moves the scores of those that come after it."""
        scores = self._sums(state, rows)[:, sweep]
        weights = self.weights[np.ix_(sweep, sweep)]
        for place, label in enumerate(sweep.tolist()):
            given = scores[:, place] > ROUNDING
            changed = np.flatnonzero(given != state[:, label])
            if len(changed):
                state[changed, label] = given[changed]
                step = np.where(given[changed], 1.0, -1.0)[:, None]
                scores[changed, place + 1 :] += step * weights[place, place + 1 :]
        in_turn = np.empty_like(scores)
        in_turn[:, sweep] = scores
        return _ties_at_zero(in_turn)


def _ties_at_zero(scores: Floats) -> Floats:
    """The scores, 0 where only rounding parts them from 0: words and labels that weigh the same must not decide."""
    return np.where(np.abs(scores) <= ROUNDING, 0.0, scores)


def _linear_view(
    models: Sequence[Any], words: Csr | None, n_labels: int, scale: float, added: Floats | None
) -> LinearView:
    base, weights = label_table(models, 0 if words is None else words.shape[1], n_labels, scale)
    if words is None:
        return LinearView(base, weights, added)
    none = Csr((words.shape[0], n_labels if len(models) == 1 else n_labels - 1), dtype=np.float64)
    without_labels = _all_scores(models, _side_by_side(words, none))
    return LinearView(np.zeros(n_labels), weights, without_labels if added is None else without_labels + added)


def label_table(models: Sequence[Any], n_words: int, n_labels: int, scale: float) -> tuple[Floats, Floats]:
    """What linear models say of a document without words or labels, and what each label adds to each other.

    Asked of the models themselves: once with nothing, once with each label alone.
    """
    if len(models) == 1:
        scores = models[0].score_batch(_alone(n_words, n_labels, 1.0))
        weights = scores[1:] - scores[0]
        np.fill_diagonal(weights, 0.0)
        return scores[0], weights
    base, weights = np.empty(n_labels), np.zeros((n_labels, n_labels))
    question = _alone(n_words, n_labels - 1, scale)
    for label, model in enumerate(models):
        scores = problem_scores(model, question)
        base[label] = scores[0]
        weights[np.arange(n_labels) != label, label] = scores[1:] - scores[0]
    return base, weights


def _alone(n_words: int, n_columns: int, scale: float) -> Csr:
    """A row of nothing, and below it one row for each label column, which stands alone in it."""
    ends = np.concatenate([[0], np.arange(n_columns + 1)])
    shape = (n_columns + 1, n_words + n_columns)
    return Csr((np.full(n_columns, scale), n_words + np.arange(n_columns), ends), shape=shape)


def _all_scores(models: Sequence[Any], X: Csr) -> Floats:
    if len(models) == 1:
        return np.asarray(models[0].score_batch(X))
    return np.column_stack([problem_scores(model, X) for model in models])


@dataclass(frozen=True, slots=True)
class ModelView:
    """A view made of one fitted model a label, asked anew whenever the labels have changed."""

    models: Sequence[Any]
    words: Csr | None
    scale: float = 1.0
    added: Floats | None = None

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state."""
        words = self._words(rows)
        return np.column_stack([self._score(state, rows, words, label) for label in range(state.shape[1])])

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of the labels in turn."""
        words = self._words(rows)
        scores = np.empty(state.shape)
        for label in sweep.tolist():
            scores[:, label] = self._score(state, rows, words, label)
            state[:, label] = scores[:, label] > 0
        return scores

    def _words(self, rows: Rows) -> Csr | None:
        return None if self.words is None else Csr(self.words[rows])

    def _score(self, state: Bools, rows: Rows, words: Csr | None, label: int) -> Floats:
        found = problem_scores(self.models[label], beside_words(words, state, label, self.scale))
        return found if self.added is None else found + self.added[rows, label]
