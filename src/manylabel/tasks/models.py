"""Train a model, save it, inspect the file, and predict labels with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict, cast

import numpy as np
import numpy.typing as npt

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.corpus import Text
from manylabel.data.label_vocabulary import LabelVocabulary, addresses_of
from manylabel.data.problems import Problem
from manylabel.data.reading_options import ReadingOptions
from manylabel.deadline import Deadline
from manylabel.decisions.base import Choice
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.shown import shown_thresholds
from manylabel.evaluation.remarks import plain_bin_weights
from manylabel.evaluation.result import SplitCounts, fingerprint
from manylabel.evaluation.training_documents import kept_hashes
from manylabel.exceptions import DataError, ModelFileError, ParameterError
from manylabel.features.encoders import Encoder
from manylabel.features.reading import Reading
from manylabel.modelfile import ModelFile, open_model
from manylabel.models.base import MultiLabelModel
from manylabel.recipe import Recipe
from manylabel.reports.records import ArrayShape, LabelledDocument, ModelRecord, TrainingRecord
from manylabel.scale.predictions import BY_RULE, Asked, label_document
from manylabel.stored import Array, Fields, Sometimes, Stored, Word, check_state, total
from manylabel.tasks.choices import vocabulary_text
from manylabel.tasks.corpora import Source, documents_of, load_source, ready_vectors, split_of

Overrides = Mapping[str, Mapping[str, Any]]


class ModelFacts(TypedDict, total=False):
    """What a model file keeps of its training documents, where a command wrote it."""

    data: str
    documents: int
    unlabelled: int
    train_sha256: str
    """The fingerprint of the documents and their labels."""
    training_hashes: npt.NDArray[np.uint64]
    """A hash of each document, to tell whether a model has seen one."""
    written_by: str
    """The command that wrote the file."""
    recipe: dict[str, Any]


STORED_FACTS: Mapping[str, Stored] = {
    "data": Sometimes(Word()),
    "documents": Sometimes(total()),
    "unlabelled": Sometimes(total()),
    "train_sha256": Sometimes(Word()),
    "training_hashes": Sometimes(Array(("u8",), (None,))),
    "written_by": Sometimes(Word()),
}
"""`ModelFacts` as model files store them."""
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
) -> TextClassifier:
    """A classifier fitted to all documents of a corpus; errors about the documents name their file."""
    training = {"single_label": single_label, "seed": seed, "n_jobs": n_jobs, "memory": memory, "encoder": encoder}
    classifier = TextClassifier.from_recipe(recipe, **training)
    used = {name for names in corpus.label_sets for name in names}
    names = [name for name in corpus.label_names if name in used]
    try:
        return classifier.fit(
            documents_of(corpus),
            corpus.label_sets,
            label_names=names,
            terms=corpus.terms,
            hierarchy=corpus.hierarchy,
            vocabulary=corpus.vocabulary,
            reading=corpus.reading,
            deadline=deadline,
        )
    except DataError as error:
        if error.path is None:
            error.path = corpus.source
        raise


def training_facts(corpus: Corpus, name: str, command: str) -> ModelFacts:
    """What a model file keeps of its training documents: the data, their number, hashes, and the command that ran."""
    counts = SplitCounts.of(corpus.label_sets)
    return {
        "data": name,
        "documents": counts.documents,
        "unlabelled": counts.unlabelled,
        "train_sha256": fingerprint(corpus.ids, corpus.label_sets),
        "training_hashes": kept_hashes(documents_of(corpus)),
        "written_by": command,
    }


def stored_facts(opened: ModelFile) -> ModelFacts:
    """What `training_facts` returned when the model was written, and other plain data of its writer, checked."""
    facts = opened.facts
    with opened.reports_damage():
        if (problem := Fields(STORED_FACTS).problem(facts, {})) is not None:
            raise ValueError(f"what is stored of the training documents {problem}")
    return cast(ModelFacts, facts)


def check_own_model(path: Path, command: str) -> None:
    """Raise an error where a file exists that another command wrote: `command` must not overwrite it."""
    if not path.exists():
        return
    try:
        written_by = stored_facts(open_model(path)).get("written_by")
    except ModelFileError:
        written_by = None
    if written_by != command:
        which = "is not a model" if written_by is None else f"holds the model of `manylabel {written_by}`"
        raise ParameterError(
            f"{path} {which} and would be overwritten. Give another name with --model, or remove the file first."
        )


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
) -> Trained:
    """Load the documents, fit the method, save the model (unless `model` is None).

    `vectors` is a file of ready vectors of all documents that are loaded (`ready_vectors`).
    """
    recipe = Recipe.of(method, overrides)
    loaded = load_source(source)
    corpus = split_of(loaded.corpus, split, "train")
    began = time.perf_counter()
    encoder = ready_vectors(vectors, loaded.corpus)
    classifier = fit_corpus(
        corpus, recipe, single_label=single_label, seed=seed, n_jobs=n_jobs, memory=memory, encoder=encoder
    )
    seconds = time.perf_counter() - began
    name = loaded.corpus.name or source.data
    counts = SplitCounts.of(corpus.label_sets)
    if model is not None:
        classifier.save(model, training_facts(corpus, name, "train"))
    record = TrainingRecord(
        model=None if model is None else str(model),
        data=name,
        documents=counts.documents,
        unlabelled=counts.unlabelled,
        labels=len(classifier.labels_),
        terms=terms_of(classifier),
        reading=[] if classifier.features_.vectorizer_ is None else classifier.features_.vectorizer_.reading_,
        seconds=seconds,
        recipe=classifier.recipe.as_dict(),
        chosen=classifier.decided_.choice_,
        guarantee=None if classifier.guarantee is None else classifier.guarantee.as_dict(),
        expected=classifier.expected_,
        has_test_split="test" in loaded.corpus.splits and split is None,
        skipped=[str(problem) for problem in loaded.skipped],
        vocabulary=vocabulary_text(loaded.corpus),
        one_label_each=all(len(names) == 1 for names in corpus.label_sets),
        single_label=classifier.predicts_one_label,
        labels_once=sum(times == 1 for times in Counter(chain.from_iterable(corpus.label_sets)).values()),
    )
    return Trained(classifier, record)


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


def inspect(path: Path) -> ModelRecord:
    """Read the header of a model file, its labels and their thresholds; vocabulary and weights stay on disk."""
    opened = open_model(path)
    with opened.reports_damage():
        return _record(opened)


def _record(opened: ModelFile) -> ModelRecord:
    tree = opened.header["tree"]
    if tree["@object"] != "TextClassifier":
        raise ModelFileError(f"{opened.path}: this file holds a {tree['@object']}, not a TextClassifier.")
    state = tree["state"]
    plain = {name: opened.decode(state[name]) for name in INSPECTED}
    plain["updates_"] = opened.decode(state.get("updates_", []))
    check_state("TextClassifier", {name: TextClassifier.learned[name] for name in plain}, plain)
    labels: list[str] = plain["labels_"]
    facts = {name: value for name, value in stored_facts(opened).items() if name != "training_hashes"}
    reading = None if plain["reading_"] is None else ReadingOptions.from_dict(plain["reading_"])
    return ModelRecord(
        path=str(opened.path),
        bytes=opened.size,
        versions={name: str(opened.header[name]) for name in ("manylabel", "numpy")},
        facts={**facts, "recipe": Recipe.from_dict(opened.decode(state["recipe_"])).as_dict()},
        labels=labels,
        addresses=_addresses(plain["vocabulary_"], labels),
        label_counts=plain["label_counts_"].tolist(),
        thresholds=_thresholds(opened, len(labels)),
        language=_choices(state).stemmer,
        texts=_choices(state).phrases(),
        chosen=_chosen(opened),
        guarantee=_guarantee(opened),
        bin_weights=_bin_weights(opened),
        expected=plain["expected_"],
        changes=_changes(opened),
        single_label=_predicts_one_label(opened),
        arrays={name: ArrayShape(place.dtype, list(place.shape)) for name, place in sorted(opened.places.items())},
        reading=None if reading is None else reading.summary(),
        updates=plain["updates_"],
    )


def _addresses(plain: Mapping[str, Any] | None, labels: list[str]) -> dict[str, str]:
    """The address of each label that has one, by a vocabulary that is given as plain data."""
    return addresses_of(None if plain is None else LabelVocabulary.from_dict(plain), labels)


def _choices(state: dict[str, Any]) -> Reading:
    """What the vectoriser chose by the training texts; the default where there was nothing to choose."""
    vectorizer = state["features_"]["state"]["vectorizer_"]
    chosen = {} if vectorizer is None else vectorizer["state"]
    known = {name.removesuffix("_"): chosen[name] for name in Reading().learned_state() if name in chosen}
    return Reading(**known)


def _thresholds(opened: ModelFile, n_labels: int) -> list[float] | None:
    decided = opened.header["tree"]["state"]["decided_"]
    rule = opened.decode(decided["state"]["rule_"])
    if rule is None:
        return None
    # The kind of the scores depends on the settings of the model alone, so its learned state is not read.
    model = opened.unfitted(decided["state"]["model_"])
    if not isinstance(model, MultiLabelModel):
        raise TypeError("not a model")
    calibration = opened.decode(decided["state"].get("calibration_"))
    values = shown_thresholds(rule, n_labels, model.score_kind, calibration)
    if values is not None and values.shape != (n_labels,):
        raise ValueError("the rule has thresholds for other labels")
    return None if values is None else values.tolist()


def _chosen(opened: ModelFile) -> Choice | None:
    chosen: Choice | None = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["choice_"])
    check_state("DecidedModel", {"choice_": DecidedModel.learned["choice_"]}, {"choice_": chosen})
    return chosen


def _guarantee(opened: ModelFile) -> dict[str, Any] | None:
    rule = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["rule_"])
    guarantee = None if rule is None else rule.guarantee()
    return None if guarantee is None else guarantee.as_dict()


def _bin_weights(opened: ModelFile) -> dict[str, list[float]] | None:
    model = opened.header["tree"]["state"]["decided_"]["state"]["model_"]
    weights = opened.decode(model["state"].get("bin_weights_"))
    check_state("model", {"bin_weights_": MultiLabelModel.learned["bin_weights_"]}, {"bin_weights_": weights})
    return None if weights is None else plain_bin_weights(weights)


def _changes(opened: ModelFile) -> list[dict[str, Any]]:
    """The corrections of the thresholds after training."""
    rule = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["rule_"])
    return [] if rule is None else rule.changes()


def _predicts_one_label(opened: ModelFile) -> bool:
    """Whether exactly one label is predicted per document."""
    rule = opened.decode(opened.header["tree"]["state"]["decided_"]["state"]["rule_"])
    return rule is not None and rule.predicts_one_label
