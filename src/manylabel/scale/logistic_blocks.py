"""Logistic regression of documents on disk: labels in blocks, each solved on a sample, then on all documents.

    F(w) = ½‖w‖² + Σ_i C_i log(1 + e^(−y_i w·x_i)),   the bias being the weight of a constant feature

Every document has a gradient, so none can be left out as for SVMs. Up to `MOST_DOCUMENTS` are read into memory and
solved there. Of more, a block is solved in memory on a sample: documents with its labels and others, each of which
counts for all that were not drawn. Newton's method continues from there with all documents. It finds its direction by
conjugate gradients, preconditioned by the diagonal of the Hessian; each product with the Hessian reads all documents
once, for all labels of the block. It ends where

    F(w) − F(w*) ≤ ½‖∇F(w)‖² ≤ tol/100 · F(w)

The first holds everywhere because F − ½‖w‖² is convex. A free bias is not in ‖w‖²: its part of the bound is
the decrease that a Newton step of the bias alone promises.

Sources: Lin, Weng & Keerthi 2008 (Newton's method with conjugate gradients); Hsia, Chiang & Lin 2018 (preconditioning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.linear_solvers import LinearFit
from manylabel.kernels.score_batches import batch_scores
from manylabel.models.score_kinds import Bools, sigmoid
from manylabel.scale.svm_blocks import Block, label_blocks, most_work, save_block

MOST_DOCUMENTS = 1 << 18
"""Documents that are solved in memory; of more, half as many with the labels of a block and as many others are."""
SAMPLE_TOL = 0.1
"""The tolerance of the solution on a sample. A smaller one does not save a pass over all documents: 20,000 documents
with a sample of 4,096 took 31 passes with 0.5, 0.1, 0.03 and 0.001."""
MOST_WEIGHTS = 1 << 22
"""Terms × labels of a block; up to thirteen such tables of 8 bytes are in memory, no longer beside the sample."""
FORCING = 0.1
"""The part of the gradient that a Newton step may leave."""
MOST_PRODUCTS = 50
"""Products with the Hessian in one Newton step."""
DECREASE, HALVINGS = 1e-4, 30
"""The part of the promised decrease that a step must reach (Armijo), and how often it is halved until it does."""


def logistic_label_blocks(counts: Ints, n_documents: int, n_terms: int) -> list[list[int]]:
    """Labels in blocks of about the same work: all documents are solved for every label.

    >>> logistic_label_blocks(np.array([1, 100_000, 50_000, 0, 3]), 400_000, 1_000_000)
    [[1], [2, 4, 0, 3]]
    """
    most = max(1, min(most_work(n_documents) // max(n_documents, 1), MOST_WEIGHTS // max(n_terms, 1)))
    blocks = label_blocks(counts, n_documents)
    return [block[start : start + most] for block in blocks for start in range(0, len(block), most)]


def solve_block(
    output: Path, documents: Mapping[str, Any], model: str, labels: Sequence[int], threads: int = 1
) -> None:
    """Solve a block of labels and write what `svm_blocks.solve_block` writes; a task."""
    block = Block.of(documents, model, labels, threads)
    everything, every = np.flatnonzero(block.learned), np.arange(len(block.labels))
    if len(everything) <= MOST_DOCUMENTS:
        block.take(everything)
        found = block.solve_members(every)
    else:
        start = block.solve_members(every, weights=_sample(block, everything), tol=max(SAMPLE_TOL, block.model.tol))
        block.forget()
        found = _Newton(block, start).solve()
    save_block(output, block, found, {})


def _sample(block: Block, everything: Ints) -> Floats:
    """Read documents with the labels of the block, and others, into memory; return how many each one stands for."""
    random, carries = np.random.default_rng(block.model.seed), np.diff(block.Y.indptr)[everything] > 0
    most, weights = MOST_DOCUMENTS // 2, np.zeros(len(block.learned))
    for group in (everything[carries], everything[~carries]):
        drawn = group if len(group) <= most else random.choice(group, size=most, replace=False)
        weights[drawn] = len(group) / max(len(drawn), 1)
    members = np.flatnonzero(weights)
    block.take(members)
    return weights[members]


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """What a pass over all documents finds at some weights, label by label; the bias is the last row."""

    weights: Floats
    value: Floats
    gradient: Floats
    diagonal: Floats
    """The diagonal of the Hessian."""

    def of(self, columns: Ints) -> _Point:
        """The same of some labels."""
        return _Point(
            self.weights[:, columns], self.value[columns], self.gradient[:, columns], self.diagonal[:, columns]
        )

    def put(self, columns: Ints, other: _Point) -> None:
        """Replace what is known of some labels."""
        self.weights[:, columns], self.value[columns] = other.weights, other.value
        self.gradient[:, columns], self.diagonal[:, columns] = other.gradient, other.diagonal


class _Newton:
    """Newton's method on all documents for the labels of a block, from a solution on a sample."""

    def __init__(self, block: Block, start: LinearFit) -> None:
        self.block, self.start = block, start
        model = block.model
        carried = np.bincount(block.Y[block.learned].indices, minlength=len(block.labels))
        self.labels = np.flatnonzero((carried > 0) & (carried < np.count_nonzero(block.learned)))
        """The labels that some documents have and some do not."""
        every = np.arange(len(block.labels))
        self.scale = {"regularised": float(model.intercept_scaling), "free": 1.0, "none": 0.0}[model.bias]
        self.bias_penalty = float(model.bias != "free")
        C, J = (np.broadcast_to(block.of_labels(one, every), len(every)) for one in (model.C, model.J))
        self.costs = np.stack([C, C * J])[:, self.labels]
        self.Y = Csr(block.Y[:, self.labels])

    def solve(self) -> LinearFit:
        """The solution on all documents."""
        found = self.start
        dense = found.weights if isinstance(found.weights, np.ndarray) else found.weights.toarray()
        bias = found.intercept / (self.scale or 1.0)
        every = np.arange(len(self.labels))
        point = self._evaluate(np.vstack([dense, bias]).astype(np.float64)[:, self.labels], every)
        epochs, late = found.epochs.copy(), self._late(point, every)
        epochs[self.labels] = np.maximum(epochs[self.labels], 1)  # 0 is that of a label without a solution
        while len(late) and epochs.max() < self.block.model.max_iter:
            point.put(late, self._step(point.of(late), late))
            epochs[self.labels[late]] += 1
            late = self._late(point, late)
        weights, intercept = dense.copy(), found.intercept.copy()
        weights[:, self.labels], intercept[self.labels] = point.weights[:-1], self.scale * point.weights[-1]
        converged = np.ones(len(intercept), dtype=np.bool_)
        converged[self.labels[late]] = False
        return LinearFit(weights, intercept, epochs, converged, found.n_documents, [])

    def _late(self, point: _Point, columns: Ints) -> Ints:
        """Those of some labels whose objective may be further from the optimum than it should."""
        own = point.of(columns)
        bias = own.gradient[-1] ** 2 / (1.0 if self.bias_penalty else own.diagonal[-1])
        bound = 0.5 * ((own.gradient[:-1] ** 2).sum(axis=0) + bias)
        is_late: Bools = bound > 0.01 * self.block.model.tol * own.value
        return columns[is_late]

    def _step(self, point: _Point, columns: Ints) -> _Point:
        """The weights of some labels after one Newton step, which is halved for labels that would get worse."""
        direction = self._direction(point, columns)
        promised = (point.gradient * direction).sum(axis=0)
        after = self._evaluate(point.weights + direction, columns)
        size = np.ones(len(columns))
        for _ in range(HALVINGS):
            worse = np.flatnonzero(after.value > point.value + DECREASE * size * promised)
            if not len(worse):
                break
            size[worse] /= 2
            shorter = point.weights[:, worse] + size[worse] * direction[:, worse]
            after.put(worse, self._evaluate(shorter, columns[worse]))
        return after

    def _direction(self, point: _Point, columns: Ints) -> Floats:
        """The solution of H v = −∇F, to `FORCING`, by conjugate gradients for each label."""
        direction, residual = np.zeros_like(point.weights), -point.gradient
        scaled = residual / point.diagonal
        search, length = scaled.copy(), (residual * scaled).sum(axis=0)
        limit, late = FORCING**2 * length, np.arange(len(columns))
        for _ in range(MOST_PRODUCTS):
            product = self._product(point.weights[:, late], search[:, late], columns[late])
            size = length[late] / (search[:, late] * product).sum(axis=0)
            direction[:, late] += size * search[:, late]
            residual[:, late] -= size * product
            scaled = residual[:, late] / point.diagonal[:, late]
            left = (residual[:, late] * scaled).sum(axis=0)
            search[:, late] = scaled + left / length[late] * search[:, late]
            length[late] = left
            late = late[left > limit[late]]
            if not len(late):
                break
        return direction

    # ---- passes over all documents ----------------------------------------------------------------------------------

    def _evaluate(self, weights: Floats, columns: Ints) -> _Point:
        """Objective, gradient and diagonal of the Hessian of some labels."""
        penalty = self._penalty(weights)
        value = 0.5 * (penalty * weights**2).sum(axis=0)
        gradient, diagonal = penalty * weights, np.broadcast_to(penalty, weights.shape).copy()
        for X, margins, signs, costs in self._margins(weights, columns):
            value += (costs * np.logaddexp(0.0, -margins)).sum(axis=0)
            missing = sigmoid(-margins)
            self._add(gradient, X, -signs * costs * missing)
            squares = Csr((X.data**2, X.indices, X.indptr), shape=X.shape)
            self._add(diagonal, squares, costs * missing * (1 - missing), self.scale**2)
        return _Point(weights, value, gradient, diagonal)

    def _product(self, weights: Floats, vectors: Floats, columns: Ints) -> Floats:
        """The Hessian at some weights times a vector, for each of some labels."""
        found = self._penalty(weights) * vectors
        for X, margins, _, costs in self._margins(weights, columns):
            missing = sigmoid(-margins)
            self._add(found, X, costs * missing * (1 - missing) * self._scores(X, vectors))
        return found

    def _margins(self, weights: Floats, columns: Ints) -> Iterator[tuple[Csr, Floats, Floats, Floats]]:
        """X of some documents at a time, and for each of some labels their margins, signs and costs."""
        for numbers, X in self.block.selected.blocks(self.block.learned):
            positive = self.Y[numbers][:, columns].toarray() > 0
            signs = np.where(positive, 1.0, -1.0)
            costs = np.where(positive, self.costs[1, columns], self.costs[0, columns])
            yield X, signs * self._scores(X, weights), signs, costs

    def _penalty(self, weights: Floats) -> Floats:
        """What multiplies ½w² in the objective: 1, but 0 for a free bias, which is the last row."""
        penalty = np.ones((len(weights), 1))
        penalty[-1] = self.bias_penalty
        return penalty

    def _scores(self, X: Csr, weights: Floats) -> Floats:
        scores = batch_scores(X, weights[:-1], self.block.threads)
        scores += self.scale * weights[-1]
        return scores

    def _add(self, total: Floats, X: Csr, amounts: Floats, of_bias: float | None = None) -> None:
        """Add Xᵀ · amounts, the constant feature of the bias included."""
        total[:-1] += X.T @ amounts
        total[-1] += (self.scale if of_bias is None else of_bias) * amounts.sum(axis=0)
