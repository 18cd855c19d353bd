"""All sites of this installation, and the way between a URL and its logical form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from sites.documents import read_document
from sites.errors import ManifestError, UnknownNameError
from sites.manifest import Site
from sites.routes import concrete_path, logical_path
from sites.worlds import World

OWN_SITES: Final = "arena-sites"
OWN_SITES_VARIABLE: Final = "ARENA_SITES"


@dataclass(frozen=True, slots=True)
class Atlas:
    """The known sites by name.

    Attributes:
        own: the folders of sites that do not travel with Arena, by name: a site's manifest is in
            it, and the files of its image in `docker/` below.
    """

    sites: Mapping[str, Site]
    own: Mapping[str, Path] = field(default_factory=dict)

    def site(self, name: str) -> Site:
        """Return one site.

        Raises:
            UnknownNameError: naming the sites there are.
        """
        if name not in self.sites:
            message = f"unknown site '{name}'; there are: {', '.join(sorted(self.sites))}"
            raise UnknownNameError(message)
        return self.sites[name]

    def select(self, names: Iterable[str]) -> tuple[Site, ...]:
        """Return the named sites in the order given, all of them where none is named."""
        wanted = tuple(dict.fromkeys(names))
        return tuple(self.site(name) for name in wanted or sorted(self.sites))

    def origin(self, site: Site, world: World) -> str:
        """Return scheme and host under which the browser sees a site in a world."""
        match world:
            case World.OFFLINE:
                return f"http://{site.host}"
            case World.ONLINE:
                return site.live.origin if site.live else f"http://{site.host}"

    def logical(self, url: str) -> str | None:
        """Map a URL as the browser shows it to `site:/path?query#fragment`.

        Returns:
            None for a URL of no site (about:blank, a refused host, what is no URL at all).
        """
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        for site in self.sites.values():
            world = self._face(site, parts.hostname or "")
            if world is not None:
                path = logical_path(site.routes, parts.path or "/", world)
                query = f"?{parts.query}" if parts.query else ""
                fragment = f"#{parts.fragment}" if parts.fragment else ""
                return f"{site.name}:{path}{query}{fragment}"
        return None

    def url(self, logical: str, world: World) -> str:
        """Map `site:/path?query` to the URL of that page in a world.

        Raises:
            UnknownNameError: no such site.
            ManifestError: a route rule knows the path, but not its form in this world.
        """
        name, _, rest = logical.partition(":")
        site = self.site(name)
        path, mark, tail = _split_path(rest or "/")
        face = world if site.live else World.OFFLINE
        concrete = concrete_path(site.routes, path, face)
        if concrete is None:
            message = (
                f"site '{name}': '{path}' has no form in the {face} world: its route needs more"
            )
            raise ManifestError(message, hint="name the page by a path that the route can fill")
        return f"{self.origin(site, world)}{concrete}{mark}{tail}"

    def _face(self, site: Site, host: str) -> World | None:
        if host == site.host:
            return World.OFFLINE
        if site.live and host == site.live.host:
            return World.ONLINE
        return None


def _split_path(rest: str) -> tuple[str, str, str]:
    for position, character in enumerate(rest):
        if character in "?#":
            return rest[:position], character, rest[position + 1 :]
    return rest, "", ""


def own_site_folders() -> tuple[Path, ...]:
    """Return the folders of sites of one's own: those in ARENA_SITES, else ./arena-sites.

    Raises:
        ManifestError: a folder that ARENA_SITES names is not there.
    """
    named = [Path(one) for one in os.environ.get(OWN_SITES_VARIABLE, "").split(os.pathsep) if one]
    for folder in named:
        if not folder.is_dir():
            message = f"{OWN_SITES_VARIABLE} names {folder}, which is no folder"
            raise ManifestError(message)
    here = Path(OWN_SITES)
    found = named or ([here] if here.is_dir() else [])
    return tuple(folder.resolve() for folder in found)


def load_atlas(extra: Iterable[Path] | None = None) -> Atlas:
    """Read the manifests that travel with Arena, and those of sites of one's own.

    Args:
        extra: folders that hold one folder per site with its site.yaml; where omitted, what
            `own_site_folders` finds.

    Raises:
        ManifestError: one line with file, line, field and what is allowed.
    """
    sites: dict[str, Site] = {}
    own: dict[str, Path] = {}
    shipped = Path(__file__).parent
    for folder in (shipped, *(own_site_folders() if extra is None else extra)):
        for path in sorted(folder.glob("*/site.yaml")):
            site = read_document(path, Site, ManifestError)
            if site.name != path.parent.name:
                message = f"{path}:1: name: must equal the folder's name (found '{site.name}')"
                raise ManifestError(message)
            taken = next((other for other in sites.values() if other.host == site.host), None)
            if taken is not None and taken.name != site.name:
                message = f"{path}:1: host: '{site.host}' belongs to site '{taken.name}' already"
                raise ManifestError(message)
            if site.name in sites:
                message = f"{path}:1: name: there is a site '{site.name}' already"
                raise ManifestError(message, hint="give the site and its folder another name")
            sites[site.name] = site
            if folder != shipped:
                own[site.name] = path.parent
    return Atlas(sites, own)
