"""Models: (X, Y) in, scores out. One method, one file."""

from manylabel.models.base import MultiLabelModel, ScoreKind, posteriors
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.multinomial_nb import MultinomialNaiveBayes
from manylabel.models.pmm1 import PMM1
from manylabel.models.pmm2 import PMM2
from manylabel.models.semi_supervised_nb import SemiSupervisedNaiveBayes

__all__ = [
    "PMM1",
    "PMM2",
    "BinaryNaiveBayes",
    "LinearSVM",
    "MultiLabelModel",
    "MultinomialNaiveBayes",
    "ScoreKind",
    "SemiSupervisedNaiveBayes",
    "posteriors",
]
