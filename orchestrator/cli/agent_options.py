"""The agent's options on a command line: those with a flag of their own, and `key=value`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from arena_core.errors import UsageError
from orchestrator.agents.options import flag_of, parse_options

if TYPE_CHECKING:
    from orchestrator.outside.agent_command import AgentCommand


def agent_options(pairs: Sequence[str], **flags: str | float | None) -> dict[str, object]:
    """Return the options that a command line gives, by name.

    Args:
        pairs: `key=value`, of `--agent-option`.
        flags: of the options with a flag of their own; None where it was left out.

    Raises:
        UsageError: a pair is none, or an option is given twice.
    """
    given: dict[str, object] = dict(parse_options(pairs))
    for name, value in flags.items():
        if value is None:
            continue
        if name in given:
            message = f"{flag_of(name)} and --agent-option {name} say the same thing twice"
            raise UsageError(message)
        given[name] = value
    return given


def agent_command(
    context: typer.Context, command: str | None, seconds: float | None
) -> AgentCommand | None:
    """Return the program that plays in place of an agent; None where none is named.

    Raises:
        UsageError: an agent is named as well, an option says nothing, or there is no such program.
    """
    from orchestrator.outside.agent_command import DEFAULT_SECONDS, AgentCommand

    if command is None:
        if seconds is not None:
            message = "--agent-seconds is about --agent-cmd, and there is none"
            raise UsageError(message)
        return None
    source = context.get_parameter_source("agent")
    if source is not None and source.name == "COMMANDLINE":
        message = "--agent and --agent-cmd name two agents"
        raise UsageError(message, hint="leave one of them away")
    return AgentCommand.read(command, DEFAULT_SECONDS if seconds is None else seconds)
