"""The fingerprint of a running replica: database, files and probes, read at the same time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, assert_never

from arena_core.errors import SiteError, SiteGoneError
from arena_core.task_group import task_group
from orchestrator.sandbox.reset.state import FileState, Fingerprint, ProbeState, TableState
from orchestrator.sandbox.reset.supervision import Supervision
from sites.manifest import FileDatabase, ServerDatabase

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.containers import Container, Endpoint, Executed
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.snapshot import Snapshot
    from sites.manifest import Site, StateFolder


_DEADLINE_S = 60.0
_DIGEST_LENGTH = 64
_TRIES: Final = 3
# An engine now and then loses what a command printed, and reports success all the same.
_WHOLE: Final = b"\0whole"
_TO_ITS_END: Final = '"$0" "$@"; code=$?; printf "\\0whole"; exit "$code"'


async def read_files(engine: Engine, site: Site, container_id: str) -> tuple[FileState, ...]:
    """Return every entry of the folders that the manifest lists, with owner, mode and content."""
    folders = site.fingerprint.files
    if not folders:
        return ()
    argv = ("sh", "-c", _TO_ITS_END, *find_argv(folders))
    said = ""
    for _ in range(_TRIES):
        done = await engine.execute(container_id, argv, timeout_s=_DEADLINE_S)
        if done.stdout.endswith(_WHOLE):
            return _listed(site, done)
        said = done.stderr.decode(errors="replace").strip() or f"exit code {done.exit_code}"
    message = f"site '{site.name}': the list of its files did not arrive whole, {_TRIES} times"
    raise SiteError(f"{message}: {said.splitlines()[0]}", hint=f"arena logs {site.name}")


def _listed(site: Site, done: Executed) -> tuple[FileState, ...]:
    complaints = [
        line
        for line in done.stderr.decode(errors="replace").splitlines()
        if not line.endswith("No such file or directory")  # that is a difference, not a fault
    ]
    if complaints:
        raise SiteError(f"site '{site.name}': its files cannot be read: {complaints[0]}")
    return parse_listing(done.stdout.removesuffix(_WHOLE))


def find_argv(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command: one record for each entry, then the digest of each file, NUL after each.

    find(1) flushes its own output before it runs a command, so that records are never mixed.
    """
    entry = "=%y %m %U:%G %l\\t%p\\0"
    hashing = ("-type", "f", "-exec", "sha256sum", "--binary", "--zero", "{}", "+")
    return ("find", *folders, "-printf", entry, *hashing)


def parse_listing(output: bytes) -> tuple[FileState, ...]:
    entries: list[FileState] = []
    digests: dict[str, str] = {}
    for raw in output.split(b"\0"):
        record = raw.decode(errors="backslashreplace")
        if record.startswith("="):
            entries.append(_entry(record[1:]))
        elif record:
            digests[record[_DIGEST_LENGTH + 2 :]] = record[:_DIGEST_LENGTH]
    return tuple(
        FileState(
            path=entry.path,
            kind=entry.kind,
            mode=entry.mode,
            owner=entry.owner,
            content=digests.get(entry.path, "") if entry.kind == "f" else entry.content,
        )
        for entry in sorted(entries, key=lambda entry: entry.path)
    )


def _entry(record: str) -> FileState:
    kind, mode, owner, rest = record.split(" ", 3)
    target, _, path = rest.partition("\t")
    return FileState(path=path, kind=kind, mode=mode, owner=owner, content=target)


_PAGE_S: Final = 30.0
_NOTHING: Final = "nothing"


def ask_pages(site: Site, endpoint: Endpoint) -> tuple[ProbeState, ...]:
    return tuple(
        ProbeState.of(
            probe.name, _found(probe.pattern, _page(site, endpoint, probe.name, probe.page))
        )
        for probe in site.fingerprint.probes
        if probe.page is not None and probe.pattern is not None
    )


def _found(pattern: str, page: str) -> str:
    """Return what the first group (the whole pattern, where it has none) finds first."""
    match = re.search(pattern, page)
    if match is None:
        return _NOTHING
    return str(match.group(1) if match.re.groups else match.group())


