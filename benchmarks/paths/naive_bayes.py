"""One two-class multinomial naive Bayes a label, add-one smoothing: learned, then asked for all test documents."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Candidate, Goal, HotPath, Job, micro_f1, same_decisions


def _data(inputs: Inputs) -> tuple[Any, Any, Any]:
    return inputs.matrix("counts_train"), inputs.matrix("Y_train"), inputs.matrix("counts_test")


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`BinaryNaiveBayes`, documents without a label being negatives as they are for scikit-learn.

    It takes as many threads as the process may run on. Work this short gains nothing by a second one.
    """
    from manylabel.models.binary_nb import BinaryNaiveBayes

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    X, Y, Q = _data(inputs)

    def run() -> Any:
        return BinaryNaiveBayes(smoothing="laplace", unlabelled="negative").fit(X, Y).predict(Q)

    return Job(run, lambda decided: {"decisions": decided.toarray()})


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`OneVsRestClassifier(MultinomialNB(alpha=1))`."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.naive_bayes import MultinomialNB

    X, Y, Q = _data(inputs)

    def run() -> Any:
        return OneVsRestClassifier(MultinomialNB(alpha=1.0), n_jobs=threads).fit(X, Y).predict(Q)

    return Job(run, lambda decided: {"decisions": decided.toarray()})


PATH = HotPath(
    "naive_bayes",
    "binary naive Bayes, fit and predict",
    (
        Candidate(OURS, "manylabel", ("manylabel.models.binary_nb",), manylabel),
        Candidate(
            "OneVsRest(MultinomialNB)",
            "scikit-learn",
            ("sklearn.multiclass", "sklearn.naive_bayes"),
            scikit_learn,
            quick=(1,),
        ),
    ),
    same_decisions,
    (Goal("OneVsRest(MultinomialNB)", 15, our_threads=1),),
    growth=("documents", "labels", "terms"),
    extra=micro_f1,
)
