"""The choices behind `--guarantee`: which keys make small sets, why nothing is stratified, and what time does.

python -m benchmarks.guarantee_keys          prints the figures of docs/guarantees.md that lead to its choices

Keys are compared on training documents only: `svm` on a random half of them, random divisions of the other half.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.guarantees import Measured
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus, load
from manylabel.data.labels import label_matrix
from manylabel.data.splits import holdout, iterative_split
from manylabel.decisions.calibration import Calibration
from manylabel.decisions.guarantee import false_discovery_threshold, recall_threshold
from manylabel.models.out_of_fold import out_of_fold_scores

DIVISIONS = {"reuters21578": 60, "debtags": 20}
MOST = 9_603


def keys_of(scores: np.ndarray, curves: dict[str, Calibration]) -> Iterator[tuple[str, np.ndarray]]:
    yield "the score", scores
    for name, curve in curves.items():
        p = curve.transform(scores)
        yield f"p_k, {name}", p
        yield f"p_k / (1 + Σ p_j), {name}", p / (1 + p.sum(axis=1, keepdims=True) - p)
        yield f"p_k / max p_j, {name}", p / p.max(axis=1, keepdims=True)
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, 1)
        before = np.empty_like(p)
        np.put_along_axis(before, order, (np.cumsum(ranked, axis=1) - ranked) / p.sum(axis=1, keepdims=True), 1)
        yield f"the best labels until their share of Σ p_j, {name}", 1 - before


def compare_keys(data: str) -> None:
    corpus = load(data).corpus
    corpus = corpus.split("train") if "train" in corpus.splits else corpus
    rows = np.random.default_rng(0).permutation(len(corpus))[: MOST if data == "reuters21578" else 8_000]
    fitted, others = (corpus.subset(part.tolist()) for part in np.array_split(rows, 2))
    names = sorted({name for names in corpus.label_sets for name in names})
    model = TextClassifier("svm", decision={"rule": "natural"}).fit(fitted.texts, fitted.label_sets, label_names=names)
    Y = label_matrix(fitted.label_sets, names)
    found, used = out_of_fold_scores(model.decided_.model, model.transform(fitted.texts), Y)
    curves = {name: Calibration(name).fit(found, Y[used]) for name in ("logistic", "isotonic")}  # type: ignore[arg-type]
    scores = model.decided_.score_batch(model.transform(others.texts))
    truth = label_matrix(others.label_sets, names).toarray() > 0
    for name, keys in keys_of(scores, curves):
        keys = np.where(np.isneginf(scores), -np.inf, keys)
        forced = keys.copy()
        forced[np.arange(len(keys)), keys.argmax(axis=1)] = np.inf
        print(f"{data}, {name}: " + "; ".join(divided(data, keys, forced, truth, len(fitted))), flush=True)


def divided(data: str, keys: np.ndarray, forced: np.ndarray, truth: np.ndarray, fitted: int) -> Iterator[str]:
    for what, used, alpha in (
        ("recall 0.9", keys, 0.1),
        ("recall 0.8", keys, 0.2),
        ("recall 0.9, fallback", forced, 0.1),
        ("fdr 0.2", keys, 0.2),
    ):
        random, measured = np.random.default_rng(1), []
        for _ in range(DIVISIONS[data]):
            order = random.permutation(len(used))
            held, test = order[: fitted // 4], order[fitted // 4 :]
            held = held if what.startswith("fdr") else held[truth[held].any(axis=1)]
            search = false_discovery_threshold if what.startswith("fdr") else recall_threshold
            given = used[test] >= search(used[held], truth[held], alpha).threshold
            measured.append(Measured.of(truth[test], given))
        size, recall = (np.mean([getattr(one, name) for one in measured]) for name in ("size", "recall"))
        yield f"{what}: {size:.3f} labels, recall {recall:.3f}"


def unseen_shares(data: str, training: int) -> None:
    """The share of a document's labels that the model never saw: held-out documents, and new ones."""
    Y = load(data).corpus.label_matrix()
    for how in ("at random", "stratified"):
        found = []
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(Y.shape[0])
            T, new = Y[order[:training]], Y[order[training:]]
            kept, held = holdout(training, 0.2, seed) if how == "at random" else iterative_split(T, (0.8, 0.2), seed)
            unseen = np.asarray(T[kept].sum(axis=0)).ravel() == 0
            found.append([_share(T[held], unseen), _share(new, unseen)])
        print(f"{data}, held out {how}: unseen labels, held-out and new documents, % {100 * np.mean(found, axis=0)}")


def _share(Y: object, unseen: np.ndarray) -> float:
    truth = Y.toarray() > 0  # type: ignore[attr-defined]
    truth = truth[truth.any(axis=1)]
    return float(((truth & unseen).sum(axis=1) / truth.sum(axis=1)).mean())


def time_and_chance(seeds: int = 12) -> None:
    """Recall 0.9 guaranteed on townhall: letters of later months, and letters drawn at random."""
    corpus = load("townhall").corpus
    later, mixed = [], []
    for seed in range(seeds):
        later.append(_recall(corpus.split("train"), corpus.split("test"), seed))
        order = np.random.default_rng(seed).permutation(len(corpus)).tolist()
        mixed.append(_recall(corpus.subset(order[:415]), corpus.subset(order[415:]), seed))
    print(f"townhall: recall of later letters {np.mean(later):.3f}, of random ones {np.mean(mixed):.3f}")


def _recall(train: Corpus, test: Corpus, seed: int) -> float:
    model = TextClassifier("svm", decision={"rule": "guarantee", "level": 0.9}, seed=seed)
    model.fit(train.texts, train.label_sets)
    names = sorted({*model.labels_, *(name for names in test.label_sets for name in names)})
    truth, given = (label_matrix(sets, names).toarray() > 0 for sets in (test.label_sets, model.predict(test.texts)))
    return Measured.of(truth, given).recall


if __name__ == "__main__":
    time_and_chance()
    unseen_shares("debtags", 6_250)
    for data in DIVISIONS:
        compare_keys(data)
