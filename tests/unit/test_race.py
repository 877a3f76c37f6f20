"""The race: what runs depends on documents, seed and budget, not on clocks and threads."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from manylabel.catalog import METHODS
from manylabel.choosing.candidates import Entrant, Traits, ensembles, entrants, variants
from manylabel.choosing.expectation import expectation
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.race import RaceRunner, Runner, Taken, documents_in_time, share_for_race
from manylabel.data import Corpus, load
from manylabel.data.known import read_townhall
from manylabel.data.splits import iterative_stratification
from manylabel.deadline import Deadline, OutOfTime
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.exceptions import DataError
from manylabel.metrics.targets import find_target_metric
from manylabel.progress import figures_to
from manylabel.recipe import Recipe
from manylabel.reports.compare_page import compare_page
from manylabel.tasks import winner as winner_module
from manylabel.tasks.compare import Comparison, compare
from manylabel.tasks.corpora import Source
from manylabel.tasks.models import fit_corpus
from manylabel.tasks.winner import DocumentsInMemory, TimeLeft

SMALL = Traits(documents=300, nonzeros=20_000, labels=29, label_sets=100)
MICRO = find_target_metric("micro-f1")


@pytest.fixture(scope="module")
def work() -> FoldWork:
    corpus = load("townhall").corpus.split("train")
    return FoldWork.of(corpus, iterative_stratification(corpus.label_matrix(), 3, seed=0), n_jobs=1)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A comparison of two quick methods in one thread, with its model; for tests that only ask what was found."""
    return compare_two(tmp_path_factory.mktemp("compared") / "1.manylabel", n_jobs=1)


def compare_two(model: Path, n_jobs: int) -> Comparison:
    found = compare(Source("townhall"), model, methods=["nb-binary", "rocchio"], folds=2, seed=3, n_jobs=n_jobs)
    assert model.exists()
    return found


def test_every_method_enters_once_or_is_left_out_for_a_reason() -> None:
    field, left_out = entrants(None, SMALL, MICRO)
    methods = {option.method for entrant in field for option in entrant.options}
    assert methods | set(left_out) == set(METHODS)
    assert not methods & set(left_out)
    assert left_out["svm-top-down"] == "no label hierarchy"
    with_all = replace(SMALL, has_hierarchy=True, has_unlabelled=True)
    assert entrants(None, with_all, MICRO)[1] == {}


def test_methods_that_differ_by_their_rule_share_an_entrant() -> None:
    field, _ = entrants(["svm", "svm-zero-tfidf", "nb"], SMALL, MICRO)
    assert sorted(entrant.method for entrant in field) == ["nb", "svm"]
    svm = next(entrant for entrant in field if entrant.method == "svm")
    assert {option.method for option in svm.options} == {"svm", "svm-zero-tfidf"}
    assert len({option.rule for option in svm.options}) == len(svm.options) >= 4


def test_costs_are_declared_and_grow() -> None:
    for row in METHODS.values():
        small, large = row.cost.seconds(300, 20_000, 29), row.cost.seconds(3000, 200_000, 29)
        assert 0 < small < large, row.name


def test_titles_are_a_variant_if_the_corpus_has_them() -> None:
    option = entrants(["svm"], SMALL, MICRO)[0][0].options[0]
    assert [one.features for one in variants(option, SMALL, MICRO)] == ["words", "word pairs", "characters"]
    titled = replace(SMALL, has_title=True)
    assert "title again" in [one.features for one in variants(option, titled, MICRO)]
    counted = replace(SMALL, has_texts=False)
    assert [one.features for one in variants(option, counted, MICRO)] == ["words"]


