"""The sites here for the hosts of the real web that published key nodes stand on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from tasks.imports.site_map import SiteMap

_LONGEST: Final = 31
_DIGEST: Final = 8
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


class NoHostError(ValueError):
    """A URL has no host that a site could stand for."""


@dataclass(frozen=True, slots=True)
class Hosts:
    """Which site stands for a host: that of the map, one with that live origin, or a new one.

    Attributes:
        new: origin of each site that neither the map nor this installation has.
    """

    sites: SiteMap
    new: dict[str, str] = field(default_factory=dict)

    def site(self, url: str) -> str:
        """Return the site of a URL's host.

        Raises:
            NoHostError: it has none.
        """
        scheme, host = _scheme_and_host(url)
        known = self.sites.site_of_host(host)
        if known is not None:
            return known
        name = site_name(host)
        self.new.setdefault(name, f"{scheme}://{host}")
        return name

    def bases(self, urls: Iterable[str]) -> dict[str, str]:
        """Return where the hosts of URLs are visited online, of those that the map names."""
        found: dict[str, str] = {}
        for url in urls:
            with suppress(NoHostError):
                _, host = _scheme_and_host(url)
                base = self.sites.online_base(host)
                if base is not None:
                    found[host] = base
        return found


def _scheme_and_host(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError as cause:
        message = f"'{url}' is no URL: {cause}"
        raise NoHostError(message) from cause
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        message = f"'{url}' has no host of the web"
        raise NoHostError(message)
    return parts.scheme, host


def site_name(host: str) -> str:
    """Return the name of the site that stands for a host: `www.gamestop.com` is `gamestop-com`."""
    name = host.removeprefix("www.").replace(".", "-")
    if not name[0].isalpha():
        name = f"w-{name}"
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _DIGEST - 1]}-{sha256(host.encode()).hexdigest()[:_DIGEST]}"
