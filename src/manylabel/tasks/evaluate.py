"""Evaluate a model file or methods on labelled documents, once or on repeated splits, and read saved evaluations."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.limits import LIMITS
from manylabel.data.nested_text import NotJsonError, parse_json
from manylabel.data.problems import Problem
from manylabel.data.splits import Split, repeated_random
from manylabel.data.textfile import read_bytes
from manylabel.evaluation.analyses import Analysis, AnalysisBuilder
from manylabel.evaluation.expected import ExpectedQuality
from manylabel.evaluation.experiment import evaluate as measure
from manylabel.evaluation.repeated_splits import TESTED, RepeatedSplits
from manylabel.evaluation.result import Result, SplitCounts, check_comparable, fingerprint, versions
from manylabel.evaluation.training_documents import SeenDocuments, count_seen
from manylabel.exceptions import ComparisonError, DataError, MissingDataError, ParameterError
from manylabel.insight.evaluation import report_analysis
from manylabel.metrics import METRICS
from manylabel.modelfile import open_model
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.reports.evaluation_answer import Known
from manylabel.reports.evaluation_records import EvaluationReport
from manylabel.reports.records import Straddle
from manylabel.tasks.corpora import Source, documents_of, load_source, ready_vectors, split_of
from manylabel.tasks.dividing import TEST_SHARE, drop_straddling, find_straddling, train_and_test
from manylabel.tasks.model_facts import stored_facts
from manylabel.tasks.models import Overrides, fit_corpus, name_labels_in
from manylabel.wording import counted, is_worded_for, setting_name


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The results of one evaluation, in the order the methods were named, and what was skipped in reading."""

    results: list[Result]
    split: str
    skipped: list[Problem]
    straddle: Straddle | None = None
    """Near-duplicates in training and test; None where there was no training."""
    seen: SeenDocuments | None = None
    """How many of the measured documents the model was trained on; None where that is not known."""
    expected: ExpectedQuality | None = None
    """The quality on new documents that training expected; None where it did not measure it."""
    analyses: list[Analysis] = field(default_factory=list)
    """Curves, rankings, set sizes and sweeps of each result, if they were asked for."""
    reports: list[EvaluationReport] = field(default_factory=list)
    """The reports of each result, if they were asked for: the answer first, and everything behind it."""

    def as_dict(self) -> dict[str, Any]:
        """The evaluation as plain data."""
        return {
            "split": self.split,
            "training_documents": None if self.seen is None else asdict(self.seen),
            "near_duplicates": None if self.straddle is None else self.straddle.as_dict(),
            "results": [result.as_dict() for result in self.results],
            **({"reports": [report.as_dict() for report in self.reports]} if self.reports else {}),
        }


def evaluate_model(
    source: Source,
    model: Path,
    *,
    split: str | None = None,
    analyse: bool = False,
    memory: str | int | None = None,
    encoder: str | None = None,
    vectors: str | None = None,
) -> Evaluated:
    """Measure a saved model on the test split of the documents (all of them where there is no split).

    With `analyse`, curves, rankings, set sizes and sweeps are computed too, and the report is made. `encoder` is where
    the model's encoder is, `vectors` a file of ready vectors of all documents. Labels are named in the language that
    the source wants, if it wants one.
    """
    classifier = TextClassifier.load(model, encoder=encoder).set_params(memory=memory)
    if source.label_language is not None:
        name_labels_in(classifier, source.label_language, model)
    loaded = load_source(source, classifier)
    if (ready := ready_vectors(vectors, loaded.corpus)) is not None:
        classifier.attach_encoder(ready)
    check_known(loaded.corpus.label_sets, classifier, model, loaded.corpus.source)
    corpus = split_of(loaded.corpus, split, "test")
    whole = len(corpus) == len(loaded.corpus)
    chosen = "all documents" if whole else f"the {split or 'test'} split"
    name = loaded.corpus.name or source.data
    facts = stored_facts(open_model(model))
    trained_on, hashes = facts.get("train_sha256"), facts.get("training_hashes")
    measured = split or ("all" if whole else "test")
    seen = None if hashes is None else count_seen(documents_of(corpus), hashes)
    known = Known(classifier.expected_, seen)
    result, analyses, reports = _measure(classifier, corpus, name, measured, None, trained_on, None, analyse, known)
    return Evaluated(
        [result],
        chosen,
        list(loaded.skipped),
        seen=seen,
        expected=classifier.expected_,
        analyses=analyses,
        reports=reports,
    )


def check_known(
    label_sets: Sequence[Sequence[str]], classifier: TextClassifier, model: Path, data: str | Path | None
) -> None:
    """Raise `DataError` where the model knows none of the labels of the documents: every figure would be 0."""
    used = sorted({name for names in label_sets for name in names})
    if used and not set(used) & set(classifier.labels_):
        give = "Map labels with a vocabulary (--vocabulary FILE), or give" if is_worded_for("command line") else "Give"
        raise DataError(
            f"The model knows none of the {counted(len(used), 'label')} of the data. The data have, for example, "
            f"{used[0]!r}; "
            f"{model} has {classifier.labels_[0]!r}.",
            path=data,
            remedy=f"{give} data with labels of the same kind.",
        )


