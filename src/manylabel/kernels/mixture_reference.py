"""The plain twins of the kernels for parametric mixture models (Ueda & Saito 2002): what each one computes, in NumPy.

A document with the label set S has the words of φ(S) = Σ_{l in S} e_l θ_l: with e_l = 1/|S| that is PMM1; with
e_l = 2 h_l Σ_m h_m α_lm, h = 1/|S|, PMM2. θ is kept by term, and only for the terms a label was seen with: its *cells*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

TOLERANCE = 1e-12
"""A value exceeds another only beyond this share of it. Without it rounding decides: a copy of a chosen label leaves
the likelihood as it is, and would be added or not by chance."""


class Cells(NamedTuple):
    """The labels seen with each term: ``labels[starts[t]:starts[t + 1]]``, sorted."""

    starts: Int64s
    labels: Int32s


class Entries(NamedTuple):
    """The groups of documents that have each term, ``groups[starts[t]:starts[t + 1]]``, and how often they have it."""

    starts: Int64s
    groups: Int32s
    counts: Floats


class Sets(NamedTuple):
    """The labels of each group of documents: ``labels[starts[g]:starts[g + 1]]``."""

    starts: Int64s
    labels: Int32s


class Documents(NamedTuple):
    """The three arrays of a CSR matrix, documents × terms; no zeros, no cell stored twice."""

    starts: Int64s
    terms: Int32s
    counts: Floats


class Words(NamedTuple):
    """θ by term: cells, their values, and the logarithms of these."""

    starts: Int64s
    labels: Int32s
    theta: Floats
    log_theta: Floats


class Rest(NamedTuple):
    """θ of each label for terms it was never seen with, its logarithm, and whether the label may be predicted."""

    background: Floats
    log_background: Floats
    allowed: Bytes


class Pairs(NamedTuple):
    """α of each label against those it met, ``partners[starts[l]:starts[l + 1]]``, sorted; ½ against all others."""

    starts: Int64s
    partners: Int32s
    alpha: Floats


def group_sets(starts: Int64s, labels: Int32s) -> tuple[Int32s, Int64s]:
    """Number the distinct label sets in order of first occurrence: each document's set, and each set's first document.

    A document without labels has number -1. Labels of a document must be sorted. Documents with the same labels can be
    added up without changing the likelihood of a mixture model.

    >>> [part.tolist() for part in group_sets(np.array([0, 1, 3, 3, 4]), np.array([2, 0, 2, 2], np.int32))]
    [[0, 1, -1, 0], [0, 1]]
    """
    numbers: dict[bytes, int] = {}
    group_of, first = np.full(len(starts) - 1, -1, dtype=np.int32), []
    for row in range(len(starts) - 1):
        if starts[row] == starts[row + 1]:
            continue
        key = labels[starts[row] : starts[row + 1]].tobytes()
        if key not in numbers:
            numbers[key] = len(numbers)
            first.append(row)
        group_of[row] = numbers[key]
    return group_of, np.array(first, dtype=np.int64)


def expected_counts(
    cells: Cells,
    theta: Floats,
    fixed: Floats,
    prior: float,
    entries: Entries,
    sets: Sets,
    weights: Floats,
    n_labels: int,
    begin: int,
    end: int,
    expected: Floats,
    ratios: Floats,
) -> float:
    """Write how many occurrences of the terms begin .. end each label is expected to have caused, cell by cell.

    φ_gi = Σ_{l in g} e_gl θ_li, and expected_li = fixed_li + Σ_g x_gi e_gl θ_li / φ_gi (Ueda & Saito 2002,
    the E-step of PMM1 and, with other weights e, of PMM2). `fixed` are the counts of documents with one label,
    `weights` the e_gl, laid out like ``sets.labels``; to `ratios`, laid out so too,
    Σ_i x_gi θ_li / φ_gi is added, from which PMM2 updates α.

    Returns the objective's share of these terms: Σ x_gi log φ_gi + Σ_cells (fixed + prior) log θ, prior = ξ − 1.
    Each group's labels must be among the cells of each of its terms.
    """
    if not 0 <= begin <= end < len(cells.starts) or end >= len(entries.starts):
        raise IndexError(f"Terms {begin} to {end} are out of bounds.")
    stretch = slice(int(cells.starts[begin]), int(cells.starts[end]))
    part = slice(int(entries.starts[begin]), int(entries.starts[end]))
    terms = np.arange(begin, end)
    keys = np.repeat(terms, np.diff(cells.starts[begin : end + 1])) * n_labels + cells.labels[stretch]
    groups, counts = entries.groups[part], entries.counts[part]
    sizes = np.diff(sets.starts)[groups]
    entry = np.repeat(np.arange(len(groups)), sizes)
    slots = np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + sets.starts[groups][entry]
    term = np.repeat(terms, np.diff(entries.starts[begin : end + 1]))[entry]
    place = np.searchsorted(keys, term * n_labels + sets.labels[slots])
    own = theta[stretch][place]
    phi: Floats = np.bincount(entry, weights=weights[slots] * own, minlength=len(groups)).astype(np.float64)
    share = np.divide(counts, phi, out=np.zeros_like(counts), where=phi > 0)[entry] * own
    ratios += np.bincount(slots, weights=share, minlength=len(ratios))
    caused = np.bincount(place, weights=share * weights[slots], minlength=stretch.stop - stretch.start)
    expected[stretch] = fixed[stretch] + caused
    weight = fixed[stretch] + prior
    return _weighted_logs(counts, phi) + _weighted_logs(weight, theta[stretch])


def greedy_sets(
    documents: Documents,
    words: Words,
    rest: Rest,
    pairs: Pairs,
    begin: int,
    end: int,
    chosen: Int32s,
    values: Floats,
    counts: Int32s,
) -> None:
    """Write the label set of the documents begin .. end: the label that raises log P(x|S) most, again and again.

    log P(x|S) = Σ_i x_i log φ_i(S), φ(S) = Σ_l e_l θ_l, e_l = (2/k²) (½ + Σ_{m in S, m ≠ l} α_lm), k = |S|;
    without pairs every α is ½ and e_l = 1/k. The first label is always taken; ties go to the lowest
    (Ueda & Saito 2002, section 3.3).

    Row n of `chosen` receives the labels in the order they were taken, at most as many as it has columns, row n of
    `values` log P(x|S) after each, ``counts[n]`` how many there are: none for a document without words.
    """
    if not 0 <= begin <= end < len(documents.starts) or len(chosen) < end or len(counts) < end:
        raise IndexError(f"Documents {begin} to {end} are out of bounds.")
    allowed = np.flatnonzero(rest.allowed).tolist()
    for row in range(begin, end):
        own = slice(int(documents.starts[row]), int(documents.starts[row + 1]))
        x, theta = documents.counts[own], _dense_theta(words, rest, documents.terms[own])
        taken: list[int] = []
        value = -np.inf
        while len(x) and len(taken) < chosen.shape[1]:
            best, best_value = -1, -np.inf
            left = [label for label in allowed if label not in taken]
            for label, candidate in zip(left, _log_likelihoods(x, theta, pairs, taken, left), strict=True):
                if best < 0 or _exceeds(candidate, best_value):
                    best, best_value = label, candidate
            if best < 0 or (taken and not _exceeds(best_value, value)):
                break
            chosen[row, len(taken)], values[row, len(taken)] = best, best_value
            taken, value = [*taken, best], best_value
        counts[row] = len(taken)


def _log_likelihoods(x: Floats, theta: Floats, pairs: Pairs, taken: list[int], left: list[int]) -> list[float]:
    """Σ_i x_i log Σ_l e_l θ_li of the labels taken together with each of those left; e_l = 2 h_l Σ_m h_m α_lm."""
    h = 1.0 / (len(taken) + 1)
    of_taken, to_taken = _alphas(pairs, taken)
    e_taken = 2.0 * h * h * (of_taken[:, taken].sum(axis=1)[:, None] + of_taken[:, left])
    e_left = 2.0 * h * h * (to_taken[:, left].sum(axis=0) + 0.5)
    phi = theta[:, taken] @ e_taken + theta[:, left] * e_left
    with np.errstate(divide="ignore"):
        return list((x @ np.log(phi)).tolist())


def _weighted_logs(weights: Floats, values: Floats) -> float:
    """Σ w log v, where 0 log 0 = 0."""
    used = weights > 0
    with np.errstate(divide="ignore"):
        return float(weights[used] @ np.log(values[used]))


def _exceeds(a: float, b: float) -> bool:
    return a > b if b == -np.inf else a > b + TOLERANCE * max(1.0, abs(b))


def _dense_theta(words: Words, rest: Rest, terms: Int32s) -> Floats:
    theta = np.tile(rest.background, (len(terms), 1))
    for row, term in enumerate(terms.tolist()):
        cells = slice(int(words.starts[term]), int(words.starts[term + 1]))
        theta[row, words.labels[cells]] = words.theta[cells]
    return theta


def _alphas(pairs: Pairs, taken: list[int]) -> tuple[Floats, Floats]:
    """α of each label taken against all labels, and of all labels against it, each taken × labels."""
    n_labels = len(pairs.starts) - 1
    label = np.repeat(np.arange(n_labels), np.diff(pairs.starts))
    of_taken, to_taken = np.full((2, len(taken), n_labels), 0.5)
    for row, one in enumerate(taken):
        of_taken[row, pairs.partners[label == one]] = pairs.alpha[label == one]
        to_taken[row, label[pairs.partners == one]] = pairs.alpha[pairs.partners == one]
    return of_taken, to_taken
