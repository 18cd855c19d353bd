"""Whose doing it was that a role is no longer logged in: the agent's or the site's."""

from __future__ import annotations

from urllib.parse import urlsplit

from orchestrator.browser.session import Session
from orchestrator.episode.stage import Stage
from orchestrator.gateway import Journal
from sites.manifest import Site
from sites.worlds import World
from tasks.schema import Task


async def dropped_login(task: Task, stage: Stage, journal: Journal, session: Session) -> str | None:
    """Say which login the site dropped in an episode that is over; None where none was.

    A login that the agent ended itself is no matter of the site's: it asked for one of the paths
    that its manifest lists as `login.ends`. A site without such paths is never blamed.

    Raises:
        LoginError: a replica does not answer.
        BrowserError: the browser does not.
    """
    if not task.roles:
        return None
    cookies = await session.cookies()
    for name, role in task.roles.items():
        site = stage.atlas.site(name)
        ends = _ends(site, role, stage.world)
        if not ends or any(_asked(site, stage.world, path, journal, session) for path in ends):
            continue
        if await stage.accounts.is_logged_out(name, role, cookies):
            return (
                f"site '{name}', role '{role}': the site dropped the login during the episode;"
                f" the agent asked for nothing that ends it ({', '.join(ends)})"
            )
    return None


def _ends(site: Site, role: str, world: World) -> tuple[str, ...]:
    is_live = world is World.ONLINE and site.live is not None
    roles = site.live.roles if is_live and site.live else site.roles
    return roles[role].login.ends if role in roles else ()


def _asked(site: Site, world: World, path: str, journal: Journal, session: Session) -> bool:
    """Whether a path was asked for; inside TLS only the browser sees it."""
    if world is World.ONLINE and site.live and session.asked_for(site.live.host, path):
        return True
    return any(
        one.site == site.name and one.refused is None and urlsplit(one.url).path == path
        for one in journal.since(0)
    )
