"""Where a record comes from: run, task, step, seeds, images, agent, and who read the replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from arena_core.plugins import ARENA
from orchestrator.store.lock import AgentLock
from orchestrator.training.rollouts import Rollout, Turn, template_of
from orchestrator.training.samples import Sample

# Options of every model agent that shape no prompt.
_OF_THE_MODEL: Final = frozenset(
    {"model", "model_url", "model_deadline", "temperature", "seed", "prices", "replay"}
    | {"reasoning_effort", "max_completion_tokens"}
)


def provenance(rollout: Rollout, turn: Turn, sample: Sample | None) -> dict[str, Any]:
    """Return the fields that say where a record comes from, JSON alone."""
    lock, evidence = rollout.lock, rollout.outline
    asked: Mapping[str, Any] = {} if sample is None else sample.asked_with
    return {
        "run": lock.run,
        "suite": lock.suite,
        "suite_hash": lock.suite_hash,
        "task": rollout.task.id,
        "template": template_of(rollout.task),
        "sites": list(rollout.task.sites),
        "world": lock.label(evidence.world),
        "repeat": evidence.repeat,
        "attempt": evidence.attempt,
        "step": turn.step.index,
        "seed": asked.get("seed"),
        "run_seed": _number(lock.agent.options.get("seed")),
        "task_seed": None if evidence.wob is None else evidence.wob.seed,
        "temperature": _number(asked.get("temperature")),
        "site_images": [f"{tag}={image}" for tag, image in sorted(lock.images.items())],
        "agent": lock.agent.name,
        "agent_class": lock.agent.agent_class.value,
        "model": str(asked.get("model") or ""),
        "parser": parser_of(lock.agent, lock.packages),
        "prompt_version": prompt_version(lock.agent, lock.packages),
        "prompt_is": "asked" if asked else "observed",
    }


def origin(rollout: Rollout, turn: Turn, sample: Sample) -> dict[str, Any]:
    """Return the fields in which the two continuations of a pair may differ."""
    found = provenance(rollout, turn, sample)
    return {name: found[name] for name in ("run", "repeat", "attempt", "step", "seed", "model")}


def parser_of(agent: AgentLock, packages: Mapping[str, str]) -> str:
    """Return what read the replies: the agent's code, and whose version of it."""
    return f"{agent.import_path or agent.kind}, {_version(agent, packages)}"


def prompt_version(agent: AgentLock, packages: Mapping[str, str]) -> str:
    """Return what made the prompts: the agent's code with the options that shape them."""
    own = {name: one for name, one in agent.options.items() if name not in _OF_THE_MODEL}
    options = [f"{name}={one}" for name, one in sorted(own.items())]
    return " ".join([agent.kind, _version(agent, packages), *options])


def _version(agent: AgentLock, packages: Mapping[str, str]) -> str:
    if agent.distribution is not None:
        return f"{agent.distribution} {agent.version}"
    if agent.source_hash is not None:
        return f"sha256:{agent.source_hash}"
    return f"{ARENA} {packages.get(ARENA, 'of unknown version')}"


def _number(value: object) -> float | int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and isinstance(value, (int, float)) else None
