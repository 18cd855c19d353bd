"""What a site.yaml may say: the one description of a site that every other part reads."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, Field, field_validator, model_validator

from sites.accounts import Role
from sites.fields import FolderPath, Host, Line, Name, Port, SitePath, Strict, Tag, written
from sites.routes import RouteRule

_LAST_PORT = 65535

Reference = Annotated[
    str,
    written(
        r"[a-z0-9][a-z0-9._/:-]*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
        "an image's name in a registry, such as registry.example/my-shop:1",
    ),
]


class Build(Strict):
    """How an image is built: paths are inside docker/."""

    dockerfile: str
    context: tuple[str, ...] = Field(min_length=1)


class Image(Strict):
    """The image of a replica or of a staged live origin.

    Attributes:
        tag: the local name, `repository:tag`.
        build: how it is built here.
        published: where a registry has it; `arena pull` fetches it from there.
        archive: the file that has it, as its publisher calls it; `arena load` reads it.
        needs: local tags that the Dockerfile starts FROM, built first.
    """

    tag: Tag
    build: Build | None = None
    published: Reference | None = None
    archive: Line | None = None
    needs: tuple[Tag, ...] = ()

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Self:
        if self.build is None and self.published is None and self.archive is None:
            raise ValueError("an image needs `build`, `published` or `archive`")
        return self


class BakeStep(Strict):
    """A command that is run in a started container before its image is sealed.

    It is tried again until it succeeds: what it needs may still be starting.

    Attributes:
        run: the command and its arguments; `{host}` stands for the site's host name.
        timeout_s: until when it must have succeeded.
    """

    run: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=1)
    timeout_s: float = Field(default=180.0, gt=0, le=3600)


class Capability(StrEnum):
    """What a container's root may be allowed; none of it reaches the host or the network."""

    AUDIT_WRITE = "audit_write"
    CHOWN = "chown"
    DAC_OVERRIDE = "dac_override"
    FOWNER = "fowner"
    FSETID = "fsetid"
    KILL = "kill"
    NET_BIND_SERVICE = "net_bind_service"
    SETGID = "setgid"
    SETPCAP = "setpcap"
    SETUID = "setuid"
    SYS_CHROOT = "sys_chroot"


class ContainerOptions(Strict):
    """How an image that was not made for Arena is run.

    Attributes:
        command: in place of the image's own.
        environment: added to the image's.
        capabilities: what its root keeps. Images that begin as root and give up privileges
            themselves need some; Arena's own have none.
        shm_mb: size of `/dev/shm`; the engine's 64 MB where omitted.
    """

    command: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    capabilities: frozenset[Capability] = frozenset()
    shm_mb: int | None = Field(default=None, ge=1)


class Health(Strict):
    """A page that proves the application and its database: 200, and `contains` in its body."""

    path: SitePath
    contains: str = Field(min_length=1)
    timeout_s: float = Field(default=60.0, gt=0, le=600)


class Resources(Strict):
    """The limits a replica's container runs under."""

    memory_mb: int = Field(ge=16)
    cpus: float = Field(gt=0, allow_inf_nan=False)
    pids: int = Field(ge=8)


class DatabaseEngine(StrEnum):
    """What a site keeps its rows in.

    Checks, computed answers and probes ask all of them. The tables of MariaDB and SQLite are part
    of a fingerprint; a site on PostgreSQL says with probes what its state is. That nothing was
    written is shown by MariaDB's counters, and of SQLite by its file.
    """

    MARIADB = "mariadb"
    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"


class ServerDatabase(Strict):
    """The read-only account that checks and fingerprints use; `port` is the container's."""

    engine: Literal[DatabaseEngine.MARIADB, DatabaseEngine.POSTGRESQL]
    port: Port
    name: str
    user: str
    password: str


class FileDatabase(Strict):
    """One file that the application opens itself; what is read is a copy of it.

    Attributes:
        file: its path in the container; `-wal` and `-journal` beside it belong to it.
    """

    engine: Literal[DatabaseEngine.SQLITE]
    file: SitePath

    @property
    def own_files(self) -> tuple[str, ...]:
        """The file, and those that SQLite keeps beside it."""
        return (self.file, *(f"{self.file}-{part}" for part in ("wal", "shm", "journal")))


Database = Annotated[ServerDatabase | FileDatabase, Field(discriminator="engine")]


class StateFolder(Strict):
    """Where an image with Arena's supervisor keeps everything that may change.

    The rest of such a container is read-only, `/tmp` and `/run` apart; so nothing else can change.

    Attributes:
        folder: a volume, filled from the image's pristine copy at every start and rewind.
        port: where the supervisor reports the state's generation.
        memory_mb: keep the folder in memory, with at most so much; on disk where omitted.
        crash_safe: whether all that was answered for is there and whole after every process was
            killed at once. A state of such a site is taken while it runs: it is what a crash
            leaves. Another site's services are ended for it, and start again.
    """

    folder: FolderPath
    port: Port
    memory_mb: int | None = Field(default=None, ge=1)
    crash_safe: bool = False


