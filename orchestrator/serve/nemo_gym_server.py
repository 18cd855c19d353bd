"""A resources server of NeMo Gym, whose sessions are episodes of a running `arena serve`.

It runs in NeMo Gym's environment, whose pins of openai and mcp exclude Arena's: it imports the
standard library, `arena_core.errors`, `orchestrator.serve.client`, and what NeMo Gym brings.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from argparse import ArgumentParser
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from orchestrator.serve.client import Episode, EpisodeUnscored, Record, Refused, Service

_HOW: Final = (
    "You act in a web browser. Call `step` with one action, such as click('12') or"
    " fill('7', 'text') for the element with that number, goto('https://…'), scroll(0, 400) or"
    " noop(), which shows the page. When you are done, call it with send_msg_to_user('the answer'),"
    " or with report_infeasible('why')."
)
_TOOL: Final[Record] = {
    "type": "function",
    "name": "step",
    "description": "Do one action in the browser, and see the page that it leads to.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"action_str": {"type": "string"}},
        "required": ["action_str"],
        "additionalProperties": False,
    },
}
_CONFLICT, _FORBIDDEN, _UNSCORED = 409, 403, 503
_MOST_SESSIONS: Final = 10_000


class ArenaServerConfig(BaseResourcesServerConfig):  # type: ignore[misc]
    """How episodes are played.

    Attributes:
        url: where `arena serve` is; else ARENA_URL says so.
        token_file: the file with its token; else ARENA_TOKEN_FILE says so.
        partial_credit: what a failure earns that met every key node of its task, and its share of
            that where it met some; 0 for none. Answers say how much of a reward it is.
        idle_seconds: how long an episode waits for its agent's next step, where that is shorter
            than the service's own time; then it is unscored.
    """

    url: str | None = None
    token_file: str | None = None
    partial_credit: float = Field(0.0, ge=0, lt=1)
    idle_seconds: float | None = None


class Asked(BaseModel):
    """What a row of a data set says to this server.

    Attributes:
        task: `suite/task`.
        world: `offline` or `online`.
        max_steps: in place of the task's own limit.
    """

    task: str
    world: str = "offline"
    max_steps: int | None = None


class SeedRequest(BaseSeedSessionRequest):  # type: ignore[misc]
    """Begin an episode, at an exported state where one is given."""

    model_config = ConfigDict(extra="allow")
    verifier_metadata: Asked
    state: str | None = None


class SeedResponse(BaseSeedSessionResponse):  # type: ignore[misc]
    """What is seen first."""

    observation: Record


class Step(BaseModel):
    """A call of BrowserGym's action space, or Arena's JSON."""

    action_str: str


class Seen(BaseModel):
    """What an action led to; the verdict is for `/verify` alone."""

    url: str
    page: str
    error: str | None
    done: bool


class ExportedState(BaseModel):
    """An episode as it is: the file of a checkpoint, in base64."""

    state: str


class VerifyRequest(BaseVerifyRequest):  # type: ignore[misc]
    """What the model said, beside what its row says."""

    model_config = ConfigDict(extra="allow")


class VerifyResponse(BaseVerifyResponse):  # type: ignore[misc]
    """The reward, and what it is made of."""

    model_config = ConfigDict(extra="allow")
    reward_components: dict[str, float]
    outcome: str
    key_nodes_met: int
    key_nodes: int
    steps: int


class ArenaResourcesServer(SimpleResourcesServer):  # type: ignore[misc]
    """Seeds, steps and verifies episodes of Arena's, and exports and restores their state."""

    config: ArenaServerConfig
    _sessions: dict[str, Episode] = PrivateAttr(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        app: FastAPI = super().setup_webserver()
        app.post("/step")(self.step)
        app.post("/export_state")(self.export_state)
        return app

    async def seed_session(self, request: Request, body: SeedRequest) -> SeedResponse:
        """Begin the session's episode; a session has one, whoever asks again."""
        session = request.session[SESSION_ID_KEY]
        if session in self._sessions:
            raise HTTPException(_CONFLICT, "the session has an episode")
        if body.state is not None:
            self._require_harness(request)
        try:
            episode = await asyncio.to_thread(self._begin, body)
        except EpisodeUnscored as unscored:
            raise HTTPException(_UNSCORED, str(unscored)) from unscored
        except Refused as refused:
            raise HTTPException(refused.status, str(refused)) from refused
        self._sessions[session] = episode
        self._forget_old()
        return SeedResponse(observation=_seen(episode.created["observation"]))

    async def step(self, request: Request, body: Step) -> Seen:
        """Do one action; what cannot be read does nothing, says why, and uses a step up."""
        episode = self._played(request)
        if episode.result is not None:
            raise HTTPException(_CONFLICT, "the episode is over")
        try:
            done = await asyncio.to_thread(episode.step, body.action_str)
        except Refused as refused:
            raise HTTPException(refused.status, str(refused)) from refused
        return Seen(**_seen(done["observation"]), done=done["result"] is not None)

    async def verify(self, request: Request, body: VerifyRequest) -> VerifyResponse:
        """Return Arena's verdict; an episode without one is an error (503), and no 0."""
        episode = self._played(request)
        result = await asyncio.to_thread(episode.finish, _last_words(body))
        if result["reward"] is None:
            raise HTTPException(_UNSCORED, str(EpisodeUnscored(result)))
        met, of = result["key_nodes"]["met"], result["key_nodes"]["of"]
        failed = 1 - result["reward"]
        parts = {"outcome": result["reward"]}
        if self.config.partial_credit:
            parts["partial_credit"] = self.config.partial_credit * failed * met / of if of else 0.0
        return VerifyResponse(
            **body.model_dump(),
            reward=sum(parts.values()),
            reward_components=parts,
            outcome=result["outcome"],
            key_nodes_met=met,
            key_nodes=of,
            steps=result["steps"],
        )

    async def export_state(self, request: Request) -> ExportedState:
        """Return the episode as it is, for `/seed_session` of another session."""
        self._require_harness(request)
        try:
            file = await asyncio.to_thread(self._played(request).checkpoint, "exported")
        except Refused as refused:
            raise HTTPException(refused.status, str(refused)) from refused
        return ExportedState(state=b64encode(file).decode())

    def _begin(self, body: SeedRequest) -> Episode:
        asked = body.verifier_metadata
        service = self._service()
        common: Record = {"task": asked.task, "agent": "nemo-gym"}
        if self.config.idle_seconds is not None:
            common["idle_seconds"] = self.config.idle_seconds
        # Nobody says that an agent is gone: its silence must, so nothing keeps the episode alive.
        if body.state is not None:
            file = b64decode(body.state)
            return Episode.begin(service, common, checkpoint=file, is_kept=False)
        limits = {"steps": asked.max_steps}
        whole = {**common, "world": asked.world, "observe": ["axtree"], "limits": limits}
        return Episode.begin(service, whole, is_kept=False)

    def _service(self) -> Service:
        return Service.named(self.config.url, self.config.token_file)

    def _played(self, request: Request) -> Episode:
        episode = self._sessions.get(request.session[SESSION_ID_KEY])
        if episode is None:
            raise HTTPException(_CONFLICT, "the session has no episode: call /seed_session")
        return episode

    def _require_harness(self, request: Request) -> None:
        """Refuse agents: NeMo Gym's let a model call any route by the name of a tool.

        A state holds what the sites hold, so who wants one must know the service's token.
        """
        token = Path(self._service().token_file).read_text(encoding="ascii").strip()
        said = request.headers.get("Authorization", "")
        if not hmac.compare_digest(said.encode(), f"Bearer {token}".encode()):
            raise HTTPException(_FORBIDDEN, "states are for harnesses: send the service's token")

    def _forget_old(self) -> None:
        over = [name for name, one in self._sessions.items() if one.result is not None]
        for name in over[: max(0, len(self._sessions) - _MOST_SESSIONS)]:
            del self._sessions[name]


def rows(
    suite: str = "demo",
    tasks: str = "*",
    split: str | None = None,
    world: str = "offline",
    *,
    service: Service | None = None,
) -> Iterator[Record]:
    """Yield the rows of a data set for NeMo Gym: prompts and tools, no checks and no golds."""
    for one in (service or Service.named()).tasks(suite, tasks, split):
        if world in one["worlds"]:
            said = [{"role": "system", "content": _HOW}, {"role": "user", "content": one["goal"]}]
            asked = {"input": said, "tools": [_TOOL], "parallel_tool_calls": False}
            meant = {"task": one["id"], "world": world}
            yield {"responses_create_params": asked, "verifier_metadata": meant}


def _seen(observation: Record) -> Record:
    page = observation["parts"]["axtree"]
    seen = {"url": observation["url"], "page": page, "error": observation["last_error"]}
    reply = observation.get("reply")
    return seen if reply is None else {**seen, "reply": reply}


def _last_words(body: BaseVerifyRequest) -> str | None:
    """Return what the model said last, which is its answer where it submitted none."""
    said = [
        getattr(part, "text", "")
        for item in body.response.output
        if getattr(item, "type", None) == "message"
        for part in item.content
    ]
    return said[-1].strip() or None if said else None


def main() -> None:
    """Write a data set: `python -m orchestrator.serve.nemo_gym_server --suite demo FILE`."""
    asked = ArgumentParser(prog="orchestrator.serve.nemo_gym_server", description=main.__doc__)
    asked.add_argument("file", type=Path)
    asked.add_argument("--suite", default="demo")
    asked.add_argument("--tasks", default="*", help="ids or patterns, with commas between")
    asked.add_argument("--split")
    asked.add_argument("--world", default="offline", choices=("offline", "online"))
    given = asked.parse_args()
    found: list[Any] = list(rows(given.suite, given.tasks, given.split, given.world))
    given.file.write_text("".join(f"{json.dumps(one)}\n" for one in found), encoding="utf-8")


if __name__ == "__main__":
    main()
