"""What a run's lock says of its agent, and that `--resume` makes the same one again."""

from __future__ import annotations

import pytest

from orchestrator.agents.registry import AgentOptions, make_agent
from orchestrator.cli.agent_choice import lock_agent, options_of
from orchestrator.observation import AgentClass
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
