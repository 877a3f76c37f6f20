"""Prototypes and neighbours: Rocchio, k nearest neighbours, ML-kNN."""

from __future__ import annotations

from manylabel.catalog.method import Method

ROWS: tuple[Method, ...] = ()