def test_all_methods_count_the_same_terms() -> None:
    """All methods count stems if the language is known; words are only a variant; a method's own tokens stay."""
    english = replace(SMALL, has_stems=True)
    field, _ = entrants(["auto", "svm", "nb-app"], english, MICRO)
    features = {one.method: one.features for one in field}
    assert features == {"auto": "stems", "svm": "stems", "nb-app": "words"}
    svm = next(one for one in field if one.method == "svm")
    assert all(option.recipe.features == {"stemmer": "auto"} for option in svm.options)
    varied = [one.features for one in variants(svm.options[0], english, MICRO)]
    assert varied == ["stems", "words", "word pairs", "characters"]
    assert {one.features for one in entrants(["auto", "svm"], SMALL, MICRO)[0]} == {"words"}


def test_a_leader_is_combined_with_methods_that_err_elsewhere() -> None:
    """An average first below 1,000 documents, a stack first from there on; planned with the costs of its members."""
    auto, svm, vw = (entrants([name], SMALL, MICRO)[0][0] for name in ("auto", "svm", "mnb-vw"))
    found = ensembles(auto.options[0], SMALL, MICRO)
    assert [one.name for one in found] == [
        "ensemble of svm + mnb-vw + knn",
        "ensemble-stacked of svm + mnb-vw + knn",
    ]
    recipe = found[0].recipe
    assert (recipe.method, recipe.model["members"]) == ("ensemble", ("svm", "mnb-vw", "knn"))
    size = SMALL.documents, SMALL.nonzeros, SMALL.labels
    costs = [METHODS[name].cost.seconds(*size) for name in ("svm", "mnb-vw", "knn")]
    assert found[0].seconds == pytest.approx(sum(costs) + auto.seconds - METHODS["auto"].cost.seconds(*size))
    assert {"global", "per-label"} <= {option.rule for option in found[0].options}
    large = ensembles(svm.options[0], replace(SMALL, documents=1000), MICRO)
    assert [one.recipe.method for one in large] == ["ensemble-stacked", "ensemble"]
    assert ensembles(vw.options[0], SMALL, MICRO)[0].recipe.model["members"] == ("mnb-vw", "knn")
    for other in (replace(SMALL, encoder="a folder"), replace(SMALL, has_negative=True)):
        assert ensembles(svm.options[0], other, MICRO) == []


