"""The container: no way out, the manifest's time zone and language, health that means usable."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import requests

from arena_core.errors import SiteError
from orchestrator.authoring.site_check.pages import FRONT
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.reset.replica import Replica, await_health
from sites.manifest import Capability, Resources, ServerDatabase

# The kernel's own words, wherever this machine has them: control groups of version 2 or 1.
_LIMITS: Final = """
first() { for file; do [ -r $file ] && cat $file && return; done; echo unknown; }
group=/sys/fs/cgroup
echo "memory $(first $group/memory.max $group/memory/memory.limit_in_bytes)"
echo "pids $(first $group/pids.max $group/pids/pids.max)"
if [ -r $group/cpu.max ]; then echo "cpu $(cat $group/cpu.max)"; else
echo "cpu $(cat $group/cpu/cpu.cfs_quota_us) $(cat $group/cpu/cpu.cfs_period_us)"; fi
"""
_STATUS: Final = "cat /proc/[0-9]*/status"
_PLACES: Final = ("/", "/etc", "/usr", "/var", "/srv", "/opt", "/home", "/root")
_WRITE: Final = "for each in $@; do touch $each/.arena-mark 2>/dev/null && echo $each; done; true"
_REACH: Final = "exec 3<>/dev/tcp/$0/$1"
# A packet filter inside refuses in words of its own what the other side would refuse, or ignore.
_KNOCK: Final = """
export LC_ALL=C
while read -r _ to via _; do [ "$to" = 00000000 ] && gateway=$via; done </proc/net/route
host=$(printf '%d.%d.%d.%d' 0x${gateway:6:2} 0x${gateway:4:2} 0x${gateway:2:2} 0x${gateway:0:2})
timeout 3 bash -c 'exec 3<>/dev/tcp/$0/9' $host 2>&1 | grep -q 'No route to host'
"""
_INTERNET: Final = ("1.1.1.1", "80")
_RESOLVE: Final = "getent hosts example.com"
# linux/capability.h
_BITS: Final[Mapping[Capability, int]] = {
    Capability.CHOWN: 0,
    Capability.DAC_OVERRIDE: 1,
    Capability.FOWNER: 3,
    Capability.FSETID: 4,
    Capability.KILL: 5,
    Capability.SETGID: 6,
    Capability.SETUID: 7,
    Capability.SETPCAP: 8,
    Capability.NET_BIND_SERVICE: 10,
    Capability.SYS_CHROOT: 18,
    Capability.AUDIT_WRITE: 29,
}
_MIB: Final = 1024 * 1024
# The clock of a site that follows the machine's may be so far behind it, or before it.
DRIFT: Final = timedelta(minutes=2)
# What is looked at was started, or put back, no longer ago.
_RUN_FOR: Final = timedelta(minutes=10)
_JUST_RESET: Final = timedelta(seconds=30)
_LANG: Final = re.compile(r"""<html[^>]*\slang=["']?([A-Za-z-]+)""")
_OFFSETS: Final = {
    "mariadb": "SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW())",
    "postgresql": "SELECT EXTRACT(TIMEZONE FROM NOW())::int",
}
_SIGNAL: Final = """
for folder in /proc/[0-9]*; do
    case $(cat $folder/comm 2>/dev/null) in mariadbd|mysqld|postgres) echo ${folder#/proc/};; esac
done >/tmp/arena-databases
[ -s /tmp/arena-databases ] && kill -$1 $(cat /tmp/arena-databases)
"""
_GLANCE_S: Final = 4.0
_RECOVER_S: Final = 30.0
_EXIT_S: Final = 30.0


