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
With `private`, a copy that has no name and cannot be changed is mapped instead; processes that map the same copy share
its memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse

from manylabel import __version__
from manylabel.catalog import find_class, storable_classes
from manylabel.data.array_file import LONGEST, Array, ArrayFile, read_header, write_arrays
from manylabel.estimator import Csr, Estimator
from manylabel.exceptions import ManylabelError, MissingDataError, MissingExtraError, ModelFileError
from manylabel.stored import CHECKED

FORMAT_VERSION = 3
MACHINE_SETTINGS = ("n_jobs", "memory", "encoder")
"""Parameters that describe the computer a model was trained on, not the model; they are not stored."""
SHORT_LIST = 16
SEPARATOR = b"\xff"
"""What separates the strings of a long list. This byte does not occur in UTF-8."""
LARGEST = (1 << 63) - 1
"""The largest whole number in a header."""


# ---- writing ---------------------------------------------------------------------------------------------------------


def save(estimator: Estimator, path: str | Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a file; `facts` are further plain data for the header (recipe, training set …)."""
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
    }
    write_arrays(path, header, arrays)


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
        joined = SEPARATOR.join(item.encode("utf-8", "surrogatepass") for item in value)
        arrays[name] = np.frombuffer(joined, dtype=np.uint8)
        return {"@strings": name}
    items = [_encode(item, f"{name}.{index}", arrays) for index, item in enumerate(value)]
    return {"@tuple": items} if isinstance(value, tuple) else items


# ---- reading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModelFile(ArrayFile):
    """An opened model file: the header has been read and checked, arrays are read on first use."""

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
                self.content.append(self.map_copy() if self.private else self.read(0, self.size))
                found = self.decode(self.header["tree"])
        finally:
            self.content.clear()
            CHECKED.reset(token)
        if not isinstance(found, Estimator):
            raise self.damaged("holds no model")
        return found

    @contextmanager
    def reports_damage(self) -> Iterator[None]:
        """Raise `ModelFileError` for every error that values of the wrong type, name or range lead to."""
        try:
            yield
        except (ModelFileError, MissingExtraError):
            raise
        except (ManylabelError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise self.damaged(f"holds values that do not make a model ({error!s:.200})") from error
        except (RecursionError, MemoryError) as error:
            raise self.damaged("is nested too deeply or claims sizes that do not fit into memory") from error

    def decode(self, value: Any) -> Any:
        """The value of its JSON form; the inverse of `_encode`."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            if isinstance(value, int) and not -LARGEST <= value <= LARGEST:
                raise self.damaged("holds a whole number of more than 64 bits")
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
            raise self.damaged(f"names the unknown class {str(name)[:80]!r}; it may come from a later version")
        try:
            made: Estimator = find_class(known[name])(**self.decode(value["params"]))
        except TypeError:
            raise self.damaged(f"stores other parameters for {name} than this version knows") from None
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
            raise self.damaged(f"holds an impossible sparse matrix {name!r}")
        whole = indptr[0] == 0 and len(data) == len(indices) == indptr[-1] and not (indptr[1:] < indptr[:-1]).any()
        if not whole:
            raise self.damaged(f"holds an impossible sparse matrix {name!r}")
        found = Csr((n_rows, n_columns), dtype=data.dtype)
        # Set one by one: the constructor would look at all cells again.
        found.data, found.indices, found.indptr = data, indices, indptr
        # Where the columns of each row ascend, its first and last one tell whether all are inside.
        filled = np.flatnonzero(indptr[1:] > indptr[:-1])
        inside = not len(filled) or (
            indices[indptr[filled]].min() >= 0 and indices[indptr[filled + 1] - 1].max() < n_columns
        )
        if not found.has_canonical_format or not inside:
            raise self.damaged(f"holds a sparse matrix {name!r} whose columns are out of bounds or not in order")
        return found

    def _decode_strings(self, name: str) -> list[str]:
        text = self.array(name)
        if text.dtype != np.uint8 or text.ndim != 1:
            raise self.damaged(f"holds an impossible list {name!r}")
        joined = text.tobytes()
        found = joined.decode("latin-1").split(SEPARATOR.decode("latin-1"))
        # One letter per byte is right for strings of ASCII, which most are. The others are decoded one by one.
        others = np.flatnonzero((text >= 0x80) & (text != SEPARATOR[0]))
        for number in np.unique(np.searchsorted(np.flatnonzero(text == SEPARATOR[0]), others)).tolist():
            found[number] = found[number].encode("latin-1").decode("utf-8", "surrogatepass")
        return found


def open_model(path: str | Path, *, verify: bool = True, private: bool = False) -> ModelFile:
    """The opened model file: its header is read and checked; arrays are not read yet.

    `load` reads them into memory. With `private` it maps a copy without a name instead: processes that are forked after
    it share the memory, and nobody can change or truncate it.
    """
    path = Path(path)
    if path.is_dir():
        raise MissingDataError(
            f"{path} is a folder, not a model file. Name the file, such as {path / 'NAME.manylabel'}."
        )
    if not path.is_file():
        raise MissingDataError(
            f"{path}: there is no such model file. Make one with: manylabel train DATA --model {path}"
        )
    return ModelFile(path, *read_header(path, FORMAT_VERSION), verify=verify, private=private)


def load(path: str | Path, *, verify: bool = True, private: bool = False) -> Estimator:
    """The fitted estimator stored in a file; `verify` checks every array against its checksum.

    With `private`, processes that are forked later share its memory; see `open_model`.
    """
    return open_model(path, verify=verify, private=private).load()
