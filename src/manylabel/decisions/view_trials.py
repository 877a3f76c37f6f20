"""Trials of further views of the texts, which keep those that improve the metric; see docs/decisions/0027."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scipy import sparse

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.scored import Scored
from manylabel.estimator import Csr
from manylabel.features.views import OfferedViews
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.viewed_member import ViewedMember
from manylabel.strategies.weighted_member import WeightedMember

MOST_CHARACTERS = 1 << 25
"""The characters of all documents up to which further views are tried: their counts then take less than 500 MB."""
MOST_VIEW_WORK = 1e9
"""Terms of a view in all documents × labels up to which it is tried: scores of all folds then take half a minute."""
MOST_TIMES_TERMS = 2.0
"""How many times the terms of the first view another may have and be tried all the same where there are many labels:
the trial takes some of them, and the final model with the view at most three times the work."""
MUCH_VIEW_WORK = 2e8
"""Characters × labels from which on a view is first tried in one fold. With less work that fold has few documents, and
chance decides what gains there."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewTrials:
    """Which further views help a model, by its out-of-fold scores."""

    rule: DecisionRule
    Y: Csr
    """The true labels: of all labels, or of some of them where there are many."""
    documents: OutOfFold
    offered: OfferedViews
    n_labels: int
    """The number of all labels."""
    least_gain: float
    """How much a view must gain, in units of the metric."""
    vectors: int
    """How many of the last columns of the documents are vectors."""

    def run(self, names: Sequence[str], first: Scored) -> tuple[list[Scored], list[Scored]]:
        """The models with further views that were scored as `first` was, and those of them that gain enough.

        Each view is tried beside the terms of `first` and the views kept before it. Where that is much work in several
        folds, it has to gain half of `least_gain` in one of them first.
        """
        tried, kept, best = list[Scored](), list[Scored](), first
        if self.offered.n_characters > MOST_CHARACTERS:
            return tried, kept
        is_one_fold = len(first.rows) < self.documents.X.shape[0]
        is_much = not is_one_fold and self.offered.n_characters * self.n_labels > MUCH_VIEW_WORK
        for name in names:
            counts = self.offered.counts(name) if isinstance(best.model, WeightedMember) else None
            if counts is None or self._is_too_much(counts):
                continue
            model, wider = with_view(best, counts, self.documents, self.vectors)
            if is_much and self._gain_in_first_fold(model, best, wider) < self.least_gain / 2:
                continue
            scored = Scored.out_of_fold(model, self.rule, self.Y, wider, self._is_trial)
            worth = {**best.settings.get("views", {}), name: scored.gain - best.gain}
            tried.append(replace(scored, settings={**best.settings, "views": worth}, X=wider.X))
            if worth[name] >= self.least_gain:
                best = tried[-1]
                kept.append(best)
        return tried, kept

    def _is_too_much(self, counts: Csr) -> bool:
        """Whether models with a view would take too long."""
        is_wide = counts.nnz > MOST_TIMES_TERMS * self.documents.X.nnz
        return counts.nnz * self.n_labels > MOST_VIEW_WORK and (is_wide or not self._is_trial)

    @property
    def _is_trial(self) -> bool:
        """Whether models are fitted with `trial_settings`: those of some labels will be fitted again to all labels."""
        return self.n_labels > self.Y.shape[1]

    def _gain_in_first_fold(self, model: MultiLabelModel, best: Scored, documents: OutOfFold) -> float:
        """How much better than `best` a model is in the documents of the first fold, each with a rule of its own."""
        found = Scored.of_first_fold(model, self.Y, documents, self._is_trial)
        after, before = (one.with_rule(self.rule, self.Y) for one in (found, best.among(found.rows)))
        return after.gain - before.gain


def with_view(found: Scored, counts: Csr, documents: OutOfFold, vectors: int) -> tuple[ViewedMember, OutOfFold]:
    """The model of weighted terms with one more view beside those it reads, and the documents with this view.

    The last `vectors` columns of X stay the last ones; the model does not read them.
    """
    assert isinstance(found.model, WeightedMember)
    seen = found.seen(documents)
    read = seen.X.shape[1] - vectors
    before = found.model.widths if isinstance(found.model, ViewedMember) else (read,)
    model = ViewedMember(found.model.model, found.model.weighting, vectors, widths=(*before, counts.shape[1]))
    blocks = [seen.X[:, :read], counts, seen.X[:, read:]] if vectors else [seen.X, counts]
    return model, replace(seen, X=Csr(sparse.hstack(blocks, format="csr")))
