"""What clients may ask over HTTP."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from arena_core.actions import Action
from arena_core.worlds import World
from orchestrator.api.episode_terms import (
    LEAST_PIXELS,
    MOST_PIXELS,
    MOST_SECONDS,
    MOST_STEPS,
    SEEDS,
)
from orchestrator.observation import ARIA, AXTREE, SCREENSHOT
from orchestrator.serving.results import FinishStatus
from orchestrator.spending import Usage

# What the tools of MCP show: snapshots as Playwright MCP writes them, and pictures.
MCP_OBSERVED: Final = (ARIA, SCREENSHOT)


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Endpoint(StrEnum):
    """What an episode is played by beside the requests of this service.

    `mcp`: Playwright MCP's tools, at `mcp_url`. `cdp`: a Chromium of the episode's own, at
    `cdp_url`; no other may act then.
    """

    MCP = "mcp"
    CDP = "cdp"


class EpisodeLimits(_Asked):
    """Where an episode ends by itself, in place of its task's limits."""

    steps: int | None = Field(default=None, ge=1, le=MOST_STEPS)
    seconds: float | None = Field(default=None, gt=0, le=MOST_SECONDS)


Pixels = Annotated[int, Field(ge=LEAST_PIXELS, le=MOST_PIXELS)]


class CreateEpisode(_Asked):
    """Begin an episode.

    Attributes:
        task: `suite/task`.
        key: the caller's name for this episode: the same request under it is answered with the same
            episode, another request under it is refused.
        observe: forms of observation; no other is computed.
        agent: the name that the evidence shows.
        seed: a MiniWoB++ page draws its problem from it; every other task is the same whatever the
            seed.
        viewport: width and height of the window in CSS pixels, where not the task's own.
        endpoints: what it is played by beside `step`.
        idle_seconds: how long it waits for its client's next request, where that is shorter than
            the service's own.
    """

    task: str = Field(max_length=1000, examples=["demo/shop-latest-order-total"])
    world: World = World.OFFLINE
    key: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    observe: Annotated[tuple[str, ...], Field(max_length=20)] = (AXTREE,)
    agent: str = Field(default="http", min_length=1, max_length=100)
    seed: int | None = Field(default=None, ge=0, lt=SEEDS)
    limits: EpisodeLimits = EpisodeLimits()
    viewport: tuple[Pixels, Pixels] | None = Field(default=None, examples=[[1280, 720]])
    endpoints: frozenset[Endpoint] = frozenset({Endpoint.MCP})
    idle_seconds: float | None = Field(default=None, ge=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _has_one_driver(self) -> Self:
        if len(self.endpoints) > 1:
            message = "`endpoints`: cdp or mcp: two agents would disturb each other"
            raise ValueError(message)
        return self


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
        data: the same as JSON, in place of words.
        reason: why the task cannot be done, or why the agent gave up.
        usage: what the agent spent on models, as it says; it stands in the evidence.
    """

    answer: Annotated[str, Field(max_length=100_000)] | None = None
    data: JsonValue = None
    status: FinishStatus = FinishStatus.DONE
    reason: str = Field(default="", max_length=10_000)
    usage: Usage | None = None
