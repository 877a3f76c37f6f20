"""The label set of a document under a parametric mixture model, searched label by label.

>>> theta = Csr(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]))
>>> found = find_sets(word_table(theta, np.zeros(3)), np.array([[4, 4, 0], [6, 1, 0], [3, 3, 3], [0, 0, 0]]))
>>> found.sets.toarray().tolist()
[[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]]
>>> found.log_likelihoods.round(6).tolist()
[-6.388062, -3.641446, -9.887511, 0.0]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.exceptions import DataError
from manylabel.kernels import compiled_module
from manylabel.kernels import mixture_reference as reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.mixture_reference import Documents, Pairs, Rest, Words
from manylabel.kernels.threads import in_threads

_kernel: Any = compiled_module("mixture_search") or reference

DOCUMENTS_PER_BLOCK = 256


@dataclass(frozen=True, slots=True)
class WordTable:
    """A trained mixture in the form of the search."""

    words: Words
    rest: Rest
    pairs: Pairs

    @property
    def n_labels(self) -> int:
        """L, the number of labels."""
        return len(self.rest.background)


@dataclass(frozen=True, slots=True)
class FoundSets:
    """The label sets found, their log-likelihoods, and the steps of the search."""

    sets: Csr
    """Documents × labels, 0/1."""
    log_likelihoods: Floats
    """log P(x|S), up to a constant of the document; 0 for a document without words."""
    steps: Csr
    """The same cells: log P(x|S) after the label was added. It rises, so that it also gives the order."""


def word_table(
    theta: Any,
    background: Floats,
    *,
    alpha: Csr | None = None,
    allowed: npt.ArrayLike | None = None,
) -> WordTable:
    """Prepare a mixture for `find_sets`.

    `theta` is terms × labels, stored where a label was seen with a term; `background` is θ of each label for all
    other terms. `alpha` (labels × labels, α_lm + α_ml = 1) is that of PMM2, ½ where nothing is stored; without it the
    model is PMM1. Only labels `allowed` are predicted (default: all).
    """
    cells = canonical(theta, np.float64)
    background = np.ascontiguousarray(background, dtype=np.float64)
    n_labels = cells.shape[1]
    may = np.ones(n_labels, np.uint8) if allowed is None else np.ascontiguousarray(allowed, np.bool_).view(np.uint8)
    met = canonical(Csr((n_labels, n_labels)) if alpha is None else alpha, np.float64)
    if background.shape != (n_labels,) or may.shape != (n_labels,) or met.shape != (n_labels, n_labels):
        raise DataError(
            f"A mixture of {n_labels} labels needs as many background values, permissions and rows of α, not "
            f"{background.shape}, {may.shape} and {met.shape}."
        )
    with np.errstate(divide="ignore"):
        logs, log_background = np.log(cells.data), np.log(background)
    return WordTable(
        Words(cells.indptr.astype(np.int64), cells.indices.astype(np.int32), cells.data, logs),
        Rest(background, log_background, may),
        Pairs(met.indptr.astype(np.int64), met.indices.astype(np.int32), met.data),
    )


def find_sets(table: WordTable, X: Any, *, max_labels: int | None = None, n_jobs: int | None = None) -> FoundSets:
    """The label set of each document, found by adding the label that raises log P(x|S) most until none does.

    A document with words has at least one label, one without words has none. A set has up to `max_labels` labels.
    Source: Ueda & Saito 2002, section 3.3 (greedy search). An increase within rounding, 1e-12 of the value, is none.
    """
    x = canonical(X, np.float64, keep_zeros=False)
    if x.shape[1] != len(table.words.starts) - 1:
        raise DataError(
            f"The documents have {x.shape[1]} terms but the model {len(table.words.starts) - 1}. "
            "Vectorise with the vocabulary of the training documents."
        )
    most = table.n_labels if max_labels is None else min(max_labels, table.n_labels)
    documents = Documents(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data)
    n = x.shape[0]

    def search(begin: int) -> tuple[Any, Any, Any]:
        end = min(begin + DOCUMENTS_PER_BLOCK, n)
        part = Documents(documents.starts[begin : end + 1], documents.terms, documents.counts)
        size = end - begin
        chosen, values = np.empty((size, most), np.int32), np.empty((size, most))
        counts = np.zeros(size, np.int32)
        _kernel.greedy_sets(part, table.words, table.rest, table.pairs, 0, size, chosen, values, counts)
        taken = np.arange(most) < counts[:, np.newaxis]
        return counts, chosen[taken], values[taken]

    parts = in_threads(search, range(0, n, DOCUMENTS_PER_BLOCK), n_jobs)
    return _found(parts, (n, table.n_labels))


def _found(parts: list[tuple[Any, Any, Any]], shape: tuple[int, int]) -> FoundSets:
    counts = np.concatenate([part[0] for part in parts] or [np.zeros(0, np.int64)])
    labels = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.int32)])
    values = np.concatenate([part[2] for part in parts] or [np.zeros(0)])
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    some = counts > 0
    last = np.zeros(shape[0])
    last[some] = values[indptr[1:][some] - 1]
    steps = Csr((values, labels, indptr), shape=shape)
    steps.sort_indices()
    sets = Csr((np.ones(len(labels), np.int8), steps.indices, steps.indptr), shape=shape)
    return FoundSets(sets, last, steps)
