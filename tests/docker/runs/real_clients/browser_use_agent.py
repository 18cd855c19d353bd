"""An agent of browser-use's, unchanged from PyPI, with a model at an address of the test's.

It runs in an environment of its own, whose only package of use is browser-use.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def keep_to_loopback(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse every connection and every question for a name that would leave this machine."""
    asked: object = None
    if event == "socket.getaddrinfo":
        asked = arguments[0]
    elif event in {"socket.connect", "socket.sendto"} and isinstance(arguments[1], tuple):
        asked = arguments[1][0]
    if asked is not None and asked not in LOOPBACK:
        with Path(sys.argv[2]).open("a", encoding="utf-8") as file:
            file.write(f"{event} {asked}\n")
        message = f"no packet leaves this machine: {event} {asked}"
        raise ConnectionRefusedError(message)


async def main(episode: dict[str, str]) -> None:
    """Let the model play the episode."""
    from browser_use import Agent, BrowserSession, ChatOpenAI  # noqa: PLC0415  under the hook

    agent = Agent(
        task=episode["goal"],
        llm=ChatOpenAI(model="scripted", base_url=sys.argv[1], api_key="none"),
        browser_session=BrowserSession(cdp_url=episode["cdp_url"]),
        use_vision=False,
        use_judge=False,
    )
    history = await agent.run(max_steps=6)
    sys.stdout.write(json.dumps({"answer": history.final_result()}) + "\n")


sys.addaudithook(keep_to_loopback)
asyncio.run(main(json.loads(Path(os.environ["ARENA_EPISODE"]).read_text(encoding="utf-8"))))
