"""Parametric mixture models."""

from __future__ import annotations

from manylabel.catalog.method import UEDA, Method

ROWS = (
    Method(
        "pmm1",
        "Parametric mixture model 1: words of several labels mix evenly; greedy search for the label set",
        "manylabel.models.pmm1:PMM1",
        UEDA,
    ),
    Method(
        "pmm2",
        "Parametric mixture model 2: words of several labels mix pair by pair; greedy search for the label set",
        "manylabel.models.pmm2:PMM2",
        UEDA,
    ),
    Method(
        "pmm",
        "Parametric mixture model 1 on documents of equal length, one learned threshold, never without a label",
        "manylabel.models.pmm1:PMM1",
        "manylabel",
        settings={"equal_lengths": True},
        decision="global",
        decision_settings={"fallback": "argmax"},
    ),
)
