"""What a model guarantees of new documents, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

GuaranteedMetric = Literal["recall", "fdr"]


@dataclass(frozen=True, slots=True)
class GuaranteeRecord:
    """A guarantee and what it rests on: the mean loss of held-out documents, and the bound that follows from it.

    ``recall``: the mean share of its true labels that a new document with a label gets is at least `level`.
    ``fdr``: the mean share of wrong labels among those given to a new document is at most `level`.
    """

    metric: GuaranteedMetric
    level: float
    documents: int
    """The held-out documents it rests on; for the recall, those with a label."""
    cut: float
    risk: float
    """The mean loss of these documents: 1 − recall, or the false-discovery rate (for which see the rule)."""
    bound: float
    """(n · risk + 1)/(n + 1): what the loss of a new document is expected to be at most."""

    def as_dict(self) -> dict[str, Any]:
        """The guarantee as plain data."""
        return asdict(self)
