"""The command that an agent from elsewhere is started with, and what it prints at its end."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from arena_core.errors import AgentError, UsageError
from arena_core.foreign import ForeignError, read_json
from arena_core.logs import Redactor, secrets_of
from orchestrator.agents.interface import (
    Agent,
    AgentClass,
    AgentLock,
    Assignment,
    Reference,
)
from orchestrator.agents.model_exchange import Spent, reported_usage
from orchestrator.episode.external.episode import Finish, Status

KIND: Final = "command"
DEFAULT_SECONDS: Final = 1800.0
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")
_ALIASES: Final = (
    "ARENA_CDP_URL",
    "CDP_URL",
    "BROWSER_CDP_URL",
    "PLAYWRIGHT_MCP_CDP_ENDPOINT",
    "BU_CDP_URL",
    "BROWSER_REMOTE_DEBUGGING_URL",
)
_SHOWN: Final = 100  # letters of a line that is refused
_KEYS: Final = ("answer", "data", "status", "reason", "usage", "confidence")
_FORM: Final = (
    'it must be empty or a JSON object such as {"answer": "47", "status": "done"};'
    " print everything else before it, or on standard error"
)
_HERE: Final = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """A program that plays episodes over CDP. It fills `AgentMaker`, and makes no agent.

    What it spends on models is known where its last line says so, once for each episode.

    Attributes:
        words: the program and its arguments; no shell reads them.
        seconds: how long it may take for one episode.
    """

    words: tuple[str, ...]
    seconds: float = DEFAULT_SECONDS
    observations: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str, seconds: float = DEFAULT_SECONDS) -> Self:
        """Read a command as a shell would split it; nothing is expanded."""
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(f"--agent-cmd cannot be read: {error}: {text!r}") from error
        if not words:
            raise UsageError("--agent-cmd is empty", hint="--agent-cmd 'python my_agent.py'")
        if shutil.which(words[0]) is None:
            message = f"--agent-cmd: there is no program '{words[0]}'"
            raise UsageError(message, hint="name one that is on PATH, or its path")
        return cls(words=words, seconds=seconds)

    @property
    def name(self) -> str:
        """The command without its secrets, as reports show it."""
        return Redactor(secrets_of())(shlex.join(self.words))

    @property
    def lock(self) -> AgentLock:
        options: dict[str, str | int | float | bool | None] = {
            "command": self.name,
            "seconds": self.seconds,
        }
        return AgentLock(
            name=self.name, kind=KIND, options=options, agent_class=AgentClass.CONTESTANT
        )

    def __call__(self, assignment: Assignment, reference: Reference) -> Agent:  # noqa: ARG002
        """Refuse: the program acts by itself."""
        raise UsageError(f"{self.name} drives its browser itself: Arena makes no agent of it")

    async def close(self) -> None:
        """Close nothing."""


def environment_of(
    info: Mapping[str, Any], info_file: str, base: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Return the environment of an agent's process: the user's, and what it needs of its episode.

    Proxies of the user's are cleared: a client must not ask one for the endpoint on loopback.
    """
    found = {name: one for name, one in base.items() if name.upper() not in _PROXIES}
    return (
        found
        | dict.fromkeys(_ALIASES, str(info["cdp_url"]))
        | {
            "ARENA_EPISODE": info_file,
            "ARENA_GOAL": str(info["goal"]),
            "ARENA_START_URL": str(info["start_urls"][0]),
            "ARENA_STORAGE_STATE": str(info["storage_state"]),
            "ARENA_PROXY_URL": str(info["proxy_url"]),
            "NO_PROXY": _HERE,
            "no_proxy": _HERE,
        }
    )


def read_finish(line: str) -> Finish:
    """Return what the last line of a program's standard output says.

    A program that prints nothing ended without an answer. Anything else might
    have been meant for one, so it is never passed over.
    """
    if not line:
        return Finish()
    said = _object(line)
    status = said.get("status") or Status.DONE
    if status not in list(Status):
        raise ValueError(f"`status` is {status!r}, and not {', '.join(Status)}")
    reason = said.get("reason")
    if not isinstance(reason, str | None):
        message = "`reason` is not text"
        raise ValueError(message)  # noqa: TRY004  what was printed is wrong, and no argument
    return Finish(
        answer=_text(said.get("answer")),
        data=said.get("data"),
        status=Status(status),
        spent=_spent(said.get("usage")),
        because=reason,
        confidence=said.get("confidence"),
    )


def _object(line: str) -> dict[str, Any]:
    try:
        said = read_json(line)
    except ForeignError as error:
        raise ValueError(f"{line[:_SHOWN]!r} {error}; {_FORM}") from error
    if not isinstance(said, dict):
        message = f"{line[:_SHOWN]!r} is not an object; {_FORM}"
        raise ValueError(message)  # noqa: TRY004  what was printed is wrong, and no argument
    unknown = [key for key in said if key not in _KEYS]
    if unknown:
        raise ValueError(f"it has no key {unknown[0][:_SHOWN]!r}, but {', '.join(_KEYS)}")
    return said


def _text(answer: object) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    if isinstance(answer, (dict, list)):
        message = "`answer` is not text"
        raise ValueError(message)  # noqa: TRY004  what was printed is wrong, and no argument
    return json.dumps(answer)


def _spent(usage: object) -> Spent:
    try:
        return reported_usage(usage)
    except AgentError as error:
        raise ValueError(error.message) from error
