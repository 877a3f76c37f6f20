"""One linear SVM a label: squared hinge, C = 1, tolerance 1e-4, the intercept one more weight, on tf-idf vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Answer, Candidate, Goal, HotPath, Job

C, TOLERANCE, MOST_EPOCHS = 1.0, 1e-4, 1000
WORSE_BY = 1e-5


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`LinearSVM`, all labels on one matrix."""
    from manylabel.models.linear_svm import LinearSVM

    X, Y = inputs.matrix("X_train"), inputs.matrix("Y_train")

    def run() -> Any:
        return LinearSVM(loss="squared_hinge", C=C, tol=TOLERANCE, n_jobs=threads).fit(X, Y)

    return Job(run, lambda model: _weights(model.coef_, model.intercept_))


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`OneVsRestClassifier(LinearSVC())`."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    X, Y = inputs.matrix("X_train"), inputs.matrix("Y_train")

    def run() -> Any:
        one = LinearSVC(C=C, tol=TOLERANCE, max_iter=MOST_EPOCHS, random_state=0)
        return OneVsRestClassifier(one, n_jobs=threads).fit(X, Y)

    def answer(model: Any) -> Answer:
        learned = model.estimators_
        coefficients = np.vstack([one.coef_.ravel() for one in learned])
        return _weights(coefficients, np.array([one.intercept_[0] for one in learned]))

    return Job(run, answer)


def pecos(inputs: Inputs, threads: int) -> Job:
    """PECOS, one layer of one-vs-rest SVMs, nothing cut off the weights."""
    from pecos.xmc.base import MLModel, MLProblem

    X, Y = inputs.matrix("X_train").astype(np.float32), inputs.matrix("Y_train").astype(np.float32)

    def run() -> Any:
        settings = MLModel.TrainParams(
            threshold=0.0, Cp=C, Cn=C, max_iter=MOST_EPOCHS, eps=TOLERANCE, bias=1.0, threads=threads
        )
        return MLModel.train(MLProblem(X, Y), settings)

    def answer(model: Any) -> Answer:
        W = model.W.toarray()
        return _weights(W[:-1].T, W[-1])

    return Job(run, answer)


def libmultilabel(inputs: Inputs, threads: int) -> Job:
    """LibMultiLabel's `train_1vsrest`, told to use so many threads (by itself it takes all physical cores)."""
    from libmultilabel import linear

    X, Y = inputs.matrix("X_train"), inputs.matrix("Y_train").astype(np.int64)
    linear.linear.psutil.cpu_count = lambda logical=True: threads

    def run() -> Any:
        return linear.train_1vsrest(Y, X, options=f"-s 1 -c {C} -e {TOLERANCE} -B 1", verbose=False)

    def answer(model: Any) -> Answer:
        W = np.asarray(model.weights)
        return _weights(W[:-1].T, W[-1])

    return Job(run, answer)


def _weights(coefficients: Any, intercepts: Any) -> Answer:
    dense = coefficients.toarray() if hasattr(coefficients, "toarray") else np.asarray(coefficients)
    return {"W": dense.astype(np.float64), "b": np.asarray(intercepts, dtype=np.float64).ravel()}


def objectives(answer: Answer, X: Any, Y: Any) -> Any:
    """½ (‖w‖² + b²) + C Σ_i max(0, 1 − y_i (w·x_i + b))² of every label: what all of them minimise."""
    signs = 2.0 * Y.toarray() - 1.0
    slack = np.maximum(0.0, 1.0 - signs * (X @ answer["W"].T + answer["b"]))
    return 0.5 * ((answer["W"] ** 2).sum(axis=1) + answer["b"] ** 2) + C * (slack**2).sum(axis=0)


def agree(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether our objective, summed over all labels, is worse than the peer's by at most 1e-5 of it."""
    X, Y = inputs.matrix("X_train"), inputs.matrix("Y_train")
    f, g = objectives(ours, X, Y), objectives(theirs, X, Y)
    total, label = (f.sum() - g.sum()) / g.sum(), ((f - g) / g).max()
    return Agreement(bool(total <= WORSE_BY), f"objective {total:+.0e}, worst label {label:+.0e}")


PATH = HotPath(
    "svm",
    "one-vs-rest linear SVM, fit",
    (
        Candidate(OURS, "manylabel", ("manylabel.models.linear_svm",), manylabel),
        Candidate(
            "OneVsRest(LinearSVC)",
            "scikit-learn",
            ("sklearn.multiclass", "sklearn.svm"),
            scikit_learn,
            quick=(1,),
        ),
        Candidate("PECOS", "PECOS", ("pecos.xmc.base",), pecos, quick=(2,)),
        Candidate("LibMultiLabel", "LibMultiLabel", ("libmultilabel.linear",), libmultilabel, quick=()),
    ),
    agree,
    (
        Goal("OneVsRest(LinearSVC)", 4, our_threads=2),
        Goal("PECOS", 1.5, our_threads=2, peer_threads=2),
    ),
    growth=("documents", "labels", "terms"),
)
