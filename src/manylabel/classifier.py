"""`TextClassifier`: texts in, label names out. The object users hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from scipy import sparse

from manylabel import modelfile
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data.corpus import Text
from manylabel.data.given import as_matrix, check_same_length, length_of, read_labels
from manylabel.data.hierarchy import Hierarchy
from manylabel.data.labels import label_matrix, label_sets, stack
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DataError, DecisionError, ModelFileError
from manylabel.models.count_model import unpruned_counts_of_counts
from manylabel.models.score_kinds import display, undisplay
from manylabel.one_document import OneDocument
from manylabel.progress import stage
from manylabel.recipe import Recipe

if TYPE_CHECKING:
    from manylabel.features import TermSelector
    from manylabel.features.keywords import KeywordMatcher

Documents = Sequence[Text] | Csr
BATCH_BYTES = 64 << 20
SHORT_WAY = 16
"""Up to so many documents are answered one by one, which costs less than building matrices for them."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """The answer for one document."""

    labels: list[str]
    scores: Floats
    thresholds: Floats | None


class TextClassifier(Estimator):
    """A whole pipeline: text → counts → weights → scores → label sets.

    `method` is a row of the catalogue (``manylabel methods`` lists them); `features`, `selection`, `weighting`, `model`
    and `decision` change single settings of it, for example ``decision={"rule": "top-k", "k": 3}`` or
    ``selection={"function": "chi2", "k": 1000}`` to learn from the thousand best terms. Decision rules that
    learn a threshold do so on out-of-fold scores (`folds`), never on scores of the documents they were trained on.

    Documents are strings, mappings from field to string (title and body, say), or a ready-made count matrix.

    >>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
    >>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
    >>> model = TextClassifier("nb-binary").fit(texts, labels)
    >>> model.predict(["is the bus late today?"])
    [['buses']]
    """

    # What a model file lacks that was written before there was selection, keyword rules or a label hierarchy.
    selector_: TermSelector | None = None
    keywords_: KeywordMatcher | None = None
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
        return Recipe.of(self.method, {name: values for name, values in sections.items() if values is not None})

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
            from manylabel.features.keyword_rules_file import with_rule_labels

            names, Y = with_rule_labels(rules, names, Y)
        X, counts_of_counts = self._fit_features(recipe, documents, Y)
        self._note_hierarchy(hierarchy, names)
        facts = {"counts_of_counts": counts_of_counts, "parents": self.parents_}
        facts |= self._fit_rules(rules, names, terms)
        X = self._with_rules(X, documents)
        model = recipe.build_model()
        threaded = [name for name in model.get_params() if name.rpartition("__")[2] == "n_jobs"]
        model.set_params(**dict.fromkeys(threaded, self.n_jobs))
        known = {name: fact for name, fact in facts.items() if fact is not None and name in model.wants}
        decided = DecidedModel(model, recipe.build_rule(), folds=self.folds, seed=self.seed)
        with stage("Learning"):
            decided.fit(X, Y, **known)
        self._forget_short_way()
        self.labels_ = names
        self.label_form_ = form
        self.decided_ = decided
        self.n_documents_ = int(Y.shape[0])
        self.label_counts_ = np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        return self

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

    def _fit_features(self, recipe: Recipe, documents: Documents, Y: Csr) -> tuple[Csr, dict[int, int] | None]:
        from manylabel.features import Vectorizer, Weighting

        counts_of_counts = None
        X = as_matrix(documents)
        if X is not None:
            self.vectorizer_ = None
            X = self._select(recipe, X, Y)
        else:
            self.vectorizer_ = Vectorizer(**{"n_jobs": self.n_jobs, **recipe.vectorizer_settings})
            with stage("Reading words"):
                counts = self.vectorizer_.count(cast(Sequence[Text], documents))
                X = self.vectorizer_.prune(counts)
            X = self._select(recipe, X, Y)
            if X.shape[1] < counts.shape[1] and not recipe.weighting:
                counts_of_counts = unpruned_counts_of_counts(recipe.build_model(), counts, Y)
        self.weighting_ = Weighting(**recipe.weighting).fit(X) if recipe.weighting else None
        return (X if self.weighting_ is None else self.weighting_.transform(X)), counts_of_counts

    def _select(self, recipe: Recipe, X: Csr, Y: Csr) -> Csr:
        """X with the selected terms alone. A vocabulary is cut down to them; where there is none (ready-made counts,
        hashing) the selector is kept to do the same to every document that comes.
        """
        from manylabel.features import TermSelector

        self.selector_ = None
        if not recipe.selection:
            return X
        with stage("Selecting terms"):
            selector = TermSelector(**{"n_jobs": self.n_jobs, **recipe.selection}).fit(X, Y)
        if self.vectorizer_ is None or self.vectorizer_.n_hashes is not None:
            self.selector_ = selector
        else:
            self.vectorizer_.keep(selector.kept_)
        return selector.transform(X)

    def _fit_rules(self, rules: str | None, labels: Sequence[str], terms: Sequence[str] | None) -> dict[str, Any]:
        """Keep the keyword rules, their text with them, and tell what a model should know of them."""
        self.keywords_ = None
        if rules is None:
            return {}
        from manylabel.features.keywords import keyword_matcher

        names = None if self.vectorizer_ is not None or terms is None else list(terms)
        matcher = self.keywords_ = keyword_matcher(rules, self.recipe.features, labels, names, self.n_jobs)
        if self.vectorizer_ is not None:
            words = self.vectorizer_.terms_ if self.vectorizer_.n_hashes is None else None
        elif names is not None and self.selector_ is not None:
            words = [names[column] for column in self.selector_.kept_.tolist()]
        else:
            words = names
        return {"rule_labels": matcher.labels_, "rule_words": None if words is None else matcher.words(words)}

    def _with_rules(self, X: Csr, documents: Documents) -> Csr:
        """X with one more column for each keyword rule."""
        if self.keywords_ is None:
            return X
        with stage("Matching keyword rules"):
            return Csr(sparse.hstack([X, self.keywords_.transform(documents)], format="csr"))

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
        """Documents × labels: probabilities where the method has them, margins or similarities otherwise."""
        self.check_fitted()
        parts = [self._display(self.decided_.score_batch(X)) for X in self._batches(documents)]
        return np.vstack(parts) if parts else np.zeros((0, len(self.labels_)))

    def decide(self, scores: Floats) -> list[list[str]]:
        """The label sets the model's rule makes of scores that `predict_scores` gave."""
        self.check_fitted()
        rule, kind = self.decided_.rule_, self.decided_.score_kind
        if rule is None:
            raise DecisionError(f"{self.method} decides by itself; label sets cannot be made of its scores per label.")
        return label_sets(rule.decide(undisplay(np.asarray(scores, dtype=np.float64), kind), kind), self.labels_)

    def iter_predictions(self, documents: Documents) -> Iterator[Prediction]:
        """The answers one by one, computed in batches bounded in memory."""
        self.check_fitted()
        thresholds = self.decided_.thresholds()
        for X in self._batches(documents):
            scores = self.decided_.score_batch(X)
            sets = label_sets(self._decide(X, scores), self.labels_)
            for names, row in zip(sets, self._display(scores), strict=True):
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

    def _display(self, scores: Floats) -> Floats:
        return display(scores, self.decided_.score_kind)

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
        return self.decided_.score_kind.is_probability

    def score(self, documents: Documents, labels: Any) -> float:
        """Micro-averaged F1 over all labels the classifier knows (for scikit-learn's model selection)."""
        from manylabel.metrics import measure_all

        known, Y, _ = read_labels(labels, self.labels_ if self.label_form_ != "matrix" else None)
        S = self.predict(documents)
        if self.label_form_ != "matrix":
            S = label_matrix([[names] if isinstance(names, str) else names or [] for names in S], known)
        return measure_all(Y, S, ["micro-f1"])["micro-f1"]

    def _batches(self, documents: Documents) -> Iterator[Csr]:
        step = max(1, BATCH_BYTES // (8 * max(1, len(self.labels_))))
        total = length_of(documents)
        with stage("Classifying", total) as advance:
            for start in range(0, total, step):
                X = self.transform(documents[start : start + step])
                yield X
                advance(X.shape[0])

    def transform(self, documents: Documents) -> Csr:
        """X: the documents as the model sees them."""
        self.check_fitted()
        X = as_matrix(documents)
        if X is not None:
            if self.vectorizer_ is not None:
                raise DataError("This model was trained on texts and was given a matrix. Give it texts.")
        elif self.vectorizer_ is None:
            raise DataError(
                "This model was trained on ready-made counts and was given texts. Give it counts of the same terms."
            )
        else:
            X = self.vectorizer_.transform(cast(Sequence[Text], documents))
        if self.selector_ is not None:
            X = self.selector_.transform(X)
        return self._with_rules(X if self.weighting_ is None else self.weighting_.transform(X), documents)

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
