"""Labels scored by the similarity of documents to what describes the labels, beside a learned model if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.features.weighting import Weighting
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import ScoreKind
from manylabel.parameters import Constraint, Number
from manylabel.stored import Matrix, Maybe, Part, Stored, reals, wholes
from manylabel.strategies.stacking import comparable, stacked

SLOPE = 25.0
"""What a cosine of 1 adds to the log-odds of a label without documents. Logistic regressions on the cosines of label
names give 37 for the hallmarks of cancer and 34 for 20 Newsgroups; less makes probabilities more cautious."""
MENTION = 0.05
"""The cosine from which a label without documents is predicted: near the best one for both of these data sets."""

USUAL_WORDS = 100
"""Different words of a document, where there are no documents to tell."""


class DescribedLabels(MultiLabelModel):
    """Log-odds by the cosine of a document and the description of each label, and by a model of documents.

    s_dl = cos(v_d, u_l),   u_lw = tf-idf_lw · ln((1 + L)/(1 + L_w)) / ln((1 + L)/2)

    v is tf-idf with the document frequencies of the training documents; a word that L_w of the L descriptions share
    says less about each. A label that documents have is scored by b_l + a_l f_dl + c_l s_dl, where f is the score of
    the model; a, b and c are learned by `stacked` on out-of-fold scores: a and c are drawn towards the weights that are
    best for all labels, the more the greater `ridge`, and c falls by itself as the model learns from more documents. A
    label without documents has the log-odds ln(1/(L − 1)) + 25 s_dl: before a document is read every label is as
    probable as any other, and the slope is cautious (`SLOPE`).

    `fit` learns from descriptions alone, `fit_beside` with a fitted model of the labels that documents have.

    >>> X, descriptions = Csr([[1, 0, 2], [0, 3, 1]]), Csr([[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    >>> model = DescribedLabels().fit(X, Csr(np.zeros((2, 3))), descriptions=descriptions)
    >>> model.predict(X).toarray().tolist()
    [[1, 0, 0], [0, 1, 0]]
    """

    score_kind = ScoreKind.LOG_ODDS
    needs_counts = True
    wants = frozenset({"descriptions"})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {"ridge": Number(low=0, open_low=True)}
    weighting_: Weighting
    descriptions_: Csr
    """Labels × terms, each row of length 1; a label without a description has none. Columns of X behind these terms,
    such as further views, are read by the model alone."""
    weights_: Floats
    """For the model and the cosine × labels: what a unit of each adds to the log-odds."""
    intercept_: Floats
    documented_: Ints
    """The labels that documents have, in the order of the labels of `model_`."""
    model_: MultiLabelModel | None

    learned: ClassVar[Mapping[str, Stored]] = {
        "weighting_": Part(Weighting, terms="words"),
        "descriptions_": Matrix("labels", "words", ("f8",)),
        "weights_": reals(2, "labels"),
        "intercept_": reals("labels"),
        "documented_": wholes("documented", below="labels"),
        "model_": Maybe(Part(MultiLabelModel, "documented", "terms")),
    }

    def __init__(self, ridge: float = 10.0) -> None:
        self.ridge = ridge

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, descriptions: Any = None) -> Self:
        """Learn the weights of words from the documents, and all else from `descriptions`, labels × terms."""
        features, _ = self.check_training(X, Y)
        return self.describe(features, Csr(descriptions))

    def describe(self, X: Csr, descriptions: Csr) -> Self:
        """Learn as `fit` does from checked documents, of which there may be none.

        Then other words than those of the descriptions are not known, and every document is taken to have as many words
        of equal weight as a usual one, `USUAL_WORDS`.
        """
        if X.shape[0]:
            self.weighting_, length = Weighting(tf="log", idf="smooth", fractions="keep").fit(X), 1.0
        else:
            self.weighting_ = Weighting(tf="binary", idf="none", norm=None).fit(descriptions)
            length = np.sqrt(USUAL_WORDS)
        described = distinctive(self.weighting_.transform(descriptions))
        self.descriptions_, n_labels = Csr(described / length), descriptions.shape[0]
        self.weights_ = np.vstack([np.zeros(n_labels), np.full(n_labels, SLOPE)])
        self.intercept_ = np.full(n_labels, -np.log(max(n_labels - 1, 1)))
        self.documented_, self.model_ = np.zeros(0, dtype=np.int64), None
        return self

    def fit_beside(self, X: Csr, Y: Csr, descriptions: Csr, model: MultiLabelModel, scores: Floats, rows: Ints) -> Self:
        """Learn from documents, descriptions and a fitted `model` of the labels that documents have.

        `scores` are its out-of-fold scores of the documents `rows`, as `of_unseen_documents` gives them.
        """
        features, targets = self.check_training(X, Y)
        self.describe(Csr(features[:, : descriptions.shape[1]]), descriptions)
        documented = np.unique(targets.Y.indices).astype(np.int64)
        both = np.stack([scores, self.similarity(Csr(features[rows]))[:, documented]])
        found = stacked(both, Csr(targets.Y[rows][:, documented]), self.ridge)
        self.weights_[:, documented], self.intercept_[documented] = found.weights, found.intercept
        self.documented_, self.model_ = documented, model
        return self

    # --- scoring ----------------------------------------------------------------------------------------------

    def similarity(self, X: Csr) -> Floats:
        """The cosine of each document and the description of each label."""
        width = self.descriptions_.shape[1]
        X = X if X.shape[1] == width else Csr(X[:, :width])
        return np.asarray((self.weighting_.transform(X) @ self.descriptions_.T).toarray())

    def score_batch(self, X: Csr) -> Floats:
        """The log-odds; −∞ for a label that neither a document nor a description speaks of."""
        scores: Floats = self.similarity(X) * self.weights_[1] + self.intercept_
        scores[:, self.unknown] = -np.inf
        if self.model_ is not None:
            own = comparable(self.model_.score_batch(X), self.model_.score_kind)
            scores[:, self.documented_] += own * self.weights_[0, self.documented_]
        return scores

    @property
    def unknown(self) -> Ints:
        """The labels without documents and without a description."""
        return np.setdiff1d(np.flatnonzero(np.diff(self.descriptions_.indptr) == 0), self.documented_)

    @property
    def mention_thresholds(self) -> Floats:
        """The log-odds from which a label without documents is predicted: those of a cosine of `MENTION`."""
        return np.asarray(self.intercept_ + self.weights_[1] * MENTION)


def distinctive(weighed: Csr) -> Csr:
    """Weighted words of labels, rows of length 1, in which a word that L_w of the L labels share says less about each.

    u_lw = x_lw · ln((1 + L)/(1 + L_w)) / ln((1 + L)/2), divided by its length

    >>> distinctive(Csr(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]]))).toarray().round(3).tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    n_labels, shared = weighed.shape[0], np.bincount(weighed.indices, minlength=weighed.shape[1])
    rarity = np.log((1 + n_labels) / (1 + shared)) / np.log((1 + n_labels) / 2) if n_labels > 1 else 0 * shared + 1
    weighed = Csr((weighed.data * rarity[weighed.indices], weighed.indices, weighed.indptr), shape=weighed.shape)
    return Csr(Weighting(idf="none").fit(weighed).transform(weighed))
