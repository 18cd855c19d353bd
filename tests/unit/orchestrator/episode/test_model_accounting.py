"""What an episode keeps of its agent's questions to models, and when it may ask no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from support.agents.model_questions import HELLO, options
from support.agents.scripted_model import Fails, Says, Script, ScriptedModel
from support.worlds.fake_world import FakeWorld, attempt_at, browsing_task

from arena_core.actions import Action, Goto, Stop
from arena_core.errors import AgentError, ModelError
from evaluators.evidence import Ended, UnscoredReason
from orchestrator.agents.interface import Assignment, Decision, Reference
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.messages import ChatRole, ImagePart, Message, TextPart
from orchestrator.agents.model_exchange import ModelExchange, Spent, TokenUsage
from orchestrator.browser.observation import Observation
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import EpisodeRunner, PlayedAttempt
from orchestrator.episode.jsonl_files import KeptExchange, read_exchanges

StartModel = Callable[[Script], ScriptedModel]

AWAY = Goto(url="http://wiki.arena.test/wiki/A/Kettle")
LOOK = (Message(ChatRole.USER, (TextPart("what?"), ImagePart(b"a picture"))),)
OWN = ModelExchange(request={"model": "own"}, reply="{}", usage=TokenUsage(input_tokens=7))


@dataclass
class ModelSession:
    """Asks its model once before each of its actions; an error among them is raised."""

    client: ModelClient
    left: list[Action | AgentError]
    messages: tuple[Message, ...] = HELLO
    handed_on: tuple[ModelExchange, ...] = ()
    name: str = "asking"
    observations: frozenset[str] = frozenset({"axtree"})

    def __call__(self, assignment: Assignment, reference: Reference) -> ModelSession:
        return self

    async def decide(self, observation: Observation) -> Decision:
        said = await self.client.ask(self.messages)
        action = self.left.pop(0)
        if isinstance(action, AgentError):
            raise action
        return Decision(action, exchanges=(said.exchange, *self.handed_on))

    async def close(self) -> None:
        await self.client.close()


@dataclass
class Budget:
    """Lets a number of decisions pass."""

    left: int
    counted: list[Spent] = field(default_factory=list)

    @property
    def exhausted(self) -> str | None:
        return "all was spent" if len(self.counted) >= self.left else None

    def add(self, spent: Spent) -> None:
        self.counted.append(spent)


async def play(agent: ModelSession, meter: Budget | None = None) -> PlayedAttempt:
    episode = Episode(attempt_at(browsing_task()), FakeWorld().environment())
    runner = EpisodeRunner(agent=agent, interrupted=asyncio.Event(), meter=meter)
    try:
        return await runner.play(episode)
    finally:
        await agent.close()


def kept(played: PlayedAttempt, folder: Path) -> tuple[KeptExchange, ...]:
    for name, content in played.files.items():
        (folder / name).write_bytes(content)
    return read_exchanges(folder)


async def test_each_question_is_kept_with_its_step_and_each_image_once(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model([Says("go"), Says("stop")])
    agent = ModelSession(ModelClient(options(model.url)), [AWAY, Stop(answer="1891")], LOOK)
    played = await play(agent)
    found = kept(played, tmp_path)
    assert [one.step for one in found] == [1, 2]
    assert found[0].exchange.request == found[1].exchange.request
    assert "stop" in (found[1].exchange.reply or "")
    [image] = [name for name in played.files if name.startswith("image-")]
    assert played.files[image] == b"a picture"
    assert image in str(found[0].exchange.request)
    evidence = played.evidence()
    assert (evidence.input_tokens, evidence.output_tokens, evidence.usd) == (200, 20, None)


async def test_an_agent_that_gives_up_has_paid_for_what_it_asked(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model([Says("nonsense")])
    agent = ModelSession(ModelClient(options(model.url)), [AgentError("nonsense")])
    meter = Budget(left=9)
    played = await play(agent, meter)
    assert played.evidence().ended is Ended.AGENT_GAVE_UP
    assert played.evidence().input_tokens == 100
    assert [one.tokens for one in meter.counted] == [110]
    assert len(kept(played, tmp_path)) == 1


async def test_what_came_before_a_model_failed_is_kept(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model([Says("go"), Fails(500, "out of memory")])
    refusing = replace(options(model.url), retries=0)
    played = await play(ModelSession(ModelClient(refusing), [AWAY, AWAY]))
    evidence = played.evidence()
    assert evidence.fault is not None
    assert evidence.fault.reason is UnscoredReason.INFRA
    assert evidence.input_tokens == 100
    first, second = kept(played, tmp_path)
    assert first.exchange.error is None
    assert "out of memory" in (second.exchange.error or "")


async def test_a_permanent_refusal_still_ends_the_run(scripted_model: StartModel) -> None:
    model = scripted_model([Fails(401)])
    with pytest.raises(ModelError):
        await play(ModelSession(ModelClient(options(model.url)), []))


async def test_exchanges_of_an_agents_own_client_are_kept_beside_and_once(
    tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model([Says("go"), Says("stop")])
    client = ModelClient(options(model.url))
    # It hands the same one on with every decision, as careless agents do.
    played = await play(ModelSession(client, [AWAY, Stop()], handed_on=(OWN,)))
    assert [one.step for one in kept(played, tmp_path)] == [1, 1, 2]
    assert played.evidence().input_tokens == 207


async def test_when_the_budget_is_spent_the_episode_is_unscored_and_asks_no_more(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Says("go"), Says("never asked")])
    agent = ModelSession(ModelClient(options(model.url)), [AWAY, Stop(answer="1891")])
    played = await play(agent, Budget(left=1))
    fault = played.evidence().fault
    assert fault is not None
    assert (fault.reason, fault.message) == (UnscoredReason.BUDGET, "all was spent")
    assert len(model.requests) == 1


async def test_a_stop_that_the_last_of_the_budget_paid_for_counts(
    scripted_model: StartModel,
) -> None:
    model = scripted_model([Says("stop")])
    agent = ModelSession(ModelClient(options(model.url)), [Stop(answer="1891")])
    played = await play(agent, Budget(left=1))
    assert played.evidence().ended is Ended.STOPPED
