"""ConfMat: machines that do not have to tell a label from the labels it is mistaken for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.over_linear_svm import LINEAR, OverLinearSVM
from manylabel.models.tuning import GRID, TUNED_FOR, VALIDATION, forced_sets, try_settings, validation_splits
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.strategies.confusion import (
    Hierarchy,
    confused,
    held_out_confusion,
    in_occurrences,
    negatives_of_confused,
    related_labels,
)

GRID_BETA = (100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0)
UNTUNED = 100.0
_MATRIX = Satisfies(
    "a labels × labels matrix, above 0 where a confusion is forced",
    lambda value: hasattr(value, "shape") or isinstance(value, (list, tuple)),
)


class ConfMat(OverLinearSVM):
    """Margins of linear machines trained without the documents of labels they are confused with.

    1. A fast classifier, trained on one part of the documents, labels the other: M_ij is the percentage of documents of
    label i that it takes for j.   2. The machine of label i leaves out the negatives that carry any j with M_ij > β. A
    document with both i and j is a positive and stays. One set of machines is trained.

    `beta` in percent: a small one removes many classes, 100 none (the paper says "too small" of both). It is a number,
    or "tuned": the value of `grid` with the greatest `metric` in cross-validation (`validation`: folds, or a share
    held out once), of equals the first; too few documents to hold any out: 100. `confusion` says how M itself is
    learned: folds, or a share held out. `multi` counts all labels a document was wrongly given, not its best one only.

    The classifier is multinomial naive Bayes with Laplace smoothing (with `multi` one per label; tf-idf is brought to
    the size of counts first, see `in_occurrences`), or any model given as `confuser`. `related` is a labels × labels
    matrix of confusions forced whatever M says: row i, column j above 0 keeps documents of j out of the negatives of i.
    `hierarchy` makes it from the label hierarchy, where the data has one: ``parents`` forces parent and child,
    ``siblings`` the children of one parent too.

    A label that would have no negative left is trained on all of them. Source: Godbole & Sarawagi 2004, section 4.2;
    M for documents of several labels is in `confusion_percent`. The splits use the `seed` of `model`.

    >>> X = np.array([[2.0, 0, 0], [0, 2, 0], [1, 1, 0], [0, 1, 1], [0, 0, 2]])
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])
    >>> model = ConfMat(LinearSVM(), beta=100, related=[[0, 1, 0], [0, 0, 0], [1, 0, 0]]).fit(X, Y)
    >>> model.removed_.tolist()
    [2, 0, 2]
    """

    needs_counts: ClassVar[bool] = True
    wants: ClassVar[frozenset[str]] = frozenset({"parents"})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": LINEAR,
        "beta": AnyOf(OneOf("tuned"), Number(low=0, high=100)),
        "multi": FLAG,
        "confuser": AnyOf(
            OneOf(None), Satisfies("a model of manylabel", lambda value: isinstance(value, MultiLabelModel))
        ),
        "confusion": VALIDATION,
        "related": AnyOf(OneOf(None), _MATRIX),
        "hierarchy": OneOf("none", "parents", "siblings"),
        "grid": GRID,
        "validation": VALIDATION,
        "metric": TUNED_FOR,
    }
    confusion_: Csr
    """M in percent, labels × labels."""
    beta_: float
    tried_: Floats
    """The metric of each value of the grid, where β was tuned."""
    removed_: Ints
    """How many negatives each label left out."""

    def __init__(
        self,
        model: LinearSVM,
        beta: float | Literal["tuned"] = "tuned",
        multi: bool = False,
        confuser: MultiLabelModel | None = None,
        confusion: float = 5,
        related: Any = None,
        hierarchy: Hierarchy = "none",
        grid: npt.ArrayLike = GRID_BETA,
        validation: float = 3,
        metric: str = "jaccard",
    ) -> None:
        self.model = model
        self.beta = beta
        self.multi = multi
        self.confuser = confuser
        self.confusion = confusion
        self.related = related
        self.hierarchy: Hierarchy = hierarchy
        self.grid = grid
        self.validation = validation
        self.metric = metric

    @property
    def chosen(self) -> dict[str, float]:
        """The threshold of confusions, where it was tuned."""
        return {"beta": self.beta_} if self.beta == "tuned" else {}

    def fit(self, X: object, Y: object, parents: npt.ArrayLike | None = None) -> Self:
        """Learn; `parents` holds for each label the column of its parent, −1 for a root."""
        features, targets = self.check_training(X, Y)
        self._learn(features, targets.Y, self._forced(targets.Y.shape[1], parents))
        return self

    def _learn(self, X: Csr, Y: Csr, forced: Csr | None) -> None:
        self.beta_ = self._tuned(X, Y, forced) if self.beta == "tuned" else float(self.beta)
        self.confusion_ = self._confusion(X, Y)
        left_out = negatives_of_confused(Y, confused(self.confusion_, self.beta_, forced))
        self.removed_ = np.bincount(left_out.indices, minlength=Y.shape[1]).astype(np.int64)
        self.keep(self.machine().fit(X, Y, excluded=left_out))

    def _forced(self, n_labels: int, parents: npt.ArrayLike | None) -> Csr | None:
        given = None if self.related is None else Csr(self.related)
        if given is not None and given.shape != (n_labels, n_labels):
            raise DataError(f"ConfMat: related has shape {given.shape}, but there are {n_labels} labels.")
        if self.hierarchy == "none" or parents is None:
            return given
        if np.shape(parents)[0] < n_labels:
            raise DataError(f"ConfMat: parents must name the parent of each of the {n_labels} labels, −1 for none.")
        near = Csr(related_labels(parents, self.hierarchy)[:n_labels, :n_labels])  # behind the labels stand groups
        return near if given is None else Csr(near + given)

    def _confusion(self, X: Csr, Y: Csr) -> Csr:
        confuser = self.confuser
        if confuser is None:
            confuser = (
                BinaryNaiveBayes(smoothing="laplace") if self.multi else MultinomialNaiveBayes(smoothing="laplace")
            )
        splits = validation_splits(Y, self.confusion, self.model.seed)
        return held_out_confusion(confuser, in_occurrences(X), Y, splits, self.multi)

    def _tuned(self, X: Csr, Y: Csr, forced: Csr | None) -> float:
        grid = [float(value) for value in np.asarray(self.grid)]
        splits = validation_splits(Y, self.validation, self.model.seed)
        if not splits:
            return UNTUNED

        def answers(train: Ints, test: Ints) -> Iterator[Csr]:
            seen, truth, asked = Csr(X[train]), Csr(Y[train]), Csr(X[test])
            M, start, sets, former = self._confusion(seen, truth), None, Csr((0, 0)), None
            for beta in grid:
                left_out = negatives_of_confused(truth, confused(M, beta, forced))
                if former is None or not _same(former, left_out):
                    machine = self.machine().fit(seen, truth, excluded=left_out, initial=start)
                    start, sets, former = machine.dual_coef_, forced_sets(machine, asked), left_out
                yield sets

        trials = try_settings("Tuning beta", grid, splits, Y, answers, self.metric)
        self.tried_ = trials.measured
        return grid[trials.best]


def _same(first: Csr, second: Csr) -> bool:
    return first.nnz == second.nnz and abs(first - second).nnz == 0
