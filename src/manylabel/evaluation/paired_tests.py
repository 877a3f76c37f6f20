"""Paired significance tests of two methods on the same documents, labels or runs.

| question                                                    | test                                       |
| ----------------------------------------------------------- | ------------------------------------------ |
| is the value of a metric different?                         | `permutation_test`                         |
| are more documents (or decisions of a label) right?         | `mcnemar_exact_match`, `mcnemar_labels`    |
| is one better on more labels?                               | `sign_test_labels`                         |
| several such questions at once                              | `holm` over their p                        |
| is the mean over repeated runs greater?                     | `t_test` (Student)                         |

All are two-sided, except `t_test`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.special import stdtr, stdtrit

from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.statistics import DocumentStatistics, Fractions, check_paired
from manylabel.exceptions import DataError, ParameterError
from manylabel.metrics.targets import TargetMetric
from manylabel.parameters import SEED, check_parameter

PERMUTATIONS = 1000
CELLS_A_BLOCK = 1 << 22
FEWEST_LABELS = 6
"""With fewer labels swaps of labels can show nothing: the least p of five is 2 / 2⁵ > 0.05."""
ROUNDING = 1e-12
"""Sums of the same numbers in another order differ by less; such differences count as equal."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The difference of two methods, and the p-value of the permutation test that both are equally good."""

    difference: float
    p: float
    """The larger of the next two."""
    over_documents: float
    over_labels: float | None
    """None where the metric is no mean over labels, or there are too few of them."""
    exact: bool
    """Whether all swaps were tried, rather than a random choice of them."""


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often only the first was right and only the second, and the p of McNemar's test."""

    first_only: int
    second_only: int
    p: float
    """Exact: of the binomial distribution."""
    chi2: float
    """With the correction for continuity; 1 degree of freedom."""
    chi2_p: float


@dataclass(frozen=True, slots=True)
class SignTest:
    """How often the first was better, the second, and neither; ties are left out of the test."""

    wins: int
    losses: int
    ties: int
    p: float


