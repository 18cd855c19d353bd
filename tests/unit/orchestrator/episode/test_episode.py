"""An episode as its drivers meet it: on a world without engine and browser."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quick_cases import SLOW
from support.agents.foreign_values import CASES, TEXTS, require_scored
from support.runs.played_episode import (
    ANSWER,
    HEADING,
    KETTLE,
    NODE,
    RIGHT,
    episode,
    forever,
    played,
)
from support.worlds.fake_world import WIKI, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Goto, Press, Stop
from arena_core.errors import (
    ArenaError,
    BrowserError,
    EngineError,
    GatewayError,
    LoginError,
    ModelError,
    SiteGoneError,
    UnknownNameError,
    UsageError,
)
from arena_core.worlds import World
from evaluators.evidence import Ended, UnscoredReason
from orchestrator.episode.episode import Episode
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE
from orchestrator.episode.steps import DecisionRecord
from orchestrator.serve.messages import observation_as_json


async def test_an_episode_is_opened_stepped_and_scored() -> None:
    world = FakeWorld()
    async with episode(world, checks=[NODE, ANSWER]) as one:
        seen = await one.reset()
        assert (seen.step, seen.url) == (0, f"{WIKI}/")
        result = await one.step(Goto(url=KETTLE))
        assert (result.is_over, result.observation.step, result.observation.url) == (
            False,
            1,
            KETTLE,
        )
        assert not one.is_over
        last = await one.step(RIGHT)
        assert (last.is_over, last.ended) == (True, Ended.STOPPED)
        assert last.observation is result.observation
        score = await one.score()
    assert str(score.outcome) == "success"
    evidence = one.evidence()
    assert (evidence.answer, evidence.ended) == ("1891", Ended.STOPPED)
    assert [step.index for step in evidence.steps] == [0, 1, 2]
    assert [step.logical for step in evidence.steps[1:]] == ["wiki:/article/Kettle"] * 2
    assert world.log[-2:] == ["session closed", "gateway closed"]


async def test_what_a_task_looks_at_beside_its_checks_is_in_the_evidence_and_decides_nothing() -> (
    None
):
    look = {key: HEADING[key] for key in ("when", "locate")} | {"name": "for-a-reading"}
    async with episode(FakeWorld(), checks=[ANSWER], looks=[look]) as one:
        await one.reset()
        await one.step(Goto(url=KETTLE))
        await one.step(RIGHT)
        score = await one.score()
    assert str(score.outcome) == "success"
    assert [verdict.check for verdict in score.verdicts] == [ANSWER["name"]]
    found = one.evidence().located
    assert "for-a-reading" in [located.check for located in found]


async def test_what_an_agent_may_know_is_there_after_the_opening() -> None:
    one = episode(FakeWorld())
    with pytest.raises(UsageError, match="not reset yet"):
        _ = one.assignment
    async with one:
        await one.reset()
        assert one.assignment.intent == "Tell when the kettle was invented."
        assert one.assignment.sites == {"Wikipedia": f"{WIKI}/"}
        assert one.reference.url_of("wiki:/article/Kettle") == KETTLE


async def test_an_action_that_cannot_be_done_is_told_to_the_agent_and_ends_nothing() -> None:
    world = FakeWorld(refuses={"press": "no such key"})
    async with episode(world) as one:
        await one.reset()
        result = await one.step(Press(keys="Nope"))
        assert result.observation.last_error == "no such key"
        assert not result.is_over
    assert one.evidence().steps[1].error == "no such key"


async def test_pictures_are_kept_under_the_names_that_the_steps_have_for_them() -> None:
    spec = attempt_at(browsing_task())
    with_pictures = Episode(
        type(spec)(
            suite=spec.suite, task=spec.task, repeat=0, attempt=1, agent="x", screenshots=True
        ),
        FakeWorld().environment(),
    )
    await played(with_pictures, RIGHT)
    assert with_pictures.evidence().steps[0].screenshot == "step-000.webp"
    assert set(with_pictures.files) == {"step-000.webp", OBSERVATIONS_FILE}
    assert with_pictures.files["step-000.webp"] == b"picture"


# time and steps


async def test_a_step_that_outlasts_the_tasks_time_ends_the_episode_which_is_scored() -> None:
    world = FakeWorld(script={"act": forever})
    one = episode(world, limits={"seconds": 0.05})
    score = await played(one, Goto(url=KETTLE))
    assert str(score.outcome) == "failure"
    evidence = one.evidence()
    assert (evidence.ended, evidence.ended_because) == (Ended.DEADLINE, "0.05 s were over")
    assert [step.index for step in evidence.steps] == [0]


async def test_steps_share_the_tasks_time() -> None:
    async def a_while() -> None:
        await asyncio.sleep(0.06)

    one = episode(FakeWorld(script={"act": a_while}), limits={"seconds": 0.1})
    async with one:
        await one.reset()
        assert not (await one.step(Goto(url=KETTLE))).is_over
        assert (await one.step(Goto(url=KETTLE))).ended is Ended.DEADLINE


async def test_neither_the_opening_nor_the_time_between_calls_counts() -> None:
    async def a_while() -> None:
        await asyncio.sleep(0.2)

    one = episode(FakeWorld(script={"open": a_while}), limits={"seconds": 0.1})
    async with one:
        await one.reset()
        await asyncio.sleep(0.2)
        assert not (await one.step(Goto(url=KETTLE))).is_over
        await asyncio.sleep(0.2)
        await one.step(RIGHT)
        assert str((await one.score()).outcome) == "success"
    idle = [step.timings.decide_ms for step in one.evidence().steps[1:]]
    assert all(ms >= 200 for ms in idle)


async def test_a_driver_that_measured_the_deciding_says_so_itself() -> None:
    async with episode(FakeWorld()) as one:
        await one.reset()
        decided = DecisionRecord(thought="why", decide_ms=5.0, input_tokens=7, output_tokens=2)
        await one.step(Goto(url=KETTLE), decided)
        await one.step(RIGHT, decided)
        await one.score()
    evidence = one.evidence()
    assert [(step.thought, step.timings.decide_ms) for step in evidence.steps[1:]] == [
        ("why", 5.0)
    ] * 2
    assert (evidence.input_tokens, evidence.output_tokens) == (14, 4)


async def test_the_last_step_that_is_allowed_ends_the_episode() -> None:
    one = episode(FakeWorld(), limits={"steps": 2})
    async with one:
        await one.reset()
        assert not (await one.step(Goto(url=KETTLE))).is_over
        last = await one.step(Goto(url=f"{WIKI}/"))
        assert (last.ended, last.because) == (Ended.STEP_LIMIT, "2 steps were used up")
        assert str((await one.score()).outcome) == "failure"


async def test_an_agent_may_stop_with_the_last_step() -> None:
    one = episode(FakeWorld(), limits={"steps": 1})
    assert str((await played(one, RIGHT)).outcome) == "success"
    assert one.evidence().ended is Ended.STOPPED


# faults of the world

FAULTS = [
    ("listen", BrowserError("gone"), "infra"),
    ("log in", LoginError("not recognised"), "infra"),
    ("log in", UnknownNameError("no role"), "check_error"),
    ("open", BrowserError("gone"), "infra"),
    ("open", GatewayError("no route"), "infra"),
]


@pytest.mark.parametrize(("where", "error", "reason"), FAULTS)
async def test_a_fault_of_the_opening_is_the_outcome_and_raises_nothing(
    where: str, error: ArenaError, reason: str
) -> None:
    world = FakeWorld(script={where: error})
    one = episode(world, roles={"wiki": "reader"})
    async with one:
        seen = await one.reset()
        assert (seen.tabs, seen.text, seen.last_error) == ((), "", error.message)
        assert one.is_over
        score = await one.score()
    assert str(score.outcome) == f"unscored: {reason}"
    assert score.because == error.message


async def test_a_login_that_fails_online_has_drifted() -> None:
    world = FakeWorld(script={"log in": LoginError("not recognised", site="wiki")})
    score = await played(episode(world, World.ONLINE, roles={"wiki": "reader"}))
    assert str(score.outcome) == "unscored: drifted"


@pytest.mark.parametrize("where", ["act", "settle", "observe"])
@pytest.mark.parametrize("error", [BrowserError("x"), SiteGoneError("x"), EngineError("x")])
async def test_a_fault_of_a_step_is_the_outcome_and_raises_nothing(
    where: str, error: ArenaError
) -> None:
    world = FakeWorld()
    async with episode(world) as one:
        first = await one.reset()
        world.script[where] = error
        result = await one.step(Goto(url=KETTLE))
        assert result.fault is not None
        assert (result.ended, result.because, result.observation) == (None, "x", first)
        assert str((await one.score()).outcome) == "unscored: infra"
    assert [step.index for step in one.evidence().steps] == [0]


async def test_a_site_that_cannot_be_reached_breaks_the_episode_off() -> None:
    world = FakeWorld()

    async def fail() -> None:
        world.requested("GET", KETTLE, site="wiki", failed="connection refused")

    world.script["act"] = fail
    one = episode(world)
    score = await played(one, Goto(url=KETTLE))
    assert str(score.outcome) == "unscored: infra"
    assert "site 'wiki': its replica failed" in score.because


@pytest.mark.parametrize("silent", ["wiki", None])
async def test_a_start_page_that_cannot_be_opened_says_which_live_site_did_not_answer(
    silent: str | None,
) -> None:
    world = FakeWorld()

    async def fail() -> None:
        live = silent is not None
        world.requested("CONNECT", "x:443", site="wiki", live=live, failed="connection refused")
        raise BrowserError("a start page cannot be opened")

    world.script["open"] = fail
    async with episode(world, World.ONLINE) as one:
        await one.reset()
        score = await one.score()
    assert str(score.outcome) == "unscored: infra"
    assert "connection refused" in score.because
    fault = one.evidence().fault
    assert fault is not None
    assert fault.unreachable == silent


async def test_a_fault_while_stopping_leaves_the_right_answer_unscored() -> None:
    world = FakeWorld()
    async with episode(world) as one:
        await one.reset()
        world.script["title"] = BrowserError("crashed")
        result = await one.step(RIGHT)
        assert (result.ended, result.fault is not None) == (None, True)
        assert str((await one.score()).outcome) == "unscored: infra"


async def test_a_fault_of_the_end_checks_leaves_the_right_answer_unscored() -> None:
    world = FakeWorld(script={"read": BrowserError("crashed")})
    score = await played(episode(world, checks=[ANSWER, HEADING]), RIGHT)
    assert str(score.outcome) == "unscored: infra"


async def test_a_container_that_died_leaves_the_right_answer_unscored() -> None:
    score = await played(episode(FakeWorld(gone="site 'wiki': container was removed")), RIGHT)
    assert str(score.outcome) == "unscored: infra"
    assert score.because == "site 'wiki': container was removed"


async def test_an_engine_that_cannot_say_whether_one_died_leaves_it_unscored() -> None:
    world = FakeWorld(script={"lost": EngineError("no answer")})
    assert str((await played(episode(world), RIGHT)).outcome) == "unscored: infra"


async def test_the_first_reason_stands() -> None:
    world = FakeWorld(gone="container was removed")
    async with episode(world) as one:
        await one.reset()
        world.script["act"] = BrowserError("crashed")
        await one.step(Goto(url=KETTLE))
        one.break_off(UnscoredReason.DRIFTED, "another reason")
        assert (await one.score()).because == "crashed"


async def test_a_live_site_that_bars_the_start_page_is_blocked() -> None:
    score = await played(episode(FakeWorld(status=403), World.ONLINE))
    assert str(score.outcome) == "unscored: blocked"


async def test_a_start_page_that_is_not_there_ends_the_episode_before_the_agent_plays() -> None:
    world = FakeWorld(status=404)
    async with episode(world) as one:
        await one.reset()
        assert one.is_over
        score = await one.score()
    assert str(score.outcome) == "unscored: not_found_at_start"
    assert "answered 404" in score.because
    assert not any(line.startswith("act") for line in world.log)


async def test_a_login_that_the_site_dropped_leaves_the_episode_unscored() -> None:
    world = FakeWorld(barred=True)
    task = browsing_task(sites=["shop"], start=["shop:/"], roles={"shop": "customer"})
    score = await played(episode(world, task=task), RIGHT)
    assert str(score.outcome) == "unscored: infra"
    assert "the site dropped the login" in score.because


async def test_an_error_that_is_no_fault_of_the_world_is_raised() -> None:
    world = FakeWorld()
    async with episode(world) as one:
        await one.reset()
        world.script["act"] = ModelError("refused", is_permanent=True)
        with pytest.raises(ModelError):
            await one.step(Goto(url=KETTLE))


async def test_a_timeout_that_is_not_the_tasks_own_is_a_bug_and_no_deadline() -> None:
    one = episode(FakeWorld(script={"act": TimeoutError("of something below")}))
    score = await played(one, Goto(url=KETTLE))
    assert str(score.outcome) == "unscored: internal"


@pytest.mark.parametrize("where", ["log in", "open", "act", "read", "lost"])
async def test_a_bug_is_the_outcome_with_its_place_and_every_replica_may_be_written(
    where: str,
) -> None:
    world = FakeWorld()
    one = episode(world, roles={"wiki": "reader"}, checks=[ANSWER, HEADING])
    world.script[where] = KeyError("admin")
    async with one:
        await one.reset()
        if not one.is_over:
            result = await one.step(RIGHT if where in {"read", "lost"} else Goto(url=KETTLE))
            assert result.is_over
        score = await one.score()
    assert str(score.outcome) == "unscored: internal"
    fault = one.evidence().fault
    assert fault is not None
    assert fault.message == "KeyError: 'admin'"
    assert (fault.place or "").startswith("orchestrator/episode/")
    assert set(world.written) == {"wiki"}


# requirements


@pytest.mark.parametrize(
    ("headings", "outcome"),
    [(("Kettle",), "success"), (("Teapot",), "unscored: drifted"), ((), "unscored: drifted")],
)
async def test_where_the_world_is_not_as_required_no_page_is_opened(
    headings: tuple[str, ...], outcome: str
) -> None:
    world = FakeWorld(pages={"h1": headings})
    required = {**HEADING, "locate": {"by": "page", "at": "wiki:/", "selector": "h1"}}
    one = episode(world, requires=[required])
    async with one:
        await one.reset()
        if not one.is_over:
            await one.step(RIGHT)
        assert str((await one.score()).outcome) == outcome
    was_opened = any(line.startswith("open ") for line in world.log)
    assert was_opened is (outcome == "success")
    assert (one.evidence().ended is Ended.NOT_STARTED) is not was_opened


# a page that ends the episode


async def test_what_a_guided_agent_can_be_told_is_the_key_nodes_of_the_episodes_world() -> None:
    online = NODE | {"name": "elsewhere", "worlds": ["online"]}
    played = episode(FakeWorld(), checks=[NODE, online, ANSWER])
    assert [check.name for check in played.reference.key_nodes] == ["article"]


@SLOW
@settings(max_examples=CASES)
@given(
    title=TEXTS,
    urls=st.lists(TEXTS | TEXTS.map(f"{WIKI}/".__add__), max_size=2),
    found=st.lists(TEXTS, max_size=2).map(tuple),
    answer=TEXTS,
)
def test_whatever_a_page_shows_is_kept_and_scored(
    title: str, urls: list[str], found: tuple[str, ...], answer: str
) -> None:
    asyncio.run(_shown(FakeWorld(title=title, pages={"h1": found}), urls, answer))


async def _shown(world: FakeWorld, urls: list[str], answer: str) -> None:
    async with episode(world, checks=[ANSWER, HEADING, NODE]) as one:
        await one.reset()
        for url in urls:
            seen = (await one.step(Goto(url=url))).observation
            json.dumps(observation_as_json(seen), ensure_ascii=False).encode()
        await one.step(Stop(answer=answer))
        await one.score()
    require_scored(one.task, one.evidence())
    assert one.files
