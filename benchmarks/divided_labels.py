"""How well labels that are two are told from others: ``python -m benchmarks.divided_labels 20newsgroups reuters21578``.

The audit divides the documents of each label of at least 40 documents, and those of 100 random pairs of labels taken as
one (up to 200 documents of each, as many of one as of the other). Printed is which share of both it reports.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from benchmarks.label_noise import corpus_of
from manylabel.estimator import Csr
from manylabel.features.pipeline import FeaturePipeline
from manylabel.insight.label_halves import LEAST_DOCUMENTS, division
from manylabel.recipe import Recipe

PAIRS, MOST = 100, 200


def measure(name: str, seed: int = 0) -> None:
    """Print the shares of a data set."""
    corpus = corpus_of(name)
    Y = Csr(corpus.label_matrix())
    recipe = Recipe.of("svm")
    pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting)
    X = pipeline.fit_transform(
        corpus.texts if corpus.counts is None else corpus.counts, Y, labels=list(corpus.label_names)
    ).X
    by_label = Y.tocsc()
    rows = [by_label.indices[by_label.indptr[one] : by_label.indptr[one + 1]] for one in range(Y.shape[1])]
    large = [one.astype(np.int64) for one in rows if len(one) >= LEAST_DOCUMENTS]
    began = time.process_time()
    single = [division(X, one) is not None for one in large]
    took = time.process_time() - began
    random = np.random.default_rng(seed)
    pairs = []
    for _ in range(PAIRS):
        one, other = (large[place] for place in random.choice(len(large), 2, replace=False))
        count = min(len(one), len(other), MOST)
        both = np.union1d(*(random.choice(side, count, replace=False) for side in (one, other)))
        pairs.append(division(X, both) is not None)
    print(
        f"{name}: {len(large)} labels in {took:.1f} s of CPU; reported: {np.mean(single):.2f} of the labels, "
        f"{np.mean(pairs):.2f} of the pairs"
    )


if __name__ == "__main__":
    for data in sys.argv[1:] or ["20newsgroups", "hallmarks", "reuters21578"]:
        measure(data)
