"""A factory from outside that cannot be called, and one that fails."""

from __future__ import annotations

from functools import wraps
from typing import cast

import pytest

from arena_core.errors import PluginError
from orchestrator.agents.interface import Assignment
from orchestrator.agents.spec import kind_of


def test_a_factory_that_takes_no_assignment_is_the_plug_ins_mistake_and_no_bug_of_arenas() -> None:
    def taken(assignment: object) -> object: ...

    @wraps(taken)
    def nothing() -> object: ...

    kind = kind_of(nothing)
    assignment = cast("Assignment", None)  # it is never looked at
    with pytest.raises(PluginError, match="cannot be called with an assignment"):
        kind.open().make(assignment)


def test_a_factory_that_fails_by_itself_is_not_taken_for_one() -> None:
    def failing(assignment: object) -> object:
        message = "its own"
        raise TypeError(message)

    with pytest.raises(TypeError, match="its own"):
        kind_of(failing).open().make(cast("Assignment", None))
