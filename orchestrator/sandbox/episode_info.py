"""What a start page learns of an episode: the sites there are, and who is logged in where.

The start page lists it. In an episode the gateway sends it with each request (header
`X-Arena-Episode`); after `arena up`, which has no gateway, it is left in the replica as a file.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from arena_core.errors import SiteError
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import Site

# Where docker/home/startpage/telling.py reads it.
_FILE: Final = "/tmp/arena-sites.json"  # noqa: S108
_FOR_DEVELOPERS: Final = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, slots=True)
class AccountInfo:
    """An account; without a password its owner is logged in already."""

    username: str
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """A site, where it is, and the accounts on it."""

    site: Site
    url: str
    accounts: Sequence[AccountInfo] = ()

    def summary(self) -> str:
        """Return what it offers; what it is made of, in brackets at the end, is left out."""
        return _FOR_DEVELOPERS.sub("", self.site.summary)


def as_json(episode_info: Iterable[SiteInfo]) -> str:
    """Return the document that `docker/home` reads; start pages are not listed themselves."""
    listed = [one for one in episode_info if not one.site.episode_info]
    sites = [
        {
            "name": one.site.name,
            "title": one.site.title,
            "summary": one.summary(),
            "url": one.url,
        }
        for one in listed
    ]
    accounts = [
        {"site": one.site.name, "username": account.username}
        | ({"password": account.password} if account.password is not None else {})
        for one in listed
        for account in one.accounts
    ]
    return json.dumps({"sites": sites, "accounts": accounts})


def as_header(episode_info: Iterable[SiteInfo]) -> str:
    return b64encode(as_json(episode_info).encode()).decode("ascii")


async def write_episode_info(engine: Engine, replicas: Sequence[Replica]) -> None:
    """Write addresses on this machine and all accounts into every replica of a start page.

    The first replica of each site stands for it.
    """
    first: dict[str, Replica] = {}
    for replica in replicas:
        first.setdefault(replica.site.name, replica)
    document = as_json(
        SiteInfo(
            replica.site,
            f"http://{replica.endpoint}/",
            [AccountInfo(role.username, role.password) for role in replica.site.roles.values()],
        )
        for replica in first.values()
    )
    write = 'umask 077 && printf %s "$1" >"$0.new" && mv "$0.new" "$0"'
    for replica in first.values():
        if not replica.site.episode_info:
            continue
        done = await engine.execute(replica.container.id, ["sh", "-c", write, _FILE, document])
        if done.exit_code != 0:
            message = f"site '{replica.site.name}': did not take the list of sites: {done.stderr!r}"
            raise SiteError(message)
