"""Train a model, save it, inspect the file, and predict labels with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.corpus import Text
from manylabel.data.label_vocabulary import LabelVocabulary, addresses_of
from manylabel.data.problems import Problem
from manylabel.data.reading_options import ReadingOptions
from manylabel.deadline import Deadline
from manylabel.decisions.base import Choice, DecisionRule
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.shown import shown_thresholds
from manylabel.evaluation.remarks import plain_bin_weights
from manylabel.evaluation.result import SplitCounts
from manylabel.exceptions import DataError, ModelFileError, ParameterError, UnknownNameError
from manylabel.features.encoders import Encoder
from manylabel.features.reading import Reading
from manylabel.features.scripts import report_kept_markup
from manylabel.modelfile import ModelFile, open_model
from manylabel.models.base import MultiLabelModel
from manylabel.progress import remark
from manylabel.recipe import Recipe
from manylabel.reports.records import ArrayShape, LabelledDocument, ModelRecord, TrainingRecord
from manylabel.scale.predictions import BY_RULE, Asked, label_document
from manylabel.stored import check_state
from manylabel.tasks.choices import report_unlabelled, vocabulary_text
from manylabel.tasks.corpora import Source, described_corpus, documents_of, load_source, ready_vectors, split_of
from manylabel.tasks.dividing import dates_of
from manylabel.tasks.model_facts import stored_facts, training_facts
from manylabel.wording import setting_name

Overrides = Mapping[str, Mapping[str, Any]]


INSPECTED = ("labels_", "label_counts_", "vocabulary_", "reading_", "expected_")
"""The learned attributes of a classifier that `inspect` reads, besides those of its parts."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A fitted classifier and the record of its training."""

    classifier: TextClassifier
    record: TrainingRecord


def terms_of(classifier: TextClassifier) -> int:
    """How many terms the model knows."""
    keywords, vectors = classifier.features_.keywords_, classifier.features_.vectors_
    rules = 0 if keywords is None else len(keywords.labels_)
    return int(classifier.decided_.n_features_in_) - rules - (0 if vectors is None else vectors.dimensions)


def fit_corpus(
    corpus: Corpus,
    recipe: Recipe,
    *,
    single_label: bool | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    deadline: Deadline | None = None,
    encoder: Encoder | None = None,
    descriptions: Mapping[str, str] | None = None,
    order_by: str | None = None,
) -> TextClassifier:
    """A classifier fitted to all documents of a corpus; errors about the documents name their file.

    `order_by` is a column of dates, by which the folds of the training are time-ordered.
    """
    if order_by is not None and order_by not in corpus.metadata:
        raise UnknownNameError("column of dates", order_by, list(corpus.metadata))
    training = {"single_label": single_label, "seed": seed, "n_jobs": n_jobs, "memory": memory, "encoder": encoder}
    classifier = TextClassifier.from_recipe(recipe, **training)
    used = {name for names in corpus.label_sets for name in names}
    names = [name for name in corpus.label_names if name in used]
    try:
        return classifier.fit(
            documents_of(corpus),
            corpus.label_sets,
            label_names=names or None,
            terms=corpus.terms,
            hierarchy=corpus.hierarchy,
            vocabulary=corpus.vocabulary,
            reading=corpus.reading,
            deadline=deadline,
            descriptions=descriptions,
            dates=None if order_by is None else dates_of(corpus, order_by),
        )
    except DataError as error:
        if error.path is None:
            error.path = corpus.source
        raise


def train(
    source: Source,
    model: Path | None,
    *,
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    split: str | None = None,
    single_label: bool | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    memory: str | int | None = None,
    vectors: str | None = None,
    descriptions: Path | None = None,
    order_by: str | None = None,
) -> Trained:
    """Load the documents, fit the method, save the model (unless `model` is None).

    `vectors` is a file of ready vectors of all documents that are loaded (`ready_vectors`).
    `order_by` is a column of dates: thresholds and the quality to expect are then learned in time-ordered folds.
    `descriptions` is a file that describes the labels; with it the source may have no labels, or no data at all.
    """
    recipe = Recipe.of(method, overrides)
    whole, corpus, skipped, texts = _to_learn(source, split, descriptions)
    _report_empty_texts(corpus)
    _report_kept_markup(corpus, recipe)
    began = time.perf_counter()
    encoder = ready_vectors(vectors, whole)
    classifier = fit_corpus(
        corpus,
        recipe,
        single_label=single_label,
        seed=seed,
        n_jobs=n_jobs,
        memory=memory,
        descriptions=texts,
        order_by=order_by,
        encoder=encoder,
    )
    seconds = time.perf_counter() - began
    name = whole.name or source.data or str(descriptions)
    counts = SplitCounts.of(corpus.label_sets)
    if model is not None:
        classifier.save(model, training_facts(corpus, name, "train"))
    record = training_record(
        classifier,
        model,
        name,
        counts.documents,
        counts.unlabelled,
        seconds,
        has_test_split="test" in whole.splits and split is None,
        skipped=[str(problem) for problem in skipped],
    )
    record = replace(
        record,
        vocabulary=vocabulary_text(whole),
        described_only=classifier.described_only,
        one_label_each=len(corpus) > 0 and all(len(names) == 1 for names in corpus.label_sets),
        labels_once=sum(times == 1 for times in Counter(chain.from_iterable(corpus.label_sets)).values()),
    )
    return Trained(classifier, record)


