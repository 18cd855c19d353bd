"""Arena's browser, observations and action strings, as BrowserGym's agents read and write them."""

from __future__ import annotations

import re
import time
from base64 import b64decode
from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from PIL import Image

from orchestrator.serve.client import Episode, Record, Service, reward_of

_FORMS: Final = ("axtree", "screenshot", "boxes")
_LINE: Final = re.compile(
    r"(?P<indent> *)\[(?P<id>\d+)\] (?P<role>\S+)"
    r'(?: "(?P<name>.*?)")?(?: value="(?P<value>.*)")?(?P<states>(?: [^\s"]+)*)'
)
_ACTED_ON: Final = re.compile(
    "button|checkbox|combobox|link|menuitem|menuitemcheckbox|menuitemradio|option|radio"
    "|searchbox|slider|spinbutton|switch|tab|textbox|treeitem"
)
Step = tuple[Record, float, bool, bool, Record]


class ArenaEnv(gymnasium.Env[Record, str]):
    """Plays a task in Arena's own browser: an action is a call of BrowserGym's action space.

    The reward is 0 until the last step, which has the whole: 1.0, 0.0, or NaN for an episode that
    could not be scored. `info["task_info"]` has Arena's verdict then.

    Args:
        task: `suite/task`.
        service: where Arena runs; else ARENA_URL and ARENA_TOKEN_FILE say so.
        world: `offline` or `online`.
        max_steps: in place of the task's own limit.
        agent: the name that the evidence shows.
        html: observe the page's markup as well, which agents read as `dom_txt` and `pruned_html`.

    Raises:
        EpisodeUnscored: at `reset`, where no episode could begin.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  Gymnasium's own

    def __init__(
        self,
        task: str,
        *,
        service: Service | None = None,
        world: str = "offline",
        max_steps: int | None = None,
        agent: str = "browsergym",
        html: bool = False,
    ) -> None:
        self._service = service or Service.named()
        self._asked: Record = {
            "task": task,
            "world": world,
            "observe": [*_FORMS, *(("html",) if html else ())],
            "agent": agent,
            "limits": {"steps": max_steps},
        }
        self.episode: Episode | None = None
        self._began = 0.0

    def reset(
        self, *, seed: int | None = None, options: Record | None = None
    ) -> tuple[Record, Record]:
        super().reset(seed=seed, options=options)
        self.close()
        self.episode = Episode.begin(self._service, {**self._asked, "seed": seed})
        self._began = time.time()
        return self._observed(self.episode.created["observation"], ""), {"task_info": {}}

    def step(self, action: str) -> Step:
        """Do the actions of one text; what cannot be read does nothing, and uses a step up."""
        if self.episode is None or self.episode.result is not None:
            raise ResetNeeded("the episode is over, or was never begun: call reset()")
        began = time.time()
        done = self.episode.step(action)
        seen = self._observed(done["observation"], action)
        info = {
            "action_exec_start": began,
            "action_exec_stop": time.time(),
            "action_exec_timeout": 0.0,
            "task_info": done["result"] or {},
        }
        if (result := done["result"]) is None:
            return seen, 0.0, False, False, info
        return seen, reward_of(result), not result["truncated"], result["truncated"], info

    def close(self) -> None:
        """Give the episode back; one that is not over is unscored."""
        if self.episode is not None:
            self.episode.release()

    def _observed(self, seen: Record, action: str) -> Record:
        assert self.episode is not None  # noqa: S101  for mypy
        return observed(seen, self.episode.goal, action, time.time() - self._began)


def observed(seen: Record, goal: str, action: str, elapsed_s: float) -> Record:
    """Return an observation of the service as BrowserGym's agents read it."""
    tabs, parts = seen["tabs"], seen["parts"]
    current = next((place for place, tab in enumerate(tabs) if tab["is_current"]), 0)
    tree = ax_nodes(parts["axtree"], seen["title"])
    return {
        "chat_messages": tuple(
            {"role": "user", "timestamp": 0.0, "message": said}
            for said in (goal, seen.get("reply"))
            if said is not None
        ),
        "goal": goal,
        "goal_object": ({"type": "text", "text": goal},),
        "open_pages_urls": tuple(tab["url"] for tab in tabs),
        "open_pages_titles": tuple(tab["title"] for tab in tabs),
        "active_page_index": np.asarray([current]),
        "url": seen["url"],
        "screenshot": _pixels(parts["screenshot"]["image"]),
        "dom_object": dom_of(parts.get("html", "")),
        "axtree_object": {"nodes": tree},
        "extra_element_properties": _properties(parts["boxes"], tree),
        "focused_element_bid": _focused(tree),
        "last_action": action,
        "last_action_error": seen["last_error"] or "",
        "elapsed_time": np.asarray([elapsed_s]),
    }


