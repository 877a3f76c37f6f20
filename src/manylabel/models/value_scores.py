"""Weights and scores of value-weighted naive Bayes, over classes and for each label against the rest.

Over classes, each cell has one weight, shared by all classes:

    s_c = log P(c) + Σ_cells w_a log P(a|c)

log P(a|c) is the sum of two parts: a background that depends on the class and the kind of value alone, and a difference
that is 0 unless the term occurred with the class. The weights multiply its rows.

For each label against the rest, each cell has a weight w and a log-ratio r per label:

    s_k = log P(k)/P(rest) + Σ_cells w_ak r_ak,     r_ak = log P(a|k)/P(a|rest of k)

Both factors differ from label to label only at the terms that occurred with a label. For all other terms they depend on
the label and on one number of the cell, the documents n_a it occurs in (and, in the multinomial readings, on
log(F_i + 1), which is added to r). So cells with the same n_a form a group, and w and r of unseen terms are small
tables, groups × labels. This is exact, and the cost of a label depends on its own terms alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.features.information_weights import (
    Norm,
    ValueWeight,
    kl_terms,
    normalise,
    two_class_weights,
    weigh_divergence,
)
from manylabel.models.linear_scores import LinearScores, scaled_rows
from manylabel.models.value_counts import ValueCounts

# --- classes ----------------------------------------------------------------------------------------------------------


def class_value_weights(counts: ValueCounts, weight: ValueWeight, m: float, norm: Norm, norm_joint: bool) -> Floats:
    """The weight of each cell, normalised.

    KL(C|a) is summed over the classes the term occurs with; all others share q/P(c) = ρ, where ρ = m/(n_a + m) for a
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


def mean_bin_weights(counts: ValueCounts, cell_weights: Floats) -> Floats:
    """The mean weight of each frequency bin, 3 × bins: over terms that occur in the bin, over all terms, their number.

    Over all terms, a bin in which a term never falls counts 0. Bin 0 is absence, which has a weight only where absent
    terms are evidence. Label indicators are left out. Source: Lee 2018, Fig. 2, which does not say which mean it shows.
    """
    terms = ~counts.is_indicator[counts.cell_column]
    bins = counts.cell_bin[terms]
    total = np.bincount(bins, cell_weights[terms], minlength=counts.n_bins)
    occurring = np.bincount(bins, minlength=counts.n_bins)
    n_terms = len(np.unique(counts.cell_column[terms]))
    return np.stack([total / np.maximum(occurring, 1), total / max(n_terms, 1), occurring.astype(np.float64)])


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

    Categorical: log (n_ac + 1)/(N_c + B). Otherwise: log (F_ic + 1)/(F_c + V) of the term.
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


# --- each label against the rest --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelValues:
    """Weights and log-ratios of all cells and labels."""

    group: Ints
    """The group of each cell."""
    group_weight: Floats
    """w of a cell of the group for a label that its term never occurs with: groups × labels."""
    group_ratio: Floats
    """r of such a cell, up to `cell_ratio`: groups × labels."""
    cell_ratio: Floats
    """What the cell's own term adds to r, −log(F_i + 1), or 0 for categorical features."""
    entry_weight: Floats
    """w of each entry: a label, and a cell of a term that occurs with it."""
    entry_ratio: Floats

    def dense(self, counts: ValueCounts, labels: slice) -> tuple[Floats, Floats]:
        """The weights w and log-ratios r of all cells for a block of labels, cells × labels."""
        weight = self.group_weight[self.group, labels]
        ratio = self.group_ratio[self.group, labels] + self.cell_ratio[:, np.newaxis]
        inside = entries_of(counts, labels)
        cell, label = counts.pairs.entry_cell[inside], counts.pairs.entry_label[inside] - labels.start
        weight[cell, label], ratio[cell, label] = self.entry_weight[inside], self.entry_ratio[inside]
        return weight, ratio

    def cell_totals(self, counts: ValueCounts) -> Floats:
        """The sum over labels of the weights of each cell."""
        cell, label = counts.pairs.entry_cell, counts.pairs.entry_label
        change = self.entry_weight - self.group_weight[self.group[cell], label]
        totals: Floats = self.group_weight.sum(axis=1)[self.group] + np.bincount(
            cell, change, minlength=len(self.group)
        )
        return totals

    def scores(self, counts: ValueCounts, log_odds: Floats) -> LinearScores:
        """The scores as a linear model over coded documents: background of the groups plus sparse difference."""
        cell, label = counts.pairs.entry_cell, counts.pairs.entry_label
        group, x = self.group[cell], self.cell_ratio[cell]
        unseen = self.group_weight[group, label] * (self.group_ratio[group, label] + x)
        seen = self.entry_weight * self.entry_ratio
        shape = (len(self.group), len(log_odds))
        difference = Csr((seen - unseen, (cell, label)), shape=shape)
        difference.eliminate_zeros()
        background, loadings = self._background()
        absence = counts.absent
        base = np.asarray(background[absence].sum(axis=0)) @ loadings + np.asarray(difference[absence].sum(axis=0))
        return LinearScores(log_odds + base, background, loadings, difference)

    def _background(self) -> tuple[Csr, Floats]:
        n_cells, n_groups = len(self.group), len(self.group_weight)
        cells, ones = np.arange(n_cells), np.ones(n_cells)
        product = self.group_weight * self.group_ratio
        if not self.cell_ratio.any():
            return Csr((ones, (cells, self.group)), shape=(n_cells, n_groups)), product
        values = np.concatenate([ones, self.cell_ratio])
        place = (np.concatenate([cells, cells]), np.concatenate([self.group, self.group + n_groups]))
        return Csr((values, place), shape=(n_cells, 2 * n_groups)), np.vstack([product, self.group_weight])


