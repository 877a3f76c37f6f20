"""Model files: arrays and JSON in one safetensors file, with no code in it.

The file holds a tree of estimators. Plain values (numbers, strings, short lists) are stored in a JSON header; arrays,
sparse matrices and long lists of strings follow it, each with its SHA-256, and are memory-mapped when the model is
loaded. An estimator is stored as the *name* of its class, its parameters and its learned state; only the classes in
`manylabel.catalog.storable_classes` can ever be constructed, so a file can carry wrong numbers but never code.

A file is written next to its destination and renamed, so at any moment there is either the old model or the new one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel import __version__
from manylabel.catalog import find_class, storable_classes
from manylabel.data.atomic import atomic_write
from manylabel.estimator import Csr, Estimator
from manylabel.exceptions import MissingDataError, ModelFileError, UnknownNameError

FORMAT_VERSION = 1
MACHINE_SETTINGS = ("n_jobs",)
"""Parameters that describe the computer a model was trained on, not the model; they are not stored."""
SHORT_LIST = 16
MAX_HEADER = 1 << 28
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip

Array = npt.NDArray[Any]


# ---- writing ---------------------------------------------------------------------------------------------------------


def save(estimator: Estimator, path: str | Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file; `facts` are further plain data for the header (recipe, training set …)."""
    from safetensors.numpy import save as serialize

    arrays: dict[str, Array] = {}
    tree = _encode(estimator, "model", arrays)
    header = {
        "format": FORMAT_VERSION,
        "manylabel": __version__,
        "numpy": np.__version__,
        "facts": _encode(dict(facts or {}), "facts", arrays),
        "tree": tree,
        "sha256": {name: _digest(array) for name, array in arrays.items()},
    }
    metadata = {"manylabel": json.dumps(header, ensure_ascii=False, sort_keys=True)}
    with atomic_write(path) as stream:
        stream.write(serialize(arrays, metadata=metadata))


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
class ModelFile:
    """An opened model file: the header has been read, arrays are memory-mapped on first use."""

    path: Path
    header: dict[str, Any]
    places: dict[str, tuple[str, tuple[int, ...], int]]
    verify: bool = True
    size: int = 0
    _mapped: list[np.memmap[Any, Any]] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, Any]:
        """The plain data stored with the model."""
        return dict(self.decode(self.header["facts"]))

    def load(self) -> Estimator:
        """The estimator in the file."""
        found = self.decode(self.header["tree"])
        if not isinstance(found, Estimator):
            raise self._damaged("holds no model")
        return found

    def array(self, name: str) -> Array:
        """One array, memory-mapped and read-only, checked against its SHA-256 unless `verify` is off."""
        if name not in self.places:
            raise self._damaged(f"lacks the array {name!r}")
        dtype, shape, start = self.places[name]
        if not self._mapped:
            self._mapped.append(np.memmap(self.path, dtype=np.uint8, mode="r"))
        count = math.prod(shape)
        flat = np.frombuffer(self._mapped[0], dtype=dtype, count=count, offset=start) if count else np.empty(0, dtype)
        if self.verify and self.header["sha256"].get(name) != _digest(flat):
            raise self._damaged(f"was changed after it was written: the array {name!r} does not match its checksum")
        return flat.reshape(shape)

    def decode(self, value: Any) -> Any:
        """The value of its JSON form; the inverse of `_encode`."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
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

    def _decode_object(self, value: dict[str, Any]) -> Estimator:
        known = storable_classes()
        name = value["@object"]
        if name not in known:
            raise self._damaged(f"names the unknown class {name!r}; it may come from a later version")
        try:
            made = find_class(known[name])(**self.decode(value["params"]))
        except TypeError:
            raise self._damaged(f"stores other parameters for {name} than this version knows") from None
        return made.restore(self.decode(value["state"]))  # type: ignore[no-any-return]

    def _decode_csr(self, value: dict[str, Any]) -> Csr:
        name, shape = value["@csr"], tuple(value["shape"])
        data, indices, indptr = (self.array(f"{name}.{part}") for part in ("data", "indices", "indptr"))
        whole = len(indptr) == shape[0] + 1 and len(data) == len(indices) == (indptr[-1] if len(indptr) else -1)
        inside = not len(indices) or (indices.min() >= 0 and indices.max() < shape[1])
        if not whole or not inside or indptr[0] != 0 or (np.diff(indptr) < 0).any():
            raise self._damaged(f"holds an impossible sparse matrix {name!r}")
        return Csr((data, indices, indptr), shape=shape)

    def _decode_strings(self, name: str) -> list[str]:
        text, lengths = self.array(f"{name}.text").tobytes(), self.array(f"{name}.lengths")
        ends = np.cumsum(lengths, dtype=np.int64)
        if (lengths < 0).any() or (len(ends) and ends[-1] != len(text)):
            raise self._damaged(f"holds an impossible list {name!r}")
        starts = (ends - lengths).tolist()
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends.tolist(), strict=True)]

    def _damaged(self, what: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: this model file {what}. Train it again or restore a copy.")


def open_model(path: str | Path, *, verify: bool = True) -> ModelFile:
    """The opened model file: its header is read and its length checked; arrays are not read yet."""
    path = Path(path)
    if not path.is_file():
        raise MissingDataError(
            f"{path}: there is no such model file. Make one with: manylabel train DATA --model {path}"
        )
    size = path.stat().st_size
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little") if size >= 8 else 0
        if not 2 <= length <= min(size - 8, MAX_HEADER):
            raise _not_a_model(path, "it is not a manylabel model, or it was cut short")
        raw = stream.read(length)
    try:
        table = json.loads(raw)
        header = json.loads(table.pop("__metadata__")["manylabel"])
        places = {name: _place(entry, 8 + length) for name, entry in table.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _not_a_model(path, "its header cannot be read") from None
    if header.get("format") != FORMAT_VERSION:
        raise _not_a_model(path, f"it has format {header.get('format')!r} and this version reads {FORMAT_VERSION}")
    end = max((end for _, _, _, end in places.values()), default=8 + length)
    if end != size:
        raise _not_a_model(path, f"it should have {end:,} bytes and has {size:,}, so it was cut short or added to")
    kept = {name: (dtype, shape, start) for name, (dtype, shape, start, _) in places.items()}
    return ModelFile(path, header, kept, verify=verify, size=size)


def _place(entry: Mapping[str, Any], base: int) -> tuple[str, tuple[int, ...], int, int]:
    dtype = _DTYPES[entry["dtype"]]
    shape = tuple(int(size) for size in entry["shape"])
    start, end = (int(offset) for offset in entry["data_offsets"])
    if min(shape, default=0) < 0 or start < 0 or end - start != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ValueError("invalid array offsets")
    return dtype, shape, base + start, base + end


def _not_a_model(path: Path, why: str) -> ModelFileError:
    return ModelFileError(f"{path}: cannot load this file as a model: {why}. Train it again or restore a copy.")


def load(path: str | Path, *, verify: bool = True) -> Estimator:
    """The fitted estimator stored in a file; `verify` checks every array against its checksum."""
    try:
        return open_model(path, verify=verify).load()
    except UnknownNameError as error:
        raise _not_a_model(Path(path), str(error)) from None
