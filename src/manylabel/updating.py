"""Changing a fitted `TextClassifier`: more documents, other labels; and the record of every change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self, cast

import numpy as np

from manylabel.data.label_changes import LabelChanges
from manylabel.data.label_forms import KINDS
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.estimator import Ints
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.models.base import unfitted_copy
from manylabel.models.inputs import AdditiveModel
from manylabel.predicting import TextPredictor
from manylabel.recipe import Recipe
from manylabel.stored import Each, Fields, Mapped, Names, Scalar, Stored, Word, total

UPDATE: Stored = Fields(
    {
        "at": Word(),
        "way": Word(),
        "documents": total(),
        "former_documents": total(),
        "added": Names(None),
        "renamed": Mapped(Word()),
        "merged": Mapped(Word()),
        "split": Mapped(Names(None)),
        "retired": Names(None),
        "learned": total(),
        "kept": total(),
        "notes": Each(Word(), None),
        "seconds": Scalar(),
    }
)
"""What a model keeps of an update, see `UpdateRecord`."""


class TextUpdater(TextPredictor):
    """The updating part of `TextClassifier`."""

    updates_: Sequence[Mapping[str, Any]] = ()
    """The updates since training, the first one first."""

    def merge(self, other: Self) -> Self:
        """A new classifier, the same as one fitted on the documents of both.

        Both must have the same settings, labels and terms, and a method that can learn in batches: see `partial_fit`.
        """
        self.check_fitted()
        check_additive(Recipe.from_dict(self.recipe_))
        other.check_fitted()
        same = self.recipe_ == other.recipe_ and self.labels_ == other.labels_ and self.label_form_ == other.label_form_
        if not same or not self.features_.reads_as(other.features_):
            raise ParameterError(
                "Only classifiers with the same settings, labels, terms and weights can be merged. Fit both with the "
                "same label_names and with hashed terms, for example features={'n_hashes': 2**18}, or use partial_fit."
            )
        model = cast(AdditiveModel, self.decided_.model_).merge(other.decided_.model_)
        decided = unfitted_copy(self.decided_).restore({**self.decided_.learned_state(), "model_": model})
        return unfitted_copy(self).restore(
            {
                **self.learned_state(),
                "decided_": decided,
                "n_documents_": self.n_documents_ + other.n_documents_,
                "label_counts_": self.label_counts_ + other.label_counts_,
            }
        )

    def update(self, *, rename: Mapping[str, str] | None = None, retire: Sequence[str] = ()) -> Self:
        """Rename and retire labels of the fitted classifier.

        Scores, thresholds and everything else of the labels that stay are the same afterwards, to the bit; posteriors
        of naive Bayes are scaled to the sum 1 again. `updates_` keeps a record.

        >>> from manylabel import TextClassifier
        >>> texts = ["the bus was late again", "a hole in the road", "no bus, and holes in the road", "late bus"]
        >>> model = TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses", "roads"], ["buses"]])
        >>> model.update(rename={"roads": "streets"}, retire=["buses"]).labels_
        ['streets']
        """
        self.check_fitted()
        wanted = LabelChanges(rename=rename or {}, retire=retire)
        wanted.check(self.labels_)
        kept = wanted.kept(self.labels_)
        self._check_names(list(kept.values()))
        self._keep_labels(np.array([self.labels_.index(label) for label in kept], dtype=np.int64))
        self._rename(kept)
        self.updates_ = [*self.updates_, _record(wanted, len(kept))]
        self.forget_short_way()
        return self

    def _check_names(self, names: Sequence[str]) -> None:
        """Raise an error for a name that is no label of the type the classifier was fitted with."""
        if self.label_kind_ == "str":
            return
        for name in names:
            try:
                KINDS[self.label_kind_](name)
            except ValueError:
                raise ParameterError(
                    f"The labels of this model are of the type {self.label_kind_}, so {name!r} cannot be one."
                ) from None

    def _keep_labels(self, columns: Ints) -> None:
        """Drop all labels but those of some columns."""
        if len(columns) == len(self.labels_):
            return
        rule = self.decided_.rule_
        if rule is not None and rule.held_out_share:
            raise UnsupportedError(
                "The guarantee of this model holds for all its labels together, so none can be retired. Train again "
                "without the label."
            )
        self.decided_ = self.decided_.of_labels(columns)
        self.labels_ = [self.labels_[column] for column in columns.tolist()]
        self.label_counts_ = self.label_counts_[columns]
        self.expected_ = None  # it was measured on all labels

    def _rename(self, names: Mapping[str, str]) -> None:
        """Give labels, nodes of the hierarchy and names of the vocabulary their new names."""
        self.labels_ = [names[label] for label in self.labels_]
        if self.nodes_ is not None:
            self.nodes_ = [names.get(node, node) for node in self.nodes_]
        if (vocabulary := self.vocabulary) is not None:
            renamed = {
                language: {address: names.get(name, name) for address, name in by_address.items()}
                for language, by_address in vocabulary.names.items()
            }
            self.vocabulary_ = LabelVocabulary(renamed, vocabulary.language, vocabulary.source).as_dict()


def check_additive(recipe: Recipe) -> None:
    """Raise an error unless batches of a corpus add up."""
    if not recipe.build().is_additive or recipe.read_rules() is not None:
        raise UnsupportedError(
            f"{recipe.method} with the rule {recipe.decision['rule']!r} cannot learn in batches. Use a model of "
            "counts with a decision rule that learns nothing, for example nb-binary, or use fit."
        )


def _record(changes: LabelChanges, kept: int) -> dict[str, Any]:
    """What `updates_` keeps of changes that needed no documents."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "way": "names and columns",
        "documents": 0,
        "former_documents": 0,
        "added": [],
        "renamed": dict(changes.rename),
        "merged": {},
        "split": {},
        "retired": list(changes.retire),
        "learned": 0,
        "kept": kept,
        "notes": [],
        "seconds": 0.0,
    }
