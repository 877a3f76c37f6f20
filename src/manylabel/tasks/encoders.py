"""List, describe and distil encoders."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from manylabel.data.atomic import check_folder
from manylabel.exceptions import DataError, MissingDataError, MissingExtraError
from manylabel.features.encoders import installed_encoders, load_encoder
from manylabel.features.static_encoder import StaticEncoder
from manylabel.progress import stage

TIMED = "The council will repair the road between the bridge and the school before the winter, the mayor said. "
"""A text of 100 characters; documents of three such sentences are timed."""


def list_encoders() -> dict[str, str]:
    """The name and folder of every encoder that can be named."""
    return {name: str(folder) for name, folder in installed_encoders().items()}


def describe_encoder(name: str) -> dict[str, Any]:
    """What an encoder is, and how many documents of 300 characters it encodes per second here."""
    encoder = load_encoder(name)
    facts = encoder.facts()
    texts = [TIMED * 3] * encoder.batch
    began = time.perf_counter()
    encoder.encode(texts)
    speed = len(texts) / (time.perf_counter() - began)
    return {
        "name": encoder.name,
        "kind": encoder.kind,
        "folder": encoder.folder,
        "checksum": encoder.sha256,
        **facts,
        "documents per second": round(speed),
    }


def distil(folder: Path, output: Path, dimensions: int = 256) -> dict[str, Any]:
    """Write static vectors made from the sentence encoder in a folder; return what they are.

    The table holds what the encoder returns for each token of its vocabulary, reduced by PCA and weighted by how
    frequent the token is expected to be.

    Source: model2vec (Tulkens & van Dongen 2024).
    """
    if not (folder / "config.json").is_file():
        raise MissingDataError(f"{folder}: there is no sentence encoder in this folder (config.json is missing).")
    if not list(folder.glob("*.safetensors")):
        raise DataError("Weights are read from safetensors only, and this folder has none.", path=folder)
    check_folder(output)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
    try:
        from model2vec.distill import distill
    except ImportError:
        raise MissingExtraError("Distilling an encoder", "encoders") from None
    with stage("Distilling"):
        model = distill(str(folder.absolute()), pca_dims=dimensions, trust_remote_code=False)
        model.save_pretrained(str(output))
    return {"name": output.name, "folder": str(output.absolute()), **StaticEncoder(output.absolute()).facts()}
