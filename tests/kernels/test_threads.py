"""How many threads are used."""

import pytest

from manylabel.exceptions import ParameterError
from manylabel.kernels.threads import THREADS_VARIABLE, available_threads, in_threads, usable_cores


@pytest.mark.parametrize(("given", "n_jobs", "expected"), [("3", None, 3), ("3", -1, 3), ("3", 2, 2)])
def test_the_variable_says_how_many_where_nothing_else_does(
    given: str, n_jobs: int | None, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, given)
    assert available_threads(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [None, -1])
def test_all_cores_are_used_without_it(n_jobs: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    assert available_threads(n_jobs) == usable_cores()


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5"])
def test_other_values_are_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, given)
    with pytest.raises(ParameterError, match=f"MANYLABEL_THREADS is a number of threads, 1 or more, not '{given}'"):
        available_threads(None)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_blocks(n_jobs: int) -> None:
    assert in_threads(lambda one: one * one, range(20), n_jobs) == [one * one for one in range(20)]
