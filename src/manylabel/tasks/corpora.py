"""The documents a task works on: read from a source, with their labels named as the model or vocabulary has them."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel.classifier import TextClassifier
from manylabel.data import KNOWN, Corpus, load
from manylabel.data.corpus import SPLIT_NAMES, check_columns_of, with_width
from manylabel.data.documents import stored_names, strings
from manylabel.data.hierarchy import find_hierarchy
from manylabel.data.label_descriptions import is_vocabulary, named_descriptions, read_label_descriptions
from manylabel.data.label_vocabulary import (
    LabelVocabulary,
    bare_address,
    choose_language,
    corpus_addresses,
    is_address,
    read_label_vocabulary,
    with_named_concepts,
)
from manylabel.data.labels import label_names
from manylabel.data.layout import listed
from manylabel.data.limits import Limits
from manylabel.data.problems import OnError, Problem, Problems
from manylabel.data.reading import Reading, without_unlabelled
from manylabel.data.spellings import label_spellings, merge_corpus_spellings, spellings_text
from manylabel.data.vocabulary_files import find_vocabulary
from manylabel.exceptions import DataError, ManylabelWarning, MissingExtraError, UnknownNameError
from manylabel.features.pipeline import Documents
from manylabel.features.ready_vectors import ReadyVectors, read_vectors
from manylabel.notebook import shortened
from manylabel.progress import remark
from manylabel.tasks.choices import choices_of, read_as
from manylabel.wording import counted, is_worded_for, setting_name, settings_text

TIME = "time:"
"""The prefix of a column of dates by which documents are divided in order of time."""
DUPLICATES = "duplicates"
"""The value of `split_by` that keeps near-duplicates together, unless a column has this name."""
RANDOM = "random"
"""The value of `split_by` that divides without regard to labels, unless a column has this name."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\b|\d{1,2}([./-])\d{1,2}\1(\d{4}|\d{2})\b")
"""How dates begin that people write in tables."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """The labels that documents have after a review, one list per document in the order of the data."""

    name: str
    """What the corpus is called."""
    labels: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Source:
    """Where documents come from and how to read them: what every command that takes data takes."""

    data: str
    """A file, a folder or the name of a data set; empty where labels are learned from their descriptions alone."""
    format: str | None = None
    on_error: OnError = "raise"
    options: Mapping[str, Any] | None = None
    hierarchy: str | None = None
    """Where the label hierarchy comes from, see `find_hierarchy`; None for that of the data, if it has one."""
    vocabulary: str | None = None
    """The file that maps addresses of labels to names; None for one that lies beside the data, if any."""
    label_language: str | None = None
    """The language in which the vocabulary names the labels; None to choose it by the labels or the texts."""
    split_by: str | None = None
    """How to divide the documents, whatever splits the data have: a column whose values (authors, threads) are not
    divided between training and test, ``time:COLUMN`` for the order of time, ``duplicates`` to keep near-duplicates
    together, or ``random`` to draw documents without regard to labels; None for the splits of the data."""
    keep_blank: bool = False
    """Whether rows without a text are documents too, so that every row has its prediction."""
    labels: bool = True
    """Whether to read labels; predictions need none."""
    merge_labels: bool = False
    """Whether labels that differ only in case, blanks or Unicode form become one, in the most frequent spelling."""
    drop_unlabelled: bool = False
    """Whether documents without a label are left out, instead of examples to which no label applies."""
    corrected: Corrected | None = None
    """Labels in place of those of the data; None to keep these."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Limits on what a file may hold that differ from the defaults of `manylabel.data.limits`."""

    def problems(self) -> Problems:
        """Where the readers of this source report bad lines."""
        return Problems(self.on_error, limits=Limits.of(self.limits))


