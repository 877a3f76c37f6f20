"""The plain twin of `linear.pyx`: one linear classifier per label by dual coordinate descent on working sets.

For each label, with y = ±1 and costs C_i:

    hinge      min_α ½ αᵀQα − Σ α,  0 ≤ α_i ≤ C_i,                    Q_ij = y_i y_j (x_i·x_j + β)
    squared    the same with Q_ii + 1/(2 C_i) and no upper bound
    logistic   min_α ½ αᵀQα + Σ α_i log α_i + (C_i − α_i) log(C_i − α_i),  0 < α_i < C_i

where w = Σ α y x and the bias is β Σ α y (β is the square of the constant feature, 0 without a bias). A free bias
requires Σ α y = 0: the method of multipliers adds β Σ α y to the bias until it holds.

A label's working set begins with its positives and the negatives nearest to their centroid. It is solved loosely, all
documents are scored, the worst violators join (up to half the set's size), and the tolerance is lowered with the
worst violation.

A term that only one document has is in no product of two documents. Such terms of document i add s_i, the sum of
their squares, to x_i·x_i and do nothing else. So they are left out of X: s_i α_i is added to the derivative, and their
weights are α_i y_i x_i in the end.

Sources: Hsieh, Chang, Lin, Keerthi & Sundararajan 2008 (steps and shrinking), Yu, Huang & Lin 2011 (logistic loss).
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.kernels.linear_steps_reference import HINGE, LOGISTIC, Floats, Int32s, Int64s, Label, Rows, solve_set
from manylabel.kernels.pruning import largest

UInt64s = npt.NDArray[np.uint64]
Solved = tuple[int, Int32s, Floats, float, Int32s, Floats, int, bool]
"""A label's number, its columns and weights, bias, support documents and their α, epochs, whether it converged."""

_TURN = threading.Lock()


def solve_labels(
    data: npt.NDArray[Any], indices: Int32s, indptr: Int64s, n_columns: int, squares: Floats, weights: Floats,
    own_squares: Floats, own_starts: Int64s, own_data: npt.NDArray[Any],
    positive_starts: Int64s, positive_docs: Int32s, excluded_starts: Int64s, excluded_docs: Int32s,
    initial_starts: Int64s, initial_docs: Int32s, initial_alpha: Floats,
    order: Int32s, costs: Floats, ratios: Floats, seeds: UInt64s,
    loss: int, beta: float, free_bias: bool, tol: float, max_epochs: int, prune: float, places: int,
    counter: Int64s, finished: Int64s, stop: Int32s,
) -> list[Solved]:  # fmt: skip
    """Solve the labels of `order` that `counter` assigns, until none is left or `stop` is set.

    `costs` and `ratios` are C and J of every label; `weights` multiply the costs, and a document of weight 0 is left
    out. Positive, excluded and initial documents stand in lists, label after label. With `prune` above 0, only the
    weights of `largest` are kept, in the precision of the data. The compiled kernel solves up to `places` labels side
    by side, which changes no result.
    """
    own = own_squares.tolist(), own_starts.tolist(), own_data
    rows = Rows(data, indices, indptr, n_columns, squares.tolist(), weights.tolist(), *own, loss, tol, max_epochs)
    results: list[Solved] = []
    while (taken := advance(counter)) < len(order) and not stop[0]:
        c = int(order[taken])
        label = Label(rows, c, float(costs[c] * ratios[c]), float(costs[c]), beta, free_bias, int(seeds[c]))
        excluded = excluded_docs[excluded_starts[c] : excluded_starts[c + 1]]
        former = slice(int(initial_starts[c]), int(initial_starts[c + 1]))
        begin(label, positive_docs[positive_starts[c] : positive_starts[c + 1]], excluded)
        resume(label, dict(zip(initial_docs[former].tolist(), initial_alpha[former].tolist(), strict=True)))
        if solve(label, stop):
            results.append(collected(label, prune))
            advance(finished)
    return results


def advance(counter: Int64s) -> int:
    """Add one to a counter that several threads share; returns its previous value."""
    with _TURN:
        before = int(counter[0])
        counter[0] = before + 1
    return before


def begin(label: Label, positives: Int32s, excluded: Int32s) -> None:
    """The first working set: the positives and, but for the logistic loss, no negatives yet."""
    rows = label.rows
    label.w = [0.0] * rows.n_columns
    label.member = np.where(np.array(rows.weights) > 0, 0, 2).astype(np.uint8)
    for doc in positives.tolist():
        label.join(doc)
    label.positives = len(label.docs)
    label.member[excluded[label.member[excluded] == 0]] = 2
    if rows.loss == LOGISTIC:
        for doc in range(rows.n):
            label.join(doc)
        label.eps = rows.tol


