"""Calls a suite's own function for a check, in a process of its own; never in this one."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Final

from pydantic import JsonValue

from arena_core.errors import TaskError
from evaluators.check_functions import FUNCTIONS
from evaluators.evidence import Evidence

_START_S: Final = 10.0  # an interpreter starts, and imports what the function needs
_KEPT: Final = ("PATH", "LANG", "LC_ALL", "TZ")


async def call_function(
    function: str, arguments: Mapping[str, JsonValue], evidence: Evidence, seconds: int
) -> tuple[str, ...]:
    """Return the values that a registered function finds in evidence.

    Args:
        function: its name in the entry-point group `arena.functions`.
        arguments: handed to it.
        evidence: as it stands.
        seconds: how long it may take.

    Raises:
        TaskError: it is not registered, raised, took longer, or returned no values.
    """
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
        "evaluators.function_process",
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
        message = f"the function '{function}' did not end within its time"
        raise TaskError(message) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, told


def _values(code: int, told: bytes, function: str) -> tuple[str, ...]:
    try:
        values = json.loads(told)
    except ValueError as error:
        message = f"the function '{function}' broke off (exit code {code})"
        raise TaskError(message) from error
    if not isinstance(values, list):
        message = f"the function '{function}' found no values: {values['raised']}"
        raise TaskError(" ".join(message.split()))
    return tuple(map(str, values))
