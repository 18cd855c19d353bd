"""What goes over the wire: requests, answers, observations and tasks, as JSON."""

from __future__ import annotations

from base64 import b64encode
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import to_jsonable_python

from arena_core.actions import Action, Confidence
from arena_core.foreign import whole
from arena_core.foreign_fields import Data, Text
from arena_core.worlds import World
from orchestrator.agents.model_exchange import Usage
from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    SCREENSHOT,
    AriaSnapshot,
    AxTree,
    Html,
    MarkedPicture,
    Observation,
    Picture,
)
from orchestrator.runs.single_episode import (
    SEEDS,
    Pixels,
)
from orchestrator.runs.spec import EpisodeLimits
from orchestrator.serve.results import EpisodeResult, FinishStatus
from tasks.schema import Task

MOST_BYTES: Final = 2**20  # of a request, but for the file of a checkpoint
FROM_CHECKPOINT: Final = "/episodes/from-checkpoint"
# What the tools of MCP show: snapshots as Playwright MCP writes them, and pictures.
MCP_OBSERVED: Final = (ARIA, SCREENSHOT)


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TooLongError(Exception):
    """A body of unknown length was longer than is read."""


class Endpoint(StrEnum):
    """What an episode is played by beside the requests of this service.

    `mcp`: Playwright MCP's tools, at `mcp_url`. `cdp`: a Chromium of the episode's own, at
    `cdp_url`; no other may act then.
    """

    MCP = "mcp"
    CDP = "cdp"


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
        state: a saved state of the host that the sites in it begin in.
        endpoints: what it is played by beside `step`.
        idle_seconds: how long it waits for its client's next request, where that is shorter than
            the service's own.
    """

    task: str = Field(max_length=1000, examples=["demo/shop-latest-order-total"])
    world: World = World.OFFLINE
    key: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    observe: Annotated[tuple[str, ...], Field(max_length=20)] = (AXTREE,)
    agent: Text = Field(default="http", min_length=1, max_length=100)
    seed: int | None = Field(default=None, ge=0, lt=SEEDS)
    limits: EpisodeLimits = EpisodeLimits()
    viewport: tuple[Pixels, Pixels] | None = Field(default=None, examples=[[1280, 720]])
    state: str | None = Field(default=None, min_length=1, max_length=64)
    endpoints: frozenset[Endpoint] = frozenset({Endpoint.MCP})
    idle_seconds: float | None = Field(default=None, ge=1, allow_inf_nan=False)

    @model_validator(mode="after")
    def _has_one_driver(self) -> Self:
        if len(self.endpoints) > 1:
            raise ValueError("`endpoints`: cdp or mcp: two agents would disturb each other")
        return self


class ContinuedEpisode(CreateEpisode):
    """What the file of a checkpoint and the request beside it ask for.

    Attributes:
        sha256: of the file.
    """

    sha256: str


class GoOnEpisode(_Asked):
    """Begin an episode at the file of a checkpoint, which says how it is played.

    Attributes:
        task, key, agent, idle_seconds: see `CreateEpisode`; the file is part of the request.
    """

    task: str = Field(max_length=1000, examples=["demo/shop-latest-order-total"])
    key: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    agent: Text = Field(default="http", min_length=1, max_length=100)
    idle_seconds: float | None = Field(default=None, ge=1, allow_inf_nan=False)


class StepEpisode(_Asked):
    """Do one action, in Arena's JSON or as a call of BrowserGym's action space.

    Attributes:
        thought: why, for the evidence.
    """

    action: Action | None = Field(default=None, examples=[{"kind": "click", "element": 12}])
    action_str: Annotated[str, Field(max_length=100_000)] | None = Field(
        default=None, examples=["click('12')"]
    )
    thought: Annotated[Text, Field(max_length=100_000)] | None = None

    @model_validator(mode="after")
    def _says_one(self) -> Self:
        if (self.action is None) == (self.action_str is None):
            raise ValueError("exactly one of `action` and `action_str`")
        return self


class FinishEpisode(_Asked):
    """End an episode and score it.

    Attributes:
        answer: where the task asks for one; only with `done`.
        data: the same as JSON, in place of words.
        reason: why the task cannot be done, or why the agent gave up.
        usage: what the agent spent on models, as it says; it stands in the evidence.
        confidence: how likely the agent says that it did the task right; no score depends on it.
    """

    answer: Annotated[Text, Field(max_length=100_000)] | None = None
    data: Data = None
    status: FinishStatus = FinishStatus.DONE
    reason: Text = Field(default="", max_length=10_000)
    usage: Usage | None = None
    confidence: Confidence | None = None


class NamedCheckpoint(_Asked):
    """Take a checkpoint under a name, or go back to it."""

    checkpoint: Annotated[Text, Field(min_length=1, max_length=200)]


class ForkEpisode(NamedCheckpoint):
    """Begin episodes that go on from a checkpoint, each in a slot of its own."""

    count: int = Field(ge=1, le=64)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class CreatedEpisode(_Answer):
    """An episode that has begun.

    Attributes:
        goal_object: the goal as a list of parts, each with `type` and `text`.
        site_urls: the sites' addresses, by their names: `shop`.
        max_seconds: of what is done, not of what the client thinks.
        can_ask: somebody answers `ask_user`.
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
    can_ask: bool = False
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


