"""Laws of ranges and of what is drawn from them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.catalog.ranges import Choice, Log, Range, Uniform, Whole
from manylabel.choosing.settings import draw_settings

PLACES = st.floats(0, 1, exclude_max=True)
LOW, WIDTH = st.floats(1e-3, 10), st.floats(1.01, 1000)


@given(LOW, WIDTH, PLACES, PLACES)
def test_numbers_lie_in_their_range_and_rise_with_the_place(low: float, width: float, one: float, two: float) -> None:
    whole = (max(1, round(low)), max(1, round(low * width)))
    for values in (Log(low, low * width), Uniform(low, low * width), Whole(*whole)):
        first, second = (values.at(place) for place in sorted((one, two)))
        assert values.low <= first <= second <= values.high


@given(st.integers(1, 7), st.integers(1, 9))
def test_every_choice_has_an_equal_share_of_the_places(choices: int, times: int) -> None:
    values = Choice(*range(choices))
    drawn = Counter(values.at((place + 0.5) / (choices * times)) for place in range(choices * times))
    assert drawn == dict.fromkeys(range(choices), times)


@given(st.integers(1, 30), st.integers(0, 5))
def test_settings_are_drawn_evenly_and_again_by_the_same_seed(count: int, seed: int) -> None:
    search: dict[str, Range] = {"model.C": Uniform(0, 1000), "weighting.tf": Choice("log", "raw", "binary")}
    drawn = draw_settings(search, count, seed)
    assert len({repr(settings) for settings in drawn}) == count
    assert drawn == draw_settings(search, count, seed)
    for place, cost in enumerate(sorted(settings["model.C"] for settings in drawn)):
        # one in each of `count` equal parts, but for what rounding to two decimals moves
        assert 1000 * place / count - 0.01 <= cost <= 1000 * (place + 1) / count + 0.01
    times = Counter(settings["weighting.tf"] for settings in drawn)
    assert max(times.values()) - min(times[word] for word in ("log", "raw", "binary")) <= 2


def test_a_small_space_is_exhausted_and_not_repeated() -> None:
    drawn = draw_settings({"a.b": Choice(1, 2), "a.c": Choice(True, False)}, 50, seed=0)
    assert sorted((one["a.b"], one["a.c"]) for one in drawn) == [(1, False), (1, True), (2, False), (2, True)]


@pytest.mark.parametrize(
    ("values", "text"),
    [(Log(0.05, 20), "0.05 to 20 (log)"), (Choice(None, (1, 2)), "none, 1-2"), (Uniform(0, 1), "0 to 1")],
)
def test_ranges_describe_themselves(values: Range, text: str) -> None:
    assert str(values) == text
