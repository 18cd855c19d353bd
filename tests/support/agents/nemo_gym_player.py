"""NeMo Gym's own agent and model servers, beside Arena's resources server, in one process.

`python -m support.agents.nemo_gym_player JSON` runs in an environment without Arena's
dependencies. The agent asks the model server, which asks a scripted endpoint; requests between the
three are those of NeMo Gym's own client.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn

from support.agents.line_player import asked_in_lines

HOST = "127.0.0.1"
OK = 200
KINDS = {
    "arena": "resources_servers",
    "agent": "responses_api_agents",
    "model": "responses_api_models",
}


@asynccontextmanager
async def serving(model_url: str, config: dict[str, Any]) -> AsyncIterator[Any]:
    """Run the three servers until the block ends, and yield NeMo Gym's client of them."""
    sockets = {name: socket.create_server((HOST, 0)) for name in KINDS}
    at = {
        name: {"host": HOST, "port": one.getsockname()[1], "entrypoint": "app.py"}
        for name, one in sockets.items()
    }
    known = {name: {kind: {name: at[name]}} for name, kind in KINDS.items()}
    os.environ["NEMO_GYM_CONFIG_DICT"] = json.dumps(known)

    from nemo_gym.config_types import BaseServerConfig  # noqa: PLC0415  reads what is set above
    from nemo_gym.server_utils import ServerClient  # noqa: PLC0415
    from omegaconf import OmegaConf  # noqa: PLC0415
    from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig  # noqa: PLC0415
    from responses_api_models.vllm_model.app import VLLMModel, VLLMModelConfig  # noqa: PLC0415

    from orchestrator.serve.nemo_gym_server import (  # noqa: PLC0415
        ArenaResourcesServer,
        ArenaServerConfig,
    )

    client = ServerClient(
        head_server_config=BaseServerConfig(host=HOST, port=1),
        global_config_dict=OmegaConf.create(known),
    )
    arena = ArenaServerConfig(name="arena", **at["arena"], **config)
    agent = SimpleAgentConfig(
        name="agent",
        **at["agent"],
        resources_server={"type": KINDS["arena"], "name": "arena"},
        model_server={"type": KINDS["model"], "name": "model"},
    )
    model = VLLMModelConfig(
        name="model",
        **at["model"],
        base_url=model_url,
        api_key="none",
        model="scripted",
        return_token_id_information=False,
        uses_reasoning_parser=False,
    )
    servers = {
        "arena": ArenaResourcesServer(config=arena, server_client=client),
        "agent": SimpleAgent(config=agent, server_client=client),
        "model": VLLMModel(config=model, server_client=client),
    }
    running = [
        uvicorn.Server(uvicorn.Config(one.setup_webserver(), log_level="warning"))
        for one in servers.values()
    ]
    tasks = [
        asyncio.create_task(server.serve(sockets=[sockets[name]]))
        for name, server in zip(servers, running, strict=True)
    ]
    try:
        yield client
    finally:
        for server in running:
            server.should_exit = True
        await asyncio.gather(*tasks)


async def play(model: str, tasks: str, config: dict[str, Any]) -> dict[str, Any]:
    """Let the agent play every row of a data set, and return what it says of each."""
    async with serving(model, config) as client:
        found = {}
        for row in _rows(tasks):
            answer = await client.post("agent", "/run", json=row)
            text = (await answer.read()).decode()
            said = json.loads(text) if answer.ok else {"error": text}
            found[row["verifier_metadata"]["task"]] = {"status": answer.status, **said}
        return found


