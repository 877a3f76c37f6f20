"""Sparse matrices that SciPy saved as ``.npz``, checked before anything is allocated or handed to SciPy.

SciPy's constructors trust their arrays: a row number beyond the matrix or a falling `indptr` makes them write outside
their memory. Here every array is read from the zip file by its own header (no pickled objects), its size is compared
with what the zip file holds, and numbers are compared with the shape, before a matrix is made.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from manylabel.data.limits import Limits
from manylabel.data.problems import read_by_others
from manylabel.estimator import Csr
from manylabel.exceptions import DataError

Arrays = Mapping[str, np.ndarray[Any, Any]]

WANTED = ("format", "shape", "data", "indices", "indptr", "row", "col")
"""The arrays of matrices in the formats csr, csc and coo."""
KEPT = ("csr", "csc", "coo")
REMEDY = "Save it with scipy.sparse.save_npz as a csr, csc or coo matrix."


class _WrongError(ValueError):
    """Why the arrays of a file are not a matrix."""


def read_matrix(path: Path, limits: Limits, columns: str) -> Csr:
    """The matrix of a file as CSR without duplicates; `columns` names the limit on its columns."""
    with read_by_others("The file is not a sparse matrix saved by SciPy: it", path, REMEDY):
        arrays = _arrays(path, limits)
        kind, shape = _kind(arrays), _shape(arrays)
        limits.check("documents", shape[0], "rows", path)
        limits.check(columns, shape[1], "columns", path)
        matrix = _from_pairs(arrays, shape) if kind == "coo" else _compressed(arrays, kind, shape)
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        raise DataError("The matrix holds values that are not finite numbers.", path=path)
    return matrix


def _arrays(path: Path, limits: Limits) -> Arrays:
    found: dict[str, np.ndarray[Any, Any]] = {}
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.removesuffix(".npy") in WANTED]
        limits.check_unpacked(sum(entry.file_size for entry in entries), path.stat().st_size, path)
        for entry in entries:
            with archive.open(entry) as stream:
                found[entry.filename.removesuffix(".npy")] = _array(stream, entry.file_size)
    return found


def _array(stream: Any, size: int) -> np.ndarray[Any, Any]:
    """The array of one entry; its header may not claim more than the entry holds."""
    version = npy.read_magic(stream)
    header = npy.read_array_header_1_0(stream) if version == (1, 0) else npy.read_array_header_2_0(stream)
    shape, fortran, dtype = header
    if dtype.hasobject or fortran or len(shape) > 1 or any(length < 0 for length in shape):
        raise _WrongError(f"it holds an array of {dtype} with the shape {shape}")
    claimed = math.prod(shape) * dtype.itemsize
    data = stream.read(size)
    if len(data) != claimed:
        raise _WrongError(f"an array claims {claimed:,} bytes and has {len(data):,}")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _kind(arrays: Arrays) -> str:
    given = arrays["format"].item() if "format" in arrays and arrays["format"].ndim == 0 else ""
    kind = given.decode("ascii", "replace") if isinstance(given, bytes) else str(given)
    if kind not in KEPT:
        raise _WrongError(f"its format is {kind[:20]!r}")
    return kind


def _shape(arrays: Arrays) -> tuple[int, int]:
    shape = _whole(arrays, "shape")
    if shape.shape != (2,) or shape.min() < 0:
        raise _WrongError("its shape is not a pair of numbers")
    return int(shape[0]), int(shape[1])


def _whole(arrays: Arrays, name: str, limit: int | None = None) -> np.ndarray[Any, np.dtype[np.int64]]:
    """An array of whole numbers as int64, each at least 0 and below the limit."""
    if name not in arrays or arrays[name].dtype.kind not in "iu" or arrays[name].ndim != 1:
        raise _WrongError(f"{name} is not a list of whole numbers")
    numbers = arrays[name].astype(np.int64)  # unsigned numbers beyond int64 become negative, and are refused below
    if limit is not None and numbers.size and (numbers.min() < 0 or numbers.max() >= limit):
        raise _WrongError(f"{name} has a number outside 0 to {limit - 1:,}")
    return numbers


def _values(arrays: Arrays, length: int) -> np.ndarray[Any, Any]:
    if "data" not in arrays or arrays["data"].dtype.kind not in "biuf" or arrays["data"].shape != (length,):
        raise _WrongError("data is not a list with one number per cell")
    data = arrays["data"]
    return data.astype(data.dtype.newbyteorder("="))


def _compressed(arrays: Arrays, kind: str, shape: tuple[int, int]) -> Csr:
    major, minor = shape if kind == "csr" else shape[::-1]
    indices = _whole(arrays, "indices", minor)
    indptr = _whole(arrays, "indptr", len(indices) + 1)
    if len(indptr) != major + 1 or indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
        raise _WrongError("indptr does not divide the cells among the rows or columns")
    parts = (_values(arrays, len(indices)), indices, indptr)
    return Csr(parts, shape=shape) if kind == "csr" else Csr(sparse.csc_array(parts, shape=shape))


def _from_pairs(arrays: Arrays, shape: tuple[int, int]) -> Csr:
    rows, columns = _whole(arrays, "row", shape[0]), _whole(arrays, "col", shape[1])
    if len(rows) != len(columns):
        raise _WrongError("row and col have different lengths")
    return Csr(sparse.coo_array((_values(arrays, len(rows)), (rows, columns)), shape=shape))
