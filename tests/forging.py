"""Model files with other contents and correct checksums: what an attacker would write."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as read_arrays
from safetensors.numpy import save as serialize

Arrays = dict[str, Any]
CODES = {
    "f8": "F64", "f4": "F32", "i8": "I64", "i4": "I32", "i2": "I16", "i1": "I8",
    "u8": "U64", "u4": "U32", "u2": "U16", "u1": "U8", "b1": "BOOL",
}  # fmt: skip


def parts_of(content: bytes) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of the bytes of a model file."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["manylabel"].partition("\n")[2])
    return header, {name: array.copy() for name, array in read_arrays(content).items()}


def header_of(path: Path) -> dict[str, Any]:
    """The header of a model file."""
    return parts_of(path.read_bytes())[0]


def model_bytes(header: dict[str, Any], arrays: Arrays | None = None) -> bytes:
    """A header and arrays as a model file whose checksums are correct."""
    arrays = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    declared = {
        name: [
            CODES[array.dtype.str[1:]],
            list(array.shape),
            hashlib.sha256(array.view(np.uint8).data if array.size else b"").hexdigest(),
        ]
        for name, array in arrays.items()
    }
    text = json.dumps({**header, "arrays": declared}, sort_keys=True)
    metadata = {"manylabel": f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}"}
    return serialize(arrays, metadata=metadata)


def write_model(path: Path, header: dict[str, Any], arrays: Arrays | None = None) -> Path:
    """Write a header and arrays as a model file whose checksums are correct."""
    path.write_bytes(model_bytes(header, arrays))
    return path


def forge(path: Path, to: Path, change: Callable[[dict[str, Any], Arrays], None]) -> Path:
    """Write a copy of a model file after `change` altered its header and arrays in place."""
    header, arrays = parts_of(path.read_bytes())
    change(header, arrays)
    return write_model(to, header, arrays)
