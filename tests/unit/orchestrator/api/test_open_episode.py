"""An episode as a program holds it, on a world without engine and browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest
from support.worlds.fake_world import WIKI, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Goto, Press, Stop, Upload
from arena_core.errors import LeaseError, StateError, UsageError
from arena_core.held import Held
from arena_core.worlds import World
from evaluators.evidence import Branch, Ended, Evidence
from evaluators.verdicts import OutcomeKind
from orchestrator.api.open_episode import Begun, OpenEpisode
from orchestrator.browser.observation import AXTREE, Html
from orchestrator.episode import episode as episode_module
from orchestrator.episode.checkpoint import Checkpoint, PageWay
from orchestrator.episode.environment import EpisodeEnvironment
from orchestrator.episode.episode import Episode
from orchestrator.runs.single_episode import EpisodeFolder
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.watch import Mark

TASK = browsing_task()


class Leases:
    """Hands out a fake environment, and notes how each lease ended."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.ended: list[str] = []
        self.foreseen: list[tuple[str, PageWay, int]] = []  # and how many leases had ended
        self.may_begin = asyncio.Event()
        self.may_begin.set()
        self.given_back = asyncio.Event()
        self.closed: list[OpenEpisode] = []
        self._failure = failure
        self.begun: list[PageWay | None] = []
        self.world = FakeWorld()

    def episode(self) -> OpenEpisode:
        return OpenEpisode(TASK, World.OFFLINE, self, self.closed.append)

    async def begin(
        self,
        goes_on: tuple[Checkpoint, PageWay] | None = None,
        folder: EpisodeFolder | None = None,
    ) -> Begun:
        await self.may_begin.wait()
        self.begun.append(goes_on and goes_on[1])
        held = await Held.enter(self._lease())
        spec = replace(attempt_at(TASK), may_go_back=True)
        return Begun(held, Episode(spec, held.value, goes_on), folder)

    def foresee(self, mark: Checkpoint, way: PageWay) -> None:
        self.foreseen.append((mark.name, way, len(self.ended)))

    def require_fits(self, mark: Checkpoint) -> None:
        mark.require_fits(TASK, World.OFFLINE, None, {AXTREE})

    def more(self, count: int) -> tuple[OpenEpisode, ...]:
        return tuple(self.episode() for _ in range(count))

    @asynccontextmanager
    async def _lease(self) -> AsyncIterator[EpisodeEnvironment]:
        if self._failure is not None:
            raise self._failure
        try:
            yield self.world.environment()
            self.ended.append("given back")
            self.given_back.set()
        except Exception:
            self.ended.append("broke off")
            raise


async def test_an_episode_that_came_to_its_end_gives_its_lease_back() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        assert not episode.is_over
        await episode.reset()
        assert (await episode.step(Stop())).is_over
        score = await episode.score()
    assert leases.ended == ["given back"]
    assert leases.closed == [episode]
    assert await episode.score() == score
    assert episode.evidence().steps[-1].action == Stop()


async def test_one_that_is_left_between_two_steps_gives_its_lease_back() -> None:
    """All that it has sent is known: what it has only read need not be made anew."""
    leases = Leases()
    episode = leases.episode()

    async def crash() -> None:
        async with episode:
            await episode.reset()
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        await crash()
    assert leases.ended == ["given back"]
    assert episode.is_over
    await episode.close()
    assert leases.ended == ["given back"]


async def test_one_that_is_left_during_a_step_says_so_to_its_lease() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        leases.world.script["act"] = asyncio.Event().wait
        leases.world.acting.clear()
        step = asyncio.create_task(episode.step(Goto(url=f"{WIKI}/one")))
        await leases.world.acting.wait()
    await step
    assert leases.ended == ["broke off"]


async def test_an_agent_that_gives_up_is_scored_as_it_stands() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        with pytest.raises(UsageError, match="is not reset yet"):
            episode.end("too hard")
        await episode.reset()
        for word in ("stopped", "tired"):
            with pytest.raises(UsageError, match=f"as '{word}'"):
                episode.end("too hard", ended=word)
        episode.end("too hard")
        assert (await episode.score()).outcome.kind is OutcomeKind.FAILURE
        with pytest.raises(UsageError, match="is over"):
            episode.end("again")
    assert leases.ended == ["given back"]
    evidence = episode.evidence()
    assert (evidence.ended, evidence.ended_because) == (Ended.AGENT_GAVE_UP, "too hard")


