"""Priors of classes, and the discount b of absolute discounting from counts of counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import ParameterError
from manylabel.parameters import AnyOf, Number, OneOf

DiscountMethod = Literal["upper", "printed23", "lower_printed", "lower_safe", "loo"]
SMALLEST_DISCOUNT = 1e-3
FALLBACK_DISCOUNT = 0.5

SMOOTHING = OneOf("absolute", "laplace", "lidstone")
DISCOUNT = AnyOf(
    OneOf("upper", "printed23", "lower_printed", "lower_safe", "loo"), Number(low=0, high=1, open_low=True)
)


Prior = Literal["documents", "add-one", "uniform"]


def class_log_prior(documents: npt.ArrayLike, prior: Prior = "documents") -> Floats:
    """The logarithm of each class's prior from its number of documents N_c; −∞ for a class never seen.

    documents   N_c / N
    add-one     (N_c + 1)/(N + |C|), over the classes seen
    uniform     1/|C|, over the classes seen

    >>> np.exp(class_log_prior([3, 0, 1], "add-one")).round(4).tolist()
    [0.6667, 0.0, 0.3333]
    """
    N_c = np.asarray(documents, dtype=np.float64)
    weights = np.ones_like(N_c) if prior == "uniform" else N_c + (1.0 if prior == "add-one" else 0.0)
    weights = np.where(N_c > 0, weights, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights / max(weights.sum(), 1.0)), dtype=np.float64)


def label_log_odds(label_documents: npt.ArrayLike, n_documents: float, prior: Prior = "documents") -> Floats:
    """The log-odds of each label from the number of documents that have it, n of N.

    documents   log n / (N − n)
    add-one     log (n + 1)/(N − n + 1)
    uniform     0

    >>> label_log_odds([1, 2], 4).round(4).tolist(), label_log_odds([0, 2], 4, "add-one").round(4).tolist()
    ([-1.0986, 0.0], [-1.6094, 0.0])
    """
    n = np.asarray(label_documents, dtype=np.float64)
    if prior == "uniform":
        return np.zeros_like(n)
    added = 1.0 if prior == "add-one" else 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(n + added) - np.log(n_documents - n + added), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Discount:
    """The discount b, and whether it is the fallback because no word occurred exactly once."""

    b: float
    is_fallback: bool = False


def counts_of_counts(counts: npt.ArrayLike) -> dict[int, int]:
    """n_r, the number of words with total count r, for r ≥ 1. Fractional counts are rounded.

    >>> counts_of_counts([1, 2, 0, 1, 7])
    {1: 2, 2: 1, 7: 1}
    """
    whole = np.rint(np.asarray(counts, dtype=np.float64)).astype(np.int64)
    values, numbers = np.unique(whole[whole > 0], return_counts=True)
    return dict(zip(values.tolist(), numbers.tolist(), strict=True))


def discount(n: Mapping[int, int], method: DiscountMethod | float = "upper") -> Discount:
    """The discount b of absolute discounting from counts of counts n_r.

    upper           n_1 / (n_1 + 2 n_2)
    printed23       n_1 / (n_1 + n_2)
    lower_printed   n_1 / (n_1 + 2 n_2 + Σ_{r≥3} n_r)
    lower_safe      n_1 / (n_1 + 2 n_2 + Σ_{r≥3} r n_r)
    loo             the root of n_1/b = Σ_{r≥2} r n_r / (r − 1 − b), leaving-one-out maximum likelihood

    Source: Vilar, Castro & Sanchis 2004, eq. 22-23. Their eq. 23 is called the upper bound of eq. 22 but lies
    above it; `upper` follows their sentence, `printed23` their equation. Their lower bound is not
    one in general; `lower_safe` is. A number is taken as it is. The result is clipped to [0.001, 1]; without
    any word of count 1 (always so after rare words were pruned) it is 0.5 and flagged: count n_r before
    pruning.

    >>> n = {1: 10, 2: 4, 3: 2, 4: 1}
    >>> [round(discount(n, m).b, 6) for m in ("upper", "printed23", "lower_printed", "lower_safe", "loo")]
    [0.555556, 0.714286, 0.47619, 0.357143, 0.478873]
    """
    if not isinstance(method, str):
        return Discount(float(method))
    n1, n2 = n.get(1, 0), n.get(2, 0)
    if n1 == 0:
        return Discount(FALLBACK_DISCOUNT, is_fallback=True)
    estimate = {
        "upper": lambda: n1 / (n1 + 2 * n2),
        "printed23": lambda: n1 / (n1 + n2),
        "lower_printed": lambda: n1 / (n1 + 2 * n2 + sum(n_r for r, n_r in n.items() if r >= 3)),
        "lower_safe": lambda: n1 / (n1 + 2 * n2 + sum(r * n_r for r, n_r in n.items() if r >= 3)),
        "loo": lambda: _leaving_one_out(n),
    }
    if method not in estimate:
        raise ParameterError(
            f"b must be a number above 0 and at most 1, or one of {', '.join(estimate)}, not {method!r}."
        )
    return Discount(min(1.0, max(SMALLEST_DISCOUNT, estimate[method]())))


def _leaving_one_out(n: Mapping[int, int]) -> float:
    """The root in (0, 1] by bisection: the left side falls in b, the right side rises."""
    r = np.array([value for value in n if value >= 2], dtype=np.float64)
    n_r = np.array([n[int(value)] for value in r], dtype=np.float64)
    if not n_r.any():
        return 1.0
    low, high = 0.0, 1.0
    while high - low > 1e-15:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if n[1] / middle > float(np.sum(r * n_r / (r - 1 - middle))):
            low = middle
        else:
            high = middle
    return (low + high) / 2
