"""Update a model file: more documents and other labels, without training again; the record of what changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.label_changes import LabelChanges
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.evaluation.training_documents import MOST, count_seen, kept_hashes
from manylabel.exceptions import ParameterError, UnknownNameError
from manylabel.modelfile import open_model
from manylabel.reports.records import UpdateReport
from manylabel.tasks.choices import report_unlabelled
from manylabel.tasks.corpora import Source, documents_of, load_source, split_of
from manylabel.tasks.model_facts import ModelFacts, stored_facts
from manylabel.wording import counted, setting_name

ENOUGH = 0.95
"""The share of the training documents that former documents should have at least."""


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """The labels to change, as a command line gives them."""

    assignments: Sequence[tuple[str, str]] = ()
    """Kinds of changes, each with OLD=NEW or, to retire it, the label."""
    changes: Path | None = None
    """A file of changes, see `LabelChanges.read`."""
    add: Sequence[str] = ()
    """Names that an earlier update changed, and that are to be labels again."""

    def of(self, classifier: TextClassifier) -> LabelChanges:
        """The changes of labels of a classifier, which are given by name or by address (URI)."""
        pairs = [] if self.changes is None else LabelChanges.read(self.changes)
        pairs += [_pair(*one, classifier) for one in self.assignments]
        return LabelChanges.of_pairs(
            (kind, classifier.own_label(label), classifier.own_label(new) if kind == "merge" else new)
            for kind, label, new in pairs
        )


def update(
    path: Path,
    source: Source | None,
    output: Path,
    *,
    former: Source | None = None,
    labels: LabelOptions,
    only_new_labels: bool = False,
    split: str | None = None,
    n_jobs: int | None = None,
) -> UpdateReport:
    """Update a model with the documents of `source` and changes of labels, and write it to `output`.

    `former` are the documents of the training, for methods that need them; of both the training split is used, or that
    of the name `split`.
    """
    classifier = TextClassifier.load(path).use_threads(n_jobs)
    facts, before = stored_facts(open_model(path)), len(classifier.labels_)
    wanted = labels.of(classifier)
    new, skipped = _read(source, classifier, split)
    earlier, skipped_too = _read(former, classifier, split)
    classifier.update(
        None if new is None else documents_of(new),
        None if new is None else new.label_sets,
        former=None if earlier is None else (documents_of(earlier), earlier.label_sets),
        only_new_labels=only_new_labels,
        rename=wanted.rename,
        merge=wanted.merge,
        split=wanted.split,
        retire=wanted.retire,
        add=labels.add,
    )
    classifier.vocabulary_ = _vocabulary(classifier, new, earlier)
    classifier.save(output, _facts_after(facts, new, classifier.n_documents_))
    return UpdateReport(
        model=str(path),
        written=str(output),
        method=classifier.recipe.method,
        labels_before=before,
        labels=len(classifier.labels_),
        update=classifier.updates_[-1],
        remark=" ".join(_remarks(new, earlier, facts)) or None,
        skipped=[*skipped, *skipped_too],
    )


def _read(source: Source | None, classifier: TextClassifier, split: str | None) -> tuple[Corpus | None, list[str]]:
    """The documents of a source, read and named as those of the training, and the lines that were skipped."""
    if source is None:
        return None, []
    reading = load_source(source, classifier)
    chosen = split_of(reading.corpus, split, "train")
    report_unlabelled(chosen, source.data)
    return chosen, [str(problem) for problem in reading.skipped]


def _vocabulary(classifier: TextClassifier, *corpora: Corpus | None) -> dict[str, Any] | None:
    """The vocabulary of the model, with the addresses and names that the documents give its new labels."""
    found = classifier.vocabulary
    for corpus in corpora:
        more: LabelVocabulary | None = None if corpus is None else corpus.vocabulary
        if more is not None:
            found = more if found is None else found.joined(more)
    return None if found is None else found.as_dict()


def _facts_after(facts: ModelFacts, new: Corpus | None, n_documents: int) -> dict[str, Any]:
    """What the model file keeps of its documents: those of the training and the new ones."""
    kept: dict[str, Any] = {name: value for name, value in facts.items() if name != "recipe"}
    if new is None:
        return kept
    kept.pop("train_sha256", None)  # it is the fingerprint of the former documents alone
    if "training_hashes" in kept:
        added = kept_hashes(documents_of(new))
        kept["training_hashes"] = np.union1d(kept["training_hashes"], added)[:MOST]
    return kept | {"documents": n_documents, "unlabelled": kept.get("unlabelled", 0) + _unlabelled(new)}


def _unlabelled(corpus: Corpus) -> int:
    return sum(not names for names in corpus.label_sets)


def _remarks(new: Corpus | None, former: Corpus | None, facts: ModelFacts) -> list[str]:
    """Sentences where new documents were in the training, and where documents of it are not among the former ones."""
    hashes, found = facts.get("training_hashes"), list[str]()
    if hashes is None or not len(hashes):
        return found
    seen = 0 if new is None else count_seen(documents_of(new), hashes).seen
    if seen and new is not None:
        found.append(
            f"The model was trained on {seen:,} of the {counted(len(new), 'new document')}. They count twice, with "
            "their former labels and with the new ones, and the figures before are too high. To learn corrected "
            "labels, train again with manylabel train."
        )
    share = 1.0 if former is None else count_seen(documents_of(former), hashes).seen / len(hashes)
    if former is not None and share < ENOUGH:
        among = counted(len(former), "former document")
        found.append(
            f"Of the documents of the training, {100 * share:.0f} % are among the {among}: "
            "what the others taught is lost where labels were learned again."
        )
    return found


def _pair(kind: str, assignment: str, classifier: TextClassifier) -> tuple[str, str, str]:
    """The change of an ``OLD=NEW`` assignment, divided where what stands before the sign is a label."""
    if kind == "retire":
        return kind, assignment, ""
    pieces = assignment.split("=")
    for count in range(1, len(pieces)):
        label, new = "=".join(pieces[:count]).strip(), "=".join(pieces[count:]).strip()
        if classifier.own_label(label) in classifier.labels_ and new:
            return kind, label, new
    if len(pieces) == 1 or not pieces[-1].strip():
        option = setting_name("split_label" if kind == "split" else kind)
        raise ParameterError(f"{option} takes OLD=NEW, for example 'roads=streets', not {assignment!r}.")
    raise UnknownNameError("label", pieces[0].strip(), classifier.labels_)
