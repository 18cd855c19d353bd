"""What every adapter keeps, whichever way an agent comes to its episode."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.adapter_clients import FOREIGN_ADAPTERS, OVER_CDP, OWN_ADAPTERS, Adapter
from support.agents.reference_player import (
    Client,
    Play,
    Seen,
    Verdict,
    nodes_in,
    play_reference,
    stay_idle,
)
from support.runs.run_at import on_engine
from support.tasks.small_suites import write_suite

from arena_core.actions import Click, Goto, Type
from arena_core.worlds import World
from orchestrator.sandbox.engine.containers import Container, Labels
from orchestrator.sandbox.engine.engine import Engine
from tasks.loader import load_suite

pytestmark = [pytest.mark.docker, pytest.mark.browser]

SUCCESS = Verdict(outcome="success", reason=None, reward=1.0)
FAILURE = Verdict(outcome="failure", reason=None, reward=0.0)
BELLS = "demo/wiki-bells-of-bruges"
LATEST_ORDER = "demo/shop-latest-order-total"
ALL = tuple(f"demo/{task.id}" for task in load_suite("demo").tasks if World.OFFLINE in task.worlds)
NOTES = "http://tools.arena.test/notes"


def _of_adapters(*without: str, quick: bool) -> list[object]:
    """Return every adapter as a case; not `quick`: the first of them alone is.

    Those of other projects never are: each needs an environment of its own.
    """
    own = [one for one in OWN_ADAPTERS.items() if one[0] not in without]
    return [
        *(
            pytest.param(one, id=name, marks=() if quick or number == 0 else SLOW)
            for number, (name, one) in enumerate(own)
        ),
        *(
            pytest.param(one, id=name, marks=pytest.mark.slow(minutes=4))
            for name, one in FOREIGN_ADAPTERS.items()
            if name not in without
        ),
    ]


@pytest.fixture(params=_of_adapters(quick=True))
def adapter(request: pytest.FixtureRequest) -> Adapter:
    found: Adapter = request.param
    return found


async def played(adapter: Adapter, folder: Path, *games: tuple[Play, str]) -> list[Verdict]:
    """Play games two at a time, each by a client of its own."""
    async with adapter(2, folder) as connect:
        turns = asyncio.Semaphore(2)

        async def one(play: Play, task: str) -> Verdict:
            async with turns, connect() as client:
                return await play(client, task)

        return list(await asyncio.gather(*(one(play, task) for play, task in games)))


async def test_the_reference_passes_and_idling_fails(adapter: Adapter, tmp_path: Path) -> None:
    games = [(play_reference, BELLS), (stay_idle, BELLS)]
    assert await played(adapter, tmp_path, *games) == [SUCCESS, FAILURE]


@pytest.mark.parametrize("adapter", _of_adapters("inspect", quick=False))
async def test_a_site_that_is_killed_is_unscored(adapter: Adapter, tmp_path: Path) -> None:
    """Inspect's replicas are another process's: `test_inspect` kills one."""
    async with adapter(1, tmp_path) as connect, connect() as client:
        seen = await client.begin(LATEST_ORDER)
        assert await asyncio.to_thread(on_engine, kill_shops) == 1
        ended = await client.act(Goto(url=seen.url))
        if isinstance(ended, Seen):
            ended = await client.finish("£44.95")
        assert ended == Verdict(outcome="unscored", reason="infra", reward=None)


CLICKED = {
    "id": "samovar",
    "family": "navigation",
    "intent": "From the article on kettles, open the article on the samovar by its link.",
    "sites": ["wiki"],
    "start": ["wiki:/article/Kettle"],
    "worlds": ["offline"],
    "checks": [
        {
            "name": "link",
            "when": "step",
            "required": True,
            "locate": {"by": "element", "event": "click", "role": "link"},
            "match": {"how": "exact", "value": "Samovar"},
        },
        {
            "name": "open",
            "when": "end",
            "locate": {"by": "url"},
            "match": {"how": "exact", "value": "wiki:/article/Samovar"},
        },
    ],
    "reference": [{"do": "click", "role": "link", "name": "Samovar"}, {"do": "stop"}],
}


@pytest.mark.parametrize("adapter", _of_adapters(quick=False))
async def test_forged_events_count_for_nothing_and_a_foreign_proxy_is_not_reached(
    adapter: Adapter, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The article is open in the end, and what nobody clicked is not clicked.

    Over CDP an agent's own scripts may click; `browser/cdp_proxy` tries what they may not.
    """
    may_script = request.node.callspec.id in OVER_CDP
    task = f"{write_suite(tmp_path, CLICKED)}/samovar"
    reached: list[str] = []

    async def forge(client: Client, task: str) -> Verdict:
        begun = await client.begin(task)
        clicks = "document.querySelector('a[href*=Samovar]').click()"
        made_up = f"data:text/html,<a href='Samovar'>Samovar</a><script>{clicks}</script>"
        forged = () if may_script else (f"javascript:{clicks}", made_up)
        for url in (*forged, proxy):
            seen = await client.act(Goto(url=url))
            assert isinstance(seen, Seen)
            assert not seen.url.endswith("/Samovar")
        samovar = begun.url.replace("Kettle", "Samovar")
        opened = await client.act(Goto(url=samovar))
        assert isinstance(opened, Seen)
        assert opened.url == samovar
        return await client.finish(None)

    async with foreign_proxy(reached) as proxy:
        games = [(forge, task), (play_reference, task)]
        assert await played(adapter, tmp_path, *games) == [FAILURE, SUCCESS]
    assert reached == []


