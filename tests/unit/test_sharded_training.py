"""Training on shards gives the model of a training in memory, in pieces of any size and after any interruption."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from manylabel import modelfile
from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.decisions import search_sample
from manylabel.exceptions import ParameterError, UnsupportedError
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.pmm_base import ParametricMixture, UnlabelledDocumentsWarning
from manylabel.recipe import Recipe
from manylabel.scale import logistic_blocks, mixture_blocks, neighbour_parts, shards, svm_blocks
from manylabel.scale.engine import Engine, LocalEngine, SerialEngine, Task, run_task
from manylabel.scale.shards import ShardedCorpus
from manylabel.scale.training import ShardedTraining
from manylabel.strategies.weighted_member import WeightedMember

LETTERS = load("townhall").corpus.split("train")
TEXTS, LABELS = LETTERS.joined_texts[:90], LETTERS.label_sets[:90]
NEW = LETTERS.joined_texts[160:200]
UNLABELLED = pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> ShardedCorpus:
    path = tmp_path_factory.mktemp("shards") / "letters.jsonl"
    rows = [{"text": text, "labels": list(names)} for text, names in zip(TEXTS, LABELS, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", 9000)
        found = ShardedCorpus.of(path)
    assert len(found.shards) > 2
    return found


@pytest.fixture
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """SVMs begin with few documents, so that the others have to be found on disk."""
    monkeypatch.setattr(svm_blocks, "OTHERS", 20)
    monkeypatch.setattr(svm_blocks, "LEAST_ADDED", 8)
    monkeypatch.setattr(svm_blocks, "MOST_POSITIVES", 60)


def both(corpus: ShardedCorpus, folder: Path, method: str, overrides: dict | None = None) -> list[TextClassifier]:
    recipe = Recipe.of(method, overrides)
    in_memory = TextClassifier.from_recipe(recipe).fit(TEXTS, LABELS)
    return [in_memory, ShardedTraining(corpus, recipe, folder / method, SerialEngine()).run()]


@pytest.mark.parametrize("method", ["nb-binary", "nb-app", "nb-bernoulli"])
def test_counts_give_the_same_bits(corpus: ShardedCorpus, tmp_path: Path, method: str) -> None:
    in_memory, sharded = both(corpus, tmp_path, method)
    np.testing.assert_array_equal(sharded.decision_function(NEW), in_memory.decision_function(NEW))
    assert sharded.predict(NEW) == in_memory.predict(NEW)
    assert sharded.expected_ == in_memory.expected_
    assert sharded.labels_ == in_memory.labels_
    assert sharded.label_counts_.tolist() == in_memory.label_counts_.tolist()


@pytest.mark.parametrize("method", ["nb", "rocchio", "nb-tfidf"])
def test_weights_give_the_same_labels(corpus: ShardedCorpus, tmp_path: Path, method: str) -> None:
    in_memory, sharded = both(corpus, tmp_path, method, {"features": {"min_df": 2}})
    np.testing.assert_allclose(sharded.decision_function(NEW), in_memory.decision_function(NEW), rtol=1e-9, atol=1e-9)
    assert sharded.predict(NEW) == in_memory.predict(NEW)


CHI2 = {"function": "chi2", "k": 60}


@pytest.mark.parametrize(
    ("method", "overrides"),
    [
        ("nb-binary", {"selection": CHI2, "features": {"min_df": 2}, "decision": {"rule": "per-label"}}),
        ("nb-bernoulli", {"selection": {"function": "ig", "k": 4, "scope": "label"}}),
        ("nb-binary", {"features": {"min_df": 2}}),  # a discount estimated from terms that are not read
    ],
)
def test_removed_terms_are_those_of_a_training_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, method: str, overrides: dict
) -> None:
    in_memory, sharded = both(corpus, tmp_path, method, overrides)
    assert sharded.features_.vectorizer_.terms_ == in_memory.features_.vectorizer_.terms_
    np.testing.assert_array_equal(sharded.decision_function(NEW), in_memory.decision_function(NEW))
    assert sharded.predict(NEW) == in_memory.predict(NEW)
    assert sharded.expected_ == in_memory.expected_  # terms are selected anew in each fold
    sharded.save(tmp_path / "found.manylabel")
    assert TextClassifier.load(tmp_path / "found.manylabel").predict(NEW) == in_memory.predict(NEW)


@pytest.mark.parametrize(("method", "decision"), [("rocchio", {}), ("nb", {"rule": "guarantee", "level": 0.7})])
def test_selected_terms_are_weighted_as_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, method: str, decision: dict
) -> None:
    in_memory, sharded = both(corpus, tmp_path, method, {"selection": CHI2, "decision": decision})
    assert sharded.features_.vectorizer_.terms_ == in_memory.features_.vectorizer_.terms_
    np.testing.assert_allclose(sharded.decision_function(NEW), in_memory.decision_function(NEW), rtol=1e-9, atol=1e-9)
    assert sharded.predict(NEW) == in_memory.predict(NEW)


@pytest.mark.usefixtures("few_in_memory")
def test_svms_reach_the_objective_of_a_training_in_memory(corpus: ShardedCorpus, tmp_path: Path) -> None:
    in_memory, sharded = both(corpus, tmp_path, "svm")
    X = in_memory.features_.transform(TEXTS)
    np.testing.assert_array_equal(sharded.features_.transform(TEXTS).toarray(), X.toarray())
    np.testing.assert_allclose(objectives(sharded), objectives(in_memory), rtol=1e-4)
    assert sharded.predict(NEW) == in_memory.predict(NEW)
    assert len(list(tmp_path.glob("svm/fits/fit-*/labels-*"))) >= 6
    assert not list(tmp_path.glob("svm/fits/fit-*/documents"))  # weighted documents are removed after each fit


def objectives(found: TextClassifier) -> np.ndarray:
    """The objective of each label on the training documents, by its definition."""
    model = found.decided_.model_
    assert isinstance(model, LinearSVM)
    X, Y = found.features_.transform(TEXTS), LETTERS.subset(range(90)).label_matrix(found.labels_).toarray()
    weights = model.coef_ if isinstance(model.coef_, np.ndarray) else model.coef_.toarray()
    margins = np.where(Y > 0, 1, -1) * model.decision_function(X)
    losses = np.logaddexp(0, -margins) if model.loss == "logistic" else np.maximum(0, 1 - margins) ** 2
    costs = np.where(Y > 0, model.C * np.asarray(model.J), model.C)
    norms = (weights.astype(float) ** 2).sum(axis=1) + (model.intercept_**2 if model.bias == "regularised" else 0)
    return norms / 2 + (costs * losses).sum(axis=0)


@pytest.mark.parametrize("settings", [{}, {"bias": "free", "J": 3.0}, {"bias": "none", "C": 100.0}])
def test_logistic_regression_reaches_the_objective_of_a_training_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict
) -> None:
    monkeypatch.setattr(logistic_blocks, "MOST_DOCUMENTS", 30)  # a sample is solved in memory, then all are read
    monkeypatch.setattr(logistic_blocks, "MOST_WEIGHTS", 8_000)
    overrides = {"model": settings, "features": {"min_df": 2}, "decision": {"rule": "natural"}}
    in_memory, sharded = both(corpus, tmp_path, "logistic", overrides)
    np.testing.assert_allclose(objectives(sharded), objectives(in_memory), rtol=1e-4)
    assert len(list(tmp_path.glob("logistic/fits/fit-*/labels-*"))) > 1
    same = [one == other for one, other in zip(sharded.predict(NEW), in_memory.predict(NEW), strict=True)]
    assert sum(same) >= len(NEW) - 1  # scores agree within the solver's tolerance


def test_logistic_regression_of_few_documents_is_solved_in_memory(corpus: ShardedCorpus, tmp_path: Path) -> None:
    in_memory, sharded = both(corpus, tmp_path, "logistic", {"decision": {"rule": "natural"}})
    np.testing.assert_allclose(sharded.decision_function(NEW), in_memory.decision_function(NEW), atol=1e-3)


@pytest.fixture
def few_terms_in_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terms of mixture models are divided into some blocks."""
    monkeypatch.setattr(mixture_blocks, "BLOCK_VALUES", 1500)


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_a_mixture_warns_once_per_training(corpus: ShardedCorpus, tmp_path: Path, place: str) -> None:
    """The fits to the folds of a learned rule do not repeat what the fit to all documents warns of."""
    recipe = Recipe.of("pmm1", {"decision": {"rule": "per-label"}})
    in_memory, on_disk = TextClassifier.from_recipe(recipe), ShardedTraining(corpus, recipe, tmp_path, SerialEngine())
    train = partial(in_memory.fit, TEXTS, LABELS) if place == "memory" else on_disk.run
    with pytest.warns(UnlabelledDocumentsWarning) as found:
        train()
    (warned,) = (str(one.message) for one in found)
    assert f"of {len(TEXTS)} training documents have no label" in warned


