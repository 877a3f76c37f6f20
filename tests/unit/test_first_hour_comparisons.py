"""Point 19 of the first hour: tests over repeated folds, tables, and the critical-difference diagram."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.repeated_splits import corrected_t_test, f_test_5x2, repeated_test
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.exceptions import DataError
from manylabel.reports.choosing_records import LeaderboardRow
from manylabel.reports.rank_diagram import diagram_of, draw_ranks, ranking
from manylabel.reports.tables import compare_csv, compare_latex

ROW = LeaderboardRow("svm_1", "stems", "a & b", 0.8, 0.7, 0.9, 5, None, None, None, True, None, {})
FACTS = cast(
    Any,
    SimpleNamespace(
        data="mail",
        metric=SimpleNamespace(name="micro-f1", title="Micro F1", greater_is_better=True),
        leaderboard=[ROW],
        stopped=[],
        documents=100,
        compared=100,
        in_memory=100,
        labels=3,
        folds="5 folds",
        n_folds=5,
        repeats=1,
        first_fold={"svm": 0.8, "nb": 0.7},
        fold_values={"svm": [0.8, 0.9, 0.8], "nb": [0.7, 0.6, 0.7], "<knn>": [0.1, 0.2, 0.1]},
    ),
)


def test_point_19_the_5x2_f_test_by_hand() -> None:
    """Point 19: differences 0.1 and 0.3 in every repetition: f = 5·0.10 / (2·5·0.02) = 2.5."""
    found = f_test_5x2([[0.1, 0.3]] * 5)
    assert found.statistic == pytest.approx(2.5)
    assert found.p == pytest.approx(0.1609, abs=1e-3)
    assert repeated_test([[0.1, 0.3]] * 5) == found
    assert f_test_5x2(np.zeros((5, 2))).p == 1
    with pytest.raises(DataError):
        f_test_5x2([[0.1, 0.3]])


def test_point_19_the_corrected_t_test_by_hand() -> None:
    """Point 19: two folds, differences 0.1 and 0.3: t = 0.2 / √((1/2 + 1) · 0.02) = 1.1547, 1 degree of freedom."""
    found = corrected_t_test([[0.1, 0.3]])
    assert found.statistic == pytest.approx(0.2 / np.sqrt(1.5 * 0.02))
    assert found.p == pytest.approx(1 - 2 * np.arctan(found.statistic) / np.pi)


def test_point_19_documents_tested_several_times_are_resampled_as_one() -> None:
    """Point 19: repeating the same predictions leaves value and interval as they are."""
    rng = np.random.default_rng(0)
    Y_true, Y_pred = (Csr((rng.random((40, 3)) < 0.4).astype(np.int8)) for _ in range(2))
    once = DocumentStatistics(Y_true, Y_pred, documents=np.arange(40))
    twice = DocumentStatistics.concatenate([once, once])
    assert len(twice) == 40
    for metric in ("micro-f1", "macro-f1", "sample-f1", "exact-match", "hamming-loss"):
        alone = interval(DocumentStatistics(Y_true, Y_pred), metric)
        both = interval(twice, metric)
        np.testing.assert_allclose([both.value, both.low, both.high], [alone.value, alone.low, alone.high])


def test_point_19_tables_for_papers() -> None:
    """Point 19: CSV reads back, LaTeX escapes what it reserves and prints the best in bold."""
    rows = list(csv.DictReader(io.StringIO(compare_csv([FACTS]))))
    assert [row["method"] for row in rows] == ["svm_1"]
    assert float(rows[0]["value"]) == 0.8
    latex = compare_latex([FACTS])
    assert r"svm\_1 & stems & a \& b & \textbf{80.00} & [70.00, 90.00]" in latex
    assert latex.count("{") == latex.count("}")
    assert "repeated" not in latex


def test_tables_for_papers_have_the_test_over_repeated_folds() -> None:
    """The screen and CSV have a column p repeated; LaTeX names its test in the caption too."""
    row = replace(ROW, p=0.04, p_repeated=0.0002)
    latex = compare_latex(
        [cast(Any, SimpleNamespace(**{**vars(FACTS), "leaderboard": [row], "repeats": 5, "n_folds": 10}))]
    )
    assert r"& difference & $p$ & $p$ repeated \\" in latex
    assert r"& 0.040 & $<$0.001 \\" in latex
    assert "p repeated: 5×2 F test (Alpaydın 1999) over the folds of all repetitions" in latex
    assert r"\begin{tabular}{lllrcrrr}" in latex
    assert latex.count("{") == latex.count("}")


def test_tables_for_papers_have_the_ranks_over_data_sets() -> None:
    """The critical difference of 2 methods is 1.96·√(2·3/(6·N)): 1.39 over 2 data sets, 0.62 over 10."""
    few = compare_latex([FACTS, FACTS])
    assert few.count(r"\begin{table}") == 3
    assert "svm & \\textbf{1.00} \\\\\nnb & \\textbf{2.00} \\\\\n" in few
    assert "over 2 data sets (mail, mail)" in few
    assert "Critical difference (Nemenyi, 5\\,\\%): 1.39" in few
    many = compare_latex([FACTS] * 10)
    assert "svm & \\textbf{1.00} \\\\\nnb & 2.00 \\\\\n" in many
    assert "Critical difference (Nemenyi, 5\\,\\%): 0.62" in many
    assert many.count("{") == many.count("}")
    other = cast(Any, SimpleNamespace(**{**vars(FACTS), "first_fold": {"svm": 0.8}}))
    assert "% There are no ranks: fewer than two methods ran on all data sets." in compare_latex([FACTS, other])


def test_point_19_the_critical_difference_diagram() -> None:
    """Point 19: valid SVG with every method; over folds of one data set the caption says that it is no test."""
    drawn = diagram_of([FACTS])
    assert drawn is not None
    texts = [one.text or "" for one in ElementTree.fromstring(drawn).iter() if one.tag.endswith("text")]
    assert any(text.startswith("<knn> 3.00") for text in texts)
    assert "no test" in " ".join(texts)
    over_sets = diagram_of([FACTS, FACTS])
    assert over_sets is not None
    assert "over 2 data sets" in over_sets
    found = ranking([[0.9, 0.8], [0.7, 0.6]], ["a", "b"], greater_is_better=True)
    assert found is not None
    assert found.average_ranks == [1.0, 2.0]
    assert "a 1.00" in draw_ranks(found)
    assert ranking([[0.9]], ["a"], greater_is_better=True) is None