def evaluate_methods(
    source: Source,
    methods: Sequence[str] = (DEFAULT_METHOD,),
    *,
    overrides: Overrides | None = None,
    test: Source | None = None,
    test_share: float | None = None,
    drop_duplicates: bool = False,
    analyse: bool = False,
    single_label: bool | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    vectors: str | None = None,
) -> Evaluated:
    """The results of methods trained on the training split and measured on the test split, or on documents of `test`.

    Only labels that occur in training can be predicted; a test label without a training document counts as missed.
    With `analyse`, curves, rankings, set sizes and sweeps are computed too, and reports are made.
    With `drop_duplicates`, training leaves out documents that are near-duplicates of test documents. `vectors` is a
    file of ready vectors of all documents.
    """
    recipes = [Recipe.of(method, overrides) for method in methods]
    loaded = load_source(source)
    skipped = list(loaded.skipped)
    if test is None:
        train, tested, how = train_and_test(loaded.corpus, test_share, seed)
    else:
        other = load_source(test, like=loaded.corpus)
        train, tested = split_of(loaded.corpus, None, "train"), split_of(other.corpus, None, "test")
        how, skipped = f"measured on {test.data}", [*skipped, *other.skipped]
    if drop_duplicates:
        train, straddle = drop_straddling(train, tested)
    else:
        straddle = find_straddling(train, tested)
    name = loaded.corpus.name or source.data
    counts, trained_on = SplitCounts.of(train.label_sets), fingerprint(train.ids, train.label_sets)
    results: list[Result] = []
    analyses: list[Analysis] = []
    reports: list[EvaluationReport] = []
    training: dict[str, Any] = {
        "seed": seed,
        "n_jobs": n_jobs,
        "memory": memory,
        "encoder": ready_vectors(vectors, loaded.corpus),
    }
    for recipe in recipes:
        began = time.perf_counter()
        classifier = fit_corpus(train, recipe, single_label=single_label, **training)
        seconds = time.perf_counter() - began
        known = Known(classifier.expected_)
        result, found, made = _measure(classifier, tested, name, "test", counts, trained_on, seconds, analyse, known)
        results.append(result)
        analyses += found
        reports += made
    return Evaluated(results, how, skipped, straddle, analyses=analyses, reports=reports)


def _measure(
    classifier: TextClassifier,
    corpus: Corpus,
    data: str,
    split: str,
    train: SplitCounts | None,
    train_sha256: str | None,
    fit_seconds: float | None,
    analyse: bool,
    known: Known,
) -> tuple[Result, list[Analysis], list[EvaluationReport]]:
    """The result and, with `analyse`, its analysis and report."""
    builder = AnalysisBuilder(classifier.decided_) if analyse else None
    result = measure(
        classifier,
        documents_of(corpus),
        corpus.label_sets,
        ids=corpus.ids,
        data=data,
        split=split,
        train=train,
        train_sha256=train_sha256,
        fit_seconds=fit_seconds,
        hierarchy=corpus.hierarchy or classifier.hierarchy,
        analyst=builder,
    )
    if builder is None:
        return result, [], []
    analysis = builder.finish(classifier.method, corpus.ids)
    documents, sets = documents_of(corpus), corpus.label_sets
    return result, [analysis], [report_analysis(classifier, documents, sets, corpus.ids, result, analysis, known)]


