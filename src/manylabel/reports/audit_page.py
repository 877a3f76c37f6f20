"""The pages of an audit (doubted labels with their evidence, copies, alike labels) and of suggested documents."""

from __future__ import annotations

from manylabel.notebook import signed
from manylabel.reports.audit_records import AuditRecord, DividedLabel, DoubtedLabel, SuggestionRecord
from manylabel.reports.label_records import ONE_LABEL
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table
from manylabel.wording import counted


def audit_page(found: AuditRecord, limit: int | None) -> list[Block]:
    """The page; `limit` is the number of rows per table (None: all)."""
    left_out = found.labels - found.judged_labels
    rare = f" {counted(left_out, 'label has', 'labels have')} too few documents to be judged." if left_out else ""
    blocks: list[Block] = [
        Heading(f"Audit of {found.data}"),
        Note(
            f"{counted(found.documents, 'document')}, {counted(found.assignments, 'assigned label')}. "
            f"{counted(found.n_doubted, 'label is', 'labels are')} doubted: missing or wrong.{rare}",
            "answer",
        ),
        *_left_out(found),
        Note("Probabilities assume that 2 % of the labels are missing and 2 % wrong.", "quiet"),
        *_doubted("Probably missing labels", [one for one in found.doubted if one.action == "add"], limit),
        *_doubted("Probably wrong labels", [one for one in found.doubted if one.action == "remove"], limit),
        *_others(found, limit),
    ]
    if not found.doubted:
        return blocks
    return [
        *blocks,
        Note(
            "Nothing was changed. Decide: write the lines of --json you agree with to decisions.jsonl, one JSON object "
            "per line (document, label, action), then --apply decisions.jsonl.",
            "quiet",
        ),
    ]


def _left_out(found: AuditRecord) -> list[Block]:
    if not found.not_looked_for:
        return []
    what = " and ".join(found.not_looked_for)
    return [
        Note(f"The documents were read from disk, so {what} were not looked for. A larger --memory does.", "warning")
    ]


def _doubted(title: str, doubted: list[DoubtedLabel], limit: int | None) -> list[Block]:
    if not doubted:
        return []
    rows: list[list[Cell]] = [
        [one.document, one.label, one.probability, _evidence(one), one.text] for one in doubted[:limit]
    ]
    columns = [
        Column("document"), Column("label"), Column("probability", "share"), Column("terms"), Column("text"),
    ]  # fmt: skip
    return [Heading(title), Table(columns, rows), *_more(len(doubted), limit, "label")]


def _evidence(one: DoubtedLabel) -> str:
    return ", ".join(f"{term} {signed(value)}" for term, value in one.evidence)


def _others(found: AuditRecord, limit: int | None) -> list[Block]:
    """Copies, implied labels, unexplained documents, labels that may be one and labels that may be two."""
    blocks: list[Block] = []
    if found.copies:
        rows: list[list[Cell]] = [
            [one.first, one.second, one.similarity, ", ".join(one.only_first), ", ".join(one.only_second)]
            for one in found.copies[:limit]
        ]
        columns = [
            Column("document"), Column("and"), Column("similarity", "number"), Column("only the first"),
            Column("only the second"),
        ]  # fmt: skip
        title = f"Near-duplicates with different labels ({counted(found.n_copies, 'pair')})"
        blocks += [Heading(title), Table(columns, rows), *_more(found.n_copies, limit, "pair")]
    if found.implied:
        rows = [[one.document, one.label, one.because] for one in found.implied[:limit]]
        title = f"Labels that the hierarchy implies ({found.n_implied:,})"
        columns = [Column("document"), Column("lacks"), Column("has")]
        blocks += [Heading(title), Table(columns, rows), *_more(found.n_implied, limit, "label")]
    if found.unexplained:
        shown = ", ".join(found.unexplained[:limit])
        title = f"{counted(len(found.unexplained), 'document')} that no label explains"
        blocks += [Heading(title), Note(shown, "quiet")]
    if found.alike:
        rows = [[one.first, one.second, one.reason] for one in found.alike[:limit]]
        columns = [Column("label"), Column("and"), Column("why")]
        blocks += [Heading("Labels that may be one"), Table(columns, rows), *_more(len(found.alike), limit, "pair")]
        blocks.append(Note(ONE_LABEL, "quiet"))
    if found.divided:
        rows = [
            [one.label, one.ratio, *(cell for side in (0, 1) for cell in _group(one, side))]
            for one in found.divided[:limit]
        ]
        columns = [
            Column("label"), Column("times chance", "number"), Column("documents", "number"), Column("with terms"),
            Column("and documents", "number"), Column("with these terms"),
        ]  # fmt: skip
        blocks += [Heading("Labels that may be two"), Table(columns, rows), *_more(len(found.divided), limit, "label")]
    return blocks


def _group(one: DividedLabel, side: int) -> list[Cell]:
    return [one.documents[side], ", ".join(one.second if side else one.first)]


def _more(total: int, limit: int | None, noun: str) -> list[Block]:
    left = 0 if limit is None else total - limit
    return [Note(f"{counted(left, 'more ' + noun)}: --rows {total}.", "quiet")] if left > 0 else []


def suggestion_page(found: SuggestionRecord) -> list[Block]:
    """The page of suggested documents."""
    rows: list[list[Cell]] = [
        [one.document, one.value, ", ".join(f"{name} {value:.2f}" for name, value in one.labels), one.text]
        for one in found.documents
    ]
    columns = [Column("document"), Column("value", "number"), Column("probable labels"), Column("text")]
    chosen = counted(len(found.documents), "document")
    return [
        Heading(f"Label next in {found.data}"),
        Note(f"{chosen} of {found.candidates:,} without a label, by a model of {found.labelled:,} labelled ones."),
        Table(columns, rows),
    ]
