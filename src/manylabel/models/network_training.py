"""Training a network of one hidden layer: scikit-learn takes the steps, `train_network` decides when to stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import WORKING_MEMORY
from manylabel.models.inputs import single_precision
from manylabel.progress import track

BATCH = 200
SMALLEST_HELD_OUT = 20
"""The smallest number of held-out documents whose loss is used; that of fewer varies too much."""

Weights = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Network:
    """The weights of a network, terms → hidden units → outputs, and the losses of its training."""

    hidden_weights: Weights
    hidden_intercept: Weights
    output_weights: Weights
    output_intercept: Weights
    losses: Floats
    """The loss that decides when to stop, epoch by epoch."""
    settled: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """The settings of the training."""

    hidden: int
    activation: str
    decay: float
    learning_rate: float
    max_epochs: int
    validation: float
    patience: int
    tol: float
    seed: int


def train_network(X: Csr, targets: Csr | Ints, how: Schedule, loss: Callable[[Network, Csr, Any], float]) -> Network:
    """Train until the loss of held-out documents (of the training documents where there are too few) has settled.

    `targets` are 0/1 outputs (documents × at least two outputs), or classes of documents as numbers from 0. The
    network of the epoch with the least loss is returned.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    X = single_precision(X)
    random = np.random.RandomState(how.seed)
    kept, held_out = _split(X.shape[0], how, random)
    n_classes = targets.shape[1] if isinstance(targets, Csr) else int(targets.max()) + 1
    mlp = _new_mlp(len(kept), how, random)
    best: Network | None = None
    losses: list[float] = []
    # One thread for BLAS: the products are small, and their sums must not depend on the number of threads.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("error", message="Training interrupted by user")
        for _ in track("Training the network", range(how.max_epochs)):
            training_loss = _epoch(mlp, X, targets, kept, np.arange(n_classes), random)
            found = _network(mlp, losses)
            losses.append(loss(found, X[held_out], targets[held_out]) if len(held_out) else training_loss)
            if best is None or losses[-1] <= min(losses):
                best = found
            if _has_settled(losses, how):
                break
    assert best is not None
    return Network(
        best.hidden_weights, best.hidden_intercept, best.output_weights, best.output_intercept,
        np.array(losses), _has_settled(losses, how),
    )  # fmt: skip


def _split(n: int, how: Schedule, random: np.random.RandomState) -> tuple[Ints, Ints]:
    size = int(how.validation * n)
    if size < SMALLEST_HELD_OUT:
        return np.arange(n), np.zeros(0, dtype=np.int64)
    order = random.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])


def _has_settled(losses: list[float], how: Schedule) -> bool:
    """Whether the last `patience` epochs have not lowered the loss by more than `tol` of the first."""
    if len(losses) <= how.patience:
        return False
    return min(losses[-how.patience :]) > min(losses[: -how.patience]) - how.tol * losses[0]


def _new_mlp(n: int, how: Schedule, random: np.random.RandomState) -> Any:
    from sklearn.neural_network import MLPClassifier

    # scikit-learn divides the penalty ½ α Σ w² by the size of a batch and the entropy too, so that over all batches
    # its α weighs N/batch times as much as in a sum over documents.
    alpha = 2 * how.decay * min(BATCH, n) / n
    return MLPClassifier(
        (how.hidden,), activation=how.activation, alpha=alpha, learning_rate_init=how.learning_rate, random_state=random
    )


def _epoch(mlp: Any, X: Csr, targets: Csr | Ints, kept: Ints, classes: Ints, random: np.random.RandomState) -> float:
    """One pass over the documents, in pieces whose dense targets keep within the memory budget; the mean loss."""
    total = 0.0
    for rows in _pieces(kept, len(classes), random):
        y = targets[rows].toarray() if isinstance(targets, Csr) else targets[rows]
        try:
            mlp.partial_fit(X[rows], y, classes=classes)
        except UserWarning:  # scikit-learn swallows the interrupt and warns; the user meant to stop
            raise KeyboardInterrupt from None
        total += mlp.loss_ * len(rows)
    return total / len(kept)


def _pieces(rows: Ints, n_outputs: int, random: np.random.RandomState) -> Iterator[Ints]:
    most = max(BATCH, WORKING_MEMORY // (8 * 8 * n_outputs))
    if len(rows) <= most:
        yield rows
        return
    shuffled = random.permutation(rows)
    for start in range(0, len(rows), most):
        yield shuffled[start : start + most]


def _network(mlp: Any, losses: list[float]) -> Network:
    (first, second), (bias, last) = mlp.coefs_, mlp.intercepts_
    return Network(first.copy(), bias.copy(), second.copy(), last.copy(), np.array(losses), False)