def _report_empty_texts(corpus: Corpus) -> None:
    """Report how many training documents have no text."""
    empty = 0 if corpus.counts is not None else sum(not text.strip() for text in corpus.joined_texts)
    if empty:
        some = f"{empty:,} of {len(corpus):,} documents {'has' if empty == 1 else 'have'} no text"
        remark(f"{some}: no term is learned from them, but they count in the quality to expect.")


def _report_kept_markup(corpus: Corpus, recipe: Recipe) -> None:
    """Report HTML that is learned from because few documents have it, unless the user has chosen that."""
    if not corpus.is_bag_of_words and recipe.vectorizer_settings.get("markup", "auto") == "auto":
        report_kept_markup(corpus.joined_texts)


def _to_learn(
    source: Source, split: str | None, descriptions: Path | None
) -> tuple[Corpus, Corpus, list[Problem], dict[str, str] | None]:
    """All documents, those to learn from, what was skipped, and the descriptions of labels, if any."""
    if descriptions is not None:
        return described_corpus(source, split, descriptions)
    if not source.data:
        raise ParameterError(
            f"There is nothing to learn from: give data, a file of {setting_name('descriptions')}, or both."
        )
    loaded = load_source(source)
    train = split_of(loaded.corpus, split, "train")
    report_unlabelled(train, source.data)
    return loaded.corpus, train, loaded.skipped, None


def training_record(
    classifier: TextClassifier,
    model: Path | None,
    data: str,
    documents: int,
    unlabelled: int,
    seconds: float,
    *,
    has_test_split: bool,
    skipped: list[str],
) -> TrainingRecord:
    """The record of a training, from memory or from disk."""
    vectorizer = classifier.features_.vectorizer_
    return TrainingRecord(
        model=None if model is None else str(model),
        data=data,
        documents=documents,
        unlabelled=unlabelled,
        labels=len(classifier.labels_),
        terms=terms_of(classifier),
        reading=[] if vectorizer is None else vectorizer.reading_,
        seconds=seconds,
        recipe=classifier.recipe.as_dict(),
        chosen=classifier.decided_.choice_,
        guarantee=None if classifier.guarantee is None else classifier.guarantee.as_dict(),
        expected=classifier.expected_,
        has_test_split=has_test_split,
        skipped=skipped,
        single_label=classifier.predicts_one_label,
        documents_per_label=float(classifier.label_counts_.mean()),
    )


def predict_source(
    classifier: TextClassifier, source: Source, asked: Asked = BY_RULE, vectors: str | None = None
) -> tuple[Iterator[LabelledDocument], list[Problem], Corpus]:
    """The predicted labels of every document of a file or a named data set, the lines that were skipped, and the
    documents. `vectors` is a file of their ready vectors, where the model reads such.
    """
    reading = load_source(replace(source, labels=False), classifier, names_labels=False)
    if (encoder := ready_vectors(vectors, reading.corpus)) is not None:
        classifier.attach_encoder(encoder)
    corpus, addresses = reading.corpus, classifier.label_addresses
    predictions = asked.predict(classifier, documents_of(corpus))
    labelled = (
        label_document(classifier, identifier, prediction, asked.runners_up, addresses)
        for identifier, prediction in zip(corpus.ids, predictions, strict=True)
    )
    return labelled, reading.skipped, corpus


def predict_batches(
    classifier: TextClassifier, batches: Iterable[Sequence[tuple[str, Text]]], asked: Asked = BY_RULE
) -> Iterator[list[LabelledDocument]]:
    """The predicted labels of (id, text) pairs, batch by batch as they come."""
    addresses = classifier.label_addresses
    for pairs in batches:
        predictions = asked.predict(classifier, [text for _, text in pairs])
        yield [
            label_document(classifier, identifier, prediction, asked.runners_up, addresses)
            for (identifier, _), prediction in zip(pairs, predictions, strict=True)
        ]


def trained_on(path: Path) -> str | None:
    """The file or data set that a model was trained on; None where there is no model, or it does not tell."""
    if not path.is_file():
        return None
    try:
        opened = open_model(path)
        data = stored_facts(opened).get("data")
        with opened.reports_damage():
            reading = opened.decode(opened.header["tree"]["state"]["reading_"])
    except ModelFileError:
        return None
    suffix = "" if reading is None or data is None else ReadingOptions.from_dict(reading).suffix
    return data if data is None or data.endswith(suffix) else f"{data}{suffix}"


def inspect(path: Path, *, verify: bool = False) -> ModelRecord:
    """Read the header of a model file, its labels and their thresholds; vocabulary and weights stay on disk.

    With `verify`, all arrays are compared with their checksums first.
    """
    opened = open_model(path)
    if verify:
        opened.check_arrays()
    with opened.reports_damage():
        return _record(opened)