def load_source(
    source: Source,
    model: TextClassifier | None = None,
    *,
    names_labels: bool = True,
    like: Corpus | None = None,
) -> Reading:
    """Read the documents of a source; options that were not set keep the defaults of the reader.

    Labels are named by the vocabulary of the source or of the data's folder, if `names_labels`. For a `model`, the file
    is read with the columns and options of its training where the source gives none, and labels are named as it names
    them. `like` are the training documents: these are read in the same way, and must have the same columns.
    """
    trained = like if model is None else model
    reading_options = None if trained is None else trained.reading
    options: dict[str, Any] = dict(source.options or {})
    if source.format is not None:
        options["format"] = source.format
    if source.on_error != "raise":
        options["on_error"] = source.on_error
    if source.keep_blank and os.path.exists(source.data):
        options["keep_blank"] = True
    if os.path.exists(source.data) or source.data not in [row.name for row in KNOWN]:
        options |= {} if source.labels else {"labels": False}
        options |= {} if reading_options is None else {"like": reading_options}
    if source.limits:
        options["limits"] = source.limits
    reading = load(source.data, **options)
    corpus = reading.corpus
    if source.split_by is not None:
        corpus = split_anew(corpus, source.split_by)
    elif {"train", "test"} & corpus.splits.keys():
        _warn_of_other_splits(corpus)
    problems = source.problems()
    if corpus.labels is not None:
        corpus = check_spellings(corpus, source, model)
        if source.drop_unlabelled or (model is not None and _gave(model, "drop_unlabelled")):
            corpus = without_unlabelled(corpus)
    if names_labels and corpus.labels is not None:
        corpus = name_labels(corpus, source, model)
    if source.corrected is not None:
        corpus = _with_labels(corpus, source.corrected)
    if source.hierarchy is not None:
        words = _whole_vocabulary(corpus, problems)
        corpus = replace(corpus, hierarchy=find_hierarchy(source.hierarchy, corpus.label_names, problems, words))
        _warn_of_several_parents(corpus)
    if corpus.layout is not None and "ids" in corpus.layout.reasons:
        why = f"{corpus.layout.reasons['ids']} Ids are line numbers"
        remark(f"{source.data}: {why}; {setting_name('id_column')} names this or another column.")
    _report_shared_ids(corpus, source)
    _warn_of_dates(corpus)
    how = "built into manylabel" if reading.format == "builtin" else f"read as {read_as(reading.format)}"
    remark(f"{source.data}: {'; '.join([how, *choices_of(corpus)])}.")
    if reading.format == "libsvm":
        corpus = _as_wide_as_training(corpus, source, trained)
    if model is not None and corpus.counts is not None and corpus.terms is not None:
        model.check_columns(corpus.terms)
    if like is not None:
        check_columns_of(corpus, like)
    return replace(reading, corpus=corpus, skipped=[*reading.skipped, *problems.skipped])


def _as_wide_as_training(corpus: Corpus, source: Source, trained: TextClassifier | Corpus | None) -> Corpus:
    """The documents of a libsvm file with as many features as the training documents, where features have no names.

    Such a file does not state its number of features: it ends with the last one that occurs. Features beyond those of
    the training are left out, as LIBLINEAR does.
    """
    if isinstance(trained, Corpus):
        wanted = 0 if trained.counts is None else trained.counts.shape[1]
        names = stored_names(trained.terms, wanted)
    else:
        wanted = 0 if trained is None else trained.features_.n_columns_ or 0
        names = None if trained is None else trained.features_.column_names_
    width = 0 if corpus.counts is None else corpus.counts.shape[1]
    if not wanted or names or stored_names(corpus.terms, width) or width == wanted:
        return corpus
    if width > wanted:
        unseen = counted(width - wanted, "feature is", "features are")
        remark(f"{source.data}: {unseen} beyond the {wanted:,} of the training documents and ignored.")
    return with_width(corpus, wanted)


def _warn_of_dates(corpus: Corpus) -> None:
    """Warn of labels that look like dates: another column has the labels then."""
    names = corpus.label_names
    if corpus.labels is None or len(names) < 2 or not all(map(_DATE.match, names)):
        return
    columns = "" if corpus.layout is None or not corpus.layout.labels else f" of {listed(corpus.layout.labels)}"
    message = f"All {len(names):,} labels{columns} look like dates, first {names[0]!r:.60}. Are these the labels? "
    warnings.warn(f"{message}{setting_name('label_column')} names another column.", ManylabelWarning, stacklevel=3)


def _report_shared_ids(corpus: Corpus, source: Source) -> None:
    """Report ids that several documents share, with the lines of the first one where they are known."""
    if len(set(corpus.ids)) == len(corpus.ids):
        return
    times = Counter(corpus.ids)
    shared = [identifier for identifier, n in times.items() if n > 1]
    rows = [row for row, identifier in enumerate(corpus.ids) if identifier == shared[0]]
    lines = "" if corpus.lines is None else ", lines " + ", ".join(f"{corpus.lines[row]:,}" for row in rows[:5])
    lines += ", …" if lines and len(rows) > 5 else ""
    remark(
        f"{source.data}: {counted(len(shared), 'id is', 'ids are')} on several documents, first {shared[0]!r:.200} "
        f"({times[shared[0]]:,} documents{lines}). Reports name documents by their ids; the audit applies no decision "
        "about such a document."
    )


