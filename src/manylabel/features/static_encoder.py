"""Static vectors: a table with one row per token; the vector of a text is the mean of its tokens' rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from manylabel.exceptions import DataError, MissingExtraError
from manylabel.features.encoders import Encoder, Vectors, checksum, read_settings
from manylabel.features.word_tokens import WordTokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TABLES = ("embeddings", "embedding.weight")
"""What the table is called by model2vec, and by wordllama and sentence-transformers."""
MAX_LENGTH = 512
"""How many tokens model2vec reads of a text unless the settings say otherwise."""
ROWS_AT_ONCE = 4096


class StaticEncoder(Encoder):
    """A table of vectors and a tokenizer in a folder, as model2vec writes it or as the package wordllama brings it.

    The vector of a text is the mean of its tokens' rows, each times the weight of its token if there are weights; 0
    where it has no known token. Tokens that the tokenizer does not know are left out.
    """

    kind = "static vectors"
    batch = 1024
    most_left_out = 500

    def __init__(self, folder: Path) -> None:
        weights, tokenizer = _files(folder)
        config = folder / "config.json"
        settings = read_settings(config) if config.is_file() else {"max_length": None}
        self.folder, self.name = str(folder), folder.name
        self.sha256 = checksum(folder, [weights, tokenizer, *([config] if config.is_file() else [])])
        self.table, self.weights, self.mapping = _tables(weights)
        self.tokenizer, tokenizing = _tokenizer(tokenizer), read_settings(tokenizer)
        self.max_length: int | None = settings.get("max_length", MAX_LENGTH)
        self.tokenizer.no_padding()
        if self.max_length is None:
            self.tokenizer.no_truncation()
        else:
            self.tokenizer.enable_truncation(self.max_length)
        self.tokens = WordTokens(self.tokenizer, tokenizing, self.max_length)
        self.unknown = _unknown_token(tokenizing, self.tokenizer)
        rows = len(self.table) if self.mapping is None else len(self.mapping)
        if self.tokenizer.get_vocab_size(with_added_tokens=True) > rows:
            raise DataError(
                f"The tokenizer has more tokens than the table has rows ({rows:,}).",
                path=folder,
                remedy="The files belong to different encoders.",
            )

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """The mean of the rows of each text's tokens."""
        found = np.zeros((len(texts), self.table.shape[1]), dtype=np.float32)
        for row, numbers in enumerate(self.tokens.of(texts)):
            found[row] = self._mean(np.array(numbers, dtype=np.int64))
        return found

    def _mean(self, tokens: npt.NDArray[np.int64]) -> Vectors:
        known = tokens if self.unknown is None else tokens[tokens != self.unknown]
        total = np.zeros(self.table.shape[1], dtype=np.float32)
        for start in range(0, len(known), ROWS_AT_ONCE):
            some = known[start : start + ROWS_AT_ONCE]
            rows = self.table.take(some if self.mapping is None else self.mapping[some], axis=0)
            total += rows.sum(axis=0) if self.weights is None else self.weights[some] @ rows
        return total / np.float32(max(len(known), 1))

    def facts(self) -> dict[str, Any]:
        """The sizes of the table, and how many tokens of a text are read."""
        rows = len(self.table) if self.mapping is None else len(self.mapping)
        return {"dimensions": self.table.shape[1], "tokens": rows, "tokens read of a text": self.max_length or "all"}


def _files(folder: Path) -> tuple[Path, Path]:
    """The file of the table and that of the tokenizer."""
    for place in (folder, folder / "0_StaticEmbedding"):
        if (place / "tokenizer.json").is_file():
            return _weights(place, sorted(place.glob("model.safetensors"))), place / "tokenizer.json"
    tokenizers = sorted((folder / "tokenizers").glob("*.json"))
    if len(tokenizers) != 1:
        raise DataError("This folder holds no tokenizer.json.", path=folder, remedy="Give the folder of an encoder.")
    return _weights(folder, sorted((folder / "weights").glob("*.safetensors"))), tokenizers[0]


def _weights(folder: Path, found: list[Path]) -> Path:
    if len(found) != 1:
        raise DataError(
            "This folder has a tokenizer but not one table of vectors as safetensors.",
            path=folder,
            remedy="Weights are read from model.safetensors only: other files (.bin, pickles) can run code.",
        )
    return found[0]


def _tables(path: Path) -> tuple[Vectors, Vectors | None, npt.NDArray[np.int64] | None]:
    """The table of vectors, the weights of tokens if there are any, and the row of each token where tokens share."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except (SafetensorError, KeyError, OSError) as error:
        raise DataError(f"The table of vectors cannot be read: {error}.", path=path) from None
    table = next((arrays[name] for name in TABLES if name in arrays), None)
    if table is None or table.ndim != 2 or not np.isfinite(table).all():
        raise DataError(f"This file holds no table of vectors ({' or '.join(TABLES)}).", path=path)
    weights, mapping = arrays.get("weights"), arrays.get("mapping")
    if mapping is not None and (mapping.min(initial=0) < 0 or mapping.max(initial=0) >= len(table)):
        raise DataError("The mapping names rows that the table does not have.", path=path)
    if weights is not None and len(weights) != len(table if mapping is None else mapping):
        raise DataError("The table has another number of tokens than of weights.", path=path)
    return (
        np.ascontiguousarray(table, dtype=np.float32),
        None if weights is None else weights.astype(np.float32),
        None if mapping is None else mapping.astype(np.int64),
    )


def _tokenizer(path: Path) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("An encoder with static vectors", "static") from None
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises no narrower class
        raise DataError(f"This file holds no tokenizer: {error}.", path=path) from None


def _unknown_token(settings: Mapping[str, Any], tokenizer: Tokenizer) -> int | None:
    """The number of the token for everything unknown, which is left out of the mean; None if there is none."""
    model = settings["model"]
    name = model.get("unk_token")
    if name is None and isinstance(model.get("unk_id"), int):
        return int(model["unk_id"])
    return None if name is None else tokenizer.token_to_id(name)
