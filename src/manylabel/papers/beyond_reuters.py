"""Runs on Reuters that go beyond the papers: support vector machines on words and stems, and rules that decide.

What is chosen is chosen on training documents alone. The test split is later than the training split, so documents are
held out by time: the training split falls into stretches, each answered by what was learned from the others. A label
whose documents all lie in one stretch counts 0, for every recipe alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.data import load
from manylabel.data.corpus import Corpus
from manylabel.data.dates import read_dates
from manylabel.data.labels import label_matrix
from manylabel.data.splits import time_blocks
from manylabel.decisions.base import DecisionRule
from manylabel.decisions.per_label import PerLabelThreshold
from manylabel.decisions.seen_sets import SeenSets
from manylabel.estimator import Csr, Floats
from manylabel.evaluation.bootstrap import document_statistics, interval
from manylabel.features import Vectorizer, Weighting
from manylabel.metrics import compute_metrics, document_counts, label_counts
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.out_of_fold import out_of_fold_scores
from manylabel.papers.jobs import Plan

METRICS = {"micro F1": "micro-f1", "macro F1": "macro-f1", "exact match": "exact-match"}
_WORDS: Mapping[str, Any] = {"fields": ("title", "*")}
_STEMS: Mapping[str, Any] = {"fields": ("title", "*"), "stemmer": "english", "min_df": 2}
READINGS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "words": (_WORDS,),
    "stems": (_STEMS,),
    "words and stems": (_WORDS, _STEMS),
}
"""What the features are; title words stand in each once more as features of their own."""
RULES: Mapping[str, DecisionRule] = {
    "thresholds": PerLabelThreshold(shrinkage=0),
    "thresholds shrunken by 2": PerLabelThreshold(shrinkage=2),
    "thresholds shrunken by 5": PerLabelThreshold(shrinkage=5),
    "the most probable seen set": SeenSets(metric="exact-match", dependence=0.25),
}
FOLDS = 5
RESAMPLES = 1000


@cache
def parts() -> tuple[Corpus, Corpus]:
    """The training and the test documents of ModApte with the 90 labels that both have."""
    corpus = load("reuters21578", label_set="R90").corpus
    return corpus.split("train"), corpus.split("test")


def blocks(plan: Plan) -> int:
    """Into how many stretches of time the training split falls."""
    return 2 if plan.quick else 8


def repeats(plan: Plan) -> int:
    """Over how many divisions into folds thresholds are averaged."""
    return 1 if plan.quick else 3


def run_block(reading: str, block: int, plan: Plan) -> dict[str, Any]:
    """What every rule gives one stretch of time when it is left out of training, as counts that add up."""
    train, _ = parts()
    seen, held_out = time_blocks(read_dates(train.metadata["date"]), blocks(plan))[block]
    asked = train.subset(held_out)
    truth = asked.label_matrix()
    return {rule: counted(truth, given) for rule, given in answers(reading, train.subset(seen), asked, plan).items()}


def run_test(reading: str, plan: Plan) -> dict[str, Any]:
    """The metrics of every rule on the test split, in percent, with 95 % intervals by resampling test documents."""
    train, test = parts()
    truth = test.label_matrix()
    found = {}
    for rule, given in answers(reading, train, test, plan).items():
        measured = compute_metrics(truth, given, list(METRICS.values()))
        found[rule] = {
            "metrics": [100 * value for value in measured.values()],
            "intervals": intervals(truth, given, plan.seed),
        }
    return found


def intervals(truth: Csr, given: Csr, seed: int) -> list[list[float]]:
    """95 % intervals of micro F1, macro F1 and exact match, by resampling test documents."""
    statistics = document_statistics(truth, given)
    found = (interval(statistics, metric, seed, RESAMPLES) for metric in METRICS.values())
    return [[100 * one.low, 100 * one.high] for one in found]


def answers(reading: str, train: Corpus, asked: Corpus, plan: Plan) -> dict[str, Csr]:
    """The label sets that each rule gives, learned on the training documents alone."""
    V, W = side_by_side(READINGS[reading], train, asked, plan.n_jobs)
    Y = label_matrix(train.label_sets, train.label_names)
    model = LinearSVM(seed=plan.seed, n_jobs=plan.n_jobs)
    divisions = [out_of_fold_scores(model, V, Y, FOLDS, plan.seed + repeat)[0] for repeat in range(repeats(plan))]
    scores = model.fit(V, Y).scores(W)
    return {name: decided(rule, divisions, Y, scores) for name, rule in RULES.items()}


def side_by_side(readings: Sequence[Mapping[str, Any]], train: Corpus, asked: Corpus, n_jobs: int | None) -> list[Csr]:
    """Weighted features of training and asked documents, one reading beside the other, each document of length 1."""
    columns: tuple[list[Csr], list[Csr]] = [], []
    for reading in readings:
        vectorizer = Vectorizer(n_jobs=n_jobs, **reading)
        counts = vectorizer.fit_transform(train.texts)
        weighting = Weighting(tf="log", idf="smooth", norm="l2").fit(counts)
        columns[0].append(weighting.transform(counts))
        columns[1].append(weighting.transform(vectorizer.transform(asked.texts)))
    return [Csr(sparse.hstack(part, format="csr") / np.sqrt(len(readings))) for part in columns]


def decided(rule: DecisionRule, divisions: Sequence[Floats], Y: Csr, scores: Floats) -> Csr:
    """The label sets of a rule: thresholds are averaged over divisions into folds, all else is learned on the first.

    The best threshold of a rare label hangs on which of its few documents fell into one fold. On training documents
    left out by time (stems, four stretches, one vocabulary for all), averaging over three divisions raised macro F1
    from 54.7, the mean of the three, to 55.3; seen sets gained nothing by it.
    """
    kind = LinearSVM().score_kind
    if not isinstance(rule, PerLabelThreshold):
        return rule.fit(divisions[0], Y, kind).decide(scores, kind)
    cuts = np.mean([rule.fit(one, Y, kind).cuts_ for one in divisions], axis=0)
    return Csr((scores >= cuts).astype(np.int8))


def counted(truth: Csr, given: Csr) -> dict[str, Any]:
    """Right, given and true labels, and how many documents are wholly right."""
    labels, documents = label_counts(truth, given), document_counts(truth, given)
    return {
        "right": labels.tp.tolist(),
        "given": labels.predicted.tolist(),
        "true": labels.true.tolist(),
        "exact": int(np.count_nonzero((documents.right == documents.true) & (documents.right == documents.predicted))),
        "documents": int(truth.shape[0]),
    }


def pooled(counts: Sequence[Mapping[str, Any]]) -> list[float]:
    """Micro F1, macro F1 and exact match in percent of the counts of several parts together."""
    right, given, true = (np.sum([one[key] for one in counts], axis=0) for key in ("right", "given", "true"))
    both = given + true
    each = np.divide(2 * right, both, out=np.zeros(len(both)), where=both > 0)
    exact = sum(one["exact"] for one in counts) / sum(one["documents"] for one in counts)
    return [100 * float(value) for value in (2 * right.sum() / max(both.sum(), 1), each.mean(), exact)]
