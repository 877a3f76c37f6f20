"""The search for a document's label set under a parametric mixture, with the values of all sets it compared.

`manylabel.kernels.mixture_sets` finds the same sets much faster; here the values of all compared sets are kept, so that
each label gets a score, and sets may have a prior. A value is log P(x|S) + log P(S), up to a constant of the
document.

>>> theta = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])  # the document's words × labels
>>> found = greedy(Csr(np.array([[4.0, 4.0, 0.0]])), Table(theta), Candidates(np.ones(3, np.bool_), 3))
>>> found.order.tolist(), found.values.round(6).tolist(), found.evaluations.tolist()
([[0, 1]], [[-10.102915, -6.388062]], [6])
>>> found.scores().round(6).tolist()
[[3.714853, 3.714853, -2.400837]]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.mixture_reference import TOLERANCE
from manylabel.models.score_kinds import Bools

NUMBERS_PER_BLOCK = 1 << 18
"""Words × labels (or words × sets) at a time: smaller blocks lose time between them, larger ones leave the cache."""


@dataclass(frozen=True, slots=True)
class Table:
    """θ of words × labels, dense, and for PMM2 α − ½ of labels × labels."""

    theta: Floats
    lean: Csr | None = None

    def shares(self, sets: Bools) -> Floats:
        """e_l of each label of each set, sets × labels: 1/k, or (2/k²) Σ_{m in S} α_lm with α_ll = ½."""
        k = sets.sum(axis=1, keepdims=True)
        if self.lean is None:
            return np.asarray(sets / k)
        alpha = 0.5 + self.lean.toarray()
        return np.asarray(2.0 / (k * k) * sets * (sets @ alpha.T))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Which labels may be predicted, up to how many together, and log P(S) = Σ_{l in S} labels_l + sizes_{|S|}."""

    allowed: Bools
    most: int
    labels: Floats | None = None
    sizes: Floats | None = None

    def of_label(self) -> Floats:
        """What each label adds to log P(S); −∞ for one that may not be predicted."""
        gain = np.zeros(len(self.allowed)) if self.labels is None else self.labels
        return np.where(self.allowed, gain, -np.inf)

    def of_size(self, k: int) -> float:
        """What the size of a set of k labels adds to log P(S)."""
        return 0.0 if self.sizes is None else float(self.sizes[k])

    def of_sets(self, sets: Bools) -> Floats:
        """The prior log P(S) of sets × labels."""
        with_labels = sets @ (np.zeros(len(self.allowed)) if self.labels is None else self.labels)
        return np.asarray(with_labels + [self.of_size(k) for k in sets.sum(axis=1).tolist()])


# ---- label by label --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class GreedySearch:
    """The results of a greedy search: sets S_j + c of every step j and label c. Column j of each table is step j."""

    order: Ints
    """Documents × steps: the labels in the order they were taken, −1 where no more were."""
    values: Floats
    """The value once the label was taken."""
    second: Ints
    """The second best label of the step."""
    second_values: Floats
    with_label: Floats
    """Documents × labels: the best value of a set S_j + c, over all steps."""
    step_with: Ints
    """Documents × labels: the step of that set."""
    evaluations: Ints
    """Sets evaluated for each document."""

    @property
    def sets(self) -> Bools:
        """Documents × labels."""
        chosen = np.zeros(self.with_label.shape, dtype=np.bool_)
        rows, steps = np.nonzero(self.order >= 0)
        chosen[rows, self.order[rows, steps]] = True
        return chosen

    def scores(self) -> Floats:
        """The best value of a set with the label minus the best of one without it; positive for the labels taken.

        The set found, S, is the best of all. A label outside had its chance with every S_j; for a label inside the
        best without it is the set before it was taken, or the second best of its own step.
        """
        n, n_steps = self.order.shape
        last = self.values[np.arange(n), (self.order >= 0).sum(axis=1) - 1]
        scores = difference(self.with_label, last[:, np.newaxis])
        before = np.full(n, -np.inf)
        for step in range(n_steps):
            rows = np.flatnonzero(self.order[:, step] >= 0)
            rival = np.maximum(before[rows], self.second_values[rows, step])
            scores[rows, self.order[rows, step]] = difference(last[rows], rival)
            before[rows] = self.values[rows, step]
        return signed(scores, self.sets)

    def best_sets(self, row: int, label: int) -> tuple[list[int], list[int]]:
        """The best set with a label, and the best without it."""
        taken = [int(other) for other in self.order[row] if other >= 0]
        if label not in taken:
            return [*taken[: int(self.step_with[row, label])], label], taken
        step = taken.index(label)
        if step and not self.second_values[row, step] > self.values[row, step - 1]:
            return taken, taken[:step]
        return taken, [*taken[:step], int(self.second[row, step])]


