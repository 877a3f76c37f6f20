"""One two-class multinomial naive Bayes per label, all learned from one table of counts."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from itertools import accumulate, repeat
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, rows_of_cells, unfitted_copy
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.smoothing import DISCOUNT, SMOOTHING, DiscountMethod
from manylabel.parameters import Constraint, Number, OneOf

LARGEST_SERIES_STEP = 0.1
CELLS_A_BATCH = 1 << 18
"""Cells of the label-term table whose weights are computed together."""
ROUNDING = 1e-9  # what is left of a difference of float sums that should be 0


class BinaryNaiveBayes(CountModel):
    """Log-odds of each label on its own: a two-class multinomial naive Bayes, the label against the rest.

    s_k = log p(k)/(1 − p(k)) + Σ_w x_w log p(w|k)/p(w|rest of k),   P_k(x) = 1/(1 + exp(−s_k))

    p(k) is the share of documents with the label, the rest of k all documents without it, each document used
    once. `predict` returns the labels with P_k ≥ 0.5. Source: Vilar, Castro & Sanchis 2004, section 2.2.

    Both sides are smoothed with one discount b and one unigram p(w) (``smoothing="absolute"``; `b`, `counts`
    and `unigram` as in `MultinomialNaiveBayes`, the unigram counting each document once by default) or by
    adding α. Documents without a label are used only for the unigram and the estimate of b
    (``unlabelled="smoothing"``), as negatives of every label too (``"negative"``), or not at all (``"ignore"``).
    If there is one label only, the documents without it are the only negatives: ``"smoothing"`` uses them as such.
    A label without positives has P = 0 (−∞), one carried by every document P = 1 (+∞).

    The counts of the rest are the total minus the label's own, so one table serves all labels, and the cost of a label
    depends on the words it occurred with; see `absolute_log_ratio`.

    >>> X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative").fit(X, Y)
    >>> model.predict_proba(X).round(6).tolist()
    [[0.901112, 0.201995], [0.201995, 0.901112], [0.771429, 0.771429], [0.083515, 0.083515]]
    """

    score_kind = ScoreKind.LOG_ODDS
    wants: ClassVar[frozenset[str]] = frozenset({"counts_of_counts"})
    independent_labels = True
    additive_scores = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "smoothing": SMOOTHING,
        "b": DISCOUNT,
        "counts": OneOf("marginal", "class"),
        "unigram": OneOf("documents", "replicated"),
        "alpha": Number(low=0, open_low=True),
        "unlabelled": OneOf("smoothing", "negative", "ignore"),
    }

    def __init__(
        self,
        smoothing: Literal["absolute", "laplace", "lidstone"] = "absolute",
        b: DiscountMethod | float = "upper",
        counts: Literal["marginal", "class"] = "marginal",
        unigram: Literal["documents", "replicated"] = "documents",
        alpha: float = 1.0,
        unlabelled: Literal["smoothing", "negative", "ignore"] = "smoothing",
    ) -> None:
        self.smoothing = smoothing
        self.b = b
        self.counts = counts
        self.unigram = unigram
        self.alpha = alpha
        self.unlabelled = unlabelled

    def for_two_classes(self, binary_columns: int = 0) -> Self:
        """An unfitted copy in which documents without a label are negatives, whatever `unlabelled` says."""
        return unfitted_copy(self).set_params(unlabelled="negative")

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """Prior log-odds plus the log-ratio of both sides' word probabilities."""
        only_label = len(table.label_documents) == 1 and self.unlabelled == "smoothing"
        negatives_too = self.unlabelled == "negative" or only_label
        n_documents = table.labelled_documents + (table.unlabelled_documents if negatives_too else 0)
        total = table.labelled_terms + table.unlabelled_terms if negatives_too else table.labelled_terms
        with np.errstate(divide="ignore", invalid="ignore"):
            log_odds = np.log(table.label_documents) - np.log(n_documents - table.label_documents)
        log_odds = np.where(table.label_documents == 0, -np.inf, log_odds)
        if self.smoothing == "absolute":
            unigram = self._unigram_counts(table)
            b = self.estimate_discount(table, unigram)
            return absolute_log_ratio(table.label_terms, total, unigram, b, log_odds)
        return _lidstone_log_ratio(table, total, self.alpha, log_odds)

    def _unigram_counts(self, table: LabelTermCounts) -> Floats:
        counts = table.replicated_terms if self.unigram == "replicated" else table.labelled_terms
        return counts if self.unlabelled == "ignore" else counts + table.unlabelled_terms


