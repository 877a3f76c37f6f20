"""Texts → X: counting terms (`Vectorizer`) and weighing the counts (`Weighting`)."""

from manylabel.features.vectorize import Vectorizer
from manylabel.features.weighting import Weighting

__all__ = ["Vectorizer", "Weighting"]
