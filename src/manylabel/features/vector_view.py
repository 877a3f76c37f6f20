"""The vectors of documents as columns of X (`VectorView`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.data.corpus import Text
from manylabel.estimator import Csr, Estimator, Floats
from manylabel.exceptions import DataError, MissingDataError, ParameterError
from manylabel.features.encoders import Encoder, Vectors, as_encoder, load_encoder
from manylabel.features.scripts import without_markup
from manylabel.features.terms import CountedTerms
from manylabel.features.vector_cache import encode_cached
from manylabel.stored import Flag, Maybe, Stored, Word, finite_reals
from manylabel.wording import counted, is_worded_for

DocumentReader: TypeAlias = Callable[[Text], CountedTerms]
"""One text → its columns of X and their values."""
LENGTH = 0.5
"""The length of a document's vector beside its tf-idf weights, which have length 1."""
PROBE = "The library lent 3 books to the mayor, who returned them late."
"""The text whose vector tells whether an encoder without a checksum is the one that the model was trained with."""
TOLERANCE = 1e-2
BETWEEN_WORDS = re.compile(r"[\W_]+")
"""What stands between the words of a label's name, such as "/" in streets/road-works."""


class VectorView(Estimator):
    """Dense columns of X: each document's vector by an encoder, scaled to length ½.

    What is learned is which encoder it was: its name, folder and checksum, and the vector of a fixed text. The weights
    of the encoder are not stored. A view that was restored from a file loads the encoder from its folder when it is
    first used, unless `attach` gave another one; an encoder that is not the same is refused.

    >>> view = VectorView(lambda texts: [[len(text), 3.0] for text in texts]).fit()
    >>> view.transform(["late"]).toarray().round(2).tolist()
    [[0.4, 0.3]]
    """

    name_: str
    sha256_: str | None
    """The checksum of the encoder's files; None for objects and ready vectors, which have none."""
    folder_: str | None
    probe_: Floats
    """The vector of a fixed text; its length is the number of dimensions. All 0 for ready vectors."""
    is_used_: bool
    """Whether the model reads the vectors; if not, documents are not encoded and the columns stay empty."""
    _loaded: Encoder | None = None

    learned: ClassVar[Mapping[str, Stored]] = {
        "name_": Word(),
        "sha256_": Maybe(Word()),
        "folder_": Maybe(Word()),
        "probe_": finite_reals("dimensions"),
        "is_used_": Flag(),
    }

    def __init__(self, encoder: Any = None) -> None:
        self.encoder = encoder

    def fit(self) -> Self:
        """Note which encoder it is."""
        encoder = self._loaded = as_encoder(self.encoder)
        self.name_, self.folder_, self.is_used_ = encoder.name, encoder.folder, True
        self.sha256_, self.probe_ = encoder.sha256 or None, _probe(encoder)
        return self

    @property
    def dimensions(self) -> int:
        """The number of columns."""
        return len(self.probe_)

    def attach(self, encoder: Any) -> None:
        """Use this encoder; an error unless it is the one that the view was fitted with."""
        found = as_encoder(encoder)
        self._check(found)
        self._loaded, self.folder_ = found, found.folder

    def _check(self, encoder: Encoder) -> None:
        probe = _probe(encoder)
        if len(probe) != self.dimensions:
            raise ParameterError(
                f"The model was trained with vectors of {counted(self.dimensions, 'dimension')} ({self.name_}), but "
                f"those of {encoder.name} have {len(probe)}. Give the encoder that the model was trained with."
            )
        if self.sha256_ and encoder.sha256:
            differs = self.sha256_ != encoder.sha256
        else:
            has_probe = encoder.encodes_any_text and bool(self.probe_.any())
            differs = has_probe and not np.allclose(probe, self.probe_, atol=TOLERANCE)
        if differs:
            own, other = (self.sha256_ or "none")[:12], encoder.sha256[:12] or "none"
            raise ParameterError(
                f"The model was trained with the encoder {self.name_} (checksum {own}), but {encoder.name} (checksum "
                f"{other}) is another one, whose vectors mean other things. Give the encoder that the model was "
                "trained with, or train the model again."
            )

    @property
    def loaded(self) -> Encoder:
        """The encoder; after a model was read from a file, loaded from the folder that it had in training."""
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> Encoder:
        if self.folder_ is None:
            raise MissingDataError(
                f"This model reads vectors ({self.name_}) that it cannot compute by itself. Give "
                f"{_remedy('them', '--vectors FILE or --encoder FOLDER', '…')}."
            )
        try:
            encoder = load_encoder(self.folder_)
        except (MissingDataError, DataError) as error:
            raise MissingDataError(
                f"This model reads vectors of the encoder {self.name_} (checksum {str(self.sha256_)[:12]}), which was "
                f"in {self.folder_}: {error} Name "
                f"{_remedy('the folder it is in now', '--encoder FOLDER', 'folder')}."
            ) from error
        self._check(encoder)
        return encoder

    def transform(self, texts: Sequence[str], *, strips_markup: bool = False) -> Csr:
        """The vectors of the texts, documents × dimensions; a text without a known word has none."""
        if not self.is_used_ or not texts:
            return Csr((len(texts), self.dimensions), dtype=np.float64)
        if strips_markup and self.loaded.encodes_any_text:
            texts = [without_markup(text) for text in texts]
        found = scaled(encode_cached(self.loaded, texts))
        if not found.all():
            return Csr(found)
        n_rows, width = found.shape
        indptr = np.arange(n_rows + 1, dtype=np.int64) * width
        return Csr((found.ravel(), np.tile(np.arange(width, dtype=np.int32), n_rows), indptr), shape=found.shape)

    def of_names(self, labels: Sequence[str]) -> Floats | None:
        """Labels × dimensions: the vectors of the labels' names, of length 1; None for ready vectors."""
        if not self.loaded.encodes_any_text:
            return None
        return scaled(self.loaded.encode([BETWEEN_WORDS.sub(" ", name).strip() for name in labels])) / LENGTH

    def reader_behind(self, read: DocumentReader, n_terms: int, strips_markup: bool) -> DocumentReader | None:
        """The function that reads one text, with the vector behind its terms, in the same bits as `transform`.

        None for ready vectors, which are looked up in batches.
        """
        if not self.is_used_:
            return read
        encoder, columns = self.loaded, np.arange(n_terms, n_terms + self.dimensions, dtype=np.int32)
        if not encoder.encodes_any_text:
            return None

        def read_both(text: Text) -> CountedTerms:
            terms, values = read(text)
            whole = text if isinstance(text, str) else "\n".join(text.values())
            dense = scaled(encoder.encode([without_markup(whole) if strips_markup else whole]))[0]
            return np.concatenate([terms, columns]), np.concatenate([values, dense])

        return read_both

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [f"vector: {number}" for number in range(self.dimensions)]

    def __getstate__(self) -> dict[str, Any]:
        """The state that a copy keeps: an encoder with a folder is loaded again."""
        return {name: value for name, value in vars(self).items() if name != "_loaded" or self.folder_ is None}


def scaled(vectors: Vectors) -> Floats:
    """Vectors of length ½; zeros stay as they are."""
    wide: npt.NDArray[np.float64] = vectors.astype(np.float64)
    lengths = np.sqrt((wide * wide).sum(axis=1))
    found: Floats = LENGTH * wide / np.where(lengths > 0, lengths, 1.0)[:, np.newaxis]
    return found


def _probe(encoder: Encoder) -> Floats:
    from manylabel.features.ready_vectors import ReadyVectors

    if isinstance(encoder, ReadyVectors):
        return np.zeros(encoder.rows.shape[1])
    found: Floats = scaled(encoder.encode([PROBE]))[0]
    return found


def _remedy(what: str, options: str, encoder: str) -> str:
    """What to give, and how; requests predict with models as they were loaded."""
    if is_worded_for("python"):
        return f"{what}: TextClassifier.load(path, encoder={encoder})"
    return f"{what}: {options}" if is_worded_for("command line") else f"{what} on the command line: predict {options}"
