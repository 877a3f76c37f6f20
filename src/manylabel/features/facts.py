"""What may be known about a corpus besides X and Y, and which of it a model can ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Ints


class Facts(TypedDict, total=False):
    """Facts about the corpus, besides X and Y: a model's `fit` gets those that it names in `wants`."""

    deadline: Deadline
    """A limit of time, checked while the model learns."""
    counts_of_counts: Mapping[int, int]
    """How many terms occur r times, counted before rare terms were pruned."""
    rule_labels: Ints
    """The label of each hand-written keyword rule, whose hits are the last columns of X."""
    rule_words: Csr
    """Rules × words: which words of the vocabulary speak for each of these rules."""
    parents: Ints
    """For each label the column of its parent in the label hierarchy, −1 for a root; groups that are no labels
    themselves follow behind the labels."""


FACTS: frozenset[str] = Facts.__optional_keys__
"""The names of all facts."""
