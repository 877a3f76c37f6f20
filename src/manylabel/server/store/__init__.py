"""Corpora under review: documents, labels and decisions in one SQLite file each, with filters and thresholds."""
