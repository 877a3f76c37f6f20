"""The models that are served: how a new version of a file takes the place of the old one, and how one is withdrawn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from msgspec.structs import replace

from manylabel.exceptions import ManylabelError, ModelFileError
from manylabel.server.channel import FoundModel, WithdrawnModel
from manylabel.server.problems import RequestError
from manylabel.tasks.serving import ModelVersion, ServedModel, identity

Change: TypeAlias = tuple[FoundModel | WithdrawnModel, int | None]
"""What changed about a model, and the descriptor of the copy of its file where there is a new one."""


class ModelFiles:
    """The files of models: those that the server was started with, and those in the folder that jobs write to.

    The supervisor looks at them, and keeps the latest version of each that can be read for workers that start later.
    """

    def __init__(self, given: Mapping[str, str], folder: Path | None = None) -> None:
        self.given = {name: Path(file) for name, file in given.items()}
        self.folder = folder
        self.found: dict[str, tuple[FoundModel, int | None]] = {}
        """The latest version of each model, and the descriptor of the copy of its file."""
        self.problems: dict[str, FoundModel] = {}
        """Why the file of a model, as it is now, cannot be read."""

    @property
    def all(self) -> list[Change]:
        """What a worker that starts has to know: the latest versions, then the problems of files."""
        return [*self.found.values(), *((problem, None) for problem in self.problems.values())]

    def look(self) -> list[Change]:
        """Copy the files that changed since the last look; return what was found of them, and of those removed."""
        return [change for name, path in self._paths().items() for change in self._look_at(name, path)]

    def _paths(self) -> dict[str, Path]:
        """The file of each model that was given or found before, or lies in the folder."""
        known = {one.name: Path(one.path) for one, _ in self.found.values()}
        known |= {name: Path(one.path) for name, one in self.problems.items()}
        written = [] if self.folder is None else sorted(self.folder.glob("*.manylabel"))
        return self.given | known | {path.stem: path for path in written if path.stem not in self.given}

    def _look_at(self, name: str, path: Path) -> list[Change]:
        """What changed about a model; nothing where its file is the same."""
        before, copy = self.found.get(name, (None, None))
        latest, looked = self.problems.get(name, before), FoundModel(name, str(path), name in self.given)
        try:
            if latest is not None and latest.identity == identity(os.stat(path)):
                return []
            version = ModelVersion.of(path)
        except FileNotFoundError:
            return self._withdraw(name)
        except ManylabelError as error:
            return self._keep_problem(replace(looked, problem=str(error)))
        except OSError as error:
            why = f"{path}: this model file cannot be read: {error.strerror}."
            return self._keep_problem(replace(looked, problem=why))
        looked = replace(looked, identity=version.identity)
        try:
            version.check()
        except ManylabelError as error:
            version.close()
            return self._keep_problem(replace(looked, problem=str(error)))
        self.problems.pop(name, None)
        _close(copy)
        self.found[name] = replace(looked, sha256=version.sha256), version.file
        return [self.found[name]]

    def _keep_problem(self, problem: FoundModel) -> list[Change]:
        """Keep why a file cannot be read, beside the latest version that could; nothing where that is known."""
        if problem == self.problems.get(problem.name):
            return []
        self.problems[problem.name] = problem
        return [(problem, None)]

    def _withdraw(self, name: str) -> list[Change]:
        """Forget a model whose file was removed; nothing where it was not known."""
        before, copy = self.found.pop(name, (None, None))
        problem = self.problems.pop(name, None)
        _close(copy)
        return [] if before is None and problem is None else [(WithdrawnModel(name), None)]


def _close(copy: int | None) -> None:
    """Give up the copy of a file; workers that loaded it keep it."""
    if copy is not None:
        os.close(copy)


class Models:
    """The current version of every model by name, in one worker.

    A request takes a model once and keeps it; `take` loads a new version aside and then replaces the table in one step.
    A version that cannot be loaded leaves the old one in place. `given` are the names of the models that the server was
    started with, `can_train` whether its jobs can write others.
    """

    def __init__(self, given: Iterable[str], *, can_train: bool) -> None:
        self.given, self.can_train = list(given), can_train
        self.failures: dict[str, str] = {}
        """Why the file of a model, as it is now, could not be loaded; without its folder, which concerns no client."""
        self._current: dict[str, ServedModel] = {}
        self._withdrawn: set[str] = set()
        self._headers: dict[tuple[str, str, str], list[tuple[bytes, bytes]]] = {}

    @property
    def first(self) -> ServedModel:
        """The model that answers where a dialect names none."""
        if not self._current:
            remedy = "Train one: POST /v1/jobs." if self.can_train else "/ready has the reason."
            raise RequestError(404, f"No model is served. {remedy}")
        return next(iter(self._current.values()))

    @property
    def all(self) -> list[ServedModel]:
        """All models, those that were given first."""
        return list(self._current.values())

    @property
    def why_not_ready(self) -> str | None:
        """Why no prediction can be asked for; None where one can, or where no model was trained yet."""
        if self._current:
            return None
        if self.failures:
            return f"No model can be loaded. {' '.join(self.failures.values())}"
        if self.can_train:
            return None
        return f"No model is served: every model file was removed ({', '.join(self.given)}). Put one back."

    def get(self, name: str) -> ServedModel:
        """The model of a name."""
        found = self._current.get(name)
        if found is None:
            why = f"There is no model {name!r}."
            if name in self.failures:
                why = f"The model {name!r} cannot be loaded. {self.failures[name]}"
            elif name in self._withdrawn:
                why = f"The model {name!r} is no longer served, because its file was removed."
            raise RequestError(404, f"{why} Served: {', '.join(self._current) or 'none'}.")
        return found

    def serves(self, name: str) -> bool:
        """Whether a version of a model is served."""
        return name in self._current

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
            if found.problem is not None:
                raise ModelFileError(found.problem)
            self._replace({**self._current, found.name: ServedModel.load(found.name, version)})
            self.failures = {name: why for name, why in self.failures.items() if name != found.name}
        except (ManylabelError, OSError) as error:
            why = str(error).replace(f"{version.path.parent}{os.sep}", "")
            self.failures = {**self.failures, found.name: why}
        finally:
            version.close()
        self._withdrawn.discard(found.name)
        return found.name not in self.failures

    def withdraw(self, name: str) -> None:
        """Serve a model no longer; a request that has taken it is still answered."""
        self._replace({other: model for other, model in self._current.items() if other != name})
        self.failures = {other: why for other, why in self.failures.items() if other != name}
        self._withdrawn.add(name)

    def _replace(self, models: Mapping[str, ServedModel]) -> None:
        """Replace the table of models in one step; those that were given stay in front."""
        order = [name for name in self.given if name in models]
        order += [name for name in models if name not in self.given]
        self._current, self._headers = {name: models[name] for name in order}, {}