def permutation_test(
    first: DocumentStatistics,
    second: DocumentStatistics,
    metric: TargetMetric | str,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> PermutationTest:
    """The permutation test (approximate randomisation): the predictions of two methods are swapped at random.

        p = (1 + number of swaps with |difference| ≥ the observed one) / (1 + permutations)

    Only documents whose predictions differ in what the metric counts matter. Where these are so few that all swaps can
    be tried within `permutations`, they are, and p = their share (the predictions as they are included).

    A mean over labels (macro F1) is tested in a second way too: with the two methods' figures of a label swapped or
    not, by a coin for each label. A slightly different threshold changes all predictions of a rare label at once; to
    coins thrown for documents that looks like many mistakes of one method, to coins thrown for labels like the one
    change that it is. The larger p counts, so each kind of chance is held to its level.

    Source: Noreen 1989; Yeh 2000 for precision, recall and F1; the 1 above and below: Phipson & Smyth 2010; labels as
    the units of macro F1: Yang & Liu 1999, section 4; the larger p: Berger 1982 (intersection-union tests).

    >>> from manylabel.evaluation.statistics import document_statistics
    >>> truth = [[1, 0], [0, 1], [1, 1]]
    >>> right, wrong = document_statistics(truth, truth), document_statistics(truth, [[0, 1], [1, 0], [0, 0]])
    >>> found = permutation_test(right, wrong, "exact-match")
    >>> found.difference, found.p, found.exact
    (1.0, 0.25, True)
    """
    if permutations < 1:
        raise ParameterError(f"The number of permutations must be at least 1, not {permutations}.")
    check_parameter("resampling", "seed", seed, SEED)
    check_paired(first, second)
    one, two = first.fractions(metric), second.fractions(metric)
    difference = one.value - two.value
    if np.isnan(difference):
        return PermutationTest(difference, np.nan, np.nan, None, False)
    documents, exact = _over_documents(one, two, abs(difference), seed, permutations)
    if one.above.shape[1] < FEWEST_LABELS:
        return PermutationTest(difference, documents, documents, None, exact)
    labels, all_tried = _over_labels(one, two, abs(difference), seed, permutations)
    return PermutationTest(difference, max(documents, labels), documents, labels, exact and all_tried)


def mcnemar(first_only: int, second_only: int) -> McNemar:
    """McNemar's test of b items that only the first got right against c that only the second did.

    exact     p = min(1, 2 P(X ≤ min(b, c))), X binomial of b + c trials, 1/2
    χ²        max(|b − c| − 1, 0)² / (b + c), one degree of freedom

    Source: McNemar 1947; the correction: Edwards 1948; for classifiers: Dietterich 1998, section 3.1. Where b = c the
    correction must not turn no difference into one, so it stops at 0 (statsmodels goes below). Nothing to tell apart
    (b + c = 0): p = 1. The exact p is conservative: under the null it is below 0.05 in less than 5 % of the cases.

    >>> found = mcnemar(2, 10)
    >>> round(found.p, 4), round(found.chi2, 4), round(found.chi2_p, 4)
    (0.0386, 4.0833, 0.0433)
    """
    p, chi2 = _binomial(np.array([first_only]), np.array([second_only])), 0.0
    if first_only + second_only:
        chi2 = max(abs(first_only - second_only) - 1, 0) ** 2 / (first_only + second_only)
    return McNemar(int(first_only), int(second_only), float(p[0]), chi2, float(special.chdtrc(1, chi2)))


def mcnemar_exact_match(first: DocumentStatistics, second: DocumentStatistics) -> McNemar:
    """McNemar's test over documents whose whole label set is right or wrong."""
    check_paired(first, second)
    one, two = (np.diff(system.wrong.indptr) == 0 for system in (first, second))
    return mcnemar(int((one & ~two).sum()), int((two & ~one).sum()))


def mcnemar_labels(first: DocumentStatistics, second: DocumentStatistics) -> list[McNemar]:
    """McNemar's test per label over documents; correct p with `holm` over the labels."""
    check_paired(first, second)
    one, two = first.wrong, second.wrong
    both = _per_label(Csr(one.multiply(two)))
    first_only, second_only = _per_label(two) - both, _per_label(one) - both
    return [mcnemar(b, c) for b, c in zip(first_only.tolist(), second_only.tolist(), strict=True)]


def sign_test(first: npt.ArrayLike, second: npt.ArrayLike, *, greater_is_better: bool = True) -> SignTest:
    """The sign test of paired figures: p = min(1, 2 P(X ≤ min(wins, losses))), X binomial, ties left out.

    >>> sign_test([0.9, 0.8, 0.7, 0.6], [0.5, 0.5, 0.5, 0.6])
    SignTest(wins=3, losses=0, ties=1, p=0.25)
    """
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or np.isnan(one).any() or np.isnan(two).any():
        raise DataError(
            "A sign test needs two lists of figures of the same length, none of them nan, "
            f"not arrays of shapes {one.shape} and {two.shape}."
        )
    up, down = int((one > two).sum()), int((one < two).sum())
    wins, losses = (up, down) if greater_is_better else (down, up)
    p = float(_binomial(np.array([wins]), np.array([losses]))[0])
    return SignTest(wins, losses, len(one) - wins - losses, p)


def sign_test_labels(first: DocumentStatistics, second: DocumentStatistics) -> SignTest:
    """The sign test over the F1 of labels; every label counts the same, however rare it is.

    Source: the macro sign test (S-test) of Yang & Liu 1999, section 4.2. It takes labels for independent; where one
    system is better on some documents it is so on all their labels, and the test is then too sure of itself.
    """
    check_paired(first, second)
    return sign_test(first.label_f1, second.label_f1)


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's adjusted p-values of m tests, which control the family-wise error rate.

        p'_(i) = max over j ≤ i of min(1, (m − j + 1) p_(j)),   p_(1) ≤ … ≤ p_(m)

    Source: Holm 1979. It needs no independence of the tests.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise DataError(f"Holm's correction needs a list of p between 0 and 1, not {p.tolist()!r}.")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def all_swaps(n: int) -> Iterator[Floats]:
    """Every way to swap n documents or labels or not, in one block."""
    yield (np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1).astype(np.float64)


def random_swaps(n: int, seed: int, permutations: int, width: int) -> Iterator[Floats]:
    """Random swaps of n documents or labels, permutations × n, a block of bounded size at a time."""
    rng = np.random.default_rng(seed)
    most = max(1, CELLS_A_BLOCK // max(width, 1))
    row = 4 * -(-n // 32)  # bytes are drawn four at a time: with whole fours a row, blocks do not change the coins
    for start in range(0, permutations, most):
        rows = min(most, permutations - start)
        drawn = np.frombuffer(rng.bytes(rows * row), dtype=np.uint8).reshape(rows, row)
        yield np.unpackbits(drawn, axis=1, count=n).astype(np.float64)


def _over_documents(one: Fractions, two: Fractions, observed: float, seed: int, tries: int) -> tuple[float, bool]:
    """The p-value over swaps of documents, and whether all swaps were tried."""
    changes = Csr(one.above - two.above), Csr(one.below - two.below)
    rows = np.flatnonzero(sum(abs(change).sum(axis=1) for change in changes))
    above, below = (Csr(change[rows]) for change in changes)

    def differences(swapped: Floats) -> Floats:
        moved = np.asarray(swapped @ above), np.asarray(swapped @ below)
        first = one.values(*(total - change for total, change in zip(one.totals, moved, strict=True)))
        second: Floats = two.values(*(total + change for total, change in zip(two.totals, moved, strict=True)))
        return first - second

    return _share_at_least(observed, differences, len(rows), above.shape[1], seed, tries)


def _over_labels(one: Fractions, two: Fractions, observed: float, seed: int, tries: int) -> tuple[float, bool]:
    """The p-value over swaps of labels, and whether all were tried; a swap turns the sign of a difference."""
    of_labels = (one.shares(*one.totals) - two.shares(*two.totals))[0]
    moved = of_labels[np.abs(of_labels) > ROUNDING]

    def differences(swapped: Floats) -> Floats:
        found: Floats = (1.0 - 2.0 * swapped) @ moved / len(of_labels)
        return found

    return _share_at_least(observed, differences, len(moved), 1, seed, tries)


def _share_at_least(
    observed: float, differences: Callable[[Floats], Floats], n: int, columns: int, seed: int, tries: int
) -> tuple[float, bool]:
    """The share of swaps whose difference is at least the observed one, and whether all swaps were tried."""
    exact = n < tries.bit_length()  # 2 ** n ≤ tries
    at_least, tried = 0, 0
    for swapped in all_swaps(n) if exact else random_swaps(n, seed, tries, max(n, columns)):
        at_least += int((np.abs(differences(swapped)) >= observed - ROUNDING).sum())
        tried += len(swapped)
    return (at_least / tried if exact else (1 + at_least) / (1 + tried)), exact


def _binomial(one: Ints, two: Ints) -> Floats:
    """The two-sided p-value of a binomial test of `one` against `two` with probability ½."""
    tail = np.asarray(special.bdtr(np.minimum(one, two).astype(np.float64), one + two, 0.5), dtype=np.float64)
    return np.minimum(1.0, 2 * tail)


def _per_label(matrix: Csr) -> Ints:
    counted: Ints = np.bincount(matrix.indices, minlength=matrix.shape[1])
    return counted


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of a one-sided t-test that the first is greater than the second."""

    t: float
    """nan where there is neither a difference nor any spread; ±inf where there is a difference without spread."""
    df: int
    p: float
    """How likely so great a t is by luck; nan where t is."""
    critical: float
    """What t must exceed at the level asked for."""
    difference: float
    """Mean of the first minus mean of the second."""

    @property
    def significant(self) -> bool:
        """Whether t exceeds the critical value."""
        return self.t > self.critical


def t_test(first: npt.ArrayLike, second: npt.ArrayLike, *, paired: bool = False, level: float = 0.05) -> TTest:
    """The directional t-test of first > second over the runs of both.

    two samples of n runs   t = (m₁ − m₂) / √((s₁² + s₂²)/n),   df = 2n − 2   (pooled variance, where sizes differ)
    paired                  t = m_d / (s_d / √n),               df = n − 1    of the differences run by run

    `paired` is right, and sharper, where both methods ran on the same splits. Source: Godbole & Sarawagi 2004, section
    5.3: 10 + 10 runs, df 18, critical value 1.73 at 5 %. Runs on overlapping random splits are not independent, which
    makes either test too sure of itself.

    >>> found = t_test([3.0, 4.0, 5.0], [1.0, 2.0, 3.0])
    >>> round(found.t, 4), found.df, round(found.p, 4), round(found.critical, 4), found.significant
    (2.4495, 4, 0.0352, 2.1318, True)
    """
    if not 0 < level < 0.5:
        raise ParameterError(f"t_test: level must be a number above 0 and below 0.5, not {level!r}.")
    one, two = _runs(first), _runs(second)
    difference = float(one.mean() - two.mean())
    if paired:
        if len(one) != len(two):
            raise DataError(f"A paired test needs as many first as second runs, not {len(one)} and {len(two)}.")
        error = _spread(one - two) / math.sqrt(len(one))
        df = len(one) - 1
    else:
        df = len(one) + len(two) - 2
        pooled = ((len(one) - 1) * _spread(one) ** 2 + (len(two) - 1) * _spread(two) ** 2) / df
        error = math.sqrt(pooled * (1 / len(one) + 1 / len(two)))
    t = _ratio(difference, error)
    p = math.nan if math.isnan(t) else float(stdtr(df, -t))
    return TTest(t, df, p, float(stdtrit(df, 1 - level)), difference)


def _runs(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) < 2 or not np.isfinite(runs).all():
        raise DataError("A t-test needs a list of at least two finite numbers for each method, one per run.")
    return runs


def _spread(runs: npt.NDArray[np.float64]) -> float:
    """The standard deviation, n − 1 below; exactly 0 for equal numbers, whatever their mean rounds to."""
    return 0.0 if (runs == runs[0]).all() else float(runs.std(ddof=1))


def _ratio(difference: float, error: float) -> float:
    if error > 0:
        return difference / error
    return math.nan if difference == 0 else math.copysign(math.inf, difference)