@asynccontextmanager
async def foreign_proxy(reached: list[str]) -> AsyncIterator[str]:
    """Listen on this machine, as another episode's gateway does."""

    def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(str(writer.get_extra_info("peername")))
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


@pytest.mark.slow(minutes=6)
@pytest.mark.parametrize(
    "adapter", _of_adapters("browsergym", "browsergym-own", "inspect", "harbor", quick=False)
)
async def test_the_reference_passes_and_idling_fails_the_whole_demo(
    adapter: Adapter, tmp_path: Path
) -> None:
    """By AgentLab, Inspect and Harbor themselves it is played in `test_equal_verdicts`."""
    right = await played(adapter, tmp_path / "right", *((play_reference, one) for one in ALL))
    assert dict(zip(ALL, right, strict=True)) == dict.fromkeys(ALL, SUCCESS)
    idle = await played(adapter, tmp_path / "idle", *((stay_idle, one) for one in ALL))
    assert dict(zip(ALL, idle, strict=True)) == dict.fromkeys(ALL, FAILURE)


async def kill_shops(engine: Engine) -> int:
    """Remove this process's replicas of the shop, and return how many there were."""
    mine = await own_replicas(engine, "shop")
    for one in mine:
        await engine.remove(one.id)
    return len(mine)


async def own_replicas(engine: Engine, site: str) -> list[Container]:
    found = await engine.containers({Labels.OWNER: None})
    owner = f"episodes-{os.getpid()}-"
    return [
        one
        for one in found
        if one.labels.get(Labels.OWNER, "").startswith(owner)
        and one.labels.get(Labels.SITE) == site
    ]


@pytest.mark.slow(minutes=6)
async def test_sixteen_marked_sessions_never_meet(adapter: Adapter, tmp_path: Path) -> None:
    """Each writes its mark into a note of its own replica, and finds no other's there."""
    task = "arena-120/tools-note-the-kettle"
    async with adapter(16, tmp_path) as connect:
        together = asyncio.Barrier(16)
        beginning = asyncio.Semaphore(4)  # OpenEnv's clients wait a minute for an answer

        async def session(mark: str) -> str:
            async with connect() as client:
                async with beginning:
                    seen = await client.begin(task)
                await write_note(client, seen, mark)
                async with asyncio.timeout(480):
                    await together.wait()
                listed = await client.act(Goto(url=NOTES))
                assert isinstance(listed, Seen)
                return listed.text

        marks = [f"marked-{number:02d}" for number in range(16)]
        texts = await asyncio.gather(*(session(mark) for mark in marks))
    for mark, text in zip(marks, texts, strict=True):
        assert [one for one in marks if one in text] == [mark]


async def write_note(client: Client, seen: Seen, mark: str) -> None:
    """Write a note whose title is the mark."""
    form = await client.act(Goto(url=f"{NOTES}/new"))
    assert isinstance(form, Seen)
    title = element(form, "textbox", "Title")
    typed = await client.act(Type(element=title, text=mark))
    assert isinstance(typed, Seen)
    typed = await client.act(Type(element=element(typed, "textbox", "Text"), text="a note"))
    assert isinstance(typed, Seen)
    await client.act(Click(element=element(typed, "button", "Save note")))


def element(seen: Seen, role: str, name: str) -> int:
    (found,) = [one.id for one in nodes_in(seen.text) if (one.role, one.name) == (role, name)]
    return found
