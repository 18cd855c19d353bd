"""What answers for a site in a world: one value, found once, that everything else reads.

Whoever must tell the cases apart matches on the union and ends with `assert_never`, so that a
further case is found by the type checker wherever it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final, assert_never

from arena_core.errors import ManifestError, UnknownNameError, UsageError
from arena_core.worlds import World
from sites.accounts import Role
from sites.manifest import Live, Site, Staged
from sites.routes import RouteForm, concrete_path

# What a browser shows before it was told to open anything.
BLANK: Final = "about:blank"


class UpstreamKind(StrEnum):
    """What answered for a site, as run folders say it."""

    REPLICA = "replica"
    LIVE = "live"
    STAGED = "staged"


@dataclass(frozen=True, slots=True)
class ReplicaUpstream:
    """A replica of the site, in a container on this machine."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.REPLICA

    site: Site

    @property
    def origin(self) -> str:
        """Scheme and host as a browser sees them."""
        return f"http://{self.site.host}"

    @property
    def roles(self) -> Mapping[str, Role]:
        """Who can log in here, and how."""
        return self.site.roles

    @property
    def route_form(self) -> RouteForm:
        """Which form its paths have."""
        return RouteForm.REPLICA


@dataclass(frozen=True, slots=True)
class LiveUpstream:
    """The site's live origin on the real web."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.LIVE

    site: Site
    live: Live

    @property
    def origin(self) -> str:
        """Scheme and host as a browser sees them."""
        return self.live.origin

    @property
    def roles(self) -> Mapping[str, Role]:
        """Who can log in here, and how."""
        return self.live.roles

    @property
    def route_form(self) -> RouteForm:
        """Which form its paths have."""
        return RouteForm.LIVE


@dataclass(frozen=True, slots=True)
class StagedUpstream:
    """A stand-in on this machine that answers under the live origin's name."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.STAGED

    site: Site
    live: Live
    staged: Staged

    @property
    def origin(self) -> str:
        """Scheme and host as a browser sees them."""
        return self.live.origin

    @property
    def roles(self) -> Mapping[str, Role]:
        """Who can log in here, and how."""
        return self.live.roles

    @property
    def route_form(self) -> RouteForm:
        """Which form its paths have."""
        return RouteForm.LIVE


# What answers under the live origin's name.
OriginUpstream = LiveUpstream | StagedUpstream
Upstream = ReplicaUpstream | LiveUpstream | StagedUpstream


def upstream_of(site: Site, world: World, *, staged: bool = False) -> Upstream:
    """Return what answers for a site in a world.

    Args:
        site: which.
        world: offline it is the replica; online the live origin, where the site has one.
        staged: live origins are staged on this machine.

    Raises:
        UsageError: the live origin is to be staged, and the manifest does not say how.
    """
    match world:
        case World.OFFLINE:
            return ReplicaUpstream(site)
        case World.ONLINE:
            if site.live is None:
                return ReplicaUpstream(site)
            if not staged:
                return LiveUpstream(site, site.live)
            if site.live.staged is None:
                message = f"site '{site.name}' has no staged live origin"
                raise UsageError(message, hint="leave --staged away, or name other sites")
            return StagedUpstream(site, site.live, site.live.staged)
        case _:
            assert_never(world)


@dataclass(frozen=True, slots=True)
class Upstreams:
    """What answers for each site of a run or an episode, in one world.

    Attributes:
        by_site: by the site's name, in the order in which the tasks name them.
    """

    world: World
    by_site: Mapping[str, Upstream]

    def of(self, name: str) -> Upstream:
        """Return what answers for a site.

        Raises:
            UnknownNameError: the site is none of these.
        """
        if name not in self.by_site:
            there_are = ", ".join(sorted(self.by_site)) or "none"
            message = f"site '{name}' is not visited here; there are: {there_are}"
            raise UnknownNameError(message)
        return self.by_site[name]

    def only(self, names: Iterable[str]) -> Upstreams:
        """Return those of the named sites.

        Raises:
            UnknownNameError: one is none of these.
        """
        return Upstreams(self.world, {name: self.of(name) for name in names})

    def url(self, logical: str) -> str:
        """Return the URL under which the browser finds `site:/path?query#fragment`.

        The empty page is its own URL, on no site.

        Raises:
            UnknownNameError: the site is none of these.
            ManifestError: a route rule knows the path, but not its form at this upstream.
        """
        if logical == BLANK:
            return BLANK
        name, _, rest = logical.partition(":")
        return url_at(self.of(name), rest)

    @property
    def kinds(self) -> dict[str, UpstreamKind]:
        """What kind of upstream answers, by site."""
        return {name: one.kind for name, one in self.by_site.items()}

    @property
    def replicas(self) -> tuple[str, ...]:
        """The sites that a replica answers for."""
        return tuple(name for name, one in self.by_site.items() if isinstance(one, ReplicaUpstream))

    @property
    def staged(self) -> tuple[StagedUpstream, ...]:
        """The live origins that are staged."""
        return tuple(one for one in self.by_site.values() if isinstance(one, StagedUpstream))


def url_at(upstream: Upstream, page: str) -> str:
    """Return the URL of a page at an upstream.

    Args:
        upstream: where.
        page: logical path, with query and fragment.

    Raises:
        ManifestError: a route rule knows the path, but not its form at this upstream.
    """
    path, mark, tail = _split_path(page or "/")
    concrete = concrete_path(upstream.site.routes, path, upstream.route_form)
    if concrete is None:
        message = (
            f"site '{upstream.site.name}': '{path}' has no form on its"
            f" {kind_in_words(upstream)}: its route needs more"
        )
        raise ManifestError(message, hint="name the page by a path that the route can fill")
    return f"{upstream.origin}{concrete}{mark}{tail}"


def is_visited_live(upstream: Upstream) -> bool:
    """Whether the browser goes to the live origin's own host, whoever answers there."""
    match upstream:
        case ReplicaUpstream():
            return False
        case LiveUpstream() | StagedUpstream():
            return True
        case _:
            assert_never(upstream)


def kind_in_words(upstream: Upstream) -> str:
    """Say in words what answers."""
    match upstream:
        case ReplicaUpstream():
            return "replica"
        case LiveUpstream():
            return "live origin"
        case StagedUpstream():
            return "staged live origin"
        case _:
            assert_never(upstream)


def _split_path(rest: str) -> tuple[str, str, str]:
    for position, character in enumerate(rest):
        if character in "?#":
            return rest[:position], character, rest[position + 1 :]
    return rest, "", ""
