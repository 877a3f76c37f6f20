"""How well the audit finds flipped labels: ``python -m benchmarks.label_noise reuters21578 rcv1-1 debtags``.

Of the assigned labels of a corpus 2.5 % are removed and as many wrong ones are added, at random documents, the label
drawn by its frequency (seed 2; what the audit assumes was chosen with seed 1: ``--seed 1``). The audit ranks missing
and wrong labels; precision is measured among as many of the first as were flipped, for labels of at least 20 documents.
cleanlab, where it is installed, ranks the same out-of-fold probabilities: those by terms alone, and the final ones of
the audit. ``--bound`` adds, for missing labels, the precision of an audit that saw the labels before they were flipped
(and so judges each document by its other labels as they should be).
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

from manylabel.data import load
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.insight.audit import COST, Doubts, doubts, judge
from manylabel.insight.cells import Judged
from manylabel.recipe import Recipe

SHARE, LEAST, RARE = 0.025, 20, 5
Cells = set[tuple[int, int]]


def flipped(Y: Csr, seed: int = 0) -> tuple[Csr, Cells, Cells]:
    """Y with labels removed and added, and the cells of both."""
    random = np.random.default_rng(seed)
    cells: Any = Y.tocoo()
    n = round(SHARE * Y.nnz)
    gone = random.choice(Y.nnz, n, replace=False)
    frequency = np.bincount(Y.indices, minlength=Y.shape[1]) / Y.nnz
    there = set(zip(cells.row.tolist(), cells.col.tolist(), strict=True))
    added: Cells = set()
    while len(added) < n:
        cell = int(random.integers(Y.shape[0])), int(random.choice(Y.shape[1], p=frequency))
        if cell not in there:
            added.add(cell)
    kept = np.delete(np.arange(Y.nnz), gone)
    rows = np.concatenate([cells.row[kept], [row for row, _ in added]]).astype(np.int64)
    columns = np.concatenate([cells.col[kept], [column for _, column in added]]).astype(np.int64)
    noisy = Csr((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=Y.shape)
    return noisy, set(zip(cells.row[gone].tolist(), cells.col[gone].tolist(), strict=True)), added


def precision(rows: Any, columns: Any, truth: Cells) -> float:
    """The share of the first cells that were flipped, of as many as were."""
    pairs = list(zip(rows[: len(truth)].tolist(), columns[: len(truth)].tolist(), strict=True))
    return sum(pair in truth for pair in pairs) / max(len(truth), 1)


def ranked_by_cleanlab(log_odds: Any, Y: Csr, frequent: Any) -> dict[bool, tuple[Any, Any]] | None:
    """Cleanlab's issues of frequent labels as cells, missing and wrong ones, by its score."""
    try:
        from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class
    except ImportError:
        return None
    P = 1 / (1 + np.exp(-log_odds))
    labels = [Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist() for row in range(Y.shape[0])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one for each rare label
        issues, _, _ = find_multilabel_issues_per_class(labels, P, return_indices_ranked_by="self_confidence", n_jobs=1)
    has = Y.toarray() > 0
    cells = np.array([(row, column) for column, rows in enumerate(issues) for row in rows if frequent[column]])
    cells = cells.reshape(-1, 2).astype(np.int64)
    given = has[cells[:, 0], cells[:, 1]]
    p = P[cells[:, 0], cells[:, 1]]
    cells = cells[np.argsort(np.where(given, p, 1 - p), kind="stable")]
    given = has[cells[:, 0], cells[:, 1]]
    return {missing: (cells[given != missing, 0], cells[given != missing, 1]) for missing in (True, False)}


def corpus_of(name: str) -> Any:
    """The documents of a data set; of Reuters those with at least one of the 90 labels."""
    corpus = load(name, **({"label_set": "R90"} if name == "reuters21578" else {})).corpus
    return corpus.subset(np.flatnonzero([bool(names) for names in corpus.label_sets]))


def by_terms(judged: Judged, X: Csr, Y: Csr) -> Any:
    """Documents × labels: out-of-fold log-odds of the models of the audit."""
    scores = np.empty(Y.shape)
    for number, model in enumerate(judged.models):
        rows = np.flatnonzero(judged.fold_of == number)
        scores[rows] = open_scores(model.scores(Csr(X[rows])), model.score_kind)
    return Calibration("logistic").fit(scores, Y).log_odds(scores)


def by_both(judged: Judged, Y: Csr) -> Any:
    """Documents × labels: the log-odds of the audit, very low where it does not judge."""
    found = np.full(Y.shape, -20.0)
    found[judged.cells.rows, judged.cells.columns] = judged.log_odds
    return found


def found_by(judged: Judged, noisy: Csr, frequent: Any) -> dict[bool, tuple[Any, Any]]:
    """The missing and the wrong labels of the audit, of frequent labels, the surest first."""
    found: Doubts = doubts(judged, noisy, least=0.0)
    chosen = {missing: (found.missing == missing) & frequent[found.columns] for missing in (True, False)}
    return {missing: (found.rows[kept], found.columns[kept]) for missing, kept in chosen.items()}


def lacking(judged: Judged, noisy: Csr) -> tuple[Any, Any]:
    """The cells of frequent labels that `noisy` lacks, the most probable first."""
    cells, sizes = judged.cells, np.bincount(noisy.indices, minlength=noisy.shape[1])
    kept = np.flatnonzero(
        (np.asarray(noisy[cells.rows, cells.columns]).reshape(-1) == 0) & (sizes[cells.columns] >= LEAST)
    )
    kept = kept[np.argsort(-judged.log_odds[kept], kind="stable")]
    return cells.rows[kept], cells.columns[kept]


def measure(name: str, seed: int, bound: bool) -> None:
    """Print the precision of the audit on a data set with flipped labels."""
    began = time.process_time()
    corpus = corpus_of(name)
    Y = Csr(corpus.label_matrix())
    Y = Csr(Y[:, np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))])
    noisy, removed, added = flipped(Y, seed)
    recipe = Recipe.of("svm", {"model": {"C": COST}})
    pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting)
    documents = corpus.texts if corpus.counts is None else corpus.counts
    learned = pipeline.fit_transform(documents, noisy, labels=[str(column) for column in range(Y.shape[1])])
    if not learned.is_counts:
        recipe = recipe.for_any_numbers()
    judged = judge(recipe.build_model(), learned.X, noisy)
    took = time.process_time() - began
    sizes = np.bincount(noisy.indices, minlength=Y.shape[1])
    frequent = sizes >= LEAST
    rankings = {
        "the audit": found_by(judged, noisy, frequent),
        "cleanlab by terms": ranked_by_cleanlab(by_terms(judged, learned.X, noisy), noisy, frequent),
        "cleanlab by both": ranked_by_cleanlab(by_both(judged, noisy), noisy, frequent),
    }
    if bound:
        rankings["the audit, of labels not flipped"] = {True: lacking(judge(recipe.build_model(), learned.X, Y), noisy)}
    print(f"{name}: {Y.shape[0]:,} documents, {Y.shape[1]} labels, seed {seed}, {took:.0f} s of CPU")
    for missing, flips in ((True, removed), (False, added)):
        truth = {cell for cell in flips if frequent[cell[1]]}
        print(f"  {'missing' if missing else 'wrong':8}{len(truth)} flipped; precision:")
        for who, ranking in rankings.items():
            if ranking is None or missing in ranking:
                value = "not installed" if ranking is None else f"{precision(*ranking[missing], truth):.3f}"
                print(f"    {who:34}{value}")
    _print_sure(doubts(judged, noisy), removed | added, sizes)


def _print_sure(found: Doubts, flips: Cells, sizes: Any) -> None:
    """Print how many of the surest doubts concern rare labels, and how often sure ones are right."""
    rare = int((sizes[found.columns[: len(flips)]] < RARE).sum())
    print(f"  labels of fewer than {RARE} documents among the first {len(flips)} doubts: {rare}")
    for low, high in ((0.1, 0.5), (0.5, 0.9), (0.9, 1.0)):
        kept = (found.probability >= low) & (found.probability <= high)
        pairs = zip(found.rows[kept].tolist(), found.columns[kept].tolist(), strict=True)
        right = np.mean([pair in flips for pair in pairs]) if kept.any() else float("nan")
        print(f"  probability {low} to {high}: {int(kept.sum())} doubts, {right:.2f} of them flipped")


if __name__ == "__main__":
    words = sys.argv[1:]
    chosen_seed = int(words[words.index("--seed") + 1]) if "--seed" in words else 2
    names = [word for word in words if not word.startswith("--") and not word.isdigit()]
    for data in names or ["reuters21578", "rcv1-1", "debtags"]:
        measure(data, chosen_seed, "--bound" in words)
