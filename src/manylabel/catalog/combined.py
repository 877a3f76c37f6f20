"""Methods made of methods: pairs, committees, hierarchies, keyword rules."""

from __future__ import annotations

from manylabel.catalog.method import Method

ROWS: tuple[Method, ...] = ()
