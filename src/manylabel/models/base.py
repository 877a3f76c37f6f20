"""The base class of models: X and Y in, scores of a declared kind out.

A method inherits `MultiLabelModel` and implements `learn` and `score_batch`. Input checks, the single-label case,
batches and scikit-learn's interface are implemented here once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.features.facts import FACTS
from manylabel.models.changing import ChangingModel
from manylabel.models.evidence import NeighbourVotes, ScoreParts, asked_for, removal_evidence
from manylabel.models.inputs import LabelForm, Targets, cannot_weigh, check_features, check_scores, check_targets
from manylabel.models.score_kinds import Bools, ScoreKind, natural_decisions, on_an_open_scale, probabilities
from manylabel.models.smoothing import counts_of_counts, label_log_odds
from manylabel.stored import Maybe, Sometimes, Stored, Values, Word, finite_reals, total

WORKING_MEMORY = 256 * 2**20
"""Bytes a batch of dense scores may take when a whole corpus is predicted."""

Columns: TypeAlias = npt.NDArray[np.int32]
DocumentScorer: TypeAlias = Callable[[Columns, Floats], Floats]


def row_batches(n_rows: int, n_columns: int, working_memory: int = WORKING_MEMORY) -> Iterator[slice]:
    """Slices of rows such that three float64 matrices of a batch's shape stay within the memory budget.

    >>> [(rows.start, rows.stop) for rows in row_batches(5, 10, working_memory=480)]
    [(0, 2), (2, 4), (4, 5)]
    """
    size = max(1, working_memory // (24 * max(1, n_columns)))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def document_scorers(models: Iterable[MultiLabelModel]) -> list[DocumentScorer] | None:
    """The functions of several models that score one document; None where one of them has none."""
    scorers = [model.document_scorer() for model in models]
    found = [scorer for scorer in scorers if scorer is not None]
    return found if len(found) == len(scorers) else None


class MultiLabelModel(ChangingModel):
    """The base class of methods that score labels.

    Subclasses declare the kind of their scores (`score_kind`) and whether they need non-negative input
    (`needs_counts`), and implement `learn(X, Y)` and `score_batch(X)`, both on checked CSR matrices.

    Y is a documents × labels matrix of 0 and 1, sparse or dense; predictions have the same form. A 1-D `y` is the
    single-label case: one column per class value, and `predict` returns class values.
    """

    score_kind: ScoreKind = ScoreKind.POSTERIOR
    needs_counts: ClassVar[bool] = False
    wants: ClassVar[frozenset[str]] = frozenset()
    """Facts about the corpus that `fit` takes as keywords where they are known, see `Facts`."""

    reads_absence: ClassVar[bool] = False
    """Whether absent terms are evidence by the method's formula, so that a document without terms is decided like any
    other. Elsewhere a classifier predicts no label for it."""

    independent_labels: ClassVar[bool] = False
    """Whether each label is a two-class problem of its own, documents without it being negatives."""

    additive_scores: ClassVar[bool] = False
    """Whether a score is a sum in which every column of X has a term of its own. Strategies that add label columns
    then work out what each label adds once, instead of scoring the documents again for every change."""

    hides_labels: ClassVar[bool] = False
    """Whether `hiding_labels` is offered."""

    weighs_documents: ClassVar[bool] = False
    """Whether `fit_weighted` is offered."""

    learns_labels_apart: ClassVar[bool] = False
    """Whether one fit can learn each label from documents and costs of its own, and models of some labels can become
    one: whether `for_labels`, `fit_with_costs`, `fit_excluding`, `scores_of_label` and `joined` are offered. Implies
    `independent_labels`."""

    scores_candidates: ClassVar[bool] = False
    """Whether `score_candidates` is offered: whether all but some labels of a document are impossible."""

    learns_rule: ClassVar[bool] = False
    """Whether the class takes a decision rule, `rule`, and learns it in `fit`."""

    starts_warm: ClassVar[bool] = False
    """Whether `fit_after` can start from the solution of another model, and so be faster than `fit`."""
    trial_settings: ClassVar[Mapping[str, Any]] = {}
    """Settings that make a fit cheaper and are exact enough to choose between settings, where there are such."""

    bin_weights_: Floats | None = None
    """The mean weight of each frequency bin, see `mean_bin_weights`; None for methods without such bins."""
    n_features_in_: int
    n_labels_: int
    classes_: npt.NDArray[Any]
    label_form_: LabelForm

    # --- what a method writes -----------------------------------------------------------------------------

    learned: ClassVar[Mapping[str, Stored]] = {
        "n_features_in_": total("terms"),
        "n_labels_": total("labels"),
        "classes_": Values("labels"),
        "label_form_": Word(("sparse", "dense", "single")),
        "bin_weights_": Sometimes(Maybe(finite_reals(3, None))),  # the rows of plain_bin_weights
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ScoreKind.check(cls.__name__, cls.score_kind)

    def learn(self, X: Csr, Y: Csr) -> None:
        """Learn from checked data; X is non-negative if `needs_counts`, Y holds 0 and 1."""
        raise NotImplementedError(f"{type(self).__name__} has to define learn(X, Y).")

    def score_batch(self, X: Csr) -> Floats:
        """Scores, documents × labels, of checked documents."""
        raise NotImplementedError(f"{type(self).__name__} has to define score_batch(X).")

    def scores_a_document(self, n_labels: int) -> int:
        """How many labels of a document have scores at most: all, unless `scores_candidates`."""
        return n_labels

    def score_candidates(self, X: Csr) -> Csr:
        """The scores of the possible labels of checked documents, of others none. Only if `scores_candidates`."""
        raise NotImplementedError

    def document_scorer(self) -> DocumentScorer | None:
        """A function that scores one document given as its terms (sorted) and values, without building a matrix.

        It must agree with `score_batch`. None where a method has no such short cut.
        """
        return None

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """How many terms occur r times in `counts` of the unpruned vocabulary; None where `fit` has no use for it.

        A discount estimated after pruning would rest on the very terms that pruning removed. A document counts once
        per label.
        """
        if "counts_of_counts" not in self.wants:
            return None
        return counts_of_counts(counts.T @ np.diff(Y.indptr))

    @property
    def is_additive(self) -> bool:
        """Whether models learned from the pieces of a corpus add up: then there are `partial_fit` and `merge`."""
        return False

    @property
    def is_exportable(self) -> bool:
        """Whether the scores are linear in what is read from the counts: then it is an `ExportableModel`."""
        return False

    @property
    def chosen(self) -> Mapping[str, Any]:
        """The settings that the method tuned by itself, by name; empty for most methods."""
        return {}

    def log_joint(self, X: object) -> Floats:
        """The scores on a scale that does not underflow; naive Bayes gives log p(label, document) here."""
        return self.scores(X)

    def label_coefficients(self) -> Floats | None:
        """Labels × labels: what the presence of one label adds to the score of another; None for most methods."""
        return None

    def remarks(self, X: Csr) -> dict[str, Any]:
        """The method's remarks on how it made its predictions for checked documents; empty for most methods."""
        return {}

    def for_two_classes(self, binary_columns: int = 0) -> Self:
        """An unfitted copy for two-class problems, in which a document without the label is always a negative.

        The last `binary_columns` columns of X are 0/1 indicators of labels, which some methods treat apart from terms.
        """
        return unfitted_copy(self)

    def hiding_labels(self, n_labels: int, hidden: Literal["own", "later"]) -> Self:
        """An unfitted copy that learns each label from terms and other labels, all labels in one `fit`.

        The last `n_labels` columns of X are 0/1 indicators of the labels of Y. No label reads its own column
        (``"own"``), or none from its own column on (``"later"``). Only where `hides_labels`.
        """
        raise NotImplementedError

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn from documents with weights: weight 2 counts a document twice. Only if `weighs_documents`."""
        raise cannot_weigh(type(self).__name__)

    def for_labels(self, labels: Ints) -> Self:
        """An unfitted copy for some of the labels, with their settings. Only if `learns_labels_apart`."""
        raise NotImplementedError

    def fit_with_costs(self, X: Csr, Y: Csr, costs: Floats) -> Self:
        """Learn, where a document with label l costs `costs[l]` times as much. Only if `learns_labels_apart`."""
        raise NotImplementedError

    def fit_excluding(self, X: Csr, Y: Csr, excluded: Csr) -> Self:
        """Learn each label without some of the documents that do not have it: documents × labels, 1 if excluded."""
        raise NotImplementedError

    def scores_of_label(self, X: Csr, label: int) -> Floats:
        """The scores of one label, computed without those of the others. Only if `learns_labels_apart`."""
        raise NotImplementedError

    def joined(self, models: Sequence[Self], n_features: int, columns: Sequence[Columns] | None = None) -> Self:
        """One model with the settings of this one and the labels of several, in their order.

        `columns` are the columns of X that each model learned from, out of `n_features`; None where it is all of them.
        Other columns add nothing to its scores. Only if `learns_labels_apart`.
        """
        raise NotImplementedError

    def prior_log_odds(self, label_documents: npt.ArrayLike, n_documents: int) -> Floats:
        """The log-odds of each label before a document is read, from the number of documents that have it."""
        return label_log_odds(label_documents, n_documents)

    def natural_decision(self, scores: Floats) -> Bools:
        """The labels predicted when no decision rule was learned; see `natural_decisions`."""
        return natural_decisions(scores, self.score_kind)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        By default, what a score loses when the term is removed from the document; posteriors are compared as log-odds.
        A method whose scores are sums over terms overrides this with the summands.
        """
        document, wanted = asked_for(self, x, labels)

        def score(X: Csr) -> Floats:
            return on_an_open_scale(self.score_batch(X), self.score_kind)[:, wanted]

        return removal_evidence(score, document)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores of some labels (default: all), see `ScoreParts`; here by removal."""
        document, wanted = asked_for(self, x, labels)
        total = on_an_open_scale(self.score_batch(document), self.score_kind)[0, wanted]
        quantity = "log-odds" if self.score_kind is ScoreKind.POSTERIOR else "score"
        return ScoreParts(self.evidence(document, wanted), total, np.full(len(wanted), np.nan), quantity=quantity)

    @property
    def member_name(self) -> str:
        """The name of the model as a member of an ensemble."""
        return type(self).__name__

    def neighbour_votes(self, x: object) -> NeighbourVotes | None:
        """The training documents that vote on one document; None for methods without neighbours."""
        return None

    # --- learning -----------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object) -> Self:
        """Learn from documents × terms `X` and their labels `Y`; what was learned before is forgotten."""
        features, targets = self.check_training(X, Y)
        self.learn(features, targets.Y)
        return self

    def fit_after(self, other: Any, X: Csr, Y: Csr, **facts: Any) -> Self:
        """Learn what `fit` learns, starting from the solution of another fitted model of the same class, or None.

        The other model was fitted to the same documents with other settings. See `starts_warm`.
        """
        return self.fit(X, Y, **facts)

    def fit_keeping(self, X: Csr, Y: Csr, **facts: Any) -> Csr | None:
        """Learn what `fit` learns; return the solution, documents × labels, or None if the model cannot start from one.

        Some of its rows, given as ``fit(..., initial=rows)``, are where a copy starts that learns from these documents.
        """
        self.fit(X, Y, **facts)
        return None

    def check_training(self, X: object, Y: object) -> tuple[Csr, Targets]:
        """Check parameters and training data, forget what was learned, and note the shape of the problem."""
        self.check_parameters()
        self.forget()
        if Y is None:
            check_targets(self, Y, 0)
        features = check_features(self, X, reset=True, non_negative=self.needs_counts)
        targets = check_targets(self, Y, features.shape[0])
        self.note_targets(targets)
        return features, targets

    def wanted(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of `fit` without those facts about the corpus (`FACTS`) that this model does not want."""
        return {name: fact for name, fact in facts.items() if name in self.wants or name not in FACTS}

    def note_targets(self, targets: Targets) -> None:
        """Store the classes, the form and the number of labels of `Y`."""
        self.classes_, self.label_form_ = targets.classes, targets.form
        self.n_labels_ = len(targets.classes)

    def note_shape(self, n_features: int, n_labels: int) -> None:
        """Store the shape of a problem with label sets whose documents are not at hand: their tables are."""
        self.n_features_in_, self.n_labels_ = n_features, n_labels
        self.classes_, self.label_form_ = np.arange(n_labels), "sparse"

    def features(self, X: object) -> Csr:
        """Checked documents × terms, of the width seen in `fit`."""
        self.check_fitted()
        return check_features(self, X, reset=False, non_negative=self.needs_counts)

    # --- scoring ------------------------------------------------------------------------------------------

    def scores(self, X: object) -> Floats:
        """Scores of kind `score_kind`, documents × labels, of one batch of documents."""
        checked = self.features(X)
        return check_scores(self, self.score_batch(checked), checked.shape[0])

    def decision_function(self, X: object) -> Floats:
        """The scores; for a single-label problem of two classes, the lead of the second over the first."""
        scores = self.scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0]) if self.is_two_class else scores

    @property
    def is_two_class(self) -> bool:
        """Whether this is a single-label problem of two classes."""
        return self.label_form_ == "single" and self.n_labels_ == 2

    @property
    def predict_proba(self) -> Callable[[object], Floats]:
        """``predict_proba(X)``: probabilities, documents × labels; only where scores are probabilities.

        Rows of a single-label problem sum to 1; those of a multi-label problem need not.
        """
        if not self.score_kind.is_probability:
            raise AttributeError(f"{type(self).__name__} has scores of kind '{self.score_kind}', not probabilities.")
        return self._predict_proba

    def _predict_proba(self, X: object) -> Floats:
        shown = probabilities(self.scores(X), self.score_kind)
        if self.label_form_ != "single" or self.score_kind is ScoreKind.POSTERIOR:
            return shown
        total = shown.sum(axis=1, keepdims=True)
        return np.where(total == 0, 1.0 / self.n_labels_, shown / np.where(total == 0, 1.0, total))

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """Labels by the method's natural rule, in batches that keep within `working_memory` bytes.

        0/1 CSR where Y was sparse, a dense 0/1 array where it was dense, class values where it was 1-D.
        """
        features = self.features(X)
        if self.label_form_ == "single":
            best = [scores.argmax(axis=1) for _, scores in self.score_in_batches(features, working_memory)]
            return self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]
        chosen = [
            Csr(self.natural_decision(scores).astype(np.int8))
            for _, scores in self.score_in_batches(features, working_memory)
        ]
        return self.in_fitted_form(chosen)

    def score_in_batches(self, X: Csr, working_memory: int = WORKING_MEMORY) -> Iterator[tuple[slice, Floats]]:
        """The scores of checked documents, a bounded batch of rows at a time."""
        for rows in row_batches(X.shape[0], self.n_labels_, working_memory):
            whole = rows.start == 0 and rows.stop == X.shape[0]
            yield rows, check_scores(self, self.score_batch(X if whole else X[rows]), rows.stop - rows.start)

    def in_fitted_form(self, batches: list[Csr]) -> Any:
        """Batches of decisions as one matrix, sparse or dense as Y was in `fit`."""
        if not batches:
            batches = [Csr(np.zeros((0, self.n_labels_), dtype=np.int8))]
        decided = batches[0] if len(batches) == 1 else Csr(sparse.vstack(batches, format="csr"))
        return decided if self.label_form_ == "sparse" else decided.toarray().astype(np.int64)

    def score(self, X: object, y: object) -> float:
        """The micro-averaged F1 of the predictions; for one class per document this is the accuracy."""
        from manylabel.metrics import DEFAULT_METRIC, compute_metrics

        features = self.features(X)
        predicted = self.predict(features)
        if self.label_form_ == "single":
            return float(np.mean(predicted == np.asarray(y)))
        Y_true, Y_pred = (check_targets(self, labels, features.shape[0]).Y for labels in (y, predicted))
        return compute_metrics(Y_true, Y_pred, [DEFAULT_METRIC])[DEFAULT_METRIC]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        # Counts say nothing of blobs in the plane, on which scikit-learn's checks measure accuracy.
        tags.classifier_tags = ClassifierTags(multi_class=True, multi_label=True, poor_score=self.needs_counts)
        tags.target_tags.required = True
        tags.input_tags.positive_only = self.needs_counts
        return tags
