"""Which agent a command line names, as a run's lock keeps it, and back again for `--resume`."""

from __future__ import annotations

import os
from dataclasses import replace

from orchestrator.agents.registry import AgentOption, AgentOptions, class_of, takes
from orchestrator.model.options import DEADLINE_S, url_of
from orchestrator.store.lock import AgentLock

_Kept = str | int | float | None


def lock_agent(name: str, options: AgentOptions) -> AgentLock:
    """Write down an agent with what it honours: what was left out as the value that counts then.

    Raises:
        UnknownNameError: there is no such agent.
        UsageError: the model's URL is none.
    """
    kept: dict[str, _Kept] = {"kind": name}
    if takes(name, AgentOption.SEED):
        kept["seed"] = options.seed or 0
    if takes(name, AgentOption.MODEL):
        kept["model"] = options.model
        kept["model_url"] = url_of(options.model_url, os.environ)
        kept["model_deadline_s"] = options.model_deadline_s or DEADLINE_S
        kept["temperature"] = options.temperature or 0.0
    # An endpoint may refuse what was left out, and not what a person asked for.
    kept["given"] = " ".join(options.given())
    return AgentLock(name=name, options=kept, agent_class=class_of(name))


def kind_of(lock: AgentLock) -> str:
    """Return the name by which the agent of a run can be made again."""
    return str(lock.options.get("kind") or lock.name)


def options_of(lock: AgentLock) -> AgentOptions:
    """Return the options of a run's agent; those of earlier versions' runs too.

    Raises:
        UnknownNameError: there is no such agent.
    """
    kept = lock.options
    given = str(kept.get("given") or "").split()
    seed = int(kept.get("seed") or 0)
    has_seed = seed != 0 or AgentOption.SEED in given
    seeded = AgentOptions(seed=seed if has_seed else None)
    if not takes(kind_of(lock), AgentOption.MODEL):
        return seeded if takes(kind_of(lock), AgentOption.SEED) else AgentOptions()
    has_temperature = AgentOption.TEMPERATURE in given
    return replace(
        seeded,
        model=_text(kept.get("model")),
        model_url=_text(kept.get("model_url")),
        model_deadline_s=_number(kept.get("model_deadline_s")),
        temperature=_number(kept.get("temperature")) if has_temperature else None,
    )


def _text(value: _Kept) -> str | None:
    return None if value is None else str(value)


def _number(value: _Kept) -> float | None:
    return None if value is None else float(value)