def _record(opened: ModelFile) -> ModelRecord:
    tree = opened.header["tree"]
    if tree["@object"] != "TextClassifier":
        raise ModelFileError(f"{opened.path}: this file holds a {tree['@object']}, not a TextClassifier.")
    state = tree["state"]
    plain = {name: opened.decode(state[name]) for name in INSPECTED}
    plain["updates_"] = opened.decode(state.get("updates_", []))
    plain["descriptions_"] = opened.decode(state.get("descriptions_"))
    check_state("TextClassifier", {name: TextClassifier.learned[name] for name in plain}, plain)
    labels: list[str] = plain["labels_"]
    facts = {name: value for name, value in stored_facts(opened).items() if name != "training_hashes"}
    reading = None if plain["reading_"] is None else ReadingOptions.from_dict(plain["reading_"])
    texts, decided = _choices(state), state["decided_"]["state"]
    rule: DecisionRule | None = opened.decode(decided["rule_"])
    guarantee = None if rule is None else rule.guarantee()
    return ModelRecord(
        path=str(opened.path),
        bytes=opened.size,
        versions={name: str(opened.header[name]) for name in ("manylabel", "numpy")},
        facts={**facts, "recipe": Recipe.from_dict(opened.decode(state["recipe_"])).as_dict()},
        labels=labels,
        addresses=_addresses(plain["vocabulary_"], labels),
        label_counts=plain["label_counts_"].tolist(),
        described=[label for label in labels if label in (plain["descriptions_"] or {})],
        thresholds=None if rule is None else _thresholds(opened, decided, rule, len(labels)),
        language=texts.stemmer,
        texts=texts.phrases(),
        chosen=_chosen(opened, decided),
        guarantee=None if guarantee is None else guarantee.as_dict(),
        bin_weights=_bin_weights(opened, decided),
        expected=plain["expected_"],
        changes=[] if rule is None else rule.changes(),
        single_label=rule is not None and rule.predicts_one_label,
        arrays={name: ArrayShape(place.dtype, list(place.shape)) for name, place in sorted(opened.places.items())},
        reading=None if reading is None else reading.summary(),
        updates=plain["updates_"],
    )


def name_labels_in(classifier: TextClassifier, language: str, path: Path) -> None:
    """Give the labels of a loaded model their names in another language of its vocabulary.

    Labels that the vocabulary does not name in this language keep another name; `path` is the file of the model.
    """
    vocabulary = classifier.vocabulary
    if vocabulary is None:
        raise ParameterError(
            f"{path} has no vocabulary, so its labels have no other names. Leave out {setting_name('label_language')}."
        )
    chosen = vocabulary.checked_language(language)
    names, addresses = vocabulary.display_names(chosen), classifier.label_addresses
    classifier.labels_ = [names.get(addresses.get(label, ""), label) for label in classifier.labels_]
    classifier.vocabulary_ = replace(vocabulary, language=chosen).as_dict()


def _addresses(plain: Mapping[str, Any] | None, labels: list[str]) -> dict[str, str]:
    """The address of each label that has one, by a vocabulary that is given as plain data."""
    return addresses_of(None if plain is None else LabelVocabulary.from_dict(plain), labels)


def _choices(state: dict[str, Any]) -> Reading:
    """What the vectoriser chose by the training texts; the default where there was nothing to choose."""
    vectorizer = state["features_"]["state"]["vectorizer_"]
    chosen = {} if vectorizer is None else vectorizer["state"]
    known = {name.removesuffix("_"): chosen[name] for name in Reading().learned_state() if name in chosen}
    return Reading(**known)


def _thresholds(opened: ModelFile, decided: dict[str, Any], rule: DecisionRule, n_labels: int) -> list[float] | None:
    # The kind of the scores depends on the settings of the model alone, so its learned state is not read.
    model = opened.unfitted(decided["model_"])
    if not isinstance(model, MultiLabelModel):
        raise TypeError("not a model")
    calibration = opened.decode(decided.get("calibration_"))
    values = shown_thresholds(rule, n_labels, model.score_kind, calibration)
    if values is not None and values.shape != (n_labels,):
        raise ValueError("the rule has thresholds for other labels")
    return None if values is None else values.tolist()


def _chosen(opened: ModelFile, decided: dict[str, Any]) -> Choice | None:
    chosen: Choice | None = opened.decode(decided["choice_"])
    check_state("DecidedModel", {"choice_": DecidedModel.learned["choice_"]}, {"choice_": chosen})
    return chosen


def _bin_weights(opened: ModelFile, decided: dict[str, Any]) -> dict[str, list[float]] | None:
    weights = opened.decode(decided["model_"]["state"].get("bin_weights_"))
    check_state("model", {"bin_weights_": MultiLabelModel.learned["bin_weights_"]}, {"bin_weights_": weights})
    return None if weights is None else plain_bin_weights(weights)
