"""The pages of a training run and of a model file, with what training chose and what is guaranteed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manylabel.decisions.cross_fitting import MOST_CELLS
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table, skipped_notes
from manylabel.reports.provenance import described_text, program_text
from manylabel.reports.thresholds_page import change_text
from manylabel.reports.update_page import history_text
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.decisions.base import Choice
    from manylabel.evaluation.expected import ExpectedQuality
    from manylabel.evaluation.training_documents import SeenDocuments
    from manylabel.reports.records import ExportRecord, ModelRecord, TrainingRecord


def training_page(trained: TrainingRecord, data: str, settings: str = "") -> list[Block]:
    """The page of a training run.

    `data` are its data and options of reading, `settings` the options that change the method, both as they were given:
    they are repeated in the commands to try next.
    """
    stems = f" ({', '.join(trained.reading)})" if trained.reading else ""
    return [
        Heading(f"Trained {trained.recipe['method']} on {trained.data}"),
        Note(
            f"{counted(trained.documents, 'document')} ({trained.unlabelled:,} without a label), "
            f"{counted(trained.labels, 'label')}, {counted(trained.terms, 'term')}{stems}, {trained.seconds:.2f} s."
        ),
        *([Note(text)] if (text := _label_number_text(trained)) else []),
        *([Note(described_text(trained.described_only, trained.labels))] if trained.described_only else []),
        *_chosen(trained),
        *([Note(guarantee_text(trained.guarantee))] if trained.guarantee is not None else []),
        *_quality(trained, data, settings),
        *([Note(_once_text(trained))] if trained.labels_once > trained.labels / 2 else []),
        *([Note(trained.vocabulary)] if trained.vocabulary is not None else []),
        *skipped_notes(trained.skipped),
        Note(f"The model is in {trained.model}."),
        Note(_next_text(trained, data), "quiet"),
    ]


def _label_number_text(trained: TrainingRecord) -> str | None:
    """A sentence on how many labels are predicted, where training documents or predictions have exactly one."""
    if trained.one_label_each and trained.single_label:
        return (
            "Every document has exactly one label, so exactly one is predicted: the one with the highest score "
            "(--multi-label: any number)."
        )
    if trained.one_label_each:
        return "Every document has exactly one label, but any number is predicted (--single-label: exactly one)."
    return f"{ONE_LABEL} (--multi-label: any number)." if trained.single_label else None


def _once_text(trained: TrainingRecord) -> str:
    """A sentence on labels of a single document, and what works where most labels are of this kind."""
    return (
        f"{trained.labels_once:,} of {counted(trained.labels, 'label')} have a single training document, and can "
        "hardly be learned. Let people choose from the best labels (predict --top 10), or add documents."
    )


FEW_PER_LABEL = 5
"""With fewer training documents per label than this, the quality to expect of a searched model is doubtful."""
ONE_LABEL = "Exactly one label is predicted per document, the one with the highest score"


def _next_text(trained: TrainingRecord, data: str) -> str:
    """The commands to try next: `evaluate` only on documents that training did not use."""
    predict = f"Next: manylabel predict {trained.model} FILE"
    if trained.has_test_split:
        return f"{predict}   or, on the test split:   manylabel evaluate {data} --model {trained.model}"
    return f"{predict}   or, on other labelled documents:   manylabel evaluate OTHER --model {trained.model}"


def _quality(trained: TrainingRecord, data: str, settings: str) -> list[Block]:
    """The quality to expect, or the command that measures it; nothing where a guarantee stands for it."""
    if trained.expected is not None:
        text = expected_text(trained.expected, documents=trained.documents, labels=trained.labels)
        return [Note(text), *_doubt(trained)]
    if trained.guarantee is not None:
        return []
    if len(trained.described_only) == trained.labels:
        return [Note("How good the model is was not measured: there are no labelled documents.")]
    method = trained.recipe["method"]
    return [
        Note(
            "How good the model is on new documents was not measured: training it gives no out-of-fold scores. Measure "
            f"such a model: manylabel evaluate {data} --method {method}{settings}"
        )
    ]


def _doubt(trained: TrainingRecord) -> list[Block]:
    """A warning where settings and thresholds were chosen on few documents per label: the estimate is then too high."""
    mean = trained.documents_per_label
    if trained.chosen is None or mean is None or mean >= FEW_PER_LABEL:
        return []
    return [
        Note(
            f"This is probably too high: labels have {mean:.1f} training documents on average, and settings and "
            "thresholds were chosen on them. Measure the model on other labelled documents (manylabel evaluate).",
            "warning",
        )
    ]


def training_documents_notes(seen: SeenDocuments | None, expected: ExpectedQuality | None) -> list[Block]:
    """A warning where a model is measured on documents it was trained on, with what is known of new ones."""
    if seen is None or not seen.seen:
        return []
    sample = "" if seen.compared == seen.documents else " in a sample"
    if seen.seen == seen.compared:
        which = f"The model was trained on these very documents (all {counted(seen.compared, 'document')}{sample})"
    else:
        which = f"The model was trained on {seen.seen:,} of these {counted(seen.compared, 'document')}{sample}"
    known = expected_text(expected)
    return [
        Note(f"{which}: figures on them show memory, not learning. Measure other documents.", "warning"),
        *([Note(known)] if known else []),
    ]


def _trained_on(facts: Mapping[str, Any]) -> str:
    """The documents that a model was trained on.

    >>> _trained_on({"data": "letters.csv", "documents": 415}), _trained_on({})
    ('trained on letters.csv, 415 documents', 'trained in Python')
    """
    if "data" not in facts:
        return "trained in Python"
    return f"trained on {facts['data']}, {counted(facts.get('documents', 0), 'document')}"


def inspect_page(found: ModelRecord, limit: int | None) -> list[Block]:
    """The page of a model file; `limit` is the number of labels to list (None: all of them)."""
    facts = found.facts
    blocks: list[Block] = [
        Heading(found.path),
        Note(
            f"{found.bytes:,} bytes, written by manylabel {found.versions['manylabel']}; {_trained_on(facts)}; "
            f"{counted(len(found.labels), 'label')}."
        ),
        *([Note(text)] if (text := program_text(facts)) else []),
        *([Note(found.reading)] if found.reading is not None else []),
        *([Note(f"{ONE_LABEL}.")] if found.single_label else []),
        *_described(found),
        *([Note(f"How texts are read: {', '.join(found.texts)}.")] if found.texts else []),
        *_chosen(found),
        *([Note(guarantee_text(found.guarantee))] if found.guarantee is not None else []),
        *([Note(text)] if (text := _expected_of_file(found)) else []),
        *(Note(change_text(change)) for change in found.changes),
        *(Note(history_text(update)) for update in found.updates),
        Heading("Recipe"),
        Table([Column("section"), Column("setting"), Column("value")], _recipe_rows(facts.get("recipe", {}))),
        Heading("Labels"),
        *_labels(found, limit),
    ]
    if found.bin_weights is not None:
        blocks += bin_weights_blocks({"": found.bin_weights})
    sizes: list[list[Cell]] = [
        [name, array.dtype, " × ".join(f"{n:,}" for n in array.shape)] for name, array in found.arrays.items()
    ]
    return [*blocks, Heading("Arrays"), Table([Column("array"), Column("type"), Column("shape")], sizes)]


def _labels(found: ModelRecord, limit: int | None) -> list[Block]:
    """The labels with the most training documents, and whatever else the file holds of each."""
    order = sorted(range(len(found.labels)), key=lambda label: -found.label_counts[label])[:limit]
    columns = [Column("label"), Column("documents", "count")]
    rows: list[list[Cell]] = [[found.labels[label], found.label_counts[label]] for label in order]
    described = set(found.described)
    if described:
        columns.append(Column("known from"))
        rows = [[*row, _known_from(row[1], row[0] in described)] for row in rows]
    if found.thresholds is not None:
        columns.append(Column("threshold", "number"))
        rows = [[*row, found.thresholds[label]] for row, label in zip(rows, order, strict=True)]
    if found.addresses:
        columns.append(Column("URI"))
        rows = [[*row, found.addresses.get(found.labels[label], "")] for row, label in zip(rows, order, strict=True)]
    more = counted(len(found.labels) - len(order), "more label")
    cut = [Note(f"{more}: --labels all.", "quiet")] if len(order) < len(found.labels) else []
    return [Table(columns, rows), *cut]


def _described(found: ModelRecord) -> list[Block]:
    """A note on the labels that are known from their descriptions only."""
    counts = dict(zip(found.labels, found.label_counts, strict=True))
    only = [label for label in found.described if not counts[label]]
    return [Note(described_text(only, len(found.labels)))] if only else []


def _known_from(documents: Cell, described: bool) -> str:
    if not described:
        return "documents" if documents else "nothing"
    return "documents and its description" if documents else "its description only"


def bin_weights_blocks(found: Mapping[str, Mapping[str, list[float]]]) -> list[Block]:
    """The table of the mean weight of each frequency bin, for one model (named "") or several."""
    rows: list[list[Cell]] = []
    for name, weights in found.items():
        bins = zip(weights["terms"], weights["occurring"], weights["all_terms"], strict=True)
        for number, (terms, occurring, every) in enumerate(bins, 1):
            row: list[Cell] = ["1 (absent)" if number == 1 else str(number), int(terms)]
            row += [f"{occurring:.4g}" if terms else "none", f"{every:.4g}" if terms else "none"]
            rows.append([name, *row] if name else row)
    columns = [Column("bin"), Column("terms in it", "count"), Column("mean weight", "number")]
    columns.append(Column("over all terms", "number"))
    named = [Column("method")] if any(found) else []
    meaning = (
        "Bin 1 is absence, which has no weight where only terms that occur are evidence; the higher the bin, the more "
        "frequent the term in the document. Mean weight: over the terms that occur in the bin, for all labels; over "
        "all terms: a bin in which a term never falls counts 0. Source: Lee 2018, Fig. 2."
    )
    return [Heading("Mean weight per frequency bin"), Table([*named, *columns], rows), Note(meaning, "quiet")]


_USES = {
    "json": "docs/exporting.md describes the form.",
    "js": "import {{ predict, predictScores, labels }} from './{name}';",
    "sklearn": "from manylabel_sklearn import load  # with {name} on the path of Python; load().predict(texts)",
    "onnx": "onnxruntime.InferenceSession('{name}/model.onnx').run(['scores', 'labels'], {{'counts': counts}})",
    "duckdb": "from manylabel_duckdb import register  # with {name} on the path of Python; register(connection)",
}
"""How each target of an export is used."""


def export_page(found: ExportRecord) -> list[Block]:
    """The files that `export` wrote, and how they are used."""
    rows: list[list[Cell]] = [[one["path"], one["bytes"]] for one in found.files]
    about = f"{found.method}, {counted(found.labels, 'label')}, {counted(found.terms, 'term')}."
    use = _USES[found.target].format(name=Path(found.output).name)
    return [Note(about), Table([Column("file"), Column("bytes", "count")], rows), Note(use, "code")]


def _recipe_rows(recipe: Mapping[str, Any]) -> list[list[Cell]]:
    rows: list[list[Cell]] = [["", "method", str(recipe.get("method", "unknown"))]]
    for section in ("features", "selection", "weighting", "model", "decision"):
        rows.extend([section, key, str(value)] for key, value in recipe.get(section, {}).items())
    return rows


def _chosen(found: TrainingRecord | ModelRecord) -> list[Block]:
    """What training chose; its value only where no better estimate is known: the best of several is optimistic."""
    if found.chosen is None:
        return []
    return [Note(chosen_text(found.chosen if found.expected is None else {**found.chosen, "value": None}))]


RULES_IN_WORDS = {
    "natural": "the labels that the model itself accepts",
    "global": "one threshold for all labels",
    "per-label": "a threshold for each label",
    "micro-macro": "a threshold for each label, from frequent to rare",
    "calibrated": "thresholds on calibrated probabilities",
    "top-k": "a fixed number of labels",
    "seen-sets": "a label set that occurs in training",
}


def chosen_text(chosen: Choice) -> str:
    """A sentence on what training chose for a metric: the rule, the settings and the value they had.

    >>> facts = {"title": "Micro F1", "rule": "global", "value": 0.875, "settings": {"C": 0.25, "averaged": True}}
    >>> chosen_text(facts)
    'Chosen for micro F1 on out-of-fold scores: one threshold for all labels (rule global), C = 0.25, averaged \
(micro F1 87.5 % there).'
    """
    title = chosen["title"][0].lower() + chosen["title"][1:]
    settings = [_setting_text(name, value) for name, value in chosen["settings"].items()]
    name, _, details = chosen["rule"].partition(", ")
    words = RULES_IN_WORDS.get(name)
    best = ", or else the best label" if "fallback argmax" in details else ""
    rule = f"the rule {chosen['rule']}" if words is None else f"{words}{best} (rule {chosen['rule']})"
    choices = [rule, *settings]
    found = "" if chosen["value"] is None else f" ({title} {100 * chosen['value']:.1f} % there)"
    return f"Chosen for {title} on out-of-fold scores: {', '.join(choices)}{found}."


def _setting_text(name: str, value: float | bool | Mapping[str, float]) -> str:
    """A chosen setting in words.

    >>> [_setting_text(*one) for one in {"C": 0.25, "averaged": True, "views": {"pairs": 0.0112}, "stacked": 4}.items()]
    ['C = 0.25', 'averaged', 'beside words pairs (+1.1 points)', 'a stack of 4 models']
    """
    if name == "stacked":
        return f"a stack of {value} models"
    if isinstance(value, Mapping):
        return "beside words " + " and ".join(f"{view} ({100 * gain:+.1f} points)" for view, gain in value.items())
    return name if value is True else f"{name} = {value:g}"


MANY_LABELS = 100
"""From this many labels on, they are given as the reason for a sample; with fewer, the documents are many."""


def _expected_of_file(found: ModelRecord) -> str:
    documents = 0 if found.updates else found.facts.get("documents", 0)
    return expected_text(found.expected, documents=documents, labels=len(found.labels))


def expected_text(expected: ExpectedQuality | None, *, documents: int = 0, labels: int = 0) -> str:
    """A sentence on the quality to expect on new documents; empty where it is not known.

    With the number of training documents and labels it has the reason why only a sample of documents was measured.

    >>> figure = {"metric": "micro-f1", "title": "Micro F1", "value": 0.8506, "low": 0.8297, "high": 0.8709}
    >>> expected_text({"documents": 415, "figures": [figure]}).partition(", measured")[0]
    'Expected on new documents of the same kind: micro F1 85.1 % [83.0, 87.1] (95 % interval)'
    """
    if expected is None:
        return ""
    figures = [
        f"{one['title'][0].lower()}{one['title'][1:]} {100 * one['value']:.1f} % "
        f"[{100 * one['low']:.1f}, {100 * one['high']:.1f}]"
        for one in expected["figures"]
    ]
    intervals = "interval" if len(figures) == 1 else "intervals"
    ordered = " in time-ordered folds" if expected.get("order") == "time" else ""
    labelled = expected.get("labelled", expected["documents"])
    ranked = [one["title"].lower() for one in expected["figures"] if one["metric"].startswith("recall@")]
    left_out = f", {ranked[0]} on the {labelled:,} with a label" if ranked and labelled < expected["documents"] else ""
    measured, why = counted(expected["documents"], "document"), ""
    if expected["documents"] < documents and documents * labels > MOST_CELLS:
        measured = f"a sample of {expected['documents']:,} of {counted(documents, 'document')}"
        why = f", because there are {counted(labels, 'label')}" if labels >= MANY_LABELS else ""
    return (
        f"Expected on new documents of the same kind: {', '.join(figures)} (95 % {intervals}), "
        f"measured out of fold on {measured}{left_out}{ordered}{why}."
    )


def guarantee_text(guarantee: Mapping[str, Any]) -> str:
    """What is guaranteed, on how many documents it rests and, where it was measured, how it held.

    >>> facts = {"metric": "recall", "level": 0.9, "documents": 200, "threshold": 0.1, "risk": 0.09, "bound": 0.0945}
    >>> text = guarantee_text({**facts, "measured": 0.912, "measured_on": 50})
    >>> for sentence in text.split(". "):
    ...     print(sentence)
    Guaranteed, recall 0.9: new documents of the same kind get at least 90 % of their labels on average
    It rests on 200 held-out documents with a label: recall 0.910 there, 0.905 with the correction for their number
    Measured here: recall 0.912, 50 documents with a label.
    """
    words = _recall_words(guarantee) if guarantee["metric"] == "recall" else _false_discovery_words(guarantee)
    text = (
        f"Guaranteed, {guarantee['metric']} {guarantee['level']:g}: {words['guaranteed']} on average. "
        f"It rests on {guarantee['documents']:,} held-out {words['documents']}: "
        f"{words['found']} with the correction for their number."
    )
    if "measured" in guarantee:
        number = f"{guarantee['measured_on']:,} {words['documents']}"
        text += f" Measured here: {words['name']} {guarantee['measured']:.3f}, {number}."
    return text


def _recall_words(guarantee: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": "recall",
        "documents": "documents with a label",
        "guaranteed": f"new documents of the same kind get at least {100 * guarantee['level']:g} % of their labels",
        "found": f"recall {1 - guarantee['risk']:.3f} there, {1 - guarantee['bound']:.3f}",
    }


def _false_discovery_words(guarantee: Mapping[str, Any]) -> dict[str, str]:
    name = "false-discovery rate"
    guaranteed = (
        f"at most {100 * guarantee['level']:g} % of the labels predicted for new documents of the same kind are wrong"
    )
    # For each document the largest share at any stricter threshold is taken: see `false_discovery_threshold`.
    found = f"{name} {guarantee['risk']:.3f} there, each document taken at its worst, {guarantee['bound']:.3f}"
    return {"name": name, "documents": "documents", "guaranteed": guaranteed, "found": found}