def entries_of(counts: ValueCounts, labels: slice) -> slice:
    """The entries of a block of labels; entries are sorted by label."""
    first, last = np.searchsorted(counts.pairs.entry_label, [labels.start, labels.stop])
    return slice(int(first), int(last))


def label_values(
    counts: ValueCounts,
    weight: ValueWeight,
    m: float,
    norm: Norm,
    norm_joint: bool,
    own_columns: bool,
    later: bool = False,
) -> LabelValues:
    """Weights, normalised, and log-ratios of every label against the rest; see the module's docstring.

    With `own_columns` the last columns are the labels themselves, and the own column of a label has no weight for it,
    with `later` nor those after it.
    """
    group = _groups(counts, by_feature=norm == "feature")
    values = _raw_values(counts, group, weight, m)
    own = own_entries(counts, later) if own_columns else np.zeros(len(values.entry_weight), dtype=np.bool_)
    values = replace(values, entry_weight=np.where(own, 0.0, values.entry_weight))
    n_own = np.bincount(counts.pairs.entry_label[own], minlength=len(counts.label_documents))
    if weight != "none":
        if norm == "feature":
            values = _normalise_by_feature(counts, values)
        elif norm == "global":
            values = _normalise_by_label(counts, values, norm_joint, n_own)
        values = _ones_where_all_are_zero(counts, values)
    return replace(values, entry_weight=np.where(own, 0.0, values.entry_weight))


def _raw_values(counts: ValueCounts, group: Ints, weight: ValueWeight, m: float) -> LabelValues:
    first = np.unique(group, return_index=True)[1]  # any cell of a group stands for all
    N, N_k = counts.n_documents, counts.label_documents
    pairs, label = counts.pairs, counts.pairs.entry_label
    absent, n_a = counts.absent[first, np.newaxis], counts.cell_documents[first, np.newaxis]
    n_unseen = np.where(absent, N_k, 0.0)
    B = counts.n_values
    V, F, F_k = counts.n_words, counts.column_frequency, counts.label_frequency
    R_k = np.maximum(F.sum() - F_k, 0.0)
    categorical = counts.is_categorical[counts.cell_column]
    entry_cell = pairs.entry_cell
    F_ik, F_i = pairs.frequency[pairs.entry_pair], F[counts.cell_column[entry_cell]]
    words = np.log(F_ik + 1) - np.log(F_k[label] + V) - np.log(np.maximum(F_i - F_ik, 0) + 1) + np.log(R_k[label] + V)
    n, n_cell = pairs.entry_documents, counts.cell_documents[entry_cell]
    return LabelValues(
        group=group,
        group_weight=two_class_weights(n_unseen, n_a, N_k, N, weight, m),
        group_ratio=np.where(
            categorical[first, np.newaxis],
            _value_log_ratio(n_unseen, n_a, N_k, N, B[first, np.newaxis]),
            np.log(R_k + V) - np.log(F_k + V),
        ),
        cell_ratio=np.where(categorical, 0.0, -np.log(F[counts.cell_column] + 1.0)),
        entry_weight=two_class_weights(n, n_cell, N_k[label], N, weight, m),
        entry_ratio=np.where(categorical[entry_cell], _value_log_ratio(n, n_cell, N_k[label], N, B[entry_cell]), words),
    )


def _value_log_ratio(n: Floats, n_a: Floats, N_k: Floats, N: float, B: Floats) -> Floats:
    """The log-ratio log P(a|k)/P(a|rest) with P(a|c) = (n_ac + 1)/(N_c + B)."""
    yes = np.log(n + 1.0) - np.log(N_k + B)
    return np.asarray(yes - np.log(np.maximum(n_a - n, 0.0) + 1.0) + np.log(N - N_k + B))