class TakenCheckpoint(_Answer):
    """What was taken.

    Attributes:
        step: the last step that its branches share.
        states: by site that holds state, the digest of its fingerprint.
    """

    checkpoint: str
    step: int
    states: dict[str, str]


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


def observation_as_json(observation: Observation) -> dict[str, Any]:
    """Return an observation as JSON: its own fields, and `parts` by the names of their forms.

    Text forms (`axtree`, `aria`, `html`) are text. A picture is `{image, width, height}`, `image` a
    data URI of a PNG. Every other form has the fields of its Python type.
    """
    seen = {
        "step": observation.step,
        "url": observation.url,
        "title": observation.title,
        "tabs": to_jsonable_python(observation.tabs),
        "last_error": observation.last_error,
        "reply": observation.reply,
        "parts": {name: part_as_json(part) for name, part in observation.parts.items()},
    }
    return {name: _sendable(one) for name, one in seen.items()}


def part_as_json(part: object) -> Any:
    match part:
        case AxTree() | AriaSnapshot() | Html():
            return part.text
        case Picture():
            return {"image": data_uri(part), "width": part.width, "height": part.height}
        case MarkedPicture():
            marks = to_jsonable_python(part.marks)
            return {**part_as_json(part.picture), "marks": marks}
        case _:
            return to_jsonable_python(part, bytes_mode="base64")


def _sendable(value: Any) -> Any:
    """Return JSON whose texts can be sent: a page may hold half a code point."""
    match value:
        case str():
            return whole(value)
        case dict():
            return {name: _sendable(one) for name, one in value.items()}
        case list() | tuple():
            return [_sendable(one) for one in value]
        case _:
            return value


def data_uri(picture: Picture) -> str:
    return f"data:image/png;base64,{b64encode(picture.data).decode()}"


def task_as_json(suite: str, task: Task) -> dict[str, Any]:
    """Return what an agent may know of a task: no keys, no reference, no checks.

    Nor its family: one of them says that the task cannot be done.
    """
    return {
        "id": f"{suite}/{task.id}",
        "goal": task.intent,
        "sites": list(task.sites),
        "roles": {site: list(task.roles_of(site)) for site in task.roles},
        "worlds": [str(world) for world in task.worlds],
        "start": list(task.start_pages),
        "template": task.template,
        "split": task.split,
        "max_steps": task.limits.steps,
        "max_seconds": task.limits.seconds,
        "can_ask": bool(task.user),
    }
