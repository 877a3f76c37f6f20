"""A threshold a label: the one with the best F1 among all attained scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Answer, Candidate, HotPath, Job


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`PerLabelThreshold` without shrinkage and floor; it also learns the best threshold for all labels together."""
    from manylabel.decisions.per_label import PerLabelThreshold
    from manylabel.models.score_kinds import ScoreKind

    scores, Y = inputs.array("similarities_test"), inputs.matrix("Y_test")

    def run() -> Any:
        return PerLabelThreshold(shrinkage=0.0, floor=0.0).fit(scores, Y, ScoreKind.SIMILARITY)

    return Job(run, lambda rule: {"thresholds": rule.thresholds_})


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`precision_recall_curve` of every label, and the best F1 on it."""
    from sklearn.metrics import precision_recall_curve

    scores, Y = inputs.array("similarities_test"), inputs.matrix("Y_test").tocsc()

    def best(label: int) -> float:
        truth = Y[:, [label]].toarray().ravel()
        if not truth.any():
            return np.nan
        precision, recall, thresholds = precision_recall_curve(truth, scores[:, label])
        f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-300)
        return float(thresholds[int(np.argmax(f1[:-1]))])

    return Job(lambda: [best(label) for label in range(Y.shape[1])], lambda cuts: {"thresholds": np.array(cuts)})


def agree(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether both thresholds of every label attain the same F1; the thresholds themselves may tie."""
    scores, truth = inputs.array("similarities_test"), inputs.matrix("Y_test").toarray() != 0
    seen = truth.any(axis=0)

    def f1(cuts: Any) -> Any:
        given = scores >= cuts
        return 2 * (given & truth).sum(axis=0) / np.maximum(given.sum(axis=0) + truth.sum(axis=0), 1)

    worst = float(np.abs(f1(ours["thresholds"]) - f1(theirs["thresholds"]))[seen].max(initial=0.0))
    return Agreement(worst < 1e-12, f"best F1 differs by {worst:.0e} at most")


PATH = HotPath(
    "thresholds",
    "best threshold of every label",
    (
        Candidate(OURS, "manylabel", ("manylabel.decisions.per_label",), manylabel, (1,), (1,)),
        Candidate("precision_recall_curve", "scikit-learn", ("sklearn.metrics",), scikit_learn, (1,), (1,)),
    ),
    agree,
    growth=("documents", "labels"),
)
