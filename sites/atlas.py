"""All sites of this installation, and the way between a URL and its logical form."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from arena_core.errors import ManifestError, UnknownNameError
from arena_core.worlds import World
from sites.belongings import own_site_fault
from sites.documents import open_document, validated
from sites.manifest import Site
from sites.routes import RouteForm, logical_path
from sites.upstreams import Upstreams, upstream_of, url_at

OWN_SITES: Final = "arena-sites"
OWN_SITES_VARIABLE: Final = "ARENA_SITES"
_SHIPPED: Final = Path(__file__).parent
_MANIFEST: Final = "site.yaml"
_MISNAMED: Final = "site.yml"


@dataclass(frozen=True, slots=True)
class Atlas:
    """The known sites by name.

    Attributes:
        own: the folders of sites that do not travel with Arena, by name: a site's manifest is in
            it, and the files of its image in `docker/` below.
        broken: what is wrong with the manifests of own sites that cannot be used, by name; there
            may be a usable site of that name, which such a one tried to replace.
    """

    sites: Mapping[str, Site]
    own: Mapping[str, Path] = field(default_factory=dict)
    broken: Mapping[str, ManifestError] = field(default_factory=dict)

    def site(self, name: str) -> Site:
        """Return one site.

        Raises:
            UnknownNameError: naming the sites there are.
            ManifestError: there is one, but its manifest is wrong.
        """
        if name not in self.sites and name in self.broken:
            raise self.broken[name]
        if name not in self.sites:
            message = f"unknown site '{name}'; there are: {', '.join(sorted(self.sites))}"
            raise UnknownNameError(message)
        return self.sites[name]

    def manifest(self, name: str) -> str:
        """Return the path of a site's manifest, as a person finds it."""
        if name in self.own:
            return str(self.own[name] / _MANIFEST)
        return f"sites/{name}/{_MANIFEST}"

    def select(self, names: Iterable[str]) -> tuple[Site, ...]:
        """Return the named sites in the order given, all of them where none is named."""
        wanted = tuple(dict.fromkeys(names))
        return tuple(self.site(name) for name in wanted or sorted(self.sites))

    def upstreams(self, names: Iterable[str], world: World, *, staged: bool = False) -> Upstreams:
        """Return what answers for the named sites in a world.

        Args:
            names: of the sites.
            world: in which they are visited.
            staged: live origins are staged on this machine.

        Raises:
            UnknownNameError: no such site.
            UsageError: the manifest of a live origin does not say how to stage it.
        """
        return Upstreams(
            world, {name: upstream_of(self.site(name), world, staged=staged) for name in names}
        )

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
            form = _form_at(site, parts.hostname or "")
            if form is not None:
                path = logical_path(site.routes, parts.path or "/", form)
                query = f"?{parts.query}" if parts.query else ""
                fragment = f"#{parts.fragment}" if parts.fragment else ""
                return f"{site.name}:{path}{query}{fragment}"
        return None

    def url(self, logical: str, world: World) -> str:
        """Map `site:/path?query` to the URL of that page in a world.

        Raises:
            UnknownNameError: no such site.
            ManifestError: a route rule knows the path, but not its form there.
        """
        name, _, rest = logical.partition(":")
        return url_at(upstream_of(self.site(name), world), rest)


def _form_at(site: Site, host: str) -> RouteForm | None:
    """Return in which form a host has the paths of a site; None where it is not the site's."""
    if host == site.host:
        return RouteForm.REPLICA
    if site.live and host == site.live.host:
        return RouteForm.LIVE
    return None


def own_site_folders() -> tuple[Path, ...]:
    """Return the folders of sites of one's own: those in ARENA_SITES, else ./arena-sites.

    Raises:
        ManifestError: what ARENA_SITES names is no folder of sites.
    """
    named = [Path(one) for one in os.environ.get(OWN_SITES_VARIABLE, "").split(os.pathsep) if one]
    for folder in named:
        _refuse_unless_folder_of_sites(folder, f"{OWN_SITES_VARIABLE} names")
    here = Path(OWN_SITES)
    found = named or ([here] if here.is_dir() else [])
    return tuple(folder.resolve() for folder in found)


def sites_in(folder: Path) -> Path:
    """Return a folder of sites that a person named by its full path.

    Raises:
        ManifestError: it is none.
    """
    _refuse_unless_folder_of_sites(folder, "the sites' folder is")
    return folder.resolve()


def _refuse_unless_folder_of_sites(folder: Path, what: str) -> None:
    if not _is_dir(folder):
        message = f"{what} {folder}, which is no folder that can be read"
        hint = "name the folder that holds one folder per site; `arena site new NAME` makes one"
        raise ManifestError(message, hint=hint)
    if (folder / _MANIFEST).is_file():
        message = f"{what} {folder}, which is the folder of one site"
        raise ManifestError(message, hint=f"name the folder above it: {folder.absolute().parent}")


def _is_dir(folder: Path) -> bool:
    try:
        return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
    except OSError:
        return False


def load_atlas(extra: Iterable[Path] | None = None) -> Atlas:
    """Read the manifests that travel with Arena, and those of sites of one's own.

    A site of one's own whose manifest is wrong, or which takes what is another site's, is kept in
    `Atlas.broken`: it stands in nobody's way who does not ask for it.

    Args:
        extra: folders that hold one folder per site with its site.yaml; where omitted, what
            `own_site_folders` finds.

    Raises:
        ManifestError: of a site that travels with Arena, or a folder that is none; one line with
            file, line, field and what is allowed.
    """
    sites = {site.name: site for site in map(_read, _manifests(_SHIPPED))}
    own: dict[str, Path] = {}
    broken: dict[str, ManifestError] = {}
    for folder in own_site_folders() if extra is None else extra:
        for path in _manifests(folder):
            try:
                site = _read_own(path, sites.values())
            except ManifestError as error:
                broken.setdefault(path.parent.name, error)
            else:
                sites[site.name] = site
                own[site.name] = path.parent
    return Atlas(sites, own, broken)


def _manifests(folder: Path) -> list[Path]:
    """Return the manifests of a folder of sites, also of one whose manifest has a wrong name."""
    written = {path.parent: path for path in folder.glob(f"*/{_MISNAMED}")}
    written |= {path.parent: path for path in folder.glob(f"*/{_MANIFEST}")}
    return [written[folder] for folder in sorted(written)]


def _read(path: Path) -> Site:
    """Read one manifest; its site is called as its folder is."""
    if path.name == _MISNAMED:
        message = f"{path}: must be called {_MANIFEST}"
        raise ManifestError(message)
    document = open_document(path, ManifestError)
    site = validated(document, Site, ManifestError)
    if site.name != path.parent.name:
        at = document.line(("name",))
        message = f"{path}:{at}: name: must equal the folder's name (found '{site.name}')"
        raise ManifestError(message)
    return site


def _read_own(path: Path, others: Iterable[Site]) -> Site:
    site = _read(path)
    fault = own_site_fault(site, others)
    if fault is not None:
        field, reason = fault
        line = open_document(path, ManifestError).line(field.split("."))
        message = f"{path}:{line}: {field}: {reason}"
        raise ManifestError(message)
    return site
