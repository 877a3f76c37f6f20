"""What a decision rule expects on noise labels, beside what it reaches: selection must not see the tested documents.

``python -m benchmarks.selection_leak`` draws documents whose labels have nothing to do with their words, keeps the 100
terms of highest chi-square, and learns one threshold per label on out-of-fold scores. Where selection is learned inside
the folds, the micro F1 that the rule expects equals that on new documents. Beside it stands the leak that this avoids:
terms selected once, with the labels of all training documents, before the folds are made.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from manylabel import TextClassifier
from manylabel.estimator import Csr
from manylabel.features import TermSelector

N_TERMS, N_LABELS, TERMS_PER_DOCUMENT, LABEL_SHARE = 3000, 5, 30, 0.2


@dataclass(frozen=True)
class Leak:
    """Mean micro F1 that the rule expected and reached, and the standard error of the mean difference."""

    expected: float
    reached: float
    standard_error: float

    @property
    def difference(self) -> float:
        """How much more was expected than reached."""
        return self.expected - self.reached


def noise(n_documents: int, generator: np.random.Generator) -> tuple[Csr, Csr]:
    """Counts of random terms, and random labels."""
    columns = generator.integers(0, N_TERMS, size=(n_documents, TERMS_PER_DOCUMENT))
    rows = np.repeat(np.arange(n_documents), TERMS_PER_DOCUMENT)
    X = Csr((np.ones(columns.size), (rows, columns.ravel())), shape=(n_documents, N_TERMS))
    return X, Csr((generator.random((n_documents, N_LABELS)) < LABEL_SHARE).astype(np.int8))


def measure(
    method: str = "svm", n_documents: int = 300, n_repeats: int = 20, k: int = 100, *, before_folds: bool = False
) -> Leak:
    """Expectation and reality of the rule ``best`` for micro F1, over independent draws of the noise.

    `before_folds` selects the terms before the folds that learn thresholds, with the labels of all documents.
    """
    pairs = []
    for seed in range(n_repeats):
        generator = np.random.default_rng(seed)
        (X, Y), (X_new, Y_new) = noise(n_documents, generator), noise(2000, generator)
        if before_folds:
            selector = TermSelector(function="chi2", k=k).fit(X, Y)
            X, X_new = selector.transform(X), selector.transform(X_new)
        model = TextClassifier(method, selection={"function": "chi2", "k": k}, metric="micro-f1", seed=seed, n_jobs=1)
        model.fit(X, Y)
        choice = model.decided_.choice_
        assert choice is not None
        pairs.append((choice["value"], model.score(X_new, Y_new)))
    expected, reached = np.array(pairs).T
    error = float((expected - reached).std(ddof=1) / np.sqrt(n_repeats))
    return Leak(float(expected.mean()), float(reached.mean()), error)


def main() -> None:
    """Print two lines per method: selection before the folds, and inside them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=["svm", "knn", "auto"])
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    print("method  selection         expected  reached  difference  standard error   (micro F1)")
    for method in options.methods:
        for before, where in ((True, "before the folds"), (False, "inside the folds")):
            leak = measure(method, n_repeats=options.repeats, before_folds=before)
            figures = f"{leak.expected:9.3f} {leak.reached:8.3f} {leak.difference:11.3f} {leak.standard_error:15.3f}"
            print(f"{method:7} {where} {figures}")


if __name__ == "__main__":
    main()
