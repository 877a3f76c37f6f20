"""Weights of whole terms: how much the presence of a term says of the class.

Source: Lee 2018, section 2, which quotes them from Kim, Han, Rim & Myaeng 2006 (information gain) and Lee, Gutierrez &
Dou 2011 (Kullback-Leibler).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.features.value_weights import ROUNDING

TermWeight = Literal["ig", "kl", "none"]


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


def split_information(counts: npt.ArrayLike) -> Floats:
    """The entropy of a feature, −Σ_j P(a_j) log P(a_j), in nats, from counts of shape (…, values, classes)."""
    n = np.asarray(counts, dtype=np.float64).sum(axis=-1)
    p = n / np.maximum(n.sum(axis=-1, keepdims=True), 1e-300)
    return np.asarray(-np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(axis=-1))


def kl_feature_weights(counts: npt.ArrayLike) -> Floats:
    """Weights ω_i of features, mean 1, from counts of shape (features, values, classes).

    ω_i = (1/Z) [ Σ_j P(a_ij) KL(C|a_ij) ] / [ −Σ_j P(a_ij) log P(a_ij) ]

    A feature of a single value has weight 0. Source: Lee, Gutierrez & Dou 2011.

    >>> kl_feature_weights([[[30, 30], [8, 12], [2, 18]], [[20, 30], [15, 20], [5, 10]]]).round(6).tolist()
    [1.935589, 0.064411]
    """
    split = split_information(counts)
    information = mutual_information(counts)
    return mean_one(np.where(split > ROUNDING, information / np.where(split > ROUNDING, split, 1.0), 0.0))


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

    in nats, and scaled to mean 1 over the terms that occur unless `normalise` is off: as they are, the weights are far
    below 1 and leave the decision to the prior. The classes a term never occurs with share −log P(absent), so the sum
    runs over the stored values alone. Source: this module's docstring.

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
    row = np.repeat(np.arange(class_terms.shape[0]), np.diff(class_terms.indptr))
    both, term = class_terms.data.astype(np.float64), class_terms.indices
    missing = np.maximum(N_c[row] - both, 0.0)
    parts = _term(both, df[term], N_c[row], N) + _term(missing, N - df[term], N_c[row], N)
    seen_with = np.bincount(term, weights=parts, minlength=n_terms)
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


def _term(n: Floats, n_t: Floats, n_c: Floats, N: float) -> Floats:
    """One cell's share of the information, P(t, c) log P(t, c)/(P(t) P(c)), from counts."""
    used = n > 0
    ratio = np.where(used, n * N, 1.0) / np.where(used, n_t * n_c, 1.0)
    return np.asarray(np.where(used, n / N * np.log(ratio), 0.0))


def _clean(information: Floats) -> Floats:
    return np.where(information > ROUNDING, information, 0.0)
