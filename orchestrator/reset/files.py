"""The state of a replica's file trees, read inside its container by one command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena_core.errors import SiteError
from orchestrator.reset.state import FileState

if TYPE_CHECKING:
    from orchestrator.engine.engine import Engine
    from sites.manifest import Site

_DEADLINE_S = 60.0
_DIGEST_LENGTH = 64


async def read_files(engine: Engine, site: Site, container_id: str) -> tuple[FileState, ...]:
    """Return every entry of the folders that the manifest lists, with owner, mode and content.

    Raises:
        SiteError: a folder could not be read.
    """
    folders = site.fingerprint.files
    if not folders:
        return ()
    done = await engine.execute(container_id, find_argv(folders), timeout_s=_DEADLINE_S)
    complaints = [
        line
        for line in done.stderr.decode(errors="replace").splitlines()
        if not line.endswith("No such file or directory")  # that is a difference, not a fault
    ]
    if complaints:
        message = f"site '{site.name}': its files cannot be read: {complaints[0]}"
        raise SiteError(message)
    return parse_listing(done.stdout)


def find_argv(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command: one record for each entry, then the digest of each file, NUL after each.

    find(1) flushes its own output before it runs a command, so that records are never mixed.
    """
    entry = "=%y %m %U:%G %l\\t%p\\0"
    hashing = ("-type", "f", "-exec", "sha256sum", "--binary", "--zero", "{}", "+")
    return ("find", *folders, "-printf", entry, *hashing)


def parse_listing(output: bytes) -> tuple[FileState, ...]:
    """Parse what the command of `find_argv` printed."""
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
