"""How well the audit finds flipped labels: ``python -m benchmarks.label_noise reuters21578 rcv1-1 debtags``.

Of the assigned labels of a corpus 2.5 % are removed and as many wrong ones are added, at random documents, the label
drawn by its frequency. The audit ranks missing and wrong labels; precision is measured among as many of the first as
were flipped, for labels of at least 20 documents. cleanlab, where it is installed, ranks the same out-of-fold
probabilities: those by terms alone, and those by terms and other labels, which the audit uses.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from manylabel.data import load
from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.insight.audit import COST, Doubts, doubts, judge
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


def measure(name: str) -> None:
    """Print the precision of the audit on a data set with flipped labels."""
    began = time.perf_counter()
    corpus = corpus_of(name)
    Y = Csr(corpus.label_matrix())
    Y = Csr(Y[:, np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))])
    noisy, removed, added = flipped(Y)
    recipe = Recipe.of("svm", {"model": {"C": COST}})
    pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting)
    documents = corpus.texts if corpus.counts is None else corpus.counts
    learned = pipeline.fit_transform(documents, noisy, labels=[str(column) for column in range(Y.shape[1])])
    if not learned.is_counts:
        recipe = recipe.for_any_numbers()
    judged = judge(recipe.build_model(), learned.X, noisy)
    found: Doubts = doubts(judged.log_odds, noisy, least=0.0)
    sizes = np.bincount(noisy.indices, minlength=Y.shape[1])
    frequent = sizes >= LEAST
    peers = {
        "by terms": ranked_by_cleanlab(judged.by_terms, noisy, frequent),
        "by both": ranked_by_cleanlab(judged.log_odds, noisy, frequent),
    }
    print(f"{name}: {Y.shape[0]:,} documents, {Y.shape[1]} labels, {time.perf_counter() - began:.0f} s")
    for missing, flips in ((True, removed), (False, added)):
        truth = {cell for cell in flips if frequent[cell[1]]}
        chosen = (found.missing == missing) & frequent[found.columns]
        ours = precision(found.rows[chosen], found.columns[chosen], truth)
        theirs = [
            f"{name} {'not installed' if peer is None else f'{precision(*peer[missing], truth):.3f}'}"
            for name, peer in peers.items()
        ]
        kind = "missing" if missing else "wrong"
        print(f"  {kind:8}{len(truth)} flipped, precision {ours:.3f}; cleanlab {', '.join(theirs)}")
    first = found.columns[: 2 * len(removed)]
    rare = int((sizes[first] < RARE).sum())
    print(f"  labels of fewer than {RARE} documents among the first {2 * len(removed)} doubts: {rare}")


if __name__ == "__main__":
    for data in sys.argv[1:] or ["reuters21578", "rcv1-1", "debtags"]:
        measure(data)
