"""ConfMat: SVMs that do not have to separate a label from the labels it is confused with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.splits import Split
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.retrained_svm import LINEAR, RetrainedSVM
from manylabel.models.score_kinds import best_label
from manylabel.models.tuning import GRID, TUNED_FOR, VALIDATION, forced_sets, try_settings, validation_splits
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.progress import track
from manylabel.stored import Matrix, Scalar, Sometimes, Stored, reals, wholes
from manylabel.wording import counted, there_are

Hierarchy = Literal["none", "parents", "siblings"]
GRID_BETA = (100.0, 50.0, 20.0, 10.0, 5.0, 2.0, 1.0)
UNTUNED = 100.0
_MATRIX = Satisfies(
    "a labels × labels matrix, above 0 where a confusion is forced",
    lambda value: hasattr(value, "shape") or isinstance(value, (list, tuple)),
)


class ConfMat(RetrainedSVM):
    """Margins of linear SVMs trained without the documents of labels they are confused with.

    1. A fast classifier, trained on some of the documents, labels the others: M_ij is the percentage of documents of
    label i for which it predicts j.   2. The SVM of label i leaves out the negatives that carry any j with M_ij > β. A
    document with both i and j is a positive and stays. One SVM per label is trained.

    `beta` in percent: a small one removes many labels, 100 none (the paper calls both "too small"). It is a number, or
    "tuned": the value of `grid` with the greatest `metric` in cross-validation (`validation`: folds, or a share held
    out once), of equals the first; too few documents to hold any out: 100. `confusion` sets how M itself is learned:
    folds, or a share held out. `multi` counts all wrongly predicted labels of a document, not only the best one.

    The classifier is multinomial naive Bayes with Laplace smoothing (with `multi` one per label; tf-idf is brought to
    the size of counts first, see `in_occurrences`), or any model given as `confuser`. `related` is a labels × labels
    matrix of confusions forced whatever M is: row i, column j above 0 keeps documents of j out of the negatives of i.
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

    learned: ClassVar[Mapping[str, Stored]] = {
        "tried_": Sometimes(reals(None)),
        "beta_": Scalar(),
        "confusion_": Matrix("labels", "labels"),
        "removed_": wholes("labels"),
    }

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
        self.keep(self.svm_to_train().fit(X, Y, excluded=left_out))

    def _forced(self, n_labels: int, parents: npt.ArrayLike | None) -> Csr | None:
        related = None if self.related is None else Csr(self.related)
        if related is not None and related.shape != (n_labels, n_labels):
            raise DataError(f"ConfMat: related has shape {related.shape}, but {there_are(n_labels, 'label')}.")
        if self.hierarchy == "none" or parents is None:
            return related
        if np.shape(parents)[0] < n_labels:
            raise DataError(
                f"ConfMat: parents must name the parent of each of the {counted(n_labels, 'label')}, −1 for none."
            )
        near = Csr(related_labels(parents, self.hierarchy)[:n_labels, :n_labels])  # behind the labels stand groups
        return near if related is None else Csr(near + related)

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

        def predictions(train: Ints, test: Ints) -> Iterator[Csr]:
            X_train, Y_train, X_test = Csr(X[train]), Csr(Y[train]), Csr(X[test])
            M, start, sets, former = self._confusion(X_train, Y_train), None, Csr((0, 0)), None
            for beta in grid:
                left_out = negatives_of_confused(Y_train, confused(M, beta, forced))
                if former is None or not _same(former, left_out):
                    fitted = self.svm_to_train().fit(X_train, Y_train, excluded=left_out, initial=start)
                    start, sets, former = fitted.dual_coef_, forced_sets(fitted, X_test), left_out
                yield sets

        trials = try_settings("Tuning beta", grid, splits, Y, predictions, self.metric)
        self.tried_ = trials.measured
        return grid[trials.best]


def _same(first: Csr, second: Csr) -> bool:
    return first.nnz == second.nnz and abs(first - second).nnz == 0


def confusion_percent(Y_true: Csr, Y_pred: Csr) -> Csr:
    """M_ij: the percentage of the documents of label i for which j is wrongly predicted, labels × labels.

    Of the documents with true label i, the share with j predicted but not true; the diagonal is 0, and so is the row of
    a label without documents. Source: Godbole & Sarawagi 2004, section 4.2, for one predicted label; documents of
    several labels count in the row of each.

    >>> Y_true = Csr(np.array([[1, 0, 0]] * 3 + [[1, 1, 0]] + [[0, 1, 0]] * 2 + [[0, 0, 1]] * 2))
    >>> Y_pred = Csr(np.eye(3, dtype=int)[[0, 1, 1, 1, 1, 0, 2, 0]])
    >>> confusion_percent(Y_true, Y_pred).toarray().round(2).tolist()
    [[0.0, 50.0, 0.0], [33.33, 0.0, 0.0], [50.0, 0.0, 0.0]]
    """
    true, predicted = Y_true.astype(np.float64), Y_pred.astype(np.float64)
    wrong = predicted - predicted.multiply(true)
    documents = np.bincount(Y_true.indices, minlength=Y_true.shape[1])
    found = Csr(true.T @ wrong)
    found.data *= np.repeat(100.0 / np.maximum(documents, 1), np.diff(found.indptr))
    found.eliminate_zeros()
    return found


