"""browser-use plays episodes of Arena, with any model that speaks OpenAI's API.

    pip install browser-use==0.13.14
    arena eval wiki-bells-of-bruges --agent-cmd 'python browser_use_agent.py gpt-5'

The model's address and key are the environment's OPENAI_BASE_URL and OPENAI_API_KEY.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

from browser_use import Agent, BrowserSession, ChatOpenAI


async def main() -> None:
    """Let the model play the episode, and print its answer as the last line."""
    agent = Agent(
        task=os.environ["ARENA_GOAL"],
        llm=ChatOpenAI(model=sys.argv[1]),
        browser_session=BrowserSession(cdp_url=os.environ["ARENA_CDP_URL"]),
        use_vision=False,
        use_judge=False,
    )
    history = await agent.run(max_steps=30)
    sys.stdout.write(json.dumps({"answer": history.final_result()}) + "\n")


asyncio.run(main())
