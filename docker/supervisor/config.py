"""What an image says about its state and its services: /etc/arena/supervisor.toml."""

from __future__ import annotations

import tomllib
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from clock import Times
from failure import Failure

_ROOM_MB = 1024


class Ready(StrEnum):
    """When a service counts as started."""

    START = "start"  # as soon as it runs
    NOTIFY = "notify"  # when it says READY=1, as sd_notify(3) describes


class Rewind(StrEnum):
    """What a rewind does to a service."""

    RESTART = "restart"  # killed hard before the state is restored, started after it
    RECYCLE = "recycle"  # stopped; its children are killed, and it forks new ones after
    KEEP = "keep"  # left alone


class Service(NamedTuple):
    """One process that the supervisor starts, with all that it starts itself.

    Attributes:
        listen: a path, or an address and port, that the supervisor listens on for it; it gets the
            socket as descriptor 3, as sd_listen_fds(3) describes.
        deadline_s: how long it may take to be ready.
        host_clock: whether it sees the host's time where the image has a clock of its own.
        code: parts of the folder that a recycled parent keeps compiled in its memory: where one was
            changed, the parent is started anew.
    """

    name: str
    command: tuple[str, ...]
    ready: Ready
    rewind: Rewind
    listen: str | None
    environment: dict[str, str]
    deadline_s: float
    host_clock: bool
    code: tuple[str, ...]


class Config(NamedTuple):
    """The whole file.

    Attributes:
        folder: the live state.
        pristine: what the folder becomes equal to, at every start and rewind.
        counted: parts of the folder whose changes a database counts by itself.
        remade: files of the folder that a service makes anew whenever it starts: in no state.
        scratch: folders that are emptied at every start and rewind.
        passing: patterns of names in them that are others at every start.
        port: where the generation is told.
        room_mb: how much the folder may take on its disk.
        services: in the order in which they start.
        clock: what time the services see; None for the host's.
    """

    folder: str
    pristine: str
    counted: tuple[str, ...]
    remade: tuple[str, ...]
    scratch: tuple[str, ...]
    passing: tuple[str, ...]
    port: int
    room_mb: int
    services: tuple[Service, ...]
    clock: Times | None


def load(path: str) -> Config:
    """Read the file.

    Raises:
        Failure: it cannot be read, or says something that this supervisor does not know.
    """
    try:
        with open(path, "rb") as file:
            told = tomllib.load(file)
        services = tuple(_service(told_service) for told_service in told.pop("service", ()))
        return Config(
            folder=told.pop("folder").rstrip("/"),
            pristine=told.pop("pristine").rstrip("/"),
            counted=tuple(told.pop("counted", ())),
            remade=tuple(told.pop("remade", ())),
            scratch=tuple(told.pop("scratch", ())),
            passing=tuple(told.pop("passing", ())),
            port=told.pop("port"),
            room_mb=int(told.pop("room_mb", _ROOM_MB)),
            services=services,
            clock=_times(told.pop("clock", None)),
            **told,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
        msg = f"{path} cannot be used: {type(cause).__name__}: {cause}"
        raise Failure(msg) from cause


def _times(told: dict[str, Any] | None) -> Times | None:
    if told is None:
        return None
    times = Times(**told)
    if not isinstance(times.now, datetime) or times.now.tzinfo is None:
        msg = "clock: `now` needs a time zone, as in 2026-10-01T09:00:00Z"
        raise ValueError(msg)
    return times


def _service(told: dict[str, Any]) -> Service:
    return Service(
        name=told.pop("name"),
        command=tuple(told.pop("command")),
        ready=Ready(told.pop("ready", Ready.START)),
        rewind=Rewind(told.pop("rewind")),
        listen=told.pop("listen", None),
        environment=told.pop("environment", {}),
        deadline_s=float(told.pop("deadline_s", 60)),
        host_clock=bool(told.pop("host_clock", False)),
        code=tuple(told.pop("code", ())),
        **told,
    )
