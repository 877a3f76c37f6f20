"""Orders of labels, for classifier chains and for the sequential passes of co-training."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.parameters import AnyOf, OneOf, Satisfies
from manylabel.wording import counted

ORDER = AnyOf(
    OneOf("random", "given", "frequency", "dependency"),
    Satisfies("a list of all label numbers", lambda value: isinstance(value, (list, tuple, np.ndarray))),
)


def label_order(order: str | Sequence[int] | npt.NDArray[Any], Y: Csr, seed: int = 0) -> Ints:
    """The labels in the requested order.

    given        as the columns stand
    random       drawn with the seed (Read et al. 2011)
    frequency    the label of most documents first
    dependency   each next label is the one with most information in the labels before it, see `dependency_order`

    A list names the order itself. Ties go to the lower label number.

    >>> Y = Csr([[1, 1, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0]])
    >>> label_order("frequency", Y).tolist(), label_order([3, 1, 0, 2], Y).tolist()
    ([1, 2, 3, 0], [3, 1, 0, 2])
    """
    n_labels = Y.shape[1]
    if not isinstance(order, str):
        return _checked(order, n_labels)
    if order == "random":
        return np.random.default_rng(seed).permutation(n_labels).astype(np.int64)
    if order == "frequency":
        return np.argsort(-np.bincount(Y.indices, minlength=n_labels), kind="stable").astype(np.int64)
    return dependency_order(Y) if order == "dependency" else np.arange(n_labels, dtype=np.int64)


def dependency_order(Y: Csr) -> Ints:
    """A greedy order by mutual information: first the hub, then always the label that shares most with those before it.

    first = argmax_k Σ_m I(k; m),   next = argmax_k Σ_{m placed} I(k; m)

    I(k; m) is the mutual information of two labels over the training documents. In a chain so ordered each label
    follows the labels that are most informative about it. Our own choice: Read et al. 2011 draw orders at random. One
    row of the labels × labels table is at hand at a time; time grows with the square of the number of labels.

    >>> Y = Csr([[1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 1]])
    >>> dependency_order(Y).tolist()
    [0, 1, 2]
    """
    n_labels = Y.shape[1]
    together = Csr((Y.T @ Y.astype(np.int64)).tocsr())
    documents = np.asarray(together.diagonal(), dtype=np.float64)
    connected = np.array([_information(together, documents, Y.shape[0], label).sum() for label in range(n_labels)])
    shared = connected.copy()
    placed = np.zeros(n_labels, dtype=np.bool_)
    order = np.empty(n_labels, dtype=np.int64)
    for place in range(n_labels):
        # Sums of equal terms taken in another order differ in the last digits, and would decide ties by chance.
        best = np.where(placed, -np.inf, np.round(shared, 12))
        order[place] = label = int(best.argmax())
        placed[label] = True
        row = _information(together, documents, Y.shape[0], label)
        shared = row if place == 0 else shared + row
    return order


def _information(together: Csr, documents: Floats, n_documents: int, label: int) -> Floats:
    """I(label; m) in nats for every label m; 0 for the label itself."""
    both = np.zeros(len(documents))
    entries = slice(together.indptr[label], together.indptr[label + 1])
    both[together.indices[entries]] = together.data[entries]
    cells = (both, documents[label] - both, documents - both, n_documents - documents[label] - documents + both)
    margins = (documents[label], documents), (documents[label], None), (None, documents), (None, None)
    information = np.zeros(len(documents))
    for cell, (own, other) in zip(cells, margins, strict=True):
        expected_own = n_documents - documents[label] if own is None else own
        expected = expected_own * (n_documents - documents if other is None else other)
        with np.errstate(divide="ignore", invalid="ignore"):
            information += np.where(cell > 0, cell * np.log(cell * n_documents / expected), 0.0)
    information[label] = 0.0
    return np.maximum(information / n_documents, 0.0)


def _checked(order: Sequence[int] | npt.NDArray[Any], n_labels: int) -> Ints:
    numbers_only = all(isinstance(label, numbers.Integral) for label in order)
    if not numbers_only or sorted(int(label) for label in order) != list(range(n_labels)):
        raise ParameterError(
            f"order must name each of the {counted(n_labels, 'label')} once, by its number from 0 to {n_labels - 1}, "
            f"not {list(order)!r}."
        )
    return np.array([int(label) for label in order], dtype=np.int64)
