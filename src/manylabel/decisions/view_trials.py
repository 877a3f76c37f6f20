"""Trials of further views of the texts, which keep those that improve the metric; see docs/decisions/0027."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from manylabel.decisions.base import DecisionRule, decidable_scores
from manylabel.decisions.scored import Scored
from manylabel.estimator import Csr, unfitted_copy
from manylabel.features.views import OfferedViews
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.viewed_member import ViewedMember
from manylabel.strategies.weighted_member import WeightedMember

MOST_CHARACTERS = 1 << 25
"""The characters of all documents up to which further views are tried: their counts then take less than 500 MB."""
MOST_VIEW_WORK = 1e9
"""Characters × labels up to which further views are tried: scores of all folds then take about half a minute."""
MUCH_VIEW_WORK = 2e8
"""Characters × labels from which on a view is first tried in one fold. With less work that fold has few documents, and
chance decides what gains there."""


def try_views(
    names: Sequence[str],
    offered: OfferedViews,
    first: Scored,
    least_gain: float,
    vectors: int,
    rule: DecisionRule,
    Y: Csr,
    documents: OutOfFold,
) -> tuple[list[Scored], list[Scored]]:
    """The models with further views that were scored in all folds, and those of them that gain at least `least_gain`.

    Each view is tried beside the terms of `first` and the views kept before it. Where that is much work, it has to gain
    half of that in one fold first. The last `vectors` columns of the documents are vectors.
    """
    tried, kept, best = list[Scored](), list[Scored](), first
    if offered.n_characters > min(MOST_CHARACTERS, MOST_VIEW_WORK / Y.shape[1]):
        return tried, kept
    is_much = offered.n_characters * Y.shape[1] > MUCH_VIEW_WORK
    for name in names:
        counts = offered.counts(name) if isinstance(best.model, WeightedMember) else None
        if counts is None:
            continue
        model, wider = with_view(best, counts, documents, vectors)
        if is_much and gain_in_first_fold(model, best, rule, Y, wider) < least_gain / 2:
            continue
        scored = Scored.out_of_fold(model, rule, Y, wider)
        worth = {**best.settings.get("views", {}), name: scored.gain - best.gain}
        tried.append(replace(scored, settings={**best.settings, "views": worth}, X=wider.X))
        if worth[name] >= least_gain:
            best = tried[-1]
            kept.append(best)
    return tried, kept


def gain_in_first_fold(model: MultiLabelModel, best: Scored, rule: DecisionRule, Y: Csr, documents: OutOfFold) -> float:
    """How much better than `best` a model is in the documents of the first fold, each with a rule of its own."""
    if (deadline := documents.facts.get("deadline")) is not None:
        deadline.check()
    train, test = documents.divided(Y)[0]
    scores = documents.among(train).fit_whole(model, Csr(Y[train])).scores(documents.X[test])
    empty = np.diff(documents.X[test].indptr) == 0
    gains = [
        unfitted_copy(rule).fit(decidable_scores(own, empty, one, rule), Csr(Y[test]), one.score_kind).gain
        for one, own in ((best.model, best.scores[test]), (model, scores))
    ]
    return gains[1] - gains[0]


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
