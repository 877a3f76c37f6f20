"""The plain twin of `linear_steps.pxd`: dual coordinate descent for one label on its working set of documents.

`linear_reference` states the problem and chooses the working sets. Sources: Hsieh, Chang, Lin, Keerthi & Sundararajan
2008 (steps and shrinking), Yu, Huang & Lin 2011 (logistic loss).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

HINGE, SQUARED, LOGISTIC = 0, 1, 2
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Lane = list[tuple[int, float]]
"""Columns and values of a document whose products with w are summed one after the other."""

_MASK = (1 << 64) - 1


@dataclass(slots=True)
class Rows:
    """The documents, shared by all labels; numbers read one by one are in lists, which are faster in Python."""

    data: npt.NDArray[Any]
    indices: Int32s
    indptr: Int64s
    n_columns: int
    squares: list[float]
    weights: list[float]
    own_squares: list[float]
    own_starts: list[int]
    own_data: npt.NDArray[Any]
    loss: int
    tol: float
    max_epochs: int
    lanes: list[tuple[Lane, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Distribute each document's terms over four lanes, as the compiled kernel does; the rest go to the first."""
        self.lanes = []
        for i in range(self.n):
            row = self.row(i)
            terms = list(zip(self.indices[row].tolist(), self.data[row].tolist(), strict=True))
            whole = len(terms) // 4 * 4
            self.lanes.append((terms[:whole:4] + terms[whole:], *(terms[k:whole:4] for k in (1, 2, 3))))

    @property
    def n(self) -> int:
        """The number of documents."""
        return len(self.indptr) - 1

    def row(self, i: int) -> slice:
        """The slice of document i in the arrays."""
        return slice(int(self.indptr[i]), int(self.indptr[i + 1]))

    def scores(self, w: list[float] | npt.NDArray[Any]) -> Floats:
        """X w, summed in the precision of the data, term by term as the compiled kernel sums."""
        result = np.zeros(self.n, dtype=self.data.dtype)
        lengths = np.diff(self.indptr)
        weights = np.asarray(w).astype(self.data.dtype)
        for k in range(int(lengths.max(initial=0))):
            rows = np.flatnonzero(lengths > k)
            at = self.indptr[rows] + k
            result[rows] += weights[self.indices[at]] * self.data[at]
        return result.astype(np.float64)


@dataclass(slots=True)
class Label:
    """The state of one label's problem."""

    rows: Rows
    number: int
    cost_pos: float
    cost_neg: float
    beta: float
    free_bias: bool
    random: int
    positives: int = 0
    epochs: int = 0
    offset: float = 0.0
    total: float = 0.0
    last_total: float = math.inf
    eps: float = 2.0
    inner_eps: float = 1e-2
    docs: list[int] = field(default_factory=list)
    alpha: list[float] = field(default_factory=list)
    member: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    w: list[float] = field(default_factory=list)

    @property
    def bias(self) -> float:
        """The bias at this point."""
        return self.offset + self.beta * self.total

    def join(self, doc: int) -> None:
        """Add a document to the working set unless it is in it or excluded."""
        if self.member[doc] == 0:
            self.member[doc] = 1
            self.docs.append(doc)
            self.alpha.append(0.0)

    def sign_and_cost(self, j: int) -> tuple[int, float]:
        """The sign y and cost C of the j-th member; positives come first."""
        weight = self.rows.weights[self.docs[j]]
        return (1, weight * self.cost_pos) if j < self.positives else (-1, weight * self.cost_neg)

    def dot(self, i: int) -> float:
        """The product w · x_i, in the four sums of the compiled kernel."""
        w, sums = self.w, []
        for lane in self.rows.lanes[i]:
            total = 0.0
            for column, value in lane:
                total += w[column] * value
            sums.append(total)
        return (sums[0] + sums[1]) + (sums[2] + sums[3])

    def move(self, i: int, by: float) -> None:
        """Add by · x_i to w, and the bias with it."""
        w = self.w
        for lane in self.rows.lanes[i]:
            for column, value in lane:
                w[column] += by * value
        self.total += by

    def shuffle(self, order: list[int], active: int) -> None:
        """Fisher and Yates's shuffle by Marsaglia's xorshift."""
        r = self.random
        for i in range(active):
            r ^= (r << 13) & _MASK
            r ^= r >> 7
            r ^= (r << 17) & _MASK
            j = i + (((r >> 32) * (active - i)) >> 32)
            order[i], order[j] = order[j], order[i]
        self.random = r


