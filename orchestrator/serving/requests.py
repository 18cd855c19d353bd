"""What clients may ask over HTTP."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from arena_core.actions import Action
from arena_core.worlds import World
from orchestrator.observation import ARIA, AXTREE, SCREENSHOT
from orchestrator.serving.results import FinishStatus

# What the tools of MCP show: snapshots as Playwright MCP writes them, and pictures.
MCP_OBSERVED: Final = (ARIA, SCREENSHOT)


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CreateEpisode(_Asked):
    """Begin an episode.

    Attributes:
        task: `suite/task`.
        key: the caller's name for this episode: the same request under it is answered with the same
            episode, another request under it is refused.
        observe: forms of observation; no other is computed.
        agent: the name that the evidence shows.
    """

    task: str = Field(max_length=1000, examples=["demo/shop-latest-order-total"])
    world: World = World.OFFLINE
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    observe: Annotated[tuple[str, ...], Field(max_length=20)] = (AXTREE,)
    agent: str = Field(default="http", min_length=1, max_length=100)


class StepEpisode(_Asked):
    """Do one action, in Arena's JSON or as a call in BrowserGym's grammar.

    Attributes:
        thought: why, for the evidence.
    """

    action: Action | None = Field(default=None, examples=[{"kind": "click", "element": 12}])
    action_str: Annotated[str, Field(max_length=100_000)] | None = Field(
        default=None, examples=["click('12')"]
    )
    thought: Annotated[str, Field(max_length=100_000)] | None = None

    @model_validator(mode="after")
    def _says_one(self) -> Self:
        if (self.action is None) == (self.action_str is None):
            message = "exactly one of `action` and `action_str`"
            raise ValueError(message)
        return self


class FinishEpisode(_Asked):
    """End an episode and score it.

    Attributes:
        answer: where the task asks for one; only with `done`.
        reason: why the task cannot be done, or why the agent gave up.
    """

    answer: Annotated[str, Field(max_length=100_000)] | None = None
    status: FinishStatus = FinishStatus.DONE
    reason: str = Field(default="", max_length=10_000)
