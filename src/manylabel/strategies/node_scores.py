"""Scores of the nodes of a label forest combined: closed upwards, blocked, or added along the path.

All functions take documents × nodes and the parent of each node (−1 for a root) and give documents × nodes. Scores are
signed: a node is given where its score is above 0.
"""

from __future__ import annotations

import math

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics.ancestors import levels
from manylabel.models.label_thresholds import CLEAR, OwnThresholds, clear_of_scores, own_thresholds, shrunk_thresholds


def closed_upwards(scores: Floats, parents: Ints) -> Floats:
    """Each node's score raised to the best of its descendants': c_v = max(s_v, max over children of c).

    Whatever the threshold, the predicted nodes are then closed under ancestors.

    >>> closed_upwards(np.array([[-0.2, 1.0, -3.0]]), np.array([-1, 0, 0])).tolist()
    [[1.0, 1.0, -3.0]]
    """
    raised = scores.copy()
    for nodes in reversed(levels(parents)[1:]):
        for node in nodes.tolist():
            np.maximum(raised[:, parents[node]], raised[:, node], out=raised[:, parents[node]])
    return raised


def blocked(scores: Floats, parents: Ints) -> Floats:
    """Each node's score lowered to the worst on its path: b_v = min(s_v, b_parent).

    A node is given only where all its ancestors are: the top-down descent, and its fault, that a mistake above blocks
    everything below.

    >>> blocked(np.array([[-0.2, 1.0, -3.0]]), np.array([-1, 0, 0])).tolist()
    [[-0.2, -0.2, -3.0]]
    """
    lowered = scores.copy()
    for nodes in levels(parents)[1:]:
        lowered[:, nodes] = np.minimum(lowered[:, nodes], lowered[:, parents[nodes]])
    return lowered


def path_log_odds(scores: Floats, parents: Ints, slope: float) -> Floats:
    """The log-odds of the product of probabilities along each node's path, in the units of the scores:

    q_v = (1/slope) log P_v/(1 − P_v),   P_v = Π_u σ(slope · s_u),   u over v and its ancestors,   σ(s) = 1/(1 + e^−s)

    σ(slope · s_u) is the probability of u given its parent: slope 1 for log-odds; margins are steeper, since they were
    trained to leave −1 … 1. A root keeps its score; any other node has less than the least on its path.

    Two even chances in a row are one of four, log ⅓:

    >>> path_log_odds(np.array([[0.0, 0.0]]), np.array([-1, 0]), slope=1.0).round(6).tolist()
    [[0.0, -1.098612]]
    """
    doubt = np.logaddexp(0.0, -slope * scores)  # −log σ, which adds up along the path
    found = scores.copy()
    for nodes in levels(parents)[1:]:
        doubt[:, nodes] += doubt[:, parents[nodes]]
        total = doubt[:, nodes]
        with np.errstate(divide="ignore"):
            found[:, nodes] = -(total + np.log(-np.expm1(-total))) / slope
    # Where the doubt is lost in rounding, the least score of the path is what is left.
    return np.minimum(found, blocked(scores, parents))


def sibling_leads(scores: Floats, parents: Ints) -> Floats:
    """How far each node is ahead of its best sibling; above 0 for one of them only, the first of equals.

    An only child leads by 1, one that was never seen (−∞) by −∞.

    >>> sibling_leads(np.array([[3.0, 1.0, 1.0, -2.0]]), np.array([-1, 0, 0, -1])).tolist()
    [[5.0, 5e-324, -5e-324, -5.0]]
    """
    leads = np.empty_like(scores)
    rows = np.arange(len(scores))
    for parent in np.unique(parents).tolist():
        group = np.flatnonzero(parents == parent)
        among = scores[:, group]
        if len(group) == 1:
            leads[:, group] = np.where(np.isneginf(among), among, 1.0)
            continue
        best = among.argmax(axis=1)
        highest = among[rows, best]
        without = among.copy()
        without[rows, best] = -math.inf
        second = without.max(axis=1)
        with np.errstate(invalid="ignore"):
            lead = np.minimum(among - highest[:, None], -5e-324)
            winner = np.maximum(np.where(np.isneginf(second), 1.0, highest - second), 5e-324)
        lead[rows, best] = winner
        leads[:, group] = np.where(np.isneginf(among), -math.inf, lead)
    return leads


def node_thresholds(scores: Floats, Y: Csr, shrinkage: float, floor: float) -> Floats:
    """A threshold for each node from out-of-fold scores; a node is predicted if its score is above it.

    The formula is that of the rule per-label (`manylabel.decisions.per_label`), the common threshold being the mean of
    all nodes' own ones, each counted by its documents. Scores of −∞ are never given, but their positives count as true.

    >>> scores = np.array([[2.0], [1.0], [-1.0]])
    >>> node_thresholds(scores, Csr([[1], [1], [0]]), shrinkage=5.0, floor=0.1).round(6) + 0.0
    array([0.])
    """
    own = own_thresholds(scores, Y)
    common = _common(own)
    highest = scores.max(axis=0, initial=-math.inf)
    found = shrunk_thresholds(own, common, shrinkage, floor, np.where(np.isneginf(highest), 0.0, highest))
    # Predicted above the threshold, not at it: a score of +∞ is above the largest finite one.
    return np.nextafter(clear_of_scores(scores, found, CLEAR), -math.inf)


def descent_thresholds(scores: Floats, Y: Csr, parents: Ints, shrinkage: float, floor: float) -> Floats:
    """Thresholds for the top-down descent, level by level: a node's own from the documents that reach it.

    A document that the thresholds above wrongly let pass is a negative here, one that they wrongly stop is missed
    whatever the threshold.
    """
    thresholds = np.zeros(scores.shape[1])
    lowered = scores.copy()
    for level, nodes in enumerate(levels(parents)):
        reaching = scores[:, nodes]
        if level:
            reaching = np.where(lowered[:, parents[nodes]] > 0, reaching, -math.inf)
        thresholds[nodes] = node_thresholds(reaching, Csr(Y[:, nodes]), shrinkage, floor)
        lowered[:, nodes] = reaching - thresholds[nodes]
    return thresholds


def _common(own: OwnThresholds) -> float:
    finite = np.isfinite(own.thresholds)
    documents = own.positives[finite].sum()
    return float(own.positives[finite] @ own.thresholds[finite] / documents) if documents else 0.0
