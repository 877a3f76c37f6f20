"""Strategies: multi-label methods built over any model."""

from manylabel.strategies.binary_relevance import BinaryRelevance
from manylabel.strategies.chain_ensemble import ChainEnsemble
from manylabel.strategies.classifier_chain import ClassifierChain
from manylabel.strategies.co_training import CoTraining
from manylabel.strategies.label_powerset import LabelPowerset

__all__ = ["BinaryRelevance", "ChainEnsemble", "ClassifierChain", "CoTraining", "LabelPowerset"]