@dataclass(slots=True)
class _Walk:
    """Documents whose search has not ended: the labels taken so far, and their θ on the documents' words."""

    x: Csr
    """Documents × words, each document with words of its own."""
    theta: Floats
    rows: Ints
    taken: list[Ints] = field(default_factory=list)
    taken_theta: list[Floats] = field(default_factory=list)
    prior: Floats = field(default_factory=lambda: np.zeros(0))

    def keep(self, stays: Bools) -> None:
        """Drop the documents whose search has ended."""
        if stays.all():
            return
        lengths = np.diff(self.x.indptr)
        words = np.repeat(stays, lengths)
        self.x = _by_document(self.x.data[words], lengths[stays])
        self.theta, self.rows, self.prior = self.theta[words], self.rows[stays], self.prior[stays]
        self.taken = [labels[stays] for labels in self.taken]
        self.taken_theta = [theta[words] for theta in self.taken_theta]

    def take(self, labels: Ints, gain: Floats) -> None:
        """Add one label to each document's set."""
        self.taken.append(labels)
        self.taken_theta.append(self.theta[np.arange(len(self.theta)), np.repeat(labels, np.diff(self.x.indptr))])
        self.prior = self.prior + gain[labels]

    def mixtures(self, lean: Csr | None) -> Floats:
        """The mixture φ(S + c) on each word for every label c, (Σ_{l in S} θ_l + θ_c)/(k + 1), and what α adds to it.

        With a = α − ½ it adds 2/(k + 1)² [Σ_{l in S} (Σ_{m in S} a_lm) θ_l + Σ_{l in S} a_lc (θ_l − θ_c)].
        """
        k = len(self.taken)
        if not k:
            return self.theta
        common = np.sum(self.taken_theta, axis=0)
        if lean is None:
            return np.asarray((common[:, np.newaxis] + self.theta) / (k + 1))
        factor = 2.0 / (k + 1) ** 2
        common /= k + 1
        lengths = np.diff(self.x.indptr)
        rows = [factor * lean[labels].toarray() for labels in self.taken]
        for a, theta in zip(rows, self.taken_theta):
            within = np.sum([a[np.arange(len(a)), other] for other in self.taken], axis=0)
            common += np.repeat(within, lengths) * theta
        phi = np.repeat(1.0 / (k + 1) - np.sum(rows, axis=0), lengths, axis=0)
        phi *= self.theta
        phi += common[:, np.newaxis]
        for a, theta in zip(rows, self.taken_theta):
            each = np.repeat(a, lengths, axis=0)
            each *= theta[:, np.newaxis]
            phi += each
        return np.asarray(np.maximum(phi, 0.0, out=phi))


