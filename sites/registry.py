"""All sites of this installation, and the way between a URL and its logical form."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from arena_core.errors import ManifestError, UnknownNameError
from arena_core.names import offered
from arena_core.worlds import World
from sites.documents import open_document, validated
from sites.manifest import Image, Site
from sites.routes import RouteForm, logical_path
from sites.upstreams import Upstreams, upstream_of, url_at

# The images of your own sites are below it; Arena's own are below `arena/`.
OWN_IMAGES: Final = "own/"
ARENA_IMAGES: Final = "arena/"
# What every image of Arena's begins with.
BASE_IMAGE: Final = "debian:bookworm-slim"
# `all` means every site on the command line; the others are folders of docker/ beside the sites',
# which a Dockerfile names in the same way.
RESERVED_NAMES: Final = frozenset({"all", "base", "shop-live", "supervisor", "talk", "wiki-live"})

_HUB: Final = ("docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/")
_UNDER_WAY: Final = ("-unsealed", "-pulled")


OWN_SITES: Final = "arena-sites"
OWN_SITES_VARIABLE: Final = "ARENA_SITES"
WHERE_OWN_SITES_ARE: Final = (
    f"sites of your own are read from the folder that {OWN_SITES_VARIABLE} names, else from"
    f" ./{OWN_SITES}"
)
_MANIFEST: Final = "site.yaml"
_MISNAMED: Final = "site.yml"


def image_name(reference: str) -> str:
    """Return the one spelling of an image's name: without the default registry, with a version.

    `docker.io/arena/shop:1` and `arena/shop:1` are one image to the engine.
    """
    name = reference.partition("@")[0]
    for prefix in _HUB:
        name = name.removeprefix(prefix)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def own_site_fault(site: Site, others: Iterable[Site]) -> tuple[str, str] | None:
    """Return field and reason where a site of your own takes what is another's; None if nowhere."""
    known = tuple(others)
    faults = chain(_name_faults(site, known), _host_faults(site, known), _image_faults(site, known))
    return next(faults, None)


def _name_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    if site.name in RESERVED_NAMES:
        yield "name", f"'{site.name}' is a word of Arena's: give the site another name"
    if any(other.name == site.name for other in others):
        yield "name", f"there is a site '{site.name}' already: give the site another name"


def _host_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    for place, host in _hosts(site):
        for other in others:
            for _, taken in _hosts(other):
                if host == taken:
                    yield place, f"'{host}' belongs to site '{other.name}' already"
                elif host.endswith(f".{taken}") or taken.endswith(f".{host}"):
                    message = f"'{host}' and '{taken}' of site '{other.name}' would share cookies"
                    if place == "host":
                        yield place, message
    if site.live is not None and site.live.host == site.host:
        yield "live.origin", f"'{site.host}' is the replica's host"


def _hosts(site: Site) -> Iterator[tuple[str, str]]:
    yield "host", site.host
    if site.live is not None:
        yield "live.origin", site.live.host


def _image_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    taken = {image_name(image.tag): other.name for other in others for _, image in _images(other)}
    for place, image in _images(site):
        name = image_name(image.tag)
        if not image.tag.startswith(OWN_IMAGES):
            message = f"'{image.tag}' must begin with {OWN_IMAGES}, as images of your own sites do"
            yield f"{place}.tag", message
        elif name in taken:
            yield f"{place}.tag", f"'{image.tag}' belongs to site '{taken[name]}' already"
        elif name.endswith(_UNDER_WAY):
            message = f"'{image.tag}' must not end as images under way are called"
            yield f"{place}.tag", message
        taken[name] = site.name
        if image.published is not None:
            # To pull an image gives it its published name on this machine, too.
            pulled = image_name(image.published)
            of_arena = pulled.startswith(ARENA_IMAGES) or pulled == image_name(BASE_IMAGE)
            owner = "Arena" if of_arena else taken.get(pulled)
            if owner is not None and pulled != name:
                message = f"'{image.published}' is an image of {owner}'s: pulling would replace it"
                yield f"{place}.published", message