def solve_set(label: Label, stop: Int32s) -> None:
    """Coordinate descent on the working set until its violations are within the label's tolerance."""
    rows, order, active = label.rows, list(range(len(label.docs))), len(label.docs)
    high, low = math.inf, -math.inf
    while label.epochs < rows.max_epochs and not stop[0]:
        label.shuffle(order, active)
        label.epochs += 1
        if rows.loss == LOGISTIC:
            violation = sweep_logistic(label, order)
        else:
            violation, active, high, low = sweep(label, order, active, high, low)
        if violation <= label.eps:
            if active == len(label.docs) or label.eps > rows.tol:
                return
            active, high, low = len(label.docs), math.inf, -math.inf


def sweep(
    label: Label, order: list[int], active: int, old_high: float, old_low: float
) -> tuple[float, int, float, float]:
    """One epoch with shrinking over the first `active` of `order`: range of violations, what is left, new limits."""
    s, high, low = 0, -math.inf, math.inf
    while s < active:
        j = order[s]
        alpha, (_, cost) = label.alpha[j], label.sign_and_cost(j)
        upper = cost if label.rows.loss == HINGE else math.inf
        gradient = gradient_at(label, j)
        if (alpha == 0 and gradient > old_high) or (alpha == upper and gradient < old_low):
            active -= 1
            order[s], order[active] = order[active], order[s]
            continue
        inside = (alpha != 0 or gradient <= 0) and (alpha != upper or gradient >= 0)
        violation = gradient if inside else 0.0
        high, low = max(high, violation), min(low, violation)
        if abs(violation) > 1e-12:
            step(label, j, gradient, upper)
        s += 1
    # Two equal violations have no range of their own: 0 belongs to it.
    spread = max(high, 0.0) - min(low, 0.0)
    return spread, active, high if high > 0 else math.inf, low if low < 0 else -math.inf


def gradient_at(label: Label, j: int) -> float:
    """The derivative of the dual objective by α_j: y f(x) − 1, and α/(2C) for the squared hinge."""
    (y, cost), own = label.sign_and_cost(j), label.rows.own_squares[label.docs[j]]
    own = own if label.rows.loss == HINGE else 0.5 / cost + own
    return y * (label.dot(label.docs[j]) + label.offset + label.beta * label.total) - 1 + own * label.alpha[j]


def step(label: Label, j: int, gradient: float, upper: float) -> None:
    """Minimise the dual objective over α_j alone."""
    y, cost = label.sign_and_cost(j)
    doc, alpha = label.docs[j], label.alpha[j]
    curve = (0.0 if label.rows.loss == HINGE else 0.5 / cost) + label.rows.squares[doc] + label.beta
    moved = alpha - gradient / curve if curve > 0 else (0.0 if gradient > 0 else upper)
    label.alpha[j] = min(max(moved, 0.0), upper)
    label.move(doc, (label.alpha[j] - alpha) * y)


def sweep_logistic(label: Label, order: list[int]) -> float:
    """One epoch for the logistic loss (Yu, Huang & Lin 2011, algorithm 5); the largest gradient."""
    newton, largest = 0, 0.0
    for j in order:
        y, cost = label.sign_and_cost(j)
        doc = label.docs[j]
        curve = label.rows.squares[doc] + label.beta
        slope = y * (label.dot(doc) + label.bias) + label.rows.own_squares[doc] * label.alpha[j]
        sign = 1 if 0.5 * curve * (cost - 2 * label.alpha[j]) + slope >= 0 else -1
        old = label.alpha[j] if sign > 0 else cost - label.alpha[j]
        z = 0.1 * old if cost - old < 0.5 * cost else old
        gradient = curve * (z - old) + sign * slope + math.log(z / (cost - z))
        largest, steps = max(largest, abs(gradient)), 0
        while abs(gradient) >= label.inner_eps and steps < 100:
            there = z - gradient / (curve + cost / ((cost - z) * z))
            z = there if 0 < there < cost else 0.1 * z
            gradient = curve * (z - old) + sign * slope + math.log(z / (cost - z))
            steps += 1
        newton += steps
        if steps:
            label.alpha[j] = z if sign > 0 else cost - z
            label.move(doc, sign * (z - old) * y)
    if newton <= len(order) // 10:
        label.inner_eps = max(1e-12, 0.1 * label.inner_eps)
    return largest
