"""The two views of a document in co-training, and the loop in which they take turns at its label set.

One view reads the document's labels alone, the other its terms and its labels. Either way a label is learned from the
other labels as columns (and the terms, if the view has them), never from itself.

A state is the current label set of a document. A view scores every label from a state; its pass over all labels makes
the next state, either all labels at once (synchronous) or one after the other, each reading the newest values
(sequential). Documents are independent: each stops when its state comes back, at once (settled) or after some rounds
(a cycle).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts
from manylabel.models.score_kinds import Bools
from manylabel.strategies.two_class import carriers, fit_problem, problem_parts, problem_scores

ROUNDING = 1e-12
"""Scores nearer to 0 than this are ties."""
Rows = npt.NDArray[np.intp]
Update = Literal["synchronous", "sequential"]


class View(Protocol):
    """Scores each label of some documents from their other labels."""

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state, documents × labels; `rows` names the documents."""

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of all labels, each taken in its turn; `state` is changed on the way, label by label."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How the views take turns."""

    update: Update
    max_rounds: int
    best_of_cycle: bool
    """In a cycle, keep the state in which the judge's scores are farthest from 0, instead of the last one."""
    sweep: Ints
    """The labels in the order of a sequential pass."""
    judge: int
    """The number of the view whose scores decide this: the feature classifier."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last scores of each document, the rounds it took, and the period it came back with."""

    scores: Floats
    iterations: Ints
    periods: Ints
    """1: settled; 2 and more: a cycle; 0: still moving after the last round."""

    @property
    def state(self) -> Bools:
        """The label sets: a label is predicted where its score is above 0."""
        return np.asarray(self.scores > 0)


def take_turns(start: Bools, views: Sequence[View], rules: Rules) -> Outcome:
    """Let the views take turns from a start until every document's state has been seen before.

    state ← start;  repeat: for each view, state ← (its scores > 0);  until the state was seen before, or `max_rounds`

    The result is the state after the last round. Source: Lee 2018, 'Building base classifiers'; the guard against
    cycles and the state kept then are ours, since the paper states only that a final state is reached.
    """
    n_documents, n_labels = start.shape
    scores, state = np.zeros((n_documents, n_labels)), start.copy()
    iterations, periods = np.zeros((2, n_documents), dtype=np.int64)
    history = [np.packbits(start, axis=1)]
    sureness = [np.zeros(n_documents)]
    active = np.arange(n_documents)
    for iteration in range(1, rules.max_rounds + 1):
        if not len(active):
            break
        found, sure = _round(state[active], active, views, rules)
        scores[active], state[active] = found, found > 0
        iterations[active] = iteration
        sureness.append(_placed(sure, active, n_documents))
        seen = _last_seen(state[active], history, active)
        history.append(_placed(np.packbits(state[active], axis=1), active, n_documents))
        periods[active] = np.where(seen >= 0, iteration - seen, 0)
        active = active[seen < 0]
    if rules.best_of_cycle:
        _keep_best_of_cycle(scores, iterations, periods, history, sureness, views, rules)
    return Outcome(scores, iterations, periods)


def _round(state: Bools, rows: Rows, views: Sequence[View], rules: Rules) -> tuple[Floats, Floats]:
    """The scores of the last view after each has had its turn, and how sure the judge was."""
    scores, sure = np.zeros(state.shape), np.zeros(len(rows))
    for number, view in enumerate(views):
        if rules.update == "synchronous":
            scores = view.all_at_once(state, rows)
        else:
            scores = view.one_by_one(state.copy(), rows, rules.sweep)
        state = scores > 0
        if number == rules.judge:
            sure = np.abs(scores).sum(axis=1)
    return scores, sure


def _placed(values: npt.NDArray[Any], rows: Rows, n_documents: int) -> npt.NDArray[Any]:
    placed = np.zeros((n_documents, *values.shape[1:]), dtype=values.dtype)
    placed[rows] = values
    return placed


def _last_seen(state: Bools, history: Sequence[npt.NDArray[np.uint8]], rows: Rows) -> Ints:
    """The last round in which each document had this state, −1 if there is none."""
    now = np.packbits(state, axis=1)
    seen = np.full(len(rows), -1, dtype=np.int64)
    for number, then in enumerate(history):
        seen[(then[rows] == now).all(axis=1)] = number
    return seen


