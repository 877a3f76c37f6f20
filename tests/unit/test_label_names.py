"""The words of label names in the default: what they add, where they are chosen, and that the model stays linear."""

from pathlib import Path

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.decisions import auto
from manylabel.estimator import Csr
from manylabel.exporting.form import model_form
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.named_svm import NamedSVM
from manylabel.strategies.weighted_member import WeightedMember

RARE = [f"{first}{second}" for first in ("ba", "du", "ki", "lo", "me", "ru") for second in ("ran", "tel", "vos", "zim")]
NOISE = [f"{first}{second}o" for first in "bcdfghjklm" for second in ("and", "ent", "ist", "ort", "ump")]


def documents(n: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Documents of noise, of which a quarter name a rare label and carry it."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(n):
        words = random.choice(NOISE, 30).tolist()
        carried = ["band" if "bando" in words else "other"]
        if number % 4 == 0:
            carried.append(RARE[number // 4 % len(RARE)])
            words.append(carried[-1])
        texts.append(" ".join(random.permutation(words).tolist()))
        labels.append(carried)
    return texts, labels


TRAIN, NEW = documents(240, 0), documents(384, 1)


def learned(metric: str = "macro-f1", rename: str = "{}") -> TextClassifier:
    labels = [[rename.format(name) for name in carried] for carried in TRAIN[1]]
    # Averages with naive Bayes are not linear.
    settings = {"model": {"most_work": 0.0}, "decision": {"rule": "best", "metric": metric}}
    return TextClassifier("auto", **settings).fit(TRAIN[0], labels)


def member(model: TextClassifier) -> WeightedMember:
    found = model.decided_.model_
    assert isinstance(found, WeightedMember)
    return found


def svm(model: TextClassifier) -> NamedSVM:
    found = member(model).model_
    assert isinstance(found, NamedSVM)
    return found


@pytest.fixture(scope="module")
def named() -> TextClassifier:
    model = learned()
    assert model.decided_.choice_ is not None
    assert model.decided_.choice_["settings"]["label names"] is True
    return model


def test_each_name_adds_to_the_weights_of_its_own_words(named: TextClassifier) -> None:
    added = svm(named).added_.toarray()
    terms, labels = named.features_.vectorizer_.terms_, named.labels_
    for label, name in enumerate(labels):
        words = [term for term in np.array(terms)[added[:, label] != 0].tolist() if not name.startswith(term)]
        assert words == []
    assert (added >= 0).all()
    assert (added[:, [labels.index(name) for name in RARE]].sum(axis=0) > 0).all()


def test_the_scores_grow_by_slope_times_cosine(named: TextClassifier) -> None:
    whole, weighting = svm(named), member(named).weighting_
    assert weighting is not None
    X = weighting.transform(named.transform(NEW[0]))
    names = weighting.transform(named.transform(named.labels_))
    plain = X @ (np.asarray(whole.coef_) - whole.added_.toarray().T).T + whole.intercept_
    cosines = (X @ names.T).toarray()  # every name is one word, so that its length is 1
    slopes = whole.added_.toarray().sum(axis=0)
    np.testing.assert_allclose(named.decision_function(NEW[0]), plain + slopes * cosines, atol=1e-5)


def test_rare_labels_are_found_by_their_names(named: TextClassifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "LEAST_GAIN_OF_NAMES", np.inf)
    plain = learned()
    assert "label names" not in plain.decided_.choice_["settings"]
    assert type(member(plain).model_) is LinearSVM

    def macro_f1(model: TextClassifier) -> float:
        predicted = model.predict(NEW[0])
        found = []
        for name in RARE:
            true, said = (np.array([name in one for one in sets]) for sets in (NEW[1], predicted))
            found.append(2 * (true & said).sum() / max(true.sum() + said.sum(), 1))
        return float(np.mean(found))

    assert macro_f1(named) > macro_f1(plain) + 0.02


def test_names_that_no_document_mentions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    coded = learned(rename="x{}x")
    monkeypatch.setattr(auto, "LEAST_GAIN_OF_NAMES", np.inf)
    assert coded.decided_.choice_ == learned(rename="x{}x").decided_.choice_
    assert type(member(coded).model_) is LinearSVM


def test_files_and_exports_hold_the_names(named: TextClassifier, tmp_path: Path) -> None:
    named.save(tmp_path / "model.manylabel")
    again = TextClassifier.load(tmp_path / "model.manylabel")
    np.testing.assert_array_equal(again.decision_function(NEW[0]), named.decision_function(NEW[0]))
    np.testing.assert_array_equal(svm(again).added_.toarray(), svm(named).added_.toarray())
    [block] = model_form(named, "auto")["blocks"]
    assert block is not None
    explained = named.explain(NEW[0][0])
    assert explained is not None


def test_an_update_adds_the_names_again(named: TextClassifier) -> None:
    whole, weighting = svm(named), member(named).weighting_
    assert weighting is not None
    X = weighting.transform(named.transform(TRAIN[0]))
    Y = Csr([[int(name in carried) for name in named.labels_] for carried in TRAIN[1]])
    again = whole.refit(X, Y, np.arange(Y.shape[1]))
    np.testing.assert_array_equal(again.added_.toarray(), whole.added_.toarray())
    np.testing.assert_allclose(again.score_batch(X), whole.score_batch(X), atol=0.02)
    last = Y.shape[1] - 1
    more = whole.refit(X, Csr(Y[:, [last, 0]]), np.array([last, -1]))  # the second one is a new label
    np.testing.assert_array_equal(more.added_.toarray()[:, 0], whole.added_.toarray()[:, last])
    assert not more.added_.toarray()[:, 1].any()
