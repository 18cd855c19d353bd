"""The documentation shows `SyncArena`'s methods as methods, with the words of `Arena`'s."""

from __future__ import annotations

from pathlib import Path

import griffe
from quick_cases import SLOW

from orchestrator import Arena

ROOT = Path(__file__).parents[3]


@SLOW
def test_every_method_of_arena_is_one_of_the_synchronous_face() -> None:
    extensions = griffe.load_extensions(str(ROOT / "docs" / "sync_methods.py"))
    package = griffe.load("orchestrator", search_paths=[ROOT], extensions=extensions)
    shown = package["api.sync.SyncArena"].members
    public = [name for name in dir(Arena) if not name.startswith("_") and name != "atlas"]
    assert [name for name in public if not shown[name].is_function] == []
    evaluate = shown["evaluate"]
    assert "workers" in [one.name for one in evaluate.parameters]
    assert evaluate.docstring.value.startswith("Run an agent over tasks")
