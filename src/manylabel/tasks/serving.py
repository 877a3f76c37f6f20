"""A model loaded to be served: what it predicts for one text, and the version and hash that every answer names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.catalog import DEFAULT_METHOD, METHODS, find_method
from manylabel.classifier import TextClassifier
from manylabel.data.columns import text_fields
from manylabel.data.corpus import Text as Text
from manylabel.data.label_vocabulary import is_address
from manylabel.data.label_vocabulary import made_address as made_address
from manylabel.data.sealed import CAN_SEAL, COPIES, sealed_copy
from manylabel.decisions.corrected import checked_thresholds
from manylabel.decisions.shown import decide_by_shown
from manylabel.estimator import Floats
from manylabel.exceptions import ManylabelError, ModelFileError, ParameterError
from manylabel.features.languages import CODES, language_shares
from manylabel.kernels.threads import available_threads as available_threads
from manylabel.kernels.threads import usable_cores as usable_cores
from manylabel.metrics.targets import DEFAULT_METRIC, TARGET_METRICS
from manylabel.tasks.corpora import Source, load_source, split_of
from manylabel.tasks.models import inspect, train

Scored = tuple[int, float]
"""The column of a label and its score."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The labels that an answer should hold: those of the model's rule, or others by a threshold or a number."""

    threshold: float | None = None
    top: int | None = None
    runners_up: int = 0
    """How many labels that were not predicted to add with their scores."""

    @property
    def by_rule(self) -> bool:
        """Whether the model's own rule decides."""
        return self.threshold is None and self.top is None


BY_RULE = Wanted()
DETAILS = ("versions", "facts", "language", "texts", "chosen", "guarantee", "expected", "changes", "single_label")
"""What a server tells of a model file: what `manylabel inspect` does, but for arrays, thresholds and label counts."""


