"""The models that are served, and how a new version of a file takes the place of the old one."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from manylabel.exceptions import ManylabelError
from manylabel.server.problems import RequestError
from manylabel.tasks.serving import ServedModel, file_identity


class Models:
    """The current version of every model by name.

    A request takes a model once and keeps it; `refresh` loads what changed aside and then replaces the table in one
    step. A file that cannot be loaded leaves the old version in place.
    """

    def __init__(self, files: Mapping[str, str], folder: Path | None = None) -> None:
        self.given = {name: Path(file) for name, file in files.items()}
        self.folder = folder
        """Where jobs write models; they are served too."""
        self.failures: dict[str, str] = {}
        """Why the file of a model, as it is now, could not be loaded."""
        self._failed: dict[str, tuple[int, ...]] = {}
        self._current: dict[str, ServedModel] = {}
        self._headers: dict[tuple[str, str, str], list[tuple[bytes, bytes]]] = {}
        self._refreshing = asyncio.Lock()

    @property
    def files(self) -> dict[str, Path]:
        """The files by name: those given, and those of the folder."""
        found = {} if self.folder is None else {path.stem: path for path in sorted(self.folder.glob("*.manylabel"))}
        return {**self.given, **{name: path for name, path in found.items() if name not in self.given}}

    def load(self) -> None:
        """Load every model; one of the folder that cannot be loaded is left out and reported."""
        self._current = {name: ServedModel.load(name, path) for name, path in self.given.items()}
        for name, path in self.files.items():
            if name in self._current:
                continue
            try:
                self._current[name] = ServedModel.load(name, path)
            except (ManylabelError, OSError) as error:
                self.failures[name] = str(error)

    @property
    def first(self) -> ServedModel:
        """The model that answers where a dialect names none."""
        if not self._current:
            raise RequestError(404, "No model is served yet. Train one: POST /v1/jobs.")
        return next(iter(self._current.values()))

    @property
    def all(self) -> list[ServedModel]:
        """All models, in the order in which they were given."""
        return list(self._current.values())

    def get(self, name: str) -> ServedModel:
        """The model of a name."""
        found = self._current.get(name)
        if found is None:
            raise RequestError(404, f"There is no model {name!r}. Served: {', '.join(self._current) or 'none'}.")
        return found

    def headers(self, model: ServedModel) -> list[tuple[bytes, bytes]]:
        """The headers in which every answer names its model."""
        key = model.name, model.version, model.sha256
        if key not in self._headers:
            self._headers[key] = [
                (b"manylabel-model", quote(model.name).encode()),
                (b"manylabel-version", model.version.encode()),
                (b"manylabel-sha256", model.sha256.encode()),
            ]
        return self._headers[key]

    async def refresh(self) -> tuple[int, int]:
        """Load the files that changed; return how many models were replaced, and how many could not be."""
        replaced = failed = 0
        async with self._refreshing:
            for name, path in self.files.items():
                try:
                    identity = file_identity(path)
                    if name in self._current and identity == self._current[name].identity:
                        self._succeeded(name)
                        continue
                    if identity == self._failed.get(name):
                        continue
                    self._failed[name] = identity
                    made = await asyncio.to_thread(ServedModel.load, name, path)
                    self._current = {**self._current, name: made}
                    self._headers.clear()
                    self._succeeded(name)
                    replaced += 1
                except (ManylabelError, OSError) as error:
                    failed += name not in self.failures or str(error) != self.failures[name]
                    self.failures[name] = str(error)
        return replaced, failed

    def _succeeded(self, name: str) -> None:
        self.failures.pop(name, None)
        self._failed.pop(name, None)
