"""The runs of Lee 2018: single-label folds, mean weights, and four strategies over value-weighted naive Bayes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from manylabel.data import load
from manylabel.data.splits import k_fold
from manylabel.estimator import Csr, Floats, Ints
from manylabel.features import Vectorizer, Weighting
from manylabel.features.information_weights import ValueWeight
from manylabel.metrics import compute_metrics
from manylabel.models.base import MultiLabelModel
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.score_kinds import best_label
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.papers.jobs import Plan
from manylabel.strategies.chain_ensemble import ChainEnsemble
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.co_training import CoTraining

REUTERS = "reuters, 10 classes"
UNILABEL = ("cnae9", "oh0", "oh5", "oh10", "oh15", REUTERS)
CLASSES = 10
N_BINS = 5
CHAINS = 10

NB, NB_BINS, MNB = "NB (presence)", "NB (five bins)", "MNB"
REFERENCE = "MNB-VW, reference"
KL, KL_SPLIT = "MNB-VW, exponent, kl, refined", "MNB-VW, exponent, kl_split, refined"
SVM = "linear SVM, tf-idf"
UNILABEL_METHODS = (NB, NB_BINS, MNB, REFERENCE, KL, KL_SPLIT, SVM)

WEIGHTS: dict[str, tuple[ValueWeight, float]] = {
    "kl": ("kl", 0.0),
    "kl_split": ("kl_split", 1.0),
    "p_kl": ("p_kl", 1.0),
}
"""Weights of a value by name: how it is made, and the shrinking m."""

MULTILABEL = {"medical": 2, "enron": 2, "bibtex": 2, "rcv1-1": 3, "rcv1-2": 3}
"""Data sets, and the bins of their features: two for present or absent, three for the numbers of RCV1."""
STRATEGIES = ("BR", "CC", "ECC", "MNB-VWCO")
READINGS = ("refined", "reference")
IN_VIEW = "plain"
"""A third reading, found with test figures in view: plain divergence, not scaled, views learned out of fold."""
METRICS = ("hamming-loss", "zero-one-loss", "jaccard")


# ---- one label a document --------------------------------------------------------------------------------------------


def unilabel_fold(data: str, fold: int, folds: int, plan: Plan) -> dict[str, float]:
    """The accuracy of every method on one fold, percent."""
    X, y = unilabel(data)
    train, test = k_fold(X.shape[0], folds, plan.seed, strata=y)[fold]
    tfidf = Weighting(tf="log", idf="smooth").fit(X[train])
    found = {}
    for method in UNILABEL_METHODS:
        left, right = Csr(X[train]), Csr(X[test])
        if method == SVM:
            left, right = tfidf.transform(left), tfidf.transform(right)
        answers = unilabel_model(method, plan).fit(left, y[train]).predict(right)
        found[method] = 100 * float(np.mean(answers == y[test]))
    return found


def unilabel_model(method: str, plan: Plan) -> MultiLabelModel:
    """A method of the single-label comparison."""
    if method == SVM:
        return LinearSVM(seed=plan.seed, n_jobs=plan.n_jobs)
    if method == MNB:
        return MultinomialNaiveBayes(smoothing="laplace")
    if method == NB:
        return BernoulliNaiveBayes(target="classes")
    plain: dict[str, Any] = {"event": "categorical", "norm": "global", "refine": "none"}
    weighted: dict[str, dict[str, Any]] = {
        NB_BINS: {**plain, "weight": "none"},
        REFERENCE: plain,
        KL: {"weight": "kl"},
        KL_SPLIT: {},
    }
    return ValueWeightedNaiveBayes(target="classes", n_bins=N_BINS, **weighted[method])


def refinement(data: str, steps: tuple[int, ...], plan: Plan) -> dict[str, float]:
    """Accuracy on one fold of ten after so many steps of refinement, percent."""
    X, y = unilabel(data)
    train, test = k_fold(X.shape[0], 10, plan.seed, strata=y)[0]

    def accuracy(count: int) -> float:
        model = ValueWeightedNaiveBayes(target="classes", n_bins=N_BINS, steps=count, tolerance=0.0)
        answers = model.fit(Csr(X[train]), y[train]).predict(Csr(X[test]))
        return 100 * float(np.mean(answers == y[test]))

    return {str(count): accuracy(count) for count in steps}


def mean_weights(data: str) -> dict[str, dict[str, list[float]]]:
    """The mean weight of each bin over all words: of those that occur in the bin, and with 0 for all others."""
    X, y = unilabel(data)
    found = {}
    for name, (weight, m) in WEIGHTS.items():
        model = ValueWeightedNaiveBayes(
            event="categorical", weight=weight, m=m, norm="none", refine="none", target="classes", n_bins=N_BINS
        ).fit(X, y)
        assert model.bin_weights_ is not None
        seen, every, _ = model.bin_weights_.tolist()
        found[name] = {"seen": seen, "all": every}
    return found


@lru_cache(maxsize=1)
def unilabel(data: str) -> tuple[Csr, Ints]:
    """Counts, and the class of each document as a number."""
    if data != REUTERS:
        corpus = load(data).corpus
        assert corpus.counts is not None
        X, Y = corpus.counts.astype(np.float64), corpus.label_matrix()
        return Csr(X), Y.indices.astype(np.int64)
    corpus = load("reuters21578").corpus
    sets, parts = corpus.label_sets, corpus.split_names or ()
    one = [row for row, part in enumerate(parts) if part in ("train", "test") and len(sets[row]) == 1]
    names = sorted({sets[row][0] for row in one})
    numbered = np.array([names.index(sets[row][0]) for row in one])
    largest = np.argsort(-np.bincount(numbered), kind="stable")[:CLASSES]
    kept = np.isin(numbered, largest)
    texts = corpus.subset(np.array(one)[kept]).texts
    X = Vectorizer(tokens="letters", min_df=5).fit_transform(texts).astype(np.float64)
    return Csr(X), numbered[kept].astype(np.int64)


# ---- several labels a document ---------------------------------------------------------------------------------------


def strategy(data: str, name: str, reading: str, plan: Plan) -> dict[str, Any]:
    """The three metrics of one strategy on the given split, percent; for BR also with a label for every document."""
    X, Y, X_test, Y_test = multilabel(data)
    model = make_strategy(data, name, reading, plan).fit(X, Y)
    if isinstance(model, CoTraining):
        predicted, report = model.predict_with_report(X_test)
        summary = report.summary()
        rounds = {key: summary[key] for key in ("iterations_median", "iterations_95", "cycle_share")}
        return {**_measured(Y_test, Csr(predicted)), "rounds": rounds}
    found = _measured(Y_test, Csr(model.predict(X_test)))
    if name == "BR":
        found["forced"] = _measured(Y_test, _forced(model.scores(X_test)))
    return found


def make_strategy(data: str, name: str, reading: str, plan: Plan) -> MultiLabelModel:
    """BR, CC, ECC or MNB-VWCO over value-weighted naive Bayes in one reading."""
    settings: dict[str, dict[str, Any]] = {
        "refined": {},
        "reference": {"event": "categorical", "norm": "global", "refine": "none"},
        IN_VIEW: {"event": "exponent", "weight": "kl", "m": 0.0, "norm": "none", "refine": "none"},
    }
    base = ValueWeightedNaiveBayes(n_bins=MULTILABEL[data], **settings[reading])
    if name == "BR":
        return base
    if name == "CC":
        return ClassifierChain(base, seed=plan.seed)
    if name == "ECC":
        return ChainEnsemble(base, 3 if plan.quick else CHAINS, seed=plan.seed, n_jobs=plan.n_jobs)
    folds = 3 if plan.quick else 5
    if reading == "refined":
        return CoTraining(base, folds=folds, seed=plan.seed)
    labels: Literal["true", "out-of-fold"] = "true" if reading == "reference" else "out-of-fold"
    return CoTraining(
        base, fc="separate", use_dc=True, labels=labels, folds=folds, update="synchronous", seed=plan.seed
    )


@lru_cache(maxsize=1)
def multilabel(data: str) -> tuple[Csr, Csr, Csr, Csr]:
    """Features and labels of the given training and test splits."""
    corpus = load(data).corpus
    train, test = corpus.split("train"), corpus.split("test")
    assert train.counts is not None
    assert test.counts is not None
    X, X_test = (Csr(part.counts.astype(np.float64)) for part in (train, test))  # type: ignore[union-attr]
    return X, train.label_matrix(), X_test, test.label_matrix()


def _measured(T: Csr, S: Csr) -> dict[str, Any]:
    """The three metrics in percent, and how many labels are predicted for each true one."""
    found = {name: 100 * value for name, value in compute_metrics(T, S, METRICS).items()}
    return {**found, "labels": float(S.sum()) / float(T.sum())}


def _forced(scores: Floats) -> Csr:
    """Labels with a score above 0, or else the best one."""
    chosen = np.asarray(scores > 0)
    empty = ~chosen.any(axis=1)
    chosen[empty] = best_label(scores[empty])
    return Csr(chosen.astype(np.int8))
