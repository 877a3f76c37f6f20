"""Repeated random splits with the t-test, from the command line. Point 20 of the first-hour list."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from manylabel.cli.run import run
from manylabel.data import load
from manylabel.data.splits import repeated_random
from manylabel.evaluation.repeated_splits import TESTED, split_t_test
from manylabel.evaluation.result import fingerprint, versions
from manylabel.exceptions import DataError
from manylabel.recipe import Recipe

REPEATED = ("evaluate", "townhall", "--method", "nb-binary", "--method", "nb-app", "--repeats", "3", "-j", "1")


def test_point_20_the_paired_test_is_that_of_scipy() -> None:
    """Both tests by their formulas; the paired one equals `scipy.stats.ttest_rel`."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.8, 0.02, 10), rng.normal(0.79, 0.02, 10)
    found = split_t_test(first, second, test_to_train=3 / 7)
    paired = stats.ttest_rel(first, second)
    assert found.t == pytest.approx(paired.statistic)
    assert found.p == pytest.approx(paired.pvalue)
    gaps = first - second
    error = gaps.std(ddof=1) * np.sqrt(1 / 10 + 3 / 7)
    assert found.corrected_t == pytest.approx(gaps.mean() / error)
    assert found.corrected_p == pytest.approx(2 * stats.t.sf(abs(gaps.mean() / error), 9))
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 9, gaps.mean(), error))
    assert found.higher == (gaps > 0).sum()


def test_point_20_equal_methods_are_not_different() -> None:
    found = split_t_test([0.5, 0.6, 0.7], [0.5, 0.6, 0.7], test_to_train=0.5)
    assert (found.difference, found.p, found.corrected_p) == (0.0, 1.0, 1.0)
    assert (found.low, found.high, found.higher) == (0.0, 0.0, 0)
    with pytest.raises(DataError, match="test_to_train"):
        split_t_test([0.5, 0.6], [0.5, 0.6], test_to_train=0.0)


def test_point_20_repeats_in_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tests and tables agree with the values of the splits; all documents of the data are divided."""
    folder = tmp_path / "tables"
    assert run([*REPEATED, "--test-share", "0.3", "--json", "--tables", str(folder)]) == 0
    found = json.loads(capsys.readouterr().out)
    train, test = repeated_random(605, 0.7, 0.3, 3, 0)[0]
    assert (found["documents"], found["train"], found["test"]) == (605, len(train), len(test))
    documents = load("townhall").corpus
    assert found["documents_sha256"] == fingerprint(documents.ids, documents.label_sets)
    assert found["versions"] == versions()
    assert found["recipes"]["nb-app"] == Recipe.of("nb-app").as_dict()
    assert list(found["conventions"]) == list(TESTED)
    first, second = (found["values"][method] for method in ("nb-binary", "nb-app"))
    for metric in TESTED:
        assert found["means"]["nb-app"][metric]["mean"] == pytest.approx(np.mean(second[metric]))
        assert found["means"]["nb-app"][metric]["sd"] == pytest.approx(np.std(second[metric], ddof=1))
        expected = split_t_test(first[metric], second[metric], len(test) / len(train))
        assert found["tests"]["nb-app"][metric]["corrected_p"] == pytest.approx(expected.corrected_p)
    with (folder / "splits.csv").open() as stream:
        assert len(list(csv.DictReader(stream))) == 3 * 2 * len(TESTED)
    with (folder / "t_tests.csv").open() as stream:
        written = {row["metric"]: row for row in csv.DictReader(stream)}
    assert float(written["micro-f1"]["t"]) == pytest.approx(found["tests"]["nb-app"]["micro-f1"]["t"])


def test_point_20_repeats_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run([*REPEATED, "--report", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "3 random splits, 25 % for testing, seed 0 (the data's own split is not used)" in shown
    assert "nb-binary minus nb-app" in shown
    assert "corrected t" in shown
    assert "<ml-chart><script" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--repeats", "1"), "--repeats must be at least 2"),
        (("--repeats", "3", "--split", "test"), "Leave out --model, --split"),
        (("--repeats", "3", "--split-by", "duplicates"), "Leave out --split-by"),
    ],
)
def test_point_20_repeats_that_cannot_be(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", "townhall", "--method", "nb-app", *arguments]) == 2
    assert message in capsys.readouterr().err
