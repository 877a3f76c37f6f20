"""Are guarantees kept? Recall and false-discovery rate guaranteed by `--guarantee`, measured over random re-splits.

python -m benchmarks.guarantees              prints the tables of docs/guarantees.md (the data: MANYLABEL_DATA)

Two ways. *Divisions*: the method is fitted once, on a random half of the documents; the other half, which it has not
seen, is divided at random into held-out documents (a quarter as many as it was fitted on, so that a fifth is held out
in all) and test documents, many times. Each time the threshold is found on the former and measured on the
latter.
*Refits*: all documents are divided at random into as many training documents and a test split, and a `TextClassifier`
does everything anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.data.labels import label_matrix
from manylabel.decisions.guarantee import Guarantee, false_discovery_threshold, recall_threshold
from manylabel.estimator import Csr

DOCUMENTS = {"reuters21578": 12_902, "debtags": 6_000}
"""How many documents are used: all of Reuters' training and test splits, and a random part of debtags."""
GUARANTEES = (("recall", 0.9), ("recall", 0.8), ("fdr", 0.2))


@dataclass(frozen=True)
class Pool:
    """Texts and their labels, in a random order."""

    texts: list[Any]
    label_sets: list[list[str]]
    names: list[str]

    @classmethod
    def of(cls, data: str, seed: int = 0) -> Pool:
        corpus = load(data).corpus
        texts, label_sets = list(corpus.texts), list(corpus.label_sets)
        order = np.random.default_rng(seed).permutation(len(corpus))[: DOCUMENTS[data]].tolist()
        sets = [list(label_sets[row]) for row in order]
        return cls([texts[row] for row in order], sets, sorted({name for names in sets for name in names}))

    def fit(self, rows: np.ndarray, decision: dict[str, Any], seed: int) -> TextClassifier:
        texts, sets = [self.texts[row] for row in rows], [self.label_sets[row] for row in rows]
        return TextClassifier("svm", decision=decision, seed=seed).fit(texts, sets, label_names=self.names)

    def truth(self, rows: np.ndarray) -> np.ndarray:
        return label_matrix([self.label_sets[row] for row in rows], self.names).toarray() > 0


@dataclass(frozen=True)
class Measured:
    """Recall per document with a label, false-discovery rate and labels given per document."""

    recall: float
    fdr: float
    size: float

    @classmethod
    def of(cls, truth: np.ndarray, given: np.ndarray) -> Measured:
        right, true, size = (truth & given).sum(axis=1), truth.sum(axis=1), given.sum(axis=1)
        labelled = true > 0
        recall = float((right[labelled] / true[labelled]).mean())
        return cls(recall, float(((size - right) / np.maximum(size, 1)).mean()), float(size.mean()))


@dataclass(frozen=True)
class Half:
    """The scores of one half of a pool by a model fitted on the other."""

    model: TextClassifier
    scores: np.ndarray
    truth: np.ndarray
    fitted: int

    @classmethod
    def of(cls, pool: Pool) -> Half:
        rows = np.arange(len(pool.texts))
        fitted = len(rows) // 2
        model = pool.fit(rows[:fitted], {"rule": "per-label", "probabilities": "logistic"}, seed=0)
        X = model.transform([pool.texts[row] for row in rows[fitted:]])
        return cls(model, model.decided_.score_batch(X), pool.truth(rows[fitted:]), fitted)

    def default(self) -> Measured:
        """What the method does by its own rule, a threshold for each label."""
        decided = self.model.decided_
        assert decided.rule_ is not None
        return Measured.of(self.truth, decided.rule_.decide_dense(self.scores, decided.score_kind))

    def rule(self, measure: Any, level: float) -> Guarantee:
        """The rule, prepared: the classifier's probabilities are the ones it would learn from the same scores."""
        return Guarantee(measure, level).restore({"calibration_": self.model.decided_.calibration_})

    def divisions(self, measure: Any, level: float, repeats: int, seed: int = 0) -> Iterator[Measured]:
        """Find the threshold and measure anew for each random division into held-out and test documents."""
        kind = self.model.decided_.score_kind
        keys, random = self.rule(measure, level).keys(self.scores, kind), np.random.default_rng(seed)
        for repeat in range(repeats):
            order = random.permutation(len(keys))
            held, test = order[: self.fitted // 4], order[self.fitted // 4 :]
            used = held[self.truth[held].any(axis=1)] if measure == "recall" else held
            search, alpha = (recall_threshold, 1 - level) if measure == "recall" else (false_discovery_threshold, level)
            threshold = search(keys[used], self.truth[used], alpha).threshold
            if repeat == 0:  # the rule as users call it finds the same
                fitted = self.rule(measure, level).fit(self.scores[held], Csr(self.truth[held].astype(np.int8)), kind)
                assert fitted.threshold_ == threshold
            yield Measured.of(self.truth[test], keys[test] >= threshold)


def refits(pool: Pool, measure: str, level: float, repeats: int) -> Iterator[Measured]:
    """Train anew on random documents, as many as were fitted and held out above, and measure on the others."""
    size = len(pool.texts) // 2 * 5 // 4
    for seed in range(repeats):
        order = np.random.default_rng(1000 + seed).permutation(len(pool.texts))
        model = pool.fit(order[:size], {"rule": "guarantee", "measure": measure, "level": level}, seed)
        given = label_matrix(model.predict([pool.texts[row] for row in order[size:]]), pool.names).toarray() > 0
        yield Measured.of(pool.truth(order[size:]), given)


def row(name: str, guaranteed: str, found: list[Measured]) -> str:
    """A line of the table: means, and standard deviations of what is guaranteed."""
    cells = [f"{np.mean([getattr(one, m) for one in found]):.4f} ± {np.std([getattr(one, m) for one in found]):.4f}"
             for m in ("recall", "fdr")]  # fmt: skip
    return f"| {name} | {guaranteed} | {' | '.join(cells)} | {np.mean([one.size for one in found]):.2f} |"


def main(repeats: int = 200, again: int = 5) -> None:
    print("| data | guaranteed | recall per document | false-discovery rate | labels given |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    for data in sys.argv[1:] or DOCUMENTS:
        pool = Pool.of(data)
        half = Half.of(pool)
        print(row(data, "nothing (svm, a threshold a label)", [half.default()]), flush=True)
        for measure, level in GUARANTEES:
            print(row(data, f"{measure} {level}", list(half.divisions(measure, level, repeats))), flush=True)
        found = list(refits(pool, "recall", 0.9, again))
        print(row(data, f"recall 0.9, {again} refits", found), flush=True)


if __name__ == "__main__":
    main()
