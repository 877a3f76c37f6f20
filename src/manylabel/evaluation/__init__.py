"""Experiments: a classifier, labelled documents, and what came of it with every convention stated."""
