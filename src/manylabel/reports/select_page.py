"""The page of a selection: the best terms side by side, one column a function."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from manylabel.features.term_scores import FUNCTIONS
from manylabel.reports.page import Block, Cell, Column, Heading, Note, Table

AGAINST = "¬"


def select_page(facts: Mapping[str, Any]) -> list[Block]:
    """The best terms of each label, or of all labels together; `facts` is the task's record as plain data."""
    functions: Sequence[str] = facts["functions"]
    blocks: list[Block] = [
        Note(
            f"{facts['data']}: {facts['documents']:,} documents, {facts['labels']:,} labels, {facts['terms']:,} terms."
        )
    ]
    for entry in facts["found"]:
        title = entry["label"] if entry["label"] is not None else "All labels together"
        blocks.append(Heading(f"{title} ({entry['documents']:,} documents)"))
        blocks.append(_table(entry["best"], functions, facts["combine"]))
    blocks.append(Note(_legend(facts), "quiet"))
    return blocks


def _table(
    best: Mapping[str, Sequence[Mapping[str, Any]]], functions: Sequence[str], combine: Mapping[str, str]
) -> Table:
    columns = [Column("", "count")]
    for name in functions:
        columns += [Column(f"{name} ({combine[name]})" if name in combine else name), Column("", "number")]
    rows: list[list[Cell]] = []
    for place in range(max(len(best[name]) for name in functions)):
        row: list[Cell] = [place + 1]
        for name in functions:
            found = best[name][place] if place < len(best[name]) else None
            row += ["", ""] if found is None else [_name(found), _score(found["score"])]
        rows.append(row)
    return Table(columns, rows)


def _name(found: Mapping[str, Any]) -> str:
    return f"{AGAINST}{found['term']}" if found["against"] else str(found["term"])


def _score(score: float) -> str:
    if math.isinf(score):
        return "∞" if score > 0 else "−∞"
    return f"{score:.4g}"


def _legend(facts: Mapping[str, Any]) -> str:
    parts = ["; ".join(f"{name}: {FUNCTIONS[name].title}" for name in facts["functions"]) + "."]
    if facts["eps"] and (corrected := [name for name in ("mi", "or") if name in facts["functions"]]):
        parts.append(f"{facts['eps']:g} is added to each cell for {' and '.join(corrected)} (--eps).")
    if any(term["against"] for entry in facts["found"] for terms in entry["best"].values() for term in terms):
        parts.append(
            f"{AGAINST} marks a term that speaks against the label; df, ig and chi2 do not tell the difference."
        )
    if facts["min_df"] > 1:
        parts.append(f"Terms of fewer than {facts['min_df']} documents are left out (--min-df).")
    parts.append("Equal scores stand in the order of the alphabet.")
    return " ".join(parts)
