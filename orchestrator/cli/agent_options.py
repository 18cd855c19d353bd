"""The agent's options on a command line: those with a flag of their own, and `key=value`."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.errors import UsageError
from orchestrator.agents.options import flag_of, parse_options


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
