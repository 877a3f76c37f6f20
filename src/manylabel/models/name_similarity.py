"""Labels scored by the similarity of a document's vector and the vector of the label's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.models import label_axis
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, linear_evidence
from manylabel.models.linear_scores import DenseScores
from manylabel.models.score_kinds import ScoreKind
from manylabel.stored import Stored, finite_reals


class NameSimilarity(MultiLabelModel):
    """The cosine of a document's vector and the vector of each label's name, both of one encoder and of length 1.

    s_dl = v_d · u_l

    It learns nothing from documents: `fit` takes the vectors u, `label_vectors`. So it knows as much of a label with a
    single document as of any other, and serves as a member of a stack, which learns how much names are worth. A label
    without a vector has the score 0 for every document.

    >>> X, Y = Csr([[1.0, 0.0], [0.6, 0.8]]), Csr([[1, 0], [0, 1]])
    >>> NameSimilarity().fit(X, Y, label_vectors=np.array([[1.0, 0.0], [0.0, 1.0]])).scores(X).tolist()
    [[1.0, 0.0], [0.6, 0.8]]
    """

    score_kind = ScoreKind.SIMILARITY
    wants = frozenset({"label_vectors"})
    independent_labels: ClassVar[bool] = True
    names_: Floats
    """Dimensions × labels: the vectors of the names."""

    learned: ClassVar[Mapping[str, Stored]] = {"names_": finite_reals("terms", "labels")}

    def __init__(self) -> None:
        """Takes no parameters."""

    def fit(self, X: object, Y: object, label_vectors: npt.ArrayLike | None = None) -> Self:
        """Take the vectors of the labels' names, labels × dimensions; without them, all scores are 0."""
        features, targets = self.check_training(X, Y)
        shape = targets.Y.shape[1], features.shape[1]
        vectors = np.zeros(shape) if label_vectors is None else np.asarray(label_vectors, dtype=np.float64)
        if vectors.shape != shape:
            raise ValueError(f"label_vectors has the shape {vectors.shape}, but labels × columns of X are {shape}.")
        self.names_ = np.ascontiguousarray(vectors.T)
        return self

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The names of some labels."""
        return label_axis.of_labels(self, columns)

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The names of the labels of both."""
        return label_axis.beside(self, other) if isinstance(other, NameSimilarity) else super().beside(other)

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: object) -> MultiLabelModel:
        """The same names for labels that were known before; new ones have no vector."""
        vectors = np.zeros((len(columns), len(self.names_)))
        vectors[columns >= 0] = self.names_.T[columns[columns >= 0]]
        return unfitted_copy(self).fit(X, Y, label_vectors=vectors)

    @property
    def _linear(self) -> DenseScores:
        return DenseScores(np.zeros(self.n_labels_), self.names_)

    def score_batch(self, X: Csr) -> Floats:
        """The cosines, documents × labels."""
        return self._linear(X)

    def document_scorer(self) -> DocumentScorer | None:
        """A function that scores one document."""
        return self._linear.of_document

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each dimension adds to the cosine, labels × dimensions."""
        return linear_evidence(self._linear, *asked_for(self, x, labels))

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The cosine as a sum over dimensions."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        return ScoreParts(linear_evidence(self._linear, document, wanted), total, np.zeros(len(wanted)))
