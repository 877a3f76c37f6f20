"""Shared fixtures: the research data, where it is at hand."""

import gc
import os
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from manylabel.kernels import active, linear_solvers
from manylabel.kernels.threads import THREADS_VARIABLE, usable_cores

# The search for garbage reads all that was imported and collected; far less often is enough for tests.
gc.set_threshold(50_000, 20, 100)
# Examples are the same in every run, so that a change is judged by what it changed; MANYLABEL_EXPLORE=1 draws new ones,
# and more.
explore = bool(os.environ.get("MANYLABEL_EXPLORE"))
settings.register_profile("manylabel", deadline=None, max_examples=200 if explore else 30, derandomize=not explore)
settings.load_profile("manylabel")


class FilesWithExamples:
    """Looks for doctests only in files that have an example; most have none, and every worker would search them all."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        """Drop the search for doctests where there is none."""
        found = yield
        if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
            return found
        return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_configure(config: pytest.Config) -> None:
    """Register what also concerns the files of `src`; the other functions of this file are asked about `tests` only."""
    config.pluginmanager.register(FilesWithExamples())


def pytest_collection_finish() -> None:
    """Spare the garbage collector 10,000 tests and all that was imported, which stay to the end."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)  # the tests of a wheel have no pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """One worker per core for `-n auto`, and two more: tests in a browser or of a server mostly wait for it.

    Unless the environment or a test says otherwise, each worker has one thread for linear algebra, and one for our own
    kernels: more would only wait.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault(THREADS_VARIABLE, "1")
    return usable_cores() + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files go to one worker, in order, so that what their tests share is made once; browser tests to two.

    Every worker with browser tests starts a server, trains a model and opens a browser. Half of these tests take the
    other half's time, so the two groups end about together, long before the small files that come last.
    """
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            if not file.startswith("tests/browser/"):
                return file
            return "browser, all views" if file.endswith(("everywhere.py", "hostile.py")) else "browser, one view"

    config.option.loadscopereorder = False
    return Together(config, log) if config.option.dist == "load" else None


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of research data; a test that asks for it is skipped where there is none."""
    folder = os.environ.get("MANYLABEL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("MANYLABEL_DATA names no folder of research data")
    return Path(folder)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """End the plain twin of the SVM solver, where it is in use, after some epochs and without a warning.

    For tests of hundreds of fits whose claims also hold for SVMs that stop short of `tol`. Otherwise they take hours.
    """
    if active() == "compiled":
        return
    to_the_end = linear_solvers.fit_linear

    def some_epochs(*given: Any, max_iter: int, **settings: Any) -> Any:
        most = 200 if settings["loss"] == "logistic" else 30  # probabilities tie at 1 where it stops too early
        fit = to_the_end(*given, max_iter=min(max_iter, most), **settings)
        return replace(fit, converged=np.ones_like(fit.converged))

    monkeypatch.setattr(linear_solvers, "fit_linear", some_epochs)