class Probe(Strict):
    """One more fact that is state: the rows of a query, or what a page says.

    Attributes:
        sql: one SELECT, run by the read-only account.
        page: a path, fetched without a login.
        pattern: a regular expression; what its first group finds in the page is the fact.
    """

    name: Name
    sql: str | None = None
    page: SitePath | None = None
    pattern: str | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if (self.sql is None) == (self.page is None):
            raise ValueError("a probe needs either `sql` or `page`")
        if (self.page is None) != (self.pattern is None):
            raise ValueError("`page` and `pattern` belong together")
        return self

    @field_validator("pattern")
    @classmethod
    def _pattern_can_be_read(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            re.compile(pattern)
        except re.error as cause:
            raise ValueError(f"is no regular expression: {cause}") from cause
        return pattern


class FingerprintProbes(Strict):
    """What belongs to a replica's state, with the volatile parts left out.

    Attributes:
        volatile_tables: tables of the database that are no state (sessions, caches).
        volatile_columns: columns left out, by table.
        files: folders of the container whose trees and contents are state.
        probes: what the tables and files do not show.
    """

    volatile_tables: frozenset[str] = frozenset()
    volatile_columns: dict[str, frozenset[str]] = Field(default_factory=dict)
    files: tuple[FolderPath, ...] = ()
    probes: tuple[Probe, ...] = ()


class Clock(Strict):
    """What time, place and language a site believes in; the contract asks the site itself.

    Attributes:
        now: the moment at which the site's clock begins at every reset, and runs from; `real` where
            it follows the machine's.
        why: why it follows the machine's.
        zone: the time zone of the container and of the application.
        locale: the language of the pages, as their `<html lang>` begins.
    """

    now: Literal["real"] | AwareDatetime = "real"
    why: str = ""
    zone: str = "UTC"
    locale: Annotated[
        str, written(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]+)*", "a language, such as en or de-AT")
    ] = "en"

    @field_validator("zone")
    @classmethod
    def _zone_is_known(cls, zone: str) -> str:
        try:
            known = zone == "UTC" or bool(ZoneInfo(zone))
        except (KeyError, ValueError, OSError):  # no such zone; no relative path; a folder of zones
            known = False
        if not known:
            message = "must be a time zone that this machine knows, such as UTC or Europe/Lisbon"
            raise ValueError(message)
        return zone

    @property
    def begins(self) -> datetime | None:
        """The moment at which the clock begins, in UTC; None where it is the machine's."""
        return None if self.now == "real" else self.now.astimezone(UTC)


class Staged(Strict):
    """A stand-in for the live origin, for the demo and for tests: always labelled as staged.

    `port` speaks TLS with the demo's own certificate authority; `health` is asked over it.
    """

    image: Image
    port: Port
    health: Health
    resources: Resources = Resources(memory_mb=1024, cpus=2.0, pids=256)


class ConsentClick(Strict):
    """An element that answers a site's question about consent, by accessible role and name."""

    role: Annotated[str, written(r"[a-z]+", "an accessible role, such as button")] = "button"
    name: Line


class Live(Strict):
    """The site's counterpart on the real web.

    Attributes:
        origin: scheme and host, for example `https://en.wikipedia.org`.
        roles: how the same roles log in there; a role that is missing cannot be used online. Their
            passwords are in the environment, but for those of a site that is staged.
        pace_s: least time between two page loads of one episode, in seconds.
        requests_per_minute: of all episodes of a run together; no limit where omitted.
        concurrency: how many episodes of a run may visit the site at the same time.
        quota: how many requests a run may send; after them an episode is `unscored: blocked`.
        identify: added to the browser's user agent in requests to the origin, so that the site
            knows who comes.
        third_parties: hosts besides the origin that its pages may read from.
        consent: clicked in this order on a start page that shows it, before the agent begins.
    """

    origin: Annotated[
        str,
        written(
            r"https?://(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?",
            "scheme and host in lower case, such as https://en.wikipedia.org",
        ),
    ]
    roles: dict[Name, Role] = Field(default_factory=dict)
    pace_s: float = Field(default=0.0, ge=0, le=60)
    requests_per_minute: int | None = Field(default=None, ge=1, le=60_000)
    concurrency: int | None = Field(default=None, ge=1, le=1000)
    quota: int | None = Field(default=None, ge=1)
    identify: (
        Annotated[
            str, written(r"[!-~]+(?: [!-~]+)*", "printable ASCII, such as MyStudy/1.0 (+https://…)")
        ]
        | None
    ) = None
    third_parties: tuple[
        Annotated[
            str,
            written(
                r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?",
                "a host name in lower case, such as upload.wikimedia.org",
            ),
        ],
        ...,
    ] = ()
    consent: tuple[ConsentClick, ...] = ()
    staged: Staged | None = None

    @field_validator("origin")
    @classmethod
    def _port_exists(cls, origin: str) -> str:
        _, colon, port = origin.partition("://")[2].partition(":")
        if colon and not 1 <= int(port) <= _LAST_PORT:
            raise ValueError(f"must name a port from 1 to {_LAST_PORT}")
        return origin

    @model_validator(mode="after")
    def _has_no_passwords(self) -> Self:
        written_out = [name for name, role in self.roles.items() if role.variable is None]
        if written_out and self.staged is None:
            message = f"the password of role '{written_out[0]}' must not be in a file"
            raise ValueError(f"{message}: say `env:NAME`, and set that environment variable")
        return self

    @property
    def host(self) -> str:
        """The origin's host name."""
        return self.origin.split("://", 1)[1].split(":", 1)[0]

    @property
    def port(self) -> int:
        """The origin's TCP port."""
        scheme, _, rest = self.origin.partition("://")
        if ":" in rest:
            return int(rest.rsplit(":", 1)[1])
        return 443 if scheme == "https" else 80


