"""An episode that goes back or is forked, on a world without engine and browser."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from support.worlds.fake_world import WIKI
from support.worlds.leases import Leases

from arena_core.actions import Goto, Press, Stop, Upload
from arena_core.errors import StateError, UsageError
from evaluators.evidence import Branch, Evidence
from orchestrator.browser.observation import Html
from orchestrator.episode import episode as episode_module
from orchestrator.episode.checkpoint import Checkpoint, PageWay
from orchestrator.sandbox.reset.state import Fingerprint, TakenState
from orchestrator.sandbox.reset.watch import Mark


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