def _keep_best_of_cycle(
    scores: Floats,
    iterations: Ints,
    periods: Ints,
    history: Sequence[npt.NDArray[np.uint8]],
    sureness: Sequence[Floats],
    views: Sequence[View],
    rules: Rules,
) -> None:
    """For documents in a cycle, the scores of the round the judge was surest in (the earliest of equals).

    A state follows from the one before it, so the round is simply taken again.
    """
    cycling = np.flatnonzero(periods > 1)
    if not len(cycling):
        return
    rounds = np.arange(len(sureness))[:, None]
    inside = (rounds > (iterations - periods)[cycling]) & (rounds <= iterations[cycling])
    best = np.where(inside, np.stack(sureness)[:, cycling], -np.inf).argmax(axis=0)
    for number in np.unique(best):
        rows = cycling[best == number]
        before = np.unpackbits(history[number - 1][rows], axis=1, count=scores.shape[1]).astype(np.bool_)
        scores[rows] = _round(before, rows, views, rules)[0]


# --- learning -------------------------------------------------------------------------------------------------------


def fit_view(
    model: MultiLabelModel, terms: Csr | None, shown: Csr, Y: Csr, scale: float, **options: Any
) -> list[MultiLabelModel]:
    """The models of all labels, each learned from the terms, if any, and from all labels but its own.

    `shown` are the label columns (0/1, documents × labels), `Y` what is learned. A model that can hide labels learns
    all labels in one fit, and is then the only one in the list.
    """
    n_labels = Y.shape[1]
    if model.hides_labels:
        everything = _side_by_side(terms, shown.astype(np.float64))
        return [model.hiding_labels(n_labels, "own").fit(everything, Y, **options)]
    by_label = sparse.csc_array(Y)
    return [
        fit_problem(model, beside_terms(terms, shown, label, scale), carriers(by_label, label), n_labels - 1, **options)
        for label in range(n_labels)
    ]


def beside_terms(terms: Csr | None, state: Bools | Csr, label: int, scale: float) -> Csr:
    """The terms of documents, if any, and beside them their labels except `label`, each of value `scale`.

    >>> beside_terms(Csr([[5.0]]), np.array([[True, False, True]]), 0, 2.0).toarray().tolist()
    [[5.0, 0.0, 2.0]]
    """
    others = Csr(state)
    keep = others.indices != label
    ends = np.concatenate([[0], np.cumsum(keep)])[others.indptr]
    columns = others.indices[keep]
    columns = columns - (columns > label)
    labels = Csr((np.full(len(columns), scale), columns, ends), shape=(others.shape[0], others.shape[1] - 1))
    return _side_by_side(terms, labels)


def _side_by_side(terms: Csr | None, labels: Csr) -> Csr:
    return labels if terms is None else Csr(sparse.hstack([terms, labels], format="csr"))


# --- scoring --------------------------------------------------------------------------------------------------------


def make_view(
    models: Sequence[MultiLabelModel], terms: Csr | None, n_labels: int, scale: float, added: Floats | None
) -> View:
    """The view of some documents through fitted models; `added` (documents × labels) is added to its scores."""
    if models[0].additive_scores:
        return _linear_view(models, terms, n_labels, scale, added)
    return ModelView(models, terms, scale, added)


def view_parts(
    models: Sequence[MultiLabelModel], document: Csr | None, state: Bools, label: int, scale: float
) -> ScoreParts:
    """The parts of the score of one label in a view of one document, with the evidence of the labels of `state`."""
    n_labels, n_terms = state.shape[1], 0 if document is None else document.shape[1]
    if len(models) == 1:
        found = models[0].score_parts(_side_by_side(document, Csr(state.astype(np.float64))), [label])
        return found.with_label_columns(n_terms, np.arange(n_labels), n_labels)
    found = problem_parts(models[label], beside_terms(document, state, label, scale))
    return found.with_label_columns(n_terms, np.delete(np.arange(n_labels), label), n_labels)


