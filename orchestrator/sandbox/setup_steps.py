"""Does what a task's `given` says to a replica, except for what needs a browser."""

from __future__ import annotations

import asyncio
import base64
import posixpath
from typing import TYPE_CHECKING, Final, assert_never

import requests

from arena_core.errors import GivenError, TaskError
from orchestrator.sandbox.check_queries import run_command
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.reset.database import execute_as_owner
from sites.manifest import DatabaseEngine, ServerDatabase
from tasks.given import ApiCall, CallApi, GivenFile, PutFile, RunCommand, RunSql, step_in_words

if TYPE_CHECKING:
    from orchestrator.sandbox.engine.engine import Engine
    from orchestrator.sandbox.reset.replica import Replica

_SQL_S: Final = 60.0
_COMMAND_S: Final = 60
_REFUSED_FROM: Final = 300  # a redirect may lead to a login page
_SHOWN: Final = 300
_PIECE: Final = 90_000  # what Linux takes as one argument is 128 KiB

SiteStep = RunSql | CallApi | PutFile | RunCommand


async def set_up(engine: Engine, replica: Replica, step: SiteStep) -> None:
    match step:
        case RunSql():
            await _run_sql(engine, replica, step)
        case CallApi():
            await asyncio.to_thread(_call_api, replica, step.api)
        case PutFile():
            await _put_file(engine, replica, step.file)
        case RunCommand():
            await _run_command(engine, replica, step)
        case _:
            assert_never(step)


def failed(replica: Replica, step: SiteStep, why: str) -> GivenError:
    shown = " ".join(why.split())[:_SHOWN]
    return GivenError(f"site '{replica.site.name}': given, {step_in_words(step)}: {shown}")


async def _run_sql(engine: Engine, replica: Replica, step: RunSql) -> None:
    """Run statements as the user that the database server runs as: its accounts only read."""
    database = replica.site.database
    if not isinstance(database, ServerDatabase) or database.engine is not DatabaseEngine.MARIADB:
        raise failed(replica, step, "its database is no MariaDB server; use `command` or `api`")
    done = await execute_as_owner(engine, replica, step.sql, timeout_s=_SQL_S)
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace")
        raise failed(replica, step, said[max(said.find("ERROR "), 0) :])  # it quotes them first


def _call_api(replica: Replica, call: ApiCall) -> None:
    role = replica.site.roles.get(call.role)
    if role is None or role.api is None:
        why = f"the site's manifest has no `api` login of a role '{call.role}'"
        raise failed(replica, CallApi(api=call), why)
    client = replica_client(replica.site, replica.endpoint)
    try:
        with (
            origin_session(client) as session,
            session.request(
                call.method,
                client.url(call.path),
                json=call.body,
                headers=role.api.headers(),
                timeout=PAGE_TIMEOUT_S,
                allow_redirects=False,
                stream=True,
            ) as answer,
        ):
            status = answer.status_code
            said = next(answer.iter_content(_SHOWN), b"").decode("utf-8", "replace")
    except requests.RequestException as cause:
        raise failed(replica, CallApi(api=call), str(cause)) from cause
    if status >= _REFUSED_FROM:
        raise failed(replica, CallApi(api=call), f"the API answered {status}: {said}")


async def _put_file(engine: Engine, replica: Replica, file: GivenFile) -> None:
    state = replica.site.state
    folder = "" if state is None else f"{state.folder}/"
    if not folder or not posixpath.normpath(file.path).startswith(folder):
        why = f"it is not in the site's state folder, {folder or 'which the site does not have'}"
        raise failed(replica, PutFile(file=file), why)
    written = base64.b64encode(file.content).decode("ascii")
    pieces = [written[at : at + _PIECE] for at in range(0, len(written), _PIECE)] or [""]
    for number, piece in enumerate(pieces):
        script = f'printf %s "$2" | base64 -d {">>" if number else ">"} "$1"'
        made = script if number else f'mkdir -p "$(dirname "$1")" && {script}'
        argv = ("sh", "-c", made, "sh", file.path, piece)
        done = await engine.execute(replica.container.id, argv)
        if done.exit_code != 0:
            raise failed(replica, PutFile(file=file), done.stderr.decode("utf-8", "replace"))


async def _run_command(engine: Engine, replica: Replica, step: RunCommand) -> None:
    try:
        ran = await run_command(engine, replica.container.id, step.command, _COMMAND_S)
    except TaskError as cause:
        raise failed(replica, step, cause.message) from cause
    if ran.exit_code != 0:
        raise failed(replica, step, f"exit code {ran.exit_code}: {ran.errors or ran.output}")
