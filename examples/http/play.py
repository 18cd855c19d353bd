"""Plays one task over HTTP, with nothing but Python's standard library.

arena serve                                   # in another terminal; prints URL and token file
python examples/http/play.py http://127.0.0.1:8642 TOKEN_FILE
"""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from pathlib import Path
from typing import Any

TASK = "demo/wiki-bells-of-bruges"


class Arena:
    """The service, as far as this program needs it."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
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
            found: dict[str, Any] = json.load(answer)
            return found


def decide(tree: str) -> dict[str, Any]:
    """Return the next action: follow the link to Bruges, then tell how many bells it names."""
    bells = re.search(r"(\d+) bells", tree)
    if bells:
        return {"kind": "stop", "answer": bells[1]}
    link = re.search(r'\[(\d+)\] link "Bruges"', tree)
    if link:
        return {"kind": "click", "element": int(link[1])}
    return {"kind": "stop"}


def main(url: str, token_file: str) -> None:
    """Play the task, and print what it is worth."""
    arena = Arena(url, Path(token_file).read_text(encoding="ascii").strip())
    episode = arena.post("/episodes", {"task": TASK, "agent": "example"})
    print(episode["goal"])
    step: dict[str, Any] = {"observation": episode["observation"], "result": None}
    while step["result"] is None:
        action = decide(step["observation"]["parts"]["axtree"])
        step = arena.post(f"/episodes/{episode['episode']}/step", {"action": action})
    print(step["result"]["outcome"], step["result"]["reward"])


if __name__ == "__main__":
    main(*sys.argv[1:])
