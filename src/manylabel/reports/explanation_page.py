"""The page of an explanation: each label with its score, the text with the evidence highlighted, and the numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from manylabel.explanation import Explanation, LabelExplanation, Neighbour, marked_text
from manylabel.notebook import signed, strengths
from manylabel.reports.page import Block, Cell, Column, Heading, Marked, Note, Table
from manylabel.wording import counted

CONTEXT = 60
"""Characters shown on both sides of evidence where a text is shortened."""
MOST_CHARACTERS = 1_500
"""Longer texts are shortened on the terminal to the surroundings of their evidence."""
MOST_EXCERPT = 400
"""Characters of an excerpt, which is shown beside others."""


def explanation_blocks(
    found: Explanation, terms: int | None = 8, title: str | None = None, shorten: bool = True
) -> list[Block]:
    """The page of an explanation; `terms` limits the terms that are listed per label (None: all of them)."""
    blocks: list[Block] = [] if title is None else [Heading(title)]
    if not found.labels:
        return [*blocks, Note("No label is predicted, and there is none to explain.")]
    if not any(one.predicted for one in found.labels):
        blocks.append(Note(_none_predicted(found)))
    for one in found.labels:
        blocks += [Heading(f"{one.label}: {one.score_text}")]
        blocks += [Note(f"The keyword rule matches: {rule}") for rule in one.rules]
        blocks += _texts(found, one, shorten)
        blocks += _parts(one, terms)
        notes = (one.no_evidence_text, one.vector_text, one.what_if_text)
        blocks += [Note(text) for text in notes if text is not None]
    return [*blocks, *_neighbours(found.neighbours), Note(found.how_text, "quiet")]


def _none_predicted(found: Explanation) -> str:
    """A sentence on what is predicted, where no explained label is."""
    if not found.predicted:
        scores = "probabilities" if found.labels[0].is_probability else "scores"
        return "No label is predicted." if found.asked else f"No label is predicted. These have the highest {scores}."
    names = ", ".join(one.label for one in found.labels)
    return f"Not predicted: {names}. Predicted: {', '.join(found.predicted)}."


def _texts(found: Explanation, one: LabelExplanation, shorten: bool) -> list[Block]:
    """Each field of the document with the evidence marked."""
    blocks: list[Block] = []
    for number, (name, text) in enumerate(found.fields):
        stretches = marked_text(text, number, one.terms)
        if shorten and len(text) > MOST_CHARACTERS:
            stretches = _shortened(stretches)
        if name is not None and stretches:
            stretches = [(f"{name}: ", 0.0), *stretches]
        blocks.append(Marked(stretches))
    return blocks


def _shortened(stretches: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The stretches with evidence and the characters around them."""
    kept: list[tuple[str, float]] = []
    graded = strengths(stretches)
    for place, (text, value, strength) in enumerate(graded):
        if strength:
            kept.append((text, value))
            continue
        before = place > 0 and any(part[2] for part in graded[:place])
        after = any(part[2] for part in graded[place + 1 :])
        if len(text) <= CONTEXT * (before + after) + 3:
            kept.append((text, 0.0))
            continue
        head = _to_a_blank(text[:CONTEXT]) if before else ""
        tail = _to_a_blank(text[-CONTEXT:][::-1])[::-1] if after else ""
        kept.append((f"{head} … {tail}", 0.0))
    return kept


def _to_a_blank(text: str) -> str:
    """The text without the word that is cut at its end; the whole of it where there is no blank.

    >>> _to_a_blank("the bus was la")
    'the bus was'
    """
    return re.sub(r"\s+\S*$", "", text) or text


def excerpt(stretches: Sequence[tuple[str, float]], most: int = MOST_EXCERPT) -> list[tuple[str, float]]:
    """A text around its evidence on one line, about `most` characters; its beginning where there is no evidence.

    >>> excerpt([("The lorry was late. " * 9, 0.0), ("Buses", 0.5), (" were not.", 0.0)], most=80)
    [(' … lorry was late. The lorry was late. The lorry was late. ', 0.0), ('Buses', 0.5), (' were not.', 0.0)]
    """
    lines = [(re.sub(r"\s+", " ", text), value) for text, value in stretches]
    short = _shortened(lines) if sum(len(text) for text, _ in lines) > most else lines
    if not any(value for _, value in lines):
        whole = "".join(text for text, _ in lines)
        return [(_to_a_blank(whole[:most]) + " …" if len(whole) > most else whole, 0.0)]
    kept: list[tuple[str, float]] = []
    left = most
    for text, value in short:
        if left <= 0:
            return [*kept, ("…", 0.0)]
        kept.append((text, value))
        left -= len(text)
    return kept


def _parts(one: LabelExplanation, limit: int | None) -> list[Block]:
    """The contributions as a table: terms, other labels, members, and what is left."""
    shown, labels = one.terms[:limit], one.labels[:limit]
    rest, others = one.terms[len(shown) :], one.labels[len(labels) :]
    most = max(
        [abs(term.contribution) for term in shown] + [abs(share.contribution) for share in one.labels] + [1e-300]
    )
    rows: list[list[Cell]] = [
        [term.term if term.occurrences else _absent(term.term, one), signed(term.contribution),
         term.contribution / most]
        for term in shown
    ]  # fmt: skip
    if rest:
        rows.append([counted(len(rest), "other term"), signed(sum(term.contribution for term in rest)), None])
    rows += [[f"label {share.name}", signed(share.contribution), share.contribution / most] for share in labels]
    if others:
        rows.append([counted(len(others), "other label"), signed(sum(share.contribution for share in others)), None])
    if one.intercept is not None:
        rows += [["intercept", signed(one.intercept), None], [one.quantity, signed(one.total), None]]
    blocks: list[Block] = []
    if rows:
        blocks.append(Table([Column("term"), Column("contribution", "number"), Column("", "balance")], rows))
    if one.members:
        left = one.total - sum(share.contribution for share in one.members)
        members = [f"{share.name} {signed(share.contribution)}" for share in one.members]
        calibration = [f"calibration {signed(left)}"] if one.intercept is not None and abs(left) > 5e-3 else []
        blocks.append(Note(f"Shares of the members: {', '.join([*members, *calibration])}."))
    return blocks


def _absent(term: str, one: LabelExplanation) -> str:
    """The name of a term that has no place in the text."""
    placed = any(other.occurrences for other in one.terms)
    return f"{term} (absent)" if placed and not term.startswith("rule: ") else term


def _neighbours(neighbours: Sequence[Neighbour]) -> list[Block]:
    """The training documents that vote."""
    if not neighbours:
        return []
    rows: list[list[Cell]] = [
        [one.document, one.similarity, one.vote, ", ".join(one.labels), ", ".join(one.terms)] for one in neighbours
    ]
    columns = [
        Column("training document", "count"), Column("similarity", "number"), Column("vote", "number"),
        Column("labels"), Column("shared terms"),
    ]  # fmt: skip
    return [Heading("The nearest training documents"), Table(columns, rows)]
