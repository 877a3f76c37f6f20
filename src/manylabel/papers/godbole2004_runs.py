"""The runs of Godbole & Sarawagi 2004: four methods on Reuters-21578 and, for the patents, on debtags."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from manylabel.data import load
from manylabel.data.corpus import Corpus
from manylabel.data.labels import label_matrix
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.features import Vectorizer, Weighting
from manylabel.features.select import TermSelector
from manylabel.metrics import compute_metrics
from manylabel.metrics.counts import document_counts
from manylabel.metrics.document_metrics import set_size_table
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.tuning import forced_labels
from manylabel.strategies.band_svm import BandSVM
from manylabel.strategies.conf_mat import ConfMat
from manylabel.strategies.svm_hf import SVMHF, heterogeneous

METHODS = ("SVM", "ConfMat", "BandSVM", "SVM-HF")
METRICS = ("jaccard", "sample-precision", "sample-recall", "f1-of-means")
TERMS = 1000
WEAK_C = 0.35
"""The cost at which plain SVMs come nearest to the paper's row for 30 classes."""
SMALL_BETA = 2.0
"""The share, in percent, at which ConfMat comes nearest to the paper's row for 30 classes."""
FIXED_F = 0.9
"""A weight of the text that leaves the label columns a say; tuned, it is often 1, which leaves them none."""

LIGHT_F = 0.97
"""A weight of the text near 1: the label columns count, but little."""
READING_C = 0.55
"""The cost at which plain SVMs, trained on labelled documents, come nearest to the paper's row for all classes."""

LOW_BETA = f"ConfMat, beta = {SMALL_BETA:g}"
MIXED = f"SVM-HF, f = {FIXED_F:g}"
LIGHT = f"SVM-HF, f = {LIGHT_F:g}"
STAGED = f"SVM-HF, first stage C = {WEAK_C:g}, f = {LIGHT_F:g}"


def reuters135(method: str, C: float, seed: int, *, labelled: bool = False) -> dict[str, Any]:
    """One method on the given split, all labels of the training split; `labelled`: trained on labelled documents only.

    `documents` has the number of right and of predicted labels of each test document, forced and not, and of true ones.
    """
    train, test = reuters_splits()
    if labelled:
        train = train.subset([row for row, sets in enumerate(train.label_sets) if sets])
    names = sorted({name for names in train.label_sets for name in names})
    all_names = sorted({*names, *(name for sets in test.label_sets for name in sets)})
    X, X_test = vectors(train, test)
    scores, model = scored(method, C, seed, X, label_matrix(train.label_sets, names), X_test)
    # a label that only test documents have cannot be given, but it is missed
    wide = np.full((len(scores), len(all_names)), -np.inf)
    wide[:, [all_names.index(name) for name in names]] = scores
    truth = label_matrix(test.label_sets, all_names)
    outcome = {**measured(truth, wide), **tuned_settings(model), "documents": per_document(truth, wide)}
    if isinstance(model, SVMHF):
        outcome["coefficients"] = supporters(model.label_coefficients(), names, "grain")
    return outcome


def reuters30(method: str, C: float, split: int, seed: int) -> dict[str, Any]:
    """One method on one random 70-30 split of the documents with any of the 30 labels."""
    corpus, names = thirty_classes()
    train, test = halves(len(corpus), split, seed)
    return run_split(corpus, tuple(names), train, test, method, C, seed)


def debtags(method: str, C: float, split: int, seed: int) -> dict[str, Any]:
    """One method on one random 70-30 split of the packages with any tag of one facet."""
    corpus, names = one_facet()
    train, test = halves(len(corpus), split, seed)
    return run_split(corpus, tuple(names), train, test, method, C, seed)


def run_split(
    corpus: Corpus, names: Sequence[str], train: Ints, test: Ints, method: str, C: float, seed: int
) -> dict[str, Any]:
    """One method on one split."""
    left, right = corpus.subset(train), corpus.subset(test)
    X, X_test = vectors(left, right)
    Y, Y_test = (_only(part, names) for part in (left, right))
    scores, model = scored(method, C, seed, X, Y, X_test)
    return {**measured(Y_test, scores), **tuned_settings(model)}


def _only(corpus: Corpus, names: Sequence[str]) -> Csr:
    known = set(names)
    return label_matrix([[name for name in sets if name in known] for sets in corpus.label_sets], list(names))


# ---- documents -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def reuters_splits() -> tuple[Corpus, Corpus]:
    """The training and the test split of ModApte."""
    corpus = load("reuters21578").corpus
    return corpus.split("train"), corpus.split("test")


@lru_cache(maxsize=1)
def thirty_classes() -> tuple[Corpus, list[str]]:
    """The documents of both splits with any of the 30 largest labels but earn and acq, and those labels."""
    corpus = load("reuters21578").corpus
    counts = corpus.label_matrix().sum(axis=0)
    order = np.argsort(-np.asarray(counts).ravel(), kind="stable")
    names = [corpus.label_names[column] for column in order if corpus.label_names[column] not in ("earn", "acq")][:30]
    return _with_any(corpus, names), names


@lru_cache(maxsize=1)
def one_facet() -> tuple[Corpus, list[str]]:
    """The packages that have a tag of the facet ``works-with``, and its tags."""
    corpus = load("debtags").corpus
    names = [name for name in corpus.label_names if name.startswith("works-with::")]
    return _with_any(corpus, names), names


