"""What strategies take over from the model inside: the facts about the corpus it wants."""

from typing import Any

import pytest

from manylabel import TextClassifier
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.chain_ensemble import ChainEnsemble
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.co_training import CoTraining
from manylabel.strategies.label_powerset import LabelPowerset

STRATEGIES = [BinaryRelevance, ChainEnsemble, ClassifierChain, CoTraining, LabelPowerset]
TEXTS = ["bank loan bank", "river bank water", "water boat", "loan money", "boat river trip", "money bank rate"]
LABELS = [["finance"], ["finance", "nature"], ["nature"], ["finance"], ["nature"], ["finance"]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_wants_what_its_model_wants(strategy: Any) -> None:
    assert strategy(MultinomialNaiveBayes()).wants == strategy(BinaryNaiveBayes()).wants == {"counts_of_counts"}
    assert strategy(BernoulliNaiveBayes()).wants == frozenset()


def test_pruning_does_not_take_the_discount_from_the_powerset() -> None:
    """Words of count 1 are pruned, but b is estimated from what was there before."""
    pruned = TextClassifier("nb-powerset", features={"min_df": 2}).fit(TEXTS, LABELS)
    inside: Any = pruned.decided_.model_
    assert not inside.model_.discount_is_fallback_
