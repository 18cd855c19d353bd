"""Replaces Oscar's search application (its label is kept, so that Oscar finds the classes here)."""

from __future__ import annotations

from oscar.apps.search import apps


class SearchConfig(apps.SearchConfig):
    """Search, catalogue and category pages from MariaDB instead of an index server."""

    name = "harbour.search"
