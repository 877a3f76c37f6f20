"""Laws that every method of the generative family obeys, whatever the corpus: all rows of the catalogue, and settings.

Permuting labels permutes columns; pieces and merged parts equal the whole; the form of the input does not matter;
documents are scored alone, empty ones too; constant labels stay constant; one label is enough; what was learned is the
model.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

from corpora import corpora, every_form
from manylabel.catalog import naive_bayes
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.pmm_base import ParametricMixture
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes
from manylabel.recipe import Recipe
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.chain_ensemble import ChainEnsemble
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.co_training import CoTraining
from manylabel.strategies.co_training_views import ROUNDING
from manylabel.strategies.label_powerset import LabelPowerset

QUICK = {"folds": 2, "n_chains": 2, "model__steps": 3, "steps": 3}
PLAIN = ValueWeightedNaiveBayes("categorical", refine="none", n_bins=3)


def of_the_catalogue() -> list[Any]:
    """The models of all rows of the family, each once, with fewer folds, chains and steps."""
    found: dict[str, Any] = {}
    for row in naive_bayes.ROWS:
        model = Recipe.of(row.name).build_model()
        known = model.get_params()
        model.set_params(**{name: value for name, value in QUICK.items() if name in known})
        found.setdefault(repr(model), model)
    return list(found.values())


COUNTED: list[Any] = [
    MultinomialNaiveBayes(smoothing="lidstone", unigram_docs="all", prior="add-one"),
    MultinomialNaiveBayes(unigram="documents", counts="class", no_class=True, prior="uniform"),
    BinaryNaiveBayes(smoothing="lidstone", alpha=0.1, unlabelled="negative"),
    BinaryNaiveBayes(unigram="replicated", b=1.0, unlabelled="ignore"),
    BernoulliNaiveBayes(unlabelled="ignore"),
    ComplementNaiveBayes(normalise=False, unlabelled="ignore"),
    WeightedNaiveBayes(weight="kl", prior="add-one"),
]
FURTHER: list[Any] = [
    ValueWeightedNaiveBayes(refine_cells="seen", n_bins=3, steps=3),
    ValueWeightedNaiveBayes("categorical", target="classes", steps=3),
    ValueWeightedNaiveBayes("multinomial", norm="feature", scope="global", refine="none", prior="documents", m=0.0),
    SemiSupervisedNaiveBayes(max_iter=5, tol=0.0),
    BinaryRelevance(MultinomialNaiveBayes(smoothing="laplace")),
    BinaryRelevance(BernoulliNB()),
    LabelPowerset(MultinomialNaiveBayes(), min_count=2, rare="split", allow_empty=True),
]
IN_SOME_ORDER: list[Any] = [
    ClassifierChain(BinaryNaiveBayes(smoothing="laplace"), order="given"),
    ClassifierChain(BernoulliNB(), order="dependency", labels="out-of-fold", folds=2),
    ChainEnsemble(BernoulliNB(), n_chains=2),
    ChainEnsemble(BinaryNaiveBayes(smoothing="laplace"), n_chains=2, combine="scores", threshold="cardinality"),
    CoTraining(PLAIN, use_dc=True, order="FC-DC", on_cycle="best", labels="true"),
    CoTraining(BernoulliNB(), use_dc=True, labels="true"),
    PMM1(equal_lengths=True, prior="labels and sizes", max_labels=2),
    PMM2(start="random", seed=3, xi=1.2, zeta=1.0, search="exhaustive", prior="labels"),
    PMM1(xi=1.0, search="exhaustive"),
]
MODELS = [*of_the_catalogue(), *COUNTED, *FURTHER, *IN_SOME_ORDER]
IN_PIECES = [
    *(model for model in MODELS if hasattr(model, "partial_fit") and not isinstance(model, ValueWeightedNaiveBayes)),
    ValueWeightedNaiveBayes("categorical", norm="global", refine="none", keep_counts=True),
    ValueWeightedNaiveBayes("exponent", target="classes", refine="none", keep_counts=True),
    ValueWeightedNaiveBayes("multinomial", norm="feature", scope="global", steps=0, n_bins=3, keep_counts=True),
]
ORDERED = (ClassifierChain, ChainEnsemble, CoTraining, ParametricMixture)
"""Labels take turns, or tie: the tests of each cover permutations."""

each = pytest.mark.parametrize("model", MODELS, ids=repr)
few = settings(max_examples=8)
pytestmark = [
    pytest.mark.filterwarnings("ignore::manylabel.models.pmm_base.UnlabelledDocumentsWarning"),
    pytest.mark.filterwarnings("ignore::manylabel.models.score_kinds.SingleLabelWarning"),
]
SMALL = corpora(some_label=True, most=(8, 5, 4))


def same(first: np.ndarray, second: np.ndarray) -> None:
    np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("model", [model for model in MODELS if not isinstance(model, ORDERED)], ids=repr)
@given(SMALL, st.randoms(use_true_random=False))
@few
def test_permuting_labels_permutes_columns(model: Any, corpus: Any, random: Any) -> None:
    X, Y = corpus
    order = random.sample(range(Y.shape[1]), Y.shape[1])
    same(clone(model).fit(X, Y[:, order]).scores(X), clone(model).fit(X, Y).scores(X)[:, order])


@pytest.mark.parametrize("model", IN_PIECES, ids=repr)
@given(corpora(min_documents=3), st.data())
@few
def test_pieces_and_merged_parts_equal_the_whole(model: Any, corpus: Any, data: st.DataObject) -> None:
    """Exactly so: the same learned arrays, bit by bit, for any chunking and any order of merging."""
    X, Y = corpus
    cuts = sorted(data.draw(st.sets(st.integers(1, len(X) - 1), min_size=2, max_size=2)))
    whole, pieces = clone(model).fit(X, Y), clone(model)
    parts = np.split(np.arange(len(X)), cuts)
    for rows in parts:
        pieces.partial_fit(X[rows], Y[rows])
    identical(whole, pieces)
    a, b, c = (clone(model).fit(X[rows], Y[rows]) for rows in parts)
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        identical(whole, merged)


def identical(first: Any, second: Any) -> None:
    expected, found = first.learned_state(), second.learned_state()
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        dense = (table.toarray() if sparse.issparse(table) else table for table in (value, found[name]))  # type: ignore[attr-defined]
        np.testing.assert_array_equal(*dense, err_msg=name)  # type: ignore[misc]


@each
@given(SMALL)
@settings(max_examples=5)
def test_the_form_of_the_input_does_not_matter(model: Any, corpus: Any) -> None:
    """Dense = CSR = CSC = unsorted CSR = CSR with duplicates and stored zeros; the input is not changed."""
    X, Y = corpus
    expected = clone(model).fit(X, Y).scores(X)
    for form in every_form(X):
        before = form.copy().toarray()
        same(clone(model).fit(form, sparse.csr_array(Y)).scores(form), expected)
        np.testing.assert_array_equal(form.toarray(), before)


@each
@given(SMALL, st.integers(1, 3))
@few
def test_documents_are_scored_alone(model: Any, corpus: Any, cut: int) -> None:
    """Batches, and empty documents among them, change nothing; all empty documents have the same defined scores."""
    X, Y = corpus
    fitted = clone(model).fit(X, Y)
    unseen = np.vstack([X, np.zeros((2, X.shape[1]), dtype=int)])
    whole = fitted.scores(unseen)
    assert not np.isnan(whole).any()
    np.testing.assert_array_equal(whole[-1], whole[-2])
    same(np.vstack([fitted.scores(part) for part in (unseen[:cut], unseen[cut:]) if len(part)]), whole)
    np.testing.assert_array_equal(fitted.predict(unseen, working_memory=cut), fitted.predict(unseen))


@each
@given(SMALL, st.data())
@few
def test_constant_labels_stay_constant(model: Any, corpus: Any, data: st.DataObject) -> None:
    """A label no document has is never given; one of all documents always is, where labels are decided one by one."""
    X, Y = corpus
    never = np.zeros((len(Y), 1), dtype=Y.dtype)
    fitted = clone(model).fit(X, np.hstack([Y, never, never + 1]))
    predicted = fitted.predict(np.vstack([X, data.draw(st.integers(1, 50)) * X[:1], 0 * X[:1]]))
    assert not predicted[:, -2].any()
    splits_sets = getattr(model, "rare", "drop") == "split"  # then a label of every document is one of several classes
    if fitted.score_kind is ScoreKind.LOG_ODDS and not splits_sets:
        assert predicted[:, -1].all()
        assert (fitted.predict_proba(X)[:, -1] == 1).all()


@each
@given(SMALL)
@few
def test_one_label_is_enough(model: Any, corpus: Any) -> None:
    X, Y = corpus
    Y = Y[:, Y.any(axis=0)][:, :1]
    fitted = clone(model).fit(X, Y)
    predicted = fitted.predict(X)
    assert predicted.shape == fitted.scores(X).shape == Y.shape
    if isinstance(model, ParametricMixture) or (model.score_kind is ScoreKind.POSTERIOR and not _has_no_class(model)):
        assert predicted.all()
    if isinstance(model, (ClassifierChain, CoTraining)):
        alone = BinaryRelevance(model.model).fit(X, Y).scores(X)
        # A score that only rounding parts from 0 may be said to be 0 (`ties_at_zero`); all else is equal to the bit.
        ties = (np.abs(alone) <= ROUNDING) & (fitted.scores(X) == 0)
        np.testing.assert_array_equal(fitted.scores(X), np.where(ties, 0.0, alone))


def _has_no_class(model: Any) -> bool:
    return bool(getattr(model, "no_class", False))


@each
@given(SMALL)
@settings(max_examples=3)
def test_what_was_learned_is_the_model(model: Any, corpus: Any) -> None:
    X, Y = corpus
    fitted = clone(model).fit(X, Y)
    np.testing.assert_array_equal(clone(model).restore(fitted.learned_state()).scores(X), fitted.scores(X))
