"""What the supervisor tells a worker on a socket between them: the settings, and each version of each model.

A version comes with the descriptor of a sealed copy of the model file, which all workers map: they share its memory,
and whatever happens to the file itself does not reach them.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TypeAlias

import msgspec

from manylabel.server.settings import Settings
from manylabel.tasks.serving import ModelVersion


class FoundModel(msgspec.Struct, frozen=True, tag="model"):
    """A new version of a model, or why the file of the model cannot be read."""

    name: str
    path: str
    is_given: bool
    """Whether the server was started with this model; others are those of the data directory."""
    identity: tuple[int, ...] = ()
    sha256: str = ""
    problem: str | None = None

    def version(self, file: int | None) -> ModelVersion:
        """The version, with the descriptor that came with this message."""
        return ModelVersion(Path(self.path), self.identity, self.sha256, file)


class WithdrawnModel(msgspec.Struct, frozen=True, tag="withdrawn"):
    """A model whose file was removed."""

    name: str


class Looked(msgspec.Struct, frozen=True, tag="looked"):
    """The supervisor has looked at all model files, as it was asked at this time; what it found was sent before."""

    at: float


Told: TypeAlias = Settings | FoundModel | WithdrawnModel | Looked
_decode = msgspec.json.Decoder(Told).decode


class Channel:
    """One end of the socket."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def send(self, message: Told, file: int | None = None) -> None:
        """Send a message, and a descriptor with it."""
        body = msgspec.json.encode(message)
        socket.send_fds(self.end, [len(body).to_bytes(4, "big")], [] if file is None else [file])
        self.end.sendall(body)

    def receive(self) -> tuple[Told, int | None] | None:
        """The next message and its descriptor; None when the other end is closed."""
        head, files, _, _ = socket.recv_fds(self.end, 4, 1)
        size, body = int.from_bytes(head, "big"), bytearray()
        while len(body) < size and (piece := self.end.recv(size - len(body))):
            body += piece
        if len(head) < 4 or len(body) < size:
            for file in files:
                os.close(file)
            return None
        return _decode(body), files[0] if files else None
