"""Multi-label text classification: every document gets a set of labels.

>>> from manylabel import TextClassifier
>>> texts = ["the bus was late again", "a deep hole in the road", "no bus, and holes in the road", "late bus"]
>>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
>>> TextClassifier("nb-binary").fit(texts, labels).predict(["is the bus late today?"])
[['buses']]
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = ["Corpus", "TextClassifier", "__version__", "load_corpus", "write_corpus"]

if TYPE_CHECKING:
    from manylabel.classifier import TextClassifier
    from manylabel.data import Corpus
    from manylabel.data import load as load_corpus
    from manylabel.data import write as write_corpus

_PLACES = {
    "TextClassifier": ("manylabel.classifier", "TextClassifier"),
    "Corpus": ("manylabel.data", "Corpus"),
    "load_corpus": ("manylabel.data", "load"),
    "write_corpus": ("manylabel.data", "write"),
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'manylabel' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PLACES[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return sorted(__all__)
