"""Figures in the documentation that the code can count."""

from __future__ import annotations

import tomllib

from support.tasks.code_blocks import ROOT


def test_concepts_counts_the_locators_and_matchers_that_arena_registers() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = project["entry-points"]
    words = " ".join((ROOT / "docs" / "concepts.md").read_text(encoding="utf-8").split())
    assert f"There are {len(groups['arena.locators'])} locators" in words
    assert f"There are {len(groups['arena.matchers'])} matchers" in words
