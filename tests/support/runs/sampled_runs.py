"""Runs of a real model agent on a world without engine and browser: what training data is made of.

The agent asks a real HTTP endpoint that replies by script; observations, exchanges and scores are
written as a run of `arena eval` writes them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arena_core.actions import Goto, Stop
from arena_core.worlds import World
from evaluators.evidence import Receipt
from evaluators.scores import score
from orchestrator.agents.choice import find_agent, open_agent
from orchestrator.agents.interface import AgentClass, AgentLock, Assignment, Decision
from orchestrator.agents.model.messages import ChatRole, ImagePart, Message, TextPart
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.browser.observation import Observation
from orchestrator.episode.environment import AttemptSpec
from orchestrator.episode.episode import Episode
from orchestrator.episode.episode_runner import EpisodeRunner
from orchestrator.episode.recorded_episode import RecordedEpisode
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.lock import HostEnvelope, RunLock, hash_suite
from orchestrator.runs.store.run_folder import RunFolder
from support.agents.scripted_model import Calls, Says, ScriptedModel
from support.runs.made_run import picture
from support.runs.played_episode import KETTLE
from support.worlds.fake_world import FakeWorld
from tasks.schema import Suite, Task

Reply = Says | Calls

GOLDEN = Receipt(
    site="wiki", strategy="rewind", seconds=0.1, before=None, after="golden", golden="golden"
)
TO_KETTLE = Says.action(Goto(url=KETTLE), "the article says it")
TO_TEAPOT = Says.action(Goto(url="http://wiki.arena.test/wiki/A/Teapot"), "or this one")
RIGHT = Says.action(Stop(answer="1891"), "it stands there")
WRONG = Says.action(Stop(answer="1791"), "it stands there")


@dataclass(frozen=True, slots=True)
class Sampled:
    """One episode to be played: a task and the replies of its model.

    Attributes:
        refuses: by kind of action, why the page does not let it be done.
    """

    task: Task
    replies: Sequence[Reply]
    world: World = World.OFFLINE
    refuses: Mapping[str, str] = field(default_factory=dict)
    receipts: tuple[Receipt, ...] = (GOLDEN,)


async def sampled_run(
    folder: Path, episodes: Sequence[Sampled], *, agent: str = "chat", run: str = "sampled"
) -> RunReport:
    """Play episodes into a run folder and return its report."""
    tasks = {one.task.id: one.task for one in episodes}
    suite = Suite(suite="tiny", version=1, title="Tiny", tasks=tuple(tasks.values()))
    kept = RunFolder.create(folder, _lock(suite, episodes, agent, run), suite)
    repeats: dict[tuple[str, World], int] = {}
    with kept.writing() as ledger:
        for one in episodes:
            place = (one.task.id, one.world)
            key = EpisodeKey(one.task.id, one.world, repeats.get(place, 0))
            repeats[place] = key.repeat + 1
            number = ledger.start(key)
            outcome = await _play(kept, one, key, number, agent)
            ledger.end(key, number, AttemptState.FINISHED, outcome)
    return read_run(kept)


async def _play(
    folder: RunFolder, sampled: Sampled, key: EpisodeKey, number: int, agent: str
) -> str:
    with ScriptedModel(list(sampled.replies)) as model:
        options = {"model": "scripted", "model_url": model.url, "temperature": 1.0, "seed": 5}
        opened = open_agent(find_agent(agent), options if _takes_model(agent) else {})
        spec = AttemptSpec(
            suite="tiny",
            task=sampled.task,
            repeat=key.repeat,
            attempt=number,
            agent=opened.maker.name,
            screenshots=False,
            observations=opened.maker.observations,
        )
        world = FakeWorld(refuses=dict(sampled.refuses), receipts=sampled.receipts)
        if sampled.task.recorded is not None:
            episode: Episode = RecordedEpisode(spec, world.environment().registry, sampled.world)
        else:
            episode = Episode(spec, world.environment(sampled.world, sampled.task.sites))
        runner = EpisodeRunner(agent=opened.maker, interrupted=asyncio.Event())
        try:
            played = await runner.play(episode)
        finally:
            await opened.maker.close()
    evidence = played.evidence()
    folder.save_evidence(key.folder(number), evidence, played.files)
    return str(score(sampled.task.checks, evidence, sampled.task.requires).outcome)


def _takes_model(agent: str) -> bool:
    """Whether it is one of Arena's that take a model's options."""
    return ":" not in agent and agent != "oracle"


def _lock(suite: Suite, episodes: Sequence[Sampled], agent: str, run: str) -> RunLock:
    is_model = _takes_model(agent)
    options: dict[str, str | int | float | bool | None] = (
        {"model": "scripted", "seed": 5, "temperature": 1.0} if is_model else {}
    )
    return RunLock(
        run=run,
        created_at="2026-11-22T00:00:00+00:00",
        suite=suite.suite,
        suite_version=suite.version,
        suite_hash=hash_suite(suite),
        tasks=tuple(task.id for task in suite.tasks),
        worlds=tuple(dict.fromkeys(one.world for one in episodes)),
        repeats=len(episodes),
        attempts=1,
        agent=AgentLock(
            name=f"{agent} (scripted)" if is_model else agent,
            kind=agent,
            options=options,
            agent_class=AgentClass.REFERENCE if agent == "oracle" else AgentClass.CONTESTANT,
            import_path=f"orchestrator.agents.builtin.{agent}",
            distribution="arena-orchestrator",
            version="0.1.0",
        ),
        images={"arena/wiki:1": "sha256:" + "ab" * 32},
        engine="20.10.24",
        browser="131.0.6778.85",
        packages={"arena-orchestrator": "0.1.0"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
    )


def removals(card: Mapping[str, Any]) -> dict[str, int]:
    """Return what a data card says was removed, by reason, apart from what removed nothing."""
    return {one["why"]: one["count"] for one in card["removed"] if one["count"]}


class Looker:
    """Shows its model a picture at each step, and asks it by a client of its own."""

    def __init__(self, assignment: Assignment) -> None:
        self._goal = assignment.intent

    async def decide(self, observation: Observation) -> Decision:
        shown = ImagePart(picture())
        asked = Message(ChatRole.USER, (TextPart(self._goal), shown))
        said = {"choices": [{"message": {"role": "assistant", "content": "1891, as is shown"}}]}
        exchange = ModelExchange(
            request={"model": "own", "messages": [asked.body()]},
            images={shown.file_name: shown.data},
            reply=json.dumps(said),
        )
        return Decision(Stop(answer="1891"), exchanges=(exchange,))