def _with_labels(corpus: Corpus, corrected: Corrected) -> Corpus:
    """The corpus with the labels of a review."""
    if len(corpus) != len(corrected.labels):
        number = f"There are {len(corrected.labels):,} label sets for {counted(len(corpus), 'document')}"
        raise DataError(f"{number}: the file was changed.", path=corpus.source)
    sets = [list(names) for names in corrected.labels]
    return replace(corpus, labels=sets, label_names=label_names(sets), name=corrected.name)


def _gave(model: TextClassifier, option: str) -> bool:
    """Whether the documents of a model were read with an option."""
    return model.reading is not None and model.reading.gave(option)


def check_spellings(corpus: Corpus, source: Source, model: TextClassifier | None = None) -> Corpus:
    """The corpus, after reporting labels with several spellings; they are merged where source or model ask for it.

    For a `model`, its own spellings are the right ones.
    """
    preferred = () if model is None else model.labels_
    merge = source.merge_labels or (model is not None and _gave(model, "merge_labels"))
    if merge and corpus.reading is not None:
        corpus = replace(corpus, reading=corpus.reading.also(merge_labels=True))
    groups = label_spellings(corpus.label_sets, preferred)
    if not groups:
        return corpus
    some = counted(len(groups), "label has several spellings that differ", "labels have several spellings that differ")
    what = f"{some} only in case, blanks or Unicode form: {spellings_text(groups)}."
    if merge:
        remark(f"{source.data}: {what} They are merged.")
        return merge_corpus_spellings(corpus, preferred)
    warnings.warn(f"{what} Use {settings_text(merge_labels=True)} to merge them.", ManylabelWarning, stacklevel=3)
    return corpus


def name_labels(corpus: Corpus, source: Source, model: TextClassifier | None = None) -> Corpus:
    """The corpus with labels named by a vocabulary: that of the source, of the model, or one beside the data."""
    known = None if model is None else model.vocabulary
    found = None if source.vocabulary is None else read_label_vocabulary(source.vocabulary, source.problems())
    covered = known is not None and known.addresses_by_name().keys() >= set(corpus.label_names)
    if found is None and not covered and os.path.exists(source.data):
        own = corpus_addresses(corpus)
        try:
            labels = [own.get(label, label) for label in corpus.label_names]
            found = find_vocabulary(Path(source.data), labels, Limits.of(source.limits))
        except MissingExtraError as error:
            message = f"The thesaurus beside the data was not read, so that it names no labels. {error}"
            warnings.warn(message, ManylabelWarning, stacklevel=3)
    if found is not None:
        language = source.label_language
        chosen = choose_language(found, corpus) if language is None else found.checked_language(language)
        found = replace(found, language=chosen)
    vocabulary = found if known is None else known.joined(found)
    if vocabulary is None:
        if source.label_language is not None:
            raise DataError(
                "There is no vocabulary that names the labels in other languages.",
                path=source.data,
                remedy=f"Give one{' (--vocabulary FILE)' if is_worded_for('command line') else ''}: SKOS, TSV or CSV.",
            )
        return corpus
    named = with_named_concepts(corpus, vocabulary, () if model is None else model.labels_)
    if source.vocabulary is not None and corpus.label_names and not (named.vocabulary and named.vocabulary.addresses):
        raise DataError(
            f"None of the labels of the data is in the vocabulary; the first one is {corpus.label_names[0]!r}.",
            path=source.vocabulary,
            remedy="Give the vocabulary of these data.",
        )
    if model is not None and source.vocabulary is None:
        _warn_of_unnamed(named, model, found)
    return named


def _whole_vocabulary(corpus: Corpus, problems: Problems) -> LabelVocabulary | None:
    """The vocabulary of a corpus, which keeps its own labels alone, with all other concepts of its file."""
    words = corpus.vocabulary
    if words is None or words.source == corpus.source or not Path(words.source).is_file():
        return words
    return words.joined(read_label_vocabulary(words.source, problems))


def _warn_of_unnamed(corpus: Corpus, model: TextClassifier, beside: LabelVocabulary | None) -> None:
    """Warn of addresses that the model does not know: it keeps the names of its own labels alone."""
    unknown = [label for label in corpus.label_names if is_address(bare_address(label)) and label not in model.labels_]
    if unknown:
        some = counted(len(unknown), "label of the data is a URI", "labels of the data are URIs")
        if beside is not None:
            lacks = f"neither the model nor the vocabulary {Path(beside.source).name} has a name for"
            message = f"{some} that {lacks}, first {unknown[0]}."
        else:
            message = f"{some} that the model has no name for, first {unknown[0]}."
            message += " To name them, use --vocabulary FILE." if is_worded_for("command line") else ""
        warnings.warn(message, ManylabelWarning, stacklevel=3)