def resume(label: Label, former: dict[int, float]) -> None:
    """Start from an earlier α; without one, from 0 with the negatives nearest to the positives' centroid."""
    rows = label.rows
    for doc in former:
        label.join(doc)
    if former:
        label.alpha = [former.get(doc, 0.0) for doc in label.docs]
        label.eps = max(rows.tol, 0.1)
    bound(label)
    if not former and rows.loss != LOGISTIC:
        centroid = np.zeros(rows.n_columns, dtype=rows.data.dtype)
        for doc in label.docs:
            centroid[rows.indices[rows.row(doc)]] += rows.data[rows.row(doc)]
        most = int(math.sqrt(rows.n)) + label.positives
        add_worst(label, rows.scores(centroid), -math.inf, most)


def bound(label: Label) -> None:
    """Clip α to its bounds and update w."""
    for j, doc in enumerate(label.docs):
        y, cost = label.sign_and_cost(j)
        if label.rows.loss == HINGE:
            label.alpha[j] = min(label.alpha[j], cost)
        elif label.rows.loss == LOGISTIC:
            edge = min(1e-3 * cost, 1e-8)
            label.alpha[j] = max(edge, min(label.alpha[j], cost - edge))
        if label.alpha[j] > 0:
            label.move(doc, y * label.alpha[j])


def solve(label: Label, stop: Int32s) -> bool:
    """Widen the working set and tighten its tolerance until nothing violates; False where it was stopped."""
    rows = label.rows
    while True:
        solve_set(label, stop)
        if stop[0]:
            return False
        if label.epochs >= rows.max_epochs:
            return True
        worst = -math.inf
        if rows.loss != LOGISTIC:
            # What stays outside adds up linearly in the hinge's objective, and only by its squares in the other one.
            allowed = 0.1 * rows.tol if rows.loss == HINGE else rows.tol
            limit = float(rows.data.dtype.type(allowed - 1 - label.bias))
            worst = 1 + label.bias + add_worst(label, rows.scores(label.w), limit, len(label.docs) // 2 + 10)
        if worst > -math.inf:
            label.eps = max(rows.tol, min(label.eps, 0.5 * worst))
        elif label.eps > rows.tol:
            label.eps = rows.tol
        elif bias_is_settled(label):
            return True


def add_worst(label: Label, scores: Floats, limit: float, most: int) -> float:
    """Add the `most` outside documents (all negative) of highest score above a limit; that score, −∞ if none."""
    outside = np.flatnonzero((label.member == 0) & (scores > limit))
    if len(outside) == 0:
        return -math.inf
    worst = float(scores[outside].max())
    if len(outside) > most:
        least = np.sort(scores[outside])[-most]
        outside = outside[scores[outside] >= least][:most]
    for doc in outside.tolist():
        label.join(doc)
    return worst


def bias_is_settled(label: Label) -> bool:
    """True unless the bias is free and Σ α y is not yet 0: then a step of the method of multipliers is taken."""
    tol, off, step = label.rows.tol, abs(label.total), label.beta * label.total
    if not label.free_bias or (abs(step) <= tol and off <= tol):
        return True
    label.offset += step
    if off > 0.25 * label.last_total:
        label.beta *= 4
    label.last_total = off
    return False


def collected(label: Label, prune: float) -> Solved:
    """The result of `solve_labels` for a label; w is computed again from α."""
    label.w, label.total = [0.0] * label.rows.n_columns, 0.0
    bound(label)
    own = own_weights(label)
    shared, alpha = np.flatnonzero(label.w), np.array(label.alpha)
    columns = np.concatenate([shared, label.rows.n_columns + np.array(list(own), dtype=np.int64)])
    weights = np.concatenate([np.array(label.w)[shared], list(own.values())]).astype(label.rows.data.dtype)
    if prune:
        kept = largest(weights, prune)
        columns, weights = columns[kept], weights[kept]
    support, docs = np.flatnonzero(alpha), np.array(label.docs, dtype=np.int32)
    return (
        label.number, columns.astype(np.int32), weights, label.bias, docs[support], alpha[support], label.epochs,
        label.epochs < label.rows.max_epochs,
    )  # fmt: skip


def own_weights(label: Label) -> dict[int, float]:
    """The weights of terms that only one document has, by their place in `own_data`."""
    rows, found = label.rows, {}
    for j, doc in enumerate(label.docs):
        y, _ = label.sign_and_cost(j)
        for place in range(rows.own_starts[doc], rows.own_starts[doc + 1]):
            weight = y * label.alpha[j] * float(rows.own_data[place])
            if weight != 0:
                found[place] = weight
    return found
