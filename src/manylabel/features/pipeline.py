"""The feature pipeline of all who read documents: count the terms, prune them, select some, weigh them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.corpus import Text
from manylabel.data.documents import read_documents, stored_names, strings
from manylabel.estimator import Csr, Estimator, Ints
from manylabel.exceptions import DataError
from manylabel.features.facts import Facts, FoldFeatures, Learned
from manylabel.features.reading import GUESS
from manylabel.features.scripts import without_markup
from manylabel.features.select import TermSelector
from manylabel.features.terms import CountedTerms
from manylabel.features.transformers import DocumentTransformer, FoldRows, is_transformer, rows_of_counts
from manylabel.features.vector_view import VectorView
from manylabel.features.vectorize import Vectorizer
from manylabel.features.views import FurtherViews, OfferedViews
from manylabel.features.vocabulary import TermTable, select_columns
from manylabel.features.weighting import Weighting, has_negative, norm_alone
from manylabel.progress import stage
from manylabel.stored import Maybe, Names, Part, Sizes, Sometimes, Stored, flags, total

if TYPE_CHECKING:
    from manylabel.features.keywords import KeywordMatcher

Documents: TypeAlias = Sequence[Text] | Csr
"""Texts, or a ready-made matrix of counts."""
PRUNING = ("min_df", "max_df", "max_features")
"""The settings of a `Vectorizer` that remove terms."""


class FeaturePipeline(Estimator):
    """Count → prune → select → weigh; vectors of an encoder and hits of hand-written keyword rules as further columns.

    `features` are the settings of `Vectorizer` (or a transformer of scikit-learn in its place), `selection` those of
    `TermSelector`, `weighting` those of `Weighting`; without selection all terms are kept, without weighting X holds
    counts. Documents are texts, or a ready-made matrix of counts, of which columns are then only selected and weighed.
    `encoder` adds the vector of each text (`VectorView`) behind the terms.

    >>> pipeline = FeaturePipeline({"min_df": 2}, weighting={"tf": "binary", "idf": "none", "norm": None})
    >>> texts = ["late bus", "a late, late bus", "bad road"]
    >>> pipeline.fit_transform(texts, Csr([[1], [1], [0]])).X.toarray().tolist()
    [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    >>> pipeline.transform(["the bus was late"]).toarray().tolist()
    [[1.0, 1.0]]
    """

    vectorizer_: Vectorizer | None
    selector_: TermSelector | None
    """Selects columns if there is no vocabulary: of ready-made counts and of hashed terms."""
    weighting_: Weighting | None
    keywords_: KeywordMatcher | None
    n_columns_: int | None
    """The number of columns of ready-made counts; None where texts were counted."""
    transformer_: DocumentTransformer | None = None
    """The transformer in place of a vectoriser."""
    column_names_: list[str] | None = None
    """The names of the columns of a ready-made matrix; None where they have none."""
    vectors_: VectorView | None = None
    kept_: npt.NDArray[np.bool_] | None
    """The kept columns of counts that were computed before, see `fit_counts`."""
    views_: FurtherViews | None = None
    """The further views that the model reads, whose columns follow those of the terms; set after a model chose them."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "vectorizer_": Maybe(Part(Vectorizer)),
        "selector_": Maybe(Part(TermSelector)),
        "weighting_": Maybe(Part(Weighting)),
        "keywords_": Maybe(Part(Estimator)),
        "n_columns_": Maybe(total()),
        "column_names_": Sometimes(Maybe(Names(None))),
        "kept_": Maybe(flags(None)),
        "vectors_": Sometimes(Maybe(Part(VectorView))),
        "views_": Sometimes(Maybe(Part(FurtherViews))),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise `ValueError` unless the steps fit together; the size "terms" is the number of columns of X."""
        sizes = super().check_learned(state)
        vectorizer, selector, weighting = state["vectorizer_"], state["selector_"], state["weighting_"]
        width = state["n_columns_"] if vectorizer is None else vectorizer.n_features_out_
        if selector is not None:
            if selector.n_features_in_ != width:
                raise ValueError("FeaturePipeline selects among other terms than it counts")
            width = len(selector.kept_)
        if weighting is not None and len(weighting.document_frequency_) != width:
            raise ValueError("FeaturePipeline weighs other terms than it counts")
        matcher = state["keywords_"]
        if matcher is not None:
            from manylabel.features.keywords import KeywordMatcher  # few models have keyword rules

            if not isinstance(matcher, KeywordMatcher):
                raise ValueError("FeaturePipeline.keywords_ is not a KeywordMatcher")
        behind = 0 if (view := state.get("vectors_")) is None else view.dimensions
        behind += 0 if matcher is None else len(matcher.labels_)
        behind += 0 if (views := state.get("views_")) is None else views.n_columns
        return sizes if width is None else {"terms": width + behind}

    def __init__(
        self,
        features: Any = None,
        selection: Mapping[str, Any] | None = None,
        weighting: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        encoder: Any = None,
    ) -> None:
        self.features = features
        self.selection = selection
        self.weighting = weighting
        self.n_jobs = n_jobs
        self.encoder = encoder

    # ---- learning ----------------------------------------------------------------------------------------

    def fit_transform(
        self,
        documents: Documents,
        Y: Csr,
        *,
        rules: str | None = None,
        labels: Sequence[str] = (),
        terms: Sequence[str] | None = None,
        must_select: bool = True,
        further_texts: Sequence[str] = (),
    ) -> Learned:
        """Learn terms and weights from documents and their labels; return X and the facts learned on the way.

        `rules` is the text of keyword rules for `labels`; `terms` names the columns of ready-made counts; the words of
        `further_texts` are terms too. Negative values are an error with `must_select`; without, nothing is selected.
        """
        given = documents_given = read_documents(documents)
        if is_transformer(self.features):
            self.transformer_ = DocumentTransformer(self.features)
            with stage("Reading documents"):
                given = self.transformer_.fit_transform(given, Y)
        counts, pruned, names = self._count(given, terms, further_texts)
        is_counts = not has_negative(pruned)
        selection = self.selection if is_counts or must_select else None
        X = self._select(pruned, Y, selection)
        unpruned = counts if self.vectorizer_ is not None and X.shape[1] < counts.shape[1] else None
        weighting = self.weighting if is_counts else norm_alone(self.weighting)
        X = self._weigh(X, weighting)
        facts = self._fit_rules(rules, labels, terms)
        self.vectors_ = None if self.encoder is None else VectorView(self.encoder).fit()
        further = self._further_columns(documents_given, given)
        rows = rows_of_counts(pruned)
        if self.transformer_ is not None and not self.transformer_.was_fitted:
            rows = self.transformer_.rows_in_folds(documents_given, Y)
        in_folds = self._in_folds(rows, Y, further, names, selection, weighting)
        if in_folds is None and rules is None and self.vectorizer_ is not None and not isinstance(given, Csr):
            facts |= OfferedViews.facts(self.vectorizer_, given)
        return Learned(_beside(X, further), None if self.weighting else unpruned, facts, in_folds, is_counts)

    def _count(
        self, given: Documents, terms: Sequence[str] | None, further_texts: Sequence[str]
    ) -> tuple[Csr, Csr, Sequence[str] | None]:
        """The counts of all terms, those of the terms that are not pruned, and their names; a matrix as it is given."""
        self.vectorizer_ = self.kept_ = self.n_columns_ = self.column_names_ = None
        if isinstance(given, Csr):
            if given.shape[1] == 0:
                raise DataError(f"The matrix has 0 feature(s) (shape={given.shape}) while a minimum of 1 is required.")
            self.n_columns_ = given.shape[1]
            self.column_names_ = stored_names(terms, given.shape[1]) if self.transformer_ is None else None
            return given, given, terms
        self.vectorizer_ = Vectorizer(**{"n_jobs": self.n_jobs, **(self.features or {})})
        with stage("Reading words"):
            counts = self.vectorizer_.count([*given, *further_texts])
            counts = Csr(counts[: len(given)]) if further_texts else counts
            pruned = self.vectorizer_.prune(counts)
        return counts, pruned, self.vectorizer_.terms_ if self.vectorizer_.n_hashes is None else None

    def fit_counts(self, counts: Csr, Y: Csr, *, has_vocabulary: bool, further: Csr | None = None) -> Learned:
        """Learn terms and weights from rows of a larger corpus whose terms were all counted before.

        With a vocabulary the columns are terms, and those that no training document has are dropped; without one
        (hashed terms, ready-made counts) every column is kept until selection. `further` are columns behind the terms.
        """
        self.vectorizer_ = self.keywords_ = self.n_columns_ = self.kept_ = None
        X = seen = counts
        if has_vocabulary:
            self.kept_ = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
            X = seen = select_columns(counts, self.kept_)
            if bounds := {name: value for name, value in (self.features or {}).items() if name in PRUNING}:
                table = TermTable()
                # Names are not used. Ties go to the first column, the first in the alphabet, as in Vectorizer.
                table.add([""] * X.shape[1], X, is_sorted=True)
                mask = table.kept(bounds.get("min_df", 1), bounds.get("max_df", 1.0), bounds.get("max_features"))
                X = select_columns(X, mask)
                self.kept_[self.kept_] = mask
        in_folds = self._in_folds(rows_of_counts(X), Y, further, None, self.selection, self.weighting)
        X = self._select(X, Y, self.selection)
        unpruned = None if self.weighting or X.shape[1] == seen.shape[1] else seen
        return Learned(_beside(self._weigh(X, self.weighting), further), unpruned, {}, in_folds)

    def _in_folds(
        self,
        rows: FoldRows,
        Y: Csr,
        further: Csr | None,
        names: Sequence[str] | None,
        selection: Mapping[str, Any] | None,
        weighting: Mapping[str, Any] | None,
    ) -> FoldFeatures | None:
        """Selection and weighting learned in a fold of the counts; the terms are those of all documents.

        A threshold learned on scores of terms that were selected with the labels of all documents would expect too
        much of new documents. `further` are the columns behind the terms, `names` the terms.
        """
        fits_transformer = self.transformer_ is not None and not self.transformer_.was_fitted
        if not selection and not weighting and not fits_transformer:
            return None
        matcher = self.keywords_ if selection else None
        words = None if matcher is None or names is None else matcher.words(names)

        def learn(train: Ints, test: Ints) -> tuple[Csr, Csr, Facts]:
            pipeline = FeaturePipeline(None, selection, weighting, self.n_jobs)
            counts_train, counts_test = rows(train, test)
            learned = pipeline.fit_counts(counts_train, Csr(Y[train]), has_vocabulary=False)
            X_train, X_test = learned.X, pipeline.transform_counts(counts_test)
            if further is not None:
                X_train, X_test = _beside(X_train, further[train]), _beside(X_test, further[test])
            if words is None or pipeline.selector_ is None:
                return X_train, X_test, {}
            return X_train, X_test, {"rule_words": Csr(words[:, pipeline.selector_.kept_])}

        return learn

    def _select(self, X: Csr, Y: Csr, selection: Mapping[str, Any] | None) -> Csr:
        """X with only the selected terms. A vocabulary is reduced to them; without one the selector is kept."""
        self.selector_ = None
        if not selection:
            return X
        with stage("Selecting terms"):
            selector = TermSelector(**{"n_jobs": self.n_jobs, **selection}).fit(X, Y)
        if self.vectorizer_ is None or self.vectorizer_.n_hashes is not None:
            self.selector_ = selector
        else:
            self.vectorizer_.keep(selector.kept_)
        return selector.transform(X)

    def _weigh(self, X: Csr, weighting: Mapping[str, Any] | None) -> Csr:
        self.weighting_ = Weighting(**weighting).fit(X) if weighting else None
        return X if self.weighting_ is None else self.weighting_.transform(X)

    def _fit_rules(self, rules: str | None, labels: Sequence[str], terms: Sequence[str] | None) -> Facts:
        """Learn the keyword rules; return the facts about them that a model may want."""
        self.keywords_ = None
        if rules is None:
            return {}
        from manylabel.features.keywords import keyword_matcher  # few models have keyword rules

        names = None if self.vectorizer_ is not None or terms is None else list(terms)
        features = dict(self.features or {})
        if self.vectorizer_ is not None:
            features["stemmer"], features["tokens"] = self.vectorizer_.stemmer_, self.vectorizer_.tokens_
        else:  # there are no texts to choose by
            chosen_by_texts = [name for name in ("stemmer", "tokens") if features.get(name) == GUESS]
            features = {name: value for name, value in features.items() if name not in chosen_by_texts}
        matcher = self.keywords_ = keyword_matcher(rules, features, labels, names, self.n_jobs)
        if self.vectorizer_ is not None:
            words = self.vectorizer_.terms_ if self.vectorizer_.n_hashes is None else None
        elif names is not None and self.selector_ is not None:
            words = [names[column] for column in self.selector_.kept_.tolist()]
        else:
            words = names
        facts: Facts = {"rule_labels": matcher.labels_}
        if words is not None:
            facts["rule_words"] = matcher.words(words)
        return facts

    def _further_columns(self, documents: Documents, counted: Documents) -> Csr | None:
        """The columns behind the terms: views, vectors, and one per keyword rule, 1 where it matches; None without any.

        `counted` is what a transformer of scikit-learn made of the documents, else the documents.
        """
        found: list[Csr] = []
        if self.views_ is not None and not isinstance(documents, Csr):
            found.append(self.views_.transform(documents))
        if self.vectors_ is not None:
            if isinstance(documents, Csr):
                raise DataError("An encoder reads texts, but the documents are a matrix.", remedy="Give texts.")
            found.append(self.vectors_.transform(strings(documents), strips_markup=self._strips_markup))
        if self.keywords_ is not None:
            with stage("Matching keyword rules"):
                if self._strips_markup and not isinstance(counted, Csr):
                    counted = [without_markup(text) for text in strings(counted)]
                found.append(self.keywords_.transform(counted))
        return Csr(sparse.hstack(found, format="csr")) if found else None

    @property
    def _strips_markup(self) -> bool:
        return self.vectorizer_ is not None and self.vectorizer_.strips_markup_

    # ---- transforming ------------------------------------------------------------------------------------

    def transform(self, documents: Documents) -> Csr:
        """X of the documents, with the terms and weights learned in `fit_transform`."""
        self.check_fitted()
        given = documents_given = read_documents(documents)
        if self.transformer_ is not None:
            X = given = self.transformer_.transform(given)
        elif not isinstance(given, Csr):
            if self.vectorizer_ is None:
                what = "This model was trained on a matrix but was given texts."
                raise DataError(what, remedy="Give it a matrix with the same columns.")
            X = self.vectorizer_.transform(given)
        elif self.vectorizer_ is not None:
            raise DataError("This model was trained on texts but was given a matrix. Give it texts.")
        elif given.shape[1] != self.n_columns_:
            what = (
                f"X has {given.shape[1]} features, but TextClassifier is expecting {self.n_columns_} features as input."
            )
            raise DataError(what, remedy="Give the columns that the model was trained on, in the same order.")
        else:
            X = given
        return _beside(self._selected_and_weighed(X), self._further_columns(documents_given, given))

    def transform_counts(self, counts: Csr, further: Csr | None = None) -> Csr:
        """X of more rows of the counts whose terms `fit_counts` learned from, with their columns behind the terms."""
        self.check_fitted()
        kept = counts if self.kept_ is None else select_columns(counts, self.kept_)
        return _beside(self._selected_and_weighed(kept), further)

    def _selected_and_weighed(self, X: Csr) -> Csr:
        X = X if self.selector_ is None else self.selector_.transform(X)
        return X if self.weighting_ is None else self.weighting_.transform(X)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The names of the columns of X: terms (x0, x1 … of columns without names), views, vectors, rules by label."""
        self.check_fitted()
        if self.vectorizer_ is not None:
            names = self.vectorizer_.get_feature_names_out()
        else:
            numbered = [f"x{column}" for column in range(self.n_columns_ or 0)]
            own = self.column_names_ if self.transformer_ is None else self.transformer_.names()
            names = np.array(own or numbered, dtype=object)
        if self.selector_ is not None:
            names = self.selector_.get_feature_names_out(names)
        rules = [] if self.keywords_ is None else [f"rule: {label}" for label in self.keywords_.queries()]
        vectors = [] if self.vectors_ is None else self.vectors_.names
        views = [] if self.views_ is None else self.views_.get_feature_names_out()
        return np.concatenate([names, np.array([*views, *vectors, *rules], dtype=object)])

    def reads_as(self, other: FeaturePipeline) -> bool:
        """Whether both give the same X for the same documents: same terms, selection and weights, no rules or views.

        Transformers of scikit-learn and encoders without a checksum cannot be compared, so pipelines with one never do.
        """
        if any(one.keywords_ or one.transformer_ or one.views_ for one in (self, other)):
            return False
        if any(one.vectors_ is not None and one.vectors_.sha256_ is None for one in (self, other)):
            return False
        terms, kept, weights, vectors = zip(*(one._reading() for one in (self, other)), strict=True)
        return terms[0] == terms[1] and np.array_equal(*kept) and np.array_equal(*weights) and vectors[0] == vectors[1]

    def _reading(self) -> tuple[Any, Any, Any, Any]:
        """Everything X depends on: how texts are counted, the selected columns, the weights of terms, the encoder."""
        vectorizer, selector, weighting = self.vectorizer_, self.selector_, self.weighting_
        settings = {} if vectorizer is None else {**vectorizer.get_params(), "n_jobs": None}
        return (
            None if vectorizer is None else (vectorizer.terms_, vectorizer.reading_, settings),
            None if selector is None else selector.kept_,
            None if weighting is None else weighting.idf_,
            None if self.vectors_ is None else (self.vectors_.sha256_, self.vectors_.is_used_),
        )

    def document_reader(self) -> Callable[[Text], CountedTerms] | None:
        """A function that returns the columns and values of one text, identical to `transform`, without a matrix.

        Building matrices costs about a millisecond whatever the length of the text, ten times the work for one
        document. None if the vectoriser of the terms, or of a further view, has no such function.
        """
        vectorizer, weighting, vectors = self.vectorizer_, self.weighting_, self.vectors_
        if vectorizer is None or self.selector_ is not None or self.keywords_ is not None:
            return None
        count, strips_markup = vectorizer.text_counter(), vectorizer.strips_markup_
        n_counted = vectorizer.n_features_out_
        if count is not None and self.views_ is not None:
            count = self.views_.text_counter(count, n_counted)
            n_counted += self.views_.n_columns
        if count is None:
            return None

        def read(text: Text) -> CountedTerms:
            whole = text if isinstance(text, str) else "\n".join(text.values())
            terms, values = count(without_markup(whole) if strips_markup else whole)
            return terms, values if weighting is None else weighting.weigh_one(terms, values)

        return read if vectors is None else vectors.reader_behind(read, n_counted, strips_markup)


def _beside(X: Csr, further: Csr | None) -> Csr:
    return X if further is None else Csr(sparse.hstack([X, further], format="csr"))
