"""The quality that training expects, beside what the model reaches on a test split that it never saw.

``python -m benchmarks.expected_quality`` trains on one half of each data set, drawn at random and stratified by label,
and measures on the other half, several times. Three figures of micro F1: *own*, the rule judged on the out-of-fold
scores it was learned from; *expected*, what ``manylabel train`` prints; *reached*, on the other half.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from manylabel.data import load
from manylabel.data.corpus import Corpus
from manylabel.data.splits import iterative_split
from manylabel.decisions.cross_fitting import unseen_decisions
from manylabel.estimator import Csr, Floats
from manylabel.evaluation.expected import expected_quality
from manylabel.features.pipeline import FeaturePipeline
from manylabel.metrics import compute_metrics
from manylabel.models.out_of_fold import OutOfFold
from manylabel.recipe import Recipe


@dataclass(frozen=True)
class Measured:
    """Micro F1 per repetition: own, expected and reached, and whether the interval held the reached one."""

    figures: Floats
    inside: int

    def line(self) -> str:
        """The means, their differences from the reached value, and the share of intervals that held it."""
        own, expected, reached = 100 * self.figures.mean(axis=0)
        error = 100 * (self.figures[:, 1] - self.figures[:, 2]).std(ddof=1) / len(self.figures) ** 0.5
        return (
            f"{own:6.2f} {expected:9.2f} {reached:8.2f} {own - reached:+11.2f} {expected - reached:+16.2f} "
            f"± {error:.2f}   {self.inside} of {len(self.figures)}"
        )


def measure(corpus: Corpus, method: str, repeats: int) -> Measured:
    """Expectation and reality over random halves of a corpus."""
    used = {name for names in corpus.label_sets for name in names}
    Y = corpus.label_matrix([name for name in corpus.label_names if name in used])
    figures, inside = [], 0
    for seed in range(repeats):
        train, test = (np.sort(half) for half in iterative_split(Y, (0.5, 0.5), seed=seed))
        recipe = Recipe.of(method, {"features": {"stemmer": "auto"}} if corpus.counts is None else {})
        pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting, 1)
        halves = [corpus.subset(rows) for rows in (train, test)]
        documents = [half.texts if half.counts is None else half.counts for half in halves]
        learned = pipeline.fit_transform(documents[0], Csr(Y[train]))
        decided, Y_train = recipe.build(seed=seed, n_jobs=1), Csr(Y[train])
        facts = decided.wanted(learned.facts)
        out_of_fold = OutOfFold(learned.X, facts, learned.in_folds, decided.folds, seed)
        scored = decided.score_out_of_fold(decided.rule, Y_train, out_of_fold)
        rule = decided.rule if scored.rule is None else scored.rule
        assert rule is not None
        Y_scored, scores, kind = Csr(Y_train[scored.rows]), scored.decidable(rule), scored.model.score_kind
        crossed = scored.crossed or (rule.fit_crossed(scores, Y_scored, kind),)
        expected = expected_quality(*unseen_decisions([one for one in crossed if one is not None], Y_scored))
        figure = expected["figures"][0]
        fitted = scored.fit(out_of_fold, Y_train)
        reached = _micro_f1(Csr(Y[test]), rule.decide(fitted.scores(pipeline.transform(documents[1])), kind))
        figures.append((_micro_f1(Y_scored, rule.decide(scores, kind)), figure["value"], reached))
        inside += figure["low"] <= reached <= figure["high"]
    return Measured(np.array(figures), inside)


def _micro_f1(Y_true: Csr, Y_pred: Csr) -> float:
    return compute_metrics(Y_true, Y_pred, ["micro-f1"])["micro-f1"]


def main() -> None:
    """Print one line per data set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["townhall", "medical", "enron", "hallmarks"])
    parser.add_argument("--methods", nargs="*", default=["svm", "auto"])
    parser.add_argument("--repeats", type=int, default=10)
    options = parser.parse_args()
    print("data       method    own  expected  reached  own−reached  expected−reached   in the interval")
    for name in options.data:
        corpus = load(name).corpus
        for method in options.methods:
            print(f"{name:10} {method:6} {measure(corpus, method, options.repeats).line()}", flush=True)


if __name__ == "__main__":
    main()
