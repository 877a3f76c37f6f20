"""Every method of the catalogue keeps the scores of all other labels when a label is renamed or retired."""

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.catalog import METHODS
from manylabel.exceptions import UnsupportedError
from manylabel.models.score_kinds import ScoreKind
from smaller import smaller

TEXTS = [
    "the bus was late again and the tram too",
    "a deep hole in the road near the school",
    "no bus today, and holes in the road",
    "the tram was late, the bus was not",
    "the school needs a new road sign",
    "holes everywhere, even near the tram",
] * 4
SETS = [["bus", "tram"], ["road", "school"], ["bus", "road"], ["tram", "bus"], ["school"], ["road", "tram"]] * 4
NAMES = ["bus", "road", "school", "tram"]
FASTER = {"neural": {"model": {"max_epochs": 2}}}  # it warns that it could learn more


@pytest.fixture(scope="module")
def fitted():
    """Every method, fitted once."""
    made: dict[str, TextClassifier] = {}

    def fit(name: str) -> TextClassifier:
        if name not in made:
            made[name] = smaller(name, n_jobs=1, **FASTER.get(name, {})).fit(
                TEXTS, SETS, label_names=NAMES, hierarchy={"bus": "traffic", "tram": "traffic"}
            )
        return made[name]

    return fit


@pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_retiring_and_renaming_keep_the_scores_of_all_other_labels(fitted, method, tmp_path):
    whole = fitted(method)
    before = whole.predict_scores(TEXTS[:6], raw=True)
    sets = whole.predict(TEXTS[:6])
    path = tmp_path / "model.manylabel"
    whole.save(path)
    changed = TextClassifier.load(path).update(rename={"tram": "rail"}, retire=["road"])
    changed.save(path)
    changed = TextClassifier.load(path)
    assert changed.labels_ == ["bus", "school", "rail"]
    after = changed.predict_scores(TEXTS[:6], raw=True)
    expected = before[:, [0, 2, 3]]
    if whole.decided_.score_kind is ScoreKind.POSTERIOR:
        total = expected.sum(axis=1, keepdims=True)
        assert np.allclose(after, expected / np.where(total > 0, total, 1), rtol=1e-12)
    else:
        assert np.array_equal(after, expected)
    if whole.thresholds is not None:  # each label is decided by itself, or the best one is taken where none is reached
        names = {"bus": "bus", "school": "school", "tram": "rail"}
        left = [sorted(names[label] for label in labels if label != "road") for labels in sets]
        given = [sorted(labels) for labels in changed.predict(TEXTS[:6])]
        assert all(a == b for a, b in zip(given, left, strict=True) if b)
    assert changed.updates_[-1]["retired"] == ["road"]
    assert changed.updates_[-1]["renamed"] == {"tram": "rail"}
    explanation = changed.explain(TEXTS[0], labels=["rail"], what_if=False)
    assert explanation.labels[0].label == "rail"


@pytest.mark.filterwarnings("ignore::manylabel.exceptions.ManylabelWarning")
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_learns_new_documents_and_labels_or_says_that_it_cannot(fitted, method):
    whole = fitted(method)
    model = TextClassifier(**whole.get_params(deep=False)).restore(whole.learned_state())
    sets = [[*names, "sign"] if "school" in names else names for names in SETS[:6]]
    try:
        model.update(TEXTS[:6], sets, former=(TEXTS, SETS))
    except UnsupportedError as refused:
        assert str(refused).startswith(f"{method} learns all labels together")  # noqa: PT017
        assert model.labels_ == NAMES
        return
    assert model.labels_ == [*NAMES, "sign"]
    assert model.predict_scores(TEXTS[:2]).shape == (2, 5)
    assert model.updates_[-1]["added"] == ["sign"]
