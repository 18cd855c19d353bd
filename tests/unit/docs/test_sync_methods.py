"""The documentation shows the methods of `SyncArena` as methods, with the words of `Arena`'s."""

from __future__ import annotations

from pathlib import Path

import griffe
import pytest
from quick_cases import SLOW

from orchestrator import Arena, OpenEpisode, Runs, Sites, States, Studies, Suites

ROOT = Path(__file__).parents[3]

pytestmark = SLOW


@pytest.fixture(scope="module")
def documented() -> griffe.Module:
    extensions = griffe.load_extensions(str(ROOT / "docs" / "sync_methods.py"))
    package = griffe.load("orchestrator", search_paths=[ROOT], extensions=extensions)
    module = package["api.sync"]
    assert isinstance(module, griffe.Module)
    return module


@pytest.mark.parametrize(
    ("face", "shown"),
    [
        (Arena, "SyncArena"),
        (Sites, "SyncSites"),
        (States, "SyncStates"),
        (Suites, "SyncSuites"),
        (Runs, "SyncRuns"),
        (Studies, "SyncStudies"),
        (OpenEpisode, "SyncEpisode"),
    ],
    ids=str,
)
def test_every_public_method_is_shown_as_one(
    documented: griffe.Module, face: type, shown: str
) -> None:
    methods = [
        name
        for name in dir(face)
        if not name.startswith("_") and not isinstance(getattr(face, name), property)
    ]
    members = documented[shown].members
    assert [name for name in methods if not members[name].is_function] == []


def test_a_method_has_the_parameters_and_words_of_the_other_side(
    documented: griffe.Module,
) -> None:
    run = documented["SyncArena.run"]
    assert "asked" in [one.name for one in run.parameters]
    assert run.docstring.value.startswith("Play an agent over tasks")
