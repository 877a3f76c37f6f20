"""Weights of single feature values (word i in frequency bin j) by how much the value says of the class.

Pure formulas on tables of counts n_ijc, the documents of class c in which feature i has value j. The sparse models
(`manylabel.models.value_weighted_nb`) evaluate the same formulas entry by entry; co-training and chains use them for
label indicators, which are features of two values.

Source: Lee 2018, section 3. The printed formulas are lost; the text names the Kullback-Leibler divergence of the class
distribution given the value from the prior one, and a normalising constant. Shrinking (`m`) and the rarity correction
``kl_split`` are ours; the latter follows the feature weights of Lee, Gutierrez & Dou 2011.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import ParameterError

ValueWeight = Literal["kl_split", "kl", "p_kl", "none"]
Norm = Literal["global", "feature", "none"]
Bools = npt.NDArray[np.bool_]

ROUNDING = 1e-13
"""A divergence below this is the rounding error of one that is 0."""


def kl_value_weights(
    counts: npt.ArrayLike,
    weight: ValueWeight = "kl_split",
    m: float = 1.0,
    class_documents: npt.ArrayLike | None = None,
) -> Floats:
    """Weights w_ij of the values of features, not yet normalised, from counts of shape (…, values, classes).

    KL(C|a_ij) = Σ_c P(c|a_ij) log P(c|a_ij)/P(c),   P(c|a) = (n_ac + m P(c)) / (n_a + m),   P(c) = N_c/N

    kl          KL
    kl_split    KL / −log P(a_ij), so that a rare value must say more
    p_kl        KL · P(a_ij)
    none        1 for every value

    m = 0 is the maximum likelihood posterior. A value of no document, and one of every document, have weight 0; a class
    without documents is left out. `class_documents` is N_c; without it, the sum over the values of a feature.

    Source: Lee 2018, section 3, and this module's docstring.

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
    n, value, prior = (np.asarray(part, dtype=np.float64) for part in (n, value, prior))
    q = (n + m * prior) / np.maximum(value + m, 1e-300)
    used = (q > 0) & (prior > 0)
    return np.asarray(np.where(used, q * np.log(np.where(used, q, 1.0) / np.where(used, prior, 1.0)), 0.0))


def weigh_divergence(
    divergence: npt.ArrayLike, value: npt.ArrayLike, n_documents: npt.ArrayLike, weight: ValueWeight
) -> Floats:
    """The weight of a value from its divergence KL, its documents n_a and all documents N; see `kl_value_weights`."""
    kl, value, total = (np.asarray(part, dtype=np.float64) for part in (divergence, value, n_documents))
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
    n, value, yes = (np.asarray(part, dtype=np.float64) for part in (n, value, class_documents))
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

    `occupied` says which values occur in training (default: all). Where every weight is 0, nothing tells the classes
    apart, and all weights are 1.

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


def value_log_probabilities(counts: npt.ArrayLike, class_documents: npt.ArrayLike | None = None) -> Floats:
    """The log-probabilities log P(a_ij|c) = log (n_ijc + 1)/(N_c + B) from counts of shape (…, B values, classes).

    >>> np.exp(value_log_probabilities([[3, 0], [0, 2]])).round(4).tolist()
    [[0.8, 0.25], [0.2, 0.75]]
    """
    n = np.asarray(counts, dtype=np.float64)
    totals = n.sum(axis=-2) if class_documents is None else np.asarray(class_documents, dtype=np.float64)
    return np.asarray(np.log(n + 1.0) - np.log(totals[..., np.newaxis, :] + n.shape[-2]))
