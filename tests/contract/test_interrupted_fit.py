"""Learning that is interrupted leaves every estimator as it was: bit-equal predictions, or unfitted."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from manylabel import TextClassifier, load_corpus
from manylabel.catalog import METHODS
from manylabel.features import Vectorizer
from manylabel.recipe import Recipe
from smaller import SMALLER, smaller

TEN = ["auto", "svm", "nb", "knn", "trees", "mnb-vw", "pmm", "rocchio", "ensemble", "svm-smote"]
"""Methods of ten families."""
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("patient")]


@contextmanager
def interrupted_at(moment: int, error: type[BaseException]) -> Iterator[list[int]]:
    """Raise an error at the `moment`-th call of or by manylabel; the number of calls is counted in the list.

    Calls inside other libraries are left out: an error between two lines of `threading` leaves a lock behind, on which
    the next thread waits forever.
    """
    calls = [0]

    def count(frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call") and frame.f_globals["__name__"].startswith("manylabel"):
            calls[0] += 1
            if calls[0] == moment:
                raise error("interrupted")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def state_of(estimator: Any, predict: Callable[[Any], Any]) -> bytes | None:
    """What the estimator predicts, as bytes; None if it is not fitted."""
    try:
        return np.asarray(predict(estimator)).tobytes()
    except NotFittedError:
        return None


def check_interruptions(
    estimators: Sequence[Any], learn: Callable[[Any], Any], predict: Callable[[Any], Any], moments: int
) -> None:
    """Interrupt `learn` of each estimator at random moments; it must predict as before, or as after learning.

    The last estimator is fitted, so that all has been imported, and its calls are counted.
    """
    done, rng = deepcopy(estimators[-1]), np.random.default_rng(0)
    with interrupted_at(0, KeyboardInterrupt) as calls:
        learn(done)
    after, raised = state_of(done, predict), 0
    for estimator in estimators:
        before = state_of(estimator, predict)
        for number in range(moments):
            interrupted = deepcopy(estimator)
            error = (KeyboardInterrupt, MemoryError, RuntimeError)[number % 3]
            try:
                with interrupted_at(int(rng.integers(1, calls[0])), error):
                    learn(interrupted)
            except BaseException:
                raised += 1
                assert state_of(interrupted, predict) == before
            else:  # the error was raised where Python only reports it, and the work went on
                assert state_of(interrupted, predict) == after
    assert raised


def corpora() -> tuple[Any, Any]:
    """Two small sets of documents of the same labels."""
    letters = load_corpus("townhall").corpus.split("train")
    return letters.subset(range(40)), letters.subset(range(40, 75))


def check_classifier(method: str, moments: int) -> None:
    old, new = corpora()
    classifier = smaller(method)

    def learn(one: TextClassifier) -> TextClassifier:
        return one.fit(new.texts, new.label_sets)

    def predict(one: TextClassifier) -> Any:
        return one.predict_scores(old.texts[:5])

    fitted = deepcopy(classifier).fit(old.texts, old.label_sets)
    check_interruptions([classifier, fitted], learn, predict, moments)


@pytest.mark.parametrize("method", TEN)
def test_an_interrupted_fit_leaves_a_classifier_as_it_was(method: str) -> None:
    check_classifier(method, 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", TEN)
def test_a_hundred_interruptions_leave_a_classifier_as_it_was(method: str) -> None:
    check_classifier(method, 100)


@pytest.mark.parametrize(
    ("method", "with_rule"), [(one, False) for one in METHODS] + [(one, True) for one in TEN], ids=str
)
def test_an_interrupted_fit_leaves_a_model_as_it_was(method: str, with_rule: bool) -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.poisson(0.7, (24, 10)), (rng.random((24, 3)) < 0.4).astype(np.int8)
    recipe = Recipe.of(method)
    model: Any = recipe.build(folds=2) if with_rule else recipe.build_model().set_params(**SMALLER.get(method, {}))
    fitted = deepcopy(model).fit(X, Y)
    check_interruptions([model, fitted], lambda one: one.fit(X[::2], Y[::2]), lambda one: one.scores(X), 2)


@pytest.mark.parametrize("method", ["nb-binary", "rocchio", "mnb-vw"])
def test_an_interrupted_partial_fit_leaves_a_classifier_as_it_was(method: str) -> None:
    old, new = corpora()
    settings: dict[str, Any] = {"decision": {"rule": "threshold", "value": 0.5}}
    if method == "mnb-vw":
        settings["model"] = {"refine": "none", "keep_counts": True}
    classifier = TextClassifier(method, **settings)
    names = load_corpus("townhall").corpus.label_names

    def learn(one: TextClassifier) -> TextClassifier:
        return one.partial_fit(new.texts, new.label_sets)

    def predict(one: TextClassifier) -> Any:
        return [*one.predict_scores(old.texts[:5]).ravel(), one.n_documents_, *one.label_counts_]

    classifier.partial_fit(old.texts, old.label_sets, label_names=names)
    check_interruptions([classifier], learn, predict, 12)


def test_an_interrupted_partial_fit_leaves_a_vocabulary_as_it_was() -> None:
    old, new = ([" ".join(text.values()) for text in one.texts] for one in corpora())

    def predict(one: Vectorizer) -> Any:
        return np.array([*one.get_feature_names_out(), *map(str, one.document_frequency_)], dtype="U40")

    vectorizer = Vectorizer().fit(old)
    check_interruptions([vectorizer], lambda one: one.partial_fit(new), predict, 12)
    check_interruptions([vectorizer], lambda one: one.fit_transform(new), predict, 12)


def test_a_signal_while_a_classifier_learns_leaves_it_as_it_was() -> None:
    old, new = corpora()
    classifier = TextClassifier("svm").fit(old.texts, old.label_sets)
    before, rng = classifier.predict_scores(old.texts).tobytes(), np.random.default_rng(0)
    after = deepcopy(classifier).fit(new.texts, new.label_sets).predict_scores(old.texts).tobytes()

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(10):
            one = deepcopy(classifier)
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, float(rng.uniform(0.001, 0.05)))
                for _ in range(20):  # a signal within a callback is only reported by Python, and nothing is interrupted
                    one.fit(new.texts, new.label_sets)
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert one.predict_scores(old.texts).tobytes() in (before, after)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def test_an_interrupted_first_fit_cannot_be_saved(tmp_path: Path) -> None:
    old, _ = corpora()
    classifier = TextClassifier("nb")
    with pytest.raises(KeyboardInterrupt), interrupted_at(500, KeyboardInterrupt):
        classifier.fit(old.texts, old.label_sets)
    assert not classifier.is_fitted
    with pytest.raises(NotFittedError):
        classifier.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
