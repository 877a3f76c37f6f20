"""What a fitted `TextClassifier` knows: its parts, its labels, and what it keeps of the training documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
import numpy.typing as npt

from manylabel.data.corpus import check_same_columns
from manylabel.data.documents import column_names, frame_columns, is_series
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.label_forms import KINDS, LabelForm, class_values
from manylabel.data.label_vocabulary import STORED_VOCABULARY, LabelVocabulary, addresses_of, bare_address
from manylabel.data.layout import listed
from manylabel.data.reading_options import ReadingOptions
from manylabel.estimator import Ints, Transformer
from manylabel.exceptions import DataError
from manylabel.features.pipeline import FeaturePipeline
from manylabel.notebook import some_names
from manylabel.recipe import Recipe
from manylabel.stored import (
    Each,
    Fields,
    Forest,
    Mapped,
    Maybe,
    Names,
    Part,
    Plain,
    Scalar,
    Sizes,
    Sometimes,
    Stored,
    Word,
    check_state,
    total,
    wholes,
)
from manylabel.wording import counted

if TYPE_CHECKING:
    from manylabel.decisions.decided import DecidedModel
    from manylabel.decisions.guarantee import GuaranteeRecord
    from manylabel.evaluation.expected import ExpectedQuality


EXPECTED: Stored = Fields(
    {
        "documents": total(),
        "figures": Each(
            Fields({"metric": Word(), "title": Word(), "value": Scalar(), "low": Scalar(), "high": Scalar()}), None
        ),
    }
)
"""An `ExpectedQuality` as a model stores it."""
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
"""What a model keeps of an update; besides these fields the quality before and after."""


class TextModel(Transformer):
    """The learned attributes of a `TextClassifier` and the questions that they answer without a document."""

    recipe_: dict[str, Any]
    label_counts_: Ints
    n_documents_: int
    expected_: ExpectedQuality | None = None
    """The quality to expect on new documents, measured out of fold in `fit`; None where nothing is learned there."""
    features_: FeaturePipeline
    decided_: DecidedModel
    labels_: list[str]
    label_form_: LabelForm
    """The form in which labels were passed to `fit`, and in which predictions are returned."""
    label_kind_: str
    """The type of a label: "str", "bool", "int" or "float"; `labels_` holds their names."""
    nodes_: list[str] | None
    """The nodes of the label hierarchy that are labels or above a label; None without a hierarchy."""
    parents_: Ints | None
    """The index of each node's parent in `nodes_`, −1 for a root."""
    vocabulary_: dict[str, Any] | None = None
    """The addresses and names of the labels (`LabelVocabulary.as_dict`); None where no vocabulary named them."""
    descriptions_: dict[str, str] | None = None
    """The text that describes each label; None where none were given."""
    fields_: list[str] | None = None
    """The columns of the DataFrame of texts that was passed to `fit`; None for documents of any other form."""
    reading_: dict[str, Any] | None = None
    """How the documents were read from a file (`ReadingOptions.as_dict`); None where they were passed in Python."""
    updates_: Sequence[Mapping[str, Any]] = ()
    """The updates since training, the first one first; `UPDATE` declares them."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "recipe_": Plain(),
        "features_": Part(FeaturePipeline, terms="terms"),
        "labels_": Names("labels"),
        "label_form_": Word(get_args(LabelForm)),
        "label_kind_": Word(tuple(KINDS)),
        "nodes_": Maybe(Names("nodes")),
        "parents_": Maybe(Forest("nodes")),
        "vocabulary_": Maybe(STORED_VOCABULARY),
        "descriptions_": Sometimes(Maybe(Mapped(Word(empty=True)))),
        "fields_": Sometimes(Maybe(Names(None))),
        "reading_": Maybe(Plain()),
        "expected_": Maybe(EXPECTED),
        "n_documents_": total(),
        "label_counts_": wholes("labels"),
        "updates_": Sometimes(Each(UPDATE, None)),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """See `Estimator.check_learned`; a class of the declaration is imported only when a model is read."""
        from manylabel.decisions.decided import DecidedModel

        declared = {**self.declared(), "decided_": Part(DecidedModel, "labels", "terms")}
        sizes = check_state(type(self).__name__, declared, state)
        Recipe.from_dict(state["recipe_"])
        if state["vocabulary_"] is not None:
            LabelVocabulary.from_dict(state["vocabulary_"])
        if state["reading_"] is not None:
            ReadingOptions.from_dict(state["reading_"])
        return sizes

    # ---- labels ------------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of scores; whole numbers and booleans where `fit` was given such."""
        return class_values(self.labels_, self.label_kind_)

    @property
    def vocabulary(self) -> LabelVocabulary | None:
        """The addresses (URIs) of the labels and their names in all languages; None without a vocabulary."""
        return None if self.vocabulary_ is None else LabelVocabulary.from_dict(self.vocabulary_)

    @property
    def label_addresses(self) -> dict[str, str]:
        """The address (URI) of each label that has one."""
        return addresses_of(self.vocabulary, self.labels_)

    def own_label(self, given: Any) -> str:
        """The label that a user names: by its own name, or by its address (URI) or its name in another language.

        A label that `fit` was given as a number is named by it. Whatever stands for no label is returned as a string.
        """
        name, vocabulary = str(given), self.vocabulary
        if vocabulary is None or name in self.labels_:
            return name
        address = vocabulary.address_of(name) or bare_address(name)
        return {own: label for label, own in self.label_addresses.items()}.get(address, name)

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The label hierarchy given to `fit`, or None."""
        if self.nodes_ is None or self.parents_ is None:
            return None
        pairs = zip(self.nodes_, self.parents_.tolist(), strict=True)
        return Hierarchy({name: self.nodes_[parent] for name, parent in pairs if parent >= 0})

    @property
    def described_only(self) -> list[str]:
        """The labels that no training document has, and that are known from their descriptions only."""
        known = self.descriptions_ or {}
        return [label for label, n in zip(self.labels_, self.label_counts_, strict=True) if not n and label in known]

    # ---- scores and decisions ----------------------------------------------------------------------------------------

    @property
    def scores_are_probabilities(self) -> bool:
        """Whether `predict_scores` returns probabilities (otherwise margins or similarities)."""
        self.check_fitted()
        return self.decided_.shows_probabilities

    @property
    def predicts_one_label(self) -> bool:
        """Whether every document gets exactly one label, the one with the highest score."""
        self.check_fitted()
        return self.decided_.rule_ is not None and self.decided_.rule_.predicts_one_label

    @property
    def guarantee(self) -> GuaranteeRecord | None:
        """The guarantee for new documents (of the rule ``guarantee``), or None."""
        self.check_fitted()
        return self.decided_.guarantee()

    # ---- features and documents --------------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the matrix it was fitted to; an AttributeError after texts."""
        if not self.is_fitted or self.features_.n_columns_ is None or self.features_.transformer_ is not None:
            raise AttributeError("n_features_in_ is there after fit on a matrix.")
        return self.features_.n_columns_

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of the columns of the matrix it was fitted to; an AttributeError where they had none."""
        if not self.is_fitted or self.features_.column_names_ is None:
            raise AttributeError("feature_names_in_ is there after fit on a DataFrame of numbers.")
        return np.array(self.features_.column_names_, dtype=object)

    def checked_frame(self, frame: Any) -> Any:
        """A DataFrame of documents, its columns named as the fields of the model; an error for other columns.

        The columns of a file on which the model was trained may have other names than the fields that they became.
        """
        names, reading = list(frame_columns(frame)), self.reading
        columns = fields = self.fields_
        if reading is not None and reading.texts:
            columns, fields = list(reading.texts), list(reading.fields)
        if columns is None or fields is None:
            if column_names(frame) is not None:
                self.check_columns(names)
            return frame
        if set(names) == set(columns):
            found = frame[[frame.columns[names.index(name)] for name in columns]]
            found.columns = fields
            return found
        if set(names) == set(fields):
            return frame
        lacking = [name for name in columns if name not in names]
        further = [name for name in names if name not in columns]
        what = f"It lacks {listed(lacking)}" if lacking else f"It also has {listed(further)}"
        raise DataError(
            f"The DataFrame has other columns than the data that the model was trained on. {what}. Found: "
            f"{listed(names)}.",
            remedy=f"Give the same columns: documents[{columns!r}].",
        )

    def check_no_row(self, documents: Any) -> None:
        """Raise an error for one row of a DataFrame, a Series whose every field would be read as a document."""
        if is_series(documents) and self.fields_ is not None and set(self.fields_) <= set(documents.index):
            raise DataError(
                "One row of a DataFrame was given where a list of documents is expected.",
                remedy=f"Give a DataFrame of one row: frame.loc[[row], {self.fields_!r}].",
            )

    def check_columns(self, names: Sequence[str]) -> None:
        """Raise an error where the columns of documents have other names than in training, or another order."""
        known = self.features_.column_names_
        if known is not None:
            check_same_columns(names, known)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The names of the columns of `transform`: terms (x0, x1 … where columns have no names), then keyword rules."""
        self.check_fitted()
        return self.features_.get_feature_names_out()

    @property
    def reading(self) -> ReadingOptions | None:
        """How the documents were read from a file (`manylabel.data.load` takes it as `like`); None if they were not."""
        return None if self.reading_ is None else ReadingOptions.from_dict(self.reading_)

    def learned_rows(self) -> dict[str, str]:
        """What was learned, in words, for a table in a notebook."""
        rule, choice, decision = self.decided_.rule_, self.decided_.choice_, self.recipe_["decision"]
        settings = [f"{name}={value!r}" for name, value in decision.items() if name != "rule"]
        decides = "the method decides by itself" if rule is None else ", ".join([decision["rule"], *settings])
        if rule is not None and rule.changes():
            decides = "corrected thresholds"
        elif choice is not None:
            found = "" if choice["value"] is None else f" ({100 * choice['value']:.1f} % on out-of-fold scores)"
            decides = f"{choice['rule']}, chosen for {choice['title']}{found}"
        return {
            "state": f"fitted to {counted(self.n_documents_, 'document')}",
            "labels": some_names(self.labels_),
            "terms": f"{len(self.get_feature_names_out()):,}",
            "decision rule": decides,
        }