@UNLABELLED
@pytest.mark.usefixtures("few_terms_in_a_block")
@pytest.mark.parametrize(
    ("method", "overrides"),
    [
        ("pmm1", {}),
        ("pmm1", {"selection": CHI2, "decision": {"rule": "per-label"}}),
        ("pmm2", {}),
        ("pmm2", {"model": {"start": "random", "max_iter": 3}}),  # ends before it converges
        ("pmm2", {"weighting": {"norm": "l1"}, "model": {"prior": "labels"}}),
        ("pmm", {}),
        ("pmm", {"decision": {"rule": "guarantee", "level": 0.7}}),
    ],
)
def test_mixtures_are_those_of_a_training_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, method: str, overrides: dict
) -> None:
    in_memory, sharded = both(corpus, tmp_path, method, overrides)
    found, expected = (mixture(one) for one in (sharded, in_memory))
    assert (found.n_iter_, found.converged_) == (expected.n_iter_, expected.converged_)
    for name in ("theta_", "alpha_") if method == "pmm2" else ("theta_",):
        own, other = found.learned_state()[name], expected.learned_state()[name]
        assert np.array_equal(own.indices, other.indices)
        np.testing.assert_allclose(own.data, other.data, rtol=1e-9)
    np.testing.assert_allclose(found.background_, expected.background_, rtol=1e-9)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-9)
    assert found.mean_length_ == pytest.approx(expected.mean_length_, rel=1e-9)
    assert found.size_documents_.tolist() == expected.size_documents_.tolist()
    if method == "pmm1":  # sums of whole numbers are exact
        np.testing.assert_array_equal(sharded.decision_function(NEW), in_memory.decision_function(NEW))
    np.testing.assert_allclose(sharded.decision_function(NEW), in_memory.decision_function(NEW), rtol=1e-9)
    assert sharded.predict(NEW) == in_memory.predict(NEW)
    assert [path.name for path in tmp_path.glob(f"{method}/fits/fit-*/mixture")] == []  # removed after each fit


