"""Commands inside containers: all that they print, and how they end.

The SDK's own `exec_start` asks for an upgraded connection and reads beneath the buffer that took in
the engine's headers, so output that comes in one piece with the headers is lost (docker-py #2042,
#3332). Here the engine is asked for an ordinary answer, which ends when the command does.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from arena_core.errors import EngineError
from orchestrator.sandbox.engine.containers import STATES_TOKEN, Executed

if TYPE_CHECKING:
    from docker import APIClient

_EVER: Final = 1  # seconds since 1970
# A stream's number, three zeros, the payload's length: Docker Engine API, "Stream format".
_FRAME: Final = struct.Struct(">BxxxL")
_STDERR: Final = 2
_PIECE: Final = 65_536
MOST_BYTES: Final = 256_000_000


def run_command(api: APIClient, container_id: str, argv: Sequence[str]) -> Executed:
    """Run a command in a running container until its output ends.

    Raises what the SDK raises, and EngineError where the engine's answer breaks off, or the command
    prints more than `MOST_BYTES`.
    """
    # What the container was started with is the supervisor's matter alone.
    command = api.exec_create(container_id, list(argv), environment={STATES_TOKEN: ""})["Id"]
    stdout, stderr = _streams(_output(api, command))
    return Executed(exit_code=_exit_code(api, container_id, command), stdout=stdout, stderr=stderr)


def _output(api: APIClient, command: str) -> bytes:
    """Start a command and return the engine's whole answer."""
    from docker.errors import create_api_error_from_http_exception  # noqa: PLC0415  loads on use
    from requests import HTTPError  # noqa: PLC0415

    url = f"{api.base_url}/v{api.api_version}/exec/{command}/start"
    how = {"Detach": False, "Tty": False}
    answer = bytearray()
    with api.post(url, json=how, stream=True, timeout=api.timeout) as response:
        try:
            response.raise_for_status()
        except HTTPError as error:
            create_api_error_from_http_exception(error)
        for piece in response.iter_content(_PIECE):
            answer += piece
            if len(answer) > MOST_BYTES:
                raise EngineError(f"a command printed more than {MOST_BYTES:,} bytes")
    return bytes(answer)


def _streams(answer: bytes) -> tuple[bytes, bytes]:
    """Part an answer's frames into what went to standard output and to standard error."""
    stdout, stderr = bytearray(), bytearray()
    at = 0
    while at < len(answer):
        if at + _FRAME.size > len(answer):
            raise _broken_off()
        stream, length = _FRAME.unpack_from(answer, at)
        at += _FRAME.size
        if at + length > len(answer):
            raise _broken_off()
        (stderr if stream == _STDERR else stdout).extend(answer[at : at + length])
        at += length
    return bytes(stdout), bytes(stderr)


def _broken_off() -> EngineError:
    message = "the engine's answer broke off in the middle of a command's output"
    return EngineError(message, hint="is the engine about to stop? try again")


def _exit_code(api: APIClient, container_id: str, command_id: str) -> int:
    """Return how a command ended whose output has ended: what is not noted yet is no zero.

    The engine notes the code a moment after the output; where that is still to come, its event is
    waited for. The engine repeats the last 256 first, whenever they were: a date would miss it
    where the clock was set since.
    """
    code = api.exec_inspect(command_id)["ExitCode"]
    if code is not None:
        return int(code)
    wanted = {"container": container_id, "event": "exec_die"}
    for event in api.events(since=_EVER, filters=wanted, decode=True):
        told = event["Actor"]["Attributes"]
        if told.get("execID") == command_id:
            return int(told["exitCode"])
    message = "its output ended, but the engine does not say how the command did"
    raise EngineError(message, hint="is the engine about to stop? try again")