@pytest.mark.parametrize("named", [False, True])
def test_variants_of_the_leader_run_before_all_other_methods(monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    """Trials are made up: the ensemble is best, then svm. Of named methods, variants run last and ensembles never."""
    field, _ = entrants(["auto", "svm", "nb", "nb-binary", "rocchio"], SMALL, MICRO)
    right = {"ensemble of svm + mnb-vw + knn": 90, "svm": 80}
    order: list[tuple[str, int]] = []

    def trial(self: RaceRunner, entrant: Entrant, number: int) -> bool:
        order.append((entrant.name, number))
        self.race.nominal_seconds += entrant.seconds
        if number == 0:
            self.race.runners += [Runner(option, entrant) for option in entrant.options]
        predicted = (np.arange(100) < right.get(entrant.name, 70)).astype(int)[:, np.newaxis]
        for runner in self.race.runners_of(entrant):
            runner.folds[number] = document_statistics(np.ones((100, 1), dtype=int), predicted)
        return True

    monkeypatch.setattr(RaceRunner, "_trial", trial)
    work = SimpleNamespace(splits=[0, 1], seed=0)
    race = RaceRunner(work, SMALL, MICRO, None, Deadline(None)).run(field, named=named)  # type: ignore[arg-type]
    first = [name for name, number in order if number == 0]
    around = ["svm · best", "svm · word pairs", "svm · characters"]
    if named:
        assert sorted(first[:5]) == ["auto", "nb", "nb-binary", "rocchio", "svm"]
        assert first[5:8] == around
        assert not any("ensemble" in name for name in first)
    else:
        both = ["ensemble of svm + mnb-vw + knn", "ensemble-stacked of svm + mnb-vw + knn"]
        assert first[:7] == ["auto", "svm", *both, *around]
        assert sorted(first[7:10]) == ["nb", "nb-binary", "rocchio"]
        assert race.finishers[0].entrant.name == both[0]


def test_what_is_made_of_the_leader_leaves_room_for_other_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a plan of 10 trials of svm, what is made of svm stops at 4 of them, so that nb-binary runs too."""
    field, _ = entrants(["svm", "nb-binary"], SMALL, MICRO)
    spent: dict[str, float] = {}

    def trial(self: RaceRunner, entrant: Entrant, number: int) -> bool:
        spent[entrant.name] = self.race.nominal_seconds
        self.race.nominal_seconds += entrant.seconds
        self.race.runners += [Runner(option, entrant) for option in entrant.options]
        for runner in self.race.runners_of(entrant):
            runner.folds[number] = document_statistics(np.ones((9, 1), dtype=int), np.ones((9, 1), dtype=int))
        return True

    monkeypatch.setattr(RaceRunner, "_trial", trial)
    svm = next(one for one in field if one.method == "svm")
    work = SimpleNamespace(splits=[0], seed=0)
    race = RaceRunner(work, SMALL, MICRO, 10 * svm.seconds / 0.6, Deadline(None)).run(field)  # type: ignore[arg-type]
    assert spent["svm"] == 0 < spent["svm · best"] < spent["nb-binary"] <= 4 * svm.seconds
    assert "for the budget" in race.left_out["svm · characters"]


def test_hopeless_entrants_are_stopped_and_the_best_goes_on(work: FoldWork, monkeypatch: pytest.MonkeyPatch) -> None:
    for made in ("ensembles", "variants"):
        monkeypatch.setattr(f"manylabel.choosing.race.{made}", lambda *_: [])
    traits = Traits.of(work)
    field, _ = entrants(["svm", "nb-unilabel", "rocchio"], traits, find_target_metric("exact-match"))
    race = RaceRunner(work, traits, find_target_metric("exact-match"), None, Deadline(None)).run(field)
    folds = {runner.option.method: len(runner.folds) for runner in race.runners if runner.option.features == "words"}
    assert len(race.finishers[0].folds) == 3
    assert folds["nb-unilabel"] < 3
    assert "behind" in race.left_out["nb-unilabel"]
    assert race.finishers[0].gain(race.metric) == max(runner.gain(race.metric) for runner in race.finishers)
    assert not race.clock_ended_it


def test_what_does_not_fit_the_budget_is_named(work: FoldWork) -> None:
    traits = Traits.of(work)
    field, _ = entrants(["nb-binary", "one-vs-one"], traits, MICRO)
    budget = 4 * field[0].seconds
    seen: dict[str, tuple[float, int]] = {}
    with figures_to(lambda name, value, folds: seen.update({name: (value, folds)})):
        race = RaceRunner(work, traits, MICRO, budget, Deadline(None)).run(field)
    for runner in race.finishers:
        value, folds = seen[runner.entrant.name]
        assert value == race.best_value(runner.entrant) >= runner.gain(MICRO)
        assert folds == len(runner.folds)
    assert "too long for the budget" in race.left_out["one-vs-one"]
    assert {runner.entrant.method for runner in race.runners} == {"nb-binary"}


def test_the_race_stops_at_the_deadline(work: FoldWork) -> None:
    traits = Traits.of(work)
    field, _ = entrants(["nb-binary", "rocchio"], traits, MICRO)
    ticks = iter(np.arange(0.0, 1000.0))
    race = RaceRunner(work, traits, MICRO, None, Deadline(12.0, clock=ticks.__next__)).run(field)
    assert race.clock_ended_it
    assert len(race.runners) < 20
    assert next(ticks) < 20  # it stopped at once, without further checks of the clock


def test_the_winner_is_trained_on_as_many_documents_as_the_time_allows() -> None:
    entrant = entrants(["svm"], SMALL, MICRO)[0][0]
    taken = Taken.by_trials(Runner(entrant.options[0], entrant, fit_seconds=[1.0, 1.2]), SMALL, 5)
    assert taken.documents == 240
    whole = replace(SMALL, documents=30_000, nonzeros=2_000_000, labels=900)
    sizes = [documents_in_time("svm", taken, whole, seconds) for seconds in (0.0, 3.0, 60.0, 1e9)]
    assert sizes[0] == 1
    assert 150 <= sizes[1] <= 300  # half of these seconds are planned, in which a trial's 240 documents are learned
    assert sizes[1] < sizes[2] < 30_000
    assert sizes[3] == 30_000
    assert documents_in_time("svm", taken, SMALL, 10.0) == 300


def test_the_winner_is_trained_again_while_there_is_time_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan begins small; 60 documents leave time for 200, and these for all, whose training then is too long."""
    plans, sizes = iter([60, 200, 415]), []

    def fit_some(corpus: Corpus, *arguments: Any, **options: Any) -> Any:
        sizes.append(len(corpus))
        if len(corpus) == 415:
            raise OutOfTime
        return fit_corpus(corpus, *arguments, **options)

    monkeypatch.setattr(winner_module, "documents_in_time", lambda *_: next(plans))
    monkeypatch.setattr(winner_module, "fit_corpus", fit_some)
    found = compare(Source("townhall"), tmp_path / "m", methods=["nb-binary"], budget=60.0, folds=2, n_jobs=1).record
    assert len(sizes) == 3
    assert found.trained == sizes[1] < sizes[2] == 415
    assert found.test is not None
    assert "because of the budget" in str(compare_page(found))
    assert "manylabel train DATA --recipe FILE" in str(compare_page(found))


def test_the_race_is_shorter_where_training_takes_long() -> None:
    assert share_for_race(SMALL, 60.0) == 0.8
    assert share_for_race(replace(SMALL, documents=10**5, nonzeros=10**7, labels=2000), 60.0) == 0.5


def test_a_comparison_states_that_views_of_the_default_were_not_compared(compared: Comparison) -> None:
    """With 1,000 documents the default tries further views in training, and the folds of a comparison do not."""
    found, told = compared.record, "compared without further views"
    assert {row.method for row in found.leaderboard} == {"nb-binary", "rocchio"}  # a row has the name of its method
    first = replace(found.leaderboard[0], method="auto")
    for features, trained, expected in (("title again", 1000, True), ("stems", 999, False), ("as given", 1000, False)):
        page = compare_page(replace(found, leaderboard=[replace(first, features=features)], trained=trained))
        assert (told in str(page)) == expected


def test_a_comparison_without_time_to_train_the_winner_has_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(*_: object, **__: object) -> None:
        raise OutOfTime

    monkeypatch.setattr("manylabel.tasks.winner.fit_corpus", too_long)
    model = tmp_path / "m.manylabel"
    found = compare(Source("townhall"), model, methods=["nb-binary"], budget=60.0, folds=2, n_jobs=1).record
    assert (found.trained, found.model, found.test) == (0, None, None)
    assert not model.exists()
    assert "ended before the winner was trained" in str(compare_page(found))


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_a_winner_is_not_trained_on_a_handful_of_documents(seconds: float) -> None:
    """The race used the budget up, and one document may even have no label; 277 of them take a second here."""
    letters = read_townhall().split("train")
    left = TimeLeft(seconds, Taken(277, 21, 1.0), replace(SMALL, documents=len(letters)))
    found = DocumentsInMemory(letters).fit(Recipe.of("nb-binary"), None, "compare", left)
    assert (found.classifier, found.documents, found.why_not_all) == (None, 0, "because of the budget")


def test_a_winner_is_not_trained_on_a_sample_without_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = read_townhall().split("train")
    no_labels = replace(letters, labels=[[] for _ in letters.ids])
    monkeypatch.setattr(winner_module, "stratified_sample", lambda *_: no_labels)
    left = TimeLeft(1e9, Taken(277, 21, 1.0), replace(SMALL, documents=len(letters)))
    assert DocumentsInMemory(letters).fit(Recipe.of("nb-binary"), None, "compare", left).classifier is None
    with pytest.raises(DataError, match=r"^townhall: No document has a label"):
        fit_corpus(no_labels, Recipe.of("nb-binary"))


def test_a_budget_too_short_for_anything_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="longer budget"):
        compare(Source("townhall"), tmp_path / "m.manylabel", methods=["svm"], budget=0.001, n_jobs=1)
    assert not (tmp_path / "m.manylabel").exists()


