"""A weighted model that reads several views of the documents, each weighed and scaled by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, unfitted_copy
from manylabel.exceptions import ParameterError
from manylabel.features.weighting import Weighting
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.parameters import Constraint, Number, Satisfies
from manylabel.stored import Each, Maybe, Part, Sizes, Stored
from manylabel.strategies.weighted_member import WeightedMember

WIDTH = Number(low=1, whole=True)


class ViewedMember(WeightedMember):
    """A model that reads the first views of the documents, each of which `weighting` weighs and scales by itself.

    `widths` are the numbers of columns of these views, from the left; columns behind them are not read, of which the
    last `vectors` hold vectors and so may be negative. The weighted views stand side by side, divided by the square
    root of their number, so that documents of unit length in each view have unit length together. With one view it is a
    `WeightedMember` of the first columns.

    >>> from manylabel.models.linear_svm import LinearSVM
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]]), Csr([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> member = ViewedMember(LinearSVM(), Weighting(idf="none"), widths=(2, 1)).fit(X, Y)
    >>> member.predict(X).toarray().tolist()
    [[1, 0], [0, 1], [1, 1], [0, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        **{name: WeightedMember.parameter_constraints[name] for name in ("model", "weighting", "vectors")},
        "widths": Satisfies(
            "a list of whole numbers above 0",
            lambda value: (
                isinstance(value, (list, tuple)) and len(value) > 0 and all(WIDTH.allows(one) for one in value)
            ),
        ),
    }
    further_: list[Weighting]
    """The weightings of the views behind the first one."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "weighting_": Maybe(Part(Weighting)),
        "further_": Each(Part(Weighting), None),
        "model_": Part(MultiLabelModel, "labels"),
    }

    def __init__(
        self, model: MultiLabelModel, weighting: Weighting | None = None, vectors: int = 0, *, widths: Sequence[int]
    ) -> None:
        super().__init__(model, weighting, vectors, "terms")
        self.widths = widths

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless the weightings and the model have the widths of the views."""
        sizes = super().check_learned(state)
        weightings = [] if state["weighting_"] is None else [state["weighting_"], *state["further_"]]
        widths = [len(one.document_frequency_) for one in weightings] or list(self.widths)
        read = sum(self.widths)
        if widths != list(self.widths) or state["model_"].n_features_in_ != read or read > state["n_features_in_"]:
            raise ValueError("ViewedMember has weightings or a model of other widths than its views")
        return sizes

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        """The first column of each view, and the one behind its last."""
        return list(pairwise(accumulate(self.widths, initial=0)))

    def _columns(self, n_columns: int) -> slice:
        """The columns of X that the model reads."""
        return slice(0, sum(self.widths))

    @property
    def scale(self) -> float:
        """What the weighted terms of each view are multiplied by."""
        return 1.0 / float(np.sqrt(len(self.widths)))

    def _fit_weighting(self, X: Csr) -> None:
        if X.shape[1] < sum(self.widths):
            raise ParameterError(
                f"ViewedMember: X has {X.shape[1]} columns, fewer than views of {self.widths} columns."
            )
        views = [Csr(X[:, first:behind]) for first, behind in self._bounds]
        self.weighting_, self.further_ = None, []
        if self.weighting is not None:
            self.weighting_, *self.further_ = (unfitted_copy(self.weighting).fit(view) for view in views)

    def _take_weighting(self, other: WeightedMember) -> None:
        assert isinstance(other, ViewedMember)
        self.weighting_, self.further_ = other.weighting_, other.further_

    def _weighs_as(self, other: WeightedMember) -> bool:
        return (
            isinstance(other, ViewedMember)
            and super()._weighs_as(other)
            and len(self.further_) == len(other.further_)
            and all(np.array_equal(a.idf_, b.idf_) for a, b in zip(self.further_, other.further_, strict=True))
        )

    def _weighed(self, X: Csr) -> Csr:
        if len(self.widths) == 1 or self.weighting_ is None:
            return self._weighted_terms(Csr(X[:, self._columns(X.shape[1])]))
        views = zip((self.weighting_, *self.further_), self._bounds, strict=True)
        blocks = [weighting.transform(X[:, first:behind]) for weighting, (first, behind) in views]
        return Csr(sparse.hstack(blocks, format="csr") * self.scale)

    def document_scorer(self) -> DocumentScorer | None:
        """The model's function that scores one document, applied to the weighted terms of the views."""
        score = self.model_.document_scorer()
        if score is None or (self.weighting_ is not None and self.model.needs_counts):
            return None
        weightings = [] if self.weighting_ is None else [self.weighting_, *self.further_]
        bounds, scale = self._bounds, self.scale
        behind_last = bounds[-1][1]

        def scored(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            if not weightings:
                read = terms.searchsorted(behind_last)
                return score(terms[:read], values[:read])
            parts = []
            for weighting, (first, behind) in zip(weightings, bounds, strict=True):
                own = slice(*terms.searchsorted((first, behind)))
                parts.append(weighting.weigh_one(terms[own] - np.int32(first), values[own]))
            weighed = np.concatenate(parts)
            return score(terms[: len(weighed)], weighed * scale if len(parts) > 1 else weighed)

        return scored

    @property
    def is_exportable(self) -> bool:
        """False: an export reads texts in one way."""
        return False
