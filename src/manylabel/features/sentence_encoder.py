"""Sentence encoders: a network in a folder, run by sentence-transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manylabel.exceptions import DataError, MissingExtraError
from manylabel.features.encoders import Encoder, Vectors, checksum, read_settings

READ = (".json", ".txt", ".model", ".safetensors")
"""The endings of the files that make up an encoder."""
UNSAFE = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
"""The endings of files of weights whose reading can run code."""
OWN_MODULES = "sentence_transformers."


class SentenceEncoder(Encoder):
    """A model in a folder that sentence-transformers wrote, loaded without the network and without code."""

    kind = "sentence encoder"
    batch = 32

    def __init__(self, folder: Path) -> None:
        _check_no_code(folder)
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError:
            raise MissingExtraError("A sentence encoder", "encoders") from None
        logging.set_verbosity_error()  # which tensors of the file the model does not use
        logging.disable_progress_bar()
        self.folder, self.name = str(folder), folder.name
        self.sha256 = checksum(folder, _files(folder))
        try:
            self.model = SentenceTransformer(
                str(folder),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"sentence-transformers cannot load this folder: {error}", path=folder) from error

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """What the model returns for the texts."""
        found: Vectors = self.model.encode(list(texts), batch_size=self.batch, show_progress_bar=False)
        return found

    def facts(self) -> dict[str, Any]:
        """The number of dimensions, and how many tokens of a text are read."""
        return {
            "dimensions": self.encode([""]).shape[1],
            "tokens read of a text": self.model.max_seq_length,
            "device": str(self.model.device),
        }


def _files(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in READ and not path.relative_to(folder).as_posix().startswith((".", "onnx"))
    ]


def _check_no_code(folder: Path) -> None:
    """Raise an error for modules that are not of sentence-transformers and for weights that are not safetensors.

    sentence-transformers would import a class that modules.json names from a file in the folder.
    """
    modules = read_settings(folder / "modules.json")
    for module in modules if isinstance(modules, list) else []:
        name = str(module.get("type")) if isinstance(module, dict) else str(module)
        if not name.startswith(OWN_MODULES):
            raise DataError(
                f"modules.json names the class {name}, which is not part of sentence-transformers.",
                path=folder,
                remedy="Encoders that bring their own code are not loaded; pass such a model as an object: "
                "TextClassifier(encoder=model).",
            )
    for path in folder.rglob("*"):
        safe = path.with_name("model.safetensors")
        if path.suffix in UNSAFE and not safe.is_file():
            raise DataError(
                f"The weights {path.relative_to(folder)} are not stored as safetensors, and reading them can run code.",
                path=folder,
                remedy="Save the model again with a current sentence-transformers: model.save(folder).",
            )
