"""`TextClassifier`: texts in, label names out. The object users hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from manylabel import modelfile
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.given import check_same_length, length_of, read_labels, rows_of
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.labels import label_matrix, label_sets, stack
from manylabel.document_features import DocumentFeatures, Documents
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DecisionError, ModelFileError
from manylabel.models.score_kinds import undisplay
from manylabel.one_document import OneDocument
from manylabel.progress import stage
from manylabel.recipe import Recipe, with_metric

if TYPE_CHECKING:
    from manylabel.decisions.guarantee_record import GuaranteeRecord
    from manylabel.models.base import MultiLabelModel

__all__ = ["Documents", "Prediction", "TextClassifier"]

BATCH_BYTES = 64 << 20
SHORT_WAY = 16
"""Up to so many documents are answered one by one, which costs less than building matrices for them."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for one document."""

    labels: list[str]
    scores: Floats
    thresholds: Floats | None


class TextClassifier(DocumentFeatures):
    """A whole pipeline: text → counts → weights → scores → label sets.

    `method` is a row of the catalogue (``manylabel methods`` lists them); `features`, `selection`, `weighting`, `model`
    and `decision` change single settings of it, for example ``decision={"rule": "top-k", "k": 3}`` or
    ``selection={"function": "chi2", "k": 1000}`` to learn from the thousand best terms. Decision rules that
    learn a threshold do so on out-of-fold scores (`folds`), never on scores of the documents they were trained on.
    `metric` is the metric to optimise for (micro-f1, macro-f1, sample-f1, exact-match, hamming-loss, recall@k): the
    decision rule is chosen for it.

    Documents are strings, mappings from field to string (title and body, say), or a ready-made count matrix.

    >>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
    >>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
    >>> model = TextClassifier("nb-binary").fit(texts, labels)
    >>> model.predict(["is the bus late today?"])
    [['buses']]
    """

    # What a model file lacks that was written before there was a label hierarchy.
    nodes_: list[str] | None = None
    parents_: Ints | None = None

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
        """The classifier a recipe describes, not yet fitted."""
        return cls(
            recipe.method,
            features=recipe.features,
            selection=recipe.selection,
            weighting=recipe.weighting,
            model=recipe.model,
            decision=recipe.decision,
            **training,
        )

    @property
    def recipe(self) -> Recipe:
        """The resolved settings of the whole pipeline."""
        sections = {
            "features": self.features,
            "selection": self.selection,
            "weighting": self.weighting,
            "model": self.model,
            "decision": self.decision,
        }
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
    ) -> Self:
        """Learn from documents and their labels.

        `labels` are lists of names, one list a document (an empty one is a document without a label); or one name a
        document, and then `predict` answers one name a document too; or a 0/1 matrix, and then it answers a matrix.
        `terms` names the columns of ready-made counts, where keyword rules are to be looked up in them. `hierarchy`
        says which label lies under which (a mapping from child to parent will do): every model keeps it, and methods
        for hierarchies learn from it.
        """
        from manylabel.decisions.decided import DecidedModel

        recipe = self.recipe
        names, Y, form = read_labels(labels, label_names)
        check_same_length(documents, Y)
        rules = recipe.read_rules()
        if rules is not None and form != "matrix":
            from manylabel.features.keyword_rules import with_rule_labels

            names, Y = with_rule_labels(rules, names, Y)
        decided = DecidedModel(
            self._build_model(recipe),
            recipe.build_rule(),
            folds=self.folds,
            seed=self.seed,
            probabilities=recipe.probabilities,
        )
        given, given_Y, parts = documents, Y, decided.parts(Y)
        if parts is not None:
            # Words, selection and weights come from the others alone, so that new documents fare as the held-out ones.
            given, given_Y = rows_of(documents, parts[0]), Csr(Y[parts[0]])
        X, counts_of_counts = self._fit_features(recipe, given, given_Y)
        self._note_hierarchy(hierarchy, names)
        facts = {"counts_of_counts": counts_of_counts, "parents": self.parents_}
        facts |= self._fit_rules(recipe, rules, names, terms)
        X = self._with_rules(X, given)
        known = {name: fact for name, fact in facts.items() if fact is not None and name in decided.model.wants}
        held_out = None if parts is None else (self.transform(rows_of(documents, parts[1])), Csr(Y[parts[1]]))
        with stage("Learning"):
            decided.fit(X, given_Y, held_out=held_out, **known)
        self._forget_short_way()
        self.labels_ = names
        self.label_form_ = form
        self.decided_ = decided
        self.n_documents_ = int(Y.shape[0])
        self.label_counts_ = np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        return self

    def _build_model(self, recipe: Recipe) -> MultiLabelModel:
        model = recipe.build_model()
        threaded = [name for name in model.get_params() if name.rpartition("__")[2] == "n_jobs"]
        return model.set_params(**dict.fromkeys(threaded, self.n_jobs))

    def _note_hierarchy(self, hierarchy: Hierarchy | Mapping[str, str] | None, names: Sequence[str]) -> None:
        """Keep the part of the hierarchy that lies at or above the labels: nodes by name, and the parent of each."""
        self.nodes_ = self.parents_ = None
        if hierarchy is not None:
            forest = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy(dict(hierarchy))
            self.nodes_, self.parents_ = forest.columns(names)

    @property
    def hierarchy(self) -> Hierarchy | None:
        """Which label lies under which, as far as `fit` was told."""
        if self.nodes_ is None or self.parents_ is None:
            return None
        pairs = zip(self.nodes_, self.parents_.tolist(), strict=True)
        return Hierarchy({name: self.nodes_[parent] for name, parent in pairs if parent >= 0})

    # ---- answering ---------------------------------------------------------------------------------------------------

    def predict(self, documents: Documents) -> Any:
        """The labels of each document, in the form they were given to `fit`: lists of names by default."""
        if not hasattr(documents, "shape") and len(documents) <= SHORT_WAY:
            short = self._short_way()
            if short is not None:
                return [[self.labels_[column] for column in short.labels(text)] for text in documents]
        parts = [S for S, _ in self.iter_decisions(documents)]
        S = stack(parts, len(self.labels_))
        if self.label_form_ == "matrix":
            return S
        sets = label_sets(S, self.labels_)
        if self.label_form_ == "names":
            return [names[0] if names else None for names in sets]
        return sets

    def predict_scores(self, documents: Documents) -> Floats:
        """Documents × labels: probabilities where the method has them or they were learned (``probabilities`` of the
        decision), margins or similarities otherwise.
        """
        self.check_fitted()
        parts = [self.decided_.shown(self.decided_.score_batch(X)) for X in self._batches(documents)]
        return np.vstack(parts) if parts else np.zeros((0, len(self.labels_)))

    @property
    def predict_proba(self) -> Callable[[Documents], Floats]:
        """``predict_proba(documents)``: `predict_scores`, where these are probabilities."""
        if not self.scores_are_probabilities:
            raise AttributeError(
                f"{self.method} gives no probabilities by itself. Train it with "
                "decision={'probabilities': 'logistic'} (--probabilities logistic)."
            )
        return self.predict_scores

    def decide(self, scores: Floats) -> list[list[str]]:
        """The label sets the model's rule makes of scores that `predict_scores` gave."""
        self.check_fitted()
        rule, kind = self.decided_.rule_, self.decided_.score_kind
        if rule is None:
            raise DecisionError(f"{self.method} decides by itself; label sets cannot be made of its scores per label.")
        if self.decided_.calibration_ is not None:
            raise DecisionError("The rule reads scores, and calibrated probabilities do not tell them. Use predict.")
        return label_sets(rule.decide(undisplay(np.asarray(scores, dtype=np.float64), kind), kind), self.labels_)

    def iter_predictions(self, documents: Documents) -> Iterator[Prediction]:
        """The answers one by one, computed in batches bounded in memory."""
        self.check_fitted()
        thresholds = self.decided_.thresholds()
        for X in self._batches(documents):
            scores = self.decided_.score_batch(X)
            sets = label_sets(self._decide(X, scores), self.labels_)
            for names, row in zip(sets, self.decided_.shown(scores), strict=True):
                yield Prediction(names, row, thresholds)

    def _short_way(self) -> OneDocument | None:
        """The way for single documents, made when it is first asked for; None where there is none."""
        if "_one_document" not in self.__dict__:
            self.check_fitted()
            sets = self.label_form_ == "sets"
            made = OneDocument.of(self.vectorizer_, self.weighting_, self.decided_) if sets else None
            self.__dict__["_one_document"] = made
        found: OneDocument | None = self.__dict__["_one_document"]
        return found

    def _forget_short_way(self) -> None:
        self.__dict__.pop("_one_document", None)

    def iter_decisions(self, documents: Documents) -> Iterator[tuple[Csr, Callable[[], Floats]]]:
        """The predicted label sets batch by batch, each with a function that gives the model's scores behind them.

        The scores are not computed twice where a rule has read them, and not at all where a method decides by itself
        and nobody asks.
        """
        self.check_fitted()
        for X in self._batches(documents):
            scores = None if self.decided_.rule_ is None else self.decided_.score_batch(X)
            again = partial(self.decided_.score_batch, X) if scores is None else partial(np.asarray, scores)
            yield self._decide(X, scores), again

    def _decide(self, X: Csr, scores: Floats | None) -> Csr:
        decided = self.decided_
        if decided.rule_ is None or scores is None:
            return Csr(decided.predict(X))
        return decided.rule_.decide(scores, decided.score_kind)

    def remarks(self, documents: Documents) -> dict[str, Any]:
        """What the method has to say of how it came to its answers, mostly nothing: see `remarks_of`."""
        from manylabel.evaluation.remarks import remarks_of

        self.check_fitted()
        return remarks_of(self.decided_, self.labels_, self._batches(documents))

    @property
    def thresholds(self) -> dict[str, float] | None:
        """The least score each label needs, or None for rules without one threshold per label."""
        self.check_fitted()
        values = self.decided_.thresholds()
        return None if values is None else dict(zip(self.labels_, values.tolist(), strict=True))

    @property
    def scores_are_probabilities(self) -> bool:
        """Whether `predict_scores` gives probabilities (otherwise margins or similarities)."""
        self.check_fitted()
        return self.decided_.shows_probabilities

    @property
    def guarantee(self) -> GuaranteeRecord | None:
        """What the model guarantees of new documents (the rule ``guarantee``), or None."""
        self.check_fitted()
        return self.decided_.guarantee()

    def score(self, documents: Documents, labels: Any) -> float:
        """Micro-averaged F1 over all labels the classifier knows (for scikit-learn's model selection)."""
        from manylabel.metrics import compute_metrics

        known, Y, _ = read_labels(labels, self.labels_ if self.label_form_ != "matrix" else None)
        S = self.predict(documents)
        if self.label_form_ != "matrix":
            S = label_matrix([[names] if isinstance(names, str) else names or [] for names in S], known)
        return compute_metrics(Y, S, ["micro-f1"])["micro-f1"]

    def _batches(self, documents: Documents) -> Iterator[Csr]:
        step = max(1, BATCH_BYTES // (8 * max(1, len(self.labels_))))
        total = length_of(documents)
        with stage("Classifying", total) as advance:
            for start in range(0, total, step):
                X = self.transform(documents[start : start + step])
                yield X
                advance(X.shape[0])

    # ---- keeping -----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], facts: Mapping[str, Any] | None = None) -> None:
        """Write the model to one file (beside it, then renamed); `facts` are kept with it and shown by ``inspect``."""
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
