"""Checkpoints over HTTP: for clients that may go back, and refused to all others."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from support.worlds.fake_world import FakeWorld
from support.worlds.worldless_service import Serving

from orchestrator import load_checkpoint

BRUGES = {"kind": "goto", "url": "http://wiki.arena.test/wiki/A/Bruges"}


async def test_a_client_goes_back_to_a_checkpoint(serving: Serving) -> None:
    async with serving() as service:
        name = await service.begun()
        taken = await service.checkpoint(name, "start")
        assert taken.status_code == 201
        assert taken.json() == {"checkpoint": "start", "step": 0, "states": {}}
        await service.step(name, action=BRUGES)
        back = (await service.restore(name, "start")).json()
        assert back["result"] is None
        assert back["observation"]["step"] == 0
        assert back["observation"]["url"] != BRUGES["url"]
        assert (await service.finish(name, answer="47")).json()["key_nodes"] == {"met": 0, "of": 1}
        assert (await service.restore(name, "start")).status_code == 409


async def test_branches_are_episodes_with_slots_of_their_own(serving: Serving) -> None:
    async with serving(slots=3) as service:
        name = await service.begun(key="mine")
        await service.step(name, action=BRUGES)
        await service.checkpoint(name, "bruges")
        assert (await service.fork(name, "bruges", 3)).status_code == 429
        assert (await service.fork(name, "none", 2)).status_code == 404
        assert await service.free() == 2
        forked = await service.fork(name, "bruges", 2)
        assert forked.status_code == 201
        right, wrong = forked.json()
        assert len({name, right["episode"], wrong["episode"]}) == 3
        assert right["observation"]["url"] == wrong["observation"]["url"] == BRUGES["url"]
        assert right["goal"] == wrong["goal"]
        assert await service.free() == 0
        ends = [
            (await service.finish(one["episode"], answer=answer)).json()
            for one, answer in ((right, "47"), (wrong, "46"))
        ]
        assert [one["reward"] for one in ends] == [1.0, 0.0]
        assert await service.free() == 2
        assert (await service.fork(right["episode"], "bruges", 1)).status_code == 409
        assert (await service.finish(name, answer="47")).json()["reward"] == 1.0
        assert service.arena.leases == ["given back"] * 3


async def test_a_branch_that_is_not_equal_is_unscored_and_holds_no_slot(serving: Serving) -> None:
    async with serving(slots=2) as service:
        name = await service.begun()
        await service.checkpoint(name, "start")
        service.arena.prepared = [FakeWorld(title="Another"), FakeWorld(title="Another")]
        (branch,) = (await service.fork(name, "start", 1)).json()
        found = (await service.client.get(f"/episodes/{branch['episode']}")).json()
        assert (found["result"]["outcome"], found["result"]["reason"]) == ("unscored", "fork")
        assert found["result"]["reward"] is None
        assert await service.free() == 1


async def test_a_checkpoint_is_given_as_a_file(serving: Serving, tmp_path: Path) -> None:
    async with serving() as service:
        name = await service.begun()
        await service.step(name, action=BRUGES)
        await service.checkpoint(name, "at bruges/1")
        where = f"/episodes/{name}/checkpoints"
        answer = await service.client.get(f"{where}/{quote('at bruges/1', safe='')}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
        path = tmp_path / "a.arena-checkpoint"
        path.write_bytes(answer.content)
        assert load_checkpoint(path).seen.url == BRUGES["url"]
        assert (await service.client.get(f"{where}/none")).status_code == 404


async def test_nobody_goes_back_where_the_service_does_not_say_so(serving: Serving) -> None:
    """An agent that plays over HTTP could try its answer in a branch."""
    async with serving(checkpoints=False) as service:
        name = await service.begun()
        refused = [
            await service.checkpoint(name, "start"),
            await service.restore(name, "start"),
            await service.fork(name, "start", 1),
            await service.client.get(f"/episodes/{name}/checkpoints/start"),
        ]
        assert [one.status_code for one in refused] == [422] * 4
        assert refused[0].json()["hint"] == "arena serve --checkpoints, for harnesses"
