"""What checks ask beside the browser: the database, the API, commands, a suite's functions."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import requests
from pydantic import JsonValue

from arena_core.errors import ApiError, DatabaseError, TaskError, UsageError
from evaluators.episode_view import Ran
from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, fetch
from orchestrator.sandbox.logins import replica_client, role_of
from orchestrator.sandbox.reset.replica import Replica
from sites.manifest import FileDatabase
from tasks.lint.sql import reading_fault

if TYPE_CHECKING:
    from evaluators.evidence import Evidence
    from orchestrator.sandbox.reset.database import QueryResult
    from orchestrator.sandbox.reset.replica import Replica
    from orchestrator.sandbox.reset.sqlite import DatabaseCopy
    from sites.accounts import ApiLogin
    from sites.manifest import DatabaseEngine, Site

DEADLINE_S = 60.0

Row = tuple[object, ...]


async def ask(replica: Replica, sql: str, limit: int | None = None) -> QueryResult:
    """Run one statement with the account and in a session that may only read.

    Args:
        limit: how many rows to read at most; None for all.
    """
    try:
        async with asyncio.timeout(DEADLINE_S):
            if isinstance(replica.site.database, FileDatabase):
                return await _ask_file(replica, replica.site.database, sql, limit)
            return await asyncio.to_thread(_ask, replica, sql, limit)
    except TimeoutError as cause:
        message = f"database of site '{replica.site.name}': no answer in {DEADLINE_S:.0f} s"
        raise DatabaseError(message) from cause


def require_one_reading(sql: str, engine: DatabaseEngine | None = None) -> None:
    """Refuse anything but one statement that reads, before a connection is made.

    The database refuses writes too; this is for the clear line.

    Args:
        engine: whose SQL it is; MariaDB's where it is not known.
    """
    fault = reading_fault(sql, engine)
    if fault is not None:
        raise UsageError(f"{fault}: the account is read-only")


async def _ask_file(
    replica: Replica, database: FileDatabase, sql: str, limit: int | None
) -> QueryResult:
    """Ask a copy of the file: the container has no port to ask."""
    from orchestrator.sandbox.engine.engine import Engine  # noqa: PLC0415  only such a site needs it
    from orchestrator.sandbox.reset.sqlite import copy_database  # noqa: PLC0415

    async with await Engine.connect() as engine:
        copy = await copy_database(engine, replica.site, database, replica.container.id)
    return await asyncio.to_thread(_ask_copy, replica.site, copy, sql, limit)


def _ask_copy(site: Site, copy: DatabaseCopy, sql: str, limit: int | None) -> QueryResult:
    from orchestrator.sandbox.reset.sqlite import SqliteReader, opened  # noqa: PLC0415

    with opened(site, copy) as connection:
        return SqliteReader(site, connection).read(sql, limit)


def _ask(replica: Replica, sql: str, limit: int | None) -> QueryResult:
    from orchestrator.sandbox.reset.database import database_reader  # noqa: PLC0415

    if replica.database is None:
        raise DatabaseError(f"site '{replica.site.name}' has no database")
    with database_reader(replica.site, replica.database) as reader:
        return reader.read(sql, limit)


_HEADERS: Final = {"Accept": "application/json, */*;q=0.5", "User-Agent": "Arena checks"}


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What an API answered: redirects are not followed, for they may lead to a login page."""

    status: int
    body: str


async def ask_api(replica: Replica, role: str, path: str) -> ApiAnswer:
    """GET a path of a replica with a role's API login, past any gateway: nothing is counted.

    Args:
        role: one with `api` in the site's manifest.
    """
    login = role_of(replica.site, role).api
    if login is None:
        message = f"site '{replica.site.name}', role '{role}': its manifest has no `api` login"
        raise ApiError(message)
    return await asyncio.to_thread(_get, replica, login, path)