@dataclass(frozen=True, slots=True)
class TextPrediction:
    """The predicted labels of one text, best first, and the next best labels that were asked for."""

    labels: list[Scored]
    runners_up: list[Scored]


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One version of a model file, as it was when it was looked at."""

    path: Path
    identity: tuple[int, ...]
    sha256: str
    file: int | None
    """The descriptor of a sealed copy that processes share; None where the system has none, and each reads the file."""

    @classmethod
    def of(cls, path: Path) -> ModelVersion:
        """The version that the file holds now; an error where it is written to while it is copied."""
        with path.open("rb") as stream:
            before = os.fstat(stream.fileno())
            with sealed_copy(stream) as copy:
                copy.seek(0)
                sha256 = hashlib.file_digest(copy, "sha256").hexdigest()
                if identity(os.fstat(stream.fileno())) != identity(before) or copy.tell() != before.st_size:
                    raise ModelFileError(f"{path}: this model file was written to while it was being read.")
                return cls(path, identity(before), sha256, os.dup(copy.fileno()) if CAN_SEAL else None)

    @property
    def source(self) -> Path:
        """What to read the model from: the copy, or the file itself."""
        return self.path if self.file is None else COPIES / str(self.file)

    def check(self) -> None:
        """Raise an error where the file is not a model."""
        with self.names_file():
            inspect(self.source)

    @contextmanager
    def names_file(self) -> Iterator[None]:
        """Name the file, not the copy, in errors about what is read from `source`."""
        try:
            yield
        except ManylabelError as error:
            raise ModelFileError(str(error).replace(str(self.source), str(self.path))) from None

    def close(self) -> None:
        """Give the copy up; what was loaded from it keeps it."""
        if self.file is not None:
            os.close(self.file)


class ServedModel:
    """A model and all that answers name: its labels, their addresses, its version and the SHA-256 of its file.

    `load` reads the file once; nothing here changes afterwards, so that whoever holds one is answered by one version.
    """

    def __init__(self, name: str, version: ModelVersion, classifier: TextClassifier, details: dict[str, Any]) -> None:
        self.name, self.identity, self.sha256, self.details = name, version.identity, version.sha256, details
        changed = datetime.fromtimestamp(self.identity[3] / 1e9, UTC)
        self.version = changed.isoformat(timespec="milliseconds")[:-6] + "Z"
        self.classifier = classifier.use_threads(1)
        self.labels = classifier.labels_
        self.addresses = classifier.label_addresses
        own = {label: label for label in self.labels if is_address(label)}
        self.uris = [self.addresses.get(label, own.get(label)) for label in self.labels]
        self.method = classifier.method
        self.probabilities = classifier.scores_are_probabilities
        thresholds = classifier.decided_.thresholds()
        self.thresholds: list[float] | None = None if thresholds is None else thresholds.tolist()
        vectorizer = classifier.features_.vectorizer_
        stemmer = None if vectorizer is None else vectorizer.stemmer_
        codes = {name: code for code, name in CODES.items()}
        self.language = codes.get(stemmer or "") or codes.get(details["facts"].get("language", ""))
        """The code of the language of the texts, where it was recognised."""
        self._score = classifier.text_scorer()
        self._names: dict[str, list[str]] = {}
        self._columns = {label: column for column, label in enumerate(self.labels)}

    @classmethod
    def load(cls, name: str, version: ModelVersion) -> ServedModel:
        """The model of a version; its arrays are those of the sealed copy, where there is one."""
        source, is_shared = version.source, version.file is not None
        with version.names_file():
            classifier, record = TextClassifier.load(source, private=is_shared), inspect(source)
        if not is_shared and identity(os.stat(source)) != version.identity:
            raise ModelFileError(f"{source}: this model file was replaced while it was being read. Load it again.")
        found = record.as_dict()
        return cls(name, version, classifier, {kept: found[kept] for kept in DETAILS})

    def check(self, wanted: Wanted) -> None:
        """An error where a threshold is not one that the scores of the model can have."""
        if wanted.threshold is not None:
            checked_thresholds(wanted.threshold, self.labels[:1], self.probabilities)

    def predict(self, text: Text, wanted: Wanted = BY_RULE) -> TextPrediction:
        """The labels of one text; equal to those of `manylabel predict`."""
        columns, shown = self._decide(text, wanted)
        labels = sorted(((column, float(shown[column])) for column in columns), key=_best_first)
        if not wanted.runners_up:
            return TextPrediction(labels, [])
        chosen = set(columns)
        order = np.argsort(-shown, kind="stable").tolist()
        rest = [column for column in order if column not in chosen][: wanted.runners_up]
        return TextPrediction(labels, [(column, float(shown[column])) for column in rest])

    def _decide(self, text: Text, wanted: Wanted) -> tuple[list[int], Floats]:
        """The columns of the predicted labels, and the scores of all labels in the units shown to users."""
        decided = self.classifier.decided_
        if self._score is None or decided.rule_ is None:
            [one] = self.classifier.iter_predictions([text], threshold=wanted.threshold, top=wanted.top)
            return [self._columns[label] for label in one.labels], one.scores
        row, is_known = self._score(text)
        scores = row[np.newaxis]
        shown = decided.shown(scores)
        if not is_known:
            return [], shown[0]
        if wanted.by_rule:
            chosen = decided.rule_.decide_dense(scores, decided.score_kind)
        else:
            limit = 1 if wanted.top is None and decided.rule_.predicts_one_label else wanted.top
            chosen = decide_by_shown(scores, shown, decided.score_kind, wanted.threshold, limit)
        columns: list[int] = chosen[0].nonzero()[0].tolist()
        return columns, shown[0]

    def scores(self, text: Text, *, raw: bool = False) -> Floats:
        """The score of every label for one text, in the units of `predict` or, with `raw`, the method's own."""
        if self._score is None:
            rows: Floats = self.classifier.predict_scores([text], raw=raw)
            return np.asarray(rows[0], dtype=np.float64)
        shown = self.classifier.decided_.shown(self._score(text)[0][np.newaxis], raw=raw)
        return np.asarray(shown[0], dtype=np.float64)

    def explain(self, text: Text, labels: Sequence[str] | None, runners_up: int) -> dict[str, Any]:
        """Why labels are predicted for one text, or nearly are, as plain data: evidence and where it stands."""
        return self.classifier.explain(text, labels=labels, runners_up=runners_up).as_dict()

    def text_fields(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, str]:
        """The columns of a table that hold texts, and the fields that they are, by those of the training."""
        reading, fields = self.classifier.reading, self.classifier.fields_ or []
        trained = dict(zip(fields, fields, strict=True))
        if reading is not None:
            trained = dict(zip(reading.texts, reading.fields, strict=True))
        return text_fields(columns, trained)

    @property
    def languages(self) -> list[str]:
        """The languages in which the vocabulary names labels; none without a vocabulary."""
        vocabulary = self.classifier.vocabulary
        return [] if vocabulary is None else vocabulary.languages

    @property
    def label_language(self) -> str | None:
        """The language of the model's own labels: the one that its vocabulary names them in; where names have no
        language at all, that of the texts; None where it is not known.
        """
        vocabulary = self.classifier.vocabulary
        if vocabulary is None or not vocabulary.languages:
            return self.language
        return vocabulary.language or None

    def names(self, language: str | None) -> list[str]:
        """The names of the labels: the model's own, or those in another language of its vocabulary."""
        if language is None:
            return self.labels
        if (spelled := language.lower()) not in self._names:
            self._names[spelled] = self._named_in(spelled)
        return self._names[spelled]

    def _named_in(self, language: str) -> list[str]:
        vocabulary = self.classifier.vocabulary
        if vocabulary is None:
            raise ParameterError(
                f"The model {self.name!r} has no vocabulary, so its labels have no names in other languages. "
                "Leave the language out."
            )
        known = vocabulary.display_names(vocabulary.checked_language(language))
        return [
            label if uri is None else known.get(uri, label) for label, uri in zip(self.labels, self.uris, strict=True)
        ]


