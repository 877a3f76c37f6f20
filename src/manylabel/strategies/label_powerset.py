"""Label powerset: each label set seen in training is one class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError
from manylabel.kernels.score_batches import batch_scores
from manylabel.models.base import WORKING_MEMORY, MultiLabelModel, row_batches
from manylabel.models.evidence import ScoreParts, asked_for, evidence_table
from manylabel.models.score_kinds import ScoreKind, probabilities
from manylabel.parameters import FLAG, Constraint, Number, OneOf
from manylabel.stored import Matrix, Part, Stored
from manylabel.strategies.scikit_learn_model import ScikitLearnClasses
from manylabel.strategies.two_class import BASE_MODEL, problem_kind
from manylabel.wording import counted


class LabelPowerset(MultiLabelModel):
    """Label sets as classes of a single-label model; `predict` returns the best set.

    A label's score is the log-odds of the summed posteriors of the sets that hold it, P_k = Σ_{S ∋ k} p(S|x):
    a probability of its own, since a document's labels come together and rows need not sum to 1 (score kind
    log_odds). Only sets seen in training can be predicted. Source: Vilar, Castro & Sanchis 2004, section 2.

    `model` is any model of ours or a classifier of scikit-learn. Where its scores s_S are not probabilities (the
    margins of SVMs, similarities), a label's score is that of the best set with it minus that of the best set without,
    max_{S ∋ k} s_S − max_{S ∌ k} s_S (score kind margin), positive where the best set has the label; ±1 for a label in
    every set or in none.

    Sets in fewer than `min_count` documents are dropped with their documents (``rare="drop"``), or split into
    single labels (``rare="split"``: the document counts once for each of its labels). `allow_empty` makes a
    class of the documents without a label, which are left out otherwise.

    >>> from manylabel.models.multinomial_nb import MultinomialNaiveBayes
    >>> X, Y = Csr([[2, 0], [1, 1], [0, 2], [1, 1]]), Csr([[1, 0], [1, 1], [0, 1], [1, 1]])
    >>> strategy = LabelPowerset(MultinomialNaiveBayes()).fit(X, Y)
    >>> strategy.sets_.toarray().tolist(), strategy.model_.label_documents_.tolist()
    ([[1, 0], [1, 1], [0, 1]], [1, 2, 1])
    >>> strategy.predict(X).toarray().tolist()
    [[1, 0], [1, 1], [0, 1], [1, 1]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": BASE_MODEL,
        "min_count": Number(low=1, whole=True),
        "rare": OneOf("drop", "split"),
        "allow_empty": FLAG,
    }
    model_: MultiLabelModel
    sets_: Csr

    learned: ClassVar[Mapping[str, Stored]] = {
        "sets_": Matrix("sets", "labels", ("i1",)),
        "model_": Part(MultiLabelModel, "sets", "terms"),
    }

    def __init__(
        self,
        model: Any,
        min_count: int = 1,
        rare: Literal["drop", "split"] = "drop",
        allow_empty: bool = False,
    ) -> None:
        self.model = model
        self.min_count = min_count
        self.rare = rare
        self.allow_empty = allow_empty

    @property
    def base_model(self) -> MultiLabelModel:
        """The model, adapted where it is a classifier of scikit-learn."""
        return self.model if isinstance(self.model, MultiLabelModel) else ScikitLearnClasses(self.model)

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds where the model gives probabilities, margins otherwise."""
        return problem_kind(self.base_model)

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the model needs non-negative input."""
        return self.base_model.needs_counts

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts about the corpus that the model wants."""
        return self.base_model.wants

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn the sets, then the model with one class per set; `options` go to the model's `fit`."""
        features, targets = self.check_training(X, Y)
        rows, classes, self.sets_ = set_classes(targets.Y, self.min_count, self.rare, self.allow_empty)
        if not len(rows):
            raise DataError(
                f"LabelPowerset: no label set occurs in at least {counted(self.min_count, 'document')}, so there is "
                "nothing to learn. Lower min_count, or use rare='split'."
            )
        ones, ends = np.ones(len(rows), dtype=np.int8), np.arange(len(rows) + 1)
        one_hot = Csr((ones, classes, ends), shape=(len(rows), self.sets_.shape[0]))
        self.model_ = unfitted_copy(self.base_model).fit(features[rows], one_hot, **options)
        return self

    def set_posteriors(self, X: Csr) -> Floats:
        """p(S|x), documents × label sets; log-odds of a one-against-rest model are scaled to sum to 1."""
        shares = probabilities(self.model_.score_batch(X), self.model_.score_kind)
        total = shares.sum(axis=1, keepdims=True)
        return np.asarray(shares / np.where(total == 0, 1.0, total), dtype=np.float64)

    def score_batch(self, X: Csr) -> Floats:
        """Log-odds of each label, its sets against all others, each side summed by itself; or margins."""
        if not self.model_.score_kind.is_probability:
            return self._margins(X)
        holds = self.sets_.astype(np.float64)
        scores = np.empty((X.shape[0], self.n_labels_))
        for rows in row_batches(X.shape[0], holds.shape[0]):
            shares = self.set_posteriors(X[rows])
            with_label = np.asarray(shares @ holds)
            others = batch_scores(shares, 1.0 - holds.toarray()) if self._is_small else 1.0 - with_label
            with np.errstate(divide="ignore"):
                scores[rows] = np.log(with_label) - np.log(np.maximum(others, 0.0))
        never = np.bincount(self.sets_.indices, minlength=self.n_labels_) == 0
        scores[:, never] = -np.inf
        return scores

    def _margins(self, X: Csr) -> Floats:
        """The score of the best set with each label minus that of the best set without it."""
        scores = np.empty((X.shape[0], self.n_labels_))
        holds = sparse.csc_array(self.sets_)
        for rows in row_batches(X.shape[0], self.sets_.shape[0]):
            of_sets = self.model_.score_batch(X[rows])
            for label in range(self.n_labels_):
                own = np.zeros(self.sets_.shape[0], dtype=np.bool_)
                own[holds.indices[holds.indptr[label] : holds.indptr[label + 1]]] = True
                scores[rows, label] = 1.0 if own.all() else -1.0
                if own.any() and not own.all():
                    scores[rows, label] = of_sets[:, own].max(axis=1) - of_sets[:, ~own].max(axis=1)
        return scores

    @property
    def _is_small(self) -> bool:
        """Whether the sets fit densely; 1 − P is then summed by itself, not lost in rounding near P = 1."""
        return self.sets_.shape[0] * self.n_labels_ * 8 <= WORKING_MEMORY // 4

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The best set of each document (ties: the set seen first), or class values for a 1-D `y`.

        These are not always the labels with P ≥ 0.5, which `natural_decision` returns.
        """
        features = self.features(X)
        batches = row_batches(features.shape[0], self.sets_.shape[0], working_memory)
        chosen = [self.model_.score_batch(features[rows]).argmax(axis=1) for rows in batches]
        sets = Csr(self.sets_[np.concatenate([np.zeros(0, dtype=np.intp), *chosen])])
        if self.label_form_ == "single":
            return self.classes_[sets.indices]
        return self.in_fitted_form([sets])

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds for some labels (default: all), labels × terms.

        The evidence for the best set with the label minus that for the best set without it. For naive Bayes, with the
        difference of the sets' log-priors, it adds up to the log-ratio of their posteriors, which the score is near to.
        A label in every set, or in none, has no evidence.
        """
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the log-ratio of the best set with the label to the best set without it, for one document."""
        document, wanted = asked_for(self, x, labels)
        ask = self.model_.log_joint  # posteriors of long documents underflow to 0
        order = np.argsort(-ask(document)[0, : self.sets_.shape[0]], kind="stable")
        holds = sparse.csc_array(self.sets_[order])
        values = np.zeros((len(wanted), document.nnz))
        total = self.score_batch(document)[0, wanted]
        intercept = total.copy()
        for row, label in enumerate(wanted.tolist()):
            ranks = holds.indices[holds.indptr[label] : holds.indptr[label + 1]]
            if 0 < len(ranks) < len(order):
                without = int(np.flatnonzero(np.append(ranks, len(order)) != np.arange(len(ranks) + 1))[0])
                found = self.model_.score_parts(document, order[[int(ranks[0]), without]])
                with_label, rival = found.terms[:, document.indices].toarray()
                values[row] = with_label - rival
                total[row], intercept[row] = -np.diff(found.total)[0], -np.diff(found.intercept)[0]
        quantity = "log-ratio of the best label set with the label to the best one without it"
        if not self.model_.score_kind.is_probability:
            quantity = "score of the best label set with the label minus that of the best one without it"
        return ScoreParts(evidence_table(document, values), total, intercept, quantity=quantity)


def set_classes(Y: Csr, min_count: int, rare: Literal["drop", "split"], allow_empty: bool) -> tuple[Ints, Ints, Csr]:
    """The rows to learn from, the class of each, and the label set of each class (classes × labels).

    Classes are numbered in order of first appearance. A row is repeated where its rare set is split.
    """
    numbers, firsts = _numbered_sets(Y)
    sizes = np.bincount(numbers, minlength=len(firsts))
    lengths = np.diff(Y.indptr)[firsts]
    kept = (sizes >= min_count) & ((lengths > 0) | allow_empty)
    rows = np.flatnonzero(kept[numbers])
    classes = (np.cumsum(kept) - 1)[numbers[rows]]
    sets = Csr(Y[firsts[kept]])
    if rare == "drop":
        return rows, classes, sets
    split = np.flatnonzero((~kept & (lengths > 0))[numbers])
    labels = Y[split].indices
    wanted = np.unique(labels)
    own = _single_label_classes(sets)
    missing = wanted[own[wanted] < 0]
    own[missing] = sets.shape[0] + np.arange(len(missing))
    ones, ends = np.ones(len(missing), dtype=np.int8), np.arange(len(missing) + 1)
    singles = Csr((ones, missing, ends), shape=(len(missing), Y.shape[1]))
    repeated = np.repeat(split, np.diff(Y.indptr)[split])
    stacked = Csr(sparse.vstack([sets, singles], format="csr"))
    return np.concatenate([rows, repeated]), np.concatenate([classes, own[labels]]), stacked


def _numbered_sets(Y: Csr) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """A number for each row's label set, in order of first appearance, and the first row of each."""
    seen: dict[bytes, int] = {}
    firsts: list[int] = []
    indices, starts = np.ascontiguousarray(Y.indices, dtype=np.int64), Y.indptr.tolist()
    numbers = np.empty(Y.shape[0], dtype=np.intp)
    for row in range(Y.shape[0]):
        key = indices[starts[row] : starts[row + 1]].tobytes()
        numbers[row] = seen.setdefault(key, len(seen))
        if len(seen) > len(firsts):
            firsts.append(row)
    return numbers, np.array(firsts, dtype=np.intp)


def _single_label_classes(sets: Csr) -> npt.NDArray[np.intp]:
    """The class that is the set of one label alone, −1 where there is none."""
    own = np.full(sets.shape[1], -1, dtype=np.intp)
    alone = np.flatnonzero(np.diff(sets.indptr) == 1)
    own[sets.indices[sets.indptr[alone]]] = alone
    return own
