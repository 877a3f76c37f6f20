"""Linear classifiers of all labels on one shared sparse matrix.

Threads take labels from one counter; each label's result depends on its own seed alone, so that the bits do not depend
on the number of threads.

The terms are renumbered by falling document frequency, so that the weights that are read most are adjacent, and
terms that never occur take no space. Terms that only one document has are kept apart, because no product of two
documents has them. docs/decisions/0010-linear-svm-solver.md explains the choice of the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, ParameterError
from manylabel.kernels import compiled_module, linear_reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.linear_reference import Solved
from manylabel.kernels.linear_steps_reference import HINGE, LOGISTIC, SQUARED, Int32s, Int64s
from manylabel.kernels.threads import available_threads
from manylabel.progress import stage

Loss = Literal["squared_hinge", "hinge", "logistic"]
Bias = Literal["regularised", "free", "none"]
LOSSES: dict[str, int] = {"hinge": HINGE, "squared_hinge": SQUARED, "logistic": LOGISTIC}
Column = tuple[int, npt.NDArray[Any], npt.NDArray[Any]]
"""The number of a column, and the rows and values of what it holds."""
LANES = 8
CELLS_A_BLOCK = 1 << 23
"""Labels × documents, or terms, of a block of labels that is solved before the next one."""
FEWEST_LABELS = 64
SINGLE_TOLERANCE = 1e-5
SINGLE_SQUARES = 1e4
MAX_DOCUMENTS = 2**31 - 1

_kernel: Any = compiled_module("linear") or linear_reference
solve_labels: Callable[..., list[Solved]] = _kernel.solve_labels


@dataclass(frozen=True, slots=True)
class LinearFit:
    """The classifiers of all labels: scores = X · weights + intercept."""

    weights: Csr | npt.NDArray[Any]
    """Terms × labels; CSR or dense, whichever is smaller."""
    intercept: Floats
    epochs: Ints
    """The epochs of coordinate descent for each label; 0 for a label that has only one class."""
    converged: npt.NDArray[np.bool_]
    n_documents: int
    support: list[Column]
    """The support documents of each label that was solved, and their α."""

    @property
    def dual(self) -> Csr:
        """α ≥ 0, documents × labels."""
        return _from_columns((self.n_documents, len(self.intercept)), self.support)


@dataclass(frozen=True, slots=True)
class Documents:
    """X in the form of the kernel."""

    data: npt.NDArray[Any]
    indices: Int32s
    indptr: Int64s
    n_columns: int
    squares: Floats
    own_squares: Floats
    """The part of `squares` of the terms that no other document has."""
    own_starts: Int64s
    own_data: npt.NDArray[Any]
    """These terms' values, document after document."""
    used: Int32s
    """The column of X behind each renumbered one, then those of `own_data`."""

    @classmethod
    def of(cls, X: Csr, tol: float) -> Documents:
        """X with renumbered columns, in single precision unless the tolerance or large values require double."""
        X = canonical(X)
        if X.shape[0] > MAX_DOCUMENTS:
            raise DataError(f"A linear classifier learns from at most {MAX_DOCUMENTS} documents, not {X.shape[0]}.")
        counts = np.bincount(X.indices, minlength=X.shape[1])
        used = np.flatnonzero(counts > 1)  # sorted alone: a node of a label tree has few of all terms
        used = used[np.argsort(-counts[used], kind="stable")].astype(np.int32)
        rank = np.full(X.shape[1], -1, dtype=np.int32)
        rank[used] = np.arange(len(used), dtype=np.int32)
        squares = _squares(X.data, X.indices, X.indptr, X.shape[1])
        single = tol >= SINGLE_TOLERANCE and squares.max(initial=0.0) <= SINGLE_SQUARES
        data = X.data.astype(np.float32 if single else np.float64, copy=False)
        places = rank[X.indices]
        shared, own = places >= 0, np.flatnonzero(places < 0)
        own_starts, own_terms = np.searchsorted(own, X.indptr).astype(np.int64), X.indices[own]
        return cls(
            data[shared], places[shared], X.indptr - own_starts, len(used), squares,
            _squares(X.data[own], own_terms, own_starts, X.shape[1]), own_starts, data[own],
            np.concatenate([used, own_terms]).astype(np.int32),
        )  # fmt: skip


def _squares(values: npt.NDArray[Any], terms: npt.NDArray[Any], starts: npt.NDArray[Any], n_terms: int) -> Floats:
    """x·x of each document, in double precision."""
    double = values.astype(np.float64, copy=False)
    return np.asarray(Csr((double * double, terms, starts), shape=(len(starts) - 1, n_terms)).sum(axis=1))


