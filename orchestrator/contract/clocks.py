"""Time zone and language of container, database and pages, as the manifest says."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from orchestrator.access.logins import replica_client
from orchestrator.access.queries import ask
from orchestrator.contract.pages import FRONT
from orchestrator.engine.engine import Engine
from orchestrator.engine.origin_client import PAGE_TIMEOUT_S, origin_session
from orchestrator.reset.replica import Replica
from sites.manifest import ServerDatabase

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

    Only a site with a database and a clock of its own is asked: what its checks call NOW() is the
    site's time.
    """
    begins, database = replica.site.clock.begins, replica.site.database
    if begins is None or database is None:
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
    """Return the offset that `+0200` means."""
    sign = -1 if shown.startswith("-") else 1
    return sign * timedelta(hours=int(shown[1:3]), minutes=int(shown[3:5]))
