"""The words of label names as evidence beside what linear classifiers learned from documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manylabel.data.splits import iterative_stratification
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.scored import Scored, learned_rule
from manylabel.decisions.search_sample import is_many
from manylabel.estimator import Csr, Floats, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.named_svm import NamedSVM
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.described import distinctive
from manylabel.strategies.stacking import of_unseen_documents, stacked
from manylabel.strategies.weighted_member import WeightedMember

RIDGE = 10.0
"""How much a rare label follows all others, as in a stack (`combined.RIDGES`)."""
LEAST_SLOPE = 0.5
"""The least slope of a label's margins, as a share of that of the middle label: γ divides by it."""
HALVES = 2
"""Slopes are learned on one half of the documents and judged on the other; more folds would take longer."""


@dataclass(frozen=True, slots=True, eq=False)
class Named(Scored):
    """An unfitted model of SVMs whose weights the words of label names are added to, and its out-of-fold scores."""

    names: Csr | None = None
    """Labels × terms: what each name adds to the weights of its label."""

    def fit(self, documents: OutOfFold, Y: Csr) -> MultiLabelModel:
        """The model fitted to all training documents, with the names."""
        whole = Scored.fit(self, documents, Y)
        assert isinstance(whole, WeightedMember)
        assert isinstance(whole.model_, LinearSVM)
        assert self.names is not None
        whole.model_ = NamedSVM.of(whole.model_, self.names)
        return whole


def with_label_names(found: Scored, rule: DecisionRule, Y: Csr, documents: OutOfFold) -> Named | None:
    """The same model with label names; None if they gain nothing of the metric out of fold.

    f'_dk = f_dk + γ_k cos(v_d, u_k),   γ_k = max(0, c_k)/max(a_k, ½ ã)

    f is the margin of the SVM and u the weighted words of the label's name, of which those in many names count for less
    (`distinctive`). a and c are the slopes of f and of the cosine in a logistic regression on the label, which rare
    labels share with all others (`stacked`); ã is the median of a. As the cosine is linear in v, γ u is added to the
    weights of the SVM: the model stays what it is, and is explained, exported and applied as before.

    None also where the model is no linear SVM of weighted terms, names are not known, or scores are many.
    """
    names, member = documents.facts.get("name_terms"), found.model
    is_linear = isinstance(member, WeightedMember) and isinstance(member.model, LinearSVM) and not member.vectors
    if names is None or not is_linear or not names.nnz or is_many(Y.shape):
        return None
    assert isinstance(member, WeightedMember)
    weighed, vectors = _vectors(member, Csr(documents.X[:, : names.shape[1]]), names)
    Y_true, scores = Csr(Y[found.rows]), of_unseen_documents(found.scores, member.score_kind)
    cosines = np.asarray((weighed[found.rows] @ vectors.T).toarray())
    combined = found.scores.copy()
    for train, test in iterative_stratification(Y_true, HALVES, documents.seed):
        combined[test] += _slopes(scores[train], cosines[train], Csr(Y_true[train])) * cosines[test]
    learned, crossed = learned_rule(rule, combined, found.empty, member, Y_true)
    if not learned.gain > found.gain:
        return None
    slopes = _slopes(scores, cosines, Y_true) / member.scale
    return Named(
        member,
        combined,
        found.rows,
        found.empty,
        learned,
        {**found.settings, "label names": True},
        crossed,
        found.whole,
        found.X,
        names=Csr(sparse.diags_array(slopes) @ vectors),
    )


def _vectors(member: WeightedMember, X: Csr, names: Csr) -> tuple[Csr, Csr]:
    """Documents and names × terms, weighted as the member weighs its terms; names are of length 1, or empty."""
    if member.weighting is None:
        return X, distinctive(names)
    weighting = unfitted_copy(member.weighting).fit(X)
    return weighting.transform(X), distinctive(weighting.transform(names))


def _slopes(scores: Floats, cosines: Floats, Y: Csr) -> Floats:
    """What a cosine of 1 adds to the margin of each label: γ."""
    margin, cosine = stacked(np.stack([scores, cosines]), Y, RIDGE).weights
    least = LEAST_SLOPE * max(float(np.median(margin)), 0.0)
    floored = np.maximum(margin, least)
    return np.asarray(np.maximum(cosine, 0.0) / np.where(floored > 0, floored, np.inf))
