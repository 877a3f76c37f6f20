"""Counts of documents by the values of their features (term i in frequency bin j) and by label.

`ValueTable` counts the documents with each distinct value of each column, in all and by label. Tables of parts of a
corpus add up, because distinct values, unlike the bins cut from them, do not change as more documents come.

`ValueCoder` turns values into *cells*. A cell is one value of one feature that occurred in training: a present term in
one of its bins, or, where absence is evidence too (the categorical reading, and label indicators always), an absent
term. Cells are numbered column by column, absence first. A document is coded as a sparse row over the cells: 1 (or the
frequency) at the value of each present term, and −1 at the absence cell of that term, because the sum over all absence
cells is part of the intercept. So every reading of value-weighted naive Bayes is linear in the coded row, and absent
terms cost nothing.

`ValueCounts` holds the documents by cell and label, from which all weights and scores are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.features.discretize import FrequencyBins, Scope, bin_numbers
from manylabel.stored import Matrix, Scalar, Sometimes, Stored, amounts

Event = Literal["exponent", "categorical", "multinomial"]
Frequency = Literal["bin", "value"]
Bools = npt.NDArray[np.bool_]
Columns = npt.NDArray[Any]

STORED_TABLE: Mapping[str, Stored] = {
    "table_values_": Sometimes(Matrix("rows", None, low=0)),
    "table_row_documents_": Sometimes(amounts("rows"), "table_values_"),
    "table_label_rows_": Sometimes(Matrix("labels", "rows", low=0), "table_values_"),
    "table_label_documents_": Sometimes(amounts("labels"), "table_values_"),
    "table_n_documents_": Sometimes(Scalar(low=0), "table_values_"),
}
"""A `ValueTable` as a model stores it, see `ValueTable.as_learned`."""


@dataclass(frozen=True, slots=True)
class ValueTable:
    """Rows of values, each standing for some documents; a row is a document, or a single value (see `condensed`)."""

    values: Csr
    """Rows × columns."""
    row_documents: Floats
    """How many documents a row stands for: each counted once, or once per label where labels are classes."""
    label_rows: Csr
    """Labels × rows: how many of the label's documents a row stands for."""
    label_documents: Floats
    """N_c"""
    n_documents: float
    """N, counted as `row_documents` counts."""

    def condensed(self) -> ValueTable:
        """The same counts with one row for each distinct value of each column, in order.

        >>> table = tabulate(Csr([[1.0, 2.0], [1.0, 0.0], [3.0, 2.0]]), Csr([[1], [1], [0]]), np.ones(3)).condensed()
        >>> table.values.toarray().tolist(), table.row_documents.tolist(), table.label_rows.toarray().tolist()
        ([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]], [2.0, 1.0, 2.0], [[2.0, 0.0, 1.0]])
        """
        X = self.values
        order = np.lexsort((X.data, X.indices))
        columns, values = X.indices[order], X.data[order]
        new = np.ones(X.nnz, dtype=np.bool_)
        new[1:] = (np.diff(columns) != 0) | (np.diff(values) != 0)
        key = np.empty(X.nnz, dtype=np.int64)
        key[order] = np.cumsum(new) - 1
        n_keys = int(new.sum())
        by_label = Csr(self.label_rows @ Csr((np.ones(X.nnz), key, X.indptr), shape=(X.shape[0], n_keys)))
        by_label.sort_indices()
        return ValueTable(
            Csr((values[new], columns[new], np.arange(n_keys + 1)), shape=(n_keys, X.shape[1])),
            np.asarray(
                np.bincount(key, weights=self.row_documents[rows_of_cells(X)], minlength=n_keys), dtype=np.float64
            ),
            by_label,
            self.label_documents,
            self.n_documents,
        )

    def __add__(self, other: ValueTable) -> ValueTable:
        """The table of both parts, condensed; associative and commutative."""
        return ValueTable(
            Csr(sparse.vstack([self.values, other.values], format="csr")),
            np.concatenate([self.row_documents, other.row_documents]),
            Csr(sparse.hstack([self.label_rows, other.label_rows], format="csr")),
            self.label_documents + other.label_documents,
            self.n_documents + other.n_documents,
        ).condensed()

    def as_learned(self) -> dict[str, Any]:
        """The tables under the names a model keeps them by."""
        return {f"table_{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: Any) -> ValueTable:
        """The tables a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(**{item.name: getattr(state, f"table_{item.name}_") for item in fields(cls)})


def tabulate(X: Csr, Y: Csr, copies: Floats) -> ValueTable:
    """The table of documents X with labels Y, each counted `copies` times; every document is a row."""
    by_label = Csr(Csr((np.ones(Y.nnz), Y.indices, Y.indptr), shape=Y.shape).T.tocsr())
    return ValueTable(X, copies, by_label, np.diff(by_label.indptr).astype(np.float64), float(copies.sum()))


@dataclass(frozen=True, slots=True)
class ValueCoder:
    """Turns documents into rows over the cells."""

    event: Event
    frequency: Frequency
    n_bins: int
    binary_columns: int
    low: Floats
    high: Floats
    cells: npt.NDArray[np.int32]
    """Columns × bins: the cell of each value, −1 for a value that has none. Bin 0 is absence."""

    @property
    def is_indicator(self) -> Bools:
        """Which columns are label indicators, features of the two values 0 and 1."""
        return np.arange(len(self.low)) >= self._first_indicator

    @property
    def is_categorical(self) -> Bools:
        """Which columns count absence as a value of its own."""
        return self.is_indicator | (self.event == "categorical")

    @property
    def _first_indicator(self) -> int:
        return len(self.low) - self.binary_columns

    def frequencies(self, columns: Columns, values: Floats, bins: Ints) -> Floats:
        """The frequency f of each value: its bin number, or the value itself; 1 for an indicator."""
        f = bins.astype(np.float64) if self.frequency == "bin" else values
        return np.where(columns >= self._first_indicator, 1.0, f)

    def bins(self, columns: Columns, values: Floats) -> Ints:
        """The bin of each value."""
        return bin_numbers(values, self.low[columns], self.high[columns], self.n_bins)

    def cells_of(self, columns: Columns, values: Floats) -> tuple[npt.NDArray[np.int32], Floats]:
        """The one or two cells of each value of a document, values × 1 or 2, and the amounts at these cells.

        The second number is that of the value's own cell, the first its absence cell where absence may be evidence;
        so each row of cells rises. −1 stands for no cell.
        """
        bins = self.bins(columns, values)
        present = self.cells[columns, bins]
        amounts = self.frequencies(columns, values, bins) if self.event == "multinomial" else np.ones(len(columns))
        if self.event != "categorical" and not self.binary_columns:
            return present[:, np.newaxis], amounts[:, np.newaxis]
        cells = np.column_stack([self.cells[columns, 0], present])
        return cells, np.column_stack([np.full(len(columns), -1.0), amounts])

    def code(self, X: Csr) -> Csr:
        """Coded documents, documents × cells."""
        cells, amounts = self.cells_of(X.indices, X.data)
        kept = cells.ravel() >= 0
        indptr = np.concatenate([[0], np.cumsum(kept)])[cells.shape[1] * X.indptr]
        return Csr((amounts.ravel()[kept], cells.ravel()[kept], indptr), shape=(X.shape[0], self.n_cells))

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return int(self.cells.max(initial=-1)) + 1


def learn_coder(
    table: ValueTable,
    *,
    event: Event,
    frequency: Frequency,
    n_bins: int,
    scope: Scope,
    binary_columns: int,
    every_bin: bool,
) -> ValueCoder:
    """The intervals and the cells of training documents.

    A column that no document has gets no cell, so that it has no effect. With `every_bin` all bins of the
    other columns get a cell, and not only those that occur.
    """
    X, n_columns = table.values, table.values.shape[1]
    n_words = n_columns - binary_columns
    indicator = np.arange(n_columns) >= n_words
    low, high = np.ones(n_columns), np.ones(n_columns)
    low[:n_words], high[:n_words] = FrequencyBins(n_bins, scope).fit(X[:, :n_words]).intervals()
    bins = bin_numbers(X.data, low[X.indices], high[X.indices], n_bins)
    place = X.indices.astype(np.int64) * n_bins + bins
    seen = np.bincount(place, table.row_documents[rows_of_cells(X)], minlength=n_columns * n_bins).reshape(
        n_columns, n_bins
    )
    documents = seen.sum(axis=1)
    exists = seen > 0
    exists[:, 0] = documents < table.n_documents
    if every_bin:
        exists[:] = True
        exists[indicator, 2:] = False
    exists[:, 0] &= indicator | (event == "categorical")
    exists[documents == 0] = False
    cells = np.where(exists, np.cumsum(exists).reshape(exists.shape) - 1, -1).astype(np.int32)
    return ValueCoder(event, frequency, n_bins, binary_columns, low, high, cells)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The columns that occur with each label, and all cells of these columns: what differs from label to label.

    An *entry* is a label and a cell of such a column, whether or not that value occurs with the label.
    """

    label: Ints
    column: Ints
    frequency: Floats
    """F_ic: the frequency of the term in the label's documents."""
    entry_pair: Ints
    entry_cell: Ints
    entry_documents: Floats
    """n_ac: documents of the label with the value."""

    @property
    def entry_label(self) -> Ints:
        """The label of each entry."""
        return self.label[self.entry_pair]


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Documents by cell and label: the counts from which value-weighted naive Bayes is computed."""

    n_documents: float
    """N: documents, each counted once, or once per label where labels are classes."""
    label_documents: Floats
    """N_c"""
    cell_column: Ints
    cell_bin: Ints
    cell_documents: Floats
    """n_a"""
    column_frequency: Floats
    """F_i: the frequency of each term in all documents."""
    label_frequency: Floats
    """F_c: the sum of the term frequencies in each label's documents."""
    n_words: int
    """V: the number of terms in training; 1 where there are none, so that logarithms stay finite."""
    n_bins: int
    is_indicator: Bools
    is_categorical: Bools
    pairs: Pairs

    @property
    def absent(self) -> Bools:
        """Which cells are absence."""
        return np.asarray(self.cell_bin == 0)

    @property
    def n_values(self) -> Floats:
        """B of each cell's feature: the number of bins of a term, 2 for an indicator."""
        return np.where(self.is_indicator[self.cell_column], 2.0, float(self.n_bins))


def count_values(table: ValueTable, coder: ValueCoder, own_columns: bool = False, later: bool = False) -> ValueCounts:
    """Count the cells of training documents, in all and by label.

    With `own_columns` the last columns are the labels themselves, and each label gets a pair with its own column
    whether seen with it or not, so that it can be left out; with `later`, with the columns after its own too.
    """
    X, by_label, n_documents = table.values, table.label_rows, table.n_documents
    weights = table.row_documents[rows_of_cells(X)]
    bins = coder.bins(X.indices, X.data)
    f = np.where(coder.is_indicator[X.indices], 0.0, coder.frequencies(X.indices, X.data, bins))
    cells = coder.cells[X.indices, bins]
    column_documents = np.bincount(X.indices, weights=weights, minlength=X.shape[1])
    present = np.bincount(cells, weights=weights, minlength=coder.n_cells)
    column, cell_bin = np.nonzero(coder.cells >= 0)
    return ValueCounts(
        n_documents=n_documents,
        label_documents=table.label_documents,
        cell_column=column,
        cell_bin=cell_bin,
        cell_documents=np.where(cell_bin == 0, n_documents - column_documents[column], present),
        column_frequency=np.asarray(np.bincount(X.indices, weights=weights * f, minlength=X.shape[1]), np.float64),
        label_frequency=by_label @ np.bincount(rows_of_cells(X), weights=f, minlength=X.shape[0]),
        n_words=max(1, int(np.count_nonzero(column_documents[~coder.is_indicator]))),
        n_bins=coder.n_bins,
        is_indicator=coder.is_indicator,
        is_categorical=coder.is_categorical,
        pairs=_pairs(table, column, cell_bin, cells, f, own_columns, later),
    )


def _pairs(
    table: ValueTable,
    column: Ints,
    cell_bin: Ints,
    cells: npt.NDArray[Any],
    f: Floats,
    own_columns: bool,
    later: bool,
) -> Pairs:
    X, by_label = table.values, table.label_rows
    n_labels, n_columns, n_cells = by_label.shape[0], X.shape[1], len(column)

    def by_key(values: Floats, indices: npt.NDArray[Any], width: int) -> tuple[Ints, Floats]:
        found = Csr(by_label @ Csr((values, indices, X.indptr), shape=(X.shape[0], width)))
        found.sort_indices()
        return rows_of_cells(found) * width + found.indices, found.data

    seen, documents = by_key(np.ones(X.nnz), X.indices, n_columns)
    pairs = seen
    if own_columns:
        square = np.ones((n_labels, n_labels), dtype=np.bool_) if later else np.eye(n_labels, dtype=np.bool_)
        of_label, hidden = np.nonzero(np.triu(square))
        pairs = np.union1d(seen, of_label * n_columns + hidden + n_columns - n_labels)
    label, of_column = np.divmod(pairs, max(n_columns, 1))
    start = np.searchsorted(column, np.arange(n_columns + 1))
    size = np.diff(start)[of_column]
    entry_pair = np.repeat(np.arange(len(pairs)), size)
    entry_cell = start[of_column][entry_pair] + np.arange(len(entry_pair)) - np.repeat(np.cumsum(size) - size, size)
    present = _at(label[entry_pair] * n_cells + entry_cell, *by_key(np.ones(X.nnz), cells, n_cells))
    missing = table.label_documents[label] - _at(pairs, seen, documents)
    return Pairs(
        label=label,
        column=of_column,
        frequency=_at(pairs, *by_key(f, X.indices, n_columns)),
        entry_pair=entry_pair,
        entry_cell=entry_cell,
        entry_documents=np.where(cell_bin[entry_cell] == 0, missing[entry_pair], present),
    )


def _at(keys: Ints, known: Ints, values: Floats) -> Floats:
    """The values at some sorted keys; 0 at keys that are not known. All known keys are among them."""
    found = np.zeros(len(keys))
    found[np.searchsorted(keys, known)] = values
    return found
