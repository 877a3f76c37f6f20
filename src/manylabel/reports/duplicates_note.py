"""What a reader of figures must know of near-duplicates in training and test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from manylabel.reports.page import Block, Note


def straddling_notes(facts: Mapping[str, Any] | None) -> list[Block]:
    """A warning where test documents have near-duplicates in training; a remark where these were left out.

    >>> facts = {"documents": 8, "tested": 3299, "identical": 6, "first": ("14913", "14779"), "dropped": 0}
    >>> print(straddling_notes(facts)[0].text[:92])
    8 of 3,299 test documents are near-duplicates of training documents (6 word for word; first:
    """
    if facts is None:
        return []
    if facts["dropped"]:
        count = facts["dropped"]
        text = f"{count:,} training document{'s' * (count != 1)} that nearly equal a test document were left out."
        return [Note(text.replace("were", "was") if count == 1 else text)]
    if not facts["documents"]:
        return []
    count, (tested, trained) = facts["documents"], facts["first"]
    are = "is a near-duplicate" if count == 1 else "are near-duplicates"
    return [
        Note(
            f"{count:,} of {facts['tested']:,} test documents {are} of training documents "
            f"({facts['identical']:,} word for word; first: {tested} ~ {trained}), so that figures may flatter. "
            "--drop-duplicates leaves these out of training; --split-by duplicates keeps them together in a new split.",
            "warning",
        )
    ]
