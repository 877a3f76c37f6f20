"""A cache of vectors on disk: each is found by the hash of its text, in one file per encoder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from manylabel.exceptions import ParameterError
from manylabel.features.encoders import Encoder, Vectors
from manylabel.progress import remark, stage

if TYPE_CHECKING:
    import sqlite3

SIZE_VARIABLE = "MANYLABEL_VECTOR_CACHE"
"""The environment variable that limits the cache, in MB; 0 turns it off."""
MEGABYTES = 1024
AT_ONCE = 500
"""How many rows are asked for in one query."""


def encode_cached(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """The vectors of texts: those known from the cache, and all others encoded in batches, with progress.

    Encoders without a checksum are not cached: nothing tells whether they are still the same.
    """
    given = os.environ.get(SIZE_VARIABLE, str(MEGABYTES))
    if not given.isdecimal():
        raise ParameterError(f"{SIZE_VARIABLE} is a whole number of MB, 0 for no cache, not {given!r}.")
    limit = int(given) << 20
    if not encoder.sha256 or not limit or not texts:
        return _encoded(encoder, texts)
    import sqlite3  # few models have an encoder

    from manylabel.data.known import cache_folder

    keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16] for text in texts]
    path = cache_folder() / "vectors" / f"{encoder.sha256[:32]}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=60)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            return _completed(connection, encoder, texts, keys)
    except (OSError, sqlite3.Error) as error:
        remark(f"Vectors are computed without the cache {path.parent}: {error}.")
        return _encoded(encoder, texts)
    finally:
        _keep_below(path.parent, limit)


def _completed(connection: sqlite3.Connection, encoder: Encoder, texts: Sequence[str], keys: list[bytes]) -> Vectors:
    """The vectors of texts; those that were missing are computed and stored, batch by batch."""
    known: dict[bytes, Vectors] = {}
    for start in range(0, len(keys), AT_ONCE):
        some = keys[start : start + AT_ONCE]
        marks = ",".join("?" * len(some))
        rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)
        known.update((key, np.frombuffer(vector, dtype="<f4")) for key, vector in rows)
    missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in known}.items())
    with stage("Encoding documents", len(missing)) as advance:
        for start in range(0, len(missing), encoder.batch):
            batch = missing[start : start + encoder.batch]
            found = encoder.encode([text for _, text in batch])
            new = {key: vector for (key, _), vector in zip(batch, found, strict=True)}
            with connection:
                cells = [(key, vector.astype("<f4").tobytes()) for key, vector in new.items()]
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", cells)
            known |= new
            advance(len(batch))
    return np.stack([known[key] for key in keys])


def _encoded(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    with stage("Encoding documents", len(texts)) as advance:
        found = []
        for start in range(0, max(len(texts), 1), encoder.batch):
            found.append(encoder.encode(texts[start : start + encoder.batch]))
            advance(len(found[-1]))
    return np.concatenate(found)


def _keep_below(folder: Path, limit: int) -> None:
    """Remove the files of the encoders that were used longest ago until the cache is within its limit."""
    files = sorted(folder.glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    total = sum(path.stat().st_size for path in files)
    for path in files:
        if total <= limit:
            break
        total -= path.stat().st_size
        path.unlink(missing_ok=True)
