"""Two views of a document take turns at its label set until it stays as it is.

A state is the label set of a document as it stands. A view says, from a state, how much speaks for each label; its pass
over all labels makes the next state, either all labels at once (synchronous) or one after the other, each reading the
newest values (sequential). Documents are independent: each stops when its state comes back, at once (settled) or after
some rounds (a cycle).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.models.score_kinds import Bools

Rows = npt.NDArray[np.intp]
Update = Literal["synchronous", "sequential"]


class View(Protocol):
    """Says how much speaks for each label of some documents, their other labels being known."""

    def all_at_once(self, state: Bools, rows: Rows) -> Floats:
        """Scores of all labels from one state, documents × labels; `rows` names the documents."""

    def one_by_one(self, state: Bools, rows: Rows, sweep: Ints) -> Floats:
        """Scores of all labels, each taken in its turn; `state` is changed on the way, label by label."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How the views take turns."""

    update: Update
    max_rounds: int
    best_of_cycle: bool
    """In a cycle, answer with the state the judge is surest of, instead of the last one."""
    sweep: Ints
    """The labels in the order of a sequential pass."""
    judge: int
    """Which of the views is asked how sure it is: the feature classifier."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last scores of each document, the rounds it took, and the period it came back with."""

    scores: Floats
    iterations: Ints
    periods: Ints
    """1: settled; 2 and more: a cycle; 0: still moving after the last round."""

    @property
    def state(self) -> Bools:
        """The label sets: a label is given where its score is above 0."""
        return np.asarray(self.scores > 0)


def take_turns(start: Bools, views: Sequence[View], rules: Rules) -> Outcome:
    """Let the views take turns from a start until every document's state has been seen before.

    state ← start;  repeat: for each view, state ← (its scores > 0);  until the state was seen before, or `max_rounds`

    The answer is the state after the last round. Source: Lee 2018, section on co-training; the guard against cycles and
    what is answered then are ours, since the paper says only that a final state is reached.
    """
    n_documents, n_labels = start.shape
    scores, state = np.zeros((n_documents, n_labels)), start.copy()
    iterations, periods = np.zeros((2, n_documents), dtype=np.int64)
    history = [np.packbits(start, axis=1)]
    sureness = [np.zeros(n_documents)]
    active = np.arange(n_documents)
    for iteration in range(1, rules.max_rounds + 1):
        if not len(active):
            break
        found, sure = _round(state[active], active, views, rules)
        scores[active], state[active] = found, found > 0
        iterations[active] = iteration
        sureness.append(_placed(sure, active, n_documents))
        seen = _last_seen(state[active], history, active)
        history.append(_placed(np.packbits(state[active], axis=1), active, n_documents))
        periods[active] = np.where(seen >= 0, iteration - seen, 0)
        active = active[seen < 0]
    if rules.best_of_cycle:
        _answer_with_best(scores, iterations, periods, history, sureness, views, rules)
    return Outcome(scores, iterations, periods)


def _round(state: Bools, rows: Rows, views: Sequence[View], rules: Rules) -> tuple[Floats, Floats]:
    """The scores of the last view after each has had its turn, and how sure the judge was."""
    scores, sure = np.zeros(state.shape), np.zeros(len(rows))
    for number, view in enumerate(views):
        if rules.update == "synchronous":
            scores = view.all_at_once(state, rows)
        else:
            scores = view.one_by_one(state.copy(), rows, rules.sweep)
        state = scores > 0
        if number == rules.judge:
            sure = np.abs(scores).sum(axis=1)
    return scores, sure


def _placed(values: npt.NDArray[Any], rows: Rows, n_documents: int) -> npt.NDArray[Any]:
    placed = np.zeros((n_documents, *values.shape[1:]), dtype=values.dtype)
    placed[rows] = values
    return placed


def _last_seen(state: Bools, history: Sequence[npt.NDArray[np.uint8]], rows: Rows) -> Ints:
    """The last round in which each document had this state, −1 for never."""
    now = np.packbits(state, axis=1)
    seen = np.full(len(rows), -1, dtype=np.int64)
    for number, then in enumerate(history):
        seen[(then[rows] == now).all(axis=1)] = number
    return seen


def _answer_with_best(
    scores: Floats,
    iterations: Ints,
    periods: Ints,
    history: Sequence[npt.NDArray[np.uint8]],
    sureness: Sequence[Floats],
    views: Sequence[View],
    rules: Rules,
) -> None:
    """For documents in a cycle, the scores of the round the judge was surest in (the earliest of equals).

    A state follows from the one before it, so the round is simply taken again.
    """
    cycling = np.flatnonzero(periods > 1)
    if not len(cycling):
        return
    rounds = np.arange(len(sureness))[:, None]
    inside = (rounds > (iterations - periods)[cycling]) & (rounds <= iterations[cycling])
    best = np.where(inside, np.stack(sureness)[:, cycling], -np.inf).argmax(axis=0)
    for number in np.unique(best):
        rows = cycling[best == number]
        before = np.unpackbits(history[number - 1][rows], axis=1, count=scores.shape[1]).astype(np.bool_)
        scores[rows] = _round(before, rows, views, rules)[0]
