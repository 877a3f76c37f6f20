"""Some labels of fitted models side by side: what is left of a model whose labels were retired, added or merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.models.base import WORKING_MEMORY, DocumentScorer, MultiLabelModel, document_scorers
from manylabel.models.evidence import NeighbourVotes, ScoreParts, asked_for, placed_parts
from manylabel.models.exported import ExportedScores, Form, scores_of
from manylabel.models.inputs import AdditiveModel
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import Constraint, Satisfies
from manylabel.stored import Each, Part, Stored, wholes


class LabelColumns(MultiLabelModel):
    """The scores of some labels of one or several fitted models, to the bit; posteriors are scaled to the sum 1 again.

    `model` holds the settings of the models. Labels that are left out stay inside the models, but are neither scored
    nor predicted. Several models must treat each label as a problem of its own (`independent_labels`).

    >>> from manylabel.models.binary_nb import BinaryNaiveBayes
    >>> X, Y = Csr([[2, 0, 1], [0, 2, 1], [1, 1, 0]]), Csr([[1, 0, 0], [0, 1, 1], [1, 1, 0]])
    >>> whole = BinaryNaiveBayes(smoothing="laplace").fit(X, Y)
    >>> bool((LabelColumns.of(whole).of_labels(np.array([2, 0])).scores(X) == whole.scores(X)[:, [2, 0]]).all())
    True
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": Satisfies("a model with fit and scores", lambda value: isinstance(value, MultiLabelModel)),
    }
    models_: list[MultiLabelModel]
    parts_: Ints
    """The model of each label."""
    columns_: Ints
    """The label's column in its model."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "models_": Each(Part(MultiLabelModel, None, "terms"), "models"),
        "parts_": wholes("labels", below="models"),
        "columns_": wholes("labels"),
    }

    def __init__(self, model: MultiLabelModel) -> None:
        self.model = model

    def check_learned(self, state: Mapping[str, Any]) -> dict[str, int]:
        """Also raise `ValueError` where a column is not in its model."""
        sizes = super().check_learned(state)
        widths = np.array([one.n_labels_ for one in state["models_"]])
        if (state["columns_"] >= widths[state["parts_"]]).any():
            raise ValueError("LabelColumns takes columns that a model does not have")
        return sizes

    @classmethod
    def of(cls, *models: MultiLabelModel) -> LabelColumns:
        """All labels of fitted models, in their order; labels that these left out stay so."""
        flat = [one if isinstance(one, cls) else _whole(cls, one) for one in models]
        behind = np.cumsum([0, *(len(one.models_) for one in flat)])
        return flat[0]._with(
            [model for one in flat for model in one.models_],
            np.concatenate([one.parts_ + start for one, start in zip(flat, behind, strict=False)]),
            np.concatenate([one.columns_ for one in flat]),
        )

    def _with(self, models: Sequence[MultiLabelModel], parts: Ints, columns: Ints) -> LabelColumns:
        """The columns of some models, without those models that no label is left of."""
        used, parts = np.unique(parts, return_inverse=True)
        made = type(self)(self.model)
        made.models_ = [models[number] for number in used.tolist()]
        made.parts_, made.columns_ = parts.astype(np.int64), columns.astype(np.int64)
        made.note_shape(models[0].n_features_in_, len(parts))
        return made

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The columns of some of the labels, in this order."""
        return self._with(self.models_, self.parts_[columns], self.columns_[columns])

    # --- the models' own ----------------------------------------------------------------------------------

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the models' scores."""
        return self.model.score_kind

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the models need non-negative input."""
        return self.model.needs_counts

    @property
    def reads_absence(self) -> bool:  # type: ignore[override]
        """Whether absent terms are evidence to the models."""
        return self.model.reads_absence

    @property
    def independent_labels(self) -> bool:  # type: ignore[override]
        """Whether each label is a problem of its own in the models."""
        return self.model.independent_labels

    @property
    def member_name(self) -> str:
        """The name of the models."""
        return self.model.member_name

    # --- more documents and labels ------------------------------------------------------------------------

    @property
    def counts_labels(self) -> bool:
        """Whether there is one model, which keeps counts by label."""
        return len(self.models_) == 1 and self.models_[0].counts_labels

    def regrouped(self, groups: Csr) -> Self:
        """The model of other labels, each with the counts of some of these; what was left out stays inside."""
        model = self.models_[0]
        out = np.setdiff1d(np.arange(model.n_labels_), self.columns_)
        ends = np.concatenate([groups.indptr, groups.nnz + 1 + np.arange(len(out))])
        cells = np.concatenate([groups.data, np.ones(len(out), dtype=groups.dtype)])
        shape = (groups.shape[0] + len(out), model.n_labels_)
        inside = Csr((cells, np.concatenate([self.columns_[groups.indices], out]), ends), shape=shape)
        made = self._with([model.regrouped(inside)], *_first(groups.shape[0]))
        return cast(Self, made)

    def partial_fit(self, X: Csr, Y: Csr) -> Self:
        """Learn from more documents, which have none of the labels that were left out."""
        model = copy(self.models_[0])
        whole = Csr((np.ones(Y.nnz, dtype=np.int8), self.columns_[Y.indices], Y.indptr), (Y.shape[0], model.n_labels_))
        whole.sort_indices()
        self.models_ = [cast(AdditiveModel, model).partial_fit(X, whole)]  # type: ignore[list-item]
        return self

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> MultiLabelModel:
        """One model of all labels; each starts from that of its former model, if that is the first one."""
        own = np.where(columns >= 0, self.columns_[columns], -1)
        first = (columns >= 0) & (self.parts_[columns] == 0)
        return self.models_[0].refit(X, Y, np.where(first, own, -1), **facts)

    # --- scoring ------------------------------------------------------------------------------------------

    def _parts(self) -> Iterator[tuple[MultiLabelModel, Ints]]:
        """Each model, with the places of its labels here."""
        for number, model in enumerate(self.models_):
            yield model, np.flatnonzero(self.parts_ == number)

    def score_batch(self, X: Csr) -> Floats:
        """The models' scores of the labels."""
        scores = np.empty((X.shape[0], self.n_labels_))
        for model, places in self._parts():
            scores[:, places] = model.score_batch(X)[:, self.columns_[places]]
        return self._scaled(scores)

    def _scaled(self, scores: Floats) -> Floats:
        """Posteriors given that none of the labels that were left out is right; other scores as they are."""
        if self.score_kind is not ScoreKind.POSTERIOR:
            return scores
        total = scores.sum(axis=-1, keepdims=True)
        return np.asarray(scores / np.where(total > 0, total, 1.0))

    def document_scorer(self) -> DocumentScorer | None:
        """The models' functions that score one document; None if one of them has none."""
        scorers = document_scorers(self.models_)
        if scorers is None:
            return None
        places_of = [(places, self.columns_[places]) for _, places in self._parts()]

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.empty(self.n_labels_)
            for one, (places, columns) in zip(scorers, places_of, strict=True):
                scores[places] = one(terms, values)[columns]
            return self._scaled(scores)

        return score

    def natural_decision(self, scores: Floats) -> Bools:
        """The models' natural decisions, in which labels that were left out are impossible."""
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        for model, places in self._parts():
            impossible = 0.0 if self.score_kind is ScoreKind.POSTERIOR else -np.inf
            whole = np.full((scores.shape[0], model.n_labels_), impossible)
            whole[:, self.columns_[places]] = scores[:, places]
            chosen[:, places] = model.natural_decision(whole)[:, self.columns_[places]]
        return chosen

    def predict(self, X: object, *, working_memory: int = WORKING_MEMORY) -> Any:
        """The labels that the models predict by themselves, without those that were left out."""
        features = self.features(X)
        chosen = np.zeros((features.shape[0], self.n_labels_), dtype=np.int8)
        for model, places in self._parts():
            predicted = Csr(model.predict(features, working_memory=working_memory))
            chosen[:, places] = predicted[:, self.columns_[places]].toarray()
        return self.in_fitted_form([Csr(chosen)])

    @property
    def is_exportable(self) -> bool:
        """Whether there is one model, whose scores can be exported."""
        models = self.models_ if self.is_fitted else [self.model]
        return len(models) == 1 and models[0].is_exportable

    def exported_scores(self) -> ExportedScores:
        """The model's scores of the labels."""
        found, columns = scores_of(self.models_[0]), self.columns_

        def cells(table: Any) -> Any:
            return None if table is None else table[..., columns]

        blocks = tuple(
            replace(
                block,
                intercept=block.intercept[columns],
                weights=Csr(block.weights[:, columns]) if isinstance(block.weights, Csr) else cells(block.weights),
                loadings=cells(block.loadings),
            )
            for block in found.blocks
        )
        natural: Form | None = None if found.natural is None else {}  # the form of all labels is not one of some
        return replace(
            found, blocks=blocks, weights=cells(found.weights), intercept=cells(found.intercept),
            constant=cells(found.constant), natural=natural,
        )  # fmt: skip

    # --- explaining ---------------------------------------------------------------------------------------

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the models' scores of some labels (default: all), labels × terms."""
        return self.score_parts(x, labels).terms

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the models' scores of one document."""
        document, wanted = asked_for(self, x, labels)
        if len(self.models_) == 1:
            parts = self.models_[0].score_parts(document, self.columns_[wanted])
            others = None if parts.labels is None else Csr(parts.labels[:, self.columns_])
            return replace(parts, labels=others)
        rows, places = [], []
        for number, model in enumerate(self.models_):
            of_model = np.flatnonzero(self.parts_[wanted] == number)
            if len(of_model):
                rows.append(model.score_parts(document, self.columns_[wanted[of_model]]))
                places.append(of_model)
        at = np.concatenate([np.zeros(0, dtype=np.int64), *places])
        return placed_parts(rows, at, np.zeros(len(wanted)), document.shape[1])

    def neighbour_votes(self, x: object) -> NeighbourVotes | None:
        """The training documents that vote on one document, with the labels that are left of theirs."""
        votes = self.models_[0].neighbour_votes(x) if len(self.models_) == 1 else None
        return None if votes is None else replace(votes, label_sets=Csr(votes.label_sets[:, self.columns_]))


def _first(n_labels: int) -> tuple[Ints, Ints]:
    """The first columns of one model."""
    return np.zeros(n_labels, dtype=np.int64), np.arange(n_labels)


def _whole(cls: type[LabelColumns], model: MultiLabelModel) -> LabelColumns:
    """All columns of one model."""
    return cls(unfitted_copy(model))._with([model], *_first(model.n_labels_))