def _warn_of_several_parents(corpus: Corpus) -> None:
    several = len(corpus.hierarchy.further_parents) if corpus.hierarchy is not None else 0
    if several:
        some = counted(several, "label has", "labels have")
        message = f"{some} several parents; methods for hierarchies and hierarchical metrics use the first one."
        warnings.warn(message, ManylabelWarning, stacklevel=3)


def _warn_of_other_splits(corpus: Corpus) -> None:
    odd = {name: n for name, n in corpus.splits.items() if name not in (*SPLIT_NAMES.values(), "unused")}
    if odd:
        some = counted(sum(odd.values()), "document is", "documents are")
        named = "if --split names them" if is_worded_for("command line") else "where they are named"
        message = f"{some} in splits that are used only {named}: {', '.join(odd)}."
        warnings.warn(message, ManylabelWarning, stacklevel=3)


def split_anew(corpus: Corpus, split_by: str) -> Corpus:
    """The corpus without its own splits, to be divided by `split_by`; documents of ``unused`` are left out."""
    column = split_by if split_by in corpus.metadata else split_by.removeprefix(TIME)
    if column not in corpus.metadata and split_by not in (DUPLICATES, RANDOM):
        raise UnknownNameError("column to split by", column, [*corpus.metadata, DUPLICATES, RANDOM])
    if "unused" in corpus.splits:
        corpus = corpus.subset([row for row, name in enumerate(corpus.split_names or ()) if name != "unused"])
    return replace(corpus, split_names=None, split_by=split_by)


def documents_of(corpus: Corpus) -> Documents:
    """What a classifier reads: the count matrix of a bag-of-words corpus, the texts of any other."""
    return corpus.counts if corpus.counts is not None else corpus.texts


def beginnings(corpus: Corpus, rows: Sequence[int]) -> list[str]:
    """The beginnings of the texts in some rows, as lists of documents show them; empty for counts."""
    if corpus.counts is not None:
        return ["" for _ in rows]
    return [shortened(" ".join(fields)) for fields in zip(*corpus.subset(rows).fields.values(), strict=True)]


def ready_vectors(given: str | None, corpus: Corpus) -> ReadyVectors | None:
    """The vectors in ``file.npy`` or ``file.parquet:column``, one per document of the whole corpus; None for None."""
    if given is None:
        return None
    if corpus.counts is not None:
        raise DataError("Vectors stand beside texts, and these documents are counts.", path=corpus.source)
    return ReadyVectors(strings(corpus.texts), read_vectors(given), Path(given).name)


def split_of(corpus: Corpus, split: str | None, default: str) -> Corpus:
    """The documents of a split (``all``: all of them); for None those of the default split, or all if there is none."""
    if split == "all":
        return corpus
    if split is not None:
        return corpus.split(split)
    return corpus.split(default) if default in corpus.splits else corpus


def described_corpus(
    source: Source, split: str | None, path: Path
) -> tuple[Corpus, Corpus, list[Problem], dict[str, str]]:
    """All documents and those to learn from, which may have no labels or not be there at all, what was skipped, and the
    descriptions of labels in a file.
    """
    if not source.data:
        whole, skipped = Corpus(ids=[], fields={"text": []}, labels=[], name=path.name), []
    else:
        if source.vocabulary is None and path.is_file() and is_vocabulary(path):
            source = replace(source, vocabulary=str(path))
        loaded = load_source(source)
        whole, skipped = loaded.corpus, loaded.skipped
        if whole.labels is None:
            whole = replace(whole, labels=[[] for _ in whole.ids])
    problems = source.problems()
    whole, texts = describe_labels(whole, source, path, problems)
    return whole, split_of(whole, split, "train"), [*skipped, *problems.skipped], texts


def describe_labels(corpus: Corpus, source: Source, path: Path, problems: Problems) -> tuple[Corpus, dict[str, str]]:
    """The corpus and the descriptions of labels in a file, which name a label alike whether it is given by its address
    or by a name; the vocabulary of the corpus then has the labels that are only described, too.
    """
    language = source.label_language
    texts = read_label_descriptions(path, problems, labels=corpus.label_names, language=language)
    given = None if source.vocabulary is None else Path(source.vocabulary)
    files = dict.fromkeys(file for file in (given, path if is_vocabulary(path) else None) if file is not None)
    vocabulary = corpus.vocabulary
    for file in files:
        found = read_label_vocabulary(file, problems)
        chosen = choose_language(found, corpus) if language is None else found.checked_language(language)
        vocabulary = replace(found, language=chosen) if vocabulary is None else vocabulary.joined(found)
    if vocabulary is None:
        return corpus, texts
    corpus = with_named_concepts(corpus, vocabulary, described=texts)
    return corpus, named_descriptions(texts, vocabulary)
