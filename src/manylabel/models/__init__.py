"""Models: (X, Y) in, scores out. One method, one file."""

from manylabel.models.base import MultiLabelModel, ScoreKind, posteriors
from manylabel.models.bernoulli_nb import BernoulliNaiveBayes
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.complement_nb import ComplementNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes
from manylabel.models.value_weighted_nb import ValueWeightedNaiveBayes
from manylabel.models.weighted_nb import WeightedNaiveBayes

__all__ = [
    "PMM1",
    "PMM2",
    "BernoulliNaiveBayes",
    "BinaryNaiveBayes",
    "ComplementNaiveBayes",
    "LinearSVM",
    "MultiLabelModel",
    "MultinomialNaiveBayes",
    "ScoreKind",
    "SemiSupervisedNaiveBayes",
    "ValueWeightedNaiveBayes",
    "WeightedNaiveBayes",
    "posteriors",
]
