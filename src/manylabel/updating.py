"""Changing a fitted `TextClassifier`: more documents, other labels; and the record of every change."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from manylabel.data.documents import strings
from manylabel.data.label_changes import LabelChanges, names_since
from manylabel.data.label_forms import KINDS, MATRIX_FORMS, check_same_length, read_labels
from manylabel.data.labels import label_sets
from manylabel.estimator import Csr, unfitted_copy
from manylabel.exceptions import ParameterError, UnknownNameError, UnsupportedError
from manylabel.features.pipeline import Documents
from manylabel.features.scripts import without_markup
from manylabel.features.vectorize import Vectorizer
from manylabel.models.inputs import AdditiveModel
from manylabel.parameters import names_given
from manylabel.predicting import TextPredictor
from manylabel.recipe import Recipe
from manylabel.wording import counted

if TYPE_CHECKING:  # predicting starts faster without what only an update needs
    from manylabel.decisions.updated import Updated
    from manylabel.update_plan import LabelledX, UpdatePlan


class TextUpdater(TextPredictor):
    """The updating part of `TextClassifier`."""

    seed: int

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

    def update(
        self,
        documents: Documents | None = None,
        y: Any = None,
        *,
        former: tuple[Documents, Any] | None = None,
        only_new_labels: bool = False,
        rename: Mapping[str, str] | None = None,
        merge: Mapping[str, str] | None = None,
        split: Mapping[str, Sequence[str]] | None = None,
        retire: Sequence[str] = (),
        add: Sequence[str] = (),
    ) -> Self:
        """Learn from more documents and change labels, without training again.

        `rename` gives labels other names and `retire` drops labels; this needs no documents. All other labels keep
        their scores and thresholds to the bit; posteriors of naive Bayes are scaled to the sum 1 again. `merge` maps
        labels to the one that their documents get instead, `split` a label to its parts, which the documents name.

        `documents` with labels `y` are learned as the method allows. Models of counts (naive Bayes, Rocchio) add them
        up: the result is that of learning from all documents with the same terms. Methods that learn each label by
        itself (`auto`, `svm`, `logistic`, `mnb-vw`) need the documents of the training too, as `former`, a pair of
        documents and labels: they start from the former solution, and learn thresholds and probabilities again. With
        `only_new_labels`, or without `former`, they learn new labels alone, and the others keep their scores to the
        bit. Without `former`, the new documents are the only negatives of a new label. Methods that learn all
        labels together are refused with an `UnsupportedError`.

        Names in `y` that an earlier update renamed, merged or retired are read as what it made of them, unless they
        are among `add`: then they are labels again. Terms and their weights stay those of the training. `updates_`
        keeps a record, with the quality on the new documents before and after.

        >>> from manylabel import TextClassifier
        >>> texts = ["the bus was late again", "a hole in the road", "no bus, and holes in the road", "late bus"]
        >>> model = TextClassifier("nb-binary").fit(texts, [["buses"], ["roads"], ["buses", "roads"], ["buses"]])
        >>> more = ["the late road", "the road has a hole"]
        >>> model.update(more, [["streets", "delays"], ["streets"]], rename={"roads": "streets"}).labels_
        ['buses', 'streets', 'delays']
        >>> model.update(retire=["buses"]).predict(["a hole in the road"])
        [['streets']]
        """
        from manylabel.update_plan import UpdatePlan

        began = time.perf_counter()
        self.check_fitted()
        changes = LabelChanges(rename or {}, merge or {}, split or {}, names_given("retire", retire))
        changes.check(self.labels_)
        became = self._names_since(changes, names_given("add", add))
        given = None if documents is None else self._labelled(documents, y, changes, became)
        earlier = None if former is None else self._labelled(*former, changes, became)
        plan = UpdatePlan.of(
            self.decided_, self.labels_, changes, given, earlier, only_new_labels, Recipe.from_dict(self.recipe_).method
        )
        self._check_names(plan.labels)
        before = None if given is None else self._decided_before(plan, given)
        done, unseen = plan.carried_out()
        record = plan.record() | self._figures(plan, done, before)
        if documents is not None:
            record["notes"] += unknown_terms_notes(self.features_.vectorizer_, self._read(documents))
        self._take_over(plan, done, unseen)
        self.updates_ = [*self.updates_, {**record, "seconds": time.perf_counter() - began}]
        self.forget_short_way()
        return self

    def _names_since(self, changes: LabelChanges, add: Sequence[str]) -> dict[str, str]:
        """What earlier updates made of names that are no labels now, without those that this update makes labels."""
        became = names_since(self.updates_, [*self.labels_, *changes.rename.values(), *changes.learned_anew])
        for name in add:
            if name not in became:
                raise UnknownNameError("label that an earlier update changed", name, list(became))
        return {name: label for name, label in became.items() if name not in add}

    def _labelled(self, documents: Documents, y: Any, changes: LabelChanges, became: Mapping[str, str]) -> LabelledX:
        """Documents as the model reads them, with their label sets after earlier changes and these."""
        from manylabel.update_plan import LabelledX

        read = self._read(documents)
        given = read_labels(y, self.labels_ if self.label_form_ in MATRIX_FORMS else None)
        check_same_length(read, given.Y)
        found = {name: label for name, label in became.items() if name in given.names}
        retired = [name for name, label in found.items() if not label]
        names = LabelChanges(merge={name: label for name, label in found.items() if label}, retire=retired)
        sets = changes.applied(names.applied(label_sets(given.Y, given.names)))
        return LabelledX(self.features_.transform(read), sets, found)

    def _decided_before(self, plan: UpdatePlan, given: LabelledX) -> Csr:
        """What the model predicts for new documents before it learns from them, under the labels after the update."""
        found = self.decided_.predict(given.X)
        predicted = Csr(Csr(found).astype(np.int64) @ plan.became())
        predicted.data[:] = 1
        return predicted

    def _figures(self, plan: UpdatePlan, done: Updated, before: Csr | None) -> dict[str, Any]:
        """The quality on new documents before and after, of the labels that were known before and of all."""
        from manylabel.evaluation.expected import expected_quality

        if before is None or plan.given is None:
            return {"before": None, "after": None, "after_all": None, "labels": []}
        Y = plan.matrix(plan.given)
        after, rows = plan.decided_after(done)
        metrics = self.decided_.chosen_metrics
        known = np.arange(len(plan.columns))

        def quality(Y_true: Csr, Y_pred: Csr) -> Any:
            return expected_quality(Y_true, Y_pred, metrics, self.seed) if Y_true.shape[1] else None

        return {
            "before": quality(Csr(Y[:, known]), Csr(before[:, known])),
            "after": None if after is None else quality(Csr(Y[rows][:, known]), Csr(after[:, known])),
            "after_all": None if after is None else quality(Csr(Y[rows]), after),
            "labels": plan.label_rows(Y, before, None if after is None else (after, rows)),
        }

    def _take_over(self, plan: UpdatePlan, done: Updated, unseen: tuple[Csr, Csr] | None) -> None:
        """Set what the update learned, and the names, numbers and expected quality that follow from it."""
        from manylabel.evaluation.expected import expected_quality

        metrics = self.decided_.chosen_metrics
        renamed_alone = plan.way == "names" and len(plan.columns) == len(self.labels_)
        self.decided_ = done.decided
        if not renamed_alone:  # otherwise it was measured on the same labels
            self.expected_ = None if unseen is None else expected_quality(*unseen, metrics, self.seed)
        self.label_counts_, self.n_documents_ = plan.counts(self.label_counts_, self.n_documents_)
        self._rename({old: new for old, new in plan.kept.items() if old != new})
        self.labels_ = plan.labels

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

    def _rename(self, names: Mapping[str, str]) -> None:
        """Give nodes of the hierarchy, names of the vocabulary and described labels their new names."""
        if self.descriptions_ is not None:
            self.descriptions_ = {names.get(label, label): text for label, text in self.descriptions_.items()}
        if self.nodes_ is not None:
            self.nodes_ = [names.get(node, node) for node in self.nodes_]
        if (vocabulary := self.vocabulary) is not None:
            renamed = {
                language: {address: names.get(name, name) for address, name in by_address.items()}
                for language, by_address in vocabulary.names.items()
            }
            self.vocabulary_ = replace(vocabulary, names=renamed).as_dict()


def unknown_terms_notes(known: Vectorizer | None, documents: Documents) -> list[str]:
    """A sentence on terms of new texts that a model does not know; none where there are none, or they are hashed."""
    if known is None or known.n_hashes is not None or isinstance(documents, Csr):
        return []
    texts = strings(documents, None if known.fields is None else tuple(known.fields))
    terms = set(
        known.analysis_.terms([without_markup(text) for text in texts] if known.strips_markup_ else texts).names
    )
    if not (unknown := terms - known.vocabulary_.keys()):
        return []
    return [
        f"{len(unknown):,} of the {counted(len(terms), 'different term')} of the new documents are unknown to the "
        "model, and an update learns no terms: labels whose documents differ in these alone are not learned. Training "
        "again learns them (manylabel train)."
    ]


def check_additive(recipe: Recipe) -> None:
    """Raise an error unless batches of a corpus add up."""
    if not recipe.build().is_additive or recipe.read_rules() is not None:
        raise UnsupportedError(
            f"{recipe.method} with the rule {recipe.decision['rule']!r} cannot learn in batches. Use a model of "
            "counts with a decision rule that learns nothing, for example nb-binary, or use fit."
        )