def _best_first(scored: Scored) -> tuple[float, int]:
    return -scored[1], scored[0]


def identity(status: os.stat_result) -> tuple[int, ...]:
    """The device, number, size and time of change of a file: another model has another one."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def served_names(models: Sequence[str]) -> dict[str, Path]:
    """The file of each model by its name: as in NAME=FILE, or the name of the file without its ending."""
    found: dict[str, Path] = {}
    for given in models:
        name, equals, file = given.partition("=")
        path = Path(file if equals and not os.path.exists(given) else given)
        if path == Path(given):
            name = path.name.removesuffix(".manylabel")
        if not name or not name.isprintable() or "/" in name or name in found:
            why = f"{name!r} is taken by {found[name]}" if name in found else f"{name!r} cannot be a name in addresses"
            raise ParameterError(f"{given}: {why}. Name the model with NAME=FILE, for example letters={path}.")
        found[name] = path
    return found


def check_servable(paths: Iterable[Path]) -> None:
    """Raise an error where a file is not a model."""
    for path in paths:
        inspect(path)


def detect_languages(text: str, codes: Sequence[str]) -> dict[str, float]:
    """The share of each language in the stop words of a text."""
    return language_shares(text, codes)


def texts_to_send(data: str, most: int = 1_000) -> list[str]:
    """Documents of some data as plain texts, the first of its test split where it has one."""
    corpus = load_source(Source(data, labels=False)).corpus
    texts = split_of(corpus, None, "test").texts
    if not len(texts):
        raise ParameterError(f"{data} has no texts to send.")
    return [text if isinstance(text, str) else "\n".join(text.values()) for text in texts[:most]]


def train_demo(path: Path) -> None:
    """Train the default method on the letters that come with manylabel and write the model."""
    train(Source("townhall"), path)


def methods_and_metrics() -> dict[str, Any]:
    """The methods and metrics that training and comparisons take, and the default of each."""
    return {
        "methods": [
            {"name": one.name, "title": one.title, "source": one.source, "decision": one.decision}
            for one in METHODS.values()
        ],
        "metrics": [asdict(one) for one in TARGET_METRICS.values()],
        "default_method": DEFAULT_METHOD,
        "default_metric": DEFAULT_METRIC,
    }


def check_methods(names: Iterable[str]) -> None:
    """Raise an error for a name that is no method."""
    for name in names:
        find_method(name)
