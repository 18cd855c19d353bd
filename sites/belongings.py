"""What a site of one's own may be called: names, hosts and images that belong to no other site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from sites.manifest import Image, Site

# The images of one's own sites are below it; Arena's own are below `arena/`.
OWN_IMAGES: Final = "own/"
ARENA_IMAGES: Final = "arena/"
# What every image of Arena's begins with.
BASE_IMAGE: Final = "debian:bookworm-slim"
# `all` means every site on the command line; the others are folders of docker/ beside the sites',
# which a Dockerfile names in the same way.
RESERVED_NAMES: Final = frozenset({"all", "base", "shop-live", "supervisor", "wiki-live"})

_HUB: Final = ("docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/")
_UNDER_WAY: Final = ("-unsealed", "-pulled")


def image_name(reference: str) -> str:
    """Return the one spelling of an image's name: without the default registry, with a version.

    `docker.io/arena/shop:1` and `arena/shop:1` are one image to the engine.
    """
    name = reference.partition("@")[0]
    for prefix in _HUB:
        name = name.removeprefix(prefix)
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def own_site_fault(site: Site, others: Iterable[Site]) -> tuple[str, str] | None:
    """Return field and reason where a site of one's own takes what is another's; None if nowhere.

    Args:
        site: not one of those that travel with Arena.
        others: the sites that were there before it.
    """
    known = tuple(others)
    faults = chain(_name_faults(site, known), _host_faults(site, known), _image_faults(site, known))
    return next(faults, None)


def _name_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    if site.name in RESERVED_NAMES:
        yield "name", f"'{site.name}' is a word of Arena's: give the site another name"
    if any(other.name == site.name for other in others):
        yield "name", f"there is a site '{site.name}' already: give the site another name"


def _host_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    for field, host in _hosts(site):
        for other in others:
            for _, taken in _hosts(other):
                if host == taken:
                    yield field, f"'{host}' belongs to site '{other.name}' already"
                elif host.endswith(f".{taken}") or taken.endswith(f".{host}"):
                    message = f"'{host}' and '{taken}' of site '{other.name}' would share cookies"
                    if field == "host":
                        yield field, message
    if site.live is not None and site.live.host == site.host:
        yield "live.origin", f"'{site.host}' is the replica's host"


def _hosts(site: Site) -> Iterator[tuple[str, str]]:
    yield "host", site.host
    if site.live is not None:
        yield "live.origin", site.live.host


def _image_faults(site: Site, others: Iterable[Site]) -> Iterator[tuple[str, str]]:
    taken = {image_name(image.tag): other.name for other in others for _, image in _images(other)}
    for field, image in _images(site):
        name = image_name(image.tag)
        if not image.tag.startswith(OWN_IMAGES):
            message = f"'{image.tag}' must begin with {OWN_IMAGES}, as images of your own sites do"
            yield f"{field}.tag", message
        elif name in taken:
            yield f"{field}.tag", f"'{image.tag}' belongs to site '{taken[name]}' already"
        elif name.endswith(_UNDER_WAY):
            message = f"'{image.tag}' must not end as images under way are called"
            yield f"{field}.tag", message
        taken[name] = site.name
        if image.published is not None:
            # To pull an image gives it its published name on this machine, too.
            pulled = image_name(image.published)
            of_arena = pulled.startswith(ARENA_IMAGES) or pulled == image_name(BASE_IMAGE)
            owner = "Arena" if of_arena else taken.get(pulled)
            if owner is not None and pulled != name:
                message = f"'{image.published}' is an image of {owner}'s: pulling would replace it"
                yield f"{field}.published", message


def _images(site: Site) -> Iterator[tuple[str, Image]]:
    yield "image", site.image
    if site.live is not None and site.live.staged is not None:
        yield "live.staged.image", site.live.staged.image
