"""How documents were read, in words: one line for every command, and the reasons and options for ``describe``."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from manylabel.data import Corpus
from manylabel.data.description import ReadingChoice
from manylabel.data.formats import BY_NAME
from manylabel.data.label_vocabulary import corpus_addresses, plain_name
from manylabel.data.layout import DELIMITERS, Layout, listed
from manylabel.features.languages import guess_language
from manylabel.features.scripts import guess_tokens, has_markup, kept_markup
from manylabel.progress import remark
from manylabel.wording import counted, is_worded_for, settings_text

MANY_UNLABELLED = 0.1
"""The share of documents without a label from which on they are reported."""


def read_as(format: str) -> str:
    """A format and, where only the order of columns tells it from another one, this order."""
    layout = BY_NAME[format].layout if format in BY_NAME and BY_NAME[format].variant_of else ""
    return f"{format} ({layout})" if layout else format


def report_unlabelled(corpus: Corpus, data: str) -> None:
    """Report what documents without a label stand for, where many of a user's own file have none."""
    if corpus.labels is None or not corpus.label_names or not os.path.exists(data):
        return
    without = sum(not len(names) for names in corpus.labels)
    if without >= MANY_UNLABELLED * len(corpus):
        remark(
            f"{data}: {without:,} of {counted(len(corpus), 'document')} have no label, and count as documents to which "
            f"no label applies. Where they are not labelled yet, use {settings_text(drop_unlabelled=True)}."
        )


def choices_of(corpus: Corpus) -> list[str]:
    """How documents were read, in phrases: columns, separator, labels per document and their names, language, HTML."""
    phrases = [] if corpus.layout is None else [corpus.layout.summary()]
    phrases += [f"labels: {corpus.labels_from}"] if corpus.labels_from else []
    if corpus.labels is not None:
        least, most = _set_sizes(corpus)
        if least == most:
            phrases.append(f"exactly {counted(most, 'label')} per document")
        else:
            phrases.append(f"{least} to {counted(most, 'label')} per document")
    if corpus.vocabulary is not None:
        words = corpus.vocabulary
        spoken = f" in {words.language!r}" if words.language else ""
        own = "labels with their addresses"
        phrases.append(own if _is_own(corpus) else f"labels named{spoken} by {Path(words.source).name}")
    if not corpus.is_bag_of_words:
        texts = corpus.joined_texts
        language = guess_language(texts)
        if language is not None:
            phrases.append(f"language {language.capitalize()}")
        else:
            phrases.append("a script without spaces" if guess_tokens(texts) == "pairs" else "language not recognised")
        if has_markup(texts):
            phrases.append("HTML in most documents")
    return phrases


def explain_choices(corpus: Corpus, format: str) -> list[ReadingChoice]:
    """How documents were read and why, with the options that change it."""
    choices = [_format(format, corpus.layout)]
    if corpus.layout is not None:
        choices += _columns(corpus.layout, corpus.ids)
    if corpus.labels_from:
        choices.append(ReadingChoice("labels", f"{corpus.labels_from}.", "-o label_count=…, -o label_file=…"))
    if corpus.labels is not None:
        least, most = _set_sizes(corpus)
        sizes = f"exactly {most} per document" if least == most else f"{least} to {most} per document"
        choices.append(ReadingChoice("label sets", f"{sizes}."))
    if (names := vocabulary_text(corpus)) is not None:
        choices.append(ReadingChoice("names", names, "--vocabulary, --label-language"))
    if not corpus.is_bag_of_words:
        choices += _texts(corpus)
    return choices


def vocabulary_text(corpus: Corpus) -> str | None:
    """A sentence on the vocabulary that names the labels: its file, how many it names, and the language."""
    if corpus.vocabulary is None:
        return None
    words = corpus.vocabulary
    known = len(words.addresses)
    if _is_own(corpus):
        return f"The data give the {counted(known, 'address', 'addresses')} of labels beside their names."
    others = [language for language in words.languages if language != words.language]
    option = ": --label-language" if is_worded_for("command line") else ""
    also = f" (also {', '.join(others)}{option})" if others else ""
    named = f" in the language {words.language!r}{also}" if words.language else ""
    rest = len(corpus.label_names) - known
    missing = sorted(set(corpus.label_names) - corpus_addresses(corpus).keys())
    unknown = f"; {counted(rest, 'label is', 'labels are')} not in it: {listed(missing, 3)}" if rest > 0 else ""
    shared = [label for label, uri in corpus_addresses(corpus).items() if plain_name(label, uri) != label]
    alike = (
        f"; {counted(len(shared), 'label shares its name', 'labels share their names')} with other concepts, so the "
    )
    alike += f"end of the address is added, as in {shared[0]!r}" if shared else ""
    name = Path(words.source).name
    return f"The vocabulary {name} names {counted(known, 'label')}{named}{alike if shared else ''}{unknown}."