def greedy(X: Csr, table: Table, candidates: Candidates) -> GreedySearch:
    """Label sets found by adding the label that raises the value most, until none does; the first is always taken.

    X is documents × words without empty documents; row i of ``table.theta`` belongs to the i-th *stored* value of X.
    Ties go to the lowest label, and an increase within rounding is none. Source: Ueda & Saito 2002, section 3.3.
    """
    n, n_labels = X.shape[0], table.theta.shape[1]
    walk = _Walk(_by_document(X.data, np.diff(X.indptr)), table.theta, np.arange(n), prior=np.zeros(n))
    gain = candidates.of_label()
    columns: list[tuple[Ints, Floats, Ints, Floats]] = []
    with_label, step_with = np.full((n, n_labels), -np.inf), np.zeros((n, n_labels), dtype=np.int64)
    evaluations, n_allowed = np.zeros(n, dtype=np.int64), int(candidates.allowed.sum())
    for step in range(min(candidates.most, n_allowed)):
        values = _values(walk, table.lean, gain, candidates.of_size(step + 1))
        better = values > with_label[walk.rows]
        with_label[walk.rows] = np.where(better, values, with_label[walk.rows])
        step_with[walk.rows] = np.where(better, step, step_with[walk.rows])
        evaluations[walk.rows] += n_allowed - step
        best, value = _best(values, candidates.allowed, walk.taken)
        if step:
            rises = exceeds(value, columns[-1][1][walk.rows])
            values, best, value = values[rises], best[rises], value[rises]
            walk.keep(rises)
        if not len(walk.rows):
            break
        columns.append(_column(n, walk.rows, values, best, value))
        walk.take(best, gain)
    order, reached, second, second_values = (np.column_stack(part) for part in zip(*columns))
    return GreedySearch(order, reached, second, second_values, with_label, step_with, evaluations)


def _values(walk: _Walk, lean: Csr | None, gain: Floats, of_size: float) -> Floats:
    """The value of S + c for each document and label; −∞ for labels taken already or not allowed."""
    with np.errstate(divide="ignore"):
        logs = walk.mixtures(lean)
        logs = np.log(logs, out=None if logs is walk.theta else logs)
    values = np.asarray(walk.x @ logs) + gain
    values += (walk.prior + of_size)[:, np.newaxis]
    for labels in walk.taken:
        values[np.arange(len(values)), labels] = -np.inf
    return values


def _best(values: Floats, allowed: Bools, taken: list[Ints]) -> tuple[Ints, Floats]:
    """The lowest label whose value is the largest, up to rounding, and the value."""
    near = ~exceeds(values.max(axis=1)[:, np.newaxis], values) & allowed  # all of them where each is −∞
    for labels in taken:
        near[np.arange(len(near)), labels] = False
    best = near.argmax(axis=1)
    return best, values[np.arange(len(values)), best]


def _column(n: int, rows: Ints, values: Floats, best: Ints, value: Floats) -> tuple[Ints, Floats, Ints, Floats]:
    """One step for all documents: label, value, second label, its value."""
    order, second = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    reached, second_values = np.full(n, -np.inf), np.full(n, -np.inf)
    others = values.copy()
    others[np.arange(len(others)), best] = -np.inf
    order[rows], reached[rows], second[rows] = best, value, others.argmax(axis=1)
    second_values[rows] = others.max(axis=1)
    return order, reached, second, second_values


# ---- all sets --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ExhaustiveSearch:
    """The results of a search through all sets."""

    all_sets: Bools
    """Sets × labels."""
    chosen: Ints
    """The best set of each document."""
    values: Floats
    """Its value."""
    with_label: Ints
    """Documents × labels: the best set with the label, −1 where there is none."""
    without_label: Ints
    best_values: tuple[Floats, Floats]
    """The values of the best sets with and without the label, documents × labels each."""

    @property
    def sets(self) -> Bools:
        """Documents × labels."""
        return self.all_sets[self.chosen]

    def scores(self) -> Floats:
        """The best value of a set with the label minus the best of one without it; positive for the labels chosen."""
        return signed(difference(*self.best_values), self.sets)

    def best_sets(self, row: int, label: int) -> tuple[list[int], list[int]]:
        """The best set with a label, and the best without it; empty where there is none."""
        numbers = self.with_label[row, label], self.without_label[row, label]
        with_label, without = ([] if s < 0 else np.flatnonzero(self.all_sets[s]).tolist() for s in numbers)
        return with_label, without


