"""One document at a time, without building matrices.

Calling a vectoriser, a sparse product and a decision rule costs about a millisecond of bookkeeping whatever the length
of the text; for a single document the work itself is a tenth of that. So the fitted parts of a classifier are asked
once for what they know (the column of each word, the weights of each term, the cuts), and a document is then counted,
weighed, scored by gathering the rows of its terms, and decided. The answers are those of the long way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Self

import numpy as np

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.decided import DecidedModel
from manylabel.estimator import Floats
from manylabel.features import Vectorizer, Weighting
from manylabel.features.texts import Text
from manylabel.kernels import text as kernels
from manylabel.kernels.text_reference import Tokens
from manylabel.models.base import DocumentScorer, ScoreKind


@dataclass(frozen=True, slots=True)
class OneDocument:
    """The short way from a text to its scores."""

    tokenize: Callable[[str], Tokens]
    columns: dict[str, int]
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
        columns = vectorizer.vocabulary_
        return cls(_tokenizer(vectorizer), columns, weighting, score, decided.rule_, decided.score_kind)

    def labels(self, text: Text) -> list[int]:
        """The columns of the labels given to one text."""
        chosen: list[int] = self.rule.decide_dense(self.scores(text)[np.newaxis], self.kind)[0].nonzero()[0].tolist()
        return chosen

    def scores(self, text: Text) -> Floats:
        """The scores of one text for all labels."""
        whole = text if isinstance(text, str) else "\n".join(text.values())
        ids, _, words = self.tokenize(whole)
        columns = np.fromiter(map(self.columns.get, words, repeat(-1)), dtype=np.int32, count=len(words))
        order = columns.argsort()
        terms = columns[order]
        known = int(terms.searchsorted(0))
        terms, values = terms[known:], np.bincount(ids, minlength=len(words))[order[known:]].astype(np.float64)
        if self.weighting is not None:
            values = self.weighting.weigh_one(terms, values)
        return self.score(terms, values)


def _tokenizer(vectorizer: Vectorizer) -> Callable[[str], Tokens]:
    """The words of one text as numbers, their starts (unused here) and the distinct words."""
    mode, lowercase = vectorizer.tokens, bool(vectorizer.lowercase)
    if mode in ("words", "letters"):
        return lambda text: kernels.tokenize([text], mode, lowercase)
    find = re.compile(mode).findall
    return lambda text: kernels.intern_tokens([find(text.lower() if lowercase else text)])


def _is_plain(vectorizer: Vectorizer) -> bool:
    """Whether terms are single words looked up as they stand. Stop words are: they are in no vocabulary."""
    return (
        vectorizer.analyzer == "word"
        and tuple(vectorizer.ngram_range) == (1, 1)
        and vectorizer.strip_accents is None
        and vectorizer.stemmer is None
        and vectorizer.fields is None
        and vectorizer.n_hashes is None
    )