def _with_any(corpus: Corpus, names: Sequence[str]) -> Corpus:
    known = set(names)
    return corpus.subset([row for row, sets in enumerate(corpus.label_sets) if known & set(sets)])


def halves(n: int, split: int, seed: int) -> tuple[Ints, Ints]:
    """A random 70-30 split."""
    order = np.random.default_rng([seed, split]).permutation(n)
    cut = round(0.7 * n)
    return np.sort(order[:cut]), np.sort(order[cut:])


_kept: dict[tuple[Any, ...], tuple[Csr, Csr]] = {}


def vectors(train: Corpus, test: Corpus) -> tuple[Csr, Csr]:
    """Unit vectors of term frequencies: stems without stop words, the 1000 best by information gain on training data.

    The vectors of the last split are kept, since four methods in turn ask for them.
    """
    key = (tuple(train.ids), tuple(test.ids))
    if key not in _kept:
        _kept.clear()
        vectorizer = Vectorizer(tokens="letters", stop_words="english", stemmer="porter", min_df=2)
        X = vectorizer.fit_transform(train.texts)
        selector = TermSelector(function="ig", k=TERMS).fit(X, train.label_matrix())
        weighting = Weighting(tf="raw", idf="none", norm="l2")
        _kept[key] = (
            weighting.fit_transform(selector.transform(X)),
            weighting.transform(selector.transform(vectorizer.transform(test.texts))),
        )
    return _kept[key]


# ---- methods and metrics --------------------------------------------------------------------------------------------


def scored(method: str, C: float, seed: int, X: Csr, Y: Csr, X_test: Csr) -> tuple[Floats, Any]:
    """Scores of the test documents, and the fitted model; whatever is tuned is tuned on training documents.

    ``"ConfMat, beta = 2"`` and ``"SVM-HF, f = 0.9"`` are the methods with a fixed setting in place of a tuned one.
    """
    svm = LinearSVM(loss="hinge", C=C, seed=seed, max_iter=20_000)
    if method == STAGED:
        return weak_first_stage(svm, X, Y, X_test), None
    models: dict[str, Any] = {
        "SVM": svm,
        "ConfMat": ConfMat(svm),
        "BandSVM": BandSVM(svm),
        "SVM-HF": SVMHF(svm),
        LOW_BETA: ConfMat(svm, beta=SMALL_BETA),
        MIXED: SVMHF(svm, f=FIXED_F),
        LIGHT: SVMHF(svm, f=LIGHT_F),
    }
    model = models[method].fit(X, Y)
    return model.scores(X_test), model


def weak_first_stage(svm: LinearSVM, X: Csr, Y: Csr, X_test: Csr) -> Floats:
    """Scores of SVM-HF whose first stage has a smaller cost than its second, so that the second has more to correct."""
    first = unfitted_copy(svm).set_params(C=WEAK_C).fit(X, Y)
    left, right = (heterogeneous(part, forced_labels(first.scores(part)), LIGHT_F) for part in (X, X_test))
    return svm.fit(left, Y).scores(right)


def tuned_settings(model: Any) -> dict[str, Any]:
    """The beta of ConfMat or the f of SVM-HF, as chosen on held-out training documents; nothing for other models."""
    if isinstance(model, ConfMat):
        return {"chosen": float(model.beta_)}
    return {"chosen": float(model.f_)} if isinstance(model, SVMHF) else {}


def per_document(Y: Csr, scores: Floats) -> dict[str, Any]:
    """The numbers of true, right and predicted labels per document, with and without forcing at least one label."""
    found: dict[str, Any] = {}
    for name, predicted in (("forced", forced_labels(scores)), ("plain", Csr((scores > 0).astype(np.int8)))):
        counts = document_counts(Y, predicted)
        found["true"] = counts.true.astype(int).tolist()
        found[name] = {"right": counts.right.astype(int).tolist(), "predicted": counts.predicted.astype(int).tolist()}
    return found


def measured(Y: Csr, scores: Floats) -> dict[str, Any]:
    """The four metrics under each convention, the share of documents without a positive score, and set sizes."""
    forced, plain = forced_labels(scores), Csr((scores > 0).astype(np.int8))
    labelled = np.diff(Y.indptr) > 0
    views = {
        "forced, labelled documents": (Y[labelled], forced[labelled]),
        "forced, all documents": (Y, forced),
        "not forced, labelled documents": (Y[labelled], plain[labelled]),
    }
    micro = compute_metrics(Y[labelled], forced[labelled], ["micro-precision", "micro-recall", "micro-f1"])
    sizes = set_size_table(document_counts(Y[labelled], forced[labelled]), 3)
    return {
        "metrics": {name: _percent(compute_metrics(*sets, list(METRICS))) for name, sets in views.items()},
        "micro": _percent(micro),
        "all_negative": 100 * float(np.mean(np.diff(plain[labelled].indptr) == 0)),
        "sizes": (100 * np.nan_to_num(sizes.shares[:, 1:4])).ravel().tolist(),
    }


def _percent(found: Any) -> list[float]:
    return [100 * float(value) for value in found.values()]


def supporters(coefficients: Floats, names: Sequence[str], label: str) -> dict[str, float]:
    """The weights of all labels in the SVM of one label."""
    return dict(zip(names, coefficients[list(names).index(label)].tolist(), strict=True))