async def states(model: str, tasks: str, actions: list[str]) -> list[Any]:
    """Do actions, go on from the exported state in another session, and end both the same way."""
    token = _token()
    async with serving(model, {}) as client:
        [row] = _rows(tasks)

        async def post(path: str, body: Any, cookies: Any, **more: Any) -> tuple[Any, Any, int]:
            answer = await client.post("arena", path, json=body, cookies=cookies, **more)
            text = (await answer.read()).decode()
            return json.loads(text) if answer.ok else text, answer.cookies, answer.status

        _, first, _ = await post("/seed_session", row, {})
        for action in actions:
            _, first, _ = await post("/step", {"action_str": action}, first)
        refused = (await post("/export_state", {}, first))[2]
        again = (await post("/seed_session", row, first))[2]
        state, first, _ = await post("/export_state", {}, first, headers=dict(token))
        without = (await post("/seed_session", row | state, {}))[2]
        seen, second, _ = await post("/seed_session", row | state, {}, headers=dict(token))
        last = {"response": _response("47"), **row}
        verdicts = [(await post("/verify", last, one))[0] for one in (first, second, second)]
        return [
            *(refused, again, without, seen["observation"]["url"]),
            [one["reward"] if isinstance(one, dict) else one for one in verdicts],
        ]


async def hang(model: str, tasks: str) -> None:
    """Begin an episode, say so, and wait to be killed."""
    async with serving(model, {}) as client:
        [row] = _rows(tasks)
        assert (await client.post("arena", "/seed_session", json=row)).ok
        print("begun", flush=True)  # noqa: T201
        await asyncio.sleep(600)


class Session:
    """A session of the resources server's, as `asked_in_lines` asks it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._cookies: Any = {}
        self._row: dict[str, Any] = {}

    async def begin(self, task: str) -> dict[str, Any]:
        suite, _, name = task.rpartition("/")
        [self._row] = _rows(name, suite)
        status, said = await self._post("/seed_session", self._row)
        assert status == OK, said
        return self._seen(said["observation"])

    async def act(self, action: str) -> dict[str, Any]:
        status, said = await self._post("/step", {"action_str": action})
        assert status == OK, said
        if not said["done"]:
            return self._seen(said)
        status, said = await self._post("/verify", {"response": _response(""), **self._row})
        if status == OK:
            ended = {"outcome": said["outcome"], "reason": None, "reward": said["reward"]}
        else:
            outcome, reason = re.findall(r"(unscored): (\w+):", said)[0]
            ended = {"outcome": outcome, "reason": reason, "reward": None}
        return {"verdict": ended}

    async def close(self) -> None:
        """NeMo Gym tells nobody: what is over is over."""

    async def _post(self, path: str, body: Any) -> tuple[int, Any]:
        answer = await self._client.post("arena", path, json=body, cookies=self._cookies)
        text = (await answer.read()).decode()
        self._cookies = answer.cookies or self._cookies
        return answer.status, json.loads(text) if answer.ok else text

    def _seen(self, said: Any) -> dict[str, Any]:
        return {"url": said["url"], "text": said["page"], "error": said["error"]}


async def sessions(model: str) -> None:
    """Play as many sessions as are asked for."""
    async with serving(model, {}) as client:
        await asked_in_lines(lambda: Session(client))


def _token() -> dict[str, str]:
    token = Path(os.environ["ARENA_TOKEN_FILE"]).read_text(encoding="ascii").strip()
    return {"Authorization": f"Bearer {token}"}


def _rows(tasks: str, suite: str = "demo") -> list[Any]:
    from orchestrator.serve.nemo_gym_server import rows  # noqa: PLC0415

    return list(rows(suite, tasks))


def _response(text: str) -> dict[str, Any]:
    """Return what a model said, as the Responses API writes it."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"type": "message", "role": "assistant", "id": "m", "status": "completed"}
    return {
        "id": "r",
        "created_at": 0,
        "model": "scripted",
        "object": "response",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "output": [{**message, "content": [part]}],
    }


_PLAYS: dict[str, Any] = {"play": play, "states": states, "hang": hang, "sessions": sessions}

if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    print(json.dumps(asyncio.run(_PLAYS[asked.pop("what")](**asked))), flush=True)  # noqa: T201
