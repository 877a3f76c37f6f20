"""Several models of the search of the default, combined on their out-of-fold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.scored import Scored, learned_rule
from manylabel.estimator import Csr, Floats
from manylabel.models.base import MultiLabelModel
from manylabel.models.name_similarity import NameSimilarity
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.ensemble import Ensemble
from manylabel.strategies.name_words import NameWords
from manylabel.strategies.stacking import combined_out_of_fold, constant_labels, of_unseen_documents, with_constants
from manylabel.strategies.viewed_member import ViewedMember
from manylabel.strategies.weighted_member import WeightedMember

RIDGES = {"average": 1.0, "stacked": 10.0}
"""How much a rare label follows all others, by the way of combining: several slopes of a label need more of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Combined(Scored):
    """An unfitted ensemble, its combined out-of-fold scores, and those of its members."""

    member_scores: Floats | None = None
    """Members × documents × labels."""

    def fit(self, documents: OutOfFold, Y: Csr) -> MultiLabelModel:
        """The ensemble fitted to all training documents; its members are not scored out of fold again."""
        assert isinstance(self.model, Ensemble)
        assert self.member_scores is not None
        X = self.seen(documents).X
        return self.model.fit_from_scores(X, Y, self.member_scores, self.rows, documents.facts)


def combine(
    members: Sequence[Scored],
    how: Literal["average", "stacked"],
    rule: DecisionRule,
    Y: Csr,
    documents: OutOfFold,
    n_jobs: int | None = None,
) -> Combined:
    """The members as an ensemble, and the rule learned on its out-of-fold scores.

    All members have scored all documents. Of those that read further views, the last one reads all that the others
    read.
    """
    first = members[0]
    wide = next((one.X for one in reversed(members) if one.X is not None), None)
    models = tuple(one.model if wide is None else _beside_views(one.model, documents.X.shape[1]) for one in members)
    ensemble = Ensemble(models, how, ridge=RIDGES[how], folds=documents.folds, seed=documents.seed, n_jobs=n_jobs)
    member_scores = np.stack([of_unseen_documents(one.scores, one.model.score_kind) for one in members])
    tests = [test for _, test in documents.divided(Y)]
    scores = combined_out_of_fold(member_scores, Y, tests, ensemble.ridge, how)
    scores = with_constants(scores, constant_labels(Y))
    learned, crossed = learned_rule(rule, scores, first.empty, ensemble, Y)
    return Combined(
        ensemble, scores, first.rows, first.empty, learned, crossed=crossed, X=wide, member_scores=member_scores
    )


def name_members(model: WeightedMember, documents: OutOfFold) -> list[WeightedMember]:
    """Members of a stack that compare documents with the names of labels: by words, and where X has vectors by these.

    `model` has the weighting of words, and the number of columns of X that hold vectors. Documents with weights have no
    names, which learn nothing from documents and so cannot weigh them.
    """
    facts, found = documents.facts, list[WeightedMember]()
    if "sample_weight" in facts:
        return found
    if "name_terms" in facts and model.weighting is not None and documents.features is None:
        found.append(WeightedMember(NameWords(model.weighting), vectors=model.vectors, reads="terms"))
    if model.vectors and "label_vectors" in facts:
        found.append(WeightedMember(NameSimilarity(), vectors=model.vectors, reads="vectors"))
    return found


def _beside_views(model: MultiLabelModel, n_columns: int) -> MultiLabelModel:
    """The model where X has further views behind the terms, before vectors; it reads what it read in `n_columns`."""
    if isinstance(model, WeightedMember) and model.vectors:
        if isinstance(model, ViewedMember) or model.reads_vectors:  # the first columns; the last ones
            return model
        return ViewedMember(model.model, model.weighting, model.vectors, widths=(n_columns - model.vectors,))
    return model if isinstance(model, ViewedMember) else ViewedMember(model, widths=(n_columns,))
