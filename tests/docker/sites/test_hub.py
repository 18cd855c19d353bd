"""Writing at the hub: who may push or add a file, what has landed, and that a reset undoes it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from support.sites.every_site import ATLAS, own_replica

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import OriginAnswer, fetch
from orchestrator.sandbox.logins import login, replica_client, role_of
from orchestrator.sandbox.reset.ladder import reset_replica, strategies_for
from orchestrator.sandbox.reset.replica import Replica
from orchestrator.sandbox.reset.watch import Watch

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=5)]

FORK: Final = "forks/tom.ashworth/tide-tables"
PAGE: Final = "/fork/tom.ashworth/tide-tables/blob/main/f/NOTICE.md"
TEXT: Final = "High water is later than printed"
# Nothing of the machine's own Git may have a say, and nothing may ask for a password.
ALONE: Final[Mapping[str, str]] = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "PATH": os.environ["PATH"],
}


@dataclass(frozen=True, slots=True)
class Remote:
    """The hub, as Git on this machine reaches it with the login of one person."""

    replica: Replica
    username: str
    password: str
    folder: Path

    async def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Git; it asks for the hub by the replica's address, under the hub's name."""
        header = f"http.extraHeader=Host: {self.replica.site.host}"
        command = ["git", "-c", header, "-c", "user.name=Tom", "-c", "user.email=t@example.org"]
        return await asyncio.to_thread(
            subprocess.run,
            [*command, *arguments],
            cwd=self.folder,
            env=ALONE,
            capture_output=True,
            text=True,
            timeout=90,
        )

    def url(self, project: str) -> str:
        endpoint = self.replica.endpoint
        return (
            f"http://{self.username}:{self.password}@{endpoint.host}:{endpoint.port}/{project}.git"
        )

    async def heads(self, project: str) -> str:
        """Return where the project's branches are."""
        return (await self.git("ls-remote", "--heads", self.url(project))).stdout

    async def push(self, project: str) -> subprocess.CompletedProcess[str]:
        """Add a file to a project, as its members do."""
        clone = ("clone", "--quiet", self.url(project), "work")
        assert (await self.git(*clone)).returncode == 0
        (self.folder / "work" / "NOTICE.md").write_text(f"{TEXT}\n", encoding="utf-8")
        await self.git("-C", "work", "add", "NOTICE.md")
        assert (await self.git("-C", "work", "commit", "--quiet", "-m", TEXT)).returncode == 0
        return await self.git("-C", "work", "push", "origin", "HEAD")


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    async with await Engine.connect() as connected:
        yield connected


def tom(replica: Replica, folder: Path) -> Remote:
    role = replica.site.roles["developer"]
    return Remote(replica, role.username, role.password, folder)


def page(replica: Replica) -> tuple[int, bool]:
    """Return the status of the pushed file's page, and whether it shows the text."""
    answer = fetch(replica_client(replica.site, replica.endpoint), PAGE, timeout_s=30)
    return answer.status, TEXT in answer.text


async def test_a_push_to_a_fork_of_ones_own_is_on_its_page_at_once_until_a_reset(
    engine: Engine, tmp_path: Path
) -> None:
    async with own_replica(engine, ATLAS.site("hub")) as replica:
        watch, remote = Watch.over(engine, replica, new=True), tom(replica, tmp_path)
        before = await remote.heads(FORK)
        pushed = await remote.push(FORK)
        assert pushed.returncode == 0, pushed.stderr
        assert await remote.heads(FORK) != before
        assert await asyncio.to_thread(page, replica) == (200, True)
        reset = await reset_replica(engine, watch, strategies=strategies_for("rewind"))
        await reset.watch.close()
        assert reset.receipt.proven
        assert before
        assert await remote.heads(FORK) == before
        assert (await asyncio.to_thread(page, replica))[0] == 404


async def test_a_push_to_a_project_of_others_is_refused(engine: Engine, tmp_path: Path) -> None:
    async with own_replica(engine, ATLAS.site("hub")) as replica:
        remote = tom(replica, tmp_path)
        before = await remote.heads("museum-catalogue")
        pushed = await remote.push("museum-catalogue")
        assert before
        assert pushed.returncode != 0
        assert await remote.heads("museum-catalogue") == before


async def opened_as(replica: Replica, role: str, paths: Sequence[str]) -> list[OriginAnswer]:
    """Return what the hub answers to each path that a role asks for."""
    client = replica_client(replica.site, replica.endpoint)
    cookies = await login(replica.site, role, role_of(replica.site, role), client)
    known = {"Cookie": "; ".join(f"{one.name}={one.value}" for one in cookies)}
    return [
        await asyncio.to_thread(fetch, client, path, timeout_s=30, headers=known) for path in paths
    ]


async def test_a_new_file_has_a_name_of_its_own_below_the_project_and_an_author_who_may_commit(
    engine: Engine,
) -> None:
    new = "/kettle-firmware/new/main/?name="
    bad = [f"{new}{name}" for name in ("", "../x", "/etc/passwd", ".git/config", "a/../../x")]
    async with own_replica(engine, ATLAS.site("hub")) as replica:
        [good] = await opened_as(replica, "maintainer", [f"{new}piers.csv&folder=docs"])
        assert good.status == 200
        assert "docs/piers.csv" in " ".join(good.text.split())
        refused = await opened_as(replica, "maintainer", [*bad, f"{new}README.md"])
        assert {one.status for one in refused} == {302}
        for role in ("developer", "administrator"):
            listed, other = await opened_as(
                replica, role, ["/museum-catalogue/tree/main", "/museum-catalogue/new/main/?name=x"]
            )
            assert (listed.status, "New file" in listed.text) == (200, False)
            assert other.status == 403
        [listed] = await opened_as(replica, "maintainer", ["/kettle-firmware/tree/main"])
        assert "New file" in listed.text
