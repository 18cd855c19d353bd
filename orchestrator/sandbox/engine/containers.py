"""What the engine is asked to run, what it says about it, and where a published port is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Labels:
    """Names of the labels on Arena's containers and images.

    An empty value counts as absent: an image committed from a container inherits the container's
    labels, and the engine can overwrite a label but not take it away.
    """

    SITE: Final = "arena.site"
    KIND: Final = "arena.kind"
    OWNER: Final = "arena.owner"
    SLOT: Final = "arena.slot"
    GOLDEN: Final = "arena.golden"
    SOURCE: Final = "arena.source"


class ContainerKind(StrEnum):
    """What a container is for: the value of `Labels.KIND`."""

    REPLICA = "replica"
    STAGED = "staged"
    SEALING = "sealing"
    FILTER = "filter"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfo:
    """An image the engine has.

    Attributes:
        id: the content digest, `sha256:…`.
        tag: what it was asked for by: `repository:tag`, or its id.
        size_bytes: with all layers.
    """

    id: str
    tag: str
    labels: Mapping[str, str]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class StateMount:
    """A volume of a container's own, which goes when the container does.

    Attributes:
        folder: where the container has it.
        memory_mb: keep it in memory, with room for so much; on the engine's disk where None.
    """

    folder: str
    memory_mb: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerSpec:
    """What to run.

    Attributes:
        name: unique on the engine.
        ports: container ports published on 127.0.0.1.
        fixed: host port by container port; the others get a free one.
        memory_mb: memory limit (no swap beyond it).
        pids: limit on processes and threads.
        files: content by absolute path, copied in before the start, readable by everybody inside.
        environment: added to the image's.
        read_only: nothing but `/tmp`, `/run` and the state can be written; both are in memory.
        state: the volume that holds the state.
        command: in place of the image's; empty for that.
        capabilities: what the container's root keeps, by Linux's names; none by default.
        shm_mb: size of `/dev/shm`; the engine's own where None.
    """

    name: str
    image: str
    labels: Mapping[str, str]
    ports: tuple[int, ...]
    fixed: Mapping[int, int] = field(default_factory=dict)
    memory_mb: int
    cpus: float
    pids: int
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    read_only: bool = False
    state: StateMount | None = None
    command: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()
    shm_mb: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container as the engine saw it when asked.

    Attributes:
        state: the engine's word: created, running, paused, exited, dead, …
        exit_code: of a container that has exited.
        labels: non-empty labels, those of its image included.
        ports: where each published container port is reached; empty unless it runs.
        fixed: the host port that was asked for by container port, where one was; whether it runs or
            not, but unknown where all containers are listed.
        created: when it was made, in Unix seconds.
    """

    id: str
    name: str
    image_id: str
    labels: Mapping[str, str]
    state: str
    exit_code: int | None
    ports: Mapping[int, Endpoint]
    fixed: Mapping[int, int] = field(default_factory=dict)
    created: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What a command inside a container left."""

    exit_code: int
    stdout: bytes
    stderr: bytes


LOOPBACK = "127.0.0.1"
# The variable of a container's environment that its supervisor takes out, and no service inherits.
STATES_TOKEN: Final = "ARENA_STATES_TOKEN"  # noqa: S105 - its name


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A TCP address on this machine; `host` is always 127.0.0.1 for a container's port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"
