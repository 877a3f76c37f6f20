"""Train and measure methods on repeated random splits of the same documents."""

from __future__ import annotations

import time
from collections.abc import Sequence

from manylabel.data import Corpus
from manylabel.data.splits import Split, repeated_random
from manylabel.evaluation.experiment import evaluate as measure
from manylabel.evaluation.repeated_splits import TESTED, RepeatedSplits
from manylabel.exceptions import ParameterError
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.models import Overrides, fit_corpus


def evaluate_repeatedly(
    source: Source,
    methods: Sequence[str],
    *,
    repeats: int,
    overrides: Overrides | None = None,
    test_share: float = 0.25,
    seed: int = 0,
    n_jobs: int | None = None,
) -> RepeatedSplits:
    """Train each method on the training documents of each random split, and measure it on the others.

    All documents are divided anew, whatever splits the data have; documents of a split ``unused`` are left out. All
    methods have the same splits.
    """
    if repeats < 2:
        raise ParameterError(f"--repeats must be at least 2, not {repeats}: a standard deviation needs two splits.")
    if source.split_by:
        raise ParameterError("--repeats draws random splits of single documents. Leave out --split-by.")
    began = time.perf_counter()
    recipes = {method: Recipe.of(method, overrides) for method in methods}
    loaded = load_source(source)
    corpus = loaded.corpus
    if "unused" in corpus.splits:
        corpus = corpus.subset([row for row, name in enumerate(corpus.split_names or ()) if name != "unused"])
    splits = repeated_random(len(corpus), 1 - test_share, test_share, repeats, seed)
    values: dict[str, dict[str, list[float]]] = {method: {metric: [] for metric in TESTED} for method in recipes}
    name = loaded.corpus.name or source.data
    with stage("Training on random splits", repeats * len(recipes)) as advance:
        for split in splits:
            for method, recipe in recipes.items():
                measured = _measured(corpus, split, recipe, name, seed, n_jobs)
                for metric in TESTED:
                    values[method][metric].append(measured[metric])
                advance(1)
    train, test = splits[0]
    given = " (the data's own split is not used)" if len(loaded.corpus.splits) > 1 else ""
    return RepeatedSplits(
        data=name,
        split=f"{repeats} random splits, {100 * test_share:.0f} % for testing, seed {seed}{given}",
        documents=len(corpus),
        train=len(train),
        test=len(test),
        seed=seed,
        values=values,
        seconds=time.perf_counter() - began,
        skipped=[str(problem) for problem in loaded.skipped],
    )


def _measured(
    corpus: Corpus, split: Split, recipe: Recipe, name: str, seed: int, n_jobs: int | None
) -> dict[str, float]:
    """The metrics over all test documents of one split."""
    train, test = (corpus.subset(rows) for rows in split)
    classifier = fit_corpus(train, recipe, seed=seed, n_jobs=n_jobs)
    result = measure(classifier, documents_of(test), test.label_sets, ids=test.ids, data=name, split="test")
    return dict(result.metrics["all"])