def mixture(found: TextClassifier) -> ParametricMixture:
    model = found.decided_.model_
    inner = model.model_ if isinstance(model, WeightedMember) else model
    assert isinstance(inner, ParametricMixture)
    return inner


@UNLABELLED
@pytest.mark.usefixtures("few_terms_in_a_block")
def test_worker_processes_learn_the_same_mixture(corpus: ShardedCorpus, tmp_path: Path) -> None:
    recipe = Recipe.of("pmm2")
    with LocalEngine(2) as engine:
        ShardedTraining(corpus, recipe, tmp_path / "two", engine).run().save(tmp_path / "two.manylabel")
    ShardedTraining(corpus, recipe, tmp_path / "one", SerialEngine()).run().save(tmp_path / "one.manylabel")
    assert (tmp_path / "two.manylabel").read_bytes() == (tmp_path / "one.manylabel").read_bytes()


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.usefixtures("few_in_memory")
def test_threads_learn_the_same_linear_classifiers(corpus: ShardedCorpus, tmp_path: Path, loss: str) -> None:
    recipe = Recipe.of("svm", {"model": {"loss": loss}})
    for name, engine in (("one", SerialEngine()), ("three", SerialEngine(threads=3))):
        ShardedTraining(corpus, recipe, tmp_path / name, engine).run().save(tmp_path / f"{name}.manylabel")
    assert (tmp_path / "three.manylabel").read_bytes() == (tmp_path / "one.manylabel").read_bytes()


