"""Steps of the parametric mixture models PMM1 and PMM2 of Ueda & Saito 2002, and the search for a document's labels.

Documents with the same label set are added up first: exact, and several times fewer numbers. Documents with one label
need no step at all.

>>> X, Y = np.array([[3, 1], [1, 3], [2, 2]]), np.array([[1, 0], [0, 1], [1, 1]])
>>> grouped = group_documents(X, Y)
>>> mixture, before = step(grouped, Mixture(np.array([0.6, 0.3, 0.4, 0.7]), np.zeros(2)), xi=2.0)
>>> mixture.theta.round(6).tolist(), round(before, 8)
([0.661654, 0.335878, 0.338346, 0.664122], -10.50321874)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.kernels import compiled_module
from manylabel.kernels import mixture_reference as reference
from manylabel.kernels.canonical import canonical
from manylabel.kernels.label_tables import count_terms_by
from manylabel.kernels.mixture_reference import Cells, Entries, Int32s, Int64s, Sets
from manylabel.kernels.threads import blocks_of, in_threads
from manylabel.wording import counted

_kernel: Any = compiled_module("mixture") or reference

VISITS_PER_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True)
class GroupedCounts:
    """A labelled corpus, added up by label set and laid out by term."""

    n_labels: int
    cells: Cells
    """The labels each term was seen with; `fixed` and every θ have one value for each cell."""
    fixed: Floats
    """Occurrences in documents with that one label."""
    occurrences: Floats
    """N_cw: occurrences in all documents of the label."""
    entries: Entries
    """Occurrences in groups of documents with the same two or more labels."""
    sets: Sets

    @property
    def n_terms(self) -> int:
        """V, the number of terms."""
        return len(self.cells.starts) - 1

    @property
    def label_cells(self) -> Ints:
        """How many terms each label was seen with."""
        return np.bincount(self.cells.labels, minlength=self.n_labels).astype(np.int64)

    def expect(
        self, theta: Floats, weights: Floats, prior: float, *, with_ratios: bool = True, n_jobs: int | None = None
    ) -> Expected:
        """What θ and the weights e of the labels of each set explain; `prior` is ξ − 1.

        Sums are taken by blocks of terms, whatever the number of threads. Each block has sums for all sets, so it has
        at least as much work as there are sums. Without `with_ratios`, the ratios may be left at 0.
        """
        costs = np.diff(self.cells.starts) + 4 * np.diff(self.entries.starts)
        found = Expected(np.empty_like(theta), np.zeros(len(weights)), 0.0)

        def expect(block: tuple[int, int]) -> tuple[float, Floats]:
            own = np.zeros_like(found.ratios)
            value: float = _kernel.expected_counts(
                self.cells, theta, self.fixed, prior, self.entries, self.sets, weights, self.n_labels,
                *block, found.counts, own,
            )  # fmt: skip
            return value, own

        total = 0.0
        for value, own in in_threads(expect, blocks_of(costs, max(VISITS_PER_BLOCK, 4 * len(weights))), n_jobs):
            total += value
            found.ratios[:] += own
        return replace(found, objective=total)

    def resumed(self, beginning: Ascent) -> Ascent:
        """Where training begins, or where an interrupted one goes on: nothing is kept of a training in memory."""
        return beginning

    def keep(self, reached: Ascent) -> None:
        """Keep what training reached, where an interrupted one can go on."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What one pass over the counts gives, see `manylabel.kernels.mixture_reference.expected_counts`."""

    counts: Floats
    """Occurrences that each label is expected to have caused, cell by cell."""
    ratios: Floats
    """For each label of each set, Σ_i x_gi θ_li / φ_gi."""
    objective: float
    """The share of the terms and cells in J."""


@dataclass(frozen=True, slots=True)
class Ascent:
    """How far the steps of training have come."""

    mixture: Mixture
    reached: tuple[float, ...] = ()
    """J at the start and after each step, up to the mixture before this one, or up to this one once training ended."""
    converged: bool = False


@dataclass(frozen=True, slots=True)
class Mixture:
    """θ on the cells and, for each label, on the terms it was never seen with; for PMM2 α on the pairs as well."""

    theta: Floats
    background: Floats
    alpha: Floats | None = None
    """α_lm of the pairs l < m of `label_pairs`; α_ml = 1 − α_lm. None: PMM1."""


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """Pairs of labels that share a document. The slots of a set are the places of its labels in `sets`."""

    first: Int32s
    second: Int32s
    """The pairs, first < second, sorted."""
    slot_of_first: Int64s
    slot_of_second: Int64s
    pair: Int64s
    """For each pair of slots of each set: the slots and the pair."""


