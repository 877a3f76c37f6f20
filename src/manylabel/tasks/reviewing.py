"""Corpora under review: documents as plain data, copies with corrected labels, scores to review by, and their gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.formats import FORMATS
from manylabel.data.label_changes import checked_label as checked_label
from manylabel.data.label_vocabulary import LabelVocabulary, addresses_of, corpus_addresses, read_label_vocabulary
from manylabel.data.limits import Limits
from manylabel.data.problems import Problems
from manylabel.data.reading import write_corrected as write_labels
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.bootstrap import RESAMPLES, paired_difference
from manylabel.evaluation.statistics import document_statistics
from manylabel.evaluation.training_documents import count_seen
from manylabel.exceptions import DataError
from manylabel.features.keyword_rules import parse_rules
from manylabel.features.scripts import has_markup, readable_text
from manylabel.modelfile import open_model
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.dividing import folds_of
from manylabel.tasks.model_facts import stored_facts, training_facts
from manylabel.tasks.models import Overrides, fit_corpus
from manylabel.wording import counted

MOST_TERMS = 200
"""Terms that stand for a document which came as counts."""
MOST_SCORES = 20
"""Scores kept per document, besides those of its true and predicted labels."""
LEAST_PROBABILITY = 0.01
"""Probabilities below this are not kept."""
LEAST_GAP = 1e-6
"""How far below the lowest score a threshold stands that all scores reach, times two."""
FOLDS = 5
GAIN_METRICS = {"micro_f1": "micro-f1", "macro_f1": "macro-f1"}


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary: its address, the label that it is or would be, and its names in all languages."""

    address: str
    label: str
    names: list[str]


@dataclass(frozen=True, slots=True)
class PlainCorpus:
    """Documents and labels without the objects of `manylabel.data`."""

    name: str
    ids: list[str]
    fields: dict[str, list[str]]
    labels: list[list[str]]
    label_names: list[str]
    splits: list[str]
    """The split of each document; empty strings where the data have none."""
    format: str
    skipped: list[str]
    """The lines that were skipped in reading."""
    html_removed: bool = False
    """Whether the texts are without their HTML, because most of them had some."""
    vocabulary: str = ""
    """The file that names the labels; empty where there is none beside the data themselves."""
    label_language: str = ""
    """The language in which it names them; empty where it gives none."""
    addresses: dict[str, str] = field(default_factory=dict)
    """The label of each address that the vocabulary or the data give."""
    concepts: list[Concept] = field(default_factory=list)
    """All concepts of the vocabulary, also those that no document has."""


def read_plain(source: Source) -> PlainCorpus:
    """The documents of a source as plain data; counts become a text of the most frequent terms.

    HTML is removed where training removes it by default: if most documents contain some.
    """
    loaded = load_source(source)
    corpus, words = loaded.corpus, loaded.corpus.vocabulary
    is_named = words is not None and words.source != corpus.source  # full texts and JSON may hold names themselves
    fields = {"text": terms_as_texts(corpus)} if corpus.counts is not None else corpus.fields
    in_order = [text for texts in zip(*fields.values(), strict=True) for text in texts]
    html_removed = has_markup(in_order, len(fields))
    if html_removed:
        fields = {name: [readable_text(text) for text in texts] for name, texts in fields.items()}
    return PlainCorpus(
        corpus.name or Path(source.data).name,
        list(corpus.ids),
        {name: list(values) for name, values in fields.items()},
        [list(dict.fromkeys(names)) for names in corpus.labels or [[]] * len(corpus)],
        list(corpus.label_names),
        list(corpus.split_names or [""] * len(corpus)),
        loaded.format,
        [str(problem) for problem in loaded.skipped],
        html_removed,
        words.source if words is not None and is_named else "",
        words.language if words is not None and is_named else "",
        {address: label for label, address in corpus_addresses(corpus).items()},
        _concepts(corpus, words, source) if words is not None and is_named else [],
    )


def _concepts(corpus: Corpus, words: LabelVocabulary, source: Source) -> list[Concept]:
    """All concepts of the vocabulary that names the labels of a corpus, which itself keeps those of its labels."""
    whole = read_label_vocabulary(words.source, Problems("skip", limits=Limits.of(source.limits)))
    own = {address: label for label, address in corpus_addresses(corpus).items()}
    shown = replace(whole, language=words.language).display_names()
    names: dict[str, list[str]] = {address: [own.get(address, name)] for address, name in shown.items()}
    for of_language in whole.names.values():
        for address, name in of_language.items():
            names[address].append(name)
    return [Concept(address, found[0], list(dict.fromkeys(found))) for address, found in names.items()]


