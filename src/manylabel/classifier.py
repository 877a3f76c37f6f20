"""`TextClassifier`, the main class of the library: texts in, label names out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel import modelfile
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.corpus import Text
from manylabel.data.given import (
    MATRIX_FORMS,
    SINGLE_FORMS,
    LabelForm,
    check_same_length,
    class_values,
    read_documents,
    read_labels,
)
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.data.labels import label_sets, length_of, rows_of, stack
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DecisionError, ModelFileError, ParameterError, UnknownNameError
from manylabel.features.pipeline import Documents, FeaturePipeline
from manylabel.models.base import AdditiveModel, unfitted_copy
from manylabel.models.score_kinds import undisplay
from manylabel.progress import stage
from manylabel.recipe import SECTIONS, Recipe, with_metric

if TYPE_CHECKING:
    from manylabel.decisions.decided import DecidedModel
    from manylabel.decisions.guarantee import GuaranteeRecord

__all__ = ["Documents", "Prediction", "TextClassifier"]

BATCH_BYTES = 64 << 20
SHORT_WAY = 16
"""Up to this many documents are classified one by one, which costs less than building matrices for them."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted labels of one document, its scores and the thresholds of the labels."""

    labels: list[str]
    scores: Floats
    thresholds: Floats | None


class TextClassifier(Estimator):
    """A whole pipeline: text → counts → weights → scores → label sets.

    `method` is a name in the catalogue (``manylabel methods`` prints it); `features`, `selection`, `weighting`, `model`
    and `decision` change single settings of it, for example ``decision={"rule": "top-k", "k": 3}`` or
    ``selection={"function": "chi2", "k": 1000}`` to learn from the thousand best terms. Decision rules that
    learn a threshold do so on out-of-fold scores (`folds`), never on scores of the documents they were trained on.
    `metric` is the metric to optimise for (micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, recall@k): the
    decision rule is chosen for it.

    Documents are strings, mappings from field to string (such as title and body), or a ready-made count matrix.

    >>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
    >>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
    >>> model = TextClassifier("nb-binary").fit(texts, labels)
    >>> model.predict(["is the bus late today?"])
    [['buses']]
    """

    recipe_: dict[str, Any]
    features_: FeaturePipeline
    decided_: DecidedModel
    labels_: list[str]
    label_form_: LabelForm
    """The form in which labels were passed to `fit`, and in which predictions are returned."""
    label_kind_: str
    """The type of a label: "str", "bool", "int" or "float"; `labels_` holds their names."""
    label_counts_: Ints
    n_documents_: int
    nodes_: list[str] | None
    """The nodes of the label hierarchy that are labels or above a label; None without a hierarchy."""
    parents_: Ints | None
    """The index of each node's parent in `nodes_`, −1 for a root."""
    vocabulary_: dict[str, Any] | None = None
    """The addresses and names of the labels (`LabelVocabulary.as_dict`); None where no vocabulary named them."""
    _short_way: Callable[[Text], list[int]] | None = None
    _short_way_is_known: bool = False

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        *,
        features: Mapping[str, Any] | None = None,
        selection: Mapping[str, Any] | None = None,
        weighting: Mapping[str, Any] | None = None,
        model: Mapping[str, Any] | None = None,
        decision: Mapping[str, Any] | None = None,
        metric: str | None = None,
        folds: int = 5,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.features = features
        self.selection = selection
        self.weighting = weighting
        self.model = model
        self.decision = decision
        self.metric = metric
        self.folds = folds
        self.seed = seed
        self.n_jobs = n_jobs

    @classmethod
    def from_recipe(cls, recipe: Recipe, **training: Any) -> Self:
        """The unfitted classifier of a recipe; `training` are further arguments, such as `folds` and `seed`."""
        sections = recipe.as_dict()
        return cls(sections.pop("method"), **sections, **training)

    @property
    def recipe(self) -> Recipe:
        """The resolved settings of the whole pipeline: those it was fitted with, once it is fitted."""
        return Recipe.from_dict(self.recipe_) if self.is_fitted else self._resolved()

    def _resolved(self) -> Recipe:
        sections = dict(
            zip(SECTIONS, (self.features, self.selection, self.weighting, self.model, self.decision), strict=True)
        )
        given = {name: values for name, values in sections.items() if values is not None}
        return Recipe.of(self.method, with_metric(given, self.metric))

    # ---- learning ----------------------------------------------------------------------------------------------------

    def fit(
        self,
        documents: Documents,
        labels: Any,
        *,
        label_names: Sequence[str] | None = None,
        terms: Sequence[str] | None = None,
        hierarchy: Hierarchy | Mapping[str, str] | None = None,
        vocabulary: LabelVocabulary | None = None,
    ) -> Self:
        """Learn from documents and their labels.

        Documents are strings, mappings from field to string, or counts: a list, a Series, a generator, a DataFrame of
        texts (several columns are fields), a matrix or a DataFrame of numbers.

        `labels` are lists (tuples, sets) of labels, one per document; an empty one is a document without a label. Or
        one label per document. Or a 0/1 matrix or one-hot DataFrame with one column per label. Labels are strings,
        whole numbers or booleans. `predict` returns labels in the same form. `label_names` names the columns of a
        matrix, or all labels in the order of the columns of scores.
        `terms` names the columns of ready-made counts, so that keyword rules can be looked up in them. `hierarchy` maps
        each child label to its parent (a mapping or a `Hierarchy`): every model keeps it, and methods for hierarchies
        learn from it. `vocabulary` gives the addresses of the labels; the model keeps it.
        """
        recipe = self._resolved()
        documents, given_labels = read_documents(documents), read_labels(labels, label_names)
        names, Y, form = given_labels.names, given_labels.Y, given_labels.form
        check_same_length(documents, Y)
        rules = recipe.read_rules()
        if rules is not None and form not in MATRIX_FORMS:
            from manylabel.features.keyword_rules import with_rule_labels

            names, Y = with_rule_labels(rules, names, Y)
        nodes, parents = _hierarchy_columns(hierarchy, names)
        decided = recipe.build(folds=self.folds, seed=self.seed, n_jobs=self.n_jobs)
        given, given_Y, divided = documents, Y, decided.divide(Y)
        if divided is not None:
            # Terms and weights are learned without the held-out documents, so that these are as new as later ones.
            given, given_Y = rows_of(documents, divided[0]), Csr(Y[divided[0]])
        pipeline = FeaturePipeline(recipe.vectorizer_settings, recipe.selection, recipe.weighting, self.n_jobs)
        learned = pipeline.fit_transform(given, given_Y, rules=rules, labels=names, terms=terms)
        facts = dict(learned.facts)
        if parents is not None:
            facts["parents"] = parents
        if learned.counts is not None:
            of_counts = decided.counts_of_counts(learned.counts, given_Y)
            facts |= {} if of_counts is None else {"counts_of_counts": of_counts}
        held_out = None
        if divided is not None:
            held_out = pipeline.transform(rows_of(documents, divided[1])), Csr(Y[divided[1]])
        with stage("Learning"):
            decided.fit(learned.X, given_Y, held_out=held_out, fold_features=learned.in_folds, **decided.wanted(facts))
        # Attributes are set only after everything was learned: an interrupted fit leaves the classifier unchanged.
        self.recipe_, self.features_, self.decided_ = recipe.as_dict(), pipeline, decided
        self.labels_, self.label_form_, self.label_kind_ = names, form, given_labels.kind
        self.nodes_, self.parents_ = nodes, parents
        self.vocabulary_ = None if vocabulary is None else vocabulary.as_dict()
        self.n_documents_ = int(Y.shape[0])
        self.label_counts_ = np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        self._short_way, self._short_way_is_known = None, False
        return self

    def partial_fit(self, documents: Documents, labels: Any, *, label_names: Sequence[str] | None = None) -> Self:
        """Learn from more documents; batches of a corpus give the same model as `fit` on all of them.

        The method must be a model of counts (`nb` and its relatives, `rocchio`) with a decision rule that learns
        nothing, for example ``decision={"rule": "threshold", "value": 0.5}``. The first batch fixes the labels (name
        all of them in `label_names`), the terms (or hash them: ``features={"n_hashes": 2**18}``), their weights, and
        the discount where rare terms are pruned.
        Terms that appear later are ignored; labels that appear later are an error.

        >>> model = TextClassifier("nb-binary")
        >>> names = ["buses", "roads"]
        >>> model = model.partial_fit(["a late bus", "a hole in the road"], [["buses"], ["roads"]], label_names=names)
        >>> model.partial_fit(["the road has a hole"], [["roads"]]).predict(["late bus", "hole in the road"])
        [['buses'], ['roads']]
        """
        self._check_additive()
        if not self.is_fitted:
            return self.fit(documents, labels, label_names=label_names)
        documents, batch = read_documents(documents), read_labels(labels, None)
        if batch.form not in MATRIX_FORMS and (new := sorted(set(batch.names) - set(self.labels_))):
            raise UnknownNameError("label in the first batch", new[0], self.labels_)
        Y = read_labels(labels, self.labels_).Y
        check_same_length(documents, Y)
        cast(AdditiveModel, self.decided_.model_).partial_fit(self.transform(documents), Y)
        self.n_documents_ += int(Y.shape[0])
        self.label_counts_ = self.label_counts_ + np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        self._short_way, self._short_way_is_known = None, False
        return self

    def _check_additive(self) -> None:
        """Raise an error unless batches of a corpus add up."""
        recipe = self.recipe
        if not recipe.build().is_additive or recipe.read_rules() is not None:
            raise ParameterError(
                f"{recipe.method} with the rule {recipe.decision['rule']!r} cannot learn in batches. Use a model of "
                "counts with a decision rule that learns nothing, for example nb-binary, or use fit."
            )

    def merge(self, other: Self) -> Self:
        """A new classifier, the same as one fitted on the documents of both.

        Both must have the same settings, labels and terms, and a method that can learn in batches: see `partial_fit`.
        """
        self.check_fitted()
        self._check_additive()
        other.check_fitted()
        same = self.recipe == other.recipe and self.labels_ == other.labels_ and self.label_form_ == other.label_form_
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

    @property
    def vocabulary(self) -> LabelVocabulary | None:
        """The addresses (URIs) of the labels and their names in all languages; None without a vocabulary."""
        return None if self.vocabulary_ is None else LabelVocabulary.from_dict(self.vocabulary_)

    @property
    def label_addresses(self) -> dict[str, str]:
        """The address (URI) of each label that has one."""
        known = {} if self.vocabulary is None else self.vocabulary.addresses_by_name()
        return {name: known[name] for name in self.labels_ if name in known}

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The label hierarchy given to `fit`, or None."""
        if self.nodes_ is None or self.parents_ is None:
            return None
        pairs = zip(self.nodes_, self.parents_.tolist(), strict=True)
        return Hierarchy({name: self.nodes_[parent] for name, parent in pairs if parent >= 0})

    # ---- predicting --------------------------------------------------------------------------------------------------

    def predict(self, documents: Documents) -> Any:
        """The labels of each document, in the form they were given to `fit`: lists of names by default.

        Where `fit` was given one label per document, this is the label with the highest score.
        """
        given = read_documents(documents)
        if self.is_fitted and self.label_form_ in SINGLE_FORMS:
            return self._predict_one_each(given)
        if not isinstance(given, Csr) and len(given) <= SHORT_WAY:
            label_columns = self.short_way()
            if label_columns is not None:
                return [[self.labels_[column] for column in label_columns(text)] for text in given]
        S = stack([S for S, _ in self.iter_decisions(given)], len(self.labels_))
        if self.label_form_ in MATRIX_FORMS:
            return S if self.label_form_ == "matrix" else S.toarray().astype(np.int64)
        return label_sets(S, self.labels_ if self.label_kind_ == "str" else self.classes_.tolist())

    def _predict_one_each(self, documents: Documents) -> Any:
        """The label with the highest score of each document; a list or an array, as in `fit`."""
        best = [self.decided_.score_batch(X).argmax(axis=1) for X in self._batches(documents)]
        values = self.classes_[np.concatenate([np.zeros(0, dtype=np.intp), *best])]
        return values.tolist() if self.label_form_ == "names" else values

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of scores; whole numbers and booleans where `fit` was given such."""
        return class_values(self.labels_, self.label_kind_)

    def predict_scores(self, documents: Documents) -> Floats:
        """Scores, documents × labels.

        Probabilities if the method has them or they were learned (``probabilities`` of the decision), margins or
        similarities otherwise.
        """
        self.check_fitted()
        batches = [self.decided_.shown(self.decided_.score_batch(X)) for X in self._batches(documents)]
        return np.vstack(batches) if batches else np.zeros((0, len(self.labels_)))

    @property
    def predict_proba(self) -> Callable[[Documents], Floats]:
        """``predict_proba(documents)`` is `predict_scores`; an AttributeError if the scores are not probabilities."""
        if not self.scores_are_probabilities:
            raise AttributeError(
                f"{self.method} does not yield probabilities by itself. Train it with "
                "decision={'probabilities': 'logistic'} (--probabilities logistic)."
            )
        return self.predict_scores

    def decide(self, scores: Floats) -> list[list[str]]:
        """The label sets that the model's rule decides from scores of `predict_scores`."""
        self.check_fitted()
        rule, kind = self.decided_.rule_, self.decided_.score_kind
        if rule is None:
            raise DecisionError(f"{self.method} decides by itself, not from its scores per label. Use predict.")
        if self.decided_.calibration_ is not None:
            raise DecisionError(
                "The rule reads raw scores, which cannot be recovered from calibrated probabilities. Use predict."
            )
        return label_sets(rule.decide(undisplay(np.asarray(scores, dtype=np.float64), kind), kind), self.labels_)

    def iter_predictions(self, documents: Documents) -> Iterator[Prediction]:
        """Yield one `Prediction` per document, computed in batches of bounded memory."""
        self.check_fitted()
        thresholds = self.decided_.thresholds()
        for X in self._batches(documents):
            scores = self.decided_.score_batch(X)
            sets = label_sets(self._decide(X, scores), self.labels_)
            for names, row in zip(sets, self.decided_.shown(scores), strict=True):
                yield Prediction(names, row, thresholds)

    def short_way(self) -> Callable[[Text], list[int]] | None:
        """A function that predicts one text, as label columns, without building matrices; None if there is none.

        Its predictions equal those of `predict`. It is built on first use.
        """
        if not self._short_way_is_known:
            self.check_fitted()
            self._short_way, self._short_way_is_known = self._make_short_way(), True
        return self._short_way

    def _make_short_way(self) -> Callable[[Text], list[int]] | None:
        decided = self.decided_
        rule, kind = decided.rule_, decided.score_kind
        read, score = self.features_.document_reader(), decided.document_scorer()
        if self.label_form_ != "sets" or self.label_kind_ != "str" or rule is None or read is None or score is None:
            return None

        labels_empty = decided.labels_empty_documents

        def label_columns(text: Text) -> list[int]:
            terms, values = read(text)
            if not len(terms) and not labels_empty:
                return []
            chosen: list[int] = rule.decide_dense(score(terms, values)[np.newaxis], kind)[0].nonzero()[0].tolist()
            return chosen

        return label_columns

    def __getstate__(self) -> dict[str, Any]:
        """The state that a copy keeps: everything but the short way, which is built again."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def transform(self, documents: Documents) -> Csr:
        """X, the matrix of documents × terms that the model reads."""
        self.check_fitted()
        return self.features_.transform(documents)

    def iter_decisions(self, documents: Documents) -> Iterator[tuple[Csr, Callable[[], Floats]]]:
        """Yield the predicted label sets of each batch, with a function that returns the model's scores for it.

        Scores that a rule has read are not computed again; for a method that decides by itself they are computed only
        when the function is called.
        """
        self.check_fitted()
        for X in self._batches(documents):
            scores = None if self.decided_.rule_ is None else self.decided_.score_batch(X)
            again = partial(self.decided_.score_batch, X) if scores is None else partial(np.asarray, scores)
            yield self._decide(X, scores), again

    def _decide(self, X: Csr, scores: Floats | None) -> Csr:
        decided = self.decided_
        return Csr(decided.predict(X)) if scores is None else decided.decide(X, scores)

    def remarks(self, documents: Documents) -> dict[str, Any]:
        """The method's remarks on how it made these predictions; empty for most methods, see `remarks_of`."""
        from manylabel.evaluation.remarks import remarks_of

        self.check_fitted()
        return remarks_of(self.decided_, self.labels_, self._batches(documents))

    @property
    def thresholds(self) -> dict[str, float] | None:
        """The threshold of each label, or None for rules without one threshold per label."""
        self.check_fitted()
        values = self.decided_.thresholds()
        return None if values is None else dict(zip(self.labels_, values.tolist(), strict=True))

    @property
    def scores_are_probabilities(self) -> bool:
        """Whether `predict_scores` returns probabilities (otherwise margins or similarities)."""
        self.check_fitted()
        return self.decided_.shows_probabilities

    @property
    def guarantee(self) -> GuaranteeRecord | None:
        """The guarantee for new documents (of the rule ``guarantee``), or None."""
        self.check_fitted()
        return self.decided_.guarantee()

    def score(self, documents: Documents, labels: Any) -> float:
        """Micro-averaged F1 over all labels the classifier knows; with one label per document, this is the accuracy."""
        from manylabel.metrics import compute_metrics

        self.check_fitted()
        given = read_labels(labels, self.labels_, others="omit")
        S = read_labels(self.predict(documents), self.labels_).Y
        return compute_metrics(given.Y, S, ["micro-f1"])["micro-f1"]

    def _batches(self, documents: Documents) -> Iterator[Csr]:
        step = max(1, BATCH_BYTES // (8 * max(1, len(self.labels_))))
        given = read_documents(documents)
        total = length_of(given)
        with stage("Classifying", total) as advance:
            for start in range(0, total, step):
                X = self.decided_.features(self.transform(given[start : start + step]))
                yield X
                advance(X.shape[0])

    # ---- saving and loading ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], facts: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file, atomically; `facts` are stored with it and printed by ``inspect``."""
        self.check_fitted()
        modelfile.save(self, Path(path), {"recipe": self.recipe.as_dict(), **(facts or {})})

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Read a model that `save` wrote."""
        found = modelfile.load(Path(path), verify=verify)
        if not isinstance(found, cls):
            raise ModelFileError(f"{path}: this file holds a {type(found).__name__}, not a TextClassifier.")
        return found

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=True)
        tags.target_tags.required = True
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _hierarchy_columns(
    hierarchy: Hierarchy | Mapping[str, str] | None, names: Sequence[str]
) -> tuple[list[str] | None, Ints | None]:
    """The nodes of a hierarchy at or above the labels, and the index of each node's parent."""
    if hierarchy is None:
        return None, None
    forest = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy(dict(hierarchy))
    return forest.columns(names)
