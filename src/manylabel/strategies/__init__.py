"""Strategies: multi-label methods built over any model."""

from manylabel.strategies.label_powerset import LabelPowerset

__all__ = ["LabelPowerset"]
