"""The least cautious cut whose risk on new documents is bounded: conformal risk control.

A family of label sets S_t = { k : key_k ≥ t } grows as the cut t falls. Each of n held-out documents has a loss
L_i(t) from 0 to 1 that is monotone in t. The cut is the last one on the way to the preferred end (small sets for a
guaranteed recall, large ones for a guaranteed false-discovery rate) with

    (n R̂(t) + 1) / (n + 1) ≤ α,      R̂(t) = (1/n) Σ_i L_i(t),

and then the expected loss of one more document is at most α, whatever the scores are worth, if that document and the
held-out ones are exchangeable.

Source: Angelopoulos, Bates, Fisch, Lei & Schuster 2022 (Conformal Risk Control), theorem 1, with B = 1; losses that are
not monotone are replaced by their supremum over stricter cuts, as they propose for such losses.

The sets of the held-out documents stay the same between two keys they attain. The cut lies in the middle between the
key found and the next lower one, so that rounding decides nothing. For the recall this is to the safe side; for the
false-discovery rate every cut above the next lower key is within the bound of the theorem.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Floats
from manylabel.models.score_kinds import Bools


@dataclass(frozen=True, slots=True)
class ControlledCut:
    """A cut, the mean loss of the held-out documents there, and the bound (n R̂ + 1)/(n + 1) it gives."""

    cut: float
    risk: float
    bound: float


def bound_of(risk: float, documents: int) -> float:
    """(n R̂ + B) / (n + 1) with B = 1, the greatest loss there is.

    >>> bound_of(0.25, 4)
    0.4
    """
    return (documents * risk + 1) / (documents + 1)


def recall_cut(keys: Floats, truth: Bools, alpha: float) -> ControlledCut:
    """The highest cut at which 1 − |S∩T|/|T|, the missed share of a document's labels, is bounded by α.

    Documents without a label have no recall and must be left out by the caller. Keys of −∞ are never given. Where no
    cut will do, the lowest one is answered, its bound above α.

    >>> keys = np.array([[0.9, 0.5], [0.8, 0.1], [0.7, 0.2]])
    >>> truth = np.array([[True, True], [True, False], [False, True]])
    >>> found = recall_cut(keys, truth, alpha=0.6)      # at 0.5: (3 · 1/3 + 1)/4
    >>> round(found.cut, 3), round(found.risk, 3), found.bound
    (0.35, 0.333, 0.5)
    """
    rows, columns = np.nonzero(truth & (keys > -math.inf))
    shares = 1 / truth.sum(axis=1)[rows]
    places, missed = _running(keys[rows, columns], -shares / len(keys), 1.0)
    fine = np.flatnonzero(_bounds(missed, len(keys)) <= alpha)
    return _at(int(fine[0]) if len(fine) else len(places) - 1, places, missed, 1.0, keys)


def false_discovery_cut(keys: Floats, truth: Bools, alpha: float) -> ControlledCut:
    """The lowest cut at which |S∖T|/max(|S|, 1), the wrong share of the labels given, is bounded by α.

    The share falls and rises as labels are added, so that each document counts with the greatest share it had at this
    or any higher cut: conservative, and monotone. Where no cut will do, the cut is +∞: nothing is given.

    >>> keys = np.array([[0.9, 0.5], [0.8, 0.1], [0.7, 0.2]])
    >>> truth = np.array([[True, True], [True, False], [False, True]])
    >>> found = false_discovery_cut(keys, truth, alpha=0.5)      # 0.7 is wrong, and counts 1 from there on
    >>> round(found.cut, 3), round(found.risk, 3), found.bound
    (0.15, 0.333, 0.5)
    """
    order = np.argsort(-keys, axis=1, kind="stable")
    ranked, wrong = np.take_along_axis(keys, order, 1), ~np.take_along_axis(truth, order, 1)
    shares = np.cumsum(wrong, axis=1) / np.arange(1, keys.shape[1] + 1)
    # Labels of one key come together: only the share after the last of them is that of a set of the family.
    shares[:, :-1][ranked[:, :-1] == ranked[:, 1:]] = 0
    rises = np.diff(np.maximum.accumulate(shares, axis=1), axis=1, prepend=0)
    given = ranked > -math.inf
    places, risks = _running(ranked[given], rises[given] / len(keys), 0.0)
    fine = np.flatnonzero(_bounds(risks, len(keys)) <= alpha)
    return _at(int(fine[-1]) if len(fine) else -1, places, risks, 0.0, keys)


def _running(keys: Floats, steps: Floats, start: float) -> tuple[Floats, Floats]:
    """The distinct keys, highest first, and the risk at each: where it starts, and all steps so far."""
    order = np.argsort(-keys, kind="stable")
    ordered = keys[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) if len(ordered) else np.zeros(0, dtype=np.intp)
    return ordered[last], np.clip(start + np.cumsum(steps[order])[last], 0.0, 1.0)


def _bounds(risks: Floats, documents: int) -> Floats:
    """The bound at each risk, a hair lower, so that sums that end on α in exact numbers do so here."""
    return (documents * risks + 1) / (documents + 1) - 1e-12


def _at(place: int, places: Floats, risks: Floats, nothing: float, keys: Floats) -> ControlledCut:
    """The cut at one of the attained keys, or above them all (−1)."""
    if place < 0:
        return ControlledCut(math.inf, nothing, bound_of(nothing, len(keys)))
    key, risk = float(places[place]), float(risks[place])
    lower = keys[(keys < key) & (keys > -math.inf)]
    middle = (key + float(lower.max())) / 2 if math.isfinite(key) and len(lower) else key
    return ControlledCut(middle, risk, bound_of(risk, len(keys)))
