"""The one bridge network of Arena's containers: published ports work, and nothing gets out.

A packet filter in each container lets it open no connection (`outward`). Where there can be none,
three things keep packets in that nobody has shaped: masquerading is off, so that no answer from
outside finds its way back; traffic between containers is off; and `creation` gives each container
a time to live of one hop, so that its packets die on this machine's bridge and go no further.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from arena_core.errors import EngineError
from arena_core.user_cache import user_cache

if TYPE_CHECKING:
    from docker import APIClient

NAME: Final = "arena"
_OPTIONS: Final[Mapping[str, str]] = {
    "com.docker.network.bridge.enable_ip_masquerade": "false",
    "com.docker.network.bridge.enable_icc": "false",
}


def find(api: APIClient) -> str | None:
    known = _known(api)
    if not known:
        return None
    first = known[0]
    if wrong := _not_as_made(first):
        message = f"the Docker network `{NAME}` was not made by Arena: {', '.join(wrong)} not off"
        raise EngineError(message, hint=f"remove it: docker network rm {NAME}")
    return str(first["Id"])


def ensure(api: APIClient) -> str:
    """Return the network's id; make it where it is missing, also when others do so meanwhile."""
    with _only_maker():
        found = find(api)
        if found is not None:
            return found
        _create(api)
        return _keep_oldest(api)


def remove(api: APIClient) -> bool:
    """Remove the network; False where there is none, or one that Arena did not make.

    Raises:
        EngineError: a container that is not Arena's is in it.
    """
    from docker.errors import APIError, NotFound  # noqa: PLC0415

    with _only_maker():
        own = [one for one in _known(api) if not _not_as_made(one)]
        for one in own:
            try:
                api.remove_network(one["Id"])
            except NotFound:
                continue  # another process was first
            except APIError as error:
                message = f"the Docker network `{NAME}` cannot be removed: {error.explanation}"
                hint = f"docker network inspect {NAME} says which containers are in it"
                raise EngineError(message, hint=hint) from error
    return bool(own)


def _not_as_made(known: Mapping[str, Any]) -> list[str]:
    """Return the options of a network that are not as Arena makes one."""
    options = known.get("Options") or {}
    return [name for name, value in _OPTIONS.items() if options.get(name) != value]


@contextmanager
def _only_maker() -> Iterator[None]:
    """Keep other threads and processes of this user from making the network until the block ends.

    Each of several makers may be shown its own network before the engine shows it an older one.
    """
    try:
        path = user_cache() / "docker-network.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield  # no place for a lock: the oldest network is kept, as among several users
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _create(api: APIClient) -> None:
    from docker.errors import APIError  # noqa: PLC0415  the SDK loads on first use

    try:
        api.create_network(NAME, driver="bridge", options=dict(_OPTIONS), check_duplicate=True)
    except APIError as error:
        if "already exists" not in str(error.explanation):
            raise


def _keep_oldest(api: APIClient) -> str:
    """Return the oldest network of the name; the engine may let two be made at one time."""
    from docker.errors import APIError  # noqa: PLC0415

    oldest, *others = _known(api)
    for other in others:
        try:
            api.remove_network(other["Id"])
        except APIError:
            # Another process removed it, or is using it: ids, not names, are used to attach.
            continue
    return str(oldest["Id"])


def _known(api: APIClient) -> list[dict[str, Any]]:
    known = [network for network in api.networks(names=[NAME]) if network["Name"] == NAME]
    return sorted(known, key=lambda network: (network["Created"], network["Id"]))
