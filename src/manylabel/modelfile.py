"""Model files: arrays and JSON in one safetensors file, with no code in it.

The file holds a tree of estimators. Plain values (numbers, strings, short lists) are stored in a JSON header; arrays,
sparse matrices and long lists of strings follow it. An estimator is stored as the *name* of its class, its parameters
and its learned state; only the classes in `manylabel.catalog.storable_classes` can ever be constructed, so a file can
carry wrong numbers but never code.

The header declares every array with its type, shape and SHA-256, and the file holds the SHA-256 of the header: any
changed byte is noticed. A file that was forged with correct checksums is checked further: arrays that the header does
not declare or that overlap are refused, and so are values outside their range (`manylabel.stored`).

A file is written next to its destination and renamed, so at any moment there is either the old model or the new one.
A model is read into memory, never mapped from its file: a process that maps a file dies when somebody truncates it.
With `private`, a copy that has no name is mapped instead, whose memory is shared with processes that are forked later.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel import __version__
from manylabel.catalog import find_class, storable_classes
from manylabel.data.atomic import atomic_write
from manylabel.estimator import Csr, Estimator
from manylabel.exceptions import ManylabelError, MissingDataError, MissingExtraError, ModelFileError
from manylabel.stored import CHECKED

FORMAT_VERSION = 2
MACHINE_SETTINGS = ("n_jobs", "memory")
"""Parameters that describe the computer a model was trained on, not the model; they are not stored."""
SHORT_LIST = 16
MAX_HEADER = 1 << 28
LONGEST = 1 << 40
"""The largest extent of an array or a sparse matrix."""
LARGEST = (1 << 63) - 1
"""The largest whole number in a header."""
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip

Array = npt.NDArray[Any]


# ---- writing ---------------------------------------------------------------------------------------------------------


def save(estimator: Estimator, path: str | Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file; `facts` are further plain data for the header (recipe, training set …)."""
    from safetensors.numpy import save as serialize

    if state := estimator.learned_state():
        try:
            estimator.check_learned(state)
        except ValueError as error:  # what could not be read again is not written
            raise ModelFileError(f"A model file cannot hold this {type(estimator).__name__}: {error}.") from error
    arrays: dict[str, Array] = {}
    tree = _encode(estimator, "model", arrays)
    header = {
        "format": FORMAT_VERSION,
        "manylabel": __version__,
        "numpy": np.__version__,
        "facts": _encode(dict(facts or {}), "facts", arrays),
        "tree": tree,
        "arrays": {name: [_code(array), list(array.shape), _digest(array)] for name, array in arrays.items()},
    }
    text = json.dumps(header, sort_keys=True)  # in ASCII: a name may hold half of a surrogate pair
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