def group_documents(X: Any, Y: Any, *, n_jobs: int | None = None) -> GroupedCounts:
    """The counts X of documents, added up by label set, which is exact for both models; those without a label are left
    out.
    """
    X, Y = canonical(X, np.float64, keep_zeros=False), canonical(Y, keep_zeros=False)
    if X.shape[0] != Y.shape[0]:
        raise DataError(f"X has {counted(X.shape[0], 'document')} but Y {Y.shape[0]}. Both need one row per document.")
    starts, labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int32, copy=False)
    sizes = np.diff(starts)
    group_of, first = label_groups(Y)
    several = np.flatnonzero(sizes[first] > 1)  # the groups that matter, renumbered
    number = np.full(len(first) + 1, -1, dtype=np.int64)
    number[several] = np.arange(len(several))
    by_group = count_terms_by(_indicator(number[group_of], len(several)), X, n_jobs).tocsc()
    one = sizes == 1
    alone = np.where(one, labels[np.minimum(starts[:-1], max(len(labels) - 1, 0))] if len(labels) else -1, -1)
    cells, fixed, occurrences = _cells(
        count_terms_by(Y, X, n_jobs), count_terms_by(_indicator(alone, Y.shape[1]), X, n_jobs)
    )
    kept = first[several]
    set_sizes = sizes[kept]
    slots = np.arange(set_sizes.sum()) - np.repeat(np.cumsum(set_sizes) - set_sizes, set_sizes)
    return GroupedCounts(
        Y.shape[1],
        cells,
        fixed,
        occurrences,
        Entries(by_group.indptr.astype(np.int64), by_group.indices.astype(np.int32), by_group.data),
        Sets(
            np.concatenate([[0], np.cumsum(set_sizes)]).astype(np.int64),
            labels[slots + np.repeat(starts[kept], set_sizes)],
        ),
    )


def label_groups(Y: Csr) -> tuple[Int32s, Int64s]:
    """The number of each document's label set, in order of first occurrence, and each set's first document.

    A document without labels has number −1. The labels of a document are sorted.
    """
    groups: tuple[Int32s, Int64s] = _kernel.group_sets(Y.indptr.astype(np.int64), Y.indices.astype(np.int32))
    return groups


def label_pairs(grouped: GroupedCounts) -> LabelPairs:
    """The pairs of labels that occur together, and where."""
    sizes = np.diff(grouped.sets.starts)
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes).tolist():
        a, b = np.triu_indices(size, 1)
        begins = grouped.sets.starts[:-1][sizes == size][:, np.newaxis]
        firsts.append((begins + a).reshape(-1))
        seconds.append((begins + b).reshape(-1))
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    labels = grouped.sets.labels.astype(np.int64)
    keys, pair = np.unique(labels[first] * grouped.n_labels + labels[second], return_inverse=True)
    low, high = np.divmod(keys, max(grouped.n_labels, 1))
    return LabelPairs(low.astype(np.int32), high.astype(np.int32), first, second, pair.astype(np.int64))


def start(grouped: GroupedCounts, pairs: LabelPairs | None = None) -> Mixture:
    """Where training begins: θ proportional to the label's counts plus 1, and for PMM2 α = ½."""
    totals = np.bincount(grouped.cells.labels, weights=grouped.occurrences, minlength=grouped.n_labels)
    denominator = totals + max(grouped.n_terms, 1)
    theta = (grouped.occurrences + 1.0) / denominator[grouped.cells.labels]
    return Mixture(theta, 1.0 / denominator, None if pairs is None else np.full(len(pairs.first), 0.5))


def step(
    grouped: GroupedCounts,
    mixture: Mixture,
    *,
    xi: float,
    zeta: float = 2.0,
    pairs: LabelPairs | None = None,
    n_jobs: int | None = None,
) -> tuple[Mixture, float]:
    """One step of PMM1 (or, with `pairs`, PMM2): the better mixture, and the objective of `mixture`.

    θ_li ← (c_li + ξ − 1) / (Σ_i c_li + V (ξ − 1)), c the expected counts, and for PMM2
    α_lm ← (Σ x r_lm + (ζ − 1)/2) / (Σ x (r_lm + r_ml) + ζ − 1), both from the old parameters; the objective never
    falls. A label without words has θ = 1/V; a pair without evidence and ζ = 1 has α = ½. Source: Ueda & Saito
    2002, section 3.
    """
    weights = _weights(grouped, mixture, pairs)
    found = grouped.expect(mixture.theta, weights, xi - 1.0, with_ratios=pairs is not None, n_jobs=n_jobs)
    objective = found.objective + _prior(grouped, mixture, xi, zeta)
    labels = grouped.cells.labels
    denominator = np.bincount(labels, weights=found.counts, minlength=grouped.n_labels) + grouped.n_terms * (xi - 1.0)
    empty = denominator <= 0
    denominator[empty] = 1.0
    theta = (found.counts + (xi - 1.0)) / denominator[labels]
    background = np.where(empty, 1.0 / max(grouped.n_terms, 1), (xi - 1.0) / denominator)
    theta[empty[labels]] = 1.0 / max(grouped.n_terms, 1)
    return Mixture(theta, background, _next_alpha(grouped, mixture.alpha, found.ratios, zeta, pairs)), objective