def test_the_table_does_not_depend_on_the_number_of_threads(compared: Comparison, tmp_path: Path) -> None:
    tables = []
    for one in (compared, compare_two(tmp_path / "2.manylabel", n_jobs=2)):
        found = one.record.as_dict()
        tables.append({key: value for key, value in found.items() if key not in ("costs", "seconds", "model")})
    assert tables[0] == tables[1]
    assert tables[0]["test"]["within"]


def test_folds_by_time_where_the_test_split_is_later(compared: Comparison) -> None:
    assert compared.folds == "2 time-ordered folds (date)"


# ---- the expected figure of the winner -------------------------------------------------------------------------------


def predictions(rng: np.random.Generator, n: int, accuracy: float) -> DocumentStatistics:
    Y_true = np.ones((n, 1), dtype=int)
    return document_statistics(Y_true, (rng.random((n, 1)) < accuracy).astype(int))


def test_the_interval_has_its_nominal_coverage() -> None:
    """Exact match 0.8 on 200 documents, then on 100 new ones: inside the 95 % interval about 57 times in 60."""
    rng, inside = np.random.default_rng(0), 0
    exact = find_target_metric("exact-match")
    for trial in range(60):
        one = predictions(rng, 200, 0.8)
        found = expectation([one], [one], exact, 100, folds_differ=False, seed=trial)
        inside += found.low <= predictions(rng, 100, 0.8).value(exact) <= found.high
        # 2 · 1.96 √(.16/200 + .16/100) is 0.19: the coverage does not come from too wide an interval
        assert found.high - found.low < 0.25
    assert inside / 60 >= 0.87


