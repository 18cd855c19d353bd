"""What is answered over HTTP, as the OpenAPI document describes it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from arena_core.worlds import World
from orchestrator.serving.results import EpisodeResult


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class CreatedEpisode(_Answer):
    """An episode that has begun.

    Attributes:
        goal_object: the goal as a list of parts, each with `type` and `text`.
        site_urls: the sites' addresses, by their titles.
        max_seconds: of what is done, not of what the client thinks.
        observation: what is seen first.
        mcp_url: Playwright MCP's tools; None where not among `endpoints`, as the next four.
        cdp_url: the episode's own Chromium, for a client of CDP.
        proxy_url: the gateway, for a browser of the client's own; what is done there counts for no
            key node.
        storage_state_url: the logins as Playwright's storage state, for such a browser.
    """

    episode: str
    task: str
    world: World
    goal: str
    goal_object: list[dict[str, str]]
    start_urls: list[str]
    site_urls: dict[str, str]
    max_steps: int
    max_seconds: float
    idle_seconds: float
    observation: dict[str, Any]
    mcp_url: str | None = None
    cdp_url: str | None = None
    proxy_url: str | None = None
    storage_state_url: str | None = None


class StepAnswer(_Answer):
    """What one action led to.

    Attributes:
        reward: 0.0 until the end, then the result's.
        truncated: a limit ended the episode, and not the agent.
        error: why the action could not be read or done.
        result: what the episode is worth; None while it goes on.
    """

    observation: dict[str, Any]
    reward: float | None
    terminated: bool
    truncated: bool
    error: str | None
    result: EpisodeResult | None


class EpisodeState(_Answer):
    """How an episode stands."""

    episode: str
    task: str
    world: World
    key: str | None
    is_over: bool
    result: EpisodeResult | None


class SeenEpisode(EpisodeState):
    """The same, with what is seen."""

    observation: dict[str, Any]


class FinishedEpisode(EpisodeResult):
    """What an episode is worth."""

    episode: str
