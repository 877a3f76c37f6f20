"""Models: (X, Y) in, scores out. One method, one file."""

from manylabel.models.base import MultiLabelModel, ScoreKind, posteriors
from manylabel.models.binary_nb import BinaryNaiveBayes
from manylabel.models.multinomial_nb import MultinomialNaiveBayes

__all__ = ["BinaryNaiveBayes", "MultiLabelModel", "MultinomialNaiveBayes", "ScoreKind", "posteriors"]
