"""The page of the label report: what is remarkable first, then every label, pairs, names and the model's quality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from manylabel.notebook import signed
from manylabel.reports.files import without_drawings
from manylabel.reports.html_page import Drawing, HtmlBlock, Thresholds
from manylabel.reports.label_records import ONE_LABEL, LabelReport, LabelTerms, ModelOfLabels, Together
from manylabel.reports.page import Block, Cell, Column, Heading, Items, Note, Table, p_text
from manylabel.wording import counted

MOST_NODES, MOST_EDGES = 40, 120
"""The largest dependency graph that is drawn."""
VERDICTS: dict[str | None, str] = {"rising": "yes", "level": "no", "open": "unclear", "rare": "too few to judge"}
"""What a verdict of `manylabel.evaluation.learning_trends` means for a label."""


def labels_page(found: LabelReport, model: ModelOfLabels | None, limit: int | None) -> list[Block]:
    """The page; `limit` is the number of rows per table (None: all)."""
    return without_drawings(_blocks(found, model, limit))


def labels_report(found: LabelReport, model: ModelOfLabels | None) -> list[HtmlBlock]:
    """The report: all rows, the dependency graph as a picture, and thresholds with a slider."""
    return _blocks(found, model, None)


def _blocks(found: LabelReport, model: ModelOfLabels | None, limit: int | None) -> list[HtmlBlock]:
    blocks: list[HtmlBlock] = [
        Heading(f"Labels of {found.data}"),
        Note(
            f"{counted(found.documents, 'document')}, {counted(len(found.labels), 'label')} in use, "
            f"{found.cardinality:.2f} per document.",
            "answer",
        ),
        *_remarkable(found),
        Note(
            "Imbalance (IRLbl): how many times as frequent as the label the most frequent one is; "
            f"{found.mean_ratio:.1f} on average (MeanIR). SCUMBLE {found.scumble:.3f}: how much frequent and rare "
            "labels share documents.",
            "quiet",
        ),
    ]
    rows: list[list[Cell]] = [
        [one.label, one.documents, one.share, one.imbalance, ", ".join(one.companions)] for one in found.labels[:limit]
    ]
    columns = [
        Column("label"), Column("documents", "count"), Column("share", "share"), Column("imbalance", "number"),
        Column("occurs with"),
    ]  # fmt: skip
    if found.together and limit is None:
        blocks += [Heading("Which labels occur together"), Drawing(graph_svg(found.together))]
    blocks += [Heading("Labels"), Table(columns, rows), *_more(len(found.labels), limit, "label")]
    blocks += _pairs(found, limit) + _names(found, limit)
    return blocks + ([] if model is None else _model(model, limit))


def _remarkable(found: LabelReport) -> list[Block]:
    """Sentences on what to look at first."""
    notes = []
    rare = sum(one.documents < 5 for one in found.labels)
    if rare:
        notes.append(f"{counted(rare, 'label has', 'labels have')} fewer than 5 documents: too few to learn from.")
    if found.missing_ancestors:
        lacking = sum(one.lacking for one in found.missing_ancestors)
        notes.append(f"In {counted(lacking, 'place')} a document has a label but lacks its ancestor in the hierarchy.")
    if found.similar_names:
        notes.append(f"{counted(len(found.similar_names), 'pair')} of label names may mean the same.")
    if found.n_implications:
        notes.append(f"{counted(found.n_implications, 'label implies', 'labels imply')} another one.")
    return [Items(notes)] if notes else []


def _pairs(found: LabelReport, limit: int | None) -> list[Block]:
    """Co-occurrence, implications and exclusions."""
    blocks: list[Block] = []
    significant = "Significant at a false-discovery rate of 1 % among all pairs of labels."
    counts = [Column("both", "count"), Column("expected", "number"), Column("adjusted p", "number")]
    if found.together:
        rows: list[list[Cell]] = [
            [one.first, one.second, one.both, one.expected, p_text(one.p)] for one in found.together[:limit]
        ]
        title = f"Labels that occur together ({counted(found.n_together, 'pair')})"
        blocks += [Heading(title), Note(significant, "quiet"), Table([Column("label"), Column("with"), *counts], rows)]
        blocks += _more(len(found.together), limit, "pair")
    if found.implications:
        rows = [[one.label, one.implied, one.both, one.documents, one.low] for one in found.implications[:limit]]
        columns = [
            Column("label"), Column("implies"), Column("both", "count"), Column("documents", "count"),
            Column("at least", "share"),
        ]  # fmt: skip
        blocks += [
            Heading("Implications"),
            Note("“At least”: the lower end of the 95 % interval of the share of documents with both.", "quiet"),
            Table(columns, rows),
            *_more(len(found.implications), limit, "implication"),
        ]
    if found.exclusions:
        rows = [[one.first, one.second, one.both, one.expected, p_text(one.p)] for one in found.exclusions[:limit]]
        title = f"Labels that avoid each other ({counted(found.n_exclusions, 'pair')})"
        blocks += [Heading(title), Note(significant, "quiet"), Table([Column("label"), Column("and"), *counts], rows)]
        blocks += _more(len(found.exclusions), limit, "pair")
    return blocks


def _names(found: LabelReport, limit: int | None) -> list[Block]:
    """Near-identical names and documents that lack an ancestor."""
    blocks: list[Block] = []
    if found.similar_names:
        rows: list[list[Cell]] = [[one.first, one.second, one.reason] for one in found.similar_names[:limit]]
        columns = [Column("label"), Column("and"), Column("why")]
        blocks += [Heading("Names that may mean the same"), Table(columns, rows)]
        blocks.append(Note(ONE_LABEL, "quiet"))
        blocks += _more(len(found.similar_names), limit, "pair")
    if found.missing_ancestors:
        rows = [[one.label, one.ancestor, one.lacking, one.documents] for one in found.missing_ancestors[:limit]]
        columns = [Column("label"), Column("ancestor"), Column("lacking", "count"), Column("documents", "count")]
        blocks += [Heading("Documents that lack an ancestor"), Table(columns, rows)]
        blocks += _more(len(found.missing_ancestors), limit, "label")
    return blocks


def _model(model: ModelOfLabels, limit: int | None) -> list[HtmlBlock]:
    """The quality of each label, thresholds, confusions and terms."""
    blocks: list[HtmlBlock] = [
        Heading(f"The model {model.model}"),
        Note(
            f"Measured on {model.measured_on} ({counted(model.documents, 'document')}), with 95 % intervals.", "quiet"
        ),
    ]
    if model.trained_on:
        blocks.append(Note(f"The model was trained on {model.trained_on:,} of them: figures are too good.", "warning"))
    rows: list[list[Cell]] = [
        [
            one.label, one.true, one.predicted, one.precision, one.recall, one.f1, _interval(one.f1_interval),
            one.threshold, VERDICTS.get(one.more_documents),
        ]
        for one in model.quality[:limit]
    ]  # fmt: skip
    columns = [
        Column("label"), Column("true", "count"), Column("predicted", "count"), Column("precision", "share"),
        Column("recall", "share"), Column("F1", "share"), Column("F1 interval", "number"),
        Column("threshold", "number"), Column("would more documents help?"),
    ]  # fmt: skip
    blocks += [Table(columns, rows), *_more(len(model.quality), limit, "label"), Note(_verdict_text(model), "quiet")]
    if limit is None and (model.common is not None or model.thresholds):
        blocks += [
            Heading("Thresholds"),
            Note("Move the slider, also with the arrow keys, to see what another threshold would predict."),
            Thresholds(model.common, model.thresholds, model.probabilities),
        ]
    if model.confusions:
        rows = [[one.missed, one.wrong, one.documents] for one in model.confusions[:limit]]
        columns = [Column("missed"), Column("predicted instead"), Column("documents", "count")]
        blocks += [Heading("Confusions"), Table(columns, rows), *_more(len(model.confusions), limit, "pair")]
    return blocks + _terms(model.terms)


def _terms(found: Sequence[LabelTerms]) -> list[HtmlBlock]:
    """The best terms of labels by each selection function, and those that mislead."""
    rows: list[list[Cell]] = []
    for one in found:
        if one.misleading:
            listed = ", ".join(f"{term} {signed(value)}" for term, value in one.misleading)
            rows.append([one.label, "misleading", listed])
        rows += [[one.label, function, ", ".join(terms)] for function, terms in one.best.items()]
    if not rows:
        return []
    meaning = (
        "The best terms of the most frequent labels by every selection function. Misleading terms are those with the "
        "largest mean contribution to wrong predictions of the label."
    )
    columns = [Column("label"), Column("function"), Column("terms")]
    return [Heading("Terms of labels"), Table(columns, rows), Note(meaning, "quiet")]


def _verdict_text(model: ModelOfLabels) -> str:
    """A sentence on how the column about more documents was found."""
    if model.verdicts is None:
        return "Whether more documents would help was not judged: there are too many or too few documents and labels."
    return (
        f"More documents help where the F1 of a linear SVM still rises: it was trained on {model.verdicts}. Unclear: "
        "the 90 % interval of the rise holds both 0 and two points per doubling. manylabel learning-curve looks closer."
    )


def _interval(ends: Sequence[float]) -> str:
    return f"{100 * ends[0]:.0f} to {100 * ends[1]:.0f} %"


def _more(total: int, limit: int | None, noun: str) -> list[Block]:
    left = 0 if limit is None else total - limit
    return [Note(f"{counted(left, 'more ' + noun)}: --labels all.", "quiet")] if left > 0 else []


# ---- the picture -----------------------------------------------------------------------------------------------------


PULL = 0.6
"""The force towards the middle of the graph, per unit of distance."""


def graph_svg(together: Sequence[Together]) -> str:
    """The strongest pairs of labels as a graph: nodes are labels, the width of a line is the excess over chance."""
    edges: list[tuple[int, int, float]] = []
    names: list[str] = []
    for pair in together:
        new = [name for name in (pair.first, pair.second) if name not in names]
        if len(names) + len(new) <= MOST_NODES and len(edges) < MOST_EDGES:
            names += new
            edges.append((names.index(pair.first), names.index(pair.second), pair.both - pair.expected))
    places = _apart(_layout(len(names), edges), names)
    most = max(weight for _, _, weight in edges)
    lines = "".join(
        f'<line x1="{places[a, 0]:.0f}" y1="{places[a, 1]:.0f}" x2="{places[b, 0]:.0f}" y2="{places[b, 1]:.0f}" '
        f'stroke="currentColor" stroke-opacity=".45" stroke-width="{0.5 + 5 * math.sqrt(weight / most):.1f}"/>'
        for a, b, weight in edges
    )
    dots = "".join(
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="4" fill="currentColor"/>'
        f'<text x="{x:.0f}" y="{y - 7:.0f}" text-anchor="middle" font-size="12" fill="currentColor" '
        f'stroke="var(--paper, white)" stroke-width="3" paint-order="stroke">'
        f"{escape(name)}</text>"
        for name, (x, y) in zip(names, places.tolist(), strict=True)
    )
    title = f"The {counted(len(edges), 'strongest pair')} of labels; the table below lists them."
    head = f'<svg viewBox="0 0 1000 700" role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>'
    return f"{head}{lines}{dots}</svg>"


def _layout(n: int, edges: Sequence[tuple[int, int, float]]) -> np.ndarray:
    """Places of nodes from a spring model started on a circle: Fruchterman & Reingold 1991, 300 steps.

    A weak pull to the middle keeps groups of labels that no edge joins from drifting apart.
    """
    angle = 2 * math.pi * np.arange(n) / n
    at = np.column_stack([np.cos(angle), np.sin(angle)])
    pull = np.zeros((n, n))
    for a, b, _ in edges:
        pull[a, b] = pull[b, a] = 1.0
    k = 1.0 / math.sqrt(n)
    for step in range(300):
        gap = at[:, np.newaxis] - at
        distance = np.maximum(np.linalg.norm(gap, axis=2), 1e-3)
        force = k * k / distance - pull * distance * distance / k
        move = (gap / distance[..., np.newaxis] * force[..., np.newaxis]).sum(axis=1) - PULL * at
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        at = at + move / length * np.minimum(length, 0.1 * (1 - step / 300))
    low, high = at.min(axis=0), at.max(axis=0)
    return np.asarray((at - low) / np.maximum(high - low, 1e-9) * [840, 620] + [80, 40])


LETTER, LINE = 7.2, 28.0
"""The width of a letter and the height of a name with its dot, in the units of the drawing."""


def _apart(at: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The places, moved until no name covers another, or 300 times; overlapping names move by half their overlap."""
    width = np.array([LETTER * len(name) + 8 for name in names])
    reach = (width[:, np.newaxis] + width) / 2
    order = np.sign(np.arange(len(names))[:, np.newaxis] - np.arange(len(names)))
    low, high = (
        np.stack([width / 2, np.full(len(names), 24.0)], axis=1),
        np.stack([1000 - width / 2, np.full(len(names), 690.0)], axis=1),
    )
    for _ in range(300):
        gap = at[:, np.newaxis] - at
        over = np.stack([reach, np.full(reach.shape, LINE)], axis=2) - np.abs(gap)
        hit = (over > 0).all(axis=2) & (order != 0)
        if not hit.any():
            break
        side = np.where(gap == 0, order[..., np.newaxis], np.sign(gap))
        shorter = over <= over[..., ::-1]  # along the axis on which they overlap less
        at = np.clip(at + (side * over * (shorter & hit[..., np.newaxis]) / 2).sum(axis=1), low, high)
    return at
