"""Parts of a corpus: what they are called, and how several files become one corpus with a split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from scipy import sparse

from manylabel.data.corpus import Corpus
from manylabel.estimator import Csr
from manylabel.exceptions import DataError

SPLIT_NAMES: dict[str, str] = {
    "train": "train", "training": "train", "first": "train", "learn": "train",
    "dev": "dev", "valid": "dev", "validation": "dev", "val": "dev", "development": "dev",
    "test": "test", "testing": "test", "second": "test", "eval": "test",
}  # fmt: skip


def split_name(given: object) -> str:
    """train, dev, test or unused for their usual spellings; other names stay as they are.

    >>> split_name("Validation"), split_name(None), split_name("fold 3")
    ('dev', 'unused', 'fold 3')
    """
    name = "" if given is None else str(given).strip()
    return SPLIT_NAMES.get(name.lower(), name) or "unused"


def combine_splits(parts: Mapping[str, Corpus]) -> Corpus:
    """One corpus of all the parts' documents, each marked with its part.

    Fields and metadata a part lacks are empty there. Label names (and terms) keep their order when one
    part's list begins with the others'; otherwise they are merged and sorted (terms: an error, for columns
    cannot be matched).
    """
    corpora = list(parts.values())
    first = corpora[0]
    ids = list(chain.from_iterable(corpus.ids for corpus in corpora))
    if len(set(ids)) < len(ids):
        ids = [f"{part}/{identity}" for part, corpus in parts.items() for identity in corpus.ids]
    counts, terms = _combined_counts(parts)
    labelled = any(corpus.labels is not None for corpus in corpora)
    return replace(
        first,
        ids=ids,
        fields=_stacked([corpus.fields for corpus in corpora], [len(corpus) for corpus in corpora], ""),
        labels=[names for corpus in corpora for names in (corpus.labels or [[]] * len(corpus))] if labelled else None,
        label_names=_merged_names([corpus.label_names for corpus in corpora]),
        split_names=[part for part, corpus in parts.items() for _ in range(len(corpus))],
        counts=counts,
        terms=terms,
        metadata=_stacked([corpus.metadata for corpus in corpora], [len(corpus) for corpus in corpora], None),
    )


def _stacked(
    tables: Sequence[Mapping[str, Sequence[Any]]], lengths: Sequence[int], absent: Any
) -> dict[str, list[Any]]:
    names = list(dict.fromkeys(name for table in tables for name in table))
    return {
        name: [
            value
            for table, length in zip(tables, lengths, strict=True)
            for value in (table[name] if name in table else [absent] * length)
        ]
        for name in names
    }


def _longest(lists: Sequence[Sequence[str]]) -> list[str] | None:
    """The longest list if every other one is its beginning."""
    longest: list[str] = []
    for names in lists:
        longest = list(names) if len(names) > len(longest) else longest
    return longest if all(longest[: len(names)] == list(names) for names in lists) else None


def _merged_names(lists: Sequence[Sequence[str]]) -> list[str]:
    longest = _longest(lists)
    return longest if longest is not None else sorted(set(chain.from_iterable(lists)))


def _combined_counts(parts: Mapping[str, Corpus]) -> tuple[Csr | None, list[str] | None]:
    matrices = {name: corpus.counts for name, corpus in parts.items() if corpus.counts is not None}
    if not matrices:
        return None, None
    if len(matrices) < len(parts):
        raise DataError(f"Only {', '.join(matrices)} hold counts, the other splits texts. Give parts of one kind.")
    lists = [list(corpus.terms or [f"t{j}" for j in range(matrices[name].shape[1])]) for name, corpus in parts.items()]
    terms = _longest(lists)
    if terms is None:
        raise DataError(
            f"The parts {', '.join(parts)} do not have the same terms in the same order.",
            path=next(iter(parts.values())).source,
            remedy="Give files made with one vocabulary.",
        )
    wide = [Csr((m.data, m.indices, m.indptr), shape=(m.shape[0], len(terms))) for m in matrices.values()]
    return Csr(sparse.vstack(wide, format="csr")), terms
