"""The sites of a task of Harbor's, as services of its compose file: each trial has its own.

Arena has a container to itself, `service`: it shares an internal network with each site, and with
the relay in `arena` no network, but the folder of its socket. The agent reaches the relay alone.
"""

from __future__ import annotations

import secrets
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import yaml

from arena_core.worlds import World
from evaluators.locators.base import LookingLocator, Need
from orchestrator.sandbox.attached_sites import CARRIED, SCHEME, AttachedSite, AttachedSites
from orchestrator.sandbox.engine.containers import STATES_TOKEN, ContainerSpec
from orchestrator.sandbox.reset.replica import container_spec
from sites.manifest import FileDatabase

if TYPE_CHECKING:
    from sites.manifest import Site
    from sites.registry import SiteRegistry
    from tasks.schema import Task

SITES_FILE: Final = "sites.json"
_HERE: Final = PurePosixPath("/arena")
_OUT: Final = _HERE / "out"  # kept by Harbor
_SERVED: Final = PurePosixPath("/run/arena")  # the socket, and the token that it asks for
_IN_MEMORY: Final = ["/tmp:mode=1777", "/run:mode=1777"]  # noqa: S108  of a site's container
_READY: Final = {"interval": "2s", "timeout": "10s", "retries": 450}


def unfit_with_sites(task: Task, registry: SiteRegistry) -> str | None:
    """Say why a task cannot be played on sites that are reached over the network alone."""
    if task.given:
        return "it sets its sites up, which takes their containers"
    for way in (way for look in task.looks_in(World.OFFLINE) for way in look.ways):
        if isinstance(way.locate, LookingLocator) and Need.SHELL in way.locate.needs:
            return "a check runs a command in a site's container"
    for name in task.sites:
        if isinstance(registry.site(name).database, FileDatabase):
            return f"the database of '{name}' is a file in its container"
    return None


def written_out(task: Task, registry: SiteRegistry, arena: str) -> tuple[str, str]:
    """Return the compose file of a task, and the file that tells Arena where its sites are.

    Args:
        arena: an image with Arena and a browser in it.
    """
    sites = [registry.site(name) for name in task.sites]
    tokens = {one.name: secrets.token_hex(16) for one in sites if one.state is not None}
    attached = AttachedSites(
        {
            site.image.tag: AttachedSite(
                address=_service(site), carried=Path(_carried(site)), token=tokens.get(site.name)
            )
            for site in sites
        }
    )
    compose = {
        "services": {
            "main": {"depends_on": {"arena": {"condition": "service_healthy"}}},
            "arena": _relay(),
            "service": _arena(arena, sites),
            **{_service(one): _of_site(one, tokens.get(one.name)) for one in sites},
        },
        "networks": {_service(one): _no_way_out() for one in sites},
        "volumes": {
            "out": {},
            "served": {},
            **{name: made for one in sites for name, made in _volumes(one).items()},
        },
    }
    text = yaml.safe_dump(compose, sort_keys=False, allow_unicode=True)
    return text, attached.model_dump_json(indent=2) + "\n"


def _service(site: Site) -> str:
    return f"site-{site.name}"


def _carried(site: Site) -> PurePosixPath:
    return _HERE / "carried" / site.name


def _volumes(site: Site) -> dict[str, dict[str, Any]]:
    """Return the volumes of a site: what its image carries, filled by the engine, and its state."""
    made: dict[str, dict[str, Any]] = {f"{_service(site)}-carried": {}}
    if site.state is not None:
        made[f"{_service(site)}-state"] = {}
        if site.state.memory_mb is not None:
            where = f"size={site.state.memory_mb}m,mode=1777"
            options = {"type": "tmpfs", "device": "tmpfs", "o": where}
            made[f"{_service(site)}-state"] = {"driver": "local", "driver_opts": options}
    return made


def _shut_in() -> dict[str, Any]:
    return {"init": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}


def _no_way_out() -> dict[str, Any]:
    """Return a network from which nothing is forwarded, and where the machine has no address."""
    without = {"com.docker.network.bridge.inhibit_ipv4": "true"}
    return {"internal": True, "driver_opts": without}


def _relay() -> dict[str, Any]:
    """Return the service that the agent talks to; it has the one episode of a trial."""
    return {
        "build": {"context": "./arena"},
        **_shut_in(),
        "environment": {
            # Of the solution: where it is empty, nobody has the reference played.
            "ARENA_TOKEN": "${ARENA_TOKEN:-}",
            "ARENA_SOCKET": str(_SERVED / "socket"),
            "ARENA_TOKEN_FILE": str(_SERVED / "token"),
        },
        "volumes": [f"served:{_SERVED}", f"out:{_OUT}"],
        "depends_on": {"service": {"condition": "service_healthy"}},
        "healthcheck": {"test": ["CMD", "python3", str(_HERE / "relay.py"), "ready"], **_READY},
    }


def _arena(image: str, sites: list[Site]) -> dict[str, Any]:
    """Return the service that has gateway, browser and checks."""
    socket = f"--socket={_SERVED / 'socket'}"
    token, out = f"--token-file={_SERVED / 'token'}", f"--out={_OUT / 'evidence'}"
    return {
        "image": image,
        "command": ["arena", "serve", "--port=0", "--references", socket, token, out],
        **_shut_in(),
        "shm_size": "1g",
        "dns": ["127.0.0.1"],
        "environment": {"DOCKER_HOST": f"{SCHEME}{_HERE / SITES_FILE}"},
        "networks": [_service(one) for one in sites],
        "volumes": [
            f"./arena/{SITES_FILE}:{_HERE / SITES_FILE}:ro",
            f"served:{_SERVED}",
            f"out:{_OUT}",
            *(f"{_service(one)}-carried:{_carried(one)}:ro" for one in sites),
        ],
        "depends_on": [_service(one) for one in sites],
        "healthcheck": {"test": ["CMD", "test", "-S", str(_SERVED / "socket")], **_READY},
    }


def _of_site(site: Site, token: str | None) -> dict[str, Any]:
    """Return a site's service, shut in as its container is where Arena starts it."""
    spec = container_spec(site, name=site.name, image=site.image.tag, labels={})
    variables = {**spec.environment, **({STATES_TOKEN: token} if token else {})}
    service = {
        "image": spec.image,
        **_shut_in(),
        "pids_limit": spec.pids,
        "mem_limit": f"{spec.memory_mb}m",
        "memswap_limit": f"{spec.memory_mb}m",
        "cpus": spec.cpus,
        "dns": ["127.0.0.1"],
        "networks": [_service(site)],
        "volumes": _mounts(site, spec),
        "environment": {name: _plain(value) for name, value in variables.items()},
    }
    if spec.capabilities:
        service["cap_add"] = sorted(spec.capabilities)
    if spec.command:
        service["command"] = [_plain(word) for word in spec.command]
    if spec.shm_mb is not None:
        service["shm_size"] = f"{spec.shm_mb}m"
    if spec.read_only:
        service |= {"read_only": True, "tmpfs": _IN_MEMORY}
    return service


def _mounts(site: Site, spec: ContainerSpec) -> list[str]:
    state = [] if spec.state is None else [f"{_service(site)}-state:{spec.state.folder}"]
    return [*state, f"{_service(site)}-carried:{CARRIED}:ro"]


def _plain(text: str) -> str:
    """Return a text in which Compose replaces nothing."""
    return text.replace("$", "$$")