def test_mixtures_check_settings_as_in_memory(tmp_path: Path) -> None:
    rows = [{"text": "a word", "labels": [f"label {number}", "other"]} for number in range(20)]
    (tmp_path / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = Recipe.of("pmm1", {"model": {"search": "exhaustive"}})
    with pytest.raises(ParameterError, match="allows up to 15 labels, but there are 21"):
        ShardedTraining(ShardedCorpus.of(tmp_path / "letters.jsonl"), recipe, tmp_path / "work", SerialEngine()).run()


@pytest.mark.parametrize(
    ("method", "overrides"),
    [
        ("knn", {}),
        ("knn", {"model": {"weights": "summed"}, "decision": {"rule": "guarantee", "level": 0.7}}),
        ("knn-majority", {"selection": CHI2}),
        ("ml-knn", {}),
        ("ml-knn", {"weighting": {"idf": "none"}, "decision": {"rule": "per-label"}}),
    ],
)
def test_neighbours_are_those_of_a_training_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, overrides: dict
) -> None:
    monkeypatch.setattr(neighbour_parts, "PARTS_A_TASK", 2)
    in_memory, sharded = both(corpus, tmp_path, method, overrides)
    files = [tmp_path / "memory", tmp_path / "disk"]
    for classifier, path in zip((in_memory, sharded), files, strict=True):
        modelfile.save(classifier.decided_, path)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert sharded.predict(NEW) == in_memory.predict(NEW)
    assert sharded.expected_ == in_memory.expected_  # scores out of fold come from documents on disk


