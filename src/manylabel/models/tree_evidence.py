"""What the words a tree asks for add to a label's score, step by step on the way to the leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.models.evidence import asked_for

if TYPE_CHECKING:
    from manylabel.models.trees import TreeModel

CERTAIN = 1e-9
"""A probability this near to 0 or 1 is as certain as evidence gets: log-odds of ±20.7 instead of ±∞."""


def path_evidence(model: TreeModel, x: object, labels: npt.ArrayLike | None) -> Csr:
    """Labels × terms; the row of a label adds up to the log-odds of the leaves minus those of the roots."""
    document, wanted = asked_for(model, x, labels)
    arrays, prior = model.arrays, model.shared_prior[wanted]
    moves = [(before[0], after[0]) for before, after in arrays.steps(document)]
    before, after = (np.concatenate(part) for part in zip(*moves, strict=True))
    moved = before != after
    before, after = before[moved], after[moved]
    change = arrays.values[after][:, wanted] - arrays.values[before][:, wanted]
    n_terms, steps = document.shape[1], np.arange(len(before))
    asked = arrays.terms[arrays.feature[before]] if len(before) else np.zeros(0, dtype=np.int64)
    step_of = Csr((np.ones(len(before)), (asked, steps)), shape=(n_terms, len(before)))
    gained = (step_of @ change).toarray()
    gained += np.multiply.outer(step_of @ (arrays.rest[after] - arrays.rest[before]), prior)
    roots = arrays.at(arrays.roots[np.newaxis], model.shared_prior)[:, wanted]
    leaves = arrays.at(arrays.leaves(document), model.shared_prior)[:, wanted]
    table = Csr(gained.T * _scale(roots[0], leaves[0], model.trees_a_label_[wanted])[:, np.newaxis])
    table.eliminate_zeros()
    return table


def _scale(roots: Floats, leaves: Floats, n_trees: npt.NDArray[np.int64]) -> Floats:
    """(logit P − logit P₀)/(P − P₀) per tree; the slope of the logit where nothing changed."""
    n = np.maximum(n_trees, 1)
    P0, P = (np.clip(sums / n, CERTAIN, 1 - CERTAIN) for sums in (roots, leaves))
    same = np.abs(P - P0) < CERTAIN
    logits = np.log(P / (1 - P)) - np.log(P0 / (1 - P0))
    scale = np.where(same, 1 / (P * (1 - P)), logits / np.where(same, 1.0, P - P0))
    return np.where(n_trees > 0, scale / n, 0.0)