async def test_calls_out_of_turn_are_refused() -> None:
    leases = Leases()
    episode = leases.episode()
    for call in (episode.step(Stop()), episode.score()):
        with pytest.raises(UsageError, match="is not reset yet"):
            await call
    with pytest.raises(UsageError, match="is not reset yet"):
        _ = episode.assignment
    await episode.reset()
    with pytest.raises(UsageError, match="is not over"):
        await episode.score()
    with pytest.raises(UsageError, match="played once"):
        await episode.reset()
    await episode.close()
    untouched = leases.episode()
    await untouched.close()
    with pytest.raises(UsageError, match="is closed"):
        await untouched.reset()


async def test_what_keeps_it_from_beginning_is_raised_and_closing_it_is_nothing() -> None:
    async with Leases(LeaseError("no slot was ready")).episode() as episode:
        with pytest.raises(LeaseError, match="no slot was ready"):
            await episode.reset()


async def test_one_that_is_closed_while_it_is_reset_gives_its_lease_back() -> None:
    leases = Leases()
    leases.may_begin.clear()
    episode = leases.episode()
    resetting = asyncio.create_task(episode.reset())
    await asyncio.sleep(0)
    await episode.close()
    leases.may_begin.set()
    with pytest.raises(UsageError, match="closed while it was being reset"):
        await resetting
    assert leases.ended == ["given back"]


@pytest.mark.parametrize("action", ["click", None, {"kind": "stop"}, Stop])
async def test_what_is_no_action_is_refused_and_the_episode_goes_on(action: Any) -> None:
    async with Leases().episode() as episode:
        await episode.reset()
        with pytest.raises(UsageError, match="takes an action") as refused:
            await episode.step(action)
        assert "actions.Click" in refused.value.hint
        with pytest.raises(UsageError, match="thought"):
            await episode.step(Stop(), thought=cast("Any", 7))

        assert (await episode.step(Stop())).is_over
        assert (await episode.score()).outcome.kind is not OutcomeKind.UNSCORED


async def test_what_was_done_after_a_checkpoint_is_undone_and_forgotten() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        mark = await episode.checkpoint("at one")
        await episode.step(Goto(url=f"{WIKI}/two"))
        await episode.step(Stop(answer="1066"))
        assert episode.is_over
        seen = await episode.restore(mark)
        assert (seen.url, seen.step, episode.is_over) == (f"{WIKI}/one", 1, False)
        assert leases.ended == ["given back"]
        # Before that, so that its replicas go there and not to the start first.
        assert leases.foreseen == [("at one", PageWay.DOCUMENT, 0)]
        await episode.step(Stop(answer="1891"))
        assert str((await episode.score()).outcome) == "success"
        evidence = episode.evidence()
    assert [step.url for step in evidence.steps] == [f"{WIKI}/", f"{WIKI}/one", f"{WIKI}/one"]
    assert evidence.branch is not None
    assert (evidence.branch.checkpoint, evidence.branch.step) == ("at one", 1)
    assert evidence.branch.pages == "document"
    assert leases.begun == [None, PageWay.DOCUMENT]


async def test_branches_share_their_root_and_nothing_else() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        mark = await episode.checkpoint("at one")
        right, wrong = await episode.fork(2, at=mark)
        assert right.observation.url == wrong.observation.url == f"{WIKI}/one"
        await right.step(Stop(answer="1891"))
        await wrong.step(Goto(url=f"{WIKI}/three"))
        await wrong.step(Stop(answer="1066"))
        outcomes = [str((await branch.score()).outcome) for branch in (right, wrong)]
        assert outcomes == ["success", "failure"]
        assert not episode.is_over
        assert [len(one.evidence().steps) for one in (episode, right, wrong)] == [2, 3, 4]
        (deeper,) = await wrong.fork(1, at=mark)
        found = [one.evidence().branch for one in (right, wrong, deeper)]
        assert [one.root for one in found if one is not None] == [mark.root] * 3
        assert episode.evidence().branch is None
        for one in (right, wrong, deeper):
            await one.close()


async def test_a_page_that_is_not_equal_is_tried_by_all_actions_and_then_unscored() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        mark = await episode.checkpoint("at one")
        leases.world.title = "Another page"
        (branch,) = await episode.fork(1, at=mark)
        assert leases.begun == [None, PageWay.DOCUMENT, PageWay.START]
        assert branch.is_over
        score = await branch.score()
        assert str(score.outcome) == "unscored: fork"
        assert "the page is not equal" in score.because
        assert "Another page" in score.because
        told = branch.evidence().branch
        assert told is not None
        assert [one.pages for one in told.tried] == ["document", "start"]
        for one in told.tried:
            assert f"by {one.pages}: {one.because}" in score.because
        await branch.close()
        assert not episode.is_over