def _page(site: Site, endpoint: Endpoint, name: str, path: str) -> str:
    import requests  # noqa: PLC0415  not needed where no probe has a page

    from orchestrator.sandbox.engine.origin_client import OriginClient, fetch  # noqa: PLC0415

    client = OriginClient(origin=f"http://{site.host}", address=endpoint)
    try:
        answer = fetch(client, path, timeout_s=_PAGE_S)
    except requests.RequestException as cause:
        raise SiteError(f"site '{site.name}': probe {name}: no answer from {path}") from cause
    if answer.status != HTTPStatus.OK:
        raise SiteError(f"site '{site.name}': probe {name}: {path} answers {answer.status}")
    return answer.text


__all__ = ["FileState", "Fingerprint", "TableState", "take_fingerprint"]

DEADLINE_S = 120.0


async def take_fingerprint(
    engine: Engine,
    site: Site,
    container: Container,
    *,
    supervision: Supervision | None = None,
) -> Fingerprint:
    """Return the state of a running replica.

    Args:
        supervision: a connection to its supervisor, where one is open already.
    """
    try:
        async with asyncio.timeout(DEADLINE_S), task_group() as group:
            files = group.create_task(_files(engine, site, container, supervision))
            scratch = group.create_task(_scratch(engine, site, container, supervision))
            pages = group.create_task(_pages(site, container))
            database = group.create_task(_database(engine, site, container))
    except TimeoutError as cause:
        message = f"site '{site.name}': its fingerprint took longer than {DEADLINE_S:.0f} s"
        raise SiteError(message) from cause
    found = database.result()
    return Fingerprint(
        tables=found.tables if found else (),
        files=_without_database(site, files.result()),
        objects=found.objects if found else (),
        probes=(*(found.probes if found else ()), *pages.result()),
        scratch=scratch.result(),
    )


async def _files(
    engine: Engine, site: Site, container: Container, supervision: Supervision | None
) -> tuple[FileState, ...]:
    folders = site.fingerprint.files
    if not folders:
        return ()
    if site.state is None:
        return await read_files(engine, site, container.id)
    async with _opened(engine, site, site.state, container, supervision) as opened:
        return await opened.files(folders)


async def _scratch(
    engine: Engine, site: Site, container: Container, supervision: Supervision | None
) -> tuple[FileState, ...]:
    if site.state is None:
        return ()
    async with _opened(engine, site, site.state, container, supervision) as opened:
        return await opened.scratch()


@asynccontextmanager
async def _opened(
    engine: Engine, site: Site, state: StateFolder, container: Container, known: Supervision | None
) -> AsyncIterator[Supervision]:
    """Give the connection that is open, or one for as long as it is wanted."""
    if known is not None:
        yield known
        return
    token = await engine.states_token(container.id)
    endpoint = _published(site, container, state.port)
    supervision = await Supervision.open(endpoint, state.folder, token)
    try:
        yield supervision
    finally:
        await supervision.close()


async def _pages(site: Site, container: Container) -> tuple[ProbeState, ...]:
    if all(probe.page is None for probe in site.fingerprint.probes):
        return ()
    return await asyncio.to_thread(ask_pages, site, _published(site, container, site.port))


async def _database(engine: Engine, site: Site, container: Container) -> Snapshot | None:
    match site.database:
        case None:
            return None
        case FileDatabase() as database:
            from orchestrator.sandbox.reset.snapshot import read_copy  # noqa: PLC0415  as below
            from orchestrator.sandbox.reset.sqlite import copy_database  # noqa: PLC0415

            copy = await copy_database(engine, site, database, container.id)
            return await asyncio.to_thread(read_copy, site, copy)
        case ServerDatabase() as database:
            endpoint = _published(site, container, database.port)
            from orchestrator.sandbox.reset.snapshot import read_snapshot  # noqa: PLC0415  loads clients

            return await asyncio.to_thread(read_snapshot, site, database, endpoint)
        case _:
            assert_never(site.database)


def _without_database(site: Site, files: tuple[FileState, ...]) -> tuple[FileState, ...]:
    """Leave out the files whose content is read as rows: bytes may differ where no row does."""
    if not isinstance(site.database, FileDatabase):
        return files
    own = frozenset(site.database.own_files)
    return tuple(entry for entry in files if entry.path not in own)


def _published(site: Site, container: Container, port: int) -> Endpoint:
    endpoint = container.ports.get(port)
    if endpoint is None:
        message = f"site '{site.name}': container {container.name} publishes no port {port}"
        raise SiteGoneError(message)
    return endpoint
