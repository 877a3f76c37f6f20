"""Texts → X: documents × terms, how often each term occurs (`Vectorizer`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from manylabel.data.corpus import Text
from manylabel.data.documents import WHOLE, check_fields, strings
from manylabel.estimator import Csr, Ints, Transformer
from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.features.languages import LANGUAGES, stop_words
from manylabel.features.reading import GUESS, Reading
from manylabel.features.scripts import without_markup
from manylabel.features.terms import Analysis, CountedTerms, Terms, stemmer_languages
from manylabel.features.texts import DOCUMENTS, LENGTHS, TOKENS, WORDS, is_words
from manylabel.features.vocabulary import LearnedTerms, TermTable, alphabetical, hashed_columns, prunes, select_columns
from manylabel.kernels.threads import available_threads
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Flag, Maybe, Names, Sometimes, Stored, Word, total, wholes
from manylabel.wording import counted

ALWAYS_STORED = "terms_", "document_frequency_", "n_documents_"


class Vectorizer(Transformer):
    r"""Count the terms of each document: X, documents × terms, a CSR matrix of whole numbers.

    A document is a string, or a mapping from field names to strings. Columns are sorted by term. With the same settings
    the result equals that of scikit-learn's `CountVectorizer`, for every script.

    Parameters
    ----------
    tokens : "words" (runs of two or more word characters, ``\b\w\w+\b``), "letters" (``[a-z]+``, used for
        Vilar, Castro & Sanchis 2004), "pairs" (of characters in scripts without spaces, words elsewhere), "marked"
        (words of scripts with vowel signs), or a regular expression with at most one group that does not backtrack
        without end; "auto" takes "words", "pairs" or "marked" by the script of the texts: see `tokens_`.
    lowercase : convert texts to lower case first.
    strip_accents : None, "unicode" or "ascii".
    analyzer : "word"; "char" for runs of characters; "char_wb" for runs of characters inside words.
    ngram_range : the lengths of the shortest and the longest run of words (or characters) that is a term.
    stop_words : None, a language with a built-in list, or a list of words. They are removed before n-grams
        are formed.
    stemmer : None or a language of Snowball ("english", "german", ...; "porter" for Porter 1980); "auto" detects the
        language of the texts by their stop words, and does not stem if it finds none: see `stemmer_`.
    min_df : leave out terms of fewer documents than this number (int) or share (float).
    max_df : leave out terms of more documents than this number (int) or share (float).
    max_features : the largest number of terms; the most frequent ones are kept, ties in alphabetical order.
    fields : count the terms of each field in columns of their own, named ``field:term``. The field "*" is the whole
        document, whose terms keep their names: ``("title", "*")`` adds the words of the title to all words.
    n_hashes : use no vocabulary: the column of a term is its MurmurHash3 modulo this number, as in scikit-learn's
        `HashingVectorizer`.
    n_jobs : the number of threads; None or -1 uses all cores. The result does not depend on it.
    markup : "keep" reads HTML as text; "strip" removes it; "auto" removes it if more than half of the training
        documents contain it: see `strips_markup_`.

    >>> vectorizer = Vectorizer(min_df=2)
    >>> X = vectorizer.fit_transform(["the bus was late", "a hole in the road", "late bus, bad road"])
    >>> vectorizer.terms_
    ['bus', 'late', 'road', 'the']
    >>> X.toarray().tolist()
    [[1, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "tokens": TOKENS,
        "lowercase": FLAG,
        "strip_accents": OneOf(None, "unicode", "ascii"),
        "analyzer": OneOf("word", "char", "char_wb"),
        "ngram_range": LENGTHS,
        "stop_words": AnyOf(OneOf(None, *LANGUAGES), WORDS),
        "stemmer": AnyOf(
            OneOf(None, GUESS),
            Satisfies("a language of Snowball", lambda value: isinstance(value, str) and value != "none"),
        ),
        "min_df": DOCUMENTS,
        "max_df": DOCUMENTS,
        "max_features": AnyOf(OneOf(None), Number(low=1, whole=True)),
        "fields": AnyOf(OneOf(None), Satisfies("a list of field names", lambda given: is_words(given) and bool(given))),
        "n_hashes": AnyOf(OneOf(None), Number(low=1, high=2**31 - 1, whole=True)),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
        "markup": OneOf("keep", "strip", GUESS),
    }

    _table: TermTable | None = None
    """The counts of all terms, before pruning; None after `keep` and `restore`."""
    _learned: LearnedTerms | None = None
    """The kept terms; None until they are asked for."""
    _narrowed: bool = False
    """Whether `keep` chose among the terms."""
    _reading: Reading = Reading()
    """The settings, each "auto" replaced by what the training texts led to."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "terms_": Names("terms"),
        "document_frequency_": wholes(None),
        "n_documents_": total(),
        "narrowed_": Sometimes(Flag()),
        "tokens_": Sometimes(Word()),
        "stemmer_": Sometimes(Maybe(Word())),
        "strips_markup_": Sometimes(Flag()),
    }

    def __init__(
        self,
        *,
        tokens: str = "words",
        lowercase: bool = True,
        strip_accents: str | None = None,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        stop_words: str | Sequence[str] | None = None,
        stemmer: str | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        fields: Sequence[str] | None = None,
        n_hashes: int | None = None,
        n_jobs: int | None = None,
        markup: str = "keep",
    ) -> None:
        self.tokens = tokens
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.fields = fields
        self.n_hashes = n_hashes
        self.n_jobs = n_jobs
        self.markup = markup

    def check_parameters(self) -> None:
        """Check the parameters one by one, then those that exclude each other."""
        super().check_parameters()
        if self.stemmer not in (None, GUESS) and self.stemmer not in (known := stemmer_languages()):
            raise UnknownNameError("stemmer", self.stemmer, [*known, GUESS])
        if self.n_hashes is not None and prunes(self.min_df, self.max_df, self.max_features):
            raise ParameterError(
                "Vectorizer: with n_hashes there is no vocabulary to prune. Leave out min_df, max_df and "
                "max_features, or leave out n_hashes."
            )

    def fit(self, texts: Iterable[Text], y: object = None) -> Self:
        """Learn the vocabulary; `y` is ignored."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[Text], y: object = None) -> Csr:
        """Learn the vocabulary and return the counts of its terms: ``prune(count(texts))``."""
        return self.framed(self.prune(self.count(texts)), texts)

    def count(self, texts: Iterable[Text]) -> Csr:
        """Learn the vocabulary and return the counts of all terms, before pruning; columns are sorted by term.

        Counts of counts (how many terms occur once, twice ...) must be taken from this matrix; then pass it to `prune`.
        """
        terms = self._terms_of(texts, at_least_one=True)
        table = self._forget()
        if self.n_hashes is not None:
            X = terms.counts(hashed_columns(terms.names, self.n_hashes), self.n_hashes)
            table.n_documents = X.shape[0]
            return X
        names, columns = terms.names, np.arange(len(terms.names), dtype=np.int32)
        if not terms.is_sorted:
            order, names = alphabetical(terms.names)
            columns[order] = np.arange(len(order), dtype=np.int32)
        X = terms.counts(columns, len(names))
        table.add(names, X, is_sorted=True)
        return X

    def prune(self, X: Csr) -> Csr:
        """Learn which terms to keep (`min_df`, `max_df`, `max_features`); return their columns of `count`'s matrix."""
        table = self._all_terms()
        if self.n_hashes is None and X.shape[1] != len(table.names):
            raise ParameterError(
                f"Vectorizer: the matrix to prune has {counted(X.shape[1], 'column')}, but count found "
                f"{len(table.names)} terms. Pass the matrix that count returned, before anything else is learned."
            )
        mask = self.finish()
        return X if mask is None else select_columns(X, mask)

    def keep(self, columns: Ints) -> Self:
        """Keep only the terms of the given columns, in ascending order: those a selection by the labels chose.

        Afterwards `partial_fit` raises an error: it could not distinguish the removed terms from new ones.
        """
        if self.n_hashes is not None:
            raise ParameterError("Vectorizer: with n_hashes there are no terms to choose from. Leave out n_hashes.")
        self._learned = self._finished().of(columns)
        self._table, self._narrowed = None, True
        return self

    def partial_fit(self, texts: Iterable[Text], y: object = None) -> Self:
        """Learn from further documents; the batches of a corpus give the same result as `fit` on all of it."""
        table = self._all_terms().copy()
        terms = self._terms_of(texts, at_least_one=False)
        if self.n_hashes is None:
            identity = np.arange(len(terms.names), dtype=np.int32)
            table.add(terms.names, terms.counts(identity, len(terms.names)))
        else:
            table.n_documents += terms.n_documents
        self._table, self._learned = table, None
        return self

    def finish(self) -> npt.NDArray[np.bool_] | None:
        """Prune the terms learned so far; return which are kept (None with hashing, which has no vocabulary).

        It is called automatically when a learned attribute is read.
        """
        table = self._all_terms()
        if table.n_documents == 0:
            raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
        if self.n_hashes is not None:
            self._learned = LearnedTerms([], np.zeros(0, dtype=np.int64), table.n_documents)
            return None
        table.sort()
        mask = table.kept(self.min_df, self.max_df, self.max_features)
        if not mask.any():
            raise DataError(
                f"None of the {counted(len(table.names), 'term')} found in {counted(table.n_documents, 'document')} "
                "is kept.",
                remedy="Check that the documents are not empty; relax tokens, stop_words, min_df or max_df.",
            )
        names = list(compress(table.names, mask.tolist()))
        self._learned = LearnedTerms(names, table.document_frequency[mask], table.n_documents)
        return mask

    def transform(self, texts: Iterable[Text]) -> Csr:
        """The counts of the learned terms in each document; terms never seen in training are left out."""
        self.check_fitted()
        terms = self._terms_of(texts, at_least_one=False)
        if self.n_hashes is not None:
            return self.framed(terms.counts(hashed_columns(terms.names, self.n_hashes), self.n_hashes), texts)
        find = self.vocabulary_.get
        columns = np.array([find(name, -1) for name in terms.names], dtype=np.int32)
        return self.framed(terms.counts(columns, len(self.terms_)), texts)

    def text_counter(self) -> Callable[[str], CountedTerms] | None:
        """A function that counts the learned terms of one text, identical to `transform`; None if there is none."""
        return None if self.n_hashes is not None else self.analysis_.text_counter(self._finished())

    @property
    def terms_(self) -> list[str]:
        """The term of each column, in alphabetical order; empty with hashing."""
        return self._finished().names

    @property
    def stemmer_(self) -> str | None:
        """The stemmer in use: the parameter, or with "auto" that of the language detected in the training texts.

        >>> Vectorizer(stemmer="auto").fit(["the holes in the roads", "a hole in the road"]).stemmer_
        'english'
        """
        return self._reading.stemmer

    @property
    def tokens_(self) -> str:
        """How texts are split: the parameter, or with "auto" what suits the script of the training texts."""
        return self._reading.tokens

    @property
    def strips_markup_(self) -> bool:
        """Whether HTML is removed: the parameter, or with "auto" whether most training documents contain it."""
        return self._reading.strips_markup

    @property
    def reading_(self) -> list[str]:
        """What was chosen for the texts, in words: the stemmer, tokens for scripts without spaces, HTML."""
        return self._reading.phrases()

    @property
    def analysis_(self) -> Analysis:
        """How texts become terms, by the settings and what was chosen for the training texts."""
        stopped = stop_words(self.stop_words) if isinstance(self.stop_words, str) else self.stop_words or ()
        return Analysis(
            tokens=self.tokens_,
            lowercase=bool(self.lowercase),
            strip_accents=self.strip_accents,
            analyzer=self.analyzer,
            ngram_range=(int(self.ngram_range[0]), int(self.ngram_range[1])),
            stop_words=frozenset(stopped),
            stemmer=self.stemmer_,
            fields=None if self.fields is None else tuple(self.fields),
        )

    @property
    def document_frequency_(self) -> Ints:
        """The number of training documents that contain each term."""
        return self._finished().document_frequency

    @property
    def n_documents_(self) -> int:
        """The number of training documents."""
        return self._finished().n_documents

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        return self._finished().columns

    @property
    def n_features_out_(self) -> int:
        """The number of columns."""
        return len(self.terms_) if self.n_hashes is None else self.n_hashes

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The name of each column: its term, or with hashing ``hash0``, ``hash1`` ..."""
        self.check_fitted()
        names = self.terms_ if self.n_hashes is None else [f"hash{column}" for column in range(self.n_hashes)]
        return np.array(names, dtype=object)

    @property
    def is_fitted(self) -> bool:
        """Whether any document has been seen."""
        return self._learned is not None or (self._table is not None and self._table.n_documents > 0)

    def learned_state(self) -> dict[str, Any]:
        """The kept terms, their document frequencies and the number of documents."""
        if not self.is_fitted:
            return {}
        state: dict[str, Any] = {name: getattr(self, name) for name in ALWAYS_STORED}
        if self._narrowed:
            state["narrowed_"] = True
        return state | self._reading.learned_state() if GUESS in self._open_settings().values() else state

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Set the learned attributes to what `learned_state` returned."""
        if missing := [name for name in ALWAYS_STORED if name not in state]:
            raise ParameterError(f"Vectorizer: the learned attribute {missing[0]!r} is missing from the stored state.")
        frequency = np.asarray(state["document_frequency_"], dtype=np.int64)
        self._learned = LearnedTerms(list(state["terms_"]), frequency, int(state["n_documents_"]))
        self._table, self._narrowed = None, bool(state.get("narrowed_", False))
        self._reading = Reading.restored(state, **self._open_settings())
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def _forget(self) -> TermTable:
        """Drop everything learned; return the new, empty table of terms."""
        self._table, self._learned, self._narrowed = TermTable(), None, False
        return self._table

    def _finished(self) -> LearnedTerms:
        if self._learned is None:
            self.check_fitted()
            self.finish()
        return cast(LearnedTerms, self._learned)

    def _all_terms(self) -> TermTable:
        """The table of all terms, rebuilt after `restore` if nothing was pruned."""
        if self._table is not None:
            return self._table
        if self._learned is None:
            return self._forget()
        if self._narrowed:
            raise DataError(
                "The terms of this Vectorizer were selected by the labels, so it cannot go on learning.",
                remedy="Fit again.",
            )
        if prunes(self.min_df, self.max_df, self.max_features):
            raise DataError(
                "This Vectorizer was restored from a file, which does not store the terms it pruned, so it cannot go "
                "on learning.",
                remedy="Learn the vocabulary without min_df, max_df and max_features, or fit again.",
            )
        self._table = TermTable.of(self._learned)
        return self._table

    def _terms_of(self, texts: Iterable[Text], at_least_one: bool) -> Terms:
        if at_least_one or not self.is_fitted:
            self.check_parameters()
        fields = None if self.fields is None else tuple(self.fields)
        if at_least_one and fields is not None:
            texts = list(texts)
            check_fields(texts, fields)
        documents = strings(texts, fields)
        if at_least_one and not documents:
            raise DataError("There are no documents to learn from.", remedy="Give at least one document.")
        if at_least_one or not self.is_fitted:
            self._reading = Reading.of(documents, n_fields=len(fields or (WHOLE,)), **self._open_settings())
        if self.strips_markup_:
            documents = [without_markup(text) for text in documents]
        return self.analysis_.terms(documents, available_threads(self.n_jobs))

    def _open_settings(self) -> dict[str, Any]:
        """The settings that may be left to the texts."""
        return {"tokens": self.tokens, "stemmer": self.stemmer, "markup": self.markup}
