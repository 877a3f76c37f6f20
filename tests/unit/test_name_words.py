"""Words of label names as a member of stacks: scores, labels that change, where they are read."""

import numpy as np
import pytest

from manylabel import TextClassifier
from manylabel.estimator import Csr
from manylabel.features.ready_vectors import ReadyVectors
from manylabel.features.weighting import Weighting
from manylabel.models import NameSimilarity
from manylabel.strategies import Ensemble, NameWords

X = Csr(np.array([[2.0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 1, 3]]))
Y = Csr([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
NAMES = Csr(np.array([[1.0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]))
"""Two words each, of which they share the second one; the third label has a name without a known word."""


@pytest.fixture
def named() -> NameWords:
    return NameWords(Weighting(idf="none")).fit(X, Y, name_terms=NAMES)


def test_scores_are_cosines_with_the_names(named: NameWords) -> None:
    """The shared word counts ln(4/3)/ln 2 = 0.415 times as much as a word of one name."""
    name = np.array([1, np.log(4 / 3) / np.log(2)]) / np.hypot(1, np.log(4 / 3) / np.log(2))
    first, second = np.array([2, 1]) / np.sqrt(5), np.array([1, 1]) / np.sqrt(2)
    expected = [[first @ name, name[1] / np.sqrt(5), 0], [name[1] / np.sqrt(2), second @ name, 0]]
    np.testing.assert_allclose(named.scores(X[:2]), expected, atol=1e-12)
    score = named.document_scorer()
    assert score(np.array([1, 2], dtype=np.int32), np.array([1.0, 1.0])).tolist() == named.scores(X[[1]])[0].tolist()


def test_terms_add_up_to_the_score(named: NameWords) -> None:
    parts = named.score_parts(X[[1]], [1, 0])
    np.testing.assert_allclose(parts.intercept + parts.terms.sum(axis=1), parts.total)
    np.testing.assert_array_equal(named.evidence(X[[1]], [1, 0]).toarray(), parts.terms.toarray())
    assert (parts.terms.toarray() > 0).tolist() == [[False, True, True, False], [False, False, True, False]]


def test_labels_keep_their_names_when_labels_change(named: NameWords) -> None:
    scores = named.scores(X)
    assert named.of_labels(np.array([2, 0])).scores(X).tolist() == scores[:, [2, 0]].tolist()
    assert named.beside(named.of_labels(np.array([1]))).scores(X).tolist() == scores[:, [0, 1, 2, 1]].tolist()
    grown = named.refit(X, Y, np.array([1, -1, 0])).scores(X)
    assert grown.tolist() == np.column_stack([scores[:, 1], np.zeros(3), scores[:, 0]]).tolist()


def test_names_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"name_terms has the shape \(2, 4\), but labels × columns of X are \(3, 4\)"):
        NameWords(Weighting()).fit(X, Y, name_terms=NAMES[:2])
    assert not NameWords(Weighting()).fit(X, Y).scores(X).any()


TOPICS = ["bus", "road", "tree", "noise", "flood", "school", "market", "library"]


def encode(texts: list[str]) -> np.ndarray:
    """Vectors that say nothing: the length of a text."""
    return np.array([[1.0, len(text) % 3, 0.5] for text in texts])


def documents(first: int, each: int) -> tuple[list[str], list[list[str]]]:
    """Texts that share with each other the word that names their label, and no other word."""
    made = [
        (f"{topic} rest{place}x{number}", [f"streets/{topic}"])
        for place, topic in enumerate(TOPICS)
        for number in range(first, first + each + 3 * (place < 2))
    ]
    return [text for text, _ in made], [labels for _, labels in made]


def members(model: TextClassifier) -> list[type]:
    stack = model.decided_.model_
    assert isinstance(stack, Ensemble)
    return [type(one) for member in stack.members_ for one in member.walk()]


def test_a_stack_with_vectors_reads_the_words_of_names_too(tmp_path) -> None:
    model = TextClassifier(encoder=encode, folds=3, single_label=False).fit(*documents(0, 3))
    assert NameWords in members(model)
    assert NameSimilarity in members(model)
    texts, labels = documents(50, 2)
    assert model.predict(texts) == labels
    assert model.explain(texts[0])[labels[0][0]].predicted
    model.save(tmp_path / "model.manylabel")
    again = TextClassifier.load(tmp_path / "model.manylabel", encoder=encode)
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


def test_words_of_names_stand_beside_ready_vectors_which_names_do_not_have() -> None:
    texts, labels = documents(0, 3)
    model = TextClassifier(encoder=ReadyVectors(texts, encode(texts)), folds=3, single_label=False).fit(texts, labels)
    assert NameWords in members(model)
    assert NameSimilarity not in members(model)


@pytest.mark.parametrize("settings", [{"label_names": False}, {"stacked": False}])
def test_names_can_be_turned_off(settings) -> None:
    model = TextClassifier(encoder=encode, folds=3, single_label=False, model=settings).fit(*documents(0, 3))
    assert not any(isinstance(one, (NameWords, NameSimilarity)) for one in model.decided_.model_.walk())