def objective(
    grouped: GroupedCounts,
    mixture: Mixture,
    *,
    xi: float,
    zeta: float = 2.0,
    pairs: LabelPairs | None = None,
    n_jobs: int | None = None,
) -> float:
    """J = Σ_n Σ_i x_ni log φ_ni + (ξ − 1) Σ log θ_li, and for PMM2 + (ζ − 1) Σ_{l,m} log α_lm; Ueda & Saito 2002."""
    return step(grouped, mixture, xi=xi, zeta=zeta, pairs=pairs, n_jobs=n_jobs)[1]


def _weights(grouped: GroupedCounts, mixture: Mixture, pairs: LabelPairs | None) -> Floats:
    """e_gl of each label of each set: 1/k, or (2/k²) (½ + Σ_m α_lm)."""
    sizes = np.diff(grouped.sets.starts)
    k = np.repeat(sizes, sizes).astype(np.float64)
    if pairs is None or mixture.alpha is None:
        return np.asarray(1.0 / k)
    alpha = mixture.alpha[pairs.pair]
    shares = np.bincount(pairs.slot_of_first, weights=alpha, minlength=len(k))
    shares += np.bincount(pairs.slot_of_second, weights=1.0 - alpha, minlength=len(k))
    return np.asarray(2.0 / (k * k) * (0.5 + shares))


def _next_alpha(
    grouped: GroupedCounts, alpha: Floats | None, ratios: Floats, zeta: float, pairs: LabelPairs | None
) -> Floats | None:
    if pairs is None or alpha is None:
        return None
    sizes = np.diff(grouped.sets.starts)
    h2 = 1.0 / np.repeat(sizes, sizes)[pairs.slot_of_first].astype(np.float64) ** 2
    n = len(alpha)
    r = alpha * np.bincount(pairs.pair, weights=h2 * ratios[pairs.slot_of_first], minlength=n)
    other = (1.0 - alpha) * np.bincount(pairs.pair, weights=h2 * ratios[pairs.slot_of_second], minlength=n)
    evidence = r + other + zeta - 1.0
    return np.asarray(np.divide(r + (zeta - 1.0) / 2.0, evidence, out=np.full(n, 0.5), where=evidence > 0))


def _prior(grouped: GroupedCounts, mixture: Mixture, xi: float, zeta: float) -> float:
    """The part of the objective the cells do not have: terms a label was never seen with, and α."""
    value = 0.0
    unseen = grouped.n_terms - grouped.label_cells
    if xi > 1.0:
        with np.errstate(divide="ignore"):
            value += (xi - 1.0) * float(unseen[unseen > 0] @ np.log(mixture.background[unseen > 0]))
    if mixture.alpha is not None and zeta > 1.0:
        logs = np.log(mixture.alpha).sum() + np.log1p(-mixture.alpha).sum()
        value += (zeta - 1.0) * float(logs + (grouped.n_labels**2 - 2 * len(mixture.alpha)) * np.log(0.5))
    return value


def _indicator(column: Any, n_columns: int) -> Csr:
    """A 0/1 matrix with at most one column per row; -1 for none."""
    indptr = np.concatenate([[0], np.cumsum(column >= 0)]).astype(np.int64)
    return Csr((np.ones(indptr[-1]), column[column >= 0], indptr), shape=(len(column), n_columns))


def _cells(replicated: Csr, alone: Csr) -> tuple[Cells, Floats, Floats]:
    """Both label × term tables by term, on the cells of the first."""
    both = [table.tocoo() for table in (replicated, alone)]
    cells = [np.concatenate([table.coords[axis] for table in both]) for axis in (0, 1)]
    shape = (replicated.shape[1], replicated.shape[0])
    values = np.zeros((2, len(cells[0])))
    values[0, : replicated.nnz], values[1, replicated.nnz :] = both[0].data, both[1].data
    # summing repeated cells keeps zeros, so that both have the same cells
    total, fixed = (sparse.coo_array((part, (cells[1], cells[0])), shape=shape).tocsr() for part in values)
    for table in (total, fixed):
        table.sum_duplicates()
    return (
        Cells(total.indptr.astype(np.int64), total.indices.astype(np.int32)),
        np.asarray(fixed.data, dtype=np.float64),
        np.asarray(total.data, dtype=np.float64),
    )