def terms_as_texts(corpus: Corpus) -> list[str]:
    """For each document that came as counts, its most frequent terms as a text."""
    counts, terms = corpus.counts, corpus.terms
    assert counts is not None
    texts = []
    for start, stop in zip(counts.indptr, counts.indptr[1:], strict=False):
        order = np.argsort(-counts.data[start:stop], kind="stable")[:MOST_TERMS]
        columns = counts.indices[start:stop][order].tolist()
        texts.append(" ".join(f"t{column}" if terms is None else terms[column] for column in columns))
    return texts


def write_corrected(
    source: Source,
    labels: Sequence[Sequence[str]],
    label_names: Sequence[str],
    target: Path,
    format: str,
    former: Mapping[str, str] | None = None,
) -> None:
    """Write the documents of a source with other label sets, one per document in their order.

    `former` are the names in the source of labels that were renamed: they keep their addresses. In the format of the
    source that is a copy of its file, where `write_labels` can make one.
    """
    corpus = load_source(source).corpus
    if len(corpus) != len(labels):
        raise DataError(
            f"There are {len(labels):,} label sets for {counted(len(corpus), 'document')}: the file was changed.",
            path=corpus.source,
        )
    addresses = _addresses_to_write(corpus, source, label_names, former or {})
    write_labels(corpus, labels, label_names, target, format=format, addresses=addresses)


def _addresses_to_write(
    corpus: Corpus, source: Source, label_names: Sequence[str], former: Mapping[str, str]
) -> dict[str, str]:
    """The addresses of renamed labels, and of those that the vocabulary of the source has and the corpus has not."""
    words = corpus.vocabulary
    if source.vocabulary is not None:
        whole = read_label_vocabulary(source.vocabulary)
        words = whole if words is None else words.joined(whole)
    names = {label: former.get(label, label) for label in label_names}
    found = addresses_of(words or LabelVocabulary({}), names.values())
    return {label: found[name] for label, name in names.items() if name in found}


def written_formats(own: str) -> dict[str, str]:
    """The formats that a corpus which was read from the format `own` can be written in, with the ending of their files.

    A corpus of texts is written as texts, one of counts as counts; formats without an ending of their own are left out.
    """
    kind = "counts" if is_counts(own) else "text"
    rows = [row for row in FORMATS if row.kind == kind and (row.suffixes or row.folder)]
    rows = [row for row in rows if row.writes or (row.copier and row.name == own)]
    return {row.name: next(iter(row.suffixes), "") for row in rows}


def is_counts(format: str) -> bool:
    """Whether documents of a format come as counts."""
    return any(row.name == format and row.kind == "counts" for row in FORMATS)


@dataclass(frozen=True, slots=True)
class ReviewScores:
    """Scores of documents by models that were not trained on them: the highest ones of each document."""

    labels: list[str]
    thresholds: list[float]
    exact_from: list[float]
    """By label, the highest score that was not kept: counts at higher thresholds are exact."""
    measured: Ints
    """The rows of the documents by which quality is measured."""
    rows: Ints
    columns: Ints
    values: Floats
    how: str
    trained: int | None = None
    """How many documents the method was trained on; None where a model was given."""
    are_probabilities: bool = False
    """Whether scores, and so thresholds, lie between 0 and 1."""


def score_by_model(source: Source, path: Path) -> ReviewScores:
    """Scores of all documents of a source by a model; quality is measured on the test split where there is one.

    The thresholds are those of the model; where its rule has none, those with the best F1 of each label.
    """
    corpus, classifier = load_source(source).corpus, TextClassifier.load(path)
    if not set(classifier.labels_) & set(corpus.label_names):
        raise DataError(
            f"The model knows none of the labels of the data. It has, for example, {classifier.labels_[0]!r}.",
            path=corpus.source,
            remedy="Give a model of these labels.",
        )
    names = corpus.split_names or ()
    measured = np.flatnonzero([name == "test" for name in names]) if "test" in names else np.arange(len(corpus))
    hashes = stored_facts(open_model(path)).get("training_hashes")
    seen = None if hashes is None else count_seen(documents_of(corpus.subset(measured)), hashes).seen
    warning = f"; the model was trained on {counted(seen, 'document')} of them" if seen else ""
    kept = _KeptScores(classifier, corpus, measured)
    kept.add(classifier, np.arange(len(corpus)))
    return kept.finish(f"scores of the model {path.stem}, measured on {counted(len(measured), 'document')}{warning}")


