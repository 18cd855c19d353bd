"""Staged live origins: containers that answer under real host names, with the demo's own TLS."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import ssl
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import requests
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from arena_core.errors import ImageError, SiteGoneError, UnhealthyError
from arena_core.task_group import task_group
from orchestrator.gateway.policy import Resolve, SocketAddress
from orchestrator.sandbox.engine.containers import Container, ContainerKind, ContainerSpec, Labels
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.health import HealthProbe, wait_healthy
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.images.recipes import command_for
from sites.manifest import Live, Site, Staged
from sites.upstreams import StagedUpstream


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """What one server shows and signs with."""

    chain: bytes
    key: bytes


class Authority:
    """Signs certificates for live host names that only a browser told to do so will trust."""

    def __init__(self) -> None:
        import trustme  # noqa: PLC0415  generates keys; needed where something is staged only

        self._authority = trustme.CA(organization_name="Arena staged live origins")

    @property
    def pem(self) -> bytes:
        return self._authority.cert_pem.bytes()

    @property
    def spki(self) -> str:
        """Base64 of the SHA-256 of its public key, as Chromium's list of trusted keys wants it.

        Chromium looks for it in the chain that the server sends, so the servers send the whole.
        """
        key = x509.load_pem_x509_certificate(self.pem).public_key()
        spki = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(hashlib.sha256(spki).digest()).decode()

    def server_context(self, host: str) -> ssl.SSLContext:
        """Return TLS for a server on this machine that answers under a host's name."""
        leaf = self.leaf(host)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory(prefix="arena-tls-") as folder:
            path = Path(folder) / "server.pem"
            path.touch(mode=0o600)
            path.write_bytes(leaf.key + leaf.chain)
            context.load_cert_chain(path)
        return context

    def leaf(self, host: str) -> Leaf:
        issued = self._authority.issue_cert(host)
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        return Leaf(chain=chain + self.pem, key=issued.private_key_pem.bytes())


CERTIFICATE_PATH: Final = "/etc/arena/tls/origin.crt"
KEY_PATH: Final = "/etc/arena/tls/origin.key"


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedOrigins:
    """Live origins that are staged on this machine.

    Attributes:
        resolves: where connections to their real hosts go instead.
        spki: the public key that a browser must be told to trust.
        ca_file: the same in a file, which lives as long as the origins do.
    """

    names: tuple[str, ...]
    resolves: tuple[Resolve, ...]
    spki: str
    ca_pem: bytes
    ca_file: str


@asynccontextmanager
async def staged_origins(
    engine: Engine, upstreams: Collection[StagedUpstream], owner: str
) -> AsyncIterator[StagedOrigins]:
    """Start the staged live origins of sites, all at once, and remove them at the end.

    The authority is made for this call; private keys are in memory and in the containers only.

    Args:
        owner: a run id; what the containers are labelled with.
    """
    authority = await asyncio.to_thread(Authority)
    started: list[Container] = []
    with tempfile.TemporaryDirectory(prefix="arena-staged-") as folder:
        ca_file = Path(folder) / "authority.pem"
        ca_file.write_bytes(authority.pem)
        try:
            async with task_group() as group:
                tasks = [
                    group.create_task(
                        _Origin(engine, one.site, one.live, one.staged, owner).start(
                            authority, str(ca_file), started
                        )
                    )
                    for one in upstreams
                ]
            yield StagedOrigins(
                names=tuple(one.site.name for one in upstreams),
                resolves=tuple(task.result() for task in tasks),
                spki=authority.spki,
                ca_pem=authority.pem,
                ca_file=str(ca_file),
            )
        finally:
            async with task_group() as group:
                for container in started:
                    group.create_task(engine.remove(container.id))


@dataclass(frozen=True, slots=True)
class _Origin:
    """One staged live origin."""

    engine: Engine
    site: Site
    live: Live
    staged: Staged
    owner: str

    async def start(self, authority: Authority, ca_file: str, started: list[Container]) -> Resolve:
        image = await self.engine.image(self.staged.image.tag)
        if image is None:
            message = f"site '{self.site.name}': there is no image {self.staged.image.tag}"
            hint = command_for(self.staged.image, self.site.name, staged=True)
            raise ImageError(message, hint=hint)
        container = await self.engine.run(await self._spec(image.id, authority))
        started.append(container)
        endpoint = container.ports.get(self.staged.port)
        if endpoint is None:
            log = await self.engine.logs(container.id, tail=5)
            message = f"{container.name} is {container.state}: {' | '.join(log.splitlines())}"
            raise SiteGoneError(message)
        health = self.staged.health
        probe = HealthProbe(
            endpoint=endpoint,
            host=self.live.host,
            path=health.path,
            contains=health.contains,
            timeout_s=health.timeout_s,
            tls=True,
        )
        await wait_healthy(self.engine, container, probe)
        client = OriginClient(origin=self.live.origin, address=endpoint, ca_file=ca_file)
        await asyncio.to_thread(self._prove_name, client)
        return Resolve(self.live.host, self.live.port, SocketAddress(endpoint.host, endpoint.port))

    async def _spec(self, image: str, authority: Authority) -> ContainerSpec:
        leaf = await asyncio.to_thread(authority.leaf, self.live.host)
        return ContainerSpec(
            name=f"arena-staged-{self.site.name}-{self.owner}-{secrets.token_hex(3)}",
            image=image,
            labels={
                Labels.SITE: self.site.name,
                Labels.KIND: ContainerKind.STAGED,
                Labels.OWNER: self.owner,
            },
            ports=(self.staged.port,),
            memory_mb=self.staged.resources.memory_mb,
            cpus=self.staged.resources.cpus,
            pids=self.staged.resources.pids,
            files={CERTIFICATE_PATH: leaf.chain, KEY_PATH: leaf.key},
        )

    def _prove_name(self, client: OriginClient) -> None:
        """Ask once as a browser will: by the real name, with a certificate that must hold."""
        try:
            with origin_session(client) as session:
                answer = session.get(client.url(self.staged.health.path), timeout=PAGE_TIMEOUT_S)
                answer.raise_for_status()
        except requests.RequestException as cause:
            message = f"staged live origin of '{self.site.name}': {client.origin} fails: {cause}"
            raise UnhealthyError(message) from cause
