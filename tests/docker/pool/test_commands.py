"""The commands as a user calls them, on the kiosk alone."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from quick_cases import SLOW
from support.sites.kiosk_site import OWNER

from orchestrator.cli.console import Console
from orchestrator.cli.entry import main
from orchestrator.cli.sites.browse import _browse
from orchestrator.sandbox.engine.containers import Container, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.pool.placement import place
from orchestrator.sandbox.pool.slot_pool import UP
from orchestrator.sandbox.reset.replica import start_replica
from sites.registry import SiteRegistry

pytestmark = [pytest.mark.docker]

KIOSK_OF_UP = {Labels.OWNER: UP, Labels.SITE: "kiosk"}


@dataclass(frozen=True, slots=True)
class Called:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Arena = Callable[..., Called]


@pytest.fixture
def arena(
    registry: SiteRegistry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Arena]:
    """Call a command in an installation whose only site is the kiosk."""
    monkeypatch.setattr("sites.registry.load_registry", lambda *_: registry)

    def call(*argv: str) -> Called:
        monkeypatch.setattr(sys, "argv", ["arena", *argv])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        written = capsys.readouterr()
        return Called(code, written.out, written.err)

    yield call
    asyncio.run(remove_kiosks())


async def remove_kiosks() -> None:
    async with await Engine.connect() as engine:
        for container in await engine.containers(KIOSK_OF_UP):
            await engine.remove(container.id)


def kiosks() -> tuple[Container, ...]:
    async def look() -> tuple[Container, ...]:
        async with await Engine.connect() as engine:
            return await engine.containers(KIOSK_OF_UP)

    return asyncio.run(look())


def in_kiosk(line: str) -> None:
    async def work() -> None:
        async with await Engine.connect() as engine:
            (container,) = await engine.containers(KIOSK_OF_UP)
            done = await engine.execute(container.id, ("bash", "-c", line))
            assert done.exit_code == 0, done.stderr

    asyncio.run(work())


def test_up_prints_a_url_that_answers_and_accounts_that_are_logged_in(arena: Arena) -> None:
    called = arena("up", "all", "--json")
    assert called.code == 0
    (site,) = called.document
    assert "asked as 127.0.0.1" in requests.get(site["url"], timeout=10).text
    assert [account["role"] for account in site["accounts"]] == ["ada", "grace"]
    assert site["memory_bytes"] > 1_000_000
    assert "kiosk (slot 0) starting: waits for /health" in called.err
    assert "kiosk (slot 0) ready: logged in: ada, grace" in called.err


@SLOW
def test_up_twice_keeps_what_runs(arena: Arena) -> None:
    first = arena("up", "all", "--json").document
    again = arena("up", "all", "--json")
    assert again.document[0]["container"] == first[0]["container"]
    assert "kept: it runs already" in again.err


@SLOW
def test_up_replaces_a_container_that_was_killed(arena: Arena) -> None:
    arena("up", "all")
    in_kiosk("kill -9 $(cat /tmp/db.pid)")
    wait_until_exited()
    gone = arena("db", "kiosk", "SELECT 1")
    assert (gone.code, gone.err) == (
        34,
        "arena: site 'kiosk' is not up: its container is exited\n  → arena up kiosk\n",
    )
    assert "a part of the kiosk has ended" in arena("logs", "kiosk").out
    assert arena("up", "all").code == 0
    assert arena("db", "kiosk", "SELECT COUNT(*) AS notes FROM note", "--json").document == [
        {"notes": 2}
    ]
    assert len(kiosks()) == 1


def wait_until_exited() -> None:
    async def work() -> None:
        async with await Engine.connect() as engine, asyncio.timeout(30):
            (container,) = await engine.containers(KIOSK_OF_UP)
            await engine.wait_exit(container.id)

    asyncio.run(work())


def test_reset_names_what_differed_and_keeps_the_url(arena: Arena) -> None:
    url = arena("up", "all", "--json").document[0]["url"]
    in_kiosk(
        "mariadb --socket=/tmp/db.sock kiosk -e 'UPDATE note SET text = 1 WHERE id = 1;"
        " INSERT INTO note (text) VALUES (2)'; rm /srv/kiosk/files/picture.txt"
    )
    called = arena("reset", "--verify")
    assert called.code == 0
    assert "kiosk: table note: 1 row more, next id 4 instead of 3\n" in called.out
    assert "kiosk: file /srv/kiosk/files/picture.txt: removed\n" in called.out
    assert "recreate" in called.out
    assert requests.get(url, timeout=10).ok
    (receipt,) = arena("reset", "--verify", "--json").document
    assert receipt["proven"]
    assert (receipt["strategy"], receipt["differences"]) == ("recreate", [])
    (receipt,) = arena("reset", "kiosk", "--strategy", "recreate", "--json").document
    assert (receipt["strategy"], receipt["before"], receipt["proven"]) == ("recreate", None, True)


@SLOW
def test_reset_never_calls_clean_what_nobody_watched(arena: Arena) -> None:
    """What the read-only account cannot see: only a new state is without it."""
    arena("up", "all")
    in_kiosk(
        "mariadb --socket=/tmp/db.sock --user=root kiosk -e 'CREATE DATABASE other;"
        " CREATE TRIGGER pulled AFTER INSERT ON note FOR EACH ROW DELETE FROM account'"
    )
    refused = arena("reset", "--strategy", "clean")
    assert (refused.code, "not clean: possible only where" in refused.err) == (33, True)
    (receipt,) = arena("reset", "--json").document
    assert (receipt["strategy"], receipt["proven"], receipt["fallbacks"]) == ("recreate", True, [])
    in_kiosk(
        'test -z "$(mariadb --socket=/tmp/db.sock --user=root -BN -e'
        ' \'SHOW TRIGGERS FROM kiosk; SHOW DATABASES LIKE "other"\')"'
    )


@SLOW
@pytest.mark.parametrize(
    ("command", "state"), [("kill", "exited with code 137"), ("pause", "paused")]
)
def test_reset_recreates_what_does_not_run_on_the_same_port(
    arena: Arena, command: str, state: str
) -> None:
    url = arena("up", "all", "--json").document[0]["url"]
    (before,) = kiosks()
    subprocess.run(("docker", command, before.name), check=True, capture_output=True)
    if command == "kill":
        wait_until_exited()
    refused = arena("reset", "--strategy", "rewind")
    assert (refused.code, f"is {state}" in refused.err) == (34, True)
    called = arena("reset", "--json")
    (receipt,) = called.document
    assert (called.code, receipt["strategy"], receipt["proven"]) == (0, "recreate", True)
    assert f"container {before.name} is {state}" in receipt["fallbacks"][0]
    (after,) = kiosks()
    assert after.id != before.id
    assert url.endswith(f":{after.ports[8000].port}/")
    assert requests.get(url, timeout=10).ok


@SLOW
def test_status_shows_health_owner_and_memory(arena: Arena) -> None:
    arena("up", "all")
    (one,) = arena("status", "kiosk", "--json").document
    assert (one["owner"], one["state"], one["health"]) == ("up", "running", "healthy")
    assert one["memory_bytes"] > 1_000_000
    assert requests.get(one["url"], timeout=10).ok


def test_db_shows_rows_as_a_table_and_says_when_there_are_more(arena: Arena) -> None:
    arena("up", "all")
    called = arena("db", "kiosk", "SELECT id, text FROM note ORDER BY id", "--limit", "1")
    assert called.out.split() == ["id", "text", "1", "first"]
    assert "only the first 1 rows are shown" in called.err
    refused = arena("db", "kiosk", "DROP TABLE note")
    assert (refused.code, refused.out) == (2, "")
    assert "must be a SELECT or SHOW, and begins with 'drop'" in refused.err
    assert arena("db", "kiosk", "SELECT nothing FROM note").code == 35


@SLOW
def test_open_prints_a_url_under_the_replicas_port(arena: Arena) -> None:
    url = arena("up", "all", "--json").document[0]["url"]
    assert arena("open", "kiosk", "/me", "--print").out == f"{url}me\n"


class Waiting(Console):
    """A console that says when the command has come to its end and waits."""

    def note(self, text: str) -> None:
        if text == "until Ctrl-C":
            READY.set()


READY = threading.Event()


def while_browsing(look: Callable[[], None]) -> None:
    """Call something in a thread while `arena browse --print` runs, and then press Ctrl-C."""

    def press() -> None:
        try:
            assert READY.wait(30)
            look()
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    READY.clear()
    with ThreadPoolExecutor(1) as beside:
        looking = beside.submit(press)
        asyncio.run(_browse(Waiting(), 0, 0, only_print=True))
        looking.result(30)


@SLOW
def test_browse_gives_every_running_site_its_own_name_until_ctrl_c(
    arena: Arena, capsys: pytest.CaptureFixture[str]
) -> None:
    arena("up", "all")
    said: list[str] = []

    def look() -> None:
        said.append(capsys.readouterr().out)
        setting, proxy = said[0].splitlines()[-2:]
        _, _, pac_url = setting.partition(": ")
        _, _, proxy_url = proxy.partition(": ")
        through = {"http": proxy_url}
        front = requests.get("http://kiosk.arena.test/", proxies=through, timeout=10)
        assert "asked as kiosk.arena.test" in front.text
        elsewhere = requests.get("http://elsewhere.example/", proxies=through, timeout=10)
        assert elsewhere.status_code == 403
        script = requests.get(pac_url, timeout=10).text
        assert '["kiosk.arena.test"]' in script
        assert proxy_url.removeprefix("http://") in script

    while_browsing(look)

    assert "http://kiosk.arena.test/" in said[0]
    assert "ada: ada / lovelace" in said[0]


def test_browse_refuses_where_nothing_is_up(arena: Arena) -> None:
    refused = arena("browse", "--print")
    assert (refused.code, refused.out) == (34, "")
    assert "no site is up" in refused.err
    assert "arena up" in refused.err


@SLOW
def test_browse_refuses_a_taken_port(arena: Arena) -> None:
    arena("up", "all")
    with socket.create_server(("127.0.0.1", 0)) as leased:
        refused = arena("browse", "--print", "--port", str(leased.getsockname()[1]))
    assert refused.code == 41
    assert "omit the port" in refused.err


@SLOW
def test_a_fixed_port_is_used_and_a_taken_one_is_one_clear_line(arena: Arena) -> None:
    with socket.socket() as leased:
        leased.bind(("127.0.0.1", 0))
        leased.listen()
        port = leased.getsockname()[1]
        called = arena("up", "all", "--port", f"kiosk={port}")
        assert called.code == 41
        assert str(port) in called.err
        assert kiosks() == ()
    assert (
        arena("up", "all", "--port", f"kiosk={port}", "--json")
        .document[0]["url"]
        .endswith(f":{port}/")
    )


@SLOW
def test_slots_have_replicas_of_their_own_and_commands_mean_one_of_them(arena: Arena) -> None:
    called = arena("up", "all", "--slots", "2", "--json")
    assert called.code == 0, called.err
    first, second = called.document
    assert (first["slot"], second["slot"]) == (0, 1)
    assert "to start: 2 slots; kiosk 2, " in called.err
    requests.post(f"{second['url']}note", data={"text": "mine"}, timeout=10).raise_for_status()
    count = ("db", "kiosk", "SELECT COUNT(*) AS n FROM note", "--json")
    assert arena(*count).document == [{"n": 2}]
    assert arena(*count, "--slot", "1").document == [{"n": 3}]
    assert arena("open", "kiosk", "--print").out == f"{first['url']}\n"
    assert arena("open", "kiosk", "--slot", "1", "--print").out == f"{second['url']}\n"
    assert second["container"] in arena("logs", "kiosk", "--slot", "1").err
    assert [
        (one["slot"], one["slot_bytes_learned"])
        for one in arena("status", "kiosk", "--json").document
        if one["owner"] == "up"
    ] == [("0", True), ("1", True)]
    assert arena("down", "--slot", "1").out == f"removed {second['container']}\n"
    gone = arena(*count, "--slot", "1")
    assert (gone.code, gone.err) == (
        34,
        "arena: site 'kiosk' is not up in slot 1\n  → arena up kiosk --slots 2\n",
    )
    assert arena(*count).document == [{"n": 2}]


@SLOW
def test_fixed_ports_follow_each_other_slot_by_slot(arena: Arena) -> None:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        other.bind(("127.0.0.1", port + 1))
    called = arena("up", "all", "--slots", "2", "--port", f"kiosk={port}", "--json")
    assert [site["url"] for site in called.document] == [
        f"http://127.0.0.1:{port}/",
        f"http://127.0.0.1:{port + 1}/",
    ]


@SLOW
def test_down_removes_what_a_dead_run_left_and_says_so(
    arena: Arena, registry: SiteRegistry
) -> None:
    async def leave_one() -> str:
        async with await Engine.connect() as engine:
            placement = await place(engine, registry.site("kiosk"), owner=OWNER, slot=0)
            return (await start_replica(engine, placement)).container.name

    left = asyncio.run(leave_one())
    assert arena("down", "--owner", OWNER).out == f"removed {left}\n"
    assert arena("down", "--owner", OWNER, "--json").document == {"removed": []}
    assert arena("down", "--owner", OWNER).out == "nothing to remove\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("up", "shop"), "unknown site 'shop'; there are: kiosk"),
        (("up", "all", "--port", "kiosk"), "expected SITE=PORT, for example shop=7770"),
        (("up", "all", "--port", "kiosk=70000"), "expected SITE=PORT"),
        (("up", "all", "--port", "wiki=7770"), "no site 'wiki' is started; there are: kiosk"),
        (("reset", "--strategy", "magic"), "there are: auto, "),
        (
            ("up", "all", "--port", "kiosk=65535", "--slots", "2"),
            "there are no 2 ports from there on",
        ),
        (("up", "all", "--slots", "0"), "--slots"),
        (
            ("up", "all", "--memory", "lots"),
            "'lots' is no amount of memory: expected a number and a unit",
        ),
        (("up", "all", "--slots", "3", "--memory", "1MiB"), "3 slots need "),
        (("down", "--slot", "1", "--owner", "a-run"), "--slot 1 is one of `arena up`"),
        (("open", "kiosk"), "site 'kiosk' is not up"),
        (("logs", "kiosk"), "site 'kiosk' has no container"),
    ],
)
def test_bad_input_is_one_clear_line(arena: Arena, argv: tuple[str, ...], said: str) -> None:
    called = arena(*argv)
    assert called.code != 0
    assert said in called.err
    assert "Traceback" not in called.err
