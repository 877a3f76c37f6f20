"""Labels scored by the words that a document shares with the label's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.features.weighting import Weighting
from manylabel.kernels.label_tables import score_one
from manylabel.kernels.score_batches import batch_scores
from manylabel.models import label_axis
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, evidence_table
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint, Satisfies
from manylabel.stored import Matrix, Part, Stored
from manylabel.strategies.described import distinctive


class NameWords(MultiLabelModel):
    """The cosine of a document and each label's name, both as weighted terms of length 1.

    s_dl = cos(v_d, u_l)

    v is the document as `weighting` weighs it, u the name, in which a word that many names share counts for less
    (`distinctive`). Document frequencies are learned from the documents, names are given: `fit` takes them as
    `name_terms`, labels × terms. So it knows as much of a label with a single document as of any other, and serves as a
    member of a stack, which learns how much names are worth. A label whose name has no known term has the score 0 for
    every document.

    >>> X, Y = Csr([[2, 0, 1], [0, 1, 1]]), Csr([[1, 0], [0, 1]])
    >>> model = NameWords(Weighting(idf="none")).fit(X, Y, name_terms=Csr([[1, 0, 0], [0, 1, 0]]))
    >>> model.scores(X).round(2).tolist()
    [[0.89, 0.0], [0.0, 0.71]]
    """

    score_kind = ScoreKind.SIMILARITY
    needs_counts = True
    wants = frozenset({"name_terms"})
    independent_labels: ClassVar[bool] = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "weighting": Satisfies("a Weighting", lambda value: isinstance(value, Weighting))
    }
    weighting_: Weighting
    names_: Csr
    """Terms × labels: the weighted words of the names."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "weighting_": Part(Weighting, terms="terms"),
        "names_": Matrix("terms", "labels", ("f8",)),
    }

    def __init__(self, weighting: Weighting) -> None:
        self.weighting = weighting

    def fit(self, X: object, Y: object, name_terms: Csr | None = None) -> Self:
        """Learn document frequencies, and weigh the words of names; without names, all scores are 0."""
        features, targets = self.check_training(X, Y)
        shape = targets.Y.shape[1], features.shape[1]
        names = Csr(shape) if name_terms is None else Csr(name_terms)
        if names.shape != shape:
            raise ValueError(f"name_terms has the shape {names.shape}, but labels × columns of X are {shape}.")
        self.weighting_ = unfitted_copy(self.weighting).fit(features)
        self.names_ = Csr(distinctive(self.weighting_.transform(names)).T.tocsr())
        return self

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The names of some labels."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The names of the labels of both, where documents are weighed alike."""
        alike = isinstance(other, NameWords) and np.array_equal(self.weighting_.idf_, other.weighting_.idf_)
        return label_axis.beside(self, other) if alike else super().beside(other)

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: object) -> MultiLabelModel:
        """The same names for labels that were known before; new ones have none."""
        made = unfitted_copy(self)
        _, targets = made.check_training(X, Y)
        known = np.flatnonzero(columns >= 0)
        cells = np.ones(len(known)), (columns[known], known)
        made.weighting_ = self.weighting_
        made.names_ = Csr(self.names_ @ Csr(cells, shape=(self.n_labels_, targets.Y.shape[1])))
        return made

    def score_batch(self, X: Csr) -> Floats:
        """The cosines, documents × labels."""
        return batch_scores(self.weighting_.transform(X), self.names_)

    def document_scorer(self) -> DocumentScorer:
        """A function that scores one document."""
        names, weigh = self.names_, self.weighting_.weigh_one

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.zeros(names.shape[1])
            score_one(terms, weigh(terms, values), names.indptr, names.indices, names.data, scores)
            return scores

        return score

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to the cosine, labels × terms."""
        document, wanted = asked_for(self, x, labels)
        weighed = self.weighting_.transform(document)
        weights = self.names_[weighed.indices][:, wanted].toarray()
        return evidence_table(weighed, weighed.data * weights.T)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The cosine as a sum over terms."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        return ScoreParts(self.evidence(document, wanted), total, np.zeros(len(wanted)))
