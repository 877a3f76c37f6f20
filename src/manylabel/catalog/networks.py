"""Neural networks and decision trees."""

from __future__ import annotations

from manylabel.catalog.method import Method

ROWS: tuple[Method, ...] = ()
