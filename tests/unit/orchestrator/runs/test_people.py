"""A run that a person plays: who may go on with it, and what nobody could play by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.tasks.small_suites import bells, write_suite

from arena_core.errors import UsageError
from orchestrator.agents.interface import AgentClass
from orchestrator.analysis.wording import agent_note
from orchestrator.episode.person.agent import Card, Consent, PersonAgent
from orchestrator.runs.agent_choice import agent_of_lock, choose_agent
from orchestrator.runs.jobs import Job, PlayedRun
from orchestrator.runs.new_run import prepare
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings, RunSpec
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.worker import Worker
from tasks.loader import load_suite

DEMO = load_suite("demo")


class Absent:
    """A desk whose person starts nothing."""

    def __init__(self) -> None:
        self.cards: list[Card] = []

    async def invite(self, card: Card) -> bool:
        self.cards.append(card)
        return False

    async def play(self, card: Card, clock: object) -> Any:
        raise AssertionError(card)

    def tell(self, text: str) -> None:
        raise AssertionError(text)


PERSON = PersonAgent(person="P07", consent=Consent(version=1, sha256="0" * 64), desk=Absent())


def asked(**more: object) -> RunSpec:
    given = {"agent": "a Python object", "attempts": 1, "tasks": ("wiki-bells-of-bruges",)}
    return RunSpec.of(**{**given, **more})


def prepared(spec: RunSpec, *, headless: bool = False) -> RunRequest:
    return prepare(spec, PERSON, headless=headless, is_meant=True)[0]


def test_the_lock_names_the_person_and_what_they_agreed_to() -> None:
    lock = choose_agent(PERSON).lock
    assert (lock.name, lock.kind) == ("human (person P07)", "human")
    assert lock.agent_class is AgentClass.PERSON
    assert agent_note(lock) == "a person, for a human baseline, not an agent"
    assert lock.options == {
        "person": "P07",
        "limit_seconds": None,
        "consent_version": 1,
        "consent_sha256": "0" * 64,
    }
    assert agent_of_lock(lock, PERSON).maker is PERSON


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (None, "played this run by hand"),
        ("oracle", "played this run by hand"),
        (replace(PERSON, person="P08"), "and not with human .person P08."),
        (replace(PERSON, limit_s=9), "the run began with"),
        (replace(PERSON, consent=Consent(version=2, sha256="1" * 64)), "the run began with"),
    ],
)
def test_nobody_else_goes_on_with_it(other: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        agent_of_lock(PERSON.lock, other)


def test_a_person_does_not_go_on_with_an_agents_run() -> None:
    with pytest.raises(UsageError, match="began with the agent oracle"):
        agent_of_lock(choose_agent("oracle").lock, PERSON)


def test_a_window_one_worker_and_one_attempt_are_what_a_person_has() -> None:
    assert prepared(asked()).agent is PERSON
    with pytest.raises(UsageError, match="needs a window"):
        prepared(asked(), headless=True)
    for more in ({"workers": 2}, {"attempts": 2}):
        with pytest.raises(UsageError, match="one episode at a time, once"):
            prepared(asked(**more))


def test_a_task_that_uploads_files_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "tides.csv").write_text("high", encoding="utf-8")
    suite = write_suite(tmp_path, bells("plain"), bells("upload", files=["tides.csv"]))
    with pytest.raises(UsageError, match="upload uploads files"):
        prepared(asked(tasks=(), suite=str(suite)))
    assert prepared(asked(tasks=("plain",), suite=str(suite))).episodes == 1


async def test_a_task_that_is_left_for_later_is_not_begun() -> None:
    """Nothing is leased for it and no attempt is counted: the next time is the first."""

    async def play(*_: object) -> None:
        raise AssertionError

    desk = Absent()
    task = DEMO.tasks[0]
    request = SimpleNamespace(
        tasks=[task], agent=replace(PERSON, desk=desk), settings=RunSettings()
    )
    keeper = cast("Any", SimpleNamespace(play=play))
    worker = Worker(interrupted=asyncio.Event(), environments=cast("Any", None))
    key = cast("EpisodeKey", SimpleNamespace(task=task.id, repeat=0))
    await worker.play(
        Job(PlayedRun(name="r", request=cast("Any", request), attempt_runner=keeper), key)
    )
    (card,) = desk.cards
    assert (card.task, card.limit_s) == (task.id, task.limits.seconds)
