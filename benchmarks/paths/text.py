"""Texts → counts: the vocabulary learned and every document counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.inputs import Inputs
from benchmarks.paths.contract import OURS, Agreement, Answer, Candidate, Goal, HotPath, Job


def _documents(inputs: Inputs) -> list[str]:
    return inputs.texts("train") + inputs.texts("test")


def manylabel(inputs: Inputs, threads: int) -> Job:
    """`Vectorizer` with its defaults, which are scikit-learn's."""
    from manylabel.features import Vectorizer

    texts = _documents(inputs)

    def run() -> Any:
        vectorizer = Vectorizer(n_jobs=threads)
        return vectorizer.fit_transform(texts), vectorizer.terms_

    return Job(run, lambda found: _arrays(found[0], found[1]))


def scikit_learn(inputs: Inputs, threads: int) -> Job:
    """`CountVectorizer` with its defaults; it knows only one thread."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts = _documents(inputs)

    def run() -> Any:
        vectorizer = CountVectorizer()
        return vectorizer.fit_transform(texts), vectorizer

    return Job(run, lambda found: _arrays(found[0], found[1].get_feature_names_out().tolist()))


def _arrays(X: Any, terms: list[str]) -> Answer:
    X.sort_indices()
    return {
        "indptr": X.indptr.astype(np.int64),
        "indices": X.indices.astype(np.int64),
        "data": X.data.astype(np.int64),
        "terms": np.frombuffer("\n".join(terms).encode(), dtype=np.uint8),
    }


def agree(ours: Answer, theirs: Answer, inputs: Inputs) -> Agreement:
    """Whether vocabulary and every single count are the same."""
    wrong = [name for name in theirs if not np.array_equal(ours[name], theirs[name])]
    return Agreement(not wrong, f"{', '.join(wrong)} differ" if wrong else "every count the same")


PATH = HotPath(
    "text",
    "texts to counts",
    (
        Candidate(OURS, "manylabel", ("manylabel.features",), manylabel),
        Candidate("CountVectorizer", "scikit-learn", ("sklearn.feature_extraction.text",), scikit_learn, (1,), (1,)),
    ),
    agree,
    (Goal("CountVectorizer", 5, our_threads=1), Goal("CountVectorizer", 8, our_threads=2)),
    growth=("documents", "terms"),
)
