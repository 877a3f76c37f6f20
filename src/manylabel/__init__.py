"""Multi-label text classification: every document gets a set of labels.

>>> from manylabel import TextClassifier
>>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
>>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
>>> TextClassifier("nb-binary").fit(texts, labels).predict(["is the bus late today?"])
[['buses']]

The building blocks are in the packages of the library, whose docstrings list their names:

    manylabel.data          read, write, describe and split corpora
    manylabel.features      texts → documents × terms
    manylabel.models        documents × terms → scores
    manylabel.strategies    multi-label methods built from any model
    manylabel.decisions     scores → label sets
    manylabel.metrics       figures of quality
    manylabel.evaluation    results, confidence intervals and tests
    manylabel.integrations  prediction in Spark, Ray, Dask, DuckDB and Polars
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manylabel.lazy import lazy_names

__version__ = "0.2.0"

__all__ = ["Corpus", "TextClassifier", "__version__", "load_corpus", "write_corpus"]

if TYPE_CHECKING:
    from manylabel.classifier import TextClassifier
    from manylabel.data import Corpus
    from manylabel.data import load as load_corpus
    from manylabel.data import write as write_corpus
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "classifier": "TextClassifier",
            "data": "Corpus, load as load_corpus, write as write_corpus",
        },
    )
