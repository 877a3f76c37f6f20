"""What may be known about a corpus besides X and Y, and which of it a model can ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Floats, Ints

if TYPE_CHECKING:
    from manylabel.features.views import OfferedViews


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
    descriptions: Csr
    """Labels × terms: what describes each label, as the features read it."""
    name_terms: Csr
    """Labels × terms: the words of each label's name, as the features read them."""
    label_vectors: Floats
    """Labels × dimensions: the vector of each label's name, of length 1, by the encoder whose vectors X has."""
    parents: Ints
    """For each label the column of its parent in the label hierarchy, −1 for a root; groups that are no labels
    themselves follow behind the labels."""
    views: OfferedViews
    """Further views of the training documents, counted when a model asks for them; where terms are single words that
    are neither selected nor weighed, and no other columns follow them."""


FoldFeatures: TypeAlias = Callable[[Ints, Ints], tuple[Csr, Csr, Facts]]
"""Rows of training and of test documents → X of both, as learned from the training documents, and facts about X."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The result of `FeaturePipeline.fit_transform`: X and further facts about the training documents."""

    X: Csr
    counts: Csr | None
    """The counts before terms were removed; None if none were removed, or if X holds weights instead of counts."""
    facts: Facts
    """Facts about keyword rules and further views for the model."""
    in_folds: FoldFeatures | None
    """Learns selection and weighting anew from some of the documents; None where neither is learned."""
    is_counts: bool = True
    """Whether the documents had no negative values; if they had any, tf and idf were left out."""


FACTS: frozenset[str] = Facts.__optional_keys__
"""The names of all facts."""