def _get(replica: Replica, login: ApiLogin, path: str) -> ApiAnswer:
    client = replica_client(replica.site, replica.endpoint)
    headers = {**_HEADERS, **login.headers()}
    try:
        answer = fetch(client, path, timeout_s=PAGE_TIMEOUT_S, headers=headers)
    except requests.RequestException as cause:
        message = f"site '{replica.site.name}': GET {path} of its API failed: {cause}"
        raise ApiError(message) from cause
    return ApiAnswer(answer.status, answer.text)


MAX_BYTES: Final = 64 * 1024
_MAX_ERRORS: Final = 2_000
_ENDED: Final = frozenset({124, 137})  # what `timeout` exits with
_AS_ROOT: Final = "arena: the image runs commands as root"
_MORE_S: Final = 10.0
# Output goes through `head` on its way out: a command that prints without end is cut off there.
_SCRIPT: Final = f"""
if [ "$(id -u)" = 0 ]; then echo '{_AS_ROOT}' >&2; exit 126; fi
run() {{ timeout -k 1 "$2" sh -c "$1" 2>&1 1>&5; echo $? >&4; }}
exec 3>&1
told() {{ run "$1" "$2" | head -c {_MAX_ERRORS} >&2; }}
code=$( {{ told "$1" "$2" 5>&1 | head -c {MAX_BYTES + 1} >&3; }} 4>&1 )
exit "$code"
"""


async def run_command(engine: Engine, container_id: str, command: str, seconds: int) -> Ran:
    argv = ["sh", "-c", _SCRIPT, "sh", command, str(seconds)]
    done = await engine.execute(container_id, argv, timeout_s=seconds + _MORE_S)
    errors = done.stderr.decode("utf-8", "replace")
    if errors.startswith(_AS_ROOT):
        raise TaskError("no command is run for a check: its image has no user of its own but root")
    if done.exit_code in _ENDED:
        raise TaskError(f"the command did not end within {seconds} s: {command[:80]}")
    if len(done.stdout) > MAX_BYTES:
        raise TaskError(f"the command printed more than {MAX_BYTES:,} bytes: {command[:80]}")
    return Ran(done.exit_code, done.stdout.decode("utf-8", "replace"), errors)


_START_S: Final = 10.0  # an interpreter starts, and imports what the function needs
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "TZ")


async def call_function(
    function: str, arguments: Mapping[str, JsonValue], evidence: Evidence, seconds: int
) -> tuple[str, ...]:
    """Return the values that a registered function finds in evidence.

    Args:
        function: its name in the entry-point group `arena.functions`.
        seconds: how long it may take.
    """
    from evaluators.check_functions import FUNCTIONS  # noqa: PLC0415  `arena up` needs no checks

    if function not in FUNCTIONS.names():
        message = f"no installed package registers a function '{function}'"
        raise TaskError(message, hint=f"install the one that does (group `{FUNCTIONS.group}`)")
    asked = json.dumps(
        {
            "function": function,
            "arguments": dict(arguments),
            "evidence": evidence.model_dump(mode="json"),
            "seconds": seconds,
        }
    )
    with TemporaryDirectory(prefix="arena-check-") as folder:
        code, told = await _ran(folder, asked.encode(), _START_S + seconds, function)
    return _values(code, told, function)


async def _ran(folder: str, asked: bytes, limit_s: float, function: str) -> tuple[int, bytes]:
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": folder,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "evaluators.check_functions",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limit_s):
            told, _ = await process.communicate(asked)
    except TimeoutError as error:
        raise TaskError(f"the function '{function}' did not end within its time") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, told


def _values(code: int, told: bytes, function: str) -> tuple[str, ...]:
    try:
        values = json.loads(told)
    except (ValueError, RecursionError) as error:
        raise TaskError(f"the function '{function}' broke off (exit code {code})") from error
    if not isinstance(values, list):
        message = f"the function '{function}' found no values: {values['raised']}"
        raise TaskError(" ".join(message.split()))
    return tuple(map(str, values))