def score_out_of_fold(
    source: Source,
    output: Path | None = None,
    *,
    without_label: Sequence[int] = (),
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    rules: str = "",
    seed: int = 0,
    n_jobs: int | None = None,
) -> ReviewScores:
    """Out-of-fold scores of the labelled documents of a source by a method; trained on all of these, it scores the
    others, and is written to `output` if that is given. `rules` is the text of keyword rules that come before it.

    `without_label` are the rows of documents that were reviewed and have no label: they count as labelled. The
    thresholds are those of the method trained on all; where its rule has none, those with the best F1 of each label.
    """
    corpus = load_source(source).corpus
    is_labelled = np.array([bool(names) for names in corpus.label_sets])
    if (n_labelled := int(np.count_nonzero(is_labelled))) < FOLDS:
        raise DataError(
            f"{counted(n_labelled, 'document has', 'documents have')} labels; out-of-fold scores need {FOLDS}.",
            path=corpus.source,
            remedy="Label more documents first.",
        )
    is_labelled[list(without_label)] = True
    labelled = np.flatnonzero(is_labelled)
    queries = {label: str(query) for label, query in parse_rules(rules).items()}
    changes = dict(overrides or {})
    if queries:
        changes["features"] = {**changes.get("features", {}), "rules": queries}
    recipe, known = Recipe.of(method, changes), corpus.subset(labelled)
    folds, how = folds_of(known, FOLDS, seed)
    with stage("Training on folds", len(folds) + 1) as advance:
        whole = fit_corpus(known, recipe, seed=seed, n_jobs=n_jobs)
        kept = _KeptScores(whole, corpus, labelled)
        kept.add(whole, np.setdiff1d(np.arange(len(corpus)), labelled))
        advance(1)
        for train, test in folds:
            kept.add(fit_corpus(known.subset(train), recipe, seed=seed, n_jobs=n_jobs), labelled[test])
            advance(1)
    if output is not None:
        whole.save(output, training_facts(known, corpus.name or source.data, "train"))
    behind = f" behind keyword rules of {counted(len(queries), 'label')}" if queries else ""
    found = kept.finish(f"out-of-fold scores of the method {recipe.method}{behind}, {how}")
    return replace(found, trained=len(known))