def _images(site: Site) -> Iterator[tuple[str, Image]]:
    yield "image", site.image
    if site.live is not None and site.live.staged is not None:
        yield "live.staged.image", site.live.staged.image


_SHIPPED: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class SiteRegistry:
    """The known sites by name.

    Attributes:
        own: the folders of sites that do not ship with Arena, by name: a site's manifest is in
            it, and the files of its image in `docker/` below.
        broken: what is wrong with the manifests of own sites that cannot be used, by name; there
            may be a usable site of that name, which such a one tried to replace.
    """

    sites: Mapping[str, Site]
    own: Mapping[str, Path] = field(default_factory=dict)
    broken: Mapping[str, ManifestError] = field(default_factory=dict)

    def site(self, name: str) -> Site:
        if name not in self.sites and name in self.broken:
            raise self.broken[name]
        if name not in self.sites:
            message = f"unknown site '{name}'; {offered(name, self.sites)}"
            raise UnknownNameError(message, hint=WHERE_OWN_SITES_ARE)
        return self.sites[name]

    def manifest(self, name: str) -> str:
        """Return the path of a site's manifest, as a person finds it."""
        if name in self.own:
            return str(self.own[name] / _MANIFEST)
        return str(_SHIPPED / name / _MANIFEST)

    def select(self, names: Iterable[str]) -> tuple[Site, ...]:
        """Return the named sites in the order given, all of them where none is named."""
        wanted = tuple(dict.fromkeys(names))
        return tuple(self.site(name) for name in wanted or sorted(self.sites))

    def upstreams(
        self,
        names: Iterable[str],
        world: World,
        *,
        staged: bool = False,
        taped: Container[str] = frozenset(),
    ) -> Upstreams:
        """Return what answers for the named sites in a world; for those in `taped`, a tape."""
        return Upstreams(
            world,
            {
                name: upstream_of(self.site(name), world, staged=staged, taped=name in taped)
                for name in names
            },
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
        """Map `site:/path?query` to the URL of that page in a world."""
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
    """Return the folders of your own sites: those in ARENA_SITES, else ./arena-sites."""
    named = [Path(one) for one in os.environ.get(OWN_SITES_VARIABLE, "").split(os.pathsep) if one]
    for folder in named:
        _refuse_unless_folder_of_sites(folder, f"{OWN_SITES_VARIABLE} names")
    here = Path(OWN_SITES)
    found = named or ([here] if here.is_dir() else [])
    return tuple(folder.resolve() for folder in found)


def sites_in(folder: Path) -> Path:
    """Return a folder of sites that a person named by its full path."""
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


def load_registry(extra: Iterable[Path] | None = None) -> SiteRegistry:
    """Read the manifests that ship with Arena, and those of your own sites.

    A site of your own whose manifest is wrong, or which takes what is another site's, is kept in
    `SiteRegistry.broken`: it stands in nobody's way who does not ask for it.

    Args:
        extra: folders that hold one folder per site with its site.yaml; where omitted, what
            `own_site_folders` finds.
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
    return SiteRegistry(sites, own, broken)


def _manifests(folder: Path) -> list[Path]:
    """Return the manifests of a folder of sites, also of one whose manifest has a wrong name."""
    written = {path.parent: path for path in folder.glob(f"*/{_MISNAMED}")}
    written |= {path.parent: path for path in folder.glob(f"*/{_MANIFEST}")}
    return [written[folder] for folder in sorted(written)]


def _read(path: Path) -> Site:
    """Read one manifest; its site is called as its folder is."""
    if path.name == _MISNAMED:
        raise ManifestError(f"{path}: must be called {_MANIFEST}")
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
        raise ManifestError(f"{path}:{line}: {field}: {reason}")
    return site