def _is_own(corpus: Corpus) -> bool:
    """Whether the addresses of the labels come from the data alone, not from a vocabulary."""
    return corpus.vocabulary is not None and corpus.vocabulary.source == corpus.source


def _set_sizes(corpus: Corpus) -> tuple[int, int]:
    """The least and the most labels of a document."""
    sizes = [len(names) for names in corpus.label_sets]
    return min(sizes, default=0), max(sizes, default=0)


def _format(format: str, layout: Layout | None) -> ReadingChoice:
    if layout is None or layout.delimiter is None:
        what = f": {BY_NAME[format].summary}" if layout is None and format in BY_NAME else ""
        return ReadingChoice("format", f"{format}{what}; by the content or the name of the file.", "--format")
    cells = DELIMITERS.get(layout.delimiter, repr(layout.delimiter))
    first = "column names in the first row" if layout.header else "no column names in the first row"
    chosen = f"{format}, cells separated by {cells}, {first}."
    return ReadingChoice("format", chosen, "--format, -o delimiter=…, -o header=…")


def _columns(layout: Layout, ids: Sequence[str]) -> list[ReadingChoice]:
    why = layout.reasons
    texts = " ".join([f"{layout.shown([*layout.sides, layout.text])}.", why.get("text", "As given.")])
    choices = [ReadingChoice("text", texts, "--text-column")]
    if layout.labels:
        labels = " ".join(
            [f"{layout.shown(layout.labels)}.", why.get("labels", "" if layout.positions else "As given.")]
        )
        choices.append(ReadingChoice("labels", labels.strip(), "--label-column"))
        if not layout.marks:
            chosen = why.get("separator", f"{layout.separator!r} separates labels, as given.")
            choices.append(ReadingChoice("separator", chosen, "--label-separator"))
    else:
        reason = why.get("labels", "No column has a usual name for labels.")
        choices.append(ReadingChoice("labels", f"none. {reason}", "--label-column"))
    if layout.identity is not None:
        repeated = [id for id, times in Counter(ids).items() if times > 1]
        chosen = f"{layout.shown([layout.identity])}."
        if repeated:
            chosen += f" {counted(len(repeated), 'id occurs', 'ids occur')} more than once: {listed(repeated, most=3)}."
        choices.append(ReadingChoice("ids", chosen, "-o id_column=…"))
    elif "ids" in why:
        choices.append(ReadingChoice("ids", why["ids"], "-o id_column=…"))
    if layout.split is not None:
        choices.append(ReadingChoice("splits", f"{layout.shown([layout.split])}.", "-o split_column=…"))
    if layout.unused:
        choices.append(ReadingChoice("not used", f"{listed(layout.unused)}."))
    return choices


def _texts(corpus: Corpus) -> list[ReadingChoice]:
    """The language of the texts and whether they are HTML, as methods with the default settings read them."""
    texts = corpus.joined_texts
    language = guess_language(texts)
    if guess_tokens(texts) == "pairs":
        chosen = "a script without spaces between words: pairs of characters are counted."
        choices = [ReadingChoice("language", chosen, "--set features.tokens=… (train)")]
    else:
        name = "not recognised: words are not stemmed."
        if language is not None:
            name = f"{language.capitalize()}, by its most common words: methods that stem use its stemmer."
        choices = [ReadingChoice("language", name, "--set features.stemmer=… (train)")]
    if has_markup(texts):
        chosen = "most documents contain HTML: tags are removed in training."
        choices.append(ReadingChoice("HTML", chosen, "--set features.markup=keep (train)"))
    elif (kept := kept_markup(texts)) is not None:
        choices.append(ReadingChoice("HTML", kept, "--set features.markup=strip (train)"))
    return choices