def _lidstone_log_ratio(table: LabelTermCounts, total: Floats, alpha: float, log_odds: Floats) -> LinearScores:
    """The log-ratio of both sides under Lidstone smoothing, as background plus sparse difference.

    log (N_kw + α)/(R_kw + α) + log (R_k+ + αV)/(N_k+ + αV),   R = total − N
    """
    counts, positive = table.label_terms, table.label_totals
    rest = np.maximum(total.sum() - positive, 0.0)
    mass = alpha * len(total)
    seen, all_seen = counts.data, total[counts.indices]
    # log (N + α)(T + α) / (α (T − N + α)), what a word adds over one never seen with the label, as log1p(… − 1)
    values = np.log1p(seen * (all_seen + 2 * alpha) / (alpha * (np.maximum(all_seen - seen, 0.0) + alpha)))
    return LinearScores(
        intercept=log_odds,
        background=np.column_stack([np.ones(len(total)), np.log(alpha) - np.log(total + alpha)]),
        loadings=np.vstack([np.log(rest + mass) - np.log(positive + mass), np.ones(len(positive))]),
        difference=by_term(values, counts),
    )


class _Sides:
    """The quantities in `absolute_log_ratio`, for every label."""

    def __init__(self, counts: Csr, total: Floats, unigram_counts: Floats, b: float) -> None:
        self.counts, self.total, self.b = counts, total, b
        self.rows = rows_of_cells(counts)
        self.known = unigram_counts > 0
        self.p = unigram_counts / max(unigram_counts.sum(), 1e-300)
        self.rest = np.maximum(total[counts.indices] - counts.data, 0.0)  # R_kw where N_kw > 0
        everything = total.sum()
        self.N = np.asarray(counts.sum(axis=1), dtype=np.float64)
        self.R = np.maximum(everything - self.N, 0.0)
        self.R[ROUNDING * everything >= self.R] = 0.0
        self.q = np.bincount(self.rows, weights=np.minimum(b, counts.data), minlength=len(self.N))
        self.Q0 = float(np.minimum(b, total).sum())
        lost = np.minimum(b, total[counts.indices]) - np.minimum(b, self.rest)
        self.delta = np.bincount(self.rows, weights=lost, minlength=len(self.N))
        self.Q = np.maximum(self.Q0 - self.delta, 0.0)
        # A side without any term has p(w|side) = p(w): no discounted part, all the mass on the unigram.
        self.q[self.N == 0], self.Q[self.R == 0] = 1.0, 1.0
        self.N[self.N == 0] = 1.0
        self.bare = self.R == 0
        self.R[self.bare] = 1.0

    def log_ratio(self, seen: Floats, rest: Floats, p: Floats, labels: npt.NDArray[np.intp]) -> Floats:
        """The log-ratio p(w|k)/p(w|rest) from N_kw, R_kw, p_w and k."""
        rest_part = np.where(self.bare[labels], 0.0, np.maximum(rest - self.b, 0.0))
        yes = np.maximum(seen - self.b, 0.0) + p * self.q[labels]
        no = rest_part + p * self.Q[labels]
        return np.asarray(np.log(yes) - np.log(no) + np.log(self.R[labels]) - np.log(self.N[labels]))