def _encode(value: Any, name: str, arrays: dict[str, Array]) -> Any:
    """The JSON form of a value; arrays are added to `arrays`, named by their path in the tree."""
    if isinstance(value, Estimator):
        params = {key: setting for key, setting in value.get_params(deep=False).items() if key not in MACHINE_SETTINGS}
        return {
            "@object": type(value).__name__,
            "params": _encode(params, f"{name}.params", arrays),
            "state": _encode(value.learned_state(), name, arrays),
        }
    if sparse.issparse(value):
        csr: Csr = Csr(cast(Any, value))
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}.{part}"] = np.ascontiguousarray(getattr(csr, part))
        return {"@csr": name, "shape": [int(size) for size in csr.shape]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        arrays[name] = np.ascontiguousarray(value)
        return {"@array": name, "shape": list(value.shape)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "UO":
        return {"@words": _encode(value.tolist(), name, arrays)}
    if isinstance(value, np.generic):
        return _encode(value.item(), name, arrays)
    if isinstance(value, (list, tuple)):
        return _encode_list(value, name, arrays)
    if isinstance(value, Mapping):
        return {str(key): _encode(inner, f"{name}.{key}", arrays) for key, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"@float": repr(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ModelFileError(f"A model file cannot hold {type(value).__name__} values ({name}).")


def _encode_list(value: list[Any] | tuple[Any, ...], name: str, arrays: dict[str, Array]) -> Any:
    if len(value) > SHORT_LIST and all(isinstance(item, str) for item in value):
        encoded = [item.encode("utf-8", "surrogatepass") for item in value]
        arrays[f"{name}.text"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        arrays[f"{name}.lengths"] = np.array([len(item) for item in encoded], dtype=np.int32)
        return {"@strings": name, "count": len(value)}
    items = [_encode(item, f"{name}.{index}", arrays) for index, item in enumerate(value)]
    return {"@tuple": items} if isinstance(value, tuple) else items


# ---- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array lies in a file, and what it holds."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFile:
    """An opened model file: the header has been read and checked, arrays are read on first use."""

    path: Path
    header: dict[str, Any]
    places: dict[str, Place]
    identity: tuple[int, ...]
    """Device, inode, size and time of change of the file whose header was read."""
    verify: bool = True
    private: bool = False
    _content: list[Array] = field(default_factory=list)
    """The bytes of the file, once the model is loaded."""

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.identity[2]

    @property
    def facts(self) -> dict[str, Any]:
        """The plain data stored with the model."""
        with self.reports_damage():
            return dict(self.decode(self.header["facts"]))

    def load(self) -> Estimator:
        """The estimator in the file."""
        token = CHECKED.set({})
        try:
            with self.reports_damage():
                self._content.append(self._map_copy() if self.private else self._bytes(0, self.size))
                found = self.decode(self.header["tree"])
        finally:
            self._content.clear()
            CHECKED.reset(token)
        if not isinstance(found, Estimator):
            raise self._damaged("holds no model")
        return found

    @contextmanager
    def reports_damage(self) -> Iterator[None]:
        """Raise `ModelFileError` for every error that values of the wrong type, name or range lead to."""
        try:
            yield
        except (ModelFileError, MissingExtraError):
            raise
        except (ManylabelError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise self._damaged(f"holds values that do not make a model ({error!s:.200})") from error
        except (RecursionError, MemoryError) as error:
            raise self._damaged("is nested too deeply or claims sizes that do not fit into memory") from error

    def array(self, name: str) -> Array:
        """One array, read-only, checked against its SHA-256 unless `verify` is off."""
        if name not in self.places:
            raise self._damaged(f"lacks the array {str(name)[:80]!r}")
        place = self.places[name]
        part = self._content[0][place.start : place.end] if self._content else self._bytes(place.start, place.end)
        if self.verify and place.sha256 != hashlib.sha256(part.data).hexdigest():
            raise self._damaged(f"was changed after it was written: the array {name!r} does not match its checksum")
        part.flags.writeable = False
        return part.view(place.dtype).reshape(place.shape)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The open file, which must be the one whose header was read."""
        with self.path.open("rb") as stream:
            if _identity(os.fstat(stream.fileno())) != self.identity:
                raise self._damaged("was replaced while it was being read")
            yield stream

    def _bytes(self, start: int, end: int) -> Array:
        """A copy of some bytes of the file."""
        with self._opened() as stream:
            found: Array = np.fromfile(stream, dtype=np.uint8, count=end - start, offset=start)
        if len(found) != end - start:
            raise self._damaged("was cut short while it was being read")
        return found

    def _map_copy(self) -> Array:
        """The mapped bytes of a copy of the file that has no name, so that nobody else can change it."""
        with self._opened() as stream, _unnamed_file() as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
            copy.flush()
            if copy.tell() != self.size:
                raise self._damaged("was cut short while it was being read")
            return np.memmap(copy, dtype=np.uint8, mode="r")

    def decode(self, value: Any) -> Any:
        """The value of its JSON form; the inverse of `_encode`."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            if isinstance(value, int) and not -LARGEST <= value <= LARGEST:
                raise self._damaged("holds a whole number of more than 64 bits")
            return value
        if "@object" in value:
            return self._decode_object(value)
        if "@array" in value:
            return self.array(value["@array"])
        if "@csr" in value:
            return self._decode_csr(value)
        if "@strings" in value:
            return self._decode_strings(value["@strings"])
        if "@words" in value:
            return np.array(self.decode(value["@words"]))
        if "@tuple" in value:
            return tuple(self.decode(item) for item in value["@tuple"])
        if "@float" in value:
            return float(value["@float"])
        return {key: self.decode(inner) for key, inner in value.items()}

    def unfitted(self, value: dict[str, Any]) -> Estimator:
        """The estimator of its JSON form with its parameters, checked, and without its learned state."""
        known = storable_classes()
        name = value["@object"]
        if name not in known:
            raise self._damaged(f"names the unknown class {str(name)[:80]!r}; it may come from a later version")
        try:
            made: Estimator = find_class(known[name])(**self.decode(value["params"]))
        except TypeError:
            raise self._damaged(f"stores other parameters for {name} than this version knows") from None
        made.check_parameters()
        return made

    def _decode_object(self, value: dict[str, Any]) -> Estimator:
        made = self.unfitted(value)
        state = self.decode(value["state"])
        if not state:
            return made  # an unfitted estimator, such as the model that a strategy copies
        sizes = made.check_learned(state)
        if (checked := CHECKED.get()) is not None:
            checked[id(made)] = sizes
        return made.restore(state)

    def _decode_csr(self, value: dict[str, Any]) -> Csr:
        name = value["@csr"]
        n_rows, n_columns = (int(size) for size in value["shape"])
        data, indices, indptr = (self.array(f"{name}.{part}") for part in ("data", "indices", "indptr"))
        signed = indices.dtype == indptr.dtype and indices.dtype in (np.int32, np.int64)
        flat = data.ndim == indices.ndim == indptr.ndim == 1
        if not signed or not flat or len(indptr) != n_rows + 1 or not 0 <= n_columns < LONGEST:
            raise self._damaged(f"holds an impossible sparse matrix {name!r}")
        whole = indptr[0] == 0 and len(data) == len(indices) == indptr[-1] and not (indptr[1:] < indptr[:-1]).any()
        if not whole:
            raise self._damaged(f"holds an impossible sparse matrix {name!r}")
        found = Csr((n_rows, n_columns), dtype=data.dtype)
        # Set one by one: the constructor would look at all cells again.
        found.data, found.indices, found.indptr = data, indices, indptr
        # Where the columns of each row ascend, its first and last one tell whether all are inside.
        filled = np.flatnonzero(indptr[1:] > indptr[:-1])
        inside = not len(filled) or (
            indices[indptr[filled]].min() >= 0 and indices[indptr[filled + 1] - 1].max() < n_columns
        )
        if not found.has_canonical_format or not inside:
            raise self._damaged(f"holds a sparse matrix {name!r} whose columns are out of bounds or not in order")
        return found

    def _decode_strings(self, name: str) -> list[str]:
        text, lengths = self.array(f"{name}.text"), self.array(f"{name}.lengths")
        ends = np.cumsum(lengths, dtype=np.int64)
        types = text.dtype == np.uint8 and lengths.dtype == np.int32 and text.ndim == lengths.ndim == 1
        if not types or (lengths < 0).any() or (ends[-1] if len(ends) else 0) != len(text):
            raise self._damaged(f"holds an impossible list {name!r}")
        joined, starts = text.tobytes(), (ends - lengths).tolist()
        if joined.isascii():  # the usual case, and twice as fast
            letters = joined.decode("ascii")
            return [letters[a:b] for a, b in zip(starts, ends.tolist(), strict=True)]
        return [joined[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=True)]

    def _damaged(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: this model file {what}. Train it again or restore a copy.")


def _unnamed_file() -> BinaryIO:
    """A new file without a name: in memory where the system can, otherwise a temporary file."""
    system: str = sys.platform
    if system == "linux":
        return os.fdopen(os.memfd_create("manylabel"), "w+b")
    return cast(BinaryIO, tempfile.TemporaryFile())


def open_model(path: str | Path, *, verify: bool = True, private: bool = False) -> ModelFile:
    """The opened model file: its header is read and checked; arrays are not read yet.

    `load` reads them into memory. With `private` it maps a copy without a name instead: processes that are forked after
    it share the memory, and nobody can change or truncate it.
    """
    path = Path(path)
    if not path.is_file():
        raise MissingDataError(
            f"{path}: there is no such model file. Make one with: manylabel train DATA --model {path}"
        )
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
        if header["format"] != FORMAT_VERSION:
            raise _not_a_model(path, f"it has format {header['format']!r} and this version reads {FORMAT_VERSION}")
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
    return ModelFile(path, header, places, identity, verify=verify, private=private)


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
    return ModelFileError(f"{path}: cannot load this file as a model: {why}. Train it again or restore a copy.")


def load(path: str | Path, *, verify: bool = True, private: bool = False) -> Estimator:
    """The fitted estimator stored in a file; `verify` checks every array against its checksum.

    With `private`, processes that are forked later share its memory; see `open_model`.
    """
    return open_model(path, verify=verify, private=private).load()
