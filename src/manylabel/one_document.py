"""One document at a time, without building matrices.

Calling a vectoriser, a sparse product and a decision rule costs about a millisecond of bookkeeping whatever the length
of the text; for a single document the work itself is a tenth of that. So the fitted parts of a classifier are asked
once for what they know (the column of each word, the weights of each term, the cuts), and a document is then counted,
weighed, scored by gathering the rows of its terms, and decided. The answers are those of the long way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.decided import DecidedModel
from manylabel.estimator import Floats
from manylabel.features import Vectorizer, Weighting
from manylabel.features.terms import stem
from manylabel.features.texts import Text
from manylabel.kernels import text as kernels
from manylabel.models.base import DocumentScorer, ScoreKind

MOST_WORDS = 1 << 17
"""Words whose stems' columns are remembered."""

CountedTerms = tuple[npt.NDArray[np.int32], Floats]


@dataclass(frozen=True, slots=True)
class OneDocument:
    """The short way from a text to its scores."""

    count: Callable[[str], CountedTerms]
    weighting: Weighting | None
    score: DocumentScorer
    rule: DecisionRule
    kind: ScoreKind

    @classmethod
    def of(cls, vectorizer: Vectorizer | None, weighting: Weighting | None, decided: DecidedModel) -> Self | None:
        """The short way of fitted parts; None where a setting or a model has none."""
        if vectorizer is None or decided.rule_ is None or not _is_plain(vectorizer):
            return None
        score = decided.document_scorer()
        if score is None:
            return None
        return cls(_counter(vectorizer), weighting, score, decided.rule_, decided.score_kind)

    def labels(self, text: Text) -> list[int]:
        """The columns of the labels given to one text."""
        chosen: list[int] = self.rule.decide_dense(self.scores(text)[np.newaxis], self.kind)[0].nonzero()[0].tolist()
        return chosen

    def scores(self, text: Text) -> Floats:
        """The scores of one text for all labels."""
        terms, values = self.count(text if isinstance(text, str) else "\n".join(text.values()))
        if self.weighting is not None:
            values = self.weighting.weigh_one(terms, values)
        return self.score(terms, values)


def _counter(vectorizer: Vectorizer) -> Callable[[str], CountedTerms]:
    """A function that counts the known terms of one text: their columns, ascending, and how often each occurs."""
    mode, lowercase = vectorizer.tokens, bool(vectorizer.lowercase)
    if vectorizer.stemmer_ is not None:
        return _stem_counter(vectorizer, vectorizer.stemmer_)
    if mode in ("words", "letters"):
        return kernels.WordCounter(vectorizer.terms_, mode, lowercase).count
    find, columns = re.compile(mode).findall, vectorizer.vocabulary_

    def count(text: str) -> CountedTerms:
        found = Counter(find(text.lower() if lowercase else text))
        known = sorted((columns[term], times) for term, times in found.items() if term in columns)
        return np.array([c for c, _ in known], dtype=np.int32), np.array([n for _, n in known], dtype=np.float64)

    return count


def _stem_counter(vectorizer: Vectorizer, language: str) -> Callable[[str], CountedTerms]:
    """The same for stems. The column of a word is looked up once; the words of a language soon repeat themselves."""
    mode, lowercase, columns = vectorizer.tokens, bool(vectorizer.lowercase), vectorizer.vocabulary_
    stopped = vectorizer.stopped_
    column_of: dict[str, int] = {}

    def count(text: str) -> CountedTerms:
        ids, _, words = kernels.tokenize([text], mode, lowercase)
        spelled = kernels.spelled(words)
        new = [word for word in spelled if word not in column_of]
        met = {
            word: -1 if word in stopped else columns.get(stemmed, -1)
            for word, stemmed in zip(new, stem(new, language), strict=True)
        }
        of_words = [met[word] if word in met else column_of[word] for word in spelled]
        if len(column_of) < MOST_WORDS:  # nothing is ever taken out again, so that threads may share it
            column_of.update(met)
        of_tokens = np.array(of_words, dtype=np.int64)[ids]
        terms, counts = np.unique(of_tokens[of_tokens >= 0], return_counts=True)
        return terms.astype(np.int32), counts.astype(np.float64)

    return count


def _is_plain(vectorizer: Vectorizer) -> bool:
    """Whether terms are single words looked up as they stand, or their stems. Stop words may be: they are in no
    vocabulary.
    """
    return (
        vectorizer.analyzer == "word"
        and tuple(vectorizer.ngram_range) == (1, 1)
        and vectorizer.strip_accents is None
        and (vectorizer.stemmer_ is None or vectorizer.tokens in ("words", "letters"))
        and vectorizer.fields is None
        and vectorizer.n_hashes is None
    )
