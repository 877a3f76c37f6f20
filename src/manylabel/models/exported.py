"""What a model and its rule hand over to be exported: scores that are linear in what is read from the counts.

`manylabel.exporting` writes them for other languages and engines; docs/exporting.md describes the form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.features.weighting import Weighting
from manylabel.models.linear_scores import DenseScores, LinearScores
from manylabel.models.score_kinds import ScoreKind

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel

Form: TypeAlias = dict[str, Any]
"""Plain values, arrays, and mappings of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """How the value of a term becomes a row of the weights; see `manylabel.models.value_counts.ValueCoder`."""

    n_bins: int
    low: Floats
    high: Floats
    cells: npt.NDArray[np.int32]
    amount: Literal["one", "bin", "value"]
    """What a value adds at its row: 1, the number of its bin, or itself."""
    absence: bool
    """Whether a term that occurs also takes away the row of its absence, which is part of the intercept."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearBlock:
    """The scores of one model: intercept + x · (weights + background · loadings), x being read from the counts."""

    intercept: Floats
    weights: Csr | npt.NDArray[Any]
    background: Floats | Csr | None = None
    loadings: Floats | None = None
    weighting: Weighting | None = None
    values: Literal["counts", "presence", "unit"] | Bins = "counts"
    """x: the weighed counts, 1 for each term, the weighed counts scaled to length 1, or rows of bins."""
    is_posterior: bool = False
    """Whether the sums are log p(c) p(x|c), whose posteriors are the scores."""

    @classmethod
    def of(cls, linear: LinearScores | DenseScores, **settings: Any) -> LinearBlock:
        """The block of learned linear scores."""
        if isinstance(linear, DenseScores):
            return cls(linear.intercept, linear.dense_weights, **settings)
        has_background = len(linear.loadings) > 0
        return cls(
            linear.intercept,
            linear.difference,
            linear.background if has_background else None,
            linear.loadings if has_background else None,
            **settings,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExportedScores:
    """The blocks of a model and, where there are several, how their scores are combined.

    Scores of blocks are compared as log-odds: Σ_m weights_m · score_m + intercept, or `constant` where it is a number.
    """

    blocks: tuple[LinearBlock, ...]
    kinds: tuple[ScoreKind, ...]
    weights: Floats | None = None
    """Blocks × labels."""
    intercept: Floats | None = None
    constant: Floats | None = None
    natural: Form | None = None
    """What is predicted without a decision rule, if not `natural_form` of the kind; empty if it cannot be exported."""


class ExportableModel(Protocol):
    """The methods of a model whose `is_exportable` is true."""

    def exported_scores(self) -> ExportedScores:
        """The learned scores in the form in which they are exported."""


def scores_of(model: MultiLabelModel) -> ExportedScores:
    """The learned scores of a model whose `is_exportable` is true."""
    return cast(ExportableModel, model).exported_scores()


def threshold_form(thresholds: Floats | float, n_labels: int, *, strict: bool = False, opened: bool = False) -> Form:
    """The labels whose score is at least its threshold (above it, if `strict`); posteriors as log-odds, if `opened`."""
    found = np.broadcast_to(np.asarray(thresholds, dtype=np.float64), n_labels)
    return {"rule": "thresholds", "thresholds": found, "strict": strict, "log_odds": opened}


def natural_form(kind: ScoreKind, n_labels: int) -> Form:
    """The decision of `manylabel.models.score_kinds.natural_decisions`."""
    if kind is ScoreKind.LOG_ODDS:
        return threshold_form(0.0, n_labels)
    if kind is ScoreKind.MARGIN:
        return threshold_form(0.0, n_labels, strict=True)
    return {"rule": "top-k", "k": 1}
