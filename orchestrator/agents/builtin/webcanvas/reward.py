"""The reward module: the model judges how far it has come, with or without a golden reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from arena_core.errors import ArenaError
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.fields import PerWorld
from orchestrator.agents.builtin.prompt import filled
from orchestrator.agents.interface import Assignment, Guide

_COMPARED: Final[Mapping[str, str]] = {
    "exact": "is",
    "include": "contains",
    "number": "is the number",
}
_PARTS: Final[Mapping[str, str]] = {
    "logical": "the address of the page",
    "full": "the whole address of the page",
    "fragment": "the fragment of the page's address",
}


def nodes_text(guide: Guide, world: World) -> str:
    lines = [f"{at}. {_node(one, guide, world)}" for at, one in enumerate(guide.key_nodes, start=1)]
    return "\n".join(lines) or "(none)"


def _node(check: Check, guide: Guide, world: World) -> str:
    located = check.locate.model_dump(mode="json", exclude_defaults=True)
    what, is_address = _what(check.locate.by, located, guide)
    compared = _COMPARED.get(check.match.how, check.match.how)
    return f"{check.name}: {what} {compared} {_expected(check, guide, world, is_address)}"


def _what(by: str, located: Mapping[str, object], guide: Guide) -> tuple[str, bool]:
    page = located.get("page")
    where = f" on {_address(str(page), guide)}" if page else ""
    match by:
        case "url" if located.get("part") == "query":
            return f"the parameter '{located.get('key')}' of the address{where}", False
        case "url":
            part = str(located.get("part", "logical"))
            return f"{_PARTS[part]}{where}", part != "fragment"
        case "element":
            named = "".join(f" {located[one]!r}" for one in ("role", "named") if one in located)
            read = located.get("read", "name")
            return (
                f"after the event '{located.get('event')}', {read} of the element{named}{where}",
                False,
            )
        case _:
            more = ", ".join(f"{name} {value}" for name, value in located.items() if name != "by")
            return f"{by}{f' ({more})' if more else ''}", False


def _expected(check: Check, guide: Guide, world: World, is_address: bool) -> str:  # noqa: FBT001
    value: object = getattr(check.match, "value", None)
    if isinstance(value, PerWorld):
        value = value.of(world)
    if value is None:
        return check.match.model_dump_json(exclude={"how"}, exclude_defaults=True)
    values = value if isinstance(value, tuple) else (value,)
    texts = [f"{one:g}" if isinstance(one, float) else str(one) for one in values]
    if is_address and check.match.is_whole:
        texts = [_address(text, guide) for text in texts]
    return " and ".join(f"'{text}'" for text in texts)


def _address(logical: str, guide: Guide) -> str:
    """Return a logical URL as the browser shows it; as it is, where there is no such form of it."""
    try:
        return guide.url_of(logical)
    except ArenaError:
        return logical


# `none`: no reward module. `self`: the model judges by the task alone. `golden`: it is given the
# task's key nodes, so the agent is no contestant.
Reward = Literal["none", "self", "golden"]


class Verdict(BaseModel):
    """What the reward module says."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    status: Literal["doing", "finished", "loop"]
    score: float | None = None
    reason: str = ""
    description: str = ""

    def as_feedback(self) -> str:
        heads = {
            "doing": "The task is not done yet.",
            "finished": "The task is judged to be finished: give the final answer.",
            "loop": "The last steps repeat themselves: try another way.",
        }
        return " ".join(filter(None, [heads[self.status], self.description, self.reason]))


def reward_rules(assignment: Assignment, reward: Reward) -> str:
    """Return what the model is told of judging; the golden reference stands nowhere else."""
    guide = ""
    if reward == "golden" and assignment.guide is not None:
        nodes = nodes_text(assignment.guide, assignment.world)
        guide = "\n\n" + filled("webcanvas/guide.txt", task=assignment.intent, nodes=nodes)
    return filled("webcanvas/reward.txt", guide=guide)