def fit_linear(
    X: Csr,
    Y: Csr,
    *,
    loss: Loss = "squared_hinge",
    C: float | Floats = 1.0,
    J: float | Floats = 1.0,
    bias: Bias = "regularised",
    intercept_scaling: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    seed: int = 0,
    n_jobs: int | None = None,
    sample_weight: Floats | None = None,
    excluded: Csr | None = None,
    initial: Csr | None = None,
    keep_dual: bool = True,
    prune: float = 0.0,
    deadline: Deadline | None = None,
) -> LinearFit:
    """One linear classifier per label, min ½‖w‖² (+ ½ b²/s²) + Σ_i C_i loss(y_i (w·x_i + b)), all on one X.

    C_i = C · sample_weight_i, times J for the label's positives; `C` and `J` may differ from label to label. `excluded`
    (documents × labels) names negatives that a label leaves out. `initial` (documents × labels) is the α of an earlier
    fit, whose documents are the first of this one. A label without positives scores −1, one without negatives +1.
    `prune` is the share of the norm of a label's weights that its smallest weights may take with them, see
    `pruning.largest`.
    Labels are solved in blocks, so that only one block's weights are held before they are pruned; `keep_dual` keeps
    the α of all. The `deadline` is checked about ten times a second.

    >>> X = Csr(np.array([[3.0], [2.0], [0.0]]))
    >>> fit = fit_linear(X, Csr(np.array([[1], [0], [0]])), loss="hinge", C=1e3, bias="free", tol=1e-6, max_iter=9999)
    >>> fit.weights.round(4).tolist(), fit.intercept.round(4).tolist()
    ([[2.0]], [-5.0])
    """
    n, n_labels = Y.shape
    rows = Documents.of(X, tol)
    weights = np.ones(n) if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
    positives = _lists(Y, n, n_labels)
    left_out = _lists(excluded, n, n_labels)
    former = _lists(initial, n, n_labels)
    constants = _one_class(Y, excluded, weights)
    order = np.argsort(-np.diff(positives[0]), kind="stable").astype(np.int32)
    order = np.ascontiguousarray(order[np.isnan(constants[order])])
    before = (
        rows.data, rows.indices, rows.indptr, rows.n_columns, rows.squares, weights, rows.own_squares, rows.own_starts,
        rows.own_data,
    )  # fmt: skip
    lists = (*positives[:2], *left_out[:2], *former)
    after = (
        _per_label("C", C, n_labels), _per_label("J", J, n_labels), _seeds(seed, n_labels),
        LOSSES[loss], 1.0 if bias == "free" else float(intercept_scaling) ** 2 * (bias != "none"), bias == "free",
        tol, max_iter, prune,
    )  # fmt: skip
    found: list[Solved] = []
    step = max(FEWEST_LABELS, CELLS_A_BLOCK // max(n, len(rows.used), 1))
    with stage("Training", len(order)) as advance:
        for start in range(0, len(order), step):
            block = order[start : start + step]
            solved = _in_threads(block, n_jobs, advance, deadline, *before, *lists, block, *after)
            found.extend(_kept(one, rows, keep_dual) for one in solved)
    return _assemble(found, rows, constants, X.shape)


def _kept(solved: Solved, rows: Documents, keep_dual: bool) -> Solved:
    """What is kept of a label's solution: the columns of X and their weights, and α if it is wanted."""
    number, terms, weights, bias, documents, alpha, epochs, converged = solved
    if not keep_dual:
        documents, alpha = documents[:0].copy(), alpha[:0].copy()
    return number, rows.used[terms], weights, bias, documents, alpha, epochs, converged


def _in_threads(
    order: Int32s, n_jobs: int | None, advance: Callable[[int], None], deadline: Deadline | None, *arguments: Any
) -> list[Solved]:
    """Run the kernel on several threads that take labels from one counter.

    Ctrl-C and the end of the time stop them at their next epoch.
    """
    threads = max(1, min(available_threads(n_jobs), len(order)))
    places = max(1, min(LANES, -(-len(order) // threads)))
    counter, finished, stop = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int32)
    results: list[Solved] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            running: set[Future[list[Solved]]] = {
                pool.submit(solve_labels, *arguments, places, counter, finished, stop) for _ in range(threads)
            }
            reported = 0
            while running:
                done, running = wait(running, timeout=0.1)
                for future in done:
                    results.extend(future.result())
                if deadline is not None:
                    deadline.check()
                solved = int(finished[0])
                advance(solved - reported)
                reported = solved
        finally:
            stop[0] = 1
    return results


def _assemble(solved: list[Solved], rows: Documents, constants: Floats, shape: tuple[int, int]) -> LinearFit:
    n_labels = len(constants)
    intercept, epochs = np.nan_to_num(constants), np.zeros(n_labels, dtype=np.int64)
    converged = np.ones(n_labels, dtype=np.bool_)
    by_label = {result[0]: result for result in solved}
    found = [by_label[c] for c in sorted(by_label)]
    for number, _, _, b, _, _, n_epochs, settled in found:
        intercept[number], epochs[number], converged[number] = b, n_epochs, settled
    columns = [(r[0], r[1], r[2]) for r in found]
    weights = _smaller((shape[1], n_labels), columns, rows.data.dtype)
    return LinearFit(weights, intercept, epochs, converged, shape[0], [(r[0], r[4], r[5]) for r in found])


def _smaller(shape: tuple[int, int], filled: list[Column], dtype: np.dtype[Any]) -> Csr | npt.NDArray[Any]:
    """A matrix from some of its columns, sparse or dense, whichever takes fewer bytes."""
    cells = sum(len(index) for _, index, _ in filled)
    sparse_size = cells * (dtype.itemsize + 4) + 4 * (shape[0] + 1)
    if shape[0] * shape[1] * dtype.itemsize >= sparse_size:
        return _from_columns(shape, filled)
    dense = np.zeros(shape, dtype=dtype)
    for number, index, values in filled:
        dense[index, number] = values
    return dense


def _from_columns(shape: tuple[int, int], filled: list[Column]) -> Csr:
    """A CSR matrix from some of its columns."""
    n_rows, n_columns = shape
    lengths = np.zeros(n_columns, dtype=np.int64)
    for number, index, _ in filled:
        lengths[number] = len(index)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    narrow = indptr[-1] <= MAX_DOCUMENTS and max(n_rows, n_columns) <= MAX_DOCUMENTS
    kind: type[np.int32] | type[np.int64] = np.int32 if narrow else np.int64
    index = np.concatenate([np.zeros(0, dtype=kind), *(rows.astype(kind) for _, rows, _ in filled)])
    values = np.concatenate([values for _, _, values in filled]) if filled else np.zeros(0)
    # The columns of a matrix are the rows of its transpose; converting that sorts the labels of each row.
    by_label = Csr((values, index, indptr.astype(kind)), shape=(n_columns, n_rows))
    return Csr(by_label.T.tocsr())


def _lists(table: Csr | None, n_documents: int, n_labels: int) -> tuple[Int64s, Int32s, Floats]:
    """Starts, documents (ascending) and values of a documents × labels table, label after label."""
    if table is None:
        return np.zeros(n_labels + 1, np.int64), np.zeros(0, np.int32), np.zeros(0)
    if table.shape[0] > n_documents or table.shape[1] != n_labels:
        raise DataError(
            f"A table of documents × labels has shape {table.shape}, but there are {n_documents} documents and "
            f"{n_labels} labels."
        )
    columns = canonical(table, keep_zeros=False).tocsc()
    values = columns.data.astype(np.float64)
    return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), values


def _one_class(Y: Csr, excluded: Csr | None, weights: Floats) -> Floats:
    """−1 for a label without positives, +1 for one without negatives, NaN for all others."""
    counted = (weights > 0).astype(np.float64)
    carried = _ones(Y)
    positive = carried.T @ counted
    negative = counted.sum() - positive
    if excluded is not None:
        outside = _ones(excluded)
        negative = negative - (outside.T @ counted - outside.multiply(carried).T @ counted)
    return np.where(positive == 0, -1.0, np.where(negative <= 0, 1.0, np.nan))


def _ones(table: Csr) -> Csr:
    """The table with 1 in place of every value that is not 0."""
    kept = canonical(table, keep_zeros=False)
    return Csr((np.ones(kept.nnz), kept.indices, kept.indptr), shape=kept.shape)


def _per_label(name: str, value: float | Floats, n_labels: int) -> Floats:
    values = np.asarray(value, dtype=np.float64)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_labels):
        raise ParameterError(f"{name} must be one number or one for each of the {n_labels} labels, not {values.shape}.")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ParameterError(f"{name} must be above 0 for every label.")
    return np.ascontiguousarray(np.broadcast_to(values, n_labels))


def _seeds(seed: int, n_labels: int) -> npt.NDArray[np.uint64]:
    """One number per label by Steele, Lea & Flood's SplitMix; never 0, from which a xorshift never leaves."""
    with np.errstate(over="ignore"):
        x = np.arange(1, n_labels + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed % 2**64)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return np.asarray(np.maximum(x, np.uint64(1)), dtype=np.uint64)
