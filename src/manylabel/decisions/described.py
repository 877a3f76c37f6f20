"""A model with its decision rule for labels that are described, also for those that no document has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manylabel.data.splits import iterative_stratification
from manylabel.decisions.base import DecisionRule, decidable_scores
from manylabel.decisions.calibrated import CalibratedThreshold
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.corrected import CorrectedThresholds
from manylabel.decisions.decided import DecidedModel, Report
from manylabel.decisions.natural import Natural
from manylabel.decisions.scored import Scored
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.decisions.top_k import TopK
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import UnsupportedError
from manylabel.models.out_of_fold import OutOfFold
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies.described import DescribedLabels
from manylabel.strategies.stacking import of_unseen_documents, stacked

KIND = ScoreKind.LOG_ODDS


class DescribedModel(DecidedModel):
    """A `DecidedModel` beside descriptions of the labels, which count for less the more documents there are.

    `model` is the `DecidedModel` of the method. Its model learns the labels that documents have, and is scored out of
    fold as ever. These scores and the cosines of documents and descriptions are combined (`DescribedLabels`), and the
    rule is learned on the combined scores of documents that neither the model nor the combination has seen. Where the
    model alone serves the metric as well on these documents, and they have all labels, it is used alone.

    A label that only a description tells of is predicted from a fixed cosine on. Its probability is that of
    `DescribedLabels`, not calibrated, since there are no documents to compare it with. Where there are fewer documents
    than `folds`, that is so for all labels.
    """

    model: DecidedModel

    @classmethod
    def of(cls, decided: DecidedModel) -> DescribedModel:
        """The model with the same settings as the one that it uses inside."""
        if decided.rule is not None and decided.rule.held_out_share:
            raise UnsupportedError(
                "A guarantee rests on held-out documents, which label descriptions take no account of. Use one of them."
            )
        return cls(decided, decided.rule, decided.folds, decided.seed, decided.probabilities)

    @property
    def wants(self) -> frozenset[str]:  # type: ignore[override]
        """The facts that the model wants, and the descriptions."""
        return self.model.wants | {"descriptions"}

    @property
    def scores_candidates(self) -> bool:  # type: ignore[override]
        """Whether the fitted model scores some labels of a document only: not where descriptions speak for any."""
        return self.is_fitted and self.model_.scores_candidates

    @property
    def searches(self) -> bool:
        """Whether the model inside chooses its settings by its out-of-fold scores."""
        return self.model.searches

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """The counts of counts that the model inside asks for."""
        return self.model.counts_of_counts(counts, Y)

    def is_documented(self, Y: Csr) -> bool:
        """Whether there are enough documents with labels to learn from."""
        return Y.shape[0] >= self.folds and Y.nnz > 0

    def fit_descriptions(self, X: Csr, descriptions: Csr) -> DescribedModel:
        """Learn from descriptions alone; documents, of which there may be none, tell how frequent words are."""
        self.check_parameters()
        self.forget()
        self.note_shape(descriptions.shape[1], descriptions.shape[0])
        self.calibration_ = self.figures_ = self.choice_ = None
        model = DescribedLabels()
        model.note_shape(descriptions.shape[1], descriptions.shape[0])
        self.model_ = model.describe(X, descriptions)
        one = self._rule().predicts_one_label
        self.rule_ = TopK(1) if one else _with_mentions(self._rule(), np.zeros(0), self.model_)
        return self

    def _rule(self) -> DecisionRule:
        return Natural() if self.rule is None else unfitted_copy(self.rule)

    def _learn_sets(
        self, documents: OutOfFold, Y: Csr, held_out: tuple[Csr, Csr] | None, report: Report | None
    ) -> None:
        """Learn from label sets and descriptions; `held_out` is not used."""
        rule, descriptions = self._rule(), documents.facts["descriptions"]
        rule.check_kind(KIND)
        documented = np.unique(Y.indices).astype(np.int64)
        Y_known = Csr(Y[:, documented])
        found = self.model.score_out_of_fold(rule, Y_known, documents)
        rows, Y_true = found.rows, Csr(Y_known[found.rows])
        scores = of_unseen_documents(found.scores, found.model.score_kind)
        model = DescribedLabels().describe(documents.X, descriptions)
        both = np.stack([scores, model.similarity(Csr(documents.X[rows]))[:, documented]])
        combined = _out_of_fold(both, Y_true, self.folds, self.seed, model.ridge)
        learned = unfitted_copy(rule)
        crossed = learned.fit_crossed(decidable_scores(combined, found.empty, model, learned), Y_true, KIND)
        tried = found.crossed if crossed is None else (*found.crossed, crossed)
        best = Scored(model, combined, rows, found.empty, learned, found.settings, tried)
        if len(documented) == Y.shape[1] and found.rule is not None and not learned.gain > found.rule.gain:
            best = replace(found, crossed=tried)
        settled = self.learn_rule(best, rule, Y_known, report)
        assert settled is not None
        self.rule_, whole = settled.settled(), found.fit(documents, Y_known)
        self.n_features_in_ = whole.n_features_in_  # further views are chosen in the search
        if best.model is not model:
            self.model_ = whole
            return
        self.model_ = DescribedLabels().fit_beside(found.seen(documents).X, Y, descriptions, whole, scores, rows)
        if len(documented) < Y.shape[1]:
            self._add_described(documented, combined, Y_true)

    def _add_described(self, documented: Ints, combined: Floats, Y_true: Csr) -> None:
        """Extend rule and calibration, learned on the labels that documents have, to all labels."""
        assert isinstance(self.model_, DescribedLabels)
        assert self.rule_ is not None
        n_labels, rule = self.model_.n_labels_, self.rule_
        thresholds = rule.score_thresholds(len(documented), KIND)
        if not rule.decides_apart:  # no label set that was seen has a label without documents
            rule = CalibratedThreshold().fit(combined, Y_true, KIND)
            thresholds = rule.score_thresholds(len(documented), KIND)
            self.figures_ = self.figures_ and ThresholdFigures().fit(combined, Y_true, KIND, thresholds)
        self.rule_ = rule if thresholds is None else _with_mentions(rule, thresholds, self.model_)
        if self.figures_ is not None:  # labels without documents reach no precision and no recall
            others = np.setdiff1d(np.arange(n_labels), documented)
            nothing = ThresholdFigures().fit(np.zeros((0, len(others))), Csr((0, len(others))), KIND)
            order = np.argsort(np.concatenate([documented, others]))
            self.figures_ = self.figures_.beside(nothing).of_labels(order)
        if isinstance(self.calibration_, Calibration):
            slopes, intercepts = np.ones(n_labels), np.zeros(n_labels)
            if self.calibration_.curve == "logistic":
                slopes[documented], intercepts[documented] = self.calibration_.slopes_, self.calibration_.intercepts_
            self.calibration_ = Calibration().restore({"slopes_": slopes, "intercepts_": intercepts})


def _with_mentions(rule: DecisionRule, thresholds: Floats, model: DescribedLabels) -> DecisionRule:
    """The thresholds of the rule, and fixed ones for labels without documents."""
    own = model.mention_thresholds
    own[model.documented_] = thresholds
    return CorrectedThresholds(rule.fallback).restore(  # type: ignore[arg-type]
        {"thresholds_": own, "shown_": np.full(len(own), np.nan), "changes_": []}
    )


def _out_of_fold(scores: Floats, Y: Csr, folds: int, seed: int, ridge: float) -> Floats:
    """Combined scores of documents, each by a combination that was learned on the other folds."""
    combined = np.empty(scores.shape[1:])
    for train, test in iterative_stratification(Y, folds, seed):
        combined[test] = stacked(scores[:, train], Csr(Y[train]), ridge)(scores[:, test])
    return combined
