"""The models that are served, and how a new version of a file takes the place of the old one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from manylabel.exceptions import ManylabelError
from manylabel.server.channel import FoundModel
from manylabel.server.problems import RequestError
from manylabel.tasks.serving import ModelVersion, ServedModel, file_identity


class ModelFiles:
    """The files of models: those that the server was started with, and those that jobs write into a folder.

    The supervisor looks at them, and keeps the latest version of each for workers that start later.
    """

    def __init__(self, given: Mapping[str, str], folder: Path | None = None) -> None:
        self.given = {name: Path(file) for name, file in given.items()}
        self.folder = folder
        self.found: dict[str, tuple[FoundModel, int | None]] = {}
        """What was found last of each model, and the descriptor of the copy of its file."""

    def _paths(self) -> dict[str, Path]:
        written = [] if self.folder is None else sorted(self.folder.glob("*.manylabel"))
        return self.given | {path.stem: path for path in written if path.stem not in self.given}

    def look(self) -> list[tuple[FoundModel, int | None]]:
        """Copy the files that changed since the last look; return what was found of them."""
        changed = []
        for name, path in self._paths().items():
            before, file = self.found.get(name, (None, None))
            found, copy = self._look_at(name, path, before, file)
            if found == before:
                continue
            if file is not None and file != copy:
                ModelVersion(path, (), "", file).close()
            self.found[name] = found, copy
            changed.append(self.found[name])
        return changed

    def _look_at(
        self, name: str, path: Path, before: FoundModel | None, file: int | None
    ) -> tuple[FoundModel, int | None]:
        """What there is of a model now; the same as before where its file did not change."""
        try:
            if before is not None and before.problem is None and before.identity == file_identity(path):
                return before, file
            version = ModelVersion.of(path)
        except (ManylabelError, OSError) as error:
            return FoundModel(name, str(path), name in self.given, problem=str(error)), None
        return FoundModel(name, str(path), name in self.given, version.identity, version.sha256), version.file


class Models:
    """The current version of every model by name, in one worker.

    A request takes a model once and keeps it; `take` loads a new version aside and then replaces the table in one step.
    A version that cannot be loaded leaves the old one in place.
    """

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        """Why the file of a model, as it is now, could not be loaded."""
        self._current: dict[str, ServedModel] = {}
        self._headers: dict[tuple[str, str, str], list[tuple[bytes, bytes]]] = {}

    @property
    def first(self) -> ServedModel:
        """The model that answers where a dialect names none."""
        if not self._current:
            raise RequestError(404, "No model is served yet. Train one: POST /v1/jobs.")
        return next(iter(self._current.values()))

    @property
    def all(self) -> list[ServedModel]:
        """All models, those that were given first."""
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

    def take(self, found: FoundModel, file: int | None) -> bool:
        """Load a version that the supervisor found and serve it; return whether it is served now."""
        version = found.version(file)
        try:
            if found.problem is None:
                made = ServedModel.load(found.name, version)
                self._current = {**self._current, found.name: made}
                self._headers = {}
                self.failures = {name: why for name, why in self.failures.items() if name != found.name}
            else:
                self.failures = {**self.failures, found.name: found.problem}
        except (ManylabelError, OSError) as error:
            self.failures = {**self.failures, found.name: str(error)}
        finally:
            version.close()
        return found.name not in self.failures
