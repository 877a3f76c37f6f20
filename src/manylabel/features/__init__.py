"""Texts → X: counting terms (`Vectorizer`), choosing among them (`TermSelector`) and weighing them (`Weighting`)."""

from manylabel.features.select import TermSelector
from manylabel.features.vectorize import Vectorizer
from manylabel.features.weighting import Weighting

__all__ = ["TermSelector", "Vectorizer", "Weighting"]
