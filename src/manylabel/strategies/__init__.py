"""Strategies: multi-label methods built over any model. One strategy, one file: import a class from there."""
