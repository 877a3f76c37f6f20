"""Sentences on what a model knows its labels from, besides documents that people labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from manylabel.wording import counted


def described_text(labels: Sequence[str], of: int) -> str:
    """A sentence on the labels that a model knows from their descriptions only.

    >>> print(described_text(["roads"], 3))
    1 of 3 labels (roads) is known from its description only: no training document has it, and its probability is rough.
    """
    some = ", ".join(labels[:3]) + (" …" if len(labels) > 3 else "")
    if len(labels) == 1:
        rest = "is known from its description only: no training document has it, and its probability is rough."
    else:
        rest = (
            "are known from their descriptions only: no training document has them, and their probabilities are rough."
        )
    return f"{len(labels):,} of {counted(of, 'label')} ({some}) {rest}"


def program_text(facts: Mapping[str, Any]) -> str:
    """A sentence on the labels that a program made; empty where people made all of them.

    >>> program_text({"documents": 30, "program": "llm.jsonl", "program_documents": 20})
    'A program made the labels of 20 of the 30 training documents (llm.jsonl). The quality is that on the other ones.'
    """
    if "program" not in facts:
        return ""
    made, total = facts.get("program_documents", 0), facts.get("documents", 0)
    quality = "The quality is that on the other ones." if made < total else "The quality was not measured."
    return f"A program made the labels of {made:,} of the {total:,} training documents ({facts['program']}). {quality}"
