"""Documents and their label sets: read from any usual format, written, or known by name.

``load("reuters21578")`` or ``load("mails.csv")`` gives a `Reading`, whose `corpus` holds the documents.
"""

from __future__ import annotations

from manylabel.data.corpus import Corpus
from manylabel.data.description import describe
from manylabel.data.known import load
from manylabel.data.reading import Reading, read, write

__all__ = ["Corpus", "Reading", "describe", "load", "read", "write"]
