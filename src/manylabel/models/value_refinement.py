"""Refinement of value weights by gradient ascent of the conditional likelihood, from Kullback-Leibler weights.

    L(w) = Σ_d log P(c_d|d) − λ/2 Σ (w − w⁰)²
    ∂L/∂w_a = Σ_{d has value a} ( log P(a|c_d) − Σ_c P(c|d) log P(a|c) ) − λ (w_a − w⁰_a)

Every step is taken only as far as it does not lower L: a step that would is halved, one that did not makes the next
20 % longer. Weights stay at or above 0. It ends after `steps` steps or when L changes by less than a share
`tolerance` of itself.

Source: Lee 2018 calls the learning of value weights iterative, converging in 10 to 20 iterations, without a formula;
this gradient is ours. On the paper's kind of data accuracy is flat from step 10 on, and stopping early matters: carried
to the end, the ascent separates the training documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.models.base import row_batches
from manylabel.models.linear_scores import LinearScores
from manylabel.models.score_kinds import posteriors, sigmoid
from manylabel.models.value_counts import ValueCounts
from manylabel.models.value_scores import LabelValues, entries_of, own_entries, weighted
from manylabel.progress import stage

GROWTH = 1.2
"""How much longer the next step is after one that was taken."""
HALVINGS = 40
BLOCK = 1 << 19
"""Cells × labels refined together: about 4 MB for each of the half dozen tables the ascent needs."""
MOST_DENSE = 1 << 25
"""The most weights, cells × labels, that ``refine_cells="auto"`` refines and so keeps one by one (256 MB)."""


@dataclass(frozen=True, slots=True)
class Ascent:
    """The settings of the gradient ascent: number and length of steps, penalty, and when to stop."""

    steps: int = 20
    eta: float = 0.01
    l2: float = 0.0
    tolerance: float = 1e-4


# --- one weight per cell and label ----------------------------------------------------------------------------------


@dataclass(slots=True)
class LabelProblems:
    """The two-class problems of some labels: coded documents, targets, log-ratios, and the prior log-odds."""

    coded: Csr
    coded_by_cell: Csr
    absent: Floats
    Y: Floats
    ratio: Floats
    log_odds: Floats

    def of(self, labels: Ints) -> LabelProblems:
        """The problems of some of these labels."""
        return LabelProblems(
            self.coded, self.coded_by_cell, self.absent, self.Y[:, labels], self.ratio[:, labels], self.log_odds[labels]
        )

    def scores(self, weight: Floats) -> Floats:
        """Log-odds of the documents."""
        product = weight * self.ratio
        scores = np.asarray(self.coded @ product)
        scores += self.absent @ product + self.log_odds if self.absent.any() else self.log_odds
        return scores

    def likelihood(self, weight: Floats) -> tuple[Floats, Floats]:
        """Σ_d log P(c_d|d) of each label, and the residual y − P of each document."""
        s = self.scores(weight)
        # log P = y s − log(1 + e^s), written so that it cannot overflow
        log_p = self.Y * s - np.maximum(s, 0.0) - np.log1p(np.exp(-np.abs(s)))
        return log_p.sum(axis=0), self.Y - sigmoid(s)

    def gradient(self, missing: Floats) -> Floats:
        """∂L/∂w without the pull to the start; for two classes the bracket is (y − P) times the log-ratio."""
        found = self.coded_by_cell @ missing
        if self.absent.any():
            found += np.outer(self.absent, missing.sum(axis=0))
        found *= self.ratio
        return np.asarray(found)


def refines_all(refine_cells: Literal["auto", "all", "seen"], n_weights: int) -> bool:
    """Whether the weights of all cells are refined, and so kept, for every label, not only those seen with the label.

    >>> refines_all("auto", 1000), refines_all("auto", 10**9), refines_all("all", 10**9)
    (True, False, True)
    """
    return refine_cells == "all" or (refine_cells == "auto" and n_weights <= MOST_DENSE)


def refine_label_values(
    coded: Csr,
    Y: Csr,
    counts: ValueCounts,
    values: LabelValues,
    log_odds: Floats,
    ascent: Ascent,
    *,
    all_cells: bool,
    own_columns: bool,
    later: bool,
) -> tuple[Floats, Floats]:
    """Refined w · r, cells × labels, or without `all_cells` the refined w of each entry; and the sum of w per cell.

    Labels are refined in blocks. With `own_columns` the last columns are the labels themselves; a label's own one (with
    `later`, those after it too) is not refined.
    """
    n_cells, n_labels = len(values.group), len(log_odds)
    result = np.zeros((n_cells, n_labels)) if all_cells else values.entry_weight.copy()
    totals = np.zeros(n_cells)
    size = max(1, BLOCK // max(n_cells, coded.shape[0], 1))
    by_cell, by_label = Csr(coded.T.tocsr()), Y.tocsc()
    own = own_entries(counts, later)
    with stage("Refining weights", n_labels) as advance:
        for start in range(0, n_labels, size):
            labels = slice(start, min(start + size, n_labels))
            weight, ratio = values.dense(counts, labels)
            wanted = by_label[:, labels].toarray().astype(np.float64)
            absent = counts.absent.astype(np.float64)
            problems = LabelProblems(coded, by_cell, absent, wanted, ratio, log_odds[labels])
            inside = entries_of(counts, labels)
            cell, label = counts.pairs.entry_cell[inside], counts.pairs.entry_label[inside] - start
            free = None
            if not all_cells or own_columns:
                free = np.full_like(weight, float(all_cells))
                free[cell, label] = ~own[inside] if own_columns else True
            refined = refine_labels(problems, weight, free, ascent)
            if all_cells:
                result[:, labels] = refined * ratio
            else:
                result[inside] = refined[cell, label]
            totals += refined.sum(axis=1)
            advance(labels.stop - start)
    return result, totals


def refine_labels(problems: LabelProblems, start: Floats, free: Floats | None, ascent: Ascent) -> Floats:
    """The refined weights, cells × labels; `free` (0/1) marks the weights that may change.

    Labels are independent: each has its own step length and its own end.
    """
    result, active = start.copy(), np.arange(start.shape[1])
    origin, weight, eta = start, start.copy(), np.full(len(active), ascent.eta)
    value, missing = problems.likelihood(weight)
    for _ in range(ascent.steps):
        if not len(active):
            break
        slope = problems.gradient(missing)
        if ascent.l2:
            slope -= ascent.l2 * (weight - origin)
        if free is not None:
            slope *= free
        reached, weight, missing = _climb(problems, origin, weight, slope, eta, value, missing, ascent.l2)
        going = np.abs(reached - value) > ascent.tolerance * np.abs(value)
        value = reached
        eta *= GROWTH
        if not going.all():
            result[:, active] = weight
            problems, active, eta, value = problems.of(np.flatnonzero(going)), active[going], eta[going], value[going]
            origin, weight, missing = origin[:, going], weight[:, going], missing[:, going]
            free = None if free is None else free[:, going]
    result[:, active] = weight
    return result


def _climb(
    problems: LabelProblems,
    origin: Floats,
    weight: Floats,
    slope: Floats,
    eta: Floats,
    value: Floats,
    missing: Floats,
    l2: float,
) -> tuple[Floats, Floats, Floats]:
    """One step of each label, halved until it does not lower the objective; the objective, weights, y − P reached."""

    def attempt(part: LabelProblems, labels: Ints | slice) -> tuple[Floats, Floats, Floats]:
        tried = slope[:, labels] * eta[labels]
        tried += weight[:, labels]
        np.maximum(tried, 0.0, out=tried)
        found, left = part.likelihood(tried)
        if l2:
            found -= l2 / 2 * ((tried - origin[:, labels]) ** 2).sum(axis=0)
        return found, tried, left

    reached, ahead, left = attempt(problems, slice(None))
    worse = np.flatnonzero(~(reached >= value))
    for _ in range(HALVINGS):
        if not len(worse):
            return reached, ahead, left
        eta[worse] /= 2
        reached[worse], ahead[:, worse], left[:, worse] = attempt(problems.of(worse), worse)
        worse = worse[~(reached[worse] >= value[worse])]
    # nothing is gained in this direction: stay
    reached[worse], ahead[:, worse], left[:, worse] = value[worse], weight[:, worse], missing[:, worse]
    return reached, ahead, left


# --- one weight per cell, shared by all classes ---------------------------------------------------------------------


@dataclass(slots=True)
class ClassProblem:
    """The many-class problem: coded documents with at least one label each, and log P(a|c)."""

    coded: Csr
    absent: Floats
    Y: Csr
    log_p: LinearScores
    log_prior: Floats

    def likelihood(self, weight: Floats) -> tuple[float, Floats]:
        """Σ log P(c|d) over the documents and their labels, and its gradient by the weights."""
        scores = weighted(self.log_p, weight, self.absent, self.log_prior)
        total, gradient, left = 0.0, np.zeros(len(weight)), np.zeros(self.Y.shape[1])
        for rows in self._batches():
            coded, Y = Csr(self.coded[rows]), Csr(self.Y[rows])
            s = scores(coded)
            top = s.max(axis=1)
            log_sum = top + np.log(np.exp(s - top[:, np.newaxis]).sum(axis=1))
            size, of = np.diff(Y.indptr), rows_of_cells(Y)
            total += float(s[of, Y.indices].sum() - (size * log_sum).sum())
            missing = -size[:, np.newaxis] * posteriors(s)
            missing[of, Y.indices] += 1.0
            gradient += self._cell_sums(coded, missing)
            left += missing.sum(axis=0)
        for_absence = self.log_p.background @ (self.log_p.loadings @ left) + self.log_p.difference @ left
        return total, gradient + self.absent * for_absence

    def _batches(self) -> Iterator[slice]:
        # the gradient needs a table of the cells that occur in the batch × classes: at most its stored values
        mean_length = max(1, self.coded.nnz // max(1, self.coded.shape[0]))
        return row_batches(self.coded.shape[0], self.Y.shape[1] * mean_length)

    def _cell_sums(self, coded: Csr, missing: Floats) -> Floats:
        """Σ_d x_da Σ_c missing_dc log P(a|c) of each cell a."""
        by_cell = Csr(coded.T.tocsr())
        found = (by_cell @ (missing @ self.log_p.loadings.T) * self.log_p.background).sum(axis=1)
        cells = np.flatnonzero(np.diff(by_cell.indptr))
        sums = by_cell[cells] @ missing
        found[cells] += np.asarray(self.log_p.difference[cells].multiply(sums).sum(axis=1)).ravel()
        return np.asarray(found)


def refine_classes(problem: ClassProblem, start: Floats, ascent: Ascent) -> Floats:
    """The refined weights of the cells."""
    weight, eta = start.copy(), ascent.eta
    with stage("Refining weights", ascent.steps) as advance:
        value, slope = problem.likelihood(weight)
        for _ in range(ascent.steps):
            direction = slope - ascent.l2 * (weight - start)
            for _ in range(HALVINGS):
                tried = np.maximum(weight + eta * direction, 0.0)
                reached, slope_there = problem.likelihood(tried)
                reached -= ascent.l2 / 2 * float(((tried - start) ** 2).sum())
                if reached >= value:
                    break
                eta /= 2
            else:
                break
            change = reached - value
            weight, value, slope = tried, reached, slope_there
            eta *= GROWTH
            advance(1)
            if abs(change) <= ascent.tolerance * abs(value - change):
                break
    return weight
