"""The benchmark's own arithmetic: medians, ratios, exponents, tables. No timing is asserted here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks import views
from benchmarks.growth import (
    CENTRE,
    FULL_SIZES,
    QUICK_SIZES,
    Growth,
    Point,
    corpus_sizes,
    fit_exponent,
    fit_growth,
)
from benchmarks.inputs import Inputs
from benchmarks.measure import FULL, QUICK
from benchmarks.paths import NAMES, hot_path
from benchmarks.paths.contract import OURS, Agreement, Goal, HotPath, same_decisions
from benchmarks.paths.knn import agree as knn_agree
from benchmarks.paths.svm import objectives
from benchmarks.peers import BY_NAME, last_line
from benchmarks.report import Row, as_json, as_text, cells, rows_of, table
from benchmarks.samples import Record, Sample, figure, median, ratio, seconds
from benchmarks.synthetic import Size, write_synthetic
from benchmarks.tree_worker import CANDIDATES, read
from benchmarks.trees import Shape, quality, write_made_up
from benchmarks.trees import table as table_of_trees

from manylabel.decisions import best_rule
from manylabel.metrics.targets import find_target_metric
from manylabel.models.score_kinds import ScoreKind
from manylabel.scale.synthesize import spelling

NOWHERE = Inputs(Path())


def samples(*walls: float, peak: int = 2**20) -> list[Sample]:
    return [Sample(wall, 2 * wall, peak) for wall in walls]


def record(name: str, threads: int, *walls: float, missing: str = "", peak: int = 2**20) -> Record:
    return Record("path", name, threads, samples(*walls, peak=peak), samples(*walls), missing=missing)


def path_with(*goals: Goal) -> HotPath:
    return HotPath("path", "", (), same_decisions, goals)


class TestSamples:
    def test_median_is_the_middle_one_and_not_the_mean(self) -> None:
        assert median(samples(1.0, 100.0, 2.0), "wall") == 2.0
        assert median(samples(1.0, 3.0), "cpu") == 4.0
        assert median([], "wall") is None

    def test_ratio_is_of_medians_and_its_spread_of_paired_rounds(self) -> None:
        found = ratio(samples(1.0, 2.0, 4.0), samples(10.0, 10.0, 10.0))
        assert found is not None
        assert (found.value, found.low, found.high) == (5.0, 2.5, 10.0)

    def test_no_ratio_without_samples(self) -> None:
        assert ratio(samples(1.0), []) is None
        assert ratio(samples(0.0), samples(1.0)) is None

    @pytest.mark.parametrize(
        ("value", "shown"), [(0.9996, "1"), (99.94, "99.9"), (1234.5, "1234"), (0.00123456, "0.00123")]
    )
    def test_three_digits(self, value: float, shown: str) -> None:
        assert figure(value) == shown

    def test_units_of_time(self) -> None:
        assert [seconds(2e-6), seconds(0.5), seconds(1.0)] == ["2 µs", "500 ms", "1 s"]


class TestExponents:
    @pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
    def test_a_power_law_gives_its_power(self, power: float) -> None:
        sizes = [10, 100, 500, 7000]
        assert fit_exponent(sizes, [3.0 * n**power for n in sizes]) == pytest.approx(power, abs=1e-12)

    def test_least_squares_as_numpy_fits_it(self) -> None:
        sizes, times = [1, 3, 10, 40], [0.5, 0.9, 4.0, 9.0]
        assert fit_exponent(sizes, times) == pytest.approx(np.polyfit(np.log(sizes), np.log(times), 1)[0])

    def test_fixed_cost_hides_in_the_fit_but_not_at_the_largest_sizes(self) -> None:
        points = [
            Point("svm", CENTRE.documents, labels, CENTRE.terms, 1, 1.0 + (labels / 60) ** 2)
            for labels in (10, 60, 360, 1400, 5000)
        ]
        [growth] = [g for g in fit_growth(points, [hot_path("svm")]) if g.axis == "labels"]
        assert growth.exponent < growth.tail
        assert growth.tail == pytest.approx(2.0, abs=0.02)
        assert not growth.within_goal

    def test_axes_meet_in_the_centre_once(self) -> None:
        for sizes in (FULL_SIZES, QUICK_SIZES):
            corpora = corpus_sizes(sizes)
            assert corpora.count(CENTRE) == 1
            assert len(corpora) == sum(len(values) for values in sizes.values()) - 2

    def test_documents_are_counted_in_non_zeros(self) -> None:
        points = [Point("text", n, CENTRE.labels, CENTRE.terms, 50 * n, n / 1000) for n in (2000, 6000)]
        [growth] = fit_growth(points, [hot_path("text")])
        assert (growth.axis, growth.sizes) == ("documents", [100_000, 300_000])
        assert growth.exponent == pytest.approx(1.0)


class TestAgreement:
    def test_one_decision_is_enough_to_differ(self) -> None:
        mine, other = np.zeros((3, 2)), np.zeros((3, 2))
        assert same_decisions({"decisions": mine}, {"decisions": other}, NOWHERE).equal
        other[2, 1] = 1
        assert same_decisions({"decisions": mine}, {"decisions": other}, NOWHERE) == (False, "1 of 6 decisions differ")

    def test_svm_objective_by_hand(self) -> None:
        """With w = (1, 0), b = 0.5 on x = (1, 0) positive and x = (0, 2) negative: 0.625 + 0 + 1.5²."""
        answer = {"W": np.array([[1.0, 0.0]]), "b": np.array([0.5])}
        Y = type("Y", (), {"toarray": lambda self: np.array([[1], [0]])})()
        assert objectives(answer, np.array([[1.0, 0.0], [0.0, 2.0]]), Y)[0] == pytest.approx(0.625 + 2.25)

    def test_neighbours_that_do_not_have_the_similarity_claimed_are_found_out(self, tmp_path: Path) -> None:
        write_synthetic(tmp_path, Size(40, 3, 30, mean_length=10), texts=False)
        inputs = Inputs(tmp_path)
        S = (inputs.matrix("X_test") @ inputs.matrix("X_train").T).toarray()
        ids = np.argsort(-S, axis=1)[:, :3]
        right = {"ids": ids, "similarities": np.take_along_axis(S, ids, axis=1)}
        assert knn_agree(right, right, inputs).equal
        assert not knn_agree({**right, "ids": np.argsort(S, axis=1)[:, :3]}, right, inputs).equal


class TestTable:
    def test_rows_pair_equal_threads_and_goals(self) -> None:
        records = {(name, n): record(name, n, 1.0) for name in (OURS, "peer") for n in (1, 2)}
        rows = rows_of(path_with(Goal("peer", 4, our_threads=2)), records, {})
        assert [(row.our_threads, row.peer_threads, row.goal is not None) for row in rows] == [
            (1, 1, False),
            (2, 1, True),
            (2, 2, False),
        ]

    @pytest.mark.parametrize(
        ("theirs", "equal", "peak", "verdict"),
        [
            (8.0, True, 2**20, "met"),
            (3.9, True, 2**20, "missed"),
            (8.0, True, 2**19, "missed"),
            (8.0, False, 2**20, "not judged, results differ"),
        ],
    )
    def test_a_goal_needs_speed_memory_and_equal_results(
        self, theirs: float, equal: bool, peak: int, verdict: str
    ) -> None:
        records = {(OURS, 1): record(OURS, 1, 1.0), ("peer", 1): record("peer", 1, theirs, peak=peak)}
        same = {((OURS, 1), ("peer", 1)): Agreement(equal, "said")}
        [row] = rows_of(path_with(Goal("peer", 4, our_threads=1, no_more_memory=True)), records, same)
        assert row.verdict == f"≥ 4×, no more memory: {verdict}"
        assert ("DIFFERENT" in cells(row)[-2]) is (not equal)

    def test_what_is_missing_says_why(self) -> None:
        records = {(OURS, 1): record(OURS, 1, 1.0), ("peer", 1): record("peer", 1, missing="absent: no wheel")}
        [row] = rows_of(path_with(Goal("peer", 4, our_threads=1)), records, {})
        assert cells(row)[-2:] == ["absent: no wheel", "≥ 4×: not measured"]

    def test_a_path_without_peers_has_our_times(self) -> None:
        [row] = rows_of(path_with(), {(OURS, 1): record(OURS, 1, 0.25)}, {})
        assert cells(row)[1:4] == ["nobody", "1", "250 ms"]

    def test_columns_line_up(self) -> None:
        first, rule, second = table(["a", "long"], [["xyz", "1"]]).splitlines()
        assert (first, rule, second) == ("a    long", "---  ----", "xyz  1")

    def test_text_and_json_tell_the_same(self) -> None:
        records = {(OURS, 1): record(OURS, 1, 1.0), ("peer", 1): record("peer", 1, 8.0)}
        rows: list[Row] = rows_of(path_with(), records, {})
        growth = [Growth("svm", "labels", [10, 100], [1.0, 10.0], 1.0, 1.0)]
        facts: dict[str, Any] = {"data": "made up", "peers": {"PECOS": "absent: no wheel"}}
        text, document = as_text(rows, growth, facts), json.loads(as_json(rows, growth, facts))
        assert "8×" in text
        assert "PECOS absent: no wheel" in text
        assert document["comparisons"][0]["ratios"]["first wall"]["value"] == 8.0
        assert document["growth"][0]["exponent"] == 1.0


class TestDeclarations:
    @pytest.mark.parametrize("name", NAMES)
    def test_paths_are_whole(self, name: str) -> None:
        path = hot_path(name)
        assert path.name == name
        assert path.candidates[0].name == OURS
        for candidate in path.candidates:
            assert candidate.peer in BY_NAME
            assert set(candidate.quick) <= set(candidate.threads)
        for goal in path.goals:
            assert goal.our_threads in path.candidate(OURS).quick
            assert goal.peer_threads in path.candidate(goal.against).quick

    def test_a_quick_run_is_the_shorter_one(self) -> None:
        assert QUICK.rounds >= 2
        assert QUICK.rounds * (1 + QUICK.later) < FULL.rounds * (1 + FULL.later)

    def test_the_error_is_found_in_what_pip_says(self) -> None:
        said = "Collecting x\nERROR: No matching distribution found for x\n\nnote: see above\n"
        assert last_line(said) == "ERROR: No matching distribution found for x"
        assert last_line("only this\n") == "only this"
        assert last_line("") == ""


class TestSynthetic:
    def test_same_seed_same_corpus_and_the_size_asked_for(self, tmp_path: Path) -> None:
        size = Size(documents=200, labels=7, terms=500, mean_length=20)
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            write_synthetic(tmp_path / name, size)
        one, two = Inputs(tmp_path / "a"), Inputs(tmp_path / "b")
        assert one.texts("train") == two.texts("train")
        assert one.matrix("counts_train").shape == (200, 500)
        assert one.matrix("Y_test").shape == (50, 7)
        assert one.matrix("Y_train").sum(axis=1).min() >= 1
        assert one.matrix("counts_train").sum() == sum(len(text.split()) for text in one.texts("train"))
        assert np.allclose(np.asarray(one.matrix("X_train").power(2).sum(axis=1)), 1.0)

    def test_every_term_has_a_word_of_its_own(self) -> None:
        assert len({spelling(term) for term in range(40_000)}) == 40_000


class TestTrees:
    def test_quality_is_that_of_the_ranking_metrics(self) -> None:
        from manylabel.metrics import compute_ranking_metrics

        random = np.random.default_rng(0)
        truth = sparse.csr_matrix((random.random((30, 12)) < 0.2).astype(float))
        scores = random.random((30, 12))
        found = quality(np.argsort(-scores, axis=1)[:, :5], truth)
        names = ["precision@1", "precision@5", "ndcg@5"]
        expected = compute_ranking_metrics(sparse.csr_array(truth), scores, names)
        assert found == pytest.approx([100 * expected[name] for name in names])

    def test_napkinxc_leaves_no_folder_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class PLT:
            def __init__(self, folder: str, threads: int) -> None:
                self.file = Path(folder, "weights")

            def fit(self, X: object, Y: list[list[int]]) -> None:
                self.file.write_text(str(Y[0][0]))

            def predict(self, X: sparse.csr_matrix, top_k: int) -> list[list[int]]:
                return [[int(self.file.read_text())]] * X.shape[0]

        monkeypatch.setitem(sys.modules, "napkinxc.models", SimpleNamespace(PLT=PLT))
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        ones = sparse.csr_matrix(np.ones((2, 1)))
        predict = CANDIDATES["napkinXC"][1](ones, ones)
        assert predict(ones).tolist() == [[0, -1, -1, -1, -1]] * 2
        assert len(list(tmp_path.iterdir())) == 1
        del predict
        assert not list(tmp_path.iterdir())

    def test_every_candidate_has_a_peer_and_the_corpus_its_shape(self, tmp_path: Path) -> None:
        assert {peer for peer, _ in CANDIDATES.values()} <= BY_NAME.keys()
        title = write_made_up(tmp_path, Shape(documents=80, tests=20, labels=100, terms=500, labels_a_topic=10))
        assert title == "made up: 80 training documents, 20 test documents, 100 labels"
        assert read(tmp_path, "X_train").shape == (80, 500)
        assert (np.diff(read(tmp_path, "Y_test").indptr) > 0).all()
        np.save(tmp_path / "top-one.npy", np.full((20, 5), -1))
        reports = {"one": {"train": 1.0, "predict_ms": 0.5, "peak": 2**20}, "other": {"absent": "not installed"}}
        lines = table_of_trees(reports, tmp_path).splitlines()
        assert lines[1].split() == ["one", "0.00", "0.00", "0.00", "1.0", "0.500", "1"]
        assert lines[2].split() == ["other", "not", "installed"]


def _draw(name: str, draw: int, gain: float) -> list[dict[str, Any]]:
    def row(kind: str, value: float) -> dict[str, Any]:
        figures = {"micro-f1": value, "macro-f1": value / 2}
        cell = {"set": name, "size": 100, "metric": "micro-f1", "draw": draw, "kind": kind}
        return {**cell, "figures": figures, "seconds": 1.0 + draw}

    gains = {"words": [gain, gain - 0.01, gain + 0.01]}
    return [row("words", 0.5), {**row("static", 0.5 + gain), "gain": gains}]


def test_views_are_compared_on_the_mean_of_several_draws() -> None:
    rows = [*_draw("townhall", 0, 0.02), *_draw("townhall", 1, 0.06), *_draw("hallmarks", 0, -0.01)]
    lines = views.table(rows, ["words", "static"]).splitlines()
    assert lines[2:] == [
        "| townhall | 100 | 2 | 50.0 / 25.0 | 54.0 / 27.0 | 1.5, 1.5 |",
        "| hallmarks | 100 | 1 | 50.0 / 25.0 | 49.0 / 24.5 | 1.0, 1.0 |",
    ]
    lines = views.differences(rows, ["words", "static"]).splitlines()
    assert lines[0] == "| trained for micro-f1: difference | documents | draws | static − words |"
    assert lines[2:] == [
        "| townhall | 100 | 2 | +4.0 [-21.4, +29.4] |",
        "| hallmarks | 100 | 1 | -1.0 [-2.0, +0.0] |",
    ]
    means = views.mean_differences(rows, ["words", "static"])
    assert means == "100 documents, static − words: +1.50 on the mean of 2 sets, -1.00 at the least\n"


def test_the_mean_of_sets_has_an_interval_over_draws() -> None:
    gains = {"townhall": (0.02, 0.06, 0.04), "hallmarks": (0.00, 0.00, 0.01)}
    rows = [row for name, own in gains.items() for draw, gain in enumerate(own) for row in _draw(name, draw, gain)]
    # The means over the sets are 1, 3 and 2.5: 2.17 ± 4.303 · 1.041 / √3.
    means = views.mean_differences(rows, ["words", "static"])
    assert means == "100 documents, static − words: +2.17 [-0.42, +4.75] on the mean of 2 sets, +0.33 at the least\n"


def test_rules_of_the_default_before_have_no_micro_macro() -> None:
    metric, kind = find_target_metric("macro-f1"), ScoreKind.MARGIN
    with views.rules_before():
        before = best_rule.candidates(metric, kind)
        for_micro = best_rule.candidates(find_target_metric("micro-f1"), kind)
    now = best_rule.candidates(metric, kind)
    assert len(before) == 8
    assert {type(rule).__name__ for rule in now} - {type(rule).__name__ for rule in before} == {"MicroMacroThreshold"}
    assert repr(for_micro) == repr(best_rule.candidates(find_target_metric("micro-f1"), kind))
