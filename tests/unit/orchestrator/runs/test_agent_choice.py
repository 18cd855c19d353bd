"""What a run's lock says of its agent, and that `--resume` makes the same one again."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.runs.played_episode import ANSWER, NODE
from support.tasks.plugged import install
from support.worlds.fake_world import browsing_task

from arena_core.actions import Stop
from arena_core.errors import StoreError, UsageError
from arena_core.plugins import Group
from arena_core.worlds import World
from orchestrator.agents.interface import (
    Agent,
    AgentClass,
    AgentLock,
    Assignment,
    Decision,
    Hint,
    Reference,
)
from orchestrator.agents.spec import Agents, AgentSpec, Metered
from orchestrator.analysis.wording import agent_note
from orchestrator.browser.observation import Observation
from orchestrator.episode.external.command import AgentCommand
from orchestrator.runs.agent_choice import agent_of_lock, choose_agent, require_references
from tasks.reference import StopWith

URL = "http://127.0.0.1:9/v1"
AGENT = """
from arena_core.actions import Stop
from orchestrator.agents.interface import Decision

class Agent:
    def __init__(self, assignment, *, depth: int = 3, api_key: str = "", label: str = "plain"):
        self.depth, self.api_key, self.label = depth, api_key, label
    async def decide(self, observation):
        return Decision(Stop())
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An agent in a file of the current folder, where nobody registered anything."""
    (tmp_path / "my_agent.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    importlib.invalidate_caches()
    yield "my_agent:Agent"
    sys.modules.pop("my_agent", None)


def test_the_lock_holds_what_counts_where_nothing_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_MODEL_URL", f"{URL}/")
    lock = choose_agent("chat", {"model": "m"}).lock
    assert lock.options == {
        "seed": 0,
        "model": "m",
        "model_url": URL,
        "model_deadline": 120.0,
        "temperature": 0.0,
        "reasoning_effort": None,
        "max_completion_tokens": None,
        "prices": None,
        "replay": None,
        "confidence": False,
    }
    # What the environment said is passed on: that of a later day is another.
    assert set(lock.given) == {"model", "model_url", "model_deadline"}
    monkeypatch.setenv("ARENA_MODEL_URL", "http://127.0.0.1:1/v1")
    again = agent_of_lock(lock)
    assert choose_agent("chat", {name: lock.options[name] for name in lock.given}).lock == lock
    assert again.lock == lock


@pytest.mark.parametrize(
    "options",
    [
        {"model": "m", "model_url": URL, "model_deadline": 7.0, "temperature": 0.7, "seed": 3},
        {"model": "m", "model_url": URL, "model_deadline": 120.0, "temperature": 0.0, "seed": 0},
    ],
)
def test_what_was_asked_for_is_asked_for_again(options: dict[str, object]) -> None:
    lock = choose_agent("chat", options).lock
    assert {name: lock.options[name] for name in lock.given} == options


def test_the_lock_names_a_registered_agents_distribution_and_version() -> None:
    lock = choose_agent("random", {"seed": 4}).lock
    assert lock.kind == lock.name == "random"
    assert lock.import_path is not None
    assert lock.import_path.startswith("orchestrator.agents.")
    assert (lock.distribution, lock.source_hash) == ("arena-orchestrator", None)
    assert lock.version
    assert lock.options == {"seed": 4}


def test_the_lock_names_the_file_of_an_agent_that_nobody_installed(module: str) -> None:
    lock = choose_agent(module, {"depth": "5"}).lock
    assert (lock.kind, lock.import_path) == (module, module)
    assert (lock.distribution, lock.version) == (None, None)
    assert lock.source_hash is not None
    assert lock.options == {"depth": 5, "api_key": "", "label": "plain"} | {"api_key": "(redacted)"}
    assert lock.given == ("depth",)
    assert lock.agent_class is AgentClass.CONTESTANT


def test_no_secret_reaches_the_lock(module: str) -> None:
    given = {"api_key": "sk-123", "label": "https://ada:sk-456@models.example/v1"}
    lock = choose_agent(module, given).lock
    written = lock.model_dump_json()
    assert "sk-123" not in written
    assert "sk-456" not in written
    assert lock.options["label"] == "https://(redacted)@models.example/v1"


def test_an_option_of_a_secret_type_is_hidden_whatever_its_name() -> None:
    def opening(*, phrase: SecretStr) -> Agents:
        return Agents(make=lambda _: pytest.fail(phrase.get_secret_value()))

    lock = choose_agent(AgentSpec(open=opening), {"phrase": "open sesame"}).lock
    assert lock.options == {"phrase": "(redacted)"}


def test_a_run_that_goes_on_asks_for_its_secrets_and_for_nothing_else(module: str) -> None:
    lock = choose_agent(module, {"api_key": "sk-123", "depth": 5}).lock
    with pytest.raises(UsageError, match="keeps no secrets: api_key"):
        agent_of_lock(lock)
    with pytest.raises(UsageError, match="takes no --agent-option depth"):
        agent_of_lock(lock, secrets={"api_key": "sk-123", "depth": 6})
    again = agent_of_lock(lock, secrets={"api_key": "sk-123"})
    assignment = Assignment(
        task="t", intent="Do it all", world=World.OFFLINE, sites={}, step_limit=3
    )
    agent = again.maker(assignment, Reference((), str))
    assert vars(agent) == {"depth": 5, "api_key": "sk-123", "label": "plain"}
    assert again.lock == lock


def test_a_run_does_not_go_on_with_another_version_of_its_agent(module: str) -> None:
    lock = choose_agent(module).lock
    assert agent_of_lock(lock).lock == lock
    Path("my_agent.py").write_text(AGENT + "\n# mended\n")
    with pytest.raises(StoreError, match="is another one now") as caught:
        agent_of_lock(lock)
    assert "new run" in caught.value.hint


def test_a_registered_agent_of_somebody_elses_is_chosen_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    points = {Group.AGENTS: {"acme": "acme_agent:Agent"}}
    install(tmp_path, "acme-agents", points, modules={"acme_agent": AGENT}, version="2.1")
    importlib.invalidate_caches()
    lock = choose_agent("acme", {"depth": "4"}).lock
    assert (lock.name, lock.import_path) == ("acme", "acme_agent:Agent")
    assert (lock.distribution, lock.version) == ("acme-agents", "2.1")
    later = lock.model_copy(update={"version": "2.0"})
    with pytest.raises(StoreError, match=r"acme-agents 2\.0"):
        agent_of_lock(later)


class Lazy:
    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    async def decide(self, observation: Observation) -> Decision:
        return Decision(Stop())


class Maker:
    """What shares a connection over its agents."""

    name = "mine (v2)"
    observations = frozenset({"axtree"})

    def __init__(self) -> None:
        self.references: list[Reference] = []

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:
        self.references.append(reference)
        return Lazy(assignment)

    async def close(self) -> None:
        """Nothing is open."""


ASSIGNMENT = Assignment(task="t", intent="Do it.", world=World.OFFLINE, sites={}, step_limit=3)


def test_a_factory_of_ones_own_makes_the_agents_and_is_named_in_the_lock() -> None:
    chosen = choose_agent(Lazy)
    assert isinstance(chosen.maker(ASSIGNMENT, Reference((), str)), Lazy)
    assert chosen.maker.name == chosen.lock.name == f"{__name__}:Lazy"
    assert chosen.lock.agent_class is AgentClass.CONTESTANT
    assert agent_of_lock(chosen.lock, Lazy).lock == chosen.lock


def test_a_maker_of_ones_own_keeps_its_name_and_is_shown_no_reference() -> None:
    maker = Maker()
    chosen = choose_agent(maker)
    assert (chosen.maker.name, chosen.lock.name) == ("mine (v2)", "mine (v2)")
    chosen.maker(ASSIGNMENT, Reference((StopWith(do="stop", answer="47"),), str))
    assert [one.actions for one in maker.references] == [()]
    with pytest.raises(UsageError, match="the agent is a Python object"):
        choose_agent(maker, {"seed": 1})


def test_a_run_of_a_python_object_goes_on_with_the_same_one_only() -> None:
    lock = choose_agent(partial(Lazy)).lock
    with pytest.raises(UsageError, match="was a Python object"):
        agent_of_lock(lock)
    with pytest.raises(UsageError, match="and not with mine"):
        agent_of_lock(lock, Maker())
    lock = choose_agent(Maker()).lock
    assert agent_of_lock(lock, Maker()).maker.name == lock.name


def test_a_run_of_a_named_agent_goes_on_by_itself() -> None:
    lock = choose_agent("random", {"seed": 7}).lock
    assert agent_of_lock(lock).maker.name == "random"
    with pytest.raises(UsageError, match="and not with idle"):
        agent_of_lock(lock, "idle")


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
    options = {"model": "m", "model_url": URL} if name == "chat" else {}
    lock = choose_agent(name, options).lock
    assert lock.agent_class is stands_for
    assert agent_note(lock) == note
    assert AgentLock.model_validate_json(json.dumps(lock.model_dump(mode="json"))) == lock


def _with_hints(*hints: Hint) -> AgentLock:
    return choose_agent(AgentSpec(open=lambda: Agents(make=Lazy, hints=frozenset(hints)))).lock


def test_lock_and_reports_say_of_an_agent_what_it_is_given_of_the_solution() -> None:
    lock = _with_hints(Hint.KEY_NODES)
    assert lock.hints == (Hint.KEY_NODES,)
    assert lock.model_dump(mode="json")["told"] == ["key_nodes"]  # as every lock on disk has it
    assert AgentLock.model_validate_json(lock.model_dump_json()) == lock
    assert agent_note(lock) == "guided agent, given the key nodes, not a contestant"
    assert agent_note(_with_hints(Hint.LENGTH)) is None
    assert agent_note(_with_hints()) is None


def test_tasks_that_lack_what_an_agent_is_told_of_them_are_refused_before_anything_starts() -> None:
    without = browsing_task(checks=[ANSWER])
    with_nodes = browsing_task(checks=[NODE, ANSWER])
    with pytest.raises(
        UsageError, match="is given key nodes, and 1 of the 2 tasks have none: kett"
    ):
        require_references(_with_hints(Hint.KEY_NODES), [without, with_nodes])
    require_references(_with_hints(Hint.KEY_NODES), [with_nodes])
    bare = without.model_copy(update={"reference": None})
    with pytest.raises(UsageError, match="goes by the length of references"):
        require_references(_with_hints(Hint.LENGTH), [bare])
    require_references(_with_hints(), [bare])


@pytest.mark.parametrize("again", [False, True], ids=["a new run", "a run that goes on"])
def test_a_command_may_have_a_budget_as_it_can_say_what_it_spends(*, again: bool) -> None:
    chosen = choose_agent(AgentCommand.read(f"{sys.executable} -c pass"))
    if again:
        chosen = agent_of_lock(chosen.lock)

    assert chosen.metered == set(Metered)
