"""Value-weighted naive Bayes over classes: one weight a cell, shared by all classes.

    s_c = log P(c) + Σ_cells w_a log P(a|c)

log P(a|c) is what a class says of a value it never saw, which depends on the class alone (and on the kind of value),
plus a part that is 0 unless the class was seen with the word: background plus sparse difference. The weights multiply
its rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manylabel.estimator import Csr, Floats
from manylabel.features.value_weights import Norm, ValueWeight, kl_terms, normalise, weigh_divergence
from manylabel.models.linear_scores import LinearScores
from manylabel.models.value_cells import ValueCounts


def class_value_weights(counts: ValueCounts, weight: ValueWeight, m: float, norm: Norm, norm_joint: bool) -> Floats:
    """The weight of each cell, normalised.

    KL(C|a) is summed over the classes the word was seen with; all others share q/P(c) = ρ, where ρ = m/(n_a + m) for a
    present value and (N + m)/(n_a + m) for absence, and so add ρ log ρ times the rest of the prior.
    """
    n_cells = len(counts.cell_column)
    if weight == "none":
        return np.ones(n_cells)
    pairs, label, n_a = counts.pairs, counts.pairs.entry_label, counts.cell_documents
    prior = counts.label_documents / max(counts.n_documents, 1.0)
    terms = kl_terms(pairs.entry_documents, n_a[pairs.entry_cell], prior[label], m)
    divergence = np.bincount(pairs.entry_cell, terms, minlength=n_cells)
    rest = np.maximum(1.0 - np.bincount(pairs.entry_cell, prior[label], minlength=n_cells), 0.0)
    rho = (np.where(counts.absent, counts.n_documents, 0.0) + m) / np.maximum(n_a + m, 1e-300)
    divergence = divergence + rest * rho * np.log(np.where(rho > 0, rho, 1.0))
    return _normalised(counts, weigh_divergence(divergence, n_a, counts.n_documents, weight), norm, norm_joint)


def _normalised(counts: ValueCounts, weights: Floats, norm: Norm, norm_joint: bool) -> Floats:
    if not weights.any():
        return np.ones_like(weights)
    if norm == "none":
        return weights
    if norm == "feature":
        shape = (len(counts.is_indicator), counts.n_bins)
        table, occupied = np.zeros(shape), np.zeros(shape, dtype=np.bool_)
        table[counts.cell_column, counts.cell_bin] = weights
        occupied[counts.cell_column, counts.cell_bin] = True
        return normalise(table, "feature", occupied)[counts.cell_column, counts.cell_bin]
    indicator = counts.is_indicator[counts.cell_column]
    for cells in [np.ones_like(indicator)] if norm_joint else [~indicator, indicator]:
        if weights[cells].any():  # without any, the other features carry the evidence
            weights[cells] = normalise(weights[cells])
    return weights


def class_log_probabilities(counts: ValueCounts) -> LinearScores:
    """The log-probabilities log P(a|c) of every cell and class, without weights and without prior.

    Categorical: log (n_ac + 1)/(N_c + B). Otherwise: log (F_ic + 1)/(F_c + V) of the word.
    """
    indicator = counts.is_indicator[counts.cell_column]
    categorical = counts.is_categorical[counts.cell_column]
    N_c, absent = counts.label_documents, counts.absent
    kinds, loadings = [~categorical], [-np.log(np.maximum(counts.label_frequency + counts.n_words, 1e-300))]
    for B, cells in ((counts.n_bins, categorical & ~indicator), (2, indicator)):
        kinds += [cells & ~absent, cells & absent]
        loadings += [-np.log(N_c + B), np.log(N_c + 1) - np.log(N_c + B)]
    pairs, label, cell = counts.pairs, counts.pairs.entry_label, counts.pairs.entry_cell
    value = np.where(
        absent[cell],
        np.log(pairs.entry_documents + 1) - np.log(N_c[label] + 1),
        np.log1p(np.where(categorical[cell], pairs.entry_documents, pairs.frequency[pairs.entry_pair])),
    )
    difference = Csr((value, (cell, label)), shape=(len(absent), len(N_c)))
    difference.eliminate_zeros()
    used = [kind for kind, cells in enumerate(kinds) if cells.any()]
    return LinearScores(
        intercept=np.zeros(len(N_c)),
        background=np.column_stack([np.zeros((len(absent), 0)), *(kinds[k].astype(np.float64) for k in used)]),
        loadings=np.vstack([np.zeros((0, len(N_c))), *(loadings[k][np.newaxis] for k in used)]),
        difference=difference,
    )


def weighted(log_p: LinearScores, weights: Floats, absent: Floats, log_prior: Floats) -> LinearScores:
    """The scores: rows of log P(a|c) times the weights, the sum over the absence cells in the intercept."""
    difference = scaled_rows(log_p.difference, weights)
    background = np.asarray(log_p.background) * weights[:, np.newaxis]
    base = (absent @ background) @ log_p.loadings + absent @ difference
    return replace(log_p, intercept=log_prior + base, background=background, difference=difference)


def scaled_rows(table: Csr, factors: Floats) -> Csr:
    """The table with each row multiplied by a factor."""
    return Csr((table.data * np.repeat(factors, np.diff(table.indptr)), table.indices, table.indptr), shape=table.shape)