async def broken_confinement(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return in what a replica's container is less confined than every container must be."""
    shell = _Shell(engine, replica.container.id)
    breaches = list(_broken_limits(await shell.says(_LIMITS), replica.site.resources))
    allowed = replica.site.container.capabilities
    breaches += _broken_privileges(await shell.says(_STATUS), allowed)
    # Its own port comes first: a shell that does not reach that proves nothing by reaching nothing.
    if not await shell.reaches("127.0.0.1", str(replica.site.port)):
        breaches.append("whether it has a way out cannot be tried: no bash and timeout in it")
    elif not await shell.does("bash", "-c", _KNOCK):
        breaches.append("it has no packet filter, so it could open connections: see arena doctor")
    if await shell.reaches(*_INTERNET):
        breaches.append("it reaches an address of the internet")
    if await shell.does("timeout", "5", "sh", "-c", _RESOLVE):
        breaches.append("it resolves names of the internet")
    if replica.site.state is not None:
        written = (await shell.says(_WRITE, *_PLACES)).split()
        breaches += [f"{place} can be written to, and is not state" for place in written]
    return tuple(breaches)


def _broken_limits(told: str, wanted: Resources) -> Iterator[str]:
    found = {name: rest for name, _, rest in (line.partition(" ") for line in told.splitlines())}
    memory, pids = wanted.memory_mb * _MIB, wanted.pids
    if found.get("memory") != str(memory):
        yield f"memory is limited to {found.get('memory')} bytes, not to {memory}"
    if found.get("pids") != str(pids):
        yield f"processes are limited to {found.get('pids')}, not to {pids}"
    quota, _, period = found.get("cpu", "").partition(" ")
    if not quota.isdecimal() or int(quota) != round(wanted.cpus * int(period)):
        yield f"cores are limited to '{found.get('cpu')}' (quota and period), not to {wanted.cpus}"


def _broken_privileges(told: str, capabilities: frozenset[Capability]) -> Iterator[str]:
    allowed = sum(1 << _BITS[one] for one in capabilities)
    facts = [line.split(":\t") for line in told.splitlines() if ":\t" in line]
    of: Mapping[str, set[str]] = {
        name: {value for key, value in facts if key == name}
        for name in ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs", "Uid")
    }
    for name in ("CapEff", "CapPrm", "CapBnd"):
        if any(int(mask, 16) & ~allowed for mask in of[name]) or not of[name]:
            yield f"processes have capabilities ({name} {', '.join(sorted(of[name]))})"
    if of["NoNewPrivs"] != {"1"}:
        yield "processes may gain privileges"
    if not capabilities and any("0" in users.split("\t") for users in of["Uid"]):
        yield "a process runs as root"


class _Shell:
    """Runs commands in one container."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine = engine
        self._container = container

    async def says(self, script: str, *words: str) -> str:
        """Return what a script of `sh` prints."""
        done = await self._engine.execute(self._container, ["sh", "-c", script, "sh", *words])
        return done.stdout.decode(errors="replace")

    async def reaches(self, host: str, port: str) -> bool:
        """Whether a connection to a port of a host is taken within three seconds."""
        return await self.does("timeout", "3", "bash", "-c", _REACH, host, port)

    async def does(self, *argv: str) -> bool:
        return (await self._engine.execute(self._container, argv)).exit_code == 0


async def broken_clock(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return where container, database and front page differ from the manifest's clock."""
    clock, breaches = replica.site.clock, []
    offset = datetime.now(UTC).astimezone(ZoneInfo(clock.zone)).utcoffset() or timedelta()
    done = await engine.execute(replica.container.id, ["date", "+%s %z"])
    seconds, shown = done.stdout.decode().split()
    if _offset(shown) != offset:
        breaches.append(f"the container's time zone is {shown}, not that of {clock.zone}")
    if abs(datetime.now(UTC) - datetime.fromtimestamp(int(seconds), UTC)) > DRIFT:
        breaches.append("the container's clock is not the machine's")
    if isinstance(replica.site.database, ServerDatabase):  # a file believes in no time zone
        rows = (await ask(replica, _OFFSETS[replica.site.database.engine])).rows
        if rows != ((int(offset.total_seconds()),),):
            breaches.append(f"the database's time zone is {rows[0][0]} s off UTC")
    language = await asyncio.to_thread(_language, replica)
    if not language.lower().startswith(clock.locale.lower()):
        breaches.append(f"the front page is in '{language}', not in '{clock.locale}'")
    return tuple(breaches)


async def broken_beginning(replica: Replica) -> tuple[str, ...]:
    """Return whether the clock of a replica that was just reset does not begin and run.

    Only a site with a database server and a clock of its own is asked: what its checks call NOW()
    is the site's time. The copy of a database in a file has no clock but this machine's.
    """
    begins, database = replica.site.clock.begins, replica.site.database
    if begins is None or not isinstance(database, ServerDatabase):
        return ()
    first, second = [await _now(replica) for _ in range(2)]
    if not begins <= first < begins + _JUST_RESET:
        return (f"after a reset its clock shows {first}; the manifest says {begins}",)
    if not first < second:
        return (f"its clock stands still at {first}",)
    return ()


async def _now(replica: Replica) -> datetime:
    ((moment,),) = (await ask(replica, "SELECT UTC_TIMESTAMP(6)")).rows
    found = moment if isinstance(moment, datetime) else datetime.fromisoformat(str(moment))
    return found.replace(tzinfo=UTC)


def broken_moment(replica: Replica, written: datetime) -> tuple[str, ...]:
    """Return whether what was written just now bears another moment than the site's clock shows.

    Args:
        replica: where it was written.
        written: the moment that it bears; without a time zone, in that of the manifest.
    """
    clock = replica.site.clock
    moment = written if written.tzinfo else written.replace(tzinfo=ZoneInfo(clock.zone))
    begins = clock.begins
    if begins is None:
        if abs(datetime.now(UTC) - moment) > DRIFT:
            return (f"it was written at {moment}, which is not now",)
    elif not begins <= moment <= begins + _RUN_FOR:
        return (f"it was written at {moment}, and the clock begins at {begins}",)
    return ()


def _language(replica: Replica) -> str:
    client = replica_client(replica.site, replica.endpoint)
    with origin_session(client) as session:
        found = _LANG.search(session.get(client.url(FRONT), timeout=PAGE_TIMEOUT_S).text)
    return found[1] if found else ""


def _offset(shown: str) -> timedelta:
    sign = -1 if shown.startswith("-") else 1
    return sign * timedelta(hours=int(shown[1:3]), minutes=int(shown[3:5]))


async def broken_health(engine: Engine, replica: Replica) -> tuple[str, ...]:
    """Return where health hides a database that is frozen or dead; the replica is dead after it.

    A site without a database server has nothing that its health could hide.
    """
    if not isinstance(replica.site.database, ServerDatabase):
        return ()
    if not await _signal(engine, replica, "STOP"):
        return ("no process of a database was found in its container",)
    breaches = []
    if await asyncio.to_thread(_is_healthy, replica):
        breaches.append("health is well while the database is frozen")
    await _signal(engine, replica, "CONT")
    try:
        await await_health(engine, replica, timeout_s=_RECOVER_S)
    except SiteError as failure:
        breaches.append(f"health does not come back with the database: {failure.message}")
    await _signal(engine, replica, "KILL")
    try:
        async with asyncio.timeout(_EXIT_S):
            await engine.wait_exit(replica.container.id)
    except TimeoutError:
        breaches.append(f"its container still runs {_EXIT_S:g} s after its database died")
    return tuple(breaches)


async def _signal(engine: Engine, replica: Replica, name: str) -> bool:
    argv = ["sh", "-c", _SIGNAL, "sh", name]
    return (await engine.execute(replica.container.id, argv)).exit_code == 0


def _is_healthy(replica: Replica) -> bool:
    client, health = replica_client(replica.site, replica.endpoint), replica.site.health
    with origin_session(client) as session:
        try:
            answer = session.get(client.url(health.path), timeout=_GLANCE_S)
        except requests.RequestException:
            return False
    return answer.ok and health.contains in answer.text
