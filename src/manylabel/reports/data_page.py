"""The pages that describe data: documents, labels and their imbalance, and the best terms of each label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from manylabel.features.term_scores import FUNCTIONS
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.wording import counted

if TYPE_CHECKING:  # importing the data room takes longer than printing a page
    from manylabel.data.description import (
        CorpusSizes,
        DataFacts,
        DuplicateFacts,
        LabelFacts,
        LabelFrequency,
        ReadingChoice,
        SplitSizes,
        WordFacts,
    )
    from manylabel.reports.records import SelectionRecord, Term


NO_LABELS, NO_LABEL_USED = "The documents carry no labels.", "No document has a label."


def describe_page(facts: DataFacts, data: str, show_labels: int = 10) -> list[Block]:
    """The whole page; `show_labels` of the most frequent and as many of the rarest labels are listed.

    `data` is what names the data on the command line, with their options.
    """
    split = f", {facts.split} split" if facts.split not in (None, "all") else ""
    blocks: list[Block] = [
        Heading(f"{facts.data}{split}: {counted(facts.documents, 'document')} ({facts.format})"),
        _reading_table(facts.reading),
        split_table(facts.splits),
        Note(_word_sentence(facts.words)),
    ]
    if facts.near_duplicates.pairs:
        hint = "keep them together with --split-by duplicates."
        blocks.append(Note(f"{_duplicate_text(facts.near_duplicates)}; {hint}"))
    if facts.labels is None:
        return [*blocks, Note(NO_LABELS, "warning")]
    return [*blocks, *_label_blocks(facts.labels, show_labels, data)]


def warning_sentences(facts: DataFacts) -> list[str]:
    """What may go wrong with some data, in sentences that name no command."""
    found = []
    if facts.words.empty_documents:
        found.append(f"{counted(facts.words.empty_documents, 'document has', 'documents have')} no words.")
    if facts.near_duplicates.pairs:
        found.append(f"{_duplicate_text(facts.near_duplicates)}.")
    if facts.labels is None:
        return [*found, NO_LABELS]
    if not facts.labels.used:
        return [*found, NO_LABEL_USED]
    if unused := facts.labels.names - facts.labels.used:
        found.append(f"{counted(unused, 'label name is', 'label names are')} on no document.")
    if facts.labels.labels_with_at_most[10]:
        found.append(_rare_text(facts.labels))
    return found


def _reading_table(choices: Sequence[ReadingChoice]) -> Table:
    """How the data were read: one row per choice, with the options that change it."""
    columns = [Column("what"), Column("how it was read, and why"), Column("to change it")]
    return Table(columns, [[one.what, one.chosen, one.options] for one in choices])


def split_table(splits: Mapping[str, SplitSizes]) -> Table:
    """One row per split: its documents and, where there are labels, how many have none, one and several."""
    labelled = all(sizes.no_label is not None for sizes in splits.values())
    titles = ["documents", "no label", "one label", "several labels"] if labelled else ["documents"]
    rows: list[list[Cell]] = [
        [name, sizes.documents, sizes.no_label, sizes.one_label, sizes.several_labels] for name, sizes in splits.items()
    ]
    columns = [Column("split"), *(Column(title, "count") for title in titles)]
    return Table(columns, [row[: len(columns)] for row in rows])


def sizes_page(sizes: CorpusSizes, format: str) -> list[Block]:
    """What is in a corpus, as tables."""
    shape = counted(sizes.documents, "document")
    if sizes.labels is not None:
        shape += f", {counted(sizes.labels.names, 'label')}"
    if sizes.terms is not None:
        shape += f", {counted(sizes.terms, 'term')}"
    blocks: list[Block] = [Heading(f"{sizes.name or 'corpus'}: {shape} ({format})")]
    if sizes.labels is not None:
        mean = sizes.labels.per_labelled_document
        blocks.append(
            Note(
                f"{counted(sizes.labels.used, 'label')} in use, {counted(sizes.labels.assignments, 'assignment')}"
                + (f", {mean:.3f} labels per labelled document." if mean else ".")
            )
        )
    blocks.append(split_table(sizes.splits))
    if sizes.licence:
        blocks.append(Note(f"Terms: {sizes.licence}.", "quiet"))
    return blocks


def _word_sentence(words: WordFacts) -> str:
    spread = words.per_document
    if spread is None and words.different:
        return f"{counted(words.different, 'column')} of numbers, which are not counts of words."
    if spread is None:
        return "There are no words."
    text = (
        f"Words per document: {spread.median:,.0f} (median), {spread.mean:,.1f} (mean), {spread.most:,.0f} at most; "
        f"{words.different:,} different words."
    )
    if words.empty_documents:
        text += f" {counted(words.empty_documents, 'document has', 'documents have')} no words."
    return text


def _duplicate_text(found: DuplicateFacts) -> str:
    pairs, documents = counted(found.pairs, "pair"), counted(found.documents, "document")
    return f"Near-duplicates: {pairs} among {documents} with nearly all words in common"


def _rare_text(labels: LabelFacts) -> str:
    few = labels.labels_with_at_most[10]
    them = "it, and its" if few == 1 else "them, and their"
    return (
        f"{counted(few, 'label has', 'labels have')} 10 documents or fewer: little can be learned about {them} metrics "
        "depend mostly on chance."
    )


def _label_blocks(labels: LabelFacts, show_labels: int, data: str) -> list[Block]:
    if not labels.used:
        return [Heading("Labels"), Note(NO_LABEL_USED, "warning")]
    listed = labels.by_frequency
    blocks: list[Block] = [Heading(counted(labels.used, "label")), *(Note(text) for text in _label_sentences(labels))]
    if len(listed) <= 2 * show_labels:
        return [*blocks, _label_table(listed), *_imbalance_blocks(labels, data)]
    return [
        *blocks,
        Heading("The most frequent labels"),
        _label_table(listed[:show_labels]),
        Heading("The rarest labels"),
        _label_table(listed[len(listed) - show_labels :]),
        *_imbalance_blocks(labels, data),
    ]


def _label_sentences(labels: LabelFacts) -> list[str]:
    mean, single = labels.per_labelled_document or 0.0, labels.sets_on_one_document
    first = (
        f"A labelled document has {mean:.2f} labels on average and {labels.most_per_document} at most; "
        f"{100 * labels.unlabelled_share:.1f} % of the documents have none."
    )
    sets = (
        f"{counted(labels.different_sets, 'different label set', 'different label sets')}, of which {single:,} "
        f"{'is' if single == 1 else 'are'} on one document only."
    )
    unused = labels.names - labels.used
    if unused:
        sets += f" {counted(unused, 'label name is', 'label names are')} on no document."
    if not labels.spellings:
        return [first, sets]
    spellings = "; ".join(" and ".join(f"{name} ({n:,})" for name, n in one.items()) for one in labels.spellings)
    return [first, sets, f"Spelled in several ways: {spellings}. Merge them with --merge-labels."]


def _label_table(listed: Sequence[LabelFrequency]) -> Table:
    columns = [
        Column("label"),
        Column("documents", "count"),
        Column("share", "share"),
        Column("", "bar"),
        Column("times rarer", "number"),
    ]
    rows: list[list[Cell]] = [[one.label, one.documents, one.share, one.share, one.ratio] for one in listed]
    return Table(columns, rows)


def _frequencies_text(labels: LabelFacts, median: float) -> str:
    """How frequent the most frequent and the usual label are, and how many labels are rare."""
    top, few, used = labels.by_frequency[0], labels.labels_with_at_most, labels.used
    text = (
        f"The most frequent label, {top.label}, is on {counted(top.documents, 'document')}; half of the labels are on "
        f"at most {counted(round(median), 'document')}."
    )
    counts = [
        f"{counted(few[limit], 'is', 'are')} on at most {limit}"
        for limit in few
        if 0 < few[limit] < used and limit != 1
    ]
    if few[1]:
        counts = [f"{counted(few[1], 'is', 'are')} on a single document", *counts]
    if counts:
        text += f" Of {counted(used, 'label')} {', '.join(counts)}."
    return text


def _imbalance_blocks(labels: LabelFacts, data: str) -> list[Block]:
    spread = labels.documents_per_label
    if spread is None:  # no label is in use
        return []
    few, metrics = labels.labels_with_at_most, labels.imbalance
    rows: list[list[Cell]] = [
        [
            "mean imbalance",
            metrics.mean_ratio,
            "how many times rarer than the most frequent one a label is on average",
        ],
        [
            "its variation",
            metrics.variation_of_ratios,
            "standard deviation over mean; above 1, labels differ widely",
        ],
        ["Gini coefficient", metrics.gini, "0: all labels equally frequent; near 1: a few labels have everything"],
        [
            "SCUMBLE",
            metrics.scumble,
            "0: rare labels keep to themselves; near 1: they come along with frequent ones",
        ],
        ["density", labels.density, "the share of all labels that an average document has"],
    ]
    shown = [[name, None if value != value else value, meaning] for name, value, meaning in rows]
    blocks: list[Block] = [
        Heading("How unequal the labels are"),
        Note(_frequencies_text(labels, spread.median)),
        Table([Column("metric"), Column("value", "number"), Column("meaning")], shown),
    ]
    if few[10]:
        hint = f"manylabel evaluate {data} --method svm --method svm-smote --method svm-balanced"
        blocks.append(Note(f"{_rare_text(labels)} Compare: {hint}", "quiet"))
    return blocks


AGAINST = "¬"


def select_page(facts: SelectionRecord) -> list[Block]:
    """The best terms of each label, or of all labels together; one column per function."""
    functions = facts.functions
    blocks: list[Block] = [
        Note(
            f"{facts.data}: {counted(facts.documents, 'document')}, {counted(facts.labels, 'label')}, "
            f"{counted(facts.terms, 'term')}."
        )
    ]
    for entry in facts.found:
        title = entry.label if entry.label is not None else "All labels together"
        blocks.append(Heading(f"{title} ({counted(entry.documents, 'document')})"))
        blocks.append(_table(entry.best, functions, facts.combine))
    blocks.append(Note(_legend(facts), "quiet"))
    return blocks


def _table(best: Mapping[str, Sequence[Term]], functions: Sequence[str], combine: Mapping[str, str]) -> Table:
    columns = [Column("", "count")]
    for name in functions:
        columns += [Column(f"{name} ({combine[name]})" if name in combine else name), Column("", "number")]
    rows: list[list[Cell]] = []
    for place in range(max(len(best[name]) for name in functions)):
        row: list[Cell] = [place + 1]
        for name in functions:
            found = best[name][place] if place < len(best[name]) else None
            row += ["", ""] if found is None else [_name(found), _score(found.score)]
        rows.append(row)
    return Table(columns, rows)


def _name(found: Term) -> str:
    return f"{AGAINST}{found.term}" if found.against else found.term


def _score(score: float) -> str:
    if math.isinf(score):
        return "∞" if score > 0 else "−∞"
    return f"{score:.4g}"


def _legend(facts: SelectionRecord) -> str:
    sentences = ["; ".join(f"{name}: {FUNCTIONS[name].title}" for name in facts.functions) + "."]
    if facts.eps and (corrected := [name for name in ("mi", "or") if name in facts.functions]):
        sentences.append(f"{facts.eps:g} is added to each cell for {' and '.join(corrected)} (--eps).")
    if any(term.against for entry in facts.found for terms in entry.best.values() for term in terms):
        sentences.append(
            f"{AGAINST} marks a term that speaks against the label; df, ig and chi2 score it like a term for the label."
        )
    if facts.min_df > 1:
        sentences.append(f"Terms of fewer than {facts.min_df} documents are left out (--min-df).")
    sentences.append("Equal scores are listed in alphabetical order.")
    return " ".join(sentences)
