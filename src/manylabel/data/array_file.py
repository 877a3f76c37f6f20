"""Arrays and a JSON header in one safetensors file, with checksums of both.

The header declares every array with its type, shape and SHA-256, and the file holds the SHA-256 of the header: any
changed byte is noticed. Arrays that the header does not declare, that overlap or that leave a gap are refused.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from manylabel.data.atomic import atomic_write
from manylabel.data.sealed import COPIES, is_sealed, sealed_copy
from manylabel.exceptions import ModelFileError

MAX_HEADER = 1 << 28
LONGEST = 1 << 40
"""The largest extent of an array or a sparse matrix."""
PIECE = 1 << 20
"""The bytes that are read at a time where arrays are only checked."""
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip

Array = npt.NDArray[Any]


def write_arrays(path: str | Path, header: Mapping[str, Any], arrays: dict[str, Array]) -> None:
    """Write a header and arrays to a file, atomically; the arrays are declared in the header."""
    from safetensors.numpy import save as serialize

    declared = {name: [_code(array), list(array.shape), _digest(array)] for name, array in arrays.items()}
    text = json.dumps({**header, "arrays": declared}, sort_keys=True)  # in ASCII: a name may hold half a surrogate pair
    metadata = {"manylabel": f"{_digest_of_text(text)}\n{text}"}  # one entry: safetensors keeps several in no order
    with atomic_write(path) as stream:
        stream.write(serialize(arrays, metadata=metadata))


def _code(array: Array) -> str:
    """The name of an array's type in the file, such as F64."""
    return next(code for code, dtype in _DTYPES.items() if np.dtype(dtype) == array.dtype)


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(array: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"").hexdigest()


class Place(NamedTuple):
    """Where an array lies in a file, and what it holds."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """An opened file: the header has been read and checked, arrays are read on first use."""

    path: Path
    header: dict[str, Any]
    places: dict[str, Place]
    identity: tuple[int, ...]
    """Device, inode, size and time of change of the file whose header was read."""
    verify: bool = True
    private: bool = False
    content: list[Array] = field(default_factory=list)
    """The bytes of the file, while all arrays are read."""

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.identity[2]

    def array(self, name: str) -> Array:
        """One array, read-only, checked against its SHA-256 unless `verify` is off."""
        if name not in self.places:
            raise self.damaged(f"lacks the array {str(name)[:80]!r}")
        place = self.places[name]
        part = self.content[0][place.start : place.end] if self.content else self.read(place.start, place.end)
        if self.verify:
            self._compare(name, hashlib.sha256(part.data).hexdigest())
        part.flags.writeable = False
        return part.view(place.dtype).reshape(place.shape)

    def check_arrays(self) -> None:
        """Compare every array with its SHA-256; the file is read piece by piece."""
        with self.opened() as stream:
            for name, place in sorted(self.places.items(), key=lambda one: one[1].start):
                digest, left = hashlib.sha256(), place.end - place.start
                stream.seek(place.start)
                while left and (piece := stream.read(min(left, PIECE))):
                    digest.update(piece)
                    left -= len(piece)
                self._compare(name, digest.hexdigest())

    def _compare(self, name: str, sha256: str) -> None:
        if sha256 != self.places[name].sha256:
            raise self.damaged(f"was changed after it was written: the array {name!r} does not match its checksum")

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """The open file, which must be the one whose header was read."""
        with self.path.open("rb") as stream:
            if _identity(os.fstat(stream.fileno())) != self.identity:
                raise self.damaged("was replaced while it was being read")
            yield stream

    def read(self, start: int, end: int) -> Array:
        """A copy of some bytes of the file."""
        with self.opened() as stream:
            found: Array = np.fromfile(stream, dtype=np.uint8, count=end - start, offset=start)
        if len(found) != end - start:
            raise self.damaged("was cut short while it was being read")
        return found

    def map_copy(self) -> Array:
        """The mapped bytes of a sealed copy of the file, or of the file where it is such a copy itself."""
        with self.opened() as stream:
            if is_sealed(stream):
                return np.memmap(stream, dtype=np.uint8, mode="c")
            with sealed_copy(stream) as copy:
                if os.fstat(copy.fileno()).st_size != self.size:
                    raise self.damaged("was cut short while it was being read")
                return np.memmap(copy, dtype=np.uint8, mode="c")  # sealed files refuse shared mappings

    def damaged(self, what: str) -> ModelFileError:
        """The error for a file that cannot be used."""
        return ModelFileError(f"{self.path}: this model file {what}. Train it again or restore a copy.")


def read_header(path: Path, version: int) -> tuple[dict[str, Any], dict[str, Place], tuple[int, ...]]:
    """The header of a file, checked, the places of its arrays, and the identity of the file."""
    with path.open("rb") as stream:
        identity = _identity(os.fstat(stream.fileno()))
        size = identity[2]
        length = int.from_bytes(stream.read(8), "little") if size >= 8 else 0
        if not 2 <= length <= min(size - 8, MAX_HEADER):
            raise _not_a_model(path, "it is not a manylabel model, or it was cut short")
        raw = stream.read(length)
    try:
        table = json.loads(raw)
        digest, _, text = table.pop("__metadata__")["manylabel"].partition("\n")
        header = json.loads(text)
        if header["format"] != version:
            writer = f"it was written by manylabel {header.get('manylabel', 'of another version')!s:.40}"
            raise _not_a_model(path, f"it has format {header['format']!r} and this version reads {version}; {writer}")
        if digest != _digest_of_text(text):
            raise _not_a_model(path, "its header was changed after it was written")
        places = _places(table, header["arrays"], 8 + length)
    except ModelFileError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise _not_a_model(path, "its header cannot be read") from None
    end = max((place.end for place in places.values()), default=8 + length)
    if end != size:
        raise _not_a_model(path, f"it should have {end:,} bytes and has {size:,}, so it was cut short or added to")
    return header, places, identity


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _places(table: Mapping[str, Any], declared: Mapping[str, Any], base: int) -> dict[str, Place]:
    """The places of all arrays; `ValueError` unless they are those declared and follow each other without a gap."""
    if table.keys() != declared.keys():
        raise ValueError("undeclared arrays")
    places = {}
    for name, entry in table.items():
        code, shape, digest = declared[name]
        if entry["dtype"] != code or entry["shape"] != shape or not all(0 <= size < LONGEST for size in shape):
            raise ValueError("an array of another type or shape")
        start, end = entry["data_offsets"]
        if not isinstance(start, int) or not isinstance(end, int):
            raise ValueError("offsets that are no whole numbers")
        width = np.dtype(_DTYPES[code]).itemsize
        if start < 0 or (base + start) % width or end - start != math.prod(shape) * width:
            raise ValueError("invalid array offsets")
        places[name] = Place(_DTYPES[code], tuple(shape), base + start, base + end, str(digest))
    expected = base
    for place in sorted(places.values(), key=lambda one: (one.start, one.end)):
        if place.start != expected:
            raise ValueError("arrays that overlap or leave a gap")
        expected = place.end
    return places


def _not_a_model(path: Path, why: str) -> ModelFileError:
    remedy = "Train it again or restore a copy."
    if path.suffix != ".manylabel" and path.parent != COPIES:  # a file that was given; a copy has no ending
        remedy = "Give a file that `manylabel train` wrote; the model comes before the data."
    return ModelFileError(f"{path}: cannot load this file as a model: {why}. {remedy}")
