"""Feature-weighted multinomial naive Bayes: every term has a weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats
from manylabel.features.information_weights import TermWeight, presence_weights
from manylabel.models.bernoulli_nb import presence
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.score_kinds import ScoreKind, posteriors_of_seen
from manylabel.models.smoothing import Prior, class_log_prior, label_log_odds
from manylabel.parameters import FLAG, Constraint, Number, OneOf
from manylabel.stored import Stored, reals


class WeightedNaiveBayes(CountModel):
    """Posteriors p(c|x) of the labels by multinomial naive Bayes in which every term has a weight.

    p(c|x) ∝ p(c) Π_w p(w|c)^{ω_w x_w},   p(w|c) = (N_cw + α)/(N_c+ + α V)

    ω_w is the information gain of the term's presence (``weight="ig"``), that divided by the entropy of the presence
    (``"kl"``), or 1 (``"none"``: plain multinomial naive Bayes), scaled to mean 1 unless `normalise` is off; see
    `manylabel.features.information_weights`. A document with several labels counts once per label.
    `prior` is the share of documents, (N_c + 1)/(N + |C|) (``"add-one"``) or uniform.

    Source: Lee 2018, on feature weights, after Kim, Han, Rim & Myaeng 2006 (ig) and Lee, Gutierrez & Dou 2011 (kl).
    The paper's formula is lost; this is the standard form its text names.

    >>> X = np.array([[2, 0, 1], [0, 2, 1], [3, 0, 1], [0, 1, 1]])
    >>> model = WeightedNaiveBayes().fit(X, ["a", "b", "a", "b"])
    >>> model.term_weights_.tolist()  # the last term occurs everywhere and carries no information
    [1.5, 1.5, 0.0]
    >>> model.predict([[1, 0, 5]]).tolist()
    ['a']
    """

    score_kind = ScoreKind.POSTERIOR
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "weight": OneOf("ig", "kl", "none"),
        "normalise": FLAG,
        "alpha": Number(low=0, open_low=True),
        "prior": OneOf("documents", "add-one", "uniform"),
    }
    term_weights_: Floats
    intercept_: Floats

    learned: ClassVar[Mapping[str, Stored]] = {
        "term_weights_": reals("terms"),
    }

    def __init__(
        self,
        weight: TermWeight = "ig",
        normalise: bool = True,
        alpha: float = 1.0,
        prior: Prior = "documents",
    ) -> None:
        self.weight: TermWeight = weight
        self.normalise = normalise
        self.alpha = alpha
        self.prior: Prior = prior

    def prior_log_odds(self, label_documents: npt.ArrayLike, n_documents: int) -> Floats:
        """The log-odds of each label before a document is read, by `prior`."""
        return label_log_odds(label_documents, n_documents, self.prior)

    def count(self, X: Csr, Y: Csr) -> LabelTermCounts:
        """Occurrences of each term by label and, in as many further columns, documents with it; both add up."""
        return super().count(Csr(sparse.hstack([X, presence(X)], format="csr")), Y)

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The linear scores log p(c) + Σ_w x_w ω_w log p(w|c), as background plus sparse difference."""
        n_terms = table.label_terms.shape[1] // 2
        occurrences, documents = Csr(table.label_terms[:, :n_terms]), Csr(table.label_terms[:, n_terms:])
        omega = presence_weights(documents, table.label_documents, self.weight, normalise=self.normalise)
        self.term_weights_ = omega
        total = np.asarray(occurrences.sum(axis=1), dtype=np.float64)
        values = omega[occurrences.indices] * np.log1p(occurrences.data / self.alpha)
        return LinearScores(
            intercept=class_log_prior(table.label_documents, self.prior),
            background=omega[:, np.newaxis],
            loadings=(np.log(self.alpha) - np.log(total + self.alpha * n_terms))[np.newaxis],
            difference=by_term(values, occurrences),
        )

    def finish_scores(self, linear: Floats) -> Floats:
        """Posterior probabilities of the labels."""
        return posteriors_of_seen(linear, self.intercept_)
