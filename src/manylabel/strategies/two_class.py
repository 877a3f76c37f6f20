"""One label as a two-class problem, for any model: ours, or a classifier of scikit-learn.

Binary relevance, chains and co-training ask the same of a model: learn one label from some columns, and score it.
Whatever the model is, the result is one score per document, larger where the label is likelier, with 0 as the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts, removal_evidence
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Satisfies
from manylabel.stored import Sometimes, Stored, flags
from manylabel.strategies.scikit_learn_model import (
    ScikitLearnModel,
    is_scikit_learn_classifier,
    two_class_log_odds,
)

BASE_MODEL = Satisfies(
    "a model of manylabel, or a scikit-learn classifier with decision_function or predict_proba",
    lambda value: isinstance(value, MultiLabelModel) or is_scikit_learn_classifier(value),
)
AnyModel = TypeVar("AnyModel", bound=MultiLabelModel)
_SIGNED = (ScoreKind.LOG_ODDS, ScoreKind.MARGIN)


class TwoClassStrategy(MultiLabelModel):
    """A strategy that learns and scores each label as a two-class problem of `model`.

    A label that every training document has, or none, is constant: there is nothing to learn about it, and its score is
    ±∞ as log-odds, ±1 as a margin.
    """

    model: Any
    always_: Bools
    """Labels that every training document has."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "always_": Sometimes(flags("labels")),
    }

    @property
    def base_model(self) -> MultiLabelModel:
        """The model, adapted where it is a classifier of scikit-learn."""
        return as_model(self.model)

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

    def note_constant_labels(self, Y: Csr) -> Bools:
        """Which labels are constant; stores those that every document has in `always_`."""
        documents = np.bincount(Y.indices, minlength=Y.shape[1])
        constant = np.isin(documents, (0, Y.shape[0]))
        self.always_ = constant & (documents > 0)
        return np.asarray(constant)

    def constant_scores(self, n_documents: int) -> Floats:
        """Scores as if every label were constant, documents × labels; the caller fills in those of the others."""
        certain = np.inf if self.score_kind is ScoreKind.LOG_ODDS else 1.0
        return np.tile(np.where(self.always_, certain, -certain), (n_documents, 1))


def as_model(model: Any) -> MultiLabelModel:
    """A model of ours as it is, a classifier of scikit-learn in its adapter."""
    return model if isinstance(model, MultiLabelModel) else ScikitLearnModel(model)


def problem_kind(model: MultiLabelModel) -> ScoreKind:
    """What the scores of one label are: log-odds where the model gives probabilities, margins otherwise."""
    return ScoreKind.LOG_ODDS if model.score_kind.is_probability else ScoreKind.MARGIN


def fit_problem(model: AnyModel, X: Csr, positive: Bools, binary_columns: int = 0, **options: Any) -> AnyModel:
    """A copy of the model that has learned which rows of X are positive; there must be rows of both kinds.

    The last `binary_columns` columns of X are 0/1 indicators of labels, which a value-weighted model bins by
    themselves. In a problem of one label, a row without it is a negative and never an unlabelled document. A model with
    posteriors or similarities learns two classes, the label and its absence.
    """
    return model.for_two_classes(binary_columns).fit(X, problem_labels(model, positive), **options)


def problem_labels(model: MultiLabelModel, positive: Bools) -> Csr:
    """Y of a two-class problem: the label alone where labels are independent, otherwise its absence and the label."""
    columns = [positive] if model.independent_labels else [~positive, positive]
    return Csr(np.column_stack(columns).astype(np.int8))


def problem_scores(fitted: MultiLabelModel, X: Csr) -> Floats:
    """The score of the label for each row of checked X: log-odds or a margin, see `problem_kind`."""
    scores = fitted.score_batch(X)
    if fitted.score_kind in _SIGNED:
        return np.asarray(scores[:, -1])
    if fitted.score_kind is ScoreKind.SIMILARITY:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return two_class_log_odds(scores[:, 0], scores[:, 1])


def problem_decisions(fitted: MultiLabelModel, scores: Floats) -> Bools:
    """Which scores predict the label: the model's own rule; above 0 where two classes compete (a tie is no label)."""
    if fitted.score_kind in _SIGNED:
        return np.asarray(fitted.natural_decision(scores.reshape(-1, 1)).reshape(scores.shape))
    return np.asarray(scores > 0)


def problem_parts(fitted: MultiLabelModel, document: Csr) -> ScoreParts:
    """The parts of the score of the label for one checked document; by removal where two classes compete.

    Where their log-odds are sums, as in naive Bayes, what the score loses without a term is the term's summand.
    """
    if fitted.score_kind in _SIGNED:
        return fitted.score_parts(document, [fitted.n_labels_ - 1])
    terms = removal_evidence(lambda X: problem_scores(fitted, X)[:, np.newaxis], document)
    return ScoreParts(terms, problem_scores(fitted, document), np.array([np.nan]))


def carriers(by_label: sparse.csc_array, label: int) -> Bools:
    """Which documents have a label, from Y stored by columns."""
    rows = np.zeros(by_label.shape[0], dtype=np.bool_)
    rows[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
    return rows


def for_rows(options: Mapping[str, Any], rows: npt.NDArray[Any]) -> dict[str, Any]:
    """The options of `fit` for some of the documents: `sample_weight`, where given, is one number per document."""
    chosen = dict(options)
    if chosen.get("sample_weight") is not None:
        chosen["sample_weight"] = np.asarray(chosen["sample_weight"])[rows]
    return chosen
