"""Which sites here stand for the sites and hosts of a published task set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import BeforeValidator, Field

from arena_core.errors import TaskError
from sites.documents import read_document
from sites.fields import Host, Name, SitePath, Strict, written
from sites.manifest import Site


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
    """

    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    live: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, sites: Iterable[Site]) -> Installed:
        """Return what manifests say."""
        known = tuple(sites)
        return cls(
            {site.name: f"http://{site.host}" for site in known},
            {site.live.host: site.name for site in known if site.live is not None},
        )


@dataclass(frozen=True, slots=True)
class SiteMap:
    """The choices of a person; a format has its own for what they leave open.

    Attributes:
        sites: by the name that the published set has for a site.
        hosts: the site here by a host of the real web.
        origins: scheme and host of the replicas by site, of those that are installed here.
        live: the site by the host of its live origin, of those that are installed here.
        path: of the file that says so; None where there is none.
    """

    sites: Mapping[str, MappedSite] = field(default_factory=lambda: MappingProxyType({}))
    hosts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    live: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    path: Path | None = None

    def origin(self, site: str) -> str:
        """Return the origin of a site's replica; as Arena names hosts where it is not here."""
        return self.origins.get(site, f"http://{site}.arena.test")

    def site(self, name: str, defaults: Mapping[str, MappedSite]) -> MappedSite | None:
        """Return what stands for a site of the published set; None where nothing is known."""
        return self.sites.get(name) or defaults.get(name)

    def refuse_unknown(self, known: Mapping[str, object]) -> None:
        """Refuse a map that names sites which the format does not have: they would do nothing.

        Raises:
            TaskError: names the first, and those that there are.
        """
        for name in self.sites:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                message = f"{self.path}: sites.{name}: no site of this format; it has: {listed}"
                raise TaskError(message)


def read_site_map(path: Path | None, installed: Installed) -> SiteMap:
    """Read a map.

    Args:
        path: of its file; what the format has where None.
        installed: the sites that are known here.

    Raises:
        TaskError: one line with file, line, field and what is allowed.
    """
    if path is None:
        return SiteMap(origins=installed.origins, live=installed.live)
    found = read_document(path, MapFile, TaskError)
    return SiteMap(found.sites, found.hosts, installed.origins, installed.live, path)