def _groups(counts: ValueCounts, by_feature: bool) -> Ints:
    """The group of each cell: cells with the same w and r for labels that their term never occurs with."""
    kind = 2 * counts.is_indicator[counts.cell_column] + counts.absent
    key = counts.cell_documents.astype(np.int64) * 4 + kind
    if by_feature:  # the weight of a value then depends on the other values of the feature too
        profile = np.full((len(counts.is_indicator), counts.n_bins), -1, dtype=np.int64)
        profile[counts.cell_column, counts.cell_bin] = key
        feature = np.unique(profile, axis=0, return_inverse=True)[1].ravel()
        key = feature[counts.cell_column] * counts.n_bins + counts.cell_bin
    return np.unique(key, return_inverse=True)[1].ravel().astype(np.int64)


def own_entries(counts: ValueCounts, later: bool = False) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which entries are a label and its own indicator column (or a `later` one), the labels being the last columns."""
    place = counts.pairs.label + (len(counts.is_indicator) - len(counts.label_documents))
    own = place <= counts.pairs.column if later else place == counts.pairs.column
    return np.asarray(own[counts.pairs.entry_pair])


def _total_weights(counts: ValueCounts, values: LabelValues, cells: Floats) -> Floats:
    """The sum of the weights of some cells (0/1) for each label."""
    sizes = np.bincount(values.group, weights=cells, minlength=len(values.group_weight))
    label, cell = counts.pairs.entry_label, counts.pairs.entry_cell
    change = (values.entry_weight - values.group_weight[values.group[cell], label]) * cells[cell]
    return np.asarray(sizes @ values.group_weight + np.bincount(label, change, minlength=len(counts.label_documents)))


def _normalise_by_label(counts: ValueCounts, values: LabelValues, norm_joint: bool, n_own: Ints) -> LabelValues:
    """Mean 1 over all values of all features: of terms and of indicators separately, unless `norm_joint`."""
    indicator = counts.is_indicator[counts.cell_column]
    parts = [np.ones(len(indicator))] if norm_joint else [(~indicator).astype(float), indicator.astype(float)]
    group_weight, entry_weight = values.group_weight.copy(), values.entry_weight.copy()
    first = np.unique(values.group, return_index=True)[1]
    for cells in parts:
        total = _total_weights(counts, values, cells)
        number = cells.sum() - n_own * cells[indicator].any()
        some = _number_positive(counts, values, cells) > 0
        scale = np.where(some, number / np.where(some, total, 1.0), 1.0)
        group_weight[cells[first] > 0] *= scale
        inside = cells[counts.pairs.entry_cell] > 0
        entry_weight[inside] *= scale[counts.pairs.entry_label[inside]]
    return replace(values, group_weight=group_weight, entry_weight=entry_weight)


def _normalise_by_feature(counts: ValueCounts, values: LabelValues) -> LabelValues:
    """Mean 1 over the values of each feature; a feature whose weights are all 0 keeps them."""
    first = np.unique(values.group, return_index=True)[1]
    # groups are sorted by feature profile, and so are the first cells' columns' profiles
    column = counts.cell_column[first]
    feature = np.unique(column, return_inverse=True)[1].ravel()
    size = np.bincount(counts.cell_column, minlength=len(counts.is_indicator))
    total = np.zeros((feature.max(initial=-1) + 1, values.group_weight.shape[1]))
    np.add.at(total, feature, values.group_weight)
    group_scale = np.where(total > 0, size[np.unique(column)][:, np.newaxis] / np.where(total > 0, total, 1.0), 1.0)
    pairs = counts.pairs
    of_pair = np.bincount(pairs.entry_pair, weights=values.entry_weight, minlength=len(pairs.label))
    pair_scale = np.where(of_pair > 0, size[pairs.column] / np.where(of_pair > 0, of_pair, 1.0), 1.0)
    return replace(
        values,
        group_weight=values.group_weight * group_scale[feature],
        entry_weight=values.entry_weight * pair_scale[pairs.entry_pair],
    )


def _ones_where_all_are_zero(counts: ValueCounts, values: LabelValues) -> LabelValues:
    """The weights, with 1 in place of all weights of a label for which every value has weight 0."""
    nothing = _number_positive(counts, values, np.ones(len(values.group))) == 0
    return replace(
        values,
        group_weight=np.where(nothing, 1.0, values.group_weight),
        entry_weight=np.where(nothing[counts.pairs.entry_label], 1.0, values.entry_weight),
    )


def _number_positive(counts: ValueCounts, values: LabelValues, cells: Floats) -> Floats:
    """How many of some cells have a weight above 0, for each label; exact, unlike the sum of the weights."""
    signs = replace(
        values,
        group_weight=(values.group_weight > 0).astype(np.float64),
        entry_weight=(values.entry_weight > 0).astype(np.float64),
    )
    return _total_weights(counts, signs, cells)
