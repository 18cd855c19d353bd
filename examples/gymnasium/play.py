"""Plays one task as a Gymnasium environment.

pip install 'arena-orchestrator[gym]'
python examples/gymnasium/play.py
"""

from __future__ import annotations

import re
from typing import Any

import gymnasium


def decide(observation: dict[str, Any]) -> str:
    """Return the next action: follow the link to Bruges, then tell how many bells it names."""
    tree = observation["axtree_txt"]
    bells = re.search(r"(\d+) bells", tree)
    if bells:
        return f'send_msg_to_user("{bells[1]}")'
    link = re.search(r'\[(\d+)\] link "Bruges"', tree)
    return f"click('{link[1]}')" if link else "report_infeasible('there is no link to Bruges')"


def main() -> None:
    """Play the task, and print what it is worth."""
    env = gymnasium.make("orchestrator.serve.gym:arena/demo.wiki-bells-of-bruges")
    try:
        observation, _ = env.reset(seed=0)
        print(observation["goal"])
        terminated = truncated = False
        while not (terminated or truncated):
            action = decide(observation)
            observation, reward, terminated, truncated, info = env.step(action)
        print(info["outcome"], reward)
    finally:
        env.close()


if __name__ == "__main__":
    main()
