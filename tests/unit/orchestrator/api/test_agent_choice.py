"""What a run's lock says of its agent, and that `--resume` makes the same one again."""

from __future__ import annotations

from functools import partial

import pytest

from arena_core.actions import Stop
from arena_core.errors import UsageError
from arena_core.worlds import World
from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.api.agent_choice import agent_of, choose_agent, lock_agent, options_of
from orchestrator.observation import (
    Agent,
    AgentClass,
    Assignment,
    Decision,
    Observation,
    Reference,
)
from orchestrator.report.wording import agent_note
from orchestrator.store.lock import AgentLock

URL = "http://127.0.0.1:9/v1"


def test_the_lock_holds_what_counts_where_nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_MODEL_URL", f"{URL}/")
    lock = lock_agent("chat", AgentOptions(model="m"))
    assert lock.options == {
        "kind": "chat",
        "seed": 0,
        "model": "m",
        "model_url": URL,
        "model_deadline_s": 120.0,
        "temperature": 0.0,
        "given": "--model",
    }
    # The environment of a later day is another.
    monkeypatch.setenv("ARENA_MODEL_URL", "http://127.0.0.1:1/v1")
    again = options_of(lock)
    assert again.model_url == URL
    assert (again.seed, again.temperature) == (None, None)


@pytest.mark.parametrize(
    "options",
    [
        AgentOptions(model="m", model_url=URL, model_deadline_s=7.0, temperature=0.7, seed=3),
        AgentOptions(model="m", model_url=URL, model_deadline_s=120.0, temperature=0.0, seed=0),
    ],
)
def test_what_was_asked_for_is_asked_for_again(options: AgentOptions) -> None:
    assert options_of(lock_agent("chat", options)) == options


@pytest.mark.parametrize("name", ["oracle", "idle", "random"])
def test_a_lock_names_no_option_that_its_agent_does_not_take(name: str) -> None:
    lock = lock_agent(name, AgentOptions())
    assert "model" not in lock.options
    assert make_agent(name, options_of(lock)).name == name


@pytest.mark.parametrize("name", ["oracle", "idle", "random", "chat"])
def test_the_agent_of_an_earlier_versions_lock_is_made_again(name: str) -> None:
    earlier: dict[str, str | int | float | None] = {
        "kind": name,
        "seed": 0,
        "model": "m" if name == "chat" else None,
        "model_url": URL if name == "chat" else None,
        "model_deadline_s": 120.0,
    }
    lock = AgentLock(name=name, options=earlier)
    assert make_agent(name, options_of(lock)).name.startswith(name)


@pytest.mark.parametrize(
    ("name", "stands_for", "note"),
    [
        ("oracle", AgentClass.REFERENCE, "reference agent, not a contestant"),
        ("idle", AgentClass.BASELINE, "baseline agent, not a contestant"),
        ("random", AgentClass.BASELINE, "baseline agent, not a contestant"),
        ("chat", AgentClass.CONTESTANT, None),
    ],
)
def test_only_a_contestant_is_shown_without_a_note(
    name: str, stands_for: AgentClass, note: str | None
) -> None:
    lock = lock_agent(name, AgentOptions(model="m" if name == "chat" else None))
    assert lock.agent_class is stands_for
    assert agent_note(lock) == note
    assert agent_note(lock.model_copy(update={"agent_class": None})) == note


class Lazy:
    """An agent of a user's own."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    async def decide(self, observation: Observation) -> Decision:
        return Decision(Stop())


class Maker:
    """What shares a connection over its agents."""

    name = "mine (v2)"

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        return Lazy(assignment)

    async def close(self) -> None:
        """Nothing is open."""


ASSIGNMENT = Assignment(task="t", intent="Do it.", world=World.OFFLINE, sites={}, step_limit=3)
REFERENCE = Reference((), str)


def test_a_factory_of_ones_own_makes_the_agents_and_is_named_in_the_lock() -> None:
    maker, lock = choose_agent(Lazy, AgentOptions())
    assert isinstance(maker(ASSIGNMENT, REFERENCE), Lazy)
    assert maker.name == lock.name == f"{__name__}.Lazy"
    assert lock.agent_class is AgentClass.CONTESTANT


def test_a_maker_of_ones_own_keeps_its_name() -> None:
    maker, lock = choose_agent(Maker(), AgentOptions())
    assert (maker.name, lock.name) == ("mine (v2)", "mine (v2)")


def test_a_run_of_a_python_object_goes_on_with_the_same_one_only() -> None:
    _, lock = choose_agent(partial(Lazy), AgentOptions())
    with pytest.raises(UsageError, match="was a Python object"):
        agent_of(lock, None)
    with pytest.raises(UsageError, match="and not with mine"):
        agent_of(lock, Maker())
    _, lock = choose_agent(Maker(), AgentOptions())
    assert agent_of(lock, Maker()).name == lock.name


def test_a_run_of_a_named_agent_goes_on_by_itself() -> None:
    _, lock = choose_agent("random", AgentOptions(seed=7))
    assert agent_of(lock, None).name == "random"
    with pytest.raises(UsageError, match="and not with idle"):
        agent_of(lock, "idle")
