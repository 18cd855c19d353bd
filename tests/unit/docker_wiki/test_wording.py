"""The encyclopedia and the start page read as sites of their own, not as parts of an experiment."""

from __future__ import annotations

import re

import pytest
from quick_cases import SLOW
from support.sites.encyclopedia import articles, text

from orchestrator.sandbox.episode_info import SiteInfo
from sites.manifest import Site
from sites.registry import load_registry

SITES = load_registry().sites.values()
TELLTALE = re.compile(
    r"\b(arena|replica|benchmark|sandbox|web agents?|made[- ]up|url shapes?|postmill|mock)\b",
    re.IGNORECASE,
)


@SLOW
def test_no_article_says_what_it_was_written_for() -> None:
    telling = {
        title: found[0]
        for title, article in articles().items()
        if (found := TELLTALE.search(text(article)))
    }
    assert telling == {}


@pytest.mark.parametrize("site", SITES, ids=[site.name for site in SITES])
def test_what_the_start_page_says_of_a_site_is_not_how_it_was_made(site: Site) -> None:
    assert TELLTALE.search(f"{site.title}: {SiteInfo(site, 'http://x/').summary()}") is None
