"""Plays a group of four rollouts from one state in the middle of a task, over HTTP.

arena serve --workers 5 --checkpoints         # in another terminal; prints URL and token file
python examples/rollouts/play.py http://127.0.0.1:8642 TOKEN_FILE

All four begin in a proven copy of the same state, so what their rewards differ in is their own
doing: the mean reward is the value of that state, and each reward less the mean an advantage.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

TASK = "demo/shop-latest-order-total"
ANSWERS = ("£44.95", "44.95 GBP", "£1,157.36", "it cannot be seen")  # a stand-in for a policy


class Arena:
    """The service, as far as this program needs it."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request, and return what is answered."""
        request = urllib.request.Request(  # noqa: S310  the service's own address
            self._url + path,
            data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
            },
        )
        with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
            return json.load(answer)


def link(observation: dict[str, Any], name: str) -> int:
    """Return the id of a link."""
    lines = observation["parts"]["axtree"].splitlines()
    line = next(one.strip() for one in lines if f'link "{name}"' in one)
    return int(line[1 : line.index("]")])


def main(url: str, token_file: str) -> None:
    """Walk to the middle, fork, and print what each rollout is worth."""
    arena = Arena(url, Path(token_file).read_text(encoding="ascii").strip())
    root = arena.post("/episodes", {"task": TASK, "agent": "rollouts"})
    episode, seen = root["episode"], root["observation"]
    for name in ("Account", "Order History"):
        action = {"kind": "click", "element": link(seen, name)}
        seen = arena.post(f"/episodes/{episode}/step", {"action": action})["observation"]
    arena.post(f"/episodes/{episode}/checkpoints", {"checkpoint": "orders"})
    asked = {"checkpoint": "orders", "count": len(ANSWERS)}
    branches = arena.post(f"/episodes/{episode}/forks", asked)
    rewards = []
    for branch, answer in zip(branches, ANSWERS, strict=True):
        ended = arena.post(f"/episodes/{branch['episode']}/finish", {"answer": answer})
        print(f"{answer}: {ended['outcome']}")
        if ended["reward"] is not None:  # what is unscored says nothing of the policy
            rewards.append(ended["reward"])
    mean = sum(rewards) / len(rewards)
    print(f"value of the state: {mean:g}; advantages: {[reward - mean for reward in rewards]}")
    arena.post(f"/episodes/{episode}/finish", {"status": "gave_up", "reason": "it was a root"})


if __name__ == "__main__":
    main(*sys.argv[1:])
