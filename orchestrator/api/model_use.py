"""What a run may spend on models, or which run's replies answer instead of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Self

from arena_core.errors import UsageError
from orchestrator.agents.spec import Metered
from orchestrator.runner.agent_choice import ChosenAgent
from orchestrator.store.lock import RunLock, SpendingLimits
from orchestrator.store.recording import Recording
from orchestrator.store.run_folder import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """The replies of an earlier run, and its lock; both None where models are asked."""

    recording: Recording | None = None
    lock: RunLock | None = None

    @classmethod
    def of(cls, agent: ChosenAgent) -> Self:
        """Read the run that an agent's option `replay` names.

        Raises:
            StoreError: it is no run, or keeps no exchanges with a model.
        """
        if agent.replay is None:
            return cls()
        folder = RunFolder.open(Path(agent.replay))
        return cls(recording=Recording.load(folder), lock=folder.lock())


def spending_limits(
    agent: ChosenAgent, max_usd: float | None, max_tokens: int | None
) -> SpendingLimits:
    """Return the limits of a run.

    Raises:
        UsageError: one is no amount, or could not be held with this agent.
    """
    asked = ((Metered.USD, "--max-usd", max_usd), (Metered.TOKENS, "--max-tokens", max_tokens))
    for metered, flag, value in asked:
        if value is not None:
            _require_held(agent, metered, flag, value)
    return SpendingLimits(max_usd=max_usd, max_tokens=max_tokens)


def _require_held(agent: ChosenAgent, metered: Metered, flag: str, value: float) -> None:
    if not (isfinite(value) and value > 0):
        message = f"{flag} {value:g} is no amount that could be spent"
        raise UsageError(message)
    if agent.replay is not None:
        message = f"{flag} has no effect: a replay spends nothing"
        raise UsageError(message)
    if metered in agent.metered:
        return
    if Metered.TOKENS in agent.metered:
        message = f"{flag} cannot be held: nobody says what the model of {agent.lock.name} costs"
        raise UsageError(message, hint="give a table of prices with --prices FILE")
    message = f"{flag} has no effect: the agent {agent.lock.name} does not say what it spends"
    hint = "an agent of your own says so by its attribute `metered`, a set of 'tokens' and 'usd'"
    raise UsageError(message, hint=hint)
