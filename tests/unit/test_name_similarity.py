"""Vectors of label names as a member of the stack of the default: scores, labels that change, where they are read."""

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.estimator import Csr
from manylabel.features.vector_view import VectorView
from manylabel.models import LinearSVM, NameSimilarity
from manylabel.models.score_kinds import ScoreKind
from manylabel.strategies import Ensemble, WeightedMember

X, Y = Csr([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), Csr([[1, 0, 0], [0, 1, 0], [0, 1, 1]])
NAMES = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, -0.8]])
TOPICS = ["bus", "road", "tree", "noise", "flood", "school", "market", "library"]


def encode(texts):
    """One dimension per topic, which words such as tree17 and labels such as streets/tree belong to."""
    found = np.full((len(texts), len(TOPICS)), 0.05)
    for row, text in zip(found, texts, strict=True):
        for word in text.split():
            for place, topic in enumerate(TOPICS):
                row[place] += word.startswith(topic) - 0.3 * word.startswith("rest")
    return found


def documents(first: int, each: int) -> tuple[list[str], list[list[str]]]:
    """Texts in which every word occurs once, so that the vectors alone tell the labels."""
    made = [
        (f"{topic}{number} rest{place}x{number}", [f"streets/{topic}_s"])
        for place, topic in enumerate(TOPICS)
        for number in range(first, first + each + 3 * (place < 2))
    ]
    return [text for text, _ in made], [labels for _, labels in made]


def names_of(model: TextClassifier) -> NameSimilarity:
    """The last member of the stack."""
    stack = model.decided_.model_
    assert isinstance(stack, Ensemble)
    member = stack.members_[-1]
    assert isinstance(member, WeightedMember)
    assert isinstance(member.model_, NameSimilarity)
    return member.model_


@pytest.fixture
def named() -> NameSimilarity:
    return NameSimilarity().fit(X, Y, label_vectors=NAMES)


@pytest.fixture(scope="module")
def default() -> TextClassifier:
    return TextClassifier(encoder=encode, folds=3, single_label=False).fit(*documents(0, 3))


def test_scores_are_cosines_with_the_names(named: NameSimilarity) -> None:
    assert named.score_kind is ScoreKind.SIMILARITY
    np.testing.assert_allclose(named.scores(X), [[1.0, 0.0, 0.6], [0.6, 0.8, -0.28], [0.0, 1.0, -0.8]], atol=1e-12)
    score = named.document_scorer()
    assert score is not None
    assert score(np.array([0, 1], dtype=np.int32), np.array([0.6, 0.8])).tolist() == named.scores(X[[1]])[0].tolist()


def test_dimensions_add_up_to_the_score(named: NameSimilarity) -> None:
    parts = named.score_parts(X[[1]], [2, 0])
    np.testing.assert_allclose(parts.terms.toarray(), [[0.36, -0.64], [0.6, 0.0]])
    np.testing.assert_allclose(parts.intercept + parts.terms.sum(axis=1), parts.total)
    np.testing.assert_array_equal(named.evidence(X[[1]], [2, 0]).toarray(), parts.terms.toarray())


def test_labels_keep_their_names_when_labels_change(named: NameSimilarity) -> None:
    scores = named.scores(X)
    assert named.of_labels(np.array([2, 0])).scores(X).tolist() == scores[:, [2, 0]].tolist()
    assert named.beside(named.of_labels(np.array([1]))).scores(X).tolist() == scores[:, [0, 1, 2, 1]].tolist()
    grown = named.refit(X, Y, np.array([1, -1, 0])).scores(X)
    assert grown.tolist() == np.column_stack([scores[:, 1], np.zeros(3), scores[:, 0]]).tolist()


def test_vectors_of_other_sizes_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"label_vectors has the shape \(2, 2\), but labels × columns of X are \(3, 2\)"
    ):
        NameSimilarity().fit(X, Y, label_vectors=NAMES[:2])
    assert not NameSimilarity().fit(X, Y).scores(X).any()


def test_names_are_read_as_words_and_have_length_one() -> None:
    read: list[str] = []

    def noted(texts):
        read.extend(texts)
        return encode(texts)

    found = VectorView(noted).fit().of_names(["streets/road_works", "tree::noise-level"])
    assert read[-2:] == ["streets road works", "tree noise level"]
    assert found is not None
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)


def test_the_default_stacks_names_of_few_documents(default: TextClassifier) -> None:
    stack = default.decided_.model_
    assert isinstance(stack, Ensemble)
    assert default.decided_.choice_["settings"]["stacked"] == len(stack.members_)
    assert names_of(default).n_features_in_ == len(TOPICS)
    texts, labels = documents(50, 2)
    assert default.predict(texts) == labels


def test_a_stored_model_keeps_the_names(default: TextClassifier, tmp_path) -> None:
    texts, _ = documents(50, 2)
    default.save(tmp_path / "model.manylabel")
    again = TextClassifier.load(tmp_path / "model.manylabel", encoder=encode)
    np.testing.assert_array_equal(again.decision_function(texts), default.decision_function(texts))


def test_a_new_label_has_no_name(default: TextClassifier, tmp_path) -> None:
    default.save(tmp_path / "model.manylabel")
    model = TextClassifier.load(tmp_path / "model.manylabel", encoder=encode)
    more = [f"market{number} stall{number}" for number in range(70, 76)] + [f"bus{number}" for number in range(70, 76)]
    model.update(more, [["stalls"]] * 6 + [["streets/bus_s"]] * 6, only_new_labels=True)
    assert model.labels_[-1] == "stalls"
    assert names_of(model).names_.any(axis=0).tolist() == [True] * len(TOPICS) + [False]


@pytest.mark.parametrize("settings", [{"stacked": False}, {"C": 1.0, "stacked": False}])
def test_without_stacks_names_take_no_part(settings) -> None:
    model = TextClassifier(encoder=encode, folds=3, single_label=False, model=settings).fit(*documents(0, 3))
    assert not any(isinstance(one, NameSimilarity) for one in model.decided_.model_.walk())
    assert any(isinstance(one, LinearSVM) for one in model.decided_.model_.walk())


def test_documents_with_weights_are_learned_without_names() -> None:
    texts, labels = documents(0, 3)
    model = TextClassifier(encoder=encode, folds=3, single_label=False)
    model.fit(texts, labels, sample_weight=np.ones(len(texts)))
    assert not any(isinstance(one, NameSimilarity) for one in model.decided_.model_.walk())
