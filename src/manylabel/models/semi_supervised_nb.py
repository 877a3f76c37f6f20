"""Multinomial naive Bayes that also learns from unlabelled documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, rows_of_cells
from manylabel.models.base import DocumentScorer, MultiLabelModel, row_batches
from manylabel.models.count_model import LabelTermCounts, count
from manylabel.models.evidence import LOG_JOINT, ScoreParts, asked_for, linear_evidence
from manylabel.models.exported import ExportedScores, LinearBlock
from manylabel.models.linear_scores import LinearScores, linear_scores
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import ScoreKind, posteriors, posteriors_of_seen
from manylabel.models.smoothing import Prior, label_log_odds
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.progress import stage
from manylabel.stored import Flag, Stored, reals, total

SMALLEST_SHARE = 1e-12
"""A label with less of a document than this gets none of its words: posteriors are extreme, and tables stay sparse."""


class SemiSupervisedNaiveBayes(MultiLabelModel):
    """Posterior probabilities p(c|x) by multinomial naive Bayes, unlabelled documents counting by their posteriors.

    E   p(c|u) ∝ p(c) Π_w p(w|c)^{u_w}                      for each document u without a label
    M   p(w|c) = (N_cw + λ Σ_u p(c|u) u_w + α) / Σ_w' [the same],   p(c) ∝ N_c + λ Σ_u p(c|u)

    N_cw and N_c count the labelled documents, one with several labels once per label; λ is `unlabelled_weight`. The
    first p is that of the labelled documents alone. The steps never lower

    J = Σ_{labelled n, c in S_n} log p(c) p(x_n|c) + λ Σ_u log Σ_c p(c) p(u|c) + α Σ_{c,w} log p(w|c),

    plus Σ_c log p(c) for ``prior="add-one"``; labels never seen take no part. They end when J changes by no more than
    its `tol`-th part, or after `max_iter`. Source: Nigam, McCallum, Thrun & Mitchell 2000, sections 4.2 and 5.2 (EM-λ);
    their prior is ``"add-one"``.

    With λ = 0, or where every document has a label, this is ``MultinomialNaiveBayes(smoothing="lidstone")``; `alpha`
    and `prior` are as there. Absolute discounting is not offered: it has no such J. An unlabelled document is assumed
    to have one unknown label: do not use this model where documents may have no label.

    >>> X = np.array([[2, 0, 0, 0], [0, 0, 0, 2], [2, 3, 0, 0], [0, 0, 3, 2]])
    >>> Y = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])  # words 1 and 2 occur in unlabelled documents only
    >>> SemiSupervisedNaiveBayes(unlabelled_weight=0.0).fit(X, Y).predict_proba([[0, 1, 0, 0]]).round(3).tolist()
    [[0.5, 0.5]]
    >>> SemiSupervisedNaiveBayes().fit(X, Y).predict_proba([[0, 1, 0, 0]]).round(3).tolist()
    [[0.8, 0.2]]
    """

    score_kind = ScoreKind.POSTERIOR
    needs_counts: ClassVar[bool] = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "unlabelled_weight": Number(low=0),
        "alpha": Number(low=0, open_low=True),
        "prior": OneOf("documents", "add-one", "uniform"),
        "tol": Number(low=0),
        "max_iter": Number(low=1, whole=True),
    }

    intercept_: Floats
    objective_: Floats
    """J of the labelled documents' estimate, and after each step."""
    n_iter_: int
    """Estimates made, that of the labelled documents alone included."""
    converged_: bool

    learned: ClassVar[Mapping[str, Stored]] = {
        "converged_": Flag(),
        "objective_": reals(None),
        "n_iter_": total(),
        **linear_scores("terms"),
    }

    def __init__(
        self,
        unlabelled_weight: float = 1.0,
        alpha: float = 1.0,
        prior: Prior = "documents",
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.unlabelled_weight = unlabelled_weight
        self.alpha = alpha
        self.prior: Prior = prior
        self.tol = tol
        self.max_iter = max_iter

    def prior_log_odds(self, label_documents: npt.ArrayLike, n_documents: int) -> Floats:
        """The log-odds of each label before a document is read, by `prior`."""
        return label_log_odds(label_documents, n_documents, self.prior)

    # --- learning -------------------------------------------------------------------------------------------------

    def learn(self, X: Csr, Y: Csr) -> None:
        """Count the labelled documents, then alternate E-steps and M-steps."""
        known = count(X, Y)
        others = Csr(X[np.flatnonzero(np.diff(Y.indptr) == 0)])
        linear = self._formula(known)
        reached: list[float] = []
        self.converged_ = self.unlabelled_weight == 0 or not others.shape[0] or not known.label_documents.any()
        with stage("Learning from unlabelled documents") as advance:
            for _ in range(0 if self.converged_ else self.max_iter):
                shares, evidence = self._expect(linear, others)
                reached.append(self._known_objective(linear, known) + self.unlabelled_weight * evidence)
                self.converged_ = len(reached) > 1 and abs(reached[-1] - reached[-2]) <= self.tol * abs(reached[-1])
                if self.converged_:
                    break
                linear = self._formula(self._with_shares(known, shares, others))
                advance(1)
        if not self.converged_ or not reached:
            reached.append(self._known_objective(linear, known) + self._evidence_of(linear, others))
        self.objective_, self.n_iter_ = np.array(reached), len(reached)
        self.restore(linear.as_learned())

    def _formula(self, table: LabelTermCounts) -> LinearScores:
        """The M-step is the formula of `MultinomialNaiveBayes`, on counts that need not be whole."""
        return MultinomialNaiveBayes(smoothing="lidstone", alpha=self.alpha, prior=self.prior).formula(table)

    def _expect(self, linear: LinearScores, others: Csr) -> tuple[Csr, float]:
        """The E-step: p(c|u), documents × labels, without the smallest, and Σ_u log p(u)."""
        parts, evidence = [], 0.0
        for joint in _joints(linear, others):
            p = posteriors(joint)
            evidence += _log_sums(joint)
            p[p < SMALLEST_SHARE] = 0.0
            parts.append(Csr(p))
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part.indptr) for part in parts]))])
        indices, data = np.concatenate([part.indices for part in parts]), np.concatenate([part.data for part in parts])
        return Csr((data, indices, indptr), shape=(others.shape[0], len(linear.intercept))), evidence

    def _with_shares(self, known: LabelTermCounts, shares: Csr, others: Csr) -> LabelTermCounts:
        weight = self.unlabelled_weight
        terms = Csr(known.label_terms + weight * (shares.T.tocsr() @ others))
        terms.sort_indices()
        documents = known.label_documents + weight * np.asarray(shares.sum(axis=0))
        return replace(known, label_documents=documents, label_terms=terms)

    # --- the objective ------------------------------------------------------------------------------------------------

    def _known_objective(self, linear: LinearScores, known: LabelTermCounts) -> float:
        """The part of J that does not depend on unlabelled documents: labelled documents and the priors."""
        seen = known.label_documents > 0
        log_prior, rest, n_terms = linear.intercept[seen], linear.loadings[0][seen], len(linear.background)
        weights = known.label_documents[seen] + (1.0 if self.prior == "add-one" else 0.0)
        differences = Csr(linear.difference.T.tocsr())
        documents = weights @ log_prior + known.label_totals[seen] @ rest
        documents += known.label_terms.multiply(differences).sum()
        terms = n_terms * rest.sum() + differences.data[seen[rows_of_cells(differences)]].sum()
        return float(documents + self.alpha * terms)

    def _evidence_of(self, linear: LinearScores, others: Csr) -> float:
        """The unlabelled documents' share: λ Σ_u log p(u)."""
        if not self.unlabelled_weight or not others.shape[0] or not np.isfinite(linear.intercept).any():
            return 0.0
        return float(self.unlabelled_weight * sum(_log_sums(joint) for joint in _joints(linear, others)))

    # --- scoring ------------------------------------------------------------------------------------------------------

    @property
    def linear(self) -> LinearScores:
        """The learned log p(c) p(x|c) as a low-rank plus sparse linear model."""
        self.check_fitted()
        return LinearScores.from_learned(self)

    def score_batch(self, X: Csr) -> Floats:
        """Posterior probabilities of the labels; 0 where no label was ever seen."""
        return posteriors_of_seen(self.linear(X), self.intercept_)

    @property
    def is_exportable(self) -> bool:
        """True: the posteriors are computed from linear scores."""
        return True

    def exported_scores(self) -> ExportedScores:
        """The linear scores, from which posteriors are computed."""
        return ExportedScores((LinearBlock.of(self.linear, is_posterior=True),), (self.score_kind,))

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's terms only."""
        linear = self.linear

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            finished: Floats = posteriors_of_seen(linear.of_document(terms, values)[np.newaxis], linear.intercept)[0]
            return finished

        return score

    def decision_function(self, X: object) -> Floats:
        """The posteriors; for a single-label problem of two classes, the log-odds of the second."""
        self.check_fitted()
        if not self.is_two_class:
            return super().decision_function(X)
        joint = self.linear(self.features(X))
        return np.asarray(joint[:, 1] - joint[:, 0])

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to log p(x|c) of some labels (default: all), labels × terms.

        Intercept and evidence add up to log p(c) p(x|c), of which the posteriors are made.
        """
        document, wanted = asked_for(self, x, labels)
        return linear_evidence(self.linear, document, wanted)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of log p(c) p(x|c) of one document, from which the posteriors are computed."""
        document, wanted = asked_for(self, x, labels)
        linear = self.linear
        terms = linear_evidence(linear, document, wanted)
        return ScoreParts(terms, linear(document)[0, wanted], linear.intercept[wanted], quantity=LOG_JOINT)


def _joints(linear: LinearScores, X: Csr) -> Iterator[Floats]:
    """Documents' log p(c) p(x|c), a bounded batch at a time."""
    for rows in row_batches(X.shape[0], len(linear.intercept)):
        yield linear(Csr(X[rows]))


def _log_sums(joint: Floats) -> float:
    """Σ over rows of log Σ_c exp(joint)."""
    highest = joint.max(axis=1)
    return float(np.sum(highest + np.log(np.exp(joint - highest[:, np.newaxis]).sum(axis=1))))
