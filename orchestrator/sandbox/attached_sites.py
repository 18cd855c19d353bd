"""Sites that another program started: they are reached by address, and no engine is asked.

A replica is handed out once, proven golden over its database and its supervisor like any other.
Nothing can take its place: what needs the engine, such as a rewind, is refused.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import socket
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final, NoReturn

from pydantic import BaseModel, ConfigDict, RootModel, ValidationError

from arena_core.errors import EngineError, SiteGoneError, UsageError
from orchestrator.sandbox.engine.calls import Calls
from orchestrator.sandbox.engine.containers import (
    Container,
    ContainerSpec,
    Endpoint,
    ImageInfo,
    Labels,
)
from orchestrator.sandbox.engine.engine import Engine, EngineFacts
from orchestrator.sandbox.golden import PATH, ROWS_LABEL, ROWS_PATH

ENVIRONMENT: Final = "DOCKER_HOST"
SCHEME: Final = "attached:"
CARRIED: Final = str(PurePosixPath(PATH).parent)  # the folder of an image with its golden state
_NAME: Final = "attached"
_HINT: Final = "start them anew: each plays one episode that writes"


class AttachedSite(BaseModel):
    """One replica that runs already.

    Attributes:
        address: its host name, or its IP address.
        carried: the folder, on this machine, with what its image has in `CARRIED`.
        token: what its supervisor asks for; None where it has none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: str
    carried: Path
    token: str | None = None


class AttachedSites(RootModel[dict[str, AttachedSite]]):
    """The replicas that run, by the tag of their image."""

    model_config = ConfigDict(frozen=True)


async def connect() -> Engine:
    """Connect to the engine that DOCKER_HOST names, or to the sites of its file `attached:FILE`."""
    named = os.environ.get(ENVIRONMENT, "")
    if not named.startswith(SCHEME):
        return await Engine.connect()
    path = Path(named.removeprefix(SCHEME))
    try:
        sites = AttachedSites.model_validate_json(await asyncio.to_thread(path.read_bytes))
    except (OSError, ValidationError) as cause:
        why = str(cause).replace("\n", " ")
        raise UsageError(f"{ENVIRONMENT}={named}: cannot be read: {why}") from cause
    return AttachedEngine(sites.root)


class _NoClient:
    """Stands where an engine's client would: whatever is asked of it is refused."""

    def __getattr__(self, name: str) -> NoReturn:
        raise _refused(name)


def _no_more_clients(timeout_s: float | None) -> NoReturn:  # noqa: ARG001
    raise _refused("a call of its own")


class AttachedEngine(Engine):
    """Stands in for an engine: hands the replicas out that run already, each of them once."""

    def __init__(self, sites: Mapping[str, AttachedSite]) -> None:
        nobody: Any = _NoClient()
        super().__init__(Calls(nobody, _no_more_clients))
        self._sites = sites
        self._images: dict[str, ImageInfo] = {}
        self._given: dict[str, ContainerSpec] = {}

    async def version(self) -> str:
        return _NAME

    async def facts(self) -> EngineFacts:
        return EngineFacts(
            version=_NAME,
            storage_driver=_NAME,
            root="",
            memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            cpus=os.cpu_count() or 1,
        )

    async def has_network(self) -> bool:
        return True

    async def image(self, tag: str) -> ImageInfo | None:
        """Return what a replica's image is, by its tag or its id."""
        name = self._tag_of(tag)
        if name is None:
            return None
        if name not in self._images:
            self._images[name] = await asyncio.to_thread(_image_of, name, self._sites[name])
        return self._images[name]

    async def run(self, spec: ContainerSpec) -> Container:
        """Hand out the one replica of an image."""
        tag = self._tag_of(spec.image)
        if tag is None:
            raise EngineError(f"no site with the image {spec.image} runs beside Arena")
        if tag in self._given:
            raise EngineError(f"another replica of {tag} cannot be started here", hint=_HINT)
        self._given[tag] = spec
        found = await self.container(tag)
        if found is None:
            raise SiteGoneError(f"{self._sites[tag].address}: no site is at this address")
        return found

    async def create(self, spec: ContainerSpec) -> Container:
        """Return what files of an image are copied out of."""
        tag = self._tag_of(spec.image)
        if tag is None:
            raise EngineError(f"no site with the image {spec.image} runs beside Arena")
        return _container(tag, spec, {})

    async def copy_out(self, container_id: str, path: str) -> bytes:
        if container_id not in self._sites or path not in {PATH, ROWS_PATH}:
            raise _refused(f"copying {path} out of {container_id}")
        file = self._sites[container_id].carried / PurePosixPath(path).name
        try:
            return await asyncio.to_thread(file.read_bytes)
        except OSError as cause:
            raise EngineError(f"{file}: cannot be read: {cause.strerror}") from cause

    async def container(self, container_id: str) -> Container | None:
        """Return a replica that was handed out; None once its name leads nowhere."""
        spec = self._given.get(container_id)
        if spec is None:
            return None
        address = self._sites[container_id].address
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(address, None, family=socket.AF_INET)
        except OSError:
            return None
        host = str(found[0][4][0])
        return _container(container_id, spec, {port: Endpoint(host, port) for port in spec.ports})

    async def containers(
        self,
        labels: Mapping[str, str | None],  # noqa: ARG002
    ) -> tuple[Container, ...]:
        """Find none: they are not Arena's to adopt."""
        return ()

    async def states_token(self, container_id: str) -> str | None:
        return self._sites[container_id].token

    async def logs(self, container_id: str, tail: int = 50) -> str:  # noqa: ARG002
        return ""

    async def processor_seconds(self, container_id: str) -> float:  # noqa: ARG002
        """Return none: a site that starts shows progress by its answers alone."""
        return 0.0

    async def wait_exit(self, container_id: str) -> int:  # noqa: ARG002
        """Wait until the caller's time is up: nobody says here that a container has ended."""
        never: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        return await never

    async def shut(self, container: Container) -> None:
        """Leave it: who started it says what it reaches."""

    async def remove(self, container_id: str) -> None:
        """Leave it to who started it."""

    async def sweep(self, owner: str | None) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def _tag_of(self, image: str) -> str | None:
        """Return an image's tag, given that or its id."""
        if image in self._sites:
            return image
        return next((tag for tag, one in self._images.items() if one.id == image), None)


def _image_of(tag: str, site: AttachedSite) -> ImageInfo:
    """Read what an image carries; the digests are of what is there, and need no label."""
    try:
        golden = hashlib.sha256((site.carried / PurePosixPath(PATH).name).read_bytes()).hexdigest()
        rows = site.carried / PurePosixPath(ROWS_PATH).name
        labels = {Labels.GOLDEN: golden}
        if rows.exists():
            with gzip.open(rows) as content:
                labels[ROWS_LABEL] = hashlib.file_digest(content, "sha256").hexdigest()
    except (OSError, EOFError) as cause:
        raise EngineError(f"{tag}: what its image carries cannot be read: {cause}") from cause
    return ImageInfo(id=f"{_NAME}:{golden}", tag=tag, labels=labels, size_bytes=0)


def _container(tag: str, spec: ContainerSpec, ports: Mapping[int, Endpoint]) -> Container:
    return Container(
        id=tag,
        name=spec.name,
        image_id=spec.image,
        labels=spec.labels,
        state="running",
        exit_code=None,
        ports=ports,
    )


def _refused(doing: str) -> EngineError:
    message = f"{doing}: there is no engine; the sites were started beside Arena"
    return EngineError(message, hint=_HINT)
