"""Weights of terms, and of single values of terms, by the information they carry about the class.

Weights of whole terms depend on presence and absence. Source: Lee 2018, on feature weights, which
quotes them from Kim, Han, Rim & Myaeng 2006 (information gain) and Lee, Gutierrez & Dou 2011 (Kullback-Leibler).

Weights of values (term i in frequency bin j) are formulas on tables of counts n_ijc, the documents of class c in which
feature i has value j. The sparse models (`manylabel.models.value_weighted_nb`) evaluate the same formulas entry by
entry; co-training and chains use them for label indicators, which are features of two values. Source: Lee 2018, on
value weights. The printed formulas are lost; the text names the Kullback-Leibler divergence of the class distribution
given the value from the prior one, and a normalising constant. Shrinking (`m`) and the rarity correction ``kl_split``
are ours; the latter follows the feature weights of Lee, Gutierrez & Dou 2011.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, rows_of_cells
from manylabel.exceptions import ParameterError

TermWeight = Literal["ig", "kl", "none"]
ValueWeight = Literal["kl_split", "kl", "p_kl", "none"]
Norm = Literal["global", "feature", "none"]
Bools = npt.NDArray[np.bool_]

ROUNDING = 1e-13
"""A divergence below this is the rounding error of one that is 0."""


def mutual_information(counts: npt.ArrayLike) -> Floats:
    """The mutual information of a feature and the class, in nats, from counts of shape (…, values, classes).

    Σ_j Σ_c P(a_j, c) log P(a_j, c)/(P(a_j) P(c)) = Σ_j P(a_j) KL(C|a_j);   0 log 0 = 0

    >>> float((mutual_information([[10, 2, 3], [10, 28, 47]]) / np.log(2)).round(6))
    0.14011
    """
    n = np.asarray(counts, dtype=np.float64)
    p = n / np.maximum(n.sum(axis=(-2, -1), keepdims=True), 1e-300)
    independent = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    used = p > 0
    found = np.where(used, p * np.log(np.where(used, p, 1.0) / np.where(used, independent, 1.0)), 0.0)
    return _clean(found.sum(axis=(-2, -1)))


def mean_one(weights: npt.ArrayLike) -> Floats:
    """Weights scaled to mean 1; all 1 where all are 0.

    >>> mean_one([1.0, 3.0]).tolist(), mean_one([0.0, 0.0]).tolist()
    ([0.5, 1.5], [1.0, 1.0])
    """
    w = np.asarray(weights, dtype=np.float64)
    mean = w.mean() if w.size else 0.0
    return np.asarray(w / mean if mean > 0 else np.ones_like(w))


def presence_weights(
    class_terms: Csr, class_documents: npt.ArrayLike, weight: TermWeight = "ig", *, normalise: bool = True
) -> Floats:
    """Weights ω_i of terms by their presence and absence, from document frequencies df_ci (classes × terms).

    ig      ω_i = Σ_c Σ_{t in {present, absent}} P(t, c) log P(t, c)/(P(t) P(c))
    kl      the same divided by the entropy of presence
    none    1

    in nats, and scaled to mean 1 over the terms that occur unless `normalise` is false: unscaled, the weights are far
    below 1 and the prior decides. The classes a term never occurs with share −log P(absent), so the sum runs over the
    stored values alone. Source: this module's docstring.

    >>> table = Csr(np.array([[10], [2], [3]]))
    >>> float((presence_weights(table, [20, 30, 50], normalise=False) / np.log(2)).round(6)[0])
    0.14011
    """
    N_c = np.asarray(class_documents, dtype=np.float64)
    n_terms = class_terms.shape[1]
    if weight == "none" or N_c.sum() == 0:
        return np.ones(n_terms)
    N = N_c.sum()
    df = np.asarray(np.bincount(class_terms.indices, weights=class_terms.data, minlength=n_terms), dtype=np.float64)
    row = rows_of_cells(class_terms)
    both, term = class_terms.data.astype(np.float64), class_terms.indices
    missing = np.maximum(N_c[row] - both, 0.0)
    cells = _cell(both, df[term], N_c[row], N) + _cell(missing, N - df[term], N_c[row], N)
    seen_with = np.bincount(term, weights=cells, minlength=n_terms)
    others = np.maximum(1.0 - np.bincount(term, weights=N_c[row] / N, minlength=n_terms), 0.0)
    share = df / N
    information = _clean(seen_with - others * np.log(np.where(share < 1, 1.0 - share, 1.0)))
    if weight == "kl":
        inside = (share > 0) & (share < 1)
        p = np.where(inside, share, 0.5)
        information = np.where(inside, information / -(p * np.log(p) + (1 - p) * np.log(1 - p)), 0.0)
    seen = df > 0
    if normalise:
        information[seen] = mean_one(information[seen])
    return information


def kl_value_weights(
    counts: npt.ArrayLike,
    weight: ValueWeight = "kl_split",
    m: float = 1.0,
    class_documents: npt.ArrayLike | None = None,
) -> Floats:
    """Weights w_ij of the values of features, not yet normalised, from counts of shape (…, values, classes).

    KL(C|a_ij) = Σ_c P(c|a_ij) log P(c|a_ij)/P(c),   P(c|a) = (n_ac + m P(c)) / (n_a + m),   P(c) = N_c/N

    kl          KL
    kl_split    KL / −log P(a_ij), which lowers the weight of rare values
    p_kl        KL · P(a_ij)
    none        1 for every value

    m = 0 is the maximum likelihood posterior. A value of no document, or of every document, has weight 0; a class
    without documents is left out. `class_documents` is N_c; without it, the sum over the values of a feature.

    Source: Lee 2018, on value weights, and this module's docstring.

    >>> counts = np.array([[30, 30], [8, 12], [2, 18]])
    >>> kl_value_weights(counts, "kl", m=1.0).round(6).tolist()
    [0.019752, 0.0, 0.201782]
    """
    n = np.asarray(counts, dtype=np.float64)
    if weight == "none":
        return np.ones(n.shape[:-1])
    class_totals = n.sum(axis=-2) if class_documents is None else np.asarray(class_documents, dtype=np.float64)
    prior = (class_totals / np.maximum(class_totals.sum(axis=-1, keepdims=True), 1e-300))[..., np.newaxis, :]
    value = n.sum(axis=-1)
    divergence = kl_terms(n, value[..., np.newaxis], prior, m).sum(axis=-1)
    return weigh_divergence(divergence, value, class_totals.sum(axis=-1)[..., np.newaxis], weight)


def kl_terms(n: npt.ArrayLike, value: npt.ArrayLike, prior: npt.ArrayLike, m: float) -> Floats:
    """One class's term of KL(C|a): q log q/P(c) with q = (n_ac + m P(c))/(n_a + m); 0 log 0 = 0.

    >>> float(kl_terms(30, 60, 0.4, 0.0).round(6))
    0.111572
    """
    n, value, prior = (np.asarray(array, dtype=np.float64) for array in (n, value, prior))
    q = (n + m * prior) / np.maximum(value + m, 1e-300)
    used = (q > 0) & (prior > 0)
    return np.asarray(np.where(used, q * np.log(np.where(used, q, 1.0) / np.where(used, prior, 1.0)), 0.0))


def weigh_divergence(
    divergence: npt.ArrayLike, value: npt.ArrayLike, n_documents: npt.ArrayLike, weight: ValueWeight
) -> Floats:
    """The weight of a value from its divergence KL, its documents n_a and all documents N; see `kl_value_weights`."""
    kl, value, total = (np.asarray(array, dtype=np.float64) for array in (divergence, value, n_documents))
    known = (value > 0) & (value < total)
    kl = np.where(known & (kl > ROUNDING), kl, 0.0)
    share = np.where(known, value / np.maximum(total, 1e-300), 0.5)
    if weight == "kl_split":
        return np.asarray(kl / -np.log(share))
    if weight == "p_kl":
        return np.asarray(kl * share)
    if weight == "kl":
        return kl
    raise ParameterError(f"weight must be one of 'kl_split', 'kl', 'p_kl', 'none', not {weight!r}.")


def two_class_weights(
    n: npt.ArrayLike,
    value: npt.ArrayLike,
    class_documents: npt.ArrayLike,
    n_documents: float,
    weight: ValueWeight = "kl_split",
    m: float = 1.0,
) -> Floats:
    """The weights of `kl_value_weights` for a label against the rest, entry by entry (everything broadcasts).

    `n` and `value` are the documents with the value that carry the label, and all of them; `class_documents` those that
    carry the label, out of `n_documents`.

    >>> two_class_weights([30, 8, 2], [60, 20, 20], 40, 100, "kl").round(6).tolist()
    [0.019752, 0.0, 0.201782]
    """
    n, value, yes = (np.asarray(array, dtype=np.float64) for array in (n, value, class_documents))
    if weight == "none":
        return np.ones(np.broadcast_shapes(n.shape, value.shape, yes.shape))
    prior = yes / n_documents
    divergence = kl_terms(n, value, prior, m) + kl_terms(value - n, value, 1.0 - prior, m)
    return weigh_divergence(divergence, value, n_documents, weight)


def normalise(weights: npt.ArrayLike, norm: Norm = "global", occupied: npt.ArrayLike | None = None) -> Floats:
    """Weights w_ij (features × values) scaled to mean 1 over the values that occur.

    global    over all values of all features
    feature   over the values of each feature; a feature whose weights are all 0 keeps them
    none      not at all

    `occupied` marks the values that occur in training (default: all). If every weight is 0, no value distinguishes the
    classes, and all weights are 1.

    >>> normalise([[0.019752, 0.0, 0.201782]]).round(6).tolist()
    [[0.26748, 0.0, 2.73252]]
    """
    w = np.asarray(weights, dtype=np.float64)
    used = np.ones(w.shape, dtype=np.bool_) if occupied is None else np.asarray(occupied, dtype=np.bool_)
    if not w[used].any():
        return np.ones_like(w)
    if norm == "none":
        return w.copy()
    kept = np.where(used, w, 0.0)
    if norm == "global":
        return np.asarray(w * (used.sum() / kept.sum()))
    total = kept.sum(axis=-1, keepdims=True)
    return np.asarray(w * np.where(total > 0, used.sum(axis=-1, keepdims=True) / np.where(total > 0, total, 1.0), 1.0))


def _cell(n: Floats, n_t: Floats, n_c: Floats, N: float) -> Floats:
    """The information of one cell, P(t, c) log P(t, c)/(P(t) P(c)), from counts."""
    used = n > 0
    ratio = np.where(used, n * N, 1.0) / np.where(used, n_t * n_c, 1.0)
    return np.asarray(np.where(used, n / N * np.log(ratio), 0.0))


def _clean(information: Floats) -> Floats:
    """The information, with rounding errors of 0 set to 0."""
    return np.where(information > ROUNDING, information, 0.0)