def in_occurrences(X: Csr) -> Csr:
    """Weighted vectors in units of their mean stored value; counts as they are.

    Laplace smoothing adds one *occurrence* of every term. A term of a tf-idf vector of length 1 has about a tenth of
    that weight, so that smoothing would dominate: on Reuters, naive Bayes on such vectors finds the label of 66 % of
    held-out documents, of 84 % in these units, and of 83 % on counts.

    >>> in_occurrences(Csr(np.array([[0.1, 0.3]]))).toarray().round(6).tolist()
    [[0.5, 1.5]]
    """
    if X.nnz == 0 or np.array_equal(X.data, np.rint(X.data)):
        return X
    return Csr((X.data / X.data.mean(), X.indices, X.indptr), shape=X.shape)


def held_out_confusion(confuser: MultiLabelModel, X: Csr, Y: Csr, splits: Sequence[Split], multi: bool) -> Csr:
    """`confusion_percent` of documents the confuser did not see: of its best label, or with `multi` of its sets."""
    true, predicted = [], []
    for train, test in track("Finding confusions", splits):
        fitted = unfitted_copy(confuser).fit(X[train], Y[train])
        for rows, scores in fitted.score_in_batches(Csr(X[test])):
            chosen = fitted.natural_decision(scores) if multi else best_label(scores)
            true.append(Y[test[rows]])
            predicted.append(Csr(chosen.astype(np.int8)))
    if not true:
        return Csr((Y.shape[1], Y.shape[1]))
    return confusion_percent(Csr(sparse.vstack(true, format="csr")), Csr(sparse.vstack(predicted, format="csr")))


def related_labels(parents: npt.ArrayLike, hierarchy: Hierarchy) -> Csr:
    """1 for labels that a hierarchy makes near: parent and child, and with ``siblings`` children of one parent too.

    >>> related_labels([-1, 0, 0], "parents").toarray().tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> related_labels([-1, 0, 0], "siblings").toarray().tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    parent = np.asarray(parents, dtype=np.int64)
    child = np.flatnonzero(parent >= 0)
    shape = (len(parent), len(parent))
    under = Csr((np.ones(len(child)), (child, parent[child])), shape=shape)
    near: Any = under + under.T
    if hierarchy == "siblings":
        near = near + under @ under.T
    near = sparse.coo_array(near)
    apart = near.row != near.col
    return Csr((np.ones(apart.sum(), dtype=np.int8), (near.row[apart], near.col[apart])), shape=shape)


def confused(M: Csr, beta: float, forced: Csr | None) -> Csr:
    """1 where M_ij > β, or where the confusion of i with j is forced; labels × labels, the diagonal 0."""
    cells = sparse.coo_array(M)
    keep = cells.data > beta
    rows, columns = cells.row[keep], cells.col[keep]
    if forced is not None:
        more = sparse.coo_array(forced)
        rows = np.concatenate([rows, more.row[more.data > 0]])
        columns = np.concatenate([columns, more.col[more.data > 0]])
    apart = rows != columns
    near = Csr((np.ones(apart.sum(), dtype=np.int64), (rows[apart], columns[apart])), shape=M.shape)
    near.sum_duplicates()
    near.data[:] = 1
    return near


def negatives_of_confused(Y: Csr, near: Csr) -> Csr:
    """1 where a label leaves a document out: negatives with a label it is confused with, documents × labels.

    A label that would be left without any negative leaves out nothing.

    >>> Y = Csr(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]))
    >>> near = Csr(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]))
    >>> (negatives_of_confused(Y, near).toarray() == 0).T.astype(int).tolist()
    [[1, 0, 1, 0, 1], [0, 1, 1, 1, 1], [0, 1, 0, 1, 1]]
    """
    carriers = Csr(Y.astype(np.int64) @ near.T)
    carriers.data[:] = 1
    left_out = Csr(carriers - carriers.multiply(Y.astype(np.int64)))
    left_out.eliminate_zeros()
    negatives = Y.shape[0] - np.bincount(Y.indices, minlength=Y.shape[1])
    spared = np.bincount(left_out.indices, minlength=Y.shape[1]) >= negatives
    left_out.data[spared[left_out.indices]] = 0
    left_out.eliminate_zeros()
    return left_out.astype(np.int8)
