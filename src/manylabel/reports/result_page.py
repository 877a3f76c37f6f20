"""The page of an evaluation (documents, metrics, labels, conventions) and that of the demonstration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from manylabel.data.layout import listed
from manylabel.evaluation.result import Result, SplitCounts, check_comparable, same_training
from manylabel.metrics import (
    HIERARCHICAL_METRICS,
    METRICS,
    RANKING_METRICS,
    chosen_labels,
    find_ranking_metric,
)
from manylabel.metrics.by_frequency import CONVENTION, FrequencyBand
from manylabel.reports.model_page import bin_weights_blocks, chosen_text, guarantee_text
from manylabel.reports.page import Block, Cell, Column, Heading, Kind, Note, Table
from manylabel.reports.records import LabelledDocument, Straddle
from manylabel.wording import counted

SHOWN = (
    "micro-precision", "micro-recall", "micro-f1", "macro-f1", "macro-f1-present", "sample-f1", "jaccard",
    "exact-match", "zero-one-loss", "hamming-loss", "all-negative-share", "true-cardinality", "predicted-cardinality",
)  # fmt: skip
RANKING_SHOWN = (
    "one-error", "precision@3", "recall@3", "recall@5", "ndcg@3", "ranking-average-precision",
    "ranking-loss", "coverage",
)  # fmt: skip
MANY_RANKING_SHOWN = (
    "one-error", "precision@1", "precision@3", "precision@5", "recall@3", "recall@5", "f1@5", "ndcg@3", "ndcg@5",
    "ranking-average-precision", "ranking-loss", "coverage",
)  # fmt: skip
"""The same for many labels, where lists of the best ones are what people look at."""
COUNTS = ("true-cardinality", "predicted-cardinality", "coverage")
UNSEEN_SHOWN = 8
MANY_LABELS = 20
"""From so many labels on there is a table by number of training documents, and there are more metrics of the best
labels; fewer are seen at a glance.
"""
CHANCE = "To test whether a difference is more than chance: manylabel compare DATA --methods"


def result_page(
    results: Sequence[Result], split: str, *, labels: int | None = 30, with_foot: bool = True
) -> list[Block]:
    """The page of one or several results; `labels` limits the table of labels (None: all of them, 0: no table).

    Results that were not measured alike are refused.
    """
    check_comparable(results)
    first = results[0]
    blocks: list[Block] = [Heading(f"{first.data}: {split}"), documents_table(first.train, first.test)]
    if first.unseen_labels:
        blocks.append(unseen_note(first))
    if not same_training(results):
        blocks.append(Note("Not all of these were trained on the same documents.", "warning"))
    ranking = RANKING_SHOWN if len(first.labels) < MANY_LABELS else MANY_RANKING_SHOWN
    views = list(first.metrics)
    titles = {"all": f"all {first.test.documents:,}", "labelled": f"{_labelled(first):,} labelled"}
    if len(results) == 1:
        blocks.append(
            Heading(f"How good {first.method} is, on {' and on '.join(titles[view] for view in views)} documents")
        )
        blocks.append(_metric_table([(titles[view], first.metrics[view]) for view in views], ranking))
        blocks.extend(_unranked_notes(first))
        if labels != 0:
            blocks.extend([*labels_blocks(first, labels), *frequency_blocks(first)])
    else:
        for view in views:
            blocks.append(Heading(f"Measured on {titles[view]} test documents"))
            blocks.append(_metric_table([(result.method, result.metrics[view]) for result in results], ranking))
        methods = dict.fromkeys(result.method.partition(" (")[0] for result in results)  # "svm (a.json)" is svm
        if len(methods) > 1:
            blocks.append(Note(f"{CHANCE} {','.join(methods)}", "quiet"))
        blocks.extend(_unranked_notes(first))
    blocks.extend(Note(rounds_text(result)) for result in results if "iterations_median" in result.remarks)
    blocks.extend(Note(text) for result in results if (text := choices_text(result)))
    blocks.extend(
        Note(guarantee_text(result.remarks["guarantee"])) for result in results if "guarantee" in result.remarks
    )
    blocks.extend(block for result in results if "supports" in result.remarks for block in supports_blocks(result))
    blocks.extend(weights_blocks(results))
    return [*blocks, *foot_notes(results)] if with_foot else blocks


def foot_notes(results: Sequence[Result]) -> list[Block]:
    """How long it took, and the conventions of the metrics."""
    return [Note(times(results), "quiet"), Note(conventions_text(results[0]), "quiet")]


def documents_table(train: SplitCounts | None, test: SplitCounts) -> Table:
    """Documents by number of labels, as Vilar, Castro & Sanchis 2004 count them in their Table 1."""
    splits = [("train", train)] if train is not None else []
    rows: list[list[Cell]] = []
    for name, counts in [*splits, ("test", test)]:
        whole = max(counts.documents, 1)
        row: list[Cell] = [name, counts.documents]
        sizes = (counts.unlabelled, counts.one_label, counts.several_labels)
        row.extend(f"{count:,} ({100 * count / whole:.1f} %)" for count in sizes)
        rows.append(row)
    return Table(
        [
            Column("split"),
            Column("documents", "count"),
            *(Column(t, "count") for t in ("no label", "one label", "several")),
        ],
        rows,
    )


def unseen_note(result: Result) -> Note:
    """The labels that cannot be predicted because training never saw them."""
    names = list(result.unseen_labels)
    total = sum(result.unseen_labels.values())
    verb = "counts" if len(names) == 1 else "count"
    return Note(
        f"{counted(len(names), 'label')} of the test documents never occurred in training and {verb} as "
        f"missed ({counted(total, 'assignment')}): {listed(names, UNSEEN_SHOWN)}.",
        "warning",
    )


def _metric_table(columns: Sequence[tuple[str, Mapping[str, float]]], ranking: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    titles = [(name, METRICS[name].title) for name in SHOWN if _has(columns, name)]
    titles += [(name, metric.title) for name, metric in HIERARCHICAL_METRICS.items() if _has(columns, name)]
    own = [name for name in columns[0][1] if name.startswith("recall@") and name not in RANKING_METRICS]
    titles += [(name, find_ranking_metric(name).title) for name in (*own, *ranking) if _has(columns, name)]
    for name, title in titles:
        values: list[Cell] = []
        for _, metrics in columns:
            value = metrics[name]
            values.append(f"{value:.2f}" if name in COUNTS else f"{100 * value:.2f} %")
        rows.append([title, *values])
    return Table([Column("metric"), *(Column(title, "number") for title, _ in columns)], rows)


def _unranked_notes(result: Result) -> list[Block]:
    """A note on the documents that metrics of rankings leave out, where there are some."""
    without = result.test.unlabelled
    if not without or not any(name in result.metrics["all"] for name in RANKING_SHOWN):
        return []
    left_out = counted(without, "document without a label is", "documents without a label are")
    return [Note(f"{left_out} left out of the rankings (one-error to coverage, such as recall at 5).", "quiet")]


def _has(columns: Sequence[tuple[str, Mapping[str, float]]], name: str) -> bool:
    """Whether every column has a metric; those with ancestors are taken only where there is a label hierarchy."""
    return all(name in metrics for _, metrics in columns)


def labels_blocks(result: Result, limit: int | None) -> list[Block]:
    """The labels, those with most test documents first, each with a small bar for its F1."""
    rows = sorted(result.labels, key=lambda row: (-row.true, -row.predicted, row.label))
    shown = rows if limit is None else rows[:limit]
    table = Table(
        [
            Column("label"), Column("train", "count"), Column("test", "count"), Column("predicted", "count"),
            Column("precision", "share"), Column("recall", "share"), Column("F1", "share"), Column("", "bar"),
        ],
        [[r.label, r.trained, r.true, r.predicted, r.precision, r.recall, r.f1, r.f1] for r in shown],
    )  # fmt: skip
    blocks: list[Block] = [Heading("By label"), table]
    if len(shown) < len(rows):
        blocks.append(
            Note(f"{counted(len(rows) - len(shown), 'more label')}: --labels all, or --per-label FILE.tsv.", "quiet")
        )
    return blocks


def frequency_blocks(result: Result, heading: str = "By number of training documents") -> list[Block]:
    """The quality of labels with few, some and many training documents; nothing where labels are few or much alike."""
    bands = result.by_frequency
    if len(result.labels) < MANY_LABELS or len(bands) < 2:
        return []
    titles = ["training documents", "labels", "labels in the test", "true in the test", "predicted"]
    table = Table(
        [*(Column(title, "count") for title in titles), Column("micro F1", "share"), Column("macro F1", "share")],
        [[_range(one), one.labels, one.tested, one.true, one.predicted, one.micro_f1, one.macro_f1] for one in bands],
    )
    return [Heading(heading), table, Note(CONVENTION, "quiet")]


def _range(band: FrequencyBand) -> str:
    if band.most is None:
        return f"{band.least:,} or more"
    return f"{band.least}" if band.least == band.most else f"{band.least} to {band.most}"


def rounds_text(result: Result) -> str:
    """A sentence on the rounds of co-training."""
    remarks = result.remarks
    periods = ", ".join(f"{count} of period {period}" for period, count in remarks["cycle_periods"].items())
    cycles = f" ({periods})" if periods else ""
    return (
        f"{result.method}: rounds per document: median {remarks['iterations_median']:g}, 95 % within "
        f"{remarks['iterations_95']:g}; {100 * remarks['cycle_share']:.1f} % of the documents ran in a cycle{cycles}, "
        f"{100 * remarks['unsettled_share']:.1f} % had not settled."
    )


def choices_text(result: Result) -> str:
    """What a method tuned, and how many documents only the fallback gave a label; empty where there is nothing."""
    remarks = result.remarks
    choices = [f"{name} = {value:g}" for name, value in remarks.get("chosen", {}).items()]
    if "chosen_for_metric" in remarks:
        choices.append(chosen_text(remarks["chosen_for_metric"]).rstrip("."))
    if "all_negative_share" in remarks:
        share = f"{100 * remarks['all_negative_share']:.1f} % of the documents had no label by themselves"
        choices.append(f"{share} and got their best one")
    return f"{result.method}: {'; '.join(choices)}." if choices else ""


def supports_blocks(result: Result, most: int = 10) -> list[Block]:
    """The labels that support and oppose the largest labels, where a method reports them."""
    supports = result.remarks["supports"]
    largest = [row.label for row in sorted(result.labels, key=lambda row: -row.trained) if supports.get(row.label)][
        :most
    ]

    def listed(label: str, sign: int) -> str:
        return ", ".join(f"{name} {weight:+.2f}" for name, weight in supports[label].items() if sign * weight > 0)

    rows: list[list[Cell]] = [[label, listed(label, 1), listed(label, -1)] for label in largest]
    heading = Heading(f"{result.method}: labels that support or oppose each other (weights)")
    return [heading, Table([Column("label"), Column("for it"), Column("against it")], rows)] if rows else []


def weights_blocks(results: Sequence[Result]) -> list[Block]:
    """The mean weight of each frequency bin, for the methods that have such bins."""
    named = len(results) > 1
    found = {
        result.method if named else "": result.remarks["bin_weights"]
        for result in results
        if "bin_weights" in result.remarks
    }
    return bin_weights_blocks(found) if found else []


def times(results: Sequence[Result]) -> str:
    """How long training and prediction took."""
    sentences = []
    for result in results:
        fit = f"trained in {result.seconds['fit']:.2f} s, " if "fit" in result.seconds else ""
        sentences.append(f"{result.method}: {fit}predicted in {result.seconds['predict']:.2f} s")
    return "; ".join(sentences) + "."


def conventions_text(result: Result) -> str:
    """The conventions of the metrics in words."""
    present = int(chosen_labels(result.label_counts, "present").sum())
    return (
        f"Conventions: micro pools all decisions over {counted(len(result.labels), 'label')}; macro F1 is the mean "
        f"over all of them, or over the labels with a test document ({present:,}); a label never right counts 0; per "
        f"document, two empty sets count 1 and one empty set 0; rankings (one-error to coverage) are those of "
        f"documents with a label. True labels {result.true_labels_sha256[:12]}, seed {result.seed}."
    )


def _labelled(result: Result) -> int:
    return result.test.documents - result.test.unlabelled


def per_label_tsv(result: Result) -> str:
    """The table of labels as tab-separated values, one line per label."""
    head = "label\ttrain\ttest\tpredicted\thits\tprecision\trecall\tf1\tthreshold"
    lines = [head]
    for row in result.labels:
        threshold = "" if row.threshold is None else f"{row.threshold:.6g}"
        lines.append(
            f"{row.label}\t{row.trained}\t{row.true}\t{row.predicted}\t{row.hits}\t"
            f"{row.precision:.6f}\t{row.recall:.6f}\t{row.f1:.6f}\t{threshold}"
        )
    return "\n".join(lines) + "\n"


def straddling_notes(straddle: Straddle | None) -> list[Block]:
    """A warning where test documents have near-duplicates in training; a remark where these were left out.

    >>> print(straddling_notes(Straddle(8, 3299, 6, ("14913", "14779")))[0].text[:92])
    8 of 3,299 test documents are near-duplicates of training documents (6 word for word; first:
    """
    if straddle is None:
        return []
    if straddle.dropped:
        one, several = "training document that nearly equals", "training documents that nearly equal"
        was = "was" if straddle.dropped == 1 else "were"
        return [Note(f"{counted(straddle.dropped, one, several)} a test document {was} left out.")]
    if straddle.first is None:
        return []
    tested, trained = straddle.first
    are = "is a near-duplicate" if straddle.documents == 1 else "are near-duplicates"
    return [
        Note(
            f"{straddle.documents:,} of {counted(straddle.tested, 'test document')} {are} of training documents "
            f"({straddle.identical:,} word for word; first: {tested} ~ {trained}), so the figures may be too good. "
            "--drop-duplicates leaves these out of training; --split-by duplicates keeps them together in a new split.",
            "warning",
        )
    ]


def demo_page(
    result: Result,
    split: str,
    letters: Sequence[tuple[dict[str, str], LabelledDocument]],
    model: str,
    *,
    probabilities: bool,
) -> list[Block]:
    """The page of the demonstration: quality, three new letters with their labels, and commands to try next."""
    summary = result_page([result], split, labels=0)
    blocks: list[Block] = [
        Note(
            "Letters to a town hall, labelled with what they are about: the classifier learns from those of the first "
            f"year and labels the {result.test.documents} that came later."
        ),
        *summary[:4],
        *labels_blocks(result, None),
        Heading("Three new letters"),
    ]
    for letter, prediction in letters:
        blocks.append(Note(f"“{letter['title']}” {letter['body']}"))
        blocks.append(_score_table(prediction, probabilities))
    blocks.append(summary[-1])
    blocks.append(Heading("What to try next"))
    blocks.append(
        Note(
            f"manylabel inspect {model:<27} what the model is made of\n"
            "manylabel evaluate townhall --method nb-app   another method on the same letters\n"
            "manylabel train your.csv                      your own documents: a column text, a column labels\n"
            "manylabel serve --demo                        these letters in the workbench, in your browser\n"
            f'echo "My bin was not emptied" | manylabel predict {model} --scores'
        )
    )
    return blocks


def _score_table(prediction: LabelledDocument, probabilities: bool) -> Table:
    kind: Kind = "share" if probabilities else "margin"
    rows: list[list[Cell]] = [
        [
            "✓" if name in prediction.labels else "",
            name,
            score,
            score if probabilities else margin_bar(score),
            prediction.thresholds.get(name),
        ]
        for name, score in prediction.scores.items()
    ]
    columns = [Column(""), Column("label"), Column("score", kind), Column("", "bar"), Column("threshold", kind)]
    return Table(columns, rows)


def margin_bar(margin: float) -> float:
    """A margin on the scale from −1, where a label is clearly out, to +1, where it is clearly in."""
    return (margin + 1) / 2
