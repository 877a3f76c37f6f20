"""How co-training came to its answers: rounds, cycles, documents that kept moving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.estimator import Ints


@dataclass(frozen=True, slots=True)
class CoTrainingReport:
    """The rounds each document took, and how it stopped.

    >>> report = CoTrainingReport(iterations=np.array([1, 1, 2, 4]), periods=np.array([1, 1, 1, 2]))
    >>> report.summary()["iterations_median"], report.summary()["cycle_share"], report.summary()["cycle_periods"]
    (1.5, 0.25, {2: 1})
    """

    iterations: Ints
    """Rounds until the document's label set had been seen before; 0 where there was nothing to alternate."""
    periods: Ints
    """1: the set stayed as it was; 2 and more: it came back after so many rounds; 0: it was still new in the last."""

    def summary(self) -> dict[str, Any]:
        """The report as plain data: median and 95 % point of the rounds, the share of cycles and their periods."""
        n_documents = len(self.iterations)
        cycling = self.periods > 1
        moving = (self.periods == 0) & (self.iterations > 0)
        periods, times = np.unique(self.periods[cycling], return_counts=True)
        median, late = np.percentile(self.iterations, [50, 95]) if n_documents else (0.0, 0.0)
        return {
            "documents": n_documents,
            "iterations_median": float(median),
            "iterations_95": float(late),
            "cycle_share": float(cycling.mean()) if n_documents else 0.0,
            "cycle_periods": dict(zip(periods.tolist(), times.tolist(), strict=True)),
            "unsettled_share": float(moving.mean()) if n_documents else 0.0,
        }
