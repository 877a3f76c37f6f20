"""Texts → matches: the documents for which each keyword rule is true (`KeywordMatcher`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.corpus import Text
from manylabel.data.documents import strings
from manylabel.estimator import Csr, Estimator, Ints
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.features.keyword_queries import Atom, Bools, Phrase, Prefix, Query, Word, atoms, holds, signed_atoms
from manylabel.features.keyword_rules import parse_rules
from manylabel.features.terms import Analysis, Terms, stem
from manylabel.features.texts import TOKENS
from manylabel.kernels.threads import available_threads
from manylabel.parameters import AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Maybe, Names, Sizes, Stored, wholes

_ENDING = "zz"
"""Letters appended to a prefix, so that a tokeniser that drops short words keeps it."""

TEXT = Satisfies("a text", lambda value: isinstance(value, str))
Key = TypeVar("Key")
Alternatives = npt.NDArray[np.int32]
"""The numbers of the words that are allowed at one position of a phrase."""


class KeywordMatcher(Estimator):
    """Match documents against keyword rules: documents × rules, 1 if the query is true for the document.

    Words are looked up in the texts themselves, so that a rule may contain words that no training document has. Texts
    and the words of queries are split as `Vectorizer` splits texts (`tokens`, `strip_accents`), always in lower case
    and without removing stop words; a word of a query that is split into several (``oil-price``) is a phrase. With a
    `stemmer`, a word matches all words with the same stem; a prefix is compared with the words as written. The fields
    of a document count as one text.

    Documents that are given as counts have no texts: words and prefixes are looked up among the names of the terms, and
    a phrase is found if it is itself a term.

    `rules` is the text of the rules (`manylabel.features.keyword_rules`), which is stored with a model.

    >>> matcher = KeywordMatcher("grain: (wheat OR corn) NOT weather\\ntrade: trad* OR \\"current account\\"")
    >>> texts = ["Wheat and weather.", "Corn trading", "on the current account", "account current"]
    >>> matcher.fit(["grain", "trade"]).transform(texts).toarray().tolist()
    [[0, 0], [1, 1], [0, 1], [0, 0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "rules": TEXT,
        "tokens": TOKENS,
        "strip_accents": OneOf(None, "unicode", "ascii"),
        "stemmer": AnyOf(OneOf(None), TEXT),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
    }
    labels_: Ints
    """The label (column of Y) of each rule."""
    terms_: list[str] | None
    """The names of the columns if documents are given as counts, else None."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "labels_": wholes(None),
        "terms_": Maybe(Names(None)),
    }

    def check_learned(self, state: Mapping[str, Any]) -> Sizes:
        """Also raise an error unless there is a label for each rule, and the rules contain words of texts."""
        sizes, queries = super().check_learned(state), self.queries()
        if len(queries) != len(state["labels_"]):
            raise ValueError("KeywordMatcher has labels for other rules than its own")
        self._check_words(queries)
        return sizes

    def __init__(
        self,
        rules: str,
        tokens: str = "words",
        strip_accents: str | None = None,
        stemmer: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.rules = rules
        self.tokens = tokens
        self.strip_accents = strip_accents
        self.stemmer = stemmer
        self.n_jobs = n_jobs

    def fit(self, labels: Sequence[str], terms: Sequence[str] | None = None) -> Self:
        """Look up the labels of the rules among `labels`; `terms` names the columns of documents given as counts."""
        self.check_parameters()
        columns = {name: column for column, name in enumerate(labels)}
        queries = self.queries()
        for label in queries:
            if label not in columns:
                raise UnknownNameError("label of a keyword rule", label, columns)
        self._check_words(queries)
        self.labels_ = np.array([columns[label] for label in queries], dtype=np.int64)
        self.terms_ = None if terms is None else list(terms)
        return self

    def queries(self) -> dict[str, Query]:
        """The query of each label, in the order of the rules."""
        return parse_rules(self.rules)

    def _check_words(self, queries: Mapping[str, Query]) -> None:
        for label, atom in self.never_found(queries).items():
            raise DataError(
                f"The keyword rule of {label!r} contains {atom}, which would never be found: it is not a word as texts "
                f"are split here (tokens = {self.tokens!r})."
            )

    def never_found(self, queries: Mapping[Key, Query]) -> dict[Key, Atom]:
        """By label or line, the first atom of a query that is no word as texts are split; none where all are."""
        pieces = self._pieces([atom for query in queries.values() for atom in atoms(query)])
        lost = {label: [atom for atom in atoms(query) if not pieces[atom]] for label, query in queries.items()}
        return {label: found[0] for label, found in lost.items() if found}

    # --- matching ---------------------------------------------------------------------------------------------

    def transform(self, documents: Iterable[Text] | Csr) -> Csr:
        """Documents × rules, 1 if the rule is true, for texts or for counts of the terms given to `fit`."""
        self.check_fitted()
        queries = list(self.queries().values())
        wanted = list(dict.fromkeys(atom for query in queries for atom in atoms(query)))
        if sparse.issparse(documents) or isinstance(documents, np.ndarray):
            n_documents, occurs = self._in_counts(Csr(documents), wanted)
        else:
            n_documents, occurs = self._in_texts(documents, wanted)
        found = [np.flatnonzero(holds(query, occurs)) for query in queries]
        starts = np.cumsum([0, *map(len, found)])
        by_rule = sparse.csc_array(
            (np.ones(starts[-1], dtype=np.int8), np.concatenate(found), starts), shape=(n_documents, len(queries))
        )
        return Csr(by_rule.tocsr())

    def _in_texts(self, texts: Iterable[Text], wanted: list[Atom]) -> tuple[int, Callable[[Atom], Bools]]:
        terms = self.analysis_.terms(strings(texts), available_threads(self.n_jobs))
        alternatives = self._alternatives(wanted, terms.names)
        positions = _Positions(terms, [found[0] for found in alternatives.values()])
        return terms.n_documents, lambda atom: positions.documents(alternatives[atom])

    def _in_counts(self, X: Csr, wanted: list[Atom]) -> tuple[int, Callable[[Atom], Bools]]:
        if self.terms_ is None:
            raise DataError(
                "Keyword rules contain words, but these documents are counts of terms without names.",
                remedy="Use texts, or data that name their terms.",
            )
        names = [name.lower() for name in self.terms_]
        columns = {name: column for column, name in enumerate(names)}
        alternatives, by_term = self._alternatives(wanted, names), sparse.csc_array(X > 0)

        def occurs(atom: Atom) -> Bools:
            found = alternatives[atom]
            chosen = found[0]
            if len(found) > 1:
                whole = " ".join(piece.text for piece in self._pieces([atom])[atom])
                chosen = np.array([columns.get(whole, -1)], dtype=np.int32)
                if chosen[0] < 0:
                    raise DataError(
                        f"The phrase {atom} cannot be looked up in counts, which do not keep the order of words, "
                        "unless it is one of their terms.",
                        remedy="Use texts, or write a rule without phrases.",
                    )
            present = np.zeros(X.shape[0], dtype=np.bool_)
            for column in chosen.tolist():
                present[by_term.indices[by_term.indptr[column] : by_term.indptr[column + 1]]] = True
            return present

        return X.shape[0], occurs

    def places(self, tokens: Sequence[str]) -> list[list[tuple[int, int]]]:
        """For each rule, where the words and phrases that support it stand in a text: first token, token behind."""
        self.check_fitted()
        names = list(dict.fromkeys(tokens))
        number = {name: place for place, name in enumerate(names)}
        spoken = [number[token] for token in tokens]
        queries = list(self.queries().values())
        alternatives = self._alternatives([atom for query in queries for atom in atoms(query)], names)
        found: list[list[tuple[int, int]]] = []
        for query in queries:
            phrases = [[set(one.tolist()) for one in alternatives[atom]] for atom, yes in signed_atoms(query) if yes]
            found.append(
                [
                    (start, start + len(phrase))
                    for phrase in phrases
                    for start in range(len(spoken) - len(phrase) + 1)
                    if all(spoken[start + step] in allowed for step, allowed in enumerate(phrase))
                ]
            )
        return found

    @property
    def analysis_(self) -> Analysis:
        """How texts become the words that rules look for."""
        return Analysis(tokens=self.tokens, lowercase=True, strip_accents=self.strip_accents)

    def words(self, terms: Sequence[str]) -> Csr:
        """Rules × terms: 1 for the terms of a vocabulary that support a rule, including those of its phrases."""
        self.check_fitted()
        queries = list(self.queries().values())
        alternatives = self._alternatives([atom for query in queries for atom in atoms(query)], list(terms))
        columns = [
            np.unique(np.concatenate([np.zeros(0, np.int32), *self._positive(query, alternatives)]))
            for query in queries
        ]
        indptr = np.cumsum([0, *map(len, columns)])
        entries = (np.ones(indptr[-1], dtype=np.int8), np.concatenate([np.zeros(0, np.int32), *columns]), indptr)
        return Csr(entries, shape=(len(queries), len(terms)))

    @staticmethod
    def _positive(query: Query, alternatives: Mapping[Atom, list[Alternatives]]) -> Iterator[Alternatives]:
        """The numbers of the words that support a query."""
        for atom, positive in signed_atoms(query):
            if positive:
                yield from alternatives[atom]

    # --- words of queries -------------------------------------------------------------------------------------

    def _pieces(self, wanted: Sequence[Atom]) -> dict[Atom, list[Word | Prefix]]:
        """The words and prefixes of each atom, in order, split as texts are."""
        parts = {atom: atom.words if isinstance(atom, Phrase) else (atom,) for atom in wanted}
        distinct = list(dict.fromkeys(part for words in parts.values() for part in words))
        texts = [part.text + _ENDING if isinstance(part, Prefix) else part.text for part in distinct]
        tokens = dict(zip(distinct, _tokens(self.analysis_, texts), strict=True))
        split = {part: _as_words(part, found) for part, found in tokens.items()}
        return {atom: [piece for part in words for piece in split[part]] for atom, words in parts.items()}

    def _alternatives(self, wanted: Sequence[Atom], names: list[str]) -> dict[Atom, list[Alternatives]]:
        """For each position of each atom, the numbers of the words that are allowed there."""
        pieces = self._pieces(wanted)
        distinct = list(dict.fromkeys(piece for found in pieces.values() for piece in found))
        stems = names if self.stemmer is None else stem(names, self.stemmer)
        texts = [piece.text for piece in distinct]
        looked_for = texts if self.stemmer is None else stem(texts, self.stemmer)
        by_stem: dict[str, list[int]] = {name: [] for name in looked_for}
        for number, name in enumerate(stems):
            if name in by_stem:
                by_stem[name].append(number)
        numbers: dict[Word | Prefix, Alternatives] = {}
        sorted_names = sorted((name, number) for number, name in enumerate(names))
        for piece, stemmed in zip(distinct, looked_for, strict=True):
            found = by_stem[stemmed]
            if isinstance(piece, Prefix):
                found = _with_prefix(sorted_names, piece.text)
            numbers[piece] = np.array(found, dtype=np.int32)
        return {atom: [numbers[piece] for piece in found] for atom, found in pieces.items()}


def _with_prefix(sorted_names: list[tuple[str, int]], prefix: str) -> list[int]:
    """The numbers of the names that begin with a prefix."""
    rest = islice(sorted_names, bisect_left(sorted_names, (prefix, -1)), None)
    return sorted(number for _, number in takewhile(lambda pair: pair[0].startswith(prefix), rest))


def _as_words(part: Word | Prefix, found: list[str]) -> list[Word | Prefix]:
    """The tokens of a word as words; those of a prefix, which was split with an ending, end in a prefix."""
    if isinstance(part, Word):
        return [Word(text) for text in found]
    if not found or not found[-1].endswith(_ENDING) or found[-1] == _ENDING:
        return []
    return [*(Word(text) for text in found[:-1]), Prefix(found[-1].removesuffix(_ENDING))]


class _Positions:
    """The positions in a list of documents of the words with which a phrase may begin."""

    def __init__(self, terms: Terms, first: Sequence[Alternatives]) -> None:
        self.ids = np.concatenate([batch.terms for batch in terms.batches])
        lengths = np.concatenate([np.diff(batch.indptr) for batch in terms.batches])
        self.n_documents, self.n_words = terms.n_documents, len(terms.names)
        self.document = np.repeat(np.arange(len(lengths)), lengths)
        begins = np.zeros(self.n_words, dtype=np.bool_)
        begins[np.concatenate([np.zeros(0, dtype=np.int32), *first])] = True
        here = np.flatnonzero(begins[self.ids])
        self.order = here[np.argsort(self.ids[here], kind="stable")]
        self.starts = np.searchsorted(self.ids[self.order], np.arange(self.n_words + 1))

    def documents(self, phrase: list[Alternatives]) -> Bools:
        """The documents that contain the phrase, whose words are each one of some alternatives."""
        if not phrase[0].size:
            return np.zeros(self.n_documents, dtype=np.bool_)
        here = np.concatenate(
            [
                np.zeros(0, dtype=np.int64),
                *(self.order[self.starts[w] : self.starts[w + 1]] for w in phrase[0].tolist()),
            ]
        )
        first = self.document[here]
        for step, alternatives in enumerate(phrase[1:], start=1):
            fits = np.zeros(self.n_words, dtype=np.bool_)
            fits[alternatives] = True
            after = np.minimum(here + step, len(self.ids) - 1)
            kept = (here + step < len(self.ids)) & (self.document[after] == first) & fits[self.ids[after]]
            here, first = here[kept], first[kept]
        found = np.zeros(self.n_documents, dtype=np.bool_)
        found[first] = True
        return found


def _tokens(analysis: Analysis, texts: list[str]) -> list[list[str]]:
    """The words of each text, in order."""
    if not texts:
        return []
    terms, found = analysis.terms(texts), list[list[str]]()
    for batch in terms.batches:
        named = [terms.names[number] for number in batch.terms.tolist()]
        found.extend(named[start:stop] for start, stop in zip(batch.indptr[:-1], batch.indptr[1:], strict=True))
    return found


def keyword_matcher(
    rules: str, features: Mapping[str, Any], labels: Sequence[str], terms: Sequence[str] | None, n_jobs: int | None
) -> KeywordMatcher:
    """A fitted `KeywordMatcher` that splits texts as a `Vectorizer` with these settings does."""
    shared = {name: features[name] for name in ("tokens", "strip_accents", "stemmer") if name in features}
    return KeywordMatcher(rules, n_jobs=n_jobs, **shared).fit(labels, terms)
