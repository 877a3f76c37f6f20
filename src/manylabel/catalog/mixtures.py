"""Parametric mixture models."""

from __future__ import annotations

from manylabel.catalog.method import UEDA, Cost, Method
from manylabel.catalog.ranges import FALLBACK, FEWER_TERMS, WORDS, Choice, Search, Uniform

_MIXTURE: Search = {"model.xi": Uniform(1, 3), "model.prior": Choice(None, "labels", "sizes", "labels and sizes")}

ROWS = (
    Method(
        "pmm1",
        "Parametric mixture model 1: words of several labels mix evenly; greedy search for the label set",
        "manylabel.models.pmm1:PMM1",
        UEDA,
        cost=Cost(cells=0.25, work=1),
        search={**WORDS, **FEWER_TERMS, **_MIXTURE},
    ),
    Method(
        "pmm2",
        "Parametric mixture model 2: words of several labels mix pair by pair; greedy search for the label set",
        "manylabel.models.pmm2:PMM2",
        UEDA,
        cost=Cost(cells=0.03, work=3.7),
        search={**WORDS, **FEWER_TERMS, **_MIXTURE, "model.zeta": Uniform(1, 3)},
    ),
    Method(
        "pmm",
        "Parametric mixture model 1 on documents of equal length, one learned threshold, never without a label",
        "manylabel.models.pmm1:PMM1",
        "manylabel",
        cost=Cost(cells=0.16, work=1.4),
        settings={"equal_lengths": True},
        decision="global",
        decision_settings={"fallback": "argmax"},
        search={**WORDS, **FEWER_TERMS, **_MIXTURE, **FALLBACK},
    ),
)
