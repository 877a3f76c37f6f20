"""How many labels are predicted for documents that truly have one, two, three of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.metrics.counts import DocumentCounts


@dataclass(frozen=True, slots=True, eq=False)
class SetSizeTable:
    """One row per true size 1 … k; columns are the predicted sizes 0, 1 … k and "more than k".

    `shares` sum to 1 in each row that has `documents`, and are nan in a row that has none.
    """

    shares: Floats
    documents: Ints

    @property
    def largest(self) -> int:
        """k, the largest size with a row of its own."""
        return len(self.documents)


def set_size_table(counts: DocumentCounts, largest: int = 3, *, count_empty: bool = True) -> SetSizeTable:
    """For each true set size |T| = 1 … k, the shares of the predicted sizes |S| = 0, 1 … k and larger.

    Source: Godbole & Sarawagi 2004, Fig. 4. They have no column for empty predictions, because a
    document with nothing predicted gets its best label there; `count_empty=False` leaves such ones out.

    >>> counts = DocumentCounts(right=[1, 1, 0], true=[1, 1, 2], predicted=[1, 2, 0], labels=9)
    >>> table = set_size_table(counts, largest=2)
    >>> table.shares
    array([[0. , 0.5, 0.5, 0. ],
           [1. , 0. , 0. , 0. ]])
    >>> table.documents
    array([2, 1])
    """
    if largest < 1:
        raise ParameterError(f"set_size_table: largest must be a whole number of at least 1, not {largest!r}.")
    keep = (counts.true >= 1) & (counts.true <= largest)
    if not count_empty:
        keep &= counts.predicted > 0
    width = largest + 2
    cells = (counts.true[keep] - 1) * width + np.minimum(counts.predicted[keep], largest + 1)
    table = np.bincount(cells, minlength=largest * width).reshape(largest, width).astype(np.int64)
    documents = table.sum(axis=1)
    shares = np.full(table.shape, np.nan)
    np.divide(table, documents[:, None], out=shares, where=documents[:, None] > 0)
    return SetSizeTable(shares, documents)