def absolute_log_ratio(counts: Csr, total: Floats, unigram_counts: Floats, b: float, log_odds: Floats) -> LinearScores:
    """Prior log-odds plus Σ_w x_w log p(w|k)/p(w|rest of k) under absolute discounting, exactly.

    No dense labels × terms table is built: the weights are background plus sparse difference.

    With T_w the total count of a word, R_kw = T_w − N_kw its count in the rest of label k, p_w the unigram, and
    Q_k = Σ_w min(b, R_kw) the mass taken from the rest,

        p(w|k)    = ((N_kw − b)⁺ + p_w q_k) / N_k+,      q_k = Σ_w min(b, N_kw)
        p(w|rest) = ((R_kw − b)⁺ + p_w Q_k) / R_k+

    For a word never seen with k, R_kw = T_w, and the rest still depends on k through Q_k. Let Q be that mass of
    the total, δ_k = Q − Q_k, g_w = (T_w − b)⁺ + p_w Q and u_w = p_w/g_w. Then

        log((T_w − b)⁺ + p_w Q_k) = log g_w + log(1 − u_w δ_k) = log g_w − Σ_j (u_w δ_k)^j / j

    a sum of rank-one terms (words of total at most b are p_w Q_k alone, and separate by themselves). u_w δ_k is
    small: at most δ_k/Q, the share of the vocabulary that only k uses, and those shares sum to at most 1 over the
    labels (whole counts). So few labels can exceed a tenth: these get an explicit weight for every word; for all
    others sixteen terms of the series are exact to double precision. Vilar, Castro & Sanchis 2004 give the model;
    this way to score it is ours.
    """
    sides = _Sides(counts, total, unigram_counts, b)
    discounted = np.maximum(total - b, 0.0)
    series = sides.known & (discounted > 0)
    plain = sides.known & (discounted == 0)
    u = np.where(series, sides.p / np.where(series, discounted + sides.p * sides.Q0, 1.0), 0.0)
    largest = float(u.max(initial=0.0))
    explicit = (sides.delta * largest > LARGEST_SERIES_STEP) | sides.bare | (sides.Q <= 0)

    steps = np.where(explicit, 0.0, sides.delta * largest)
    powers = _powers(float(steps.max(initial=0.0)))
    scaled = u / largest if largest else u
    log_u = np.log(np.where(series, u, 1.0))
    level = np.where(explicit, 0.0, np.log(sides.q) - np.log(sides.N) + np.log(sides.R))
    rest_mass = np.where(explicit, 0.0, -np.log(np.where(sides.Q > 0, sides.Q, 1.0)))
    background = [
        sides.known.astype(np.float64),
        plain.astype(np.float64),
        log_u,
        *_power_columns(scaled, powers),
    ]
    loadings = [
        level,
        rest_mass,
        np.where(explicit, 0.0, 1.0),
        *(column / j for j, column in zip(powers, _power_columns(steps, powers), strict=True)),
    ]

    difference = _difference(sides, explicit, u, log_u, level, rest_mass, plain)
    return LinearScores(log_odds, np.column_stack(background), np.vstack(loadings), difference)


def _powers(largest_step: float) -> range:
    """The powers j of the series after which what is left out is below double precision."""
    if largest_step <= 0:
        return range(1, 1)
    return range(1, 2 + math.ceil(math.log(1e-17) / math.log(largest_step)))


def _power_columns(values: Floats, powers: range) -> list[Floats]:
    """The values to the power 1, 2, 3 …, by repeated multiplication."""
    return list(accumulate(repeat(values, len(powers)), operator.mul))


def _difference(
    sides: _Sides,
    explicit: npt.NDArray[np.bool_],
    u: Floats,
    log_u: Floats,
    level: Floats,
    rest_mass: Floats,
    plain: npt.NDArray[np.bool_],
) -> Csr:
    """Weights minus background, terms × labels, where a term occurs with a label; whole columns of explicit labels."""
    counts, delta, values = sides.counts, np.where(explicit, 0.0, sides.delta), np.empty(sides.counts.nnz)
    for start in range(0, counts.nnz, CELLS_A_BATCH):
        batch = slice(start, start + CELLS_A_BATCH)
        rows, words = sides.rows[batch], counts.indices[batch]
        exact = sides.log_ratio(counts.data[batch], sides.rest[batch], sides.p[words], rows)
        background = (
            level[rows]
            + np.where(plain[words], rest_mass[rows], 0.0)
            + np.where(explicit[rows], 0.0, log_u[words] - np.log1p(-u[words] * delta[rows]))
        )
        values[batch] = np.where(explicit[rows], 0.0, exact - background)  # explicit: whole columns, see below
    columns = np.flatnonzero(explicit)
    if not len(columns):
        return by_term(values, counts)
    return Csr(by_term(values, counts) + _whole_columns(sides, columns))


def _whole_columns(sides: _Sides, labels: npt.NDArray[np.intp]) -> Csr:
    known = np.flatnonzero(sides.known)
    seen = sides.counts[labels][:, known].toarray()
    rest = np.maximum(sides.total[known] - seen, 0.0)
    repeated = np.repeat(labels[:, np.newaxis], len(known), axis=1)
    values = sides.log_ratio(seen, rest, np.broadcast_to(sides.p[known], seen.shape), repeated)
    place = np.tile(known, len(labels))
    shape = (sides.counts.shape[1], sides.counts.shape[0])
    return Csr(sparse.coo_array((values.ravel(), (place, repeated.ravel())), shape=shape))
