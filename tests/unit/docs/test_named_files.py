"""Modules that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.tasks.code_blocks import ROOT

NAMED = re.compile(
    r"`((?:tests|orchestrator|evaluators|tasks|sites|docker|examples)/[\w./-]+\.py)`"
)
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_module_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    assert missing == []
