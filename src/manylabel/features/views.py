"""Further views of documents, beside the terms that are columns of X anyway: runs of characters, word pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from manylabel.data.corpus import Text
from manylabel.data.documents import strings
from manylabel.estimator import Csr, Estimator
from manylabel.features.facts import Facts
from manylabel.features.terms import CountedTerms
from manylabel.features.vectorize import Vectorizer
from manylabel.progress import stage
from manylabel.stored import Each, Names, Part, Stored

VIEWS: Mapping[str, Mapping[str, Any]] = {
    "characters": {"analyzer": "char_wb", "ngram_range": (4, 4), "min_df": 2, "stemmer": None},
    "pairs": {"ngram_range": (2, 2), "min_df": 2},
}
"""The settings in which the vectoriser of each view differs from that of the terms."""
KINDS_OF_TERMS = ("analyzer", "ngram_range", "n_hashes")
"""The settings of a `Vectorizer` by which terms are others than words; then there are no further views."""
TextCounter: TypeAlias = Callable[[str], CountedTerms]


class FurtherViews(Estimator):
    """The fitted vectorisers of the views that a model reads; their counts are columns of X behind the terms.

    >>> offered = OfferedViews(["late bus", "late buses", "no bus"], {})
    >>> views = offered.kept(["characters"])
    >>> views.get_feature_names_out()[:4]
    ['characters:  bus', 'characters:  lat', 'characters: ate ', 'characters: bus ']
    >>> views.transform(["bus!"]).nnz
    1
    """

    names_: list[str]
    vectorizers_: list[Vectorizer]

    learned: ClassVar[Mapping[str, Stored]] = {
        "names_": Names("views"),
        "vectorizers_": Each(Part(Vectorizer), "views"),
    }

    def __init__(self) -> None:
        """Takes no parameters."""

    @property
    def n_columns(self) -> int:
        """The number of columns of all views."""
        return sum(one.n_features_out_ for one in self.vectorizers_)

    def starts(self, first: int) -> list[int]:
        """The first column of each view, if the terms have the columns before `first`."""
        return list(accumulate((one.n_features_out_ for one in self.vectorizers_), initial=first))[:-1]

    def transform(self, documents: Sequence[Text]) -> Csr:
        """The counts of all views side by side."""
        return Csr(sparse.hstack([one.transform(documents) for one in self.vectorizers_], format="csr"))

    def get_feature_names_out(self) -> list[str]:
        """The terms of all views behind the names of their views, in the order of the columns."""
        pairs = zip(self.names_, self.vectorizers_, strict=True)
        return [f"{name}: {term}" for name, one in pairs for term in one.terms_]

    def text_counter(self, terms: TextCounter, first: int) -> TextCounter | None:
        """A function that counts the terms of one text and those of all views behind them; None where a view has none.

        `terms` counts the terms, which have the columns before `first`. The counts are those of `transform`.
        """
        counters = [one.text_counter() for one in self.vectorizers_]
        known = [terms, *(count for count in counters if count is not None)]
        if len(known) <= len(counters):
            return None
        starts = [0, *self.starts(first)]

        def count(text: str) -> CountedTerms:
            found = [one(text) for one in known]
            columns = [terms + np.int32(start) for (terms, _), start in zip(found, starts, strict=True)]
            return np.concatenate(columns), np.concatenate([values for _, values in found])

        return count


class OfferedViews:
    """Views of the training documents that a model may ask for: each is counted when it is asked for first.

    `settings` are those of the vectoriser of the terms, see `facts`.

    >>> OfferedViews(["late bus", "late buses"], {}).counts("pairs") is None
    True
    """

    def __init__(self, documents: Sequence[Text], settings: Mapping[str, Any], n_jobs: int | None = None) -> None:
        self.documents, self.settings, self.n_jobs = documents, settings, n_jobs
        self._counted: dict[str, tuple[Vectorizer, Csr] | None] = {}

    @classmethod
    def facts(cls, vectorizer: Vectorizer, documents: Sequence[Text]) -> Facts:
        """Views that read texts as the fitted vectoriser of the terms does; none unless these are single words."""
        settings = vectorizer.changed_params()
        if any(name in settings for name in KINDS_OF_TERMS):
            return {}
        chosen = {"tokens": vectorizer.tokens_, "stemmer": vectorizer.stemmer_}
        markup = "strip" if vectorizer.strips_markup_ else "keep"
        return {"views": cls(documents, {**settings, **chosen, "markup": markup}, vectorizer.n_jobs)}

    @property
    def n_characters(self) -> int:
        """The characters of all documents: a view of runs of one length has no more non-zeros than that."""
        return sum(len(text) for text in strings(self.documents))

    def counts(self, name: str) -> Csr | None:
        """Documents × terms of a view; None where no term of it occurs in two documents."""
        if name not in self._counted:
            self._counted[name] = self._count(name)
        found = self._counted[name]
        return None if found is None else found[1]

    def _count(self, name: str) -> tuple[Vectorizer, Csr] | None:
        vectorizer = Vectorizer(**{"n_jobs": self.n_jobs, **self.settings, **VIEWS[name]})
        with stage(f"Reading {name}"):
            counts = vectorizer.count(self.documents)
            if not (np.bincount(counts.indices, minlength=1) >= vectorizer.min_df).any():
                return None
            return vectorizer, vectorizer.prune(counts)

    def kept(self, names: Sequence[str]) -> FurtherViews:
        """The vectorisers of some views, whose counts were asked for or are made now."""
        for name in names:
            self.counts(name)
        found = [(name, one[0]) for name in names if (one := self._counted[name]) is not None]
        state = {"names_": [name for name, _ in found], "vectorizers_": [vectorizer for _, vectorizer in found]}
        return FurtherViews().restore(state)