async def test_each_way_has_a_reason_of_its_own() -> None:
    leases = Leases()

    async def other() -> None:
        leases.world.title = "First" if len(leases.begun) == 2 else "Second"

    async with leases.episode() as episode:
        await episode.reset()
        mark = await episode.checkpoint("start")
        leases.world.script["observe"] = other
        (branch,) = await episode.fork(1, at=mark)
        told = branch.evidence().branch
        assert told is not None
        first, last = (one.because for one in told.tried)
        assert ("First" in first, "Second" in first) == (True, False)
        assert ("First" in last, "Second" in last) == (False, True)
        assert Evidence.model_validate_json(branch.evidence().model_dump_json()).branch == told
        await branch.close()


async def test_no_reason_is_longer_than_anybody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    async def come_back(_: object, mark: Checkpoint, *__: object) -> tuple[object, str]:
        return mark.seen, "x" * 5_000

    monkeypatch.setattr(episode_module, "come_back", come_back)
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        (branch,) = await episode.fork(1, at=await episode.checkpoint("start"))
        assert 500 < len((await branch.score()).because) < 2_000
        told = branch.evidence().branch
        assert told is not None
        assert [len(one.because) for one in told.tried] == [500, 500]
        await branch.close()


async def test_a_page_that_only_its_actions_bring_back_is_a_branch() -> None:
    leases = Leases()

    async def other() -> None:
        leases.world.title = "A menu that is not open" if len(leases.begun) == 2 else "Page"

    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        mark = await episode.checkpoint("at one")
        leases.world.script["observe"] = other
        (branch,) = await episode.fork(1, at=mark)
        assert not branch.is_over
        found = branch.evidence().branch
        assert found is not None
        assert (found.pages, found.replayed) == ("start", 1)
        (failed,) = found.tried
        assert failed.pages == "document"
        assert "A menu that is not open" in failed.because
        before = found.model_dump(exclude={"tried"})  # as earlier versions wrote it
        assert Branch.model_validate(before).tried == ()
        await branch.close()


async def test_what_cannot_be_taken_is_refused_and_the_episode_goes_on() -> None:
    leases = Leases()
    leases.world.script["capture"] = StateError("a dialog is open")
    async with leases.episode() as episode:
        with pytest.raises(UsageError, match="not reset"):
            await episode.checkpoint("early")
        await episode.reset()
        with pytest.raises(StateError, match="a dialog is open"):
            await episode.checkpoint("at a dialog")
        assert not episode.is_over
        leases.world.script["take states"] = StateError("it is written to all the time")
        with pytest.raises(StateError):
            await episode.checkpoint("busy")
        await episode.step(Stop(answer="1891"))
        with pytest.raises(UsageError, match="is over"):
            await episode.checkpoint("late")
        assert str((await episode.score()).outcome) == "success"


async def test_a_checkpoint_of_another_task_is_refused_before_anything_is_undone() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        mark = replace(await episode.checkpoint("here"), task="another")
        with pytest.raises(UsageError, match="'here' is of 'another'"):
            await episode.restore(mark)
        with pytest.raises(UsageError, match="'here' is of 'another'"):
            await episode.fork(2, at=mark)
        assert not episode.is_over
        assert leases.ended == []


async def test_what_was_done_on_the_document_is_done_again_on_it() -> None:
    leases = Leases()

    async def other() -> None:
        is_first_way = leases.begun[-1] is PageWay.DOCUMENT
        leases.world.title = "A menu that is not open" if is_first_way else "Page"

    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        await episode.step(Press(keys="Enter"))
        await episode.step(Press(keys="ArrowDown"))
        mark = await episode.checkpoint("menu")
        assert mark.document_step == 1
        without_tree = replace(mark, seen=replace(mark.seen, parts={"html": Html("")}))
        assert without_tree.ways == (PageWay.DOCUMENT, PageWay.START)
        leases.world.script["observe"] = other
        (branch,) = await episode.fork(1, at=mark)
        assert leases.begun == [None, PageWay.DOCUMENT, PageWay.ACTIONS]
        done = leases.world.log[leases.world.log.index(f"restore {WIKI}/one alone") :]
        assert done == [f"restore {WIKI}/one alone", "act press", "act press", "end answers"]
        found = branch.evidence().branch
        assert found is not None
        assert (found.pages, found.replayed, branch.is_over) == ("actions", 2, False)
        assert [one.pages for one in found.tried] == ["document"]
        leases.world.document_at = 0  # the branch has done no action on another document
        later = await branch.checkpoint("again")
        assert later.document_step == 1
        await branch.close()