def ax_nodes(text: str, title: str) -> list[Record]:
    """Return Arena's accessibility tree as CDP's nodes, whose `browsergym_id` is Arena's number.

    Lines that name no node, such as those of dialogs, are texts under the root.
    """
    nodes = [_node("root", "RootWebArea", title)]
    above: list[tuple[int, Record]] = [(-1, nodes[0])]
    for number, line in enumerate(text.splitlines()):
        read = _LINE.fullmatch(line)
        if read is None:
            depth, node = 0, _node(f"line{number}", "StaticText", line)
        else:
            depth = len(read["indent"]) // 2
            node = _node(f"line{number}", read["role"], read["name"] or "", read["id"])
            node["properties"] = [_state(one) for one in read["states"].split()]
            if read["value"] is not None:
                node["value"] = {"value": read["value"]}
        while above[-1][0] >= depth:
            above.pop()
        above[-1][1]["childIds"].append(node["nodeId"])
        above.append((depth, node))
        nodes.append(node)
    return nodes


def _node(name: str, role: str, says: str, bid: str | None = None) -> Record:
    node: Record = {"nodeId": name, "role": {"value": role}, "name": {"value": says}}
    return {**node, "properties": [], "childIds": [], **({"browsergym_id": bid} if bid else {})}


def _state(word: str) -> Record:
    name, _, value = word.partition("=")
    return {"name": name, "value": {"value": value or True}}


def _focused(nodes: list[Record]) -> str:
    has = [one for one in nodes if {"focused"} & {state["name"] for state in one["properties"]}]
    return str(has[-1].get("browsergym_id", "")) if has else ""


def _properties(boxes: Mapping[str, Record], nodes: list[Record]) -> Record:
    """Return where elements are drawn; their roles say which can be acted on."""
    acted_on = {
        one.get("browsergym_id") for one in nodes if _ACTED_ON.fullmatch(one["role"]["value"])
    }
    return {
        bid: {
            "visibility": 1.0 if box["visible"] else 0.0,
            "bbox": [box["x"], box["y"], box["width"], box["height"]],
            "clickable": bid in acted_on,
            "set_of_marks": box["visible"] and bid in acted_on,
        }
        for bid, box in boxes.items()
    }


def dom_of(html: str) -> Record:
    """Return markup as a DOM snapshot of one text, which BrowserGym's code prints and prunes."""
    marked = re.sub(r' arena="(\d+)"', r' bid="\1"', html)
    nodes = {
        "parentIndex": [-1],
        "nodeType": [3],
        "nodeName": [0],
        "nodeValue": [1],
        "attributes": [[]],
        "contentDocumentIndex": {"index": [], "value": []},
    }
    return {"strings": ["#text", marked], "documents": [{"nodes": nodes}]}


def _pixels(uri: str) -> Any:
    with Image.open(BytesIO(b64decode(uri.partition(",")[2]))) as image:
        return np.array(image.convert("RGB"), dtype=np.uint8)
