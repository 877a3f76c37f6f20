"""Each founding document's experiments: its numbers as data, ours computed, both shown side by side.

A paper is a module with a function and a list: `jobs(plan)` lists the work in pieces that can be interrupted, `STUDIES`
are the experiments, each of which reads the outcomes of its jobs. This table is the only list of papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from manylabel.exceptions import UnknownNameError
from manylabel.papers.jobs import Job, Plan, Study

PAPERS = {
    "vilar2004": "Vilar, Castro & Sanchis 2004: Multi-label text classification using multinomial models",
    "godbole2004": "Godbole & Sarawagi 2004: Discriminative methods for multi-labeled classification",
    "ueda2002": "Ueda & Saito 2002: Parametric mixture models for multi-labeled text",
    "lee2018": "Lee 2018: Multi-label classification of documents using fine-grained weights and modified co-training",
    "lecture": "A lecture on text classification after Manning, Raghavan & Schütze 2008 and Sebastiani 2002",
    "beyond": "Beyond the papers: the best recipe we have for their data and metrics, chosen on training data only",
}


class Paper(Protocol):
    """The interface of a paper's module."""

    STUDIES: Sequence[Study]
    """The experiments, in the order of the paper."""

    def jobs(self, plan: Plan) -> Sequence[Job]:
        """The jobs of the reproduction, the cheapest first where the order does not matter."""


def find_paper(name: str) -> Paper:
    """The module of a paper; the error about an unknown name suggests the nearest one."""
    if name not in PAPERS:
        raise UnknownNameError("paper", name, [*PAPERS, "all"])
    return cast(Paper, import_module(f"manylabel.papers.{name}"))