def test_the_expectation_corrects_the_optimism_of_the_best_of_many_equals() -> None:
    """Of twenty equally good pipelines, more than half of the best one's lucky gain is subtracted."""
    exact, errors, corrected = find_target_metric("exact-match"), [], []
    for trial in range(15):
        rng = np.random.default_rng(trial)
        field = sorted((predictions(rng, 200, 0.7) for _ in range(20)), key=lambda one: -one.value(exact))
        found = expectation([field[0]], field, exact, 200, folds_differ=False, seed=trial)
        errors.append(field[0].value(exact) - 0.7)
        corrected.append(found.value - 0.7)
    assert np.mean(errors) > 0.03
    assert abs(np.mean(corrected)) < 0.5 * np.mean(errors)


def test_folds_that_differ_widen_the_interval() -> None:
    exact = find_target_metric("exact-match")
    rng = np.random.default_rng(1)
    folds = [predictions(rng, 200, share) for share in (0.6, 0.7, 0.8, 0.9)]
    pooled = DocumentStatistics.concatenate(folds)
    apart = expectation(folds, [pooled], exact, 200, folds_differ=True)
    alike = expectation(folds, [pooled], exact, 200, folds_differ=False)
    # figures .6, .7, .8, .9 have variance 1/60; about .7 · .3 / 200 of it is chance
    assert apart.of_folds == pytest.approx(np.sqrt(1 / 60 - 0.00094), abs=0.03)
    assert alike.of_folds == 0
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


@pytest.mark.parametrize(("metric", "ends"), [("micro-f1", (0.631, 1.0)), ("hamming-loss", (0.0, 0.369))])
def test_eight_right_documents_leave_others_possible(metric: str, ends: tuple[float, float]) -> None:
    """0.025^(1/8) = 0.631 (Clopper & Pearson 1934), the rule of `train` too."""
    truth = [[1, 0], [0, 1]] * 4
    right = document_statistics(truth, truth)
    found = expectation([right], [right], find_target_metric(metric), 8, folds_differ=False)
    shown = interval(right, metric)
    assert (round(found.low, 3), round(found.high, 3)) == (round(shown.low, 3), round(shown.high, 3)) == ends