@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("most", [search_sample.MANY_SCORES, 1], ids=["few scores", "many scores"])
def test_the_default_chooses_as_in_memory(
    corpus: ShardedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(search_sample, "MANY_SCORES", most)
    in_memory, sharded = both(corpus, tmp_path, "auto", {"model": {"most_work": 0, "label_names": False}})
    assert sharded.decided_.choice_["settings"] == in_memory.decided_.choice_["settings"]
    assert sharded.decided_.choice_["rule"] == in_memory.decided_.choice_["rule"]
    starts = [fit for fit in (tmp_path / "auto" / "fits").glob("fit-*/labels-00000") if "dual.data" in np.load(fit)]
    assert len(starts) == (most == 1)  # the solution on all documents, from which the folds started
    same = [one == other for one, other in zip(sharded.predict(NEW), in_memory.predict(NEW), strict=True)]
    assert sum(same) >= len(NEW) - 1  # scores agree within the solver's tolerance
    assert sharded.features_.vectorizer_.stemmer_ == in_memory.features_.vectorizer_.stemmer_ == "english"


@pytest.mark.parametrize("method", ["nb-binary", "nb"])
def test_a_guarantee_is_learned_from_the_same_held_out_documents(
    corpus: ShardedCorpus, tmp_path: Path, method: str
) -> None:
    in_memory, sharded = both(corpus, tmp_path, method, {"decision": {"rule": "guarantee", "level": 0.7}})
    found, expected = ({**one.guarantee.as_dict(), "threshold": None} for one in (sharded, in_memory))
    assert found == expected
    assert sharded.guarantee.threshold == pytest.approx(in_memory.guarantee.threshold, rel=1e-9)
    assert sharded.features_.vectorizer_.terms_ == in_memory.features_.vectorizer_.terms_
    assert sharded.predict(NEW) == in_memory.predict(NEW)


def test_a_guarantee_may_hold_out_all_documents_of_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"text": text, "labels": list(names)} for text, names in zip(TEXTS[:20], LABELS[:20], strict=True)]
    (tmp_path / "letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setattr(shards, "SHARD_BYTES", 300)
    recipe = Recipe.of("ml-knn", {"decision": {"rule": "guarantee", "level": 0.5}})
    training = ShardedTraining(ShardedCorpus.of(tmp_path / "letters.jsonl"), recipe, tmp_path / "work", SerialEngine())
    sharded, in_memory = training.run(), TextClassifier.from_recipe(recipe).fit(TEXTS[:20], LABELS[:20])
    assert 0 in [part.n_documents for part in training.parts()]
    np.testing.assert_array_equal(sharded.decision_function(NEW), in_memory.decision_function(NEW))


class Interrupted(Engine):
    """Ends after some tasks."""

    def __init__(self, tasks: int) -> None:
        self.left, self.ran = tasks, 0

    def run(self, tasks: Sequence[Task], what: str) -> None:
        for task in reversed(tasks):
            if task.is_done:
                continue
            if self.left == self.ran:
                raise KeyboardInterrupt
            run_task(task)
            self.ran += 1


@UNLABELLED
@pytest.mark.usefixtures("few_in_memory", "few_terms_in_a_block")
@pytest.mark.parametrize("method", ["svm", "auto", "pmm", "pmm2", "ml-knn"])
def test_an_interrupted_training_goes_on(
    corpus: ShardedCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(search_sample, "MANY_SCORES", 1)
    further = {
        "svm": {"selection": CHI2},
        "auto": {"model": {"C": 1.0}},
        "ml-knn": {"decision": {"rule": "per-label"}},
    }
    recipe = Recipe.of(method, further.get(method, {}))
    counting = Interrupted(10**6)
    whole = ShardedTraining(corpus, recipe, tmp_path / "whole", counting).run()
    ran = 0
    for tasks in (5, counting.ran // 2, 10**6):
        engine = Interrupted(tasks)
        training = ShardedTraining(corpus, recipe, tmp_path / "pieces", engine)
        if tasks == 10**6:
            found = training.run()
        else:
            with pytest.raises(KeyboardInterrupt):
                training.run()
        ran += engine.ran
    assert ran == counting.ran
    np.testing.assert_array_equal(found.decision_function(NEW), whole.decision_function(NEW))
    found.save(tmp_path / "found.manylabel")
    assert TextClassifier.load(tmp_path / "found.manylabel").predict(NEW) == whole.predict(NEW)


def test_another_training_does_not_go_on(corpus: ShardedCorpus, tmp_path: Path) -> None:
    ShardedTraining(corpus, Recipe.of("nb-binary"), tmp_path / "work", SerialEngine()).run()
    engine = Interrupted(10**6)
    ShardedTraining(corpus, Recipe.of("nb-binary"), tmp_path / "work", engine).run()
    assert engine.ran == 0
    ShardedTraining(corpus, Recipe.of("nb-binary"), tmp_path / "work", engine, seed=1).run()
    assert engine.ran > 3


@pytest.mark.parametrize(
    ("method", "overrides", "message"),
    [
        ("mnb-vw", {}, "cannot be trained on a corpus that does not fit in memory.*Use naive Bayes"),
        ("label-tree", {}, "LabelTree cannot be trained on a corpus that does not fit in memory"),
        ("mnb-vw-cc", {}, "linear SVM, logistic regression, a mixture model or neighbours"),
        ("nb-binary", {"features": {"n_hashes": 99}}, "hashed terms needs all documents in memory"),
    ],
)
def test_what_needs_memory_is_refused(
    corpus: ShardedCorpus, tmp_path: Path, method: str, overrides: dict, message: str
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        ShardedTraining(corpus, Recipe.of(method, overrides), tmp_path / "work", SerialEngine()).run()
