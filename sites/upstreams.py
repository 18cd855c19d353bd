"""What answers for a site in a world: one value, found once, that everything else reads.

Whoever must tell the cases apart matches on the union and ends with `assert_never`, so that a
further case is found by the type checker wherever it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import ClassVar, Final, assert_never

from arena_core.errors import ManifestError, UnknownNameError, UsageError
from arena_core.names import offered
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
    TAPE = "tape"


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
class _NamedAsLive:
    """Whatever answers under the name of the site's live origin."""

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
class LiveUpstream(_NamedAsLive):
    """The site's live origin on the real web."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.LIVE


@dataclass(frozen=True, slots=True)
class StagedUpstream(_NamedAsLive):
    """A stand-in on this machine that answers under the live origin's name."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.STAGED

    staged: Staged


@dataclass(frozen=True, slots=True)
class TapeUpstream(_NamedAsLive):
    """Recorded traffic of the live origin, replayed under its name."""

    kind: ClassVar[UpstreamKind] = UpstreamKind.TAPE

    @property
    def roles(self) -> Mapping[str, Role]:
        """Nobody can log in: a tape holds no cookie, and nothing that would give one."""
        return {}


# What answers under the live origin's name, and is asked over the network.
OriginUpstream = LiveUpstream | StagedUpstream
Upstream = ReplicaUpstream | LiveUpstream | StagedUpstream | TapeUpstream


def upstream_of(site: Site, world: World, *, staged: bool = False, taped: bool = False) -> Upstream:
    """Return what answers for a site in a world; a tape does so offline alone."""
    match world:
        case World.OFFLINE:
            if not taped:
                return ReplicaUpstream(site)
            if site.live is None:
                message = f"site '{site.name}' has no live origin that a tape could be of"
                raise UsageError(message, hint="omit its --tape")
            return TapeUpstream(site, site.live)
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
        """Return what answers for a site."""
        if name not in self.by_site:
            message = f"site '{name}' is not visited here; {offered(name, self.by_site)}"
            raise UnknownNameError(message)
        return self.by_site[name]

    def only(self, names: Iterable[str]) -> Upstreams:
        """Return those of the named sites."""
        return Upstreams(self.world, {name: self.of(name) for name in names})

    def url(self, logical: str) -> str:
        """Return the URL under which the browser finds `site:/path?query#fragment`.

        The empty page is its own URL, on no site.
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
    def taped(self) -> tuple[TapeUpstream, ...]:
        """The sites that a tape answers for."""
        return tuple(one for one in self.by_site.values() if isinstance(one, TapeUpstream))

    @property
    def staged(self) -> tuple[StagedUpstream, ...]:
        """The live origins that are staged."""
        return tuple(one for one in self.by_site.values() if isinstance(one, StagedUpstream))


def url_at(upstream: Upstream, page: str) -> str:
    """Return the URL of a page at an upstream."""
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
    """Whether the browser goes to the live origin's own host, and something serves there."""
    match upstream:
        case ReplicaUpstream() | TapeUpstream():
            return False
        case LiveUpstream() | StagedUpstream():
            return True
        case _:
            assert_never(upstream)


def kind_in_words(upstream: Upstream) -> str:
    match upstream:
        case ReplicaUpstream():
            return "replica"
        case LiveUpstream():
            return "live origin"
        case StagedUpstream():
            return "staged live origin"
        case TapeUpstream():
            return "tape"
        case _:
            assert_never(upstream)


def _split_path(rest: str) -> tuple[str, str, str]:
    for position, character in enumerate(rest):
        if character in "?#":
            return rest[:position], character, rest[position + 1 :]
    return rest, "", ""


def sql_fault(upstream: Upstream) -> str | None:
    """Say why no SQL can be asked of an upstream; None where it can."""
    return _fault(upstream, "database", _database_fault)


def changes_fault(upstream: Upstream) -> str | None:
    """Say why it cannot be seen what changed at an upstream; None where it can."""
    return _fault(upstream, "database")


def shell_fault(upstream: Upstream) -> str | None:
    """Say why no command can be run at an upstream; None where it can."""
    return _fault(upstream, "replica to run a command in")


def api_login_fault(upstream: Upstream, role: str) -> str | None:
    """Say why a role has no login to the API of an upstream; None where it has one."""
    return _fault(upstream, "API login", partial(_role_fault, name=role))


def _fault(
    upstream: Upstream, what: str, of_replica: Callable[[Site], str | None] = lambda _: None
) -> str | None:
    """Say that there is none of these behind what is no replica, or what a replica lacks."""
    match upstream:
        case ReplicaUpstream(site=site):
            return of_replica(site)
        case LiveUpstream(site=site) | StagedUpstream(site=site) | TapeUpstream(site=site):
            return f"there is no {what} behind the live '{site.name}'"
        case _:
            assert_never(upstream)


def _database_fault(site: Site) -> str | None:
    return None if site.database else f"site '{site.name}' has no database"


def _role_fault(site: Site, name: str) -> str | None:
    with_api = sorted(one for one, role in site.roles.items() if role.api)
    if name in with_api:
        return None
    return f"site '{site.name}' has no API login of role '{name}'; {offered(name, with_api)}"