@dataclass(frozen=True, slots=True)
class LinearView:
    """A view in which each label adds its own term: s = base + v · weights + terms.

    Naive Bayes and linear models are of this form: what the labels add is one small table (labels × labels, 0 from
    a label to itself), and the terms' part does not change while the labels do. A pass over all documents and
    labels is one sparse product.
    """

    base: Floats
    weights: Floats
    terms: Floats | None = None

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state."""
        return ties_at_zero(self._sums(state, rows))

    def _sums(self, state: Bools, rows: Rows) -> Floats:
        scores = np.asarray(Csr(state.astype(np.float64)) @ self.weights) + self.base
        return scores if self.terms is None else scores + self.terms[rows]

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of the labels in turn: a label that changes moves the scores of those that come after it."""
        scores = self._sums(state, rows)[:, sweep]
        weights = self.weights[np.ix_(sweep, sweep)]
        for place, label in enumerate(sweep.tolist()):
            predicted = scores[:, place] > ROUNDING
            changed = np.flatnonzero(predicted != state[:, label])
            if len(changed):
                state[changed, label] = predicted[changed]
                step = np.where(predicted[changed], 1.0, -1.0)[:, None]
                scores[changed, place + 1 :] += step * weights[place, place + 1 :]
        in_turn = np.empty_like(scores)
        in_turn[:, sweep] = scores
        return ties_at_zero(in_turn)


def ties_at_zero(scores: Floats) -> Floats:
    """The scores, with 0 for those within rounding of 0: where terms and labels cancel out, neither decides."""
    return np.where(np.abs(scores) <= ROUNDING, 0.0, scores)


def _linear_view(
    models: Sequence[MultiLabelModel], terms: Csr | None, n_labels: int, scale: float, added: Floats | None
) -> LinearView:
    base, weights = label_table(models, 0 if terms is None else terms.shape[1], n_labels, scale)
    if terms is None:
        return LinearView(base, weights, added)
    none = Csr((terms.shape[0], n_labels if len(models) == 1 else n_labels - 1), dtype=np.float64)
    without_labels = _all_scores(models, _side_by_side(terms, none))
    return LinearView(np.zeros(n_labels), weights, without_labels if added is None else without_labels + added)


def label_table(models: Sequence[MultiLabelModel], n_terms: int, n_labels: int, scale: float) -> tuple[Floats, Floats]:
    """The scores of an empty document under linear models, and what each label adds to the score of each other.

    The models score an empty document, and one document per label that has only this label.
    """
    if len(models) == 1:
        scores = models[0].score_batch(_alone(n_terms, n_labels, 1.0))
        weights = scores[1:] - scores[0]
        np.fill_diagonal(weights, 0.0)
        return scores[0], weights
    base, weights = np.empty(n_labels), np.zeros((n_labels, n_labels))
    documents = _alone(n_terms, n_labels - 1, scale)
    for label, model in enumerate(models):
        scores = problem_scores(model, documents)
        base[label] = scores[0]
        weights[np.arange(n_labels) != label, label] = scores[1:] - scores[0]
    return base, weights


def _alone(n_terms: int, n_columns: int, scale: float) -> Csr:
    """An empty row, and below it one row per label column that holds only this column."""
    ends = np.concatenate([[0], np.arange(n_columns + 1)])
    shape = (n_columns + 1, n_terms + n_columns)
    return Csr((np.full(n_columns, scale), n_terms + np.arange(n_columns), ends), shape=shape)


def _all_scores(models: Sequence[MultiLabelModel], X: Csr) -> Floats:
    if len(models) == 1:
        return np.asarray(models[0].score_batch(X))
    return np.column_stack([problem_scores(model, X) for model in models])


@dataclass(frozen=True, slots=True)
class ModelView:
    """A view made of one fitted model per label, which scores again whenever the labels have changed."""

    models: Sequence[MultiLabelModel]
    terms: Csr | None
    scale: float = 1.0
    added: Floats | None = None

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state."""
        terms = self._terms(rows)
        return np.column_stack([self._score(state, rows, terms, label) for label in range(state.shape[1])])

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of the labels in turn."""
        terms = self._terms(rows)
        scores = np.empty(state.shape)
        for label in sweep.tolist():
            scores[:, label] = self._score(state, rows, terms, label)
            state[:, label] = scores[:, label] > 0
        return scores

    def _terms(self, rows: Rows) -> Csr | None:
        return None if self.terms is None else Csr(self.terms[rows])

    def _score(self, state: Bools, rows: Rows, terms: Csr | None, label: int) -> Floats:
        found = problem_scores(self.models[label], beside_terms(terms, state, label, self.scale))
        return found if self.added is None else found + self.added[rows, label]
