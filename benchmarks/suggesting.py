"""Chosen documents against random ones: ``python -m benchmarks.suggesting reuters21578 goemotions townhall --seeds 5``.

Training starts from 100 random documents of the training split. In every round 50 more are labelled: those that
`manylabel suggest` chooses, or random ones. After each round `svm` is trained and measured on the test split (of more
than 2,000 test documents a sample, of more than 10,000 training documents too); micro and macro F1 are means over
seeds. Chosen documents should reach with 600 what random ones reach with 1,000. townhall has 415 training documents:
there 50 documents are labelled at first and 25 in every round, and 300 random ones are compared with 180. Terms are
counted once, since words that no labelled document has are not learned from anyway.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.data.duplicates import near_duplicates
from manylabel.estimator import Csr, Ints
from manylabel.features.vectorize import Vectorizer
from manylabel.insight.suggest import best_candidates, choose_documents, document_values
from manylabel.recipe import Recipe

MOST_TRAIN, MOST_TEST = 10_000, 2_000


@dataclass(frozen=True, slots=True)
class Course:
    """How many documents are labelled at first, in each round, and in the end."""

    start: int
    step: int
    end: int
    goal: int
    """Documents with which the chosen ones should reach the quality of random ones at the end."""


COURSES = {"townhall": Course(50, 25, 300, 180)}
USUAL = Course(100, 50, 1000, 600)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Documents as counts of terms, with their label sets."""

    counts: Csr
    label_sets: Sequence[Sequence[str]]


def f1(predicted: Sequence[Sequence[str]], true: Sequence[Sequence[str]], labels: Sequence[str]) -> tuple[float, float]:
    """Micro and macro F1 over the labels of the data; a label without true and predicted documents counts 0."""
    both, named, had = (np.zeros(len(labels)) for _ in range(3))
    place = {label: number for number, label in enumerate(labels)}
    for one, other in zip(predicted, true, strict=True):
        for sets, count in ((set(one) & set(other), both), (set(one), named), (set(other), had)):
            count[[place[label] for label in sets]] += 1
    each = 2 * both / np.maximum(named + had, 1)
    return float(2 * both.sum() / max(named.sum() + had.sum(), 1)), float(each.mean())


def curve(train: Counted, test: Counted, labels: Sequence[str], course: Course, seed: int, groups: Ints | None) -> Any:
    """Rounds × (micro, macro F1) of chosen documents, whose near-duplicates are in `groups`; of random ones without."""
    random = np.random.default_rng(seed)
    known = random.permutation(train.counts.shape[0])[: course.start].tolist()
    figures = []
    while True:
        model = TextClassifier("svm", seed=seed).fit(train.counts[known], [train.label_sets[row] for row in known])
        figures.append(f1(model.predict(test.counts), test.label_sets, labels))
        if len(known) >= course.end:
            return np.array(figures)
        rest = np.setdiff1d(np.arange(train.counts.shape[0]), known)
        if groups is None:
            known += random.permutation(rest)[: course.step].tolist()
            continue
        scores = np.asarray(model.predict_scores(train.counts[rest]))
        best = best_candidates(document_values(scores, model.label_counts_), course.step, len(labels))
        X = model.transform(train.counts[rest[best]])
        chosen = choose_documents(scores[best], model.label_counts_, X, course.step, groups[rest[best]])
        known += rest[best[chosen]].tolist()


def measure(name: str, seeds: int) -> None:
    """Print both curves of a data set."""
    corpus = load(name, **({"label_set": "R90"} if name == "reuters21578" else {})).corpus
    random = np.random.default_rng(0)
    train, test = (
        split.subset(np.sort(random.permutation(len(split))[:most]))
        for split, most in ((corpus.split("train"), MOST_TRAIN), (corpus.split("test"), MOST_TEST))
    )
    labels = sorted({label for sets in (*train.label_sets, *test.label_sets) for label in sets})
    course = COURSES.get(name, USUAL)
    vectorizer = Vectorizer(**Recipe.of("svm").vectorizer_settings)
    pool = Counted(Csr(vectorizer.fit_transform(train.texts)), train.label_sets)
    unseen = Counted(Csr(vectorizer.transform(test.texts)), test.label_sets)
    chosen, drawn = (
        np.mean([curve(pool, unseen, labels, course, seed, groups) for seed in range(seeds)], axis=0)
        for groups in (near_duplicates(train.texts).groups(), None)
    )
    print(f"{name}: {len(train):,} documents to choose from, {len(test):,} to test, mean of {seeds} seeds")
    for number, (one, other) in enumerate(zip(chosen, drawn, strict=True)):
        print(
            f"  {course.start + number * course.step:5d}  micro F1 chosen {one[0]:.3f} random {other[0]:.3f}"
            f"  macro F1 chosen {one[1]:.3f} random {other[1]:.3f}"
        )
    for metric, figure in ((0, "micro F1"), (1, "macro F1")):
        reached = np.flatnonzero(chosen[:, metric] >= drawn[-1, metric])
        needed = f"{course.start + int(reached[0]) * course.step}" if len(reached) else f"more than {course.end}"
        print(f"  {figure}: random at {course.end} {drawn[-1, metric]:.3f}; chosen with {needed} (goal {course.goal})")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    n_seeds = int(words[words.index("--seeds") + 1]) if "--seeds" in words else 5
    for data in [word for word in words if not word.startswith("--") and not word.isdigit()] or ["townhall"]:
        measure(data, n_seeds)
