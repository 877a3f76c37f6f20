"""What an update of a model has to learn: the labels before and after, and the way in which the method allows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse

from manylabel.data.label_changes import LabelChanges
from manylabel.data.labels import label_matrix
from manylabel.decisions.corrected import CorrectedThresholds
from manylabel.decisions.decided import DecidedModel
from manylabel.decisions.updated import Documents, Updated, relearned, with_counts_added, with_new_labels
from manylabel.estimator import Csr, Ints
from manylabel.exceptions import DataError, ParameterError, UnsupportedError
from manylabel.strategies.described import DescribedLabels
from manylabel.wording import counted, setting_name

Way = Literal["names", "counts", "all", "new"]
WAYS: Mapping[Way, str] = {
    "names": "names and columns",
    "counts": "counts added",
    "all": "all labels learned again",
    "new": "new labels learned alone",
}
LISTED = 50
"""How many labels a record lists with their figures."""
NAMED = 10
"""How many names a sentence lists."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledX:
    """Documents × terms, and the label sets of the documents under the names after the update."""

    X: Csr
    label_sets: list[list[str]]
    became: Mapping[str, str] = field(default_factory=dict)
    """What the names that earlier updates changed were read as; empty where a label was left out."""


@dataclass(frozen=True, slots=True, eq=False)
class UpdatePlan:
    """The labels that stay, in their old order, then those that are learned anew; and how they are learned."""

    decided: DecidedModel
    old: Sequence[str]
    changes: LabelChanges
    kept: Mapping[str, str]
    """The new name of each label that stays, by its old name."""
    new: Sequence[str]
    way: Way
    given: LabelledX | None
    former: LabelledX | None

    @classmethod
    def of(
        cls,
        decided: DecidedModel,
        old: Sequence[str],
        changes: LabelChanges,
        given: LabelledX | None,
        former: LabelledX | None,
        only_new: bool,
        method: str,
    ) -> Self:
        """The plan of an update; an error where the method does not allow it."""
        kept = changes.kept(old)
        seen = {name for one in (given, former) if one is not None for names in one.label_sets for name in names}
        new = list(dict.fromkeys([*changes.learned_anew, *sorted(seen - set(kept.values()))]))
        if given is None and former is None and not new:
            if not changes:
                raise ParameterError("Nothing to update: give documents, or labels to rename, merge, split or retire.")
            way: Way = "names"
        else:
            way = _way(decided, method, bool(new), given is not None, former is not None, only_new)
        plan = cls(decided, old, changes, kept, new, way, given, former)
        plan._check(seen)
        return plan

    def _check(self, seen: set[str]) -> None:
        """Raise an error where the rule or the documents do not allow the plan."""
        rule = self.decided.rule_
        if rule is not None and rule.held_out_share and (self.way != "names" or len(self.kept) < len(self.old)):
            raise UnsupportedError(
                "The guarantee of this model was measured with all its labels and documents, so that an update would "
                "void it. Train again."
            )
        if self.new and self.way in ("counts", "new") and rule is not None and not rule.decides_apart:
            raise UnsupportedError(
                "The rule of this model chooses among label sets seen in training, so that no label can be added to "
                f"it. Give the documents of the training too ({setting_name('former')}), so that it is learned again."
            )
        without = [label for label in self.new if label not in seen]
        if without and (self.way != "counts" or self.decided.learns_out_of_fold):
            raise DataError(
                f"The label {without[0]!r} is to be learned, but none of the documents has it.",
                remedy=f"Give documents with the label (former documents: {setting_name('former')}).",
            )
        for label, parts in self.changes.split.items():
            if missing := [part for part in parts if part not in seen]:
                raise DataError(
                    f"The label {label!r} is split, but no document has its part {missing[0]!r}.",
                    remedy="Label documents with it.",
                )

    # --- labels -------------------------------------------------------------------------------------------

    @property
    def labels(self) -> list[str]:
        """The names of all labels after the update, in the order of the columns."""
        return [*self.kept.values(), *self.new]

    @property
    def columns(self) -> Ints:
        """The old columns of the labels that stay."""
        places = {label: column for column, label in enumerate(self.old)}
        return np.array([places[label] for label in self.kept], dtype=np.int64)

    def became(self) -> Csr:
        """Old labels × labels after the update, 1 where a label became another one, or stayed itself."""
        new = {**self.kept, **self.changes.merge}
        new |= {label: label for label in self.changes.merge.values() if label in self.old}
        places = {label: column for column, label in enumerate(self.labels)}
        pairs = [(row, places[new[label]]) for row, label in enumerate(self.old) if label in new]
        rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return Csr((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(len(self.old), len(self.labels)))

    def matrix(self, given: LabelledX) -> Csr:
        """Documents × labels after the update."""
        return label_matrix(given.label_sets, self.labels)

    def counts(self, label_counts: Ints, n_documents: int) -> tuple[Ints, int]:
        """The documents of each label and of all labels together, from those before the update."""
        own = np.asarray(self.became().T @ label_counts, dtype=np.int64)
        fresh, size = np.zeros_like(own), 0
        for one in (self.former, self.given):
            if one is not None:
                fresh += np.asarray(self.matrix(one).sum(axis=0), dtype=np.int64).ravel()
                size += one.X.shape[0]
        if self.way == "all":
            return fresh, size
        added = 0 if self.given is None else self.given.X.shape[0]
        is_new = np.arange(len(own)) >= len(self.kept)
        return (own + fresh if self.way == "counts" else np.where(is_new, fresh, own)), n_documents + added

    # --- learning -----------------------------------------------------------------------------------------

    def carried_out(self) -> tuple[Updated, tuple[Csr, Csr] | None]:
        """The updated model, and the true and predicted labels of documents that neither it nor its rule saw."""
        unseen: list[tuple[Csr, Csr]] = []
        if self.way == "names":
            return Updated(self._kept_alone()), None
        if self.way == "counts":
            given = None if self.given is None else Documents(self.given.X, self.matrix(self.given))
            groups = self._groups()
            return with_counts_added(self.decided, given, groups, self.columns, len(self.labels)), None
        documents = self._all_documents()
        if self.way == "new":
            return with_new_labels(self.decided, documents, self.columns), None
        columns = np.concatenate([self.columns, np.full(len(self.new), -1)])
        done = relearned(self.decided, documents, columns, lambda *found: unseen.append(found))
        return done, unseen[0] if unseen else None

    def _kept_alone(self) -> DecidedModel:
        return self.decided if len(self.columns) == len(self.old) else self.decided.of_labels(self.columns)

    def _groups(self) -> Csr:
        """The labels that stay, the new ones with what is merged into them, and behind them those that are retired."""
        became = self.became()
        retired = np.flatnonzero(np.diff(became.indptr) == 0)
        rest = Csr(
            (np.ones(len(retired), dtype=np.int64), retired, np.arange(len(retired) + 1)), (len(retired), len(self.old))
        )
        return Csr(sparse.vstack([became.T, rest], format="csr"))

    def _all_documents(self) -> Documents:
        """Former documents, then new ones."""
        parts = [one for one in (self.former, self.given) if one is not None]
        X = Csr(sparse.vstack([one.X for one in parts], format="csr"))
        return Documents(X, Csr(sparse.vstack([self.matrix(one) for one in parts], format="csr")))

    # --- the record ---------------------------------------------------------------------------------------

    def decided_after(self, done: Updated) -> tuple[Csr | None, Ints]:
        """The labels of new documents by copies of the updated model that did not see them, and the documents."""
        if done.scores is None or done.rows is None or self.given is None:
            return None, np.zeros(0, dtype=np.int64)
        first = 0 if self.former is None or self.way == "counts" else self.former.X.shape[0]
        chosen = np.flatnonzero(done.rows >= first)
        rows = done.rows[chosen] - first
        X = Csr(self.given.X[rows])
        return done.decided.decide(X, done.scores[chosen]), rows

    def label_rows(self, Y: Csr, before: Csr, after: tuple[Csr, Ints] | None) -> list[dict[str, Any]]:
        """F1 of labels on the new documents before and after, those that changed most first."""
        old = _f1(Y, before)
        new = np.full(len(self.labels), np.nan) if after is None else _f1(Csr(Y[after[1]]), after[0])
        documents = np.asarray(Y.sum(axis=0)).ravel()
        order = np.argsort(-np.abs(np.nan_to_num(new) - np.nan_to_num(old)), kind="stable")
        return [
            {
                "label": self.labels[label],
                "documents": int(documents[label]),
                "before": None if label >= len(self.kept) or np.isnan(old[label]) else float(old[label]),
                "after": None if np.isnan(new[label]) else float(new[label]),
            }
            for label in order.tolist()
            if documents[label]
        ][:LISTED]

    def record(self) -> dict[str, Any]:
        """What the model keeps of the update, without figures."""
        changes = self.changes.as_dict()
        made = set(self.changes.learned_anew)
        learned = {"names": 0, "counts": len(self.labels), "all": len(self.labels), "new": len(self.new)}[self.way]
        return {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "way": WAYS[self.way],
            "documents": 0 if self.given is None else self.given.X.shape[0],
            "former_documents": 0 if self.former is None else self.former.X.shape[0],
            "added": [label for label in self.new if label not in made],
            "renamed": changes["rename"],
            "merged": changes["merge"],
            "split": changes["split"],
            "retired": changes["retire"],
            "learned": learned,
            "kept": len(self.labels) - learned,
            "notes": [*self._notes(), *self._earlier_names()],
        }

    def _earlier_names(self) -> list[str]:
        """A sentence on names of the documents that earlier updates changed."""
        found = {
            name: label for one in (self.former, self.given) if one is not None for name, label in one.became.items()
        }
        if not found:
            return []
        read = [f"{name} as {label}" if label else f"{name} as no label" for name, label in sorted(found.items())]
        more = f" and {len(read) - NAMED:,} more" if len(read) > NAMED else ""
        return [
            f"Names that earlier updates changed were read as these updates say: {', '.join(read[:NAMED])}{more}. To "
            f"make one of them a label again, use {setting_name('add')}."
        ]

    def _notes(self) -> list[str]:
        """What was learned and what was kept, in sentences."""
        if self.way == "names":
            return []
        learns, rule = self.decided.learns_out_of_fold, self.decided.rule_
        if self.way == "counts":
            notes = ["The counts of the new documents were added: the model is that of all documents."]
            if self.given is None:
                notes = ["The counts of merged labels were added."]
            if self.changes.merge:
                notes.append("A document with several of the merged labels counts once for each.")
            if learns:
                kept = "Thresholds and probabilities of known labels were kept"
                notes.append(
                    f"{kept}; those of new labels were learned on the new documents." if self.new else f"{kept}."
                )
            return notes
        if self.way == "all":
            notes = ["All labels were learned from the former and the new documents, from the former solution on."]
            if learns:
                notes.append("Thresholds and probabilities were learned again on out-of-fold scores.")
            if isinstance(rule, CorrectedThresholds):
                notes.append("Thresholds that were set by hand were learned again too.")
            return notes
        notes = [
            f"{counted(len(self.new), 'label was', 'labels were')} learned; all others keep scores and thresholds."
        ]
        if self.former is None:
            notes.append(
                "The new documents were the only ones without the new labels that these learned from, so that they may "
                f"be predicted too often. Give the documents of the training too ({setting_name('former')})."
            )
        return notes


def _way(decided: DecidedModel, method: str, has_new: bool, has_given: bool, has_former: bool, only_new: bool) -> Way:
    """How a method learns; an error that says what it needs."""
    counts = decided.model_.counts_labels
    apart = decided.model_.independent_labels and not counts
    if counts and not has_former:
        return "counts"
    if not counts and not apart:
        described = " with label descriptions" if isinstance(decided.model_, DescribedLabels) else ""
        raise UnsupportedError(
            f"{method}{described} learns all labels together, so that it can only rename and retire labels. For more "
            "documents or other labels, train again."
        )
    if has_former and not only_new:
        return "all"
    if not apart:
        raise UnsupportedError(
            f"{method} adds up counts, and needs no former documents for new labels. Leave "
            f"{setting_name('former')} and {setting_name('only_new_labels')} out."
        )
    if has_new and (has_given or has_former):
        return "new"
    if has_new:
        raise DataError(
            f"{method} learns merged and split labels from documents, but none were given.",
            remedy=f"Give the documents of the training ({setting_name('former')}).",
        )
    if has_former:  # and only new labels are to be learned
        raise DataError(
            "The new documents have no new label, so that there is nothing to learn.",
            remedy=f"Leave out {setting_name('only_new_labels')}.",
        )
    raise UnsupportedError(
        f"{method} cannot learn known labels from new documents alone. Give the documents of the training too "
        f"({setting_name('former')}), or train again."
    )


def _f1(Y_true: Csr, Y_pred: Csr) -> Any:
    """F1 of each label; NaN where it neither occurs nor is predicted."""
    right = np.asarray(Y_true.multiply(Y_pred).sum(axis=0), dtype=np.float64).ravel()
    size = np.asarray(Y_true.sum(axis=0) + Y_pred.sum(axis=0), dtype=np.float64).ravel()
    return np.where(size > 0, 2 * right / np.maximum(size, 1), np.nan)
