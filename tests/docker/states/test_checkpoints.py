"""Checkpoints of real episodes: gone back to and forked from, with the right score afterwards."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from copy import copy
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.arena_process import ArenaProcess, await_end, descendants

from arena_core.actions import Action, Click, Goto, Stop, Type
from arena_core.errors import StateError, UsageError
from arena_core.worlds import World
from evaluators.scores import Score
from orchestrator import Arena, Checkpoint, OpenEpisode, save_checkpoint
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.browser.observation import Observation
from orchestrator.sandbox.engine.containers import Labels
from orchestrator.sandbox.engine.engine import Engine

pytestmark = [pytest.mark.docker, pytest.mark.browser]

GUIDE = Path("docs/set-up-a-world.md").resolve()


@pytest.fixture
async def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Arena]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    async with Arena(workers=3) as opened:
        yield opened


@pytest.fixture
def pin(tmp_path: Path) -> str:
    """The guide's task: its note is set up by `given`, and nothing but pinning it may change."""
    block = re.search(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    path = tmp_path / "rope.yaml"
    path.write_text(block[1], encoding="utf-8")
    return f"{path}/rope-pin"


async def containers_of(pid: int) -> list[str]:
    """Return the containers that a process started for its episodes."""
    async with await Engine.connect() as engine:
        found = await engine.containers({Labels.OWNER: None})
    begins = f"episodes-{pid}-"
    return [one.name for one in found if one.labels[Labels.OWNER].startswith(begins)]


def element(seen: Observation, role: str, name: str) -> int:
    return next(node.id for node in seen.nodes if (node.role, node.name) == (role, name))


def click(seen: Observation, role: str, name: str) -> Action:
    return Click(element=element(seen, role, name))


async def to_the_note(episode: OpenEpisode) -> Observation:
    seen = await episode.reset()
    search = element(seen, "searchbox", "Search notes")
    seen = (await episode.step(Type(element=search, text="Rope walk", submit=True))).observation
    return (await episode.step(click(seen, "link", "Rope walk"))).observation


def resets(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return how replicas were reset, and how that was proven."""
    said = (record.getMessage().partition(": golden by ")[2] for record in caplog.records)
    return [one for one in said if one]


async def test_what_was_done_before_a_checkpoint_counts_and_what_is_undone_does_not(
    arena: Arena, pin: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="orchestrator.sandbox")
    async with arena.episode(pin) as episode:
        seen = await to_the_note(episode)
        seen = (await episode.step(click(seen, "button", "Pin"))).observation
        mark = await episode.checkpoint("pinned")
        await episode.step(click(seen, "button", "Unpin"))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "failure"
        caplog.clear()
        again = await episode.restore(mark)
        assert resets(caplog) == ["rewind, proven by fingerprint"]  # there at once, by its own
        assert again.text == mark.seen.text
        await episode.step(Stop())
        score = await episode.score()
        assert str(score.outcome) == "success", score.because
        evidence = episode.evidence()
    assert [step.action.kind for step in evidence.steps if step.action] == [
        "type",
        "click",
        "click",
        "stop",
    ]
    assert evidence.branch is not None
    assert evidence.branch.pages == "document"
    (receipt,) = evidence.receipts
    assert receipt.proven
    assert receipt.golden == evidence.branch.states["tools"]


async def test_a_branch_that_is_left_in_the_middle_is_made_anew_if_it_wrote(
    arena: Arena, pin: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="orchestrator.sandbox")
    async with arena.episode(pin) as episode:
        await to_the_note(episode)
        mark = await episode.checkpoint("open")
        reader, writer = await episode.fork(2, at=mark)
        await writer.step(click(writer.observation, "button", "Pin"))
        caplog.clear()
        await reader.close()
        await writer.close()
        branches = await episode.fork(2, at=mark)
        either, written = sorted(resets(caplog))
        assert written == "rewind, proven by fingerprint"
        # A database that tidies up by itself is brought there anew, though nobody wrote to it.
        assert either in {"clean, proven by counters", written}
        for branch in branches:
            assert branch.observation.text == mark.seen.text
            assert not branch.is_over, branch.evidence().fault
            await branch.close()


async def test_branches_change_replicas_of_their_own(arena: Arena, pin: str) -> None:
    async with arena.episode(pin) as episode:
        seen = await to_the_note(episode)
        mark = await episode.checkpoint("at the note")
        right, lazy = await episode.fork(2, at=mark)
        with pytest.raises(UsageError, match="there is room for 3"):
            await episode.fork(1, at=mark)
        await right.step(click(right.observation, "button", "Pin"))
        for branch in (right, lazy):
            await branch.step(Stop())
        assert str((await right.score()).outcome) == "success"
        assert str((await lazy.score()).outcome) == "failure"
        for branch in (right, lazy):
            await branch.close()
        await episode.step(click(seen, "button", "Pin"))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "success"
        assert episode.evidence().branch is None


async def pinned(arena: Arena, pin: str, file: Path) -> Checkpoint:
    """Keep the checkpoint of an episode in which the note was pinned, in a file."""
    async with arena.episode(pin) as episode:
        seen = await to_the_note(episode)
        await episode.step(click(seen, "button", "Pin"))
        mark = await episode.checkpoint("pinned")
    save_checkpoint(mark, file)
    return mark


async def test_another_arena_goes_on_from_a_file(arena: Arena, pin: str, tmp_path: Path) -> None:
    file = tmp_path / "pinned.arena-checkpoint"
    mark = await pinned(arena, pin, file)
    assert file.stat().st_size < 1_000_000
    run = tmp_path / "run"
    async with Arena() as another, another.episode(pin, checkpoint=file, out=run) as later:
        seen = await later.reset()
        assert seen.text == mark.seen.text
        element(seen, "button", "Unpin")
        await later.step(Stop())
        score = await later.score()
        assert str(score.outcome) == "success", score.because
        told, (receipt,) = later.evidence().branch, later.evidence().receipts
    assert told is not None
    assert (told.root, told.step, told.pages) == (mark.root, 3, "document")
    assert receipt.proven
    assert receipt.golden == mark.sites["tools"].digest == told.states["tools"]
    (scored,) = Arena().runs.score(run)
    assert str(scored.score.outcome) == "success"
    assert Arena().runs.read_lock(run).agent.options["checkpoint"] == "pinned"


@SLOW
async def test_the_world_of_a_file_is_shown_and_nothing_stays_behind(
    arena: Arena, pin: str, tmp_path: Path
) -> None:
    file = tmp_path / "pinned.arena-checkpoint"
    mark = await pinned(arena, pin, file)
    opening = ("open", file, "--suite", pin.rpartition("/")[0])
    with ArenaProcess(*opening, cwd=tmp_path, env={"DISPLAY": "", "WAYLAND_DISPLAY": ""}) as shown:
        shown.hear("until Ctrl-C", 120)
        family = descendants(shown.pid)
        assert len(await containers_of(shown.pid)) == 1
        shown.interrupt()
        ended = await asyncio.to_thread(shown.wait)
    assert ended.code == 0, ended.err
    assert f"after step 3 of the episode {mark.root}" in ended.out
    assert f"tools: state {mark.sites['tools'].digest[:12]}" in ended.out
    assert f"open: {mark.seen.url}" in ended.out
    assert await_end(family) == {}
    assert await containers_of(shown.pid) == []


@SLOW
async def test_a_branch_whose_reload_would_write_does_not_load_again(arena: Arena) -> None:
    """The newspaper makes a draft at every GET of its page for a new article."""
    async with arena.episode("arena-120/cms-draft-on-frost") as episode:
        await episode.reset()
        seen = (
            await episode.step(Goto(url="http://cms.arena.test/wp-admin/post-new.php"))
        ).observation
        mark = await episode.checkpoint("categories")
        (branch,) = await episode.fork(1, at=mark)
        assert not branch.is_over, branch.evidence().fault
        assert branch.observation.text == mark.seen.text
        assert seen.url == branch.observation.url
        await branch.close()


async def test_live_sites_and_outside_browsers_have_no_checkpoints(arena: Arena) -> None:
    async with arena.episode("demo/wiki-samovar", world="online", staged=True) as episode:
        await episode.reset()
        with pytest.raises(StateError, match="visits wiki live"):
            await episode.checkpoint("no")
        assert not episode.is_over
    async with arena.episode("demo/wiki-samovar", endpoint="cdp") as episode:
        await episode.reset()
        with pytest.raises(UsageError, match="an outside program's"):
            await episode.checkpoint("no")


async def test_a_site_without_state_has_checkpoints_of_its_pages(arena: Arena) -> None:
    async with arena.episode("demo/wiki-samovar") as episode:
        seen = await episode.reset()
        mark = await episode.checkpoint("kettle")
        assert mark.sites == {}
        await episode.step(Goto(url="http://wiki.arena.test/article/Belgium"))
        assert (await episode.restore(mark)).text == mark.seen.text
        await episode.step(click(seen, "link", "Samovar"))
        await episode.step(Stop())
        assert str((await episode.score()).outcome) == "success"


async def test_a_page_with_its_own_protocol_comes_back_by_its_actions(arena: Arena) -> None:
    async with arena.episode("miniwob/click-checkboxes-s1") as episode:
        seen = await episode.reset()
        box = next(node for node in seen.nodes if node.role == "checkbox")
        seen = (await episode.step(Click(element=box.id))).observation
        mark = await episode.checkpoint("one ticked")
        (branch,) = await episode.fork(1, at=mark)
        assert branch.observation.text == mark.seen.text
        found = branch.evidence().branch
        assert found is not None
        assert (found.pages, found.replayed) == ("start", 1)
        assert branch.assignment.intent == episode.assignment.intent
        await branch.close()


@pytest.mark.slow(minutes=3)
@pytest.mark.parametrize(
    "task",
    [
        "wiki-crucible-steel",
        "shop-scarves-by-price",
        "shop-rain-jacket-in-basket",
        "both-knife-from-the-city-of-blades",
    ],
)
async def test_the_reference_ends_alike_from_each_of_its_steps(arena: Arena, task: str) -> None:
    async with arena.episode(f"demo/{task}") as episode:
        await episode.reset()
        begun = episode._begun
        assert begun is not None
        oracle = OracleAgent(begun.episode.reference, World.OFFLINE)
        ends: list[object] = []
        while not episode.is_over:
            mark = await episode.checkpoint(f"step {len(ends)}")
            (branch,) = await episode.fork(1, at=mark)
            async with branch:
                assert not branch.is_over, branch.evidence().fault
                ends.append(await played_to_its_end(branch, copy(oracle)))
            await episode.step((await oracle.decide(episode.observation)).action)
        score = await episode.score()
    assert str(score.outcome) == "success", score.because
    assert ends == [worth(score)] * len(ends)


async def played_to_its_end(episode: OpenEpisode, agent: OracleAgent) -> tuple[object, ...]:
    while not episode.is_over:
        await episode.step((await agent.decide(episode.observation)).action)
    return worth(await episode.score())


def worth(score: Score) -> tuple[object, ...]:
    met = [(verdict.check, verdict.status) for verdict in score.verdicts]
    return (str(score.outcome), score.steps, met)