def sets_of(candidates: Candidates) -> Bools:
    """Every set of allowed labels, sets × labels: small ones first, then by their lowest labels."""
    labels = np.flatnonzero(candidates.allowed).tolist()
    chosen = [part for size in range(1, min(candidates.most, len(labels)) + 1) for part in combinations(labels, size)]
    sets = np.zeros((len(chosen), len(candidates.allowed)), dtype=np.bool_)
    for row, part in enumerate(chosen):
        sets[row, list(part)] = True
    return sets


def exhaustive(X: Csr, table: Table, candidates: Candidates) -> ExhaustiveSearch:
    """The set of the largest value among all; up to rounding, the smallest one first in `sets_of`. X as in `greedy`."""
    sets = sets_of(candidates)
    shares, prior = table.shares(sets).T, candidates.of_sets(sets)
    n, n_labels = X.shape[0], table.theta.shape[1]
    chosen, values = np.zeros(n, dtype=np.int64), np.zeros(n)
    numbers = np.full((2, n, n_labels), -1, dtype=np.int64)
    reached = np.full((2, n, n_labels), -np.inf)
    for row in range(n):
        own = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
        of_sets = _values_of_sets(X.data[own], table.theta[own], shares) + prior
        chosen[row] = np.argmax(~exceeds(of_sets.max(), of_sets))
        values[row] = of_sets[chosen[row]]
        for side, members in enumerate((sets, ~sets)):
            for label in np.flatnonzero(members.any(axis=0)).tolist():
                rows = np.flatnonzero(members[:, label])
                best = rows[np.argmax(of_sets[rows])]
                numbers[side, row, label], reached[side, row, label] = best, of_sets[best]
    return ExhaustiveSearch(sets, chosen, values, numbers[0], numbers[1], (reached[0], reached[1]))


def _values_of_sets(x: Floats, theta: Floats, shares: Floats) -> Floats:
    """The likelihood log P(x|S) of each set."""
    size = max(1, NUMBERS_PER_BLOCK // max(shares.shape[1], 1))
    total = np.zeros(shares.shape[1])
    with np.errstate(divide="ignore"):
        for start in range(0, len(x), size):
            total += x[start : start + size] @ np.log(theta[start : start + size] @ shares)
    return total


# ---- numbers ---------------------------------------------------------------------------------------------------------


def exceeds(a: Floats, b: Floats) -> Bools:
    """Whether a is larger than b beyond rounding, as in `manylabel.kernels.mixture_reference`."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(np.isneginf(b), a > b, a > b + TOLERANCE * np.maximum(1.0, np.abs(b))))


def difference(a: Floats, b: Floats) -> Floats:
    """The difference a − b, where −∞ − (−∞) = 0."""
    both = np.isneginf(a) & np.isneginf(b)
    return np.asarray(np.where(both, 0.0, np.where(both, 0.0, a) - np.where(both, 0.0, b)))


def signed(scores: Floats, sets: Bools) -> Floats:
    """Scores that are positive exactly for the labels of the sets: a tie up to rounding is decided by the search."""
    return np.asarray(np.where(sets, np.maximum(scores, TOLERANCE), np.minimum(scores, -TOLERANCE)))


def _by_document(x: Floats, lengths: Ints) -> Csr:
    """Documents × words with the words of each document in columns of their own."""
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return Csr((x, np.arange(len(x)), indptr), shape=(len(lengths), len(x)))


def blocks(X: Csr, n_columns: int) -> Iterator[slice]:
    """Slices of documents whose stored values times `n_columns` stay near `NUMBERS_PER_BLOCK`."""
    most = max(1, NUMBERS_PER_BLOCK // max(n_columns, 1))
    begin = 0
    while begin < X.shape[0]:
        end = int(np.searchsorted(X.indptr, X.indptr[begin] + most, side="right")) - 1
        end = min(max(end, begin + 1), X.shape[0])
        yield slice(begin, end)
        begin = end