def evaluate_repeatedly(
    source: Source,
    methods: Sequence[str],
    *,
    repeats: int,
    overrides: Overrides | None = None,
    test_share: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> RepeatedSplits:
    """Train each method on the training documents of each random split, and measure it on the others.

    All documents are divided anew, whatever splits the data have; documents of a split ``unused`` are left out. All
    methods have the same splits.
    """
    if repeats < 2:
        raise ParameterError(
            f"{setting_name('repeats')} must be at least 2, not {repeats}: a standard deviation needs two splits."
        )
    if source.split_by:
        raise ParameterError(
            f"{setting_name('repeats')} draws random splits of single documents. Leave out {setting_name('split_by')}."
        )
    began = time.perf_counter()
    recipes = {method: Recipe.of(method, overrides) for method in methods}
    loaded = load_source(source)
    corpus = loaded.corpus
    if "unused" in corpus.splits:
        corpus = corpus.subset([row for row, name in enumerate(corpus.split_names or ()) if name != "unused"])
    share = TEST_SHARE if test_share is None else test_share
    splits = repeated_random(len(corpus), 1 - share, share, repeats, seed)
    name = loaded.corpus.name or source.data
    values = _on_splits(corpus, splits, recipes, name, seed, n_jobs)
    train, test = splits[0]
    given = " (the data's own split is not used)" if len(loaded.corpus.splits) > 1 else ""
    return RepeatedSplits(
        data=name,
        split=f"{repeats} random splits, {100 * share:.0f} % for testing, seed {seed}{given}",
        documents=len(corpus),
        train=len(train),
        test=len(test),
        seed=seed,
        values=values,
        seconds=time.perf_counter() - began,
        skipped=[str(problem) for problem in loaded.skipped],
        recipes={method: recipe.as_dict() for method, recipe in recipes.items()},
        conventions={metric: METRICS[metric].convention for metric in TESTED},
        versions=versions(),
        documents_sha256=fingerprint(corpus.ids, corpus.label_sets),
    )


def _on_splits(
    corpus: Corpus, splits: Sequence[Split], recipes: Mapping[str, Recipe], name: str, seed: int, n_jobs: int | None
) -> dict[str, dict[str, list[float]]]:
    """By method and metric, the values over all test documents of each split."""
    values: dict[str, dict[str, list[float]]] = {method: {metric: [] for metric in TESTED} for method in recipes}
    with stage("Training on random splits", len(splits) * len(recipes)) as advance:
        for split in splits:
            train, test = (corpus.subset(rows) for rows in split)
            for method, recipe in recipes.items():
                classifier = fit_corpus(train, recipe, seed=seed, n_jobs=n_jobs)
                result = measure(classifier, documents_of(test), test.label_sets, ids=test.ids, data=name, split="test")
                for metric in TESTED:
                    values[method][metric].append(result.metrics["all"][metric])
                advance(1)
    return values


@dataclass(frozen=True, slots=True)
class SavedResults:
    """Results on one data set that can be compared, and how its documents were split."""

    data: str
    split: str
    results: list[Result]

    def as_dict(self) -> dict[str, Any]:
        """The results as plain data, in the form of ``manylabel evaluate --json``."""
        return {"split": self.split, "results": [result.as_dict() for result in self.results]}


def saved_results(paths: Sequence[Path]) -> list[SavedResults]:
    """The results of some files, by data set; an error if those of one data set were measured differently.

    Files with one data set each are taken to be about the same one, whatever they call it: the hash of the true labels
    decides. Files with several must have the same ones. A method that occurs twice is named after its file.
    """
    files = {str(path): _read(path) for path in dict.fromkeys(paths)}
    if all(len(groups) == 1 for groups in files.values()):
        return [_side_by_side({path: groups[0] for path, groups in files.items()})]
    names = [group.data for group in next(iter(files.values()))]
    tables = []
    for path, groups in files.items():
        if missing := set(names) ^ {group.data for group in groups}:
            raise ComparisonError(
                f"{path} and {next(iter(files))} do not have results on the same data sets: only one of them has "
                f"{', '.join(sorted(missing))}. Give files with one data set each, or with the same ones."
            )
    for name in names:
        here = {path: next(group for group in groups if group.data == name) for path, groups in files.items()}
        tables.append(_side_by_side(here))
    return tables


def _side_by_side(groups: Mapping[str, SavedResults]) -> SavedResults:
    """The results of all files on one data set."""
    pairs = [(path, result) for path, group in groups.items() for result in group.results]
    results = [result for _, result in pairs]
    check_comparable(results, [f"{path} ({result.method})" for path, result in pairs])
    twice = {method for method, times in Counter(result.method for result in results).items() if times > 1}
    named = [
        replace(result, method=f"{result.method} ({Path(path).name})") if result.method in twice else result
        for path, result in pairs
    ]
    first = next(iter(groups.values()))
    return SavedResults(first.data, first.split, named)


def _read(path: Path) -> list[SavedResults]:
    """The results of one file, data set by data set."""
    if not path.exists():
        raise MissingDataError(f"{path}: there is no such file. Make one with: manylabel evaluate DATA --json > {path}")
    try:
        plain = parse_json(read_bytes(path).decode("utf-8-sig"), LIMITS.nesting)
    except ValueError as error:
        raise DataError(
            f"This file is not JSON ({error}).",
            path=path,
            line=error.line if isinstance(error, NotJsonError) else None,
            remedy="Write results with `manylabel evaluate DATA --json`.",
        ) from None
    groups = []
    for group in plain if isinstance(plain, list) and plain else [plain]:
        found = group.get("results") if isinstance(group, Mapping) else None
        if isinstance(group, Mapping) and "repeats" in group:
            raise DataError(
                "These are results of `manylabel evaluate --repeats`, which compares its methods itself.",
                path=path,
                remedy="Name all methods in one such command; `results` lists those of single splits.",
            )
        if not found or not isinstance(found, list):
            raise DataError(
                "There are no results of an evaluation in this file.",
                path=path,
                remedy="Write some with `manylabel evaluate DATA --json`.",
            )
        groups.append(_group(path, str(group.get("split", "")), found))
    return groups


def _group(path: Path, split: str, plain: Sequence[Mapping[str, Any]]) -> SavedResults:
    try:
        results = [Result.from_dict(one) for one in plain]
    except DataError as error:
        raise DataError(error.problem, path=path, remedy=error.remedy) from None
    return SavedResults(results[0].data, split, results)
