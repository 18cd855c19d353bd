"""Which sites here stand for the sites and hosts of a published task set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from arena_core.errors import TaskError, UsageError
from arena_core.names import offered
from sites.documents import read_document
from sites.fields import Host, Name, SitePath, Strict, written
from sites.manifest import Site
from sites.routes import RouteForm, RouteRule, logical_path

_MANIFEST: Final = """\
# Written by `arena tasks import`: a site of the live web, with no replica. No image of it exists:
# tasks that visit it run online alone.
name: {name}
title: {host}
summary: {host}, as it is on the web
host: {name}.arena.test
stateful: false
image: {{tag: "own/{name}:none", published: "none.invalid/{name}:none"}}
port: 80
health: {{path: /, contains: html}}
resources: {{memory_mb: 16, cpus: 0.1, pids: 8}}
live: {{origin: "{origin}"}}
"""
_LONGEST: Final = 31
_DIGEST: Final = 8
_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")


def _named(given: object) -> object:
    """Take a bare name for a site without anything else."""
    return {"site": given} if isinstance(given, str) else given


BaseUrl = Annotated[
    str, written(r"https?://[^\s?#]+", "a URL without query and fragment: http://localhost:7770")
]


class MappedSite(Strict):
    """The site here that stands for one of a published set.

    Attributes:
        site: its name.
        role: who is logged in where the published task starts logged in; nobody where omitted.
        path: where the published set's base URL of the site lies on it: `/admin`.
        urls: base URLs by which files name it that were expanded for somebody's servers.
    """

    site: Name
    role: Name | None = None
    path: SitePath = "/"
    urls: tuple[BaseUrl, ...] = ()


class MapFile(Strict):
    """A file for `--map`: what it does not name stays as the format has it."""

    sites: dict[str, Annotated[MappedSite, BeforeValidator(_named)]] = Field(default_factory=dict)
    hosts: dict[Host, Name] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installed:
    """The sites that are known here.

    Attributes:
        origins: scheme and host of the replica by site.
        live: the site by the host of its live origin.
        live_origins: scheme and host of the live origin by site.
        routes: by site, what turns its paths into logical ones.
    """

    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    live: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    live_origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    routes: Mapping[str, tuple[RouteRule, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    @classmethod
    def of(cls, sites: Iterable[Site]) -> Installed:
        known = tuple(sites)
        return cls(
            {site.name: f"http://{site.host}" for site in known},
            {site.live.host: site.name for site in known if site.live is not None},
            {site.name: site.live.origin for site in known if site.live is not None},
            {site.name: site.routes for site in known},
        )


@dataclass(frozen=True, slots=True)
class SiteMap:
    """The choices of a person; a format has its own for what they leave open.

    Attributes:
        sites: by the name that the published set has for a site.
        hosts: the site here by a host of the real web.
        installed: the sites that are known here.
        path: of the file that says so; None where there is none.
    """

    sites: Mapping[str, MappedSite] = field(default_factory=lambda: MappingProxyType({}))
    hosts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    installed: Installed = field(default_factory=Installed)
    path: Path | None = None

    def origin(self, site: str) -> str:
        """Return the origin of a site's replica; as Arena names hosts where it is not here."""
        return self.installed.origins.get(site, f"http://{site}.arena.test")

    def site_of_host(self, host: str) -> str | None:
        """Return the site for a host of the real web: the map's, or the one that is live there."""
        return self.hosts.get(host) or self.installed.live.get(host)

    def online_base(self, host: str) -> str | None:
        """Return the URL under which a host is visited online; None for one that is live itself."""
        site = self.hosts.get(host)
        if site is None or self.installed.live.get(host) == site:
            return None
        return self.installed.live_origins.get(site) or self.origin(site)

    def logical_path(self, site: str, path: str, form: RouteForm) -> str:
        """Return the logical path of a site's page, by the site's own routes."""
        return logical_path(self.installed.routes.get(site, ()), path, form)

    def renames(self, site: str, form: RouteForm) -> bool:
        """Whether the site has pages whose logical path is another than their own.

        A piece of a path, or a pattern of paths, says nothing of logical paths then.
        """
        rules = self.installed.routes.get(site, ())
        return any(one.logical != one.concrete(form) for one in rules)

    def site(self, name: str, defaults: Mapping[str, MappedSite]) -> MappedSite | None:
        """Return what stands for a site of the published set; None where nothing is known."""
        return self.sites.get(name) or defaults.get(name)

    def refuse_unknown(self, known: Mapping[str, object]) -> None:
        """Refuse a map that names sites which the format does not have: they would do nothing."""
        for name in self.sites:
            if name not in known:
                message = f"{self.path}: sites.{name}: no site of this format;"
                message += f" {offered(name, known, intro='it has')}"
                raise TaskError(message)


def read_site_map(path: Path | None, installed: Installed) -> SiteMap:
    """Read a map."""
    if path is None:
        return SiteMap(installed=installed)
    found = read_document(path, MapFile, TaskError)
    return SiteMap(found.sites, found.hosts, installed, path)


def write_new_sites(sites: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Write the manifest of each site; one that is there stays as it is.

    Returns:
        The files that were written.
    """
    written: list[Path] = []
    try:
        for name, origin in sites.items():
            path = folder / name / "site.yaml"
            if path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            host = origin.partition("://")[2]
            path.write_text(_MANIFEST.format(name=name, host=host, origin=origin))
            written.append(path)
    except OSError as cause:
        raise UsageError(f"--new-sites: {folder} cannot be written: {cause.strerror}") from cause
    return tuple(written)


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
        """Return the site of a URL's host."""
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
        raise NoHostError(f"'{url}' is no URL: {cause}") from cause
    if parts.scheme not in {"http", "https"} or not _HOST.fullmatch(host):
        raise NoHostError(f"'{url}' has no host of the web")
    return parts.scheme, host


def site_name(host: str) -> str:
    """Return the name of the site that stands for a host: `www.gamestop.com` is `gamestop-com`."""
    name = host.removeprefix("www.").replace(".", "-")
    if not name[0].isalpha():
        name = f"w-{name}"
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - _DIGEST - 1]}-{sha256(host.encode()).hexdigest()[:_DIGEST]}"
