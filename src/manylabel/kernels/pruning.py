"""Which weights of a linear classifier are worth keeping; the plain twin of `largest` in `linear_steps.pxd`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

STEPS = 2048
"""Sizes that are told apart: 16 powers of two, each in 128. Weights below all of them count as the smallest one."""
SHIFT = 45
"""The bits of a double below its exponent and seven binary digits."""


def largest(weights: npt.NDArray[Any], share: float) -> npt.NDArray[np.intp]:
    """The places of the largest weights, ascending: all but the smallest, whose norm is at most a share of the whole.

    A document of length 1 loses at most that share of ‖w‖ in its score. Weights that agree in their power of two and
    the next seven binary digits are kept or dropped together, so that they are summed instead of sorted.

    >>> largest(np.array([3.0, 0.0, -4.0, 0.3, 0.3]), 0.1).tolist()
    [0, 2]
    """
    double = weights.astype(np.float64)
    size = (double.view(np.uint64) << np.uint64(1) >> np.uint64(SHIFT + 1)).astype(np.int64)
    step = np.maximum(size - (size.max(initial=0) - (STEPS - 1)), 0)
    lost = np.cumsum(np.bincount(step, weights=double * double, minlength=STEPS))
    least = np.searchsorted(lost, share * share * lost[-1], side="right")
    return np.flatnonzero(step >= least)
