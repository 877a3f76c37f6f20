"""Functions that score how informative a term is about a label, from 2 × 2 tables, and their averages over labels.

Source: Sebastiani 2002, Table I. Logarithms are to base 2 by default; the base does not change ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.features.contingency import Cells, Contingency
from manylabel.features.information_weights import mutual_information
from manylabel.progress import track

Combine = Literal["sum", "weighted", "max"]
COMBINE: tuple[Combine, ...] = ("sum", "weighted", "max")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of some functions: the base of logarithms, `eps` added to every cell (mi, or), `d` of rs."""

    base: float = 2.0
    eps: float = 0.0
    d: float = 1.0


DEFAULTS = Options()


def document_frequency(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """n11 + n10, the number of documents that contain the term, with or without the label."""
    return np.asarray(cells.n11 + cells.n10)


def association_factor(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """P(c|t) = n11 / (n11 + n10), the DIA association factor; 0 for a term that never occurs.

    >>> float(association_factor(Cells.of([20, 10, 30, 40])).round(6))
    0.666667
    """
    return _ratio(cells.n11, cells.n11 + cells.n10, 0.0)


def information_gain(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """Σ over the four cells of P(t,c) log P(t,c)/(P(t)P(c)); an empty cell adds 0; rounding below 0 gives 0.

    >>> float(information_gain(Cells.of([20, 10, 30, 40])).round(6))
    0.034852
    """
    present = np.stack([cells.n11, cells.n10], axis=-1)
    absent = np.stack([cells.n01, cells.n00], axis=-1)
    return np.asarray(mutual_information(np.stack([present, absent], axis=-2)) / np.log(options.base))


def pointwise_information(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """The logarithm of P(t,c)/(P(t)P(c)), called mutual information in the source.

    −∞ where term and label never occur together (unless `eps` is added to the cells); 0 where one of them never occurs.

    >>> pointwise_information(Cells.of([[20, 10, 30, 40], [0, 10, 20, 70]])).round(6)
    array([0.415037,     -inf])
    """
    n11, n10, n01, _ = cells = cells.plus(options.eps)
    above, below = n11 * cells.n, (n11 + n10) * (n11 + n01)
    found = np.full(np.shape(above), -np.inf)
    np.divide(above, below, out=found, where=(above > 0) & (below > 0))
    np.log(found, out=found, where=found > 0)
    return np.where(below > 0, found / np.log(options.base), 0.0)


def chi_square(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """N (n11 n00 − n10 n01)² / (product of the four margins); 0 where a margin is 0.

    >>> float(chi_square(Cells.of([20, 10, 30, 40])).round(6))
    4.761905
    """
    return np.asarray(ngl_coefficient(cells) ** 2)


def ngl_coefficient(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """√N (n11 n00 − n10 n01) / √(product of the four margins), the signed root of χ²; 0 where a margin is 0.

    Deviation: the root covers the margins and N, not the bracket as printed in some copies of the table.

    >>> float(ngl_coefficient(Cells.of([20, 10, 30, 40])).round(6))
    2.182179
    """
    n11, n10, n01, n00 = cells
    # roots before products: the four margins of a large corpus multiply to more than a float holds exactly
    scale = np.sqrt((n11 + n10) * (n01 + n00)) * np.sqrt((n11 + n01) * (n10 + n00))
    return _ratio(np.sqrt(cells.n) * (n11 * n00 - n10 * n01), scale, 0.0)


def relevancy_score(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """The logarithm of (P(t|c) + d) / (P(t|¬c) + d); a share of no documents is 0.

    Deviation: the printed table has P(¬t|¬c) below (`relevancy_score_printed`), by which a perfect indicator scores 0
    and a word of every document scores best. Source: Wiener, Pedersen & Weigend 1995.

    >>> relevancy_score(Cells.of([20, 0, 0, 80]))
    array(1.)
    """
    n11, n10, n01, n00 = cells
    return _log_odds(_ratio(n11, n11 + n01, 0.0), _ratio(n10, n10 + n00, 0.0), options)


def relevancy_score_printed(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """The logarithm of (P(t|c) + d) / (P(¬t|¬c) + d), as printed in Sebastiani 2002, Table I.

    >>> relevancy_score_printed(Cells.of([[20, 0, 0, 80], [10, 20, 0, 0]]))
    array([0., 1.])
    """
    n11, n10, n01, n00 = cells
    return _log_odds(_ratio(n11, n11 + n01, 0.0), _ratio(n00, n10 + n00, 0.0), options)


def odds_ratio(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """n11 n00 / (n10 n01); 1 for 0/0, ∞ where only n10 n01 is 0. `eps` = ½ added to each cell makes all finite.

    >>> odds_ratio(Cells.of([[20, 10, 30, 40], [5, 0, 15, 80]])).round(6)
    array([2.666667,      inf])
    """
    n11, n10, n01, n00 = cells.plus(options.eps)
    above = n11 * n00
    return _ratio(above, n10 * n01, np.where(above > 0, np.inf, 1.0))


def gss_coefficient(cells: Cells, options: Options = DEFAULTS) -> Floats:
    """P(t,c) P(¬t,¬c) − P(t,¬c) P(¬t,c): the difference that χ² squares, with its sign. Source: Galavotti et al. 2000.

    >>> gss_coefficient(Cells.of([20, 10, 30, 40]))
    array(0.05)
    """
    n11, n10, n01, n00 = cells
    return _ratio(n11 * n00 - n10 * n01, cells.n**2, 0.0)


@dataclass(frozen=True, slots=True)
class TermFunction:
    """A scoring function; a `signed` one distinguishes evidence for the label from evidence against it."""

    name: str
    title: str
    compute: Callable[[Cells, Options], Floats]
    combine: Combine
    signed: bool


_TABLE = (
    TermFunction("df", "Document frequency", document_frequency, "max", False),
    TermFunction("dia", "DIA association factor", association_factor, "max", True),
    TermFunction("ig", "Information gain", information_gain, "sum", False),
    TermFunction("mi", "Pointwise mutual information", pointwise_information, "max", True),
    TermFunction("chi2", "Chi-square", chi_square, "max", False),
    TermFunction("ngl", "NGL coefficient", ngl_coefficient, "max", True),
    TermFunction("rs", "Relevancy score", relevancy_score, "max", True),
    TermFunction("rs_printed", "Relevancy score as printed", relevancy_score_printed, "max", True),
    TermFunction("or", "Odds ratio", odds_ratio, "max", True),
    TermFunction("gss", "GSS coefficient", gss_coefficient, "max", True),
)

FUNCTIONS: Mapping[str, TermFunction] = {function.name: function for function in _TABLE}
"""Every function by name, with the default way to combine its values over labels: the sum for information gain, because
the gains of the labels add up, and the maximum for the others."""


def find_function(name: str) -> TermFunction:
    """The function with this name; the error for an unknown name suggests the nearest.

    >>> find_function("chi")
    Traceback (most recent call last):
    ...
    manylabel.exceptions.UnknownNameError: Unknown term function: 'chi'. Did you mean 'chi2'? Known: ...
    """
    if name not in FUNCTIONS:
        raise UnknownNameError("term function", name, FUNCTIONS)
    return FUNCTIONS[name]


def label_scores(
    table: Contingency, function: str, options: Options = DEFAULTS, labels: npt.ArrayLike | None = None
) -> Iterator[tuple[int, Floats]]:
    """Yield each label that has documents (of `labels`, if given), with the scores of all terms.

    The table of a term that never occurs with the label depends on its document frequency alone, and there are few
    distinct frequencies: the function is computed once for each, and once for every term that occurs with the label.
    """
    compute = find_function(function).compute
    levels, level = np.unique(table.term_documents, return_inverse=True)
    never_together = np.zeros(len(levels))
    chosen = np.arange(table.n_labels) if labels is None else np.asarray(labels, dtype=np.int64)
    for label in track(f"Scoring terms by {function}", chosen[table.label_documents[chosen] > 0].tolist()):
        scores = compute(table.cells_of(label, never_together, levels), options)[level]
        terms, together = table.row(label)
        scores[terms] = compute(table.cells_of(label, together, table.term_documents[terms]), options)
        yield label, scores


def global_scores(
    table: Contingency, function: str, combine: Combine | None = None, options: Options = DEFAULTS
) -> Floats:
    """One score per term: the sum over labels, the sum weighted by P(c), or the maximum.

    Labels without documents are left out. Sums leave out −∞ (a term that is −∞ for every label stays −∞); the maximum
    does not. Source: Sebastiani 2002, section 5.4. Default: see `FUNCTIONS`.

    >>> from manylabel.estimator import Csr
    >>> table = Contingency(Csr(np.array([[20], [8]])), np.array([50, 10]), np.array([30]), 100)
    >>> [global_scores(table, "chi2", how).round(6).tolist() for how in ("sum", "weighted", "max")]
    [[17.989418], [3.703704], [13.227513]]
    """
    how = find_function(function).combine if combine is None else combine
    if how not in COMBINE:
        raise UnknownNameError("way to combine labels", how, COMBINE)
    if not table.label_documents.any():
        raise DataError("No document has a label, so no term can be scored.")
    total = np.full(table.n_terms, -np.inf)
    for label, scores in label_scores(table, function, options):
        if how == "max":
            np.maximum(total, scores, out=total)
            continue
        weight = table.label_documents[label] / table.n_documents if how == "weighted" else 1.0
        counted = scores > -np.inf
        total[counted] = np.where(total[counted] == -np.inf, 0.0, total[counted]) + weight * scores[counted]
    return total


def best_terms(scores: npt.ArrayLike, k: int | None = None) -> Ints:
    """The terms by descending score, ties by ascending index; the first `k` of them.

    >>> best_terms([0.5, 2.0, -np.inf, 2.0], 3)
    array([1, 3, 0])
    """
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")[:k].astype(np.int64)


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike, otherwise: npt.ArrayLike) -> Floats:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.where(below != 0, above / np.where(below != 0, below, 1.0), otherwise)


def _log_odds(above: Floats, below: Floats, options: Options) -> Floats:
    return np.asarray(np.log((above + options.d) / (below + options.d)) / np.log(options.base))
