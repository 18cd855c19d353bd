"""Sites that somebody else started: handed out once; what takes an engine is refused."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from arena_core.errors import EngineError, UnhealthyError, UsageError
from orchestrator.sandbox.attached_sites import AttachedEngine, connect
from orchestrator.sandbox.engine.containers import ContainerSpec, Endpoint, Labels
from orchestrator.sandbox.engine.health import HealthProbe, wait_healthy
from orchestrator.sandbox.golden import ROWS_LABEL, golden_of, golden_rows

TAG, TOKEN = "arena/shop:1", "a-token"
GOLDEN, ROWS = b'{"tables": []}', b"rows of the shop"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AttachedEngine:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    carried = tmp_path / "carried"
    carried.mkdir()
    (carried / "golden.json").write_bytes(GOLDEN)
    (carried / "golden-rows.gz").write_bytes(gzip.compress(ROWS))
    file = tmp_path / "sites.json"
    site = {"address": "localhost", "carried": str(carried), "token": TOKEN}
    file.write_text(json.dumps({TAG: site}))
    monkeypatch.setenv("DOCKER_HOST", f"attached:{file}")
    found = asyncio.run(connect())
    assert isinstance(found, AttachedEngine)
    return found


def spec(image: str) -> ContainerSpec:
    return ContainerSpec(
        name="arena-shop", image=image, labels={}, ports=(8000, 3306), memory_mb=1, cpus=1, pids=1
    )


def test_a_replica_is_handed_out_at_its_address_and_once(engine: AttachedEngine) -> None:
    async def body() -> None:
        image = await engine.image(TAG)
        assert image is not None
        found = await engine.run(spec(image.id))
        assert found.ports[3306] == Endpoint("127.0.0.1", 3306)
        assert await engine.container(found.id) == found
        assert await engine.states_token(found.id) == TOKEN
        await engine.remove(found.id)
        with pytest.raises(EngineError, match="another replica"):
            await engine.run(spec(image.id))

    asyncio.run(body())


def test_what_its_image_carries_is_the_golden_state(engine: AttachedEngine) -> None:
    async def body() -> None:
        image = await engine.image(TAG)
        assert image is not None
        assert image.labels == {
            Labels.GOLDEN: hashlib.sha256(GOLDEN).hexdigest(),
            ROWS_LABEL: hashlib.sha256(ROWS).hexdigest(),
        }
        assert (await golden_of(engine, image)).document == GOLDEN
        assert (await golden_rows(engine, image)).read_bytes() == ROWS
        assert await engine.image("arena/wiki:1") is None

    asyncio.run(body())


def test_what_takes_an_engine_is_refused_in_one_line(engine: AttachedEngine) -> None:
    for asked in (
        engine.execute(TAG, ["id"]),
        engine.signal(TAG, "USR1"),
        engine.copy_out(TAG, "/etc/passwd"),
        engine.run(spec("arena/wiki:1")),
    ):
        with pytest.raises(EngineError):
            asyncio.run(asked)


def test_a_file_that_cannot_be_read_is_an_error_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.json").write_text('{"arena/shop:1": {}}')
    for name in ("bad.json", "absent.json"):
        monkeypatch.setenv("DOCKER_HOST", f"attached:{tmp_path / name}")
        with pytest.raises(UsageError, match="cannot be read"):
            asyncio.run(connect())


def test_a_site_that_is_not_ready_yet_is_waited_for(engine: AttachedEngine) -> None:
    probe = HealthProbe(
        endpoint=Endpoint("127.0.0.1", 9),
        host="shop.arena.test",
        path="/",
        contains="ready",
        timeout_s=0.05,
        most_s=0.5,
    )

    async def body() -> None:
        image = await engine.image(TAG)
        assert image is not None
        site = await engine.run(spec(image.id))
        with pytest.raises(UnhealthyError, match="did not become healthy within"):
            await wait_healthy(engine, site, probe)

    asyncio.run(body())