class _KeptScores:
    """Collects the scores of documents, in batches, and keeps those worth showing."""

    def __init__(self, model: TextClassifier, corpus: Corpus, measured: Ints) -> None:
        self.corpus, self.measured, self.labels = corpus, measured, model.labels_
        self.column_of = {label: column for column, label in enumerate(self.labels)}
        self.learned, self.are_probabilities = model.decided_.thresholds(), model.scores_are_probabilities
        self.least = LEAST_PROBABILITY if self.are_probabilities else -np.inf
        self.dropped = np.full(len(self.labels), -np.inf)
        self.pieces: list[tuple[Ints, Ints, Floats]] = []

    def add(self, model: TextClassifier, rows: Ints) -> None:
        """Score the documents of some rows."""
        if not len(rows):
            return
        columns = np.array([self.column_of[label] for label in model.labels_ if label in self.column_of], dtype=np.intp)
        own = np.array([label in self.column_of for label in model.labels_])
        done = 0
        for _, scores in model.iter_decisions(documents_of(self.corpus.subset(rows))):
            shown = np.asarray(model.decided_.shown(scores()), dtype=np.float64)[:, own]
            self._keep(rows[done : done + len(shown)], columns, shown)
            done += len(shown)

    def _keep(self, rows: Ints, columns: Ints, shown: Floats) -> None:
        kept = shown >= self.least
        if shown.shape[1] > MOST_SCORES:
            kept &= shown >= np.partition(shown, -MOST_SCORES, axis=1)[:, -MOST_SCORES, np.newaxis]
        if self.learned is not None:
            kept |= shown >= self.learned[columns]
        place_of = {int(column): place for place, column in enumerate(columns)}
        for row, number in enumerate(rows.tolist()):
            for label in self.corpus.label_sets[number]:
                place = place_of.get(self.column_of.get(label, -1))
                if place is not None:
                    kept[row, place] = True
        self.dropped[columns] = np.maximum(
            self.dropped[columns], np.where(kept, -np.inf, shown).max(axis=0, initial=-np.inf)
        )
        found, places = np.nonzero(kept)
        self.pieces.append((rows[found], columns[places], shown[found, places]))

    def finish(self, how: str) -> ReviewScores:
        """All scores that were kept, and the thresholds."""
        rows, columns, values = (np.concatenate([piece[place] for piece in self.pieces]) for place in range(3))
        thresholds = self.learned
        if thresholds is None:
            thresholds = self._best_thresholds(rows, columns, values)
            how += "; thresholds with the best F1 on these scores"
        return ReviewScores(
            list(self.labels),
            thresholds.tolist(),
            self.dropped.tolist(),
            self.measured,
            rows,
            columns,
            values,
            how,
            are_probabilities=self.are_probabilities,
        )

    def _best_thresholds(self, rows: Ints, columns: Ints, values: Floats) -> Floats:
        """By label, the threshold with the best F1 over the measured documents, of those whose counts are exact."""
        sets = self.corpus.label_sets
        totals = Counter(label for row in self.measured.tolist() for label in set(sets[row]))
        measured = np.zeros(len(self.corpus), dtype=bool)
        measured[self.measured] = True
        kept = np.flatnonzero(measured[rows] & (values > self.dropped[columns]))
        kept = kept[np.lexsort((-values[kept], columns[kept]))]
        bounds = np.searchsorted(columns[kept], np.arange(len(self.labels) + 1))
        found = np.full(len(self.labels), np.inf)
        for column, label in enumerate(self.labels):
            places = kept[bounds[column] : bounds[column + 1]]
            hits = np.cumsum([label in sets[row] for row in rows[places].tolist()])
            if len(hits) and hits[-1]:
                f1 = 2 * hits / (np.arange(1, len(hits) + 1) + totals[label])
                found[column] = _best_threshold(values[places], f1, self.dropped[column])
        return found


def _best_threshold(scores: Floats, f1: Floats, dropped: float) -> float:
    """The threshold with the best F1: `f1` is that of predicting the label down to each of the falling scores.

    >>> _best_threshold(np.array([0.9, 0.5, 0.5, 0.1]), np.array([0.4, 0.9, 0.8, 0.3]), 0.05)
    0.3
    """
    # Equal scores are predicted together, so that a threshold can only stand after the last of them.
    ends = np.flatnonzero(np.append(scores[1:] < scores[:-1], True))
    best = int(ends[np.argmax(f1[ends])])
    return threshold_below(float(scores[best]), float([*scores[best + 1 : best + 2], dropped][0]))


def threshold_below(score: float, lower: float) -> float:
    """A threshold between a score and the next lower one, so that the last bit of neither decides.

    Where there is no lower score, `lower` is minus infinity.
    """
    return (score + (score - LEAST_GAP if lower == -np.inf else lower)) / 2


def measure_gain(Y_true: Csr, before: Csr, after: Csr, seed: int = 0) -> dict[str, dict[str, float]]:
    """By metric, its value before and after, their difference, and its 95 % interval over resampled documents.

    Labels that are neither true nor predicted, before or after, are left out.

    >>> found = measure_gain(Csr([[1, 0], [0, 1]] * 9), Csr([[1, 0], [1, 0]] * 9), Csr([[1, 0], [0, 1]] * 9))
    >>> found["micro_f1"]["before"], found["micro_f1"]["after"], found["micro_f1"]["low"] > 0
    (0.5, 1.0, True)
    """
    used = np.flatnonzero(np.asarray((Y_true + before + after).sum(axis=0)).ravel())
    first, second = (document_statistics(Y_true[:, used], predicted[:, used]) for predicted in (after, before))
    found: dict[str, Any] = {}
    for key, metric in GAIN_METRICS.items():
        one = paired_difference(first, second, metric, seed, RESAMPLES)
        values = {"before": second.value(metric), "after": first.value(metric)}
        found[key] = {**values, "difference": one.value, "low": one.low, "high": one.high}
    return found