async def test_a_file_that_was_chosen_is_chosen_again() -> None:
    """What a page shows of it need not tell whether it is still there."""
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/form"))
        await episode.step(Upload(element=3, files=["receipt.pdf"]))
        mark = await episode.checkpoint("chosen")
        (branch,) = await episode.fork(1, at=mark)
        assert leases.begun == [None, PageWay.ACTIONS]
        assert leases.world.log[-2:] == ["act upload", "end answers"]
        await branch.close()


async def test_a_page_that_asks_its_site_meanwhile_makes_no_checkpoint() -> None:
    """The servers' states and the page's would be of two moments."""
    leases = Leases()

    async def poll() -> None:
        leases.world.requested("GET", f"{WIKI}/heartbeat", site="wiki")

    async with leases.episode() as episode:
        await episode.reset()
        leases.world.script["take states"] = poll
        with pytest.raises(StateError, match=r"a page asked for .*/heartbeat while"):
            await episode.checkpoint("busy")
        del leases.world.script["take states"]
        mark = await episode.checkpoint("quiet")
        assert mark.step == 0


async def test_a_replica_that_the_pages_write_to_is_no_branch() -> None:
    leases = Leases()
    leases.world.states = {
        "wiki": TakenState(site="wiki", image_id="sha256:1", packed=b"", fingerprint=Fingerprint())
    }
    marks = [Mark(1, "a", None), Mark(1, "a", None), Mark(1, "b", None)]

    async def write() -> None:
        leases.world.moves = {"wiki": marks.pop(0)} if marks else {}

    async with leases.episode() as episode:
        await episode.reset()
        mark = await episode.checkpoint("before")
        leases.world.script["marks"] = write
        (still,) = await episode.fork(1, at=mark)
        assert not still.is_over
        marks.insert(0, Mark(1, "a", None))
        (written,) = await episode.fork(1, at=mark)
        assert leases.begun[2:] == [PageWay.DOCUMENT, PageWay.START]
        await still.close()
        await written.close()


async def test_nobody_goes_back_or_takes_a_checkpoint_while_a_step_is_under_way() -> None:
    leases = Leases()
    async with leases.episode() as episode:
        await episode.reset()
        mark = await episode.checkpoint("start")
        may_end = asyncio.Event()
        leases.world.script["act"] = may_end.wait
        leases.world.acting.clear()
        step = asyncio.create_task(episode.step(Goto(url=f"{WIKI}/one")))
        await leases.world.acting.wait()
        with pytest.raises(UsageError, match=r"restore\(\) was called while step\(\)"):
            await episode.restore(mark)
        with pytest.raises(UsageError, match=r"checkpoint\(\) was called while step\(\)"):
            await episode.checkpoint("half")
        may_end.set()
        assert (await step).observation.url == f"{WIKI}/one"
        assert leases.begun == [None]
        assert (await episode.restore(mark)).url == f"{WIKI}/"


async def test_nothing_is_done_while_an_episode_goes_back() -> None:
    """Before its first way is begun, and between that and the next."""
    leases = Leases()

    async def other() -> None:
        is_first_way = leases.begun[-1] is PageWay.DOCUMENT
        leases.world.title = "Another page" if is_first_way else "Page"
        if is_first_way:
            leases.may_begin.clear()

    async with leases.episode() as episode:
        await episode.reset()
        await episode.step(Goto(url=f"{WIKI}/one"))
        mark = await episode.checkpoint("at one")
        leases.world.script["observe"] = other
        leases.may_begin.clear()
        going_back = asyncio.create_task(episode.restore(mark))
        for _ in range(2):
            await leases.given_back.wait()
            leases.given_back.clear()
            for call in (episode.restore(mark), episode.checkpoint("half"), episode.step(Stop())):
                with pytest.raises(UsageError):
                    await call
            leases.may_begin.set()
        assert (await going_back).url == f"{WIKI}/one"
        assert leases.begun == [None, PageWay.DOCUMENT, PageWay.START]
        assert (await episode.step(Stop())).is_over


async def test_one_that_is_closed_while_it_goes_back_gives_its_lease_back() -> None:
    leases = Leases()
    episode = leases.episode()
    await episode.reset()
    mark = await episode.checkpoint("start")
    leases.may_begin.clear()
    going_back = asyncio.create_task(episode.restore(mark))
    await leases.given_back.wait()
    await episode.close()
    leases.may_begin.set()
    with pytest.raises(UsageError, match="was closed while"):
        await going_back
    assert leases.ended == ["given back", "given back"]