class Site(Strict):
    """One web application an agent may visit.

    Attributes:
        name: the logical name, used in tasks and on the command line.
        host: the host name that never changes; the gateway maps it to the slot's replica.
        stateful: whether an episode can change it; stateless sites are shared by all slots.
        port: the container's HTTP port.
        container: how its container is run, where the image was not made for Arena.
        bake: commands run once before an image is sealed as golden, such as those that give an
            application its host name.
        warm: paths fetched once before an image is sealed as golden.
        state: set where the image has Arena's supervisor, which can rewind it in place.
        clock: the time, time zone and language of the site.
        routes: rules from replica's and live origin's paths to one logical path.
        episode_info: whether each request carries the episode's sites and accounts (header
            `X-Arena-Episode`).
    """

    name: Name
    title: Line
    summary: Line
    host: Host
    stateful: bool
    image: Image
    port: Port
    health: Health
    container: ContainerOptions = ContainerOptions()
    bake: tuple[BakeStep, ...] = ()
    warm: tuple[SitePath, ...] = ("/",)
    resources: Resources
    database: Database | None = None
    state: StateFolder | None = None
    fingerprint: FingerprintProbes = FingerprintProbes()
    clock: Clock = Clock()
    roles: dict[Name, Role] = Field(default_factory=dict)
    routes: tuple[RouteRule, ...] = ()
    live: Live | None = None
    episode_info: bool = False

    @field_validator("host")
    @classmethod
    def _reserved_domain(cls, host: str) -> str:
        if not host.endswith(".test"):
            raise ValueError("must end in .test, the domain reserved for this (RFC 6761)")
        return host

    @property
    def shows_state(self) -> bool:
        """Whether anything of a replica's state can be read, so that its change would be seen."""
        probes = self.fingerprint
        return bool(self.database or self.state or probes.files or probes.probes)

    @property
    def ports(self) -> tuple[int, ...]:
        """The container's ports that a replica publishes: pages, database, supervisor."""
        database = (self.database.port,) if isinstance(self.database, ServerDatabase) else ()
        return (self.port, *database, *((self.state.port,) if self.state else ()))

    @model_validator(mode="after")
    def _file_is_state(self) -> Self:
        """A rewind restores the state's folder and nothing else."""
        if self.state is None or not isinstance(self.database, FileDatabase):
            return self
        if not self.database.file.startswith(f"{self.state.folder.rstrip('/')}/"):
            raise ValueError(f"database.file must lie in state.folder, {self.state.folder}")
        return self

    @model_validator(mode="after")
    def _live_roles_exist(self) -> Self:
        unknown = set(self.live.roles) - set(self.roles) if self.live else set()
        if unknown:
            message = f"live.roles names {sorted(unknown)}; the site has {sorted(self.roles)}"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _ports_differ(self) -> Self:
        named = {"port": self.port}
        if isinstance(self.database, ServerDatabase):
            named["database.port"] = self.database.port
        if self.state is not None:
            named["state.port"] = self.state.port
        for name, port in named.items():
            other = next(one for one, number in named.items() if number == port)
            if other != name:
                raise ValueError(f"`{other}` and `{name}` are both {port}: one port has one server")
        return self

    @model_validator(mode="after")
    def _state_fits(self) -> Self:
        probes = self.fingerprint
        if self.state is not None and not self.stateful:
            message = "`state` says what may change, but `stateful` is false: nothing is reset"
            raise ValueError(message)
        if self.state is not None and self.bake:
            message = "`bake` changes an image's files, and `state` lies in a volume: omit it"
            raise ValueError(message)
        asks = (
            probes.volatile_tables,
            probes.volatile_columns,
            *(one.sql for one in probes.probes),
        )
        if self.database is None and any(asks):
            message = "`fingerprint` names tables or asks by `sql`, but there is no `database`"
            raise ValueError(message)
        return self
