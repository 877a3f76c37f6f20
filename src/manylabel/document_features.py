"""How documents become X: words counted, terms selected, weighed, and hits of keyword rules set beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from scipy import sparse

from manylabel.data.corpus import Text
from manylabel.data.given import as_matrix
from manylabel.estimator import Csr, Estimator
from manylabel.exceptions import DataError
from manylabel.progress import stage
from manylabel.recipe import Recipe

if TYPE_CHECKING:
    from manylabel.features import TermSelector, Vectorizer, Weighting
    from manylabel.features.keywords import KeywordMatcher

Documents = Sequence[Text] | Csr


class DocumentFeatures(Estimator):
    """The first half of a `TextClassifier`: it learns words, terms and weights, and makes X of documents."""

    n_jobs: int | None
    vectorizer_: Vectorizer | None
    weighting_: Weighting | None
    # What a model file lacks that was written before there was selection or keyword rules.
    selector_: TermSelector | None = None
    keywords_: KeywordMatcher | None = None

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
                counts_of_counts = recipe.build_model().counts_of_counts(counts, Y)
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

    def _fit_rules(
        self, recipe: Recipe, rules: str | None, labels: Sequence[str], terms: Sequence[str] | None
    ) -> dict[str, Any]:
        """Keep the keyword rules, their text with them, and tell what a model should know of them."""
        self.keywords_ = None
        if rules is None:
            return {}
        from manylabel.features.keywords import keyword_matcher
        from manylabel.features.vectorize import GUESS

        names = None if self.vectorizer_ is not None or terms is None else list(terms)
        features = dict(recipe.features)
        if self.vectorizer_ is not None:
            features["stemmer"] = self.vectorizer_.stemmer_
        elif features.get("stemmer") == GUESS:  # there are no texts to guess the language from
            features["stemmer"] = None
        matcher = self.keywords_ = keyword_matcher(rules, features, labels, names, self.n_jobs)
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
