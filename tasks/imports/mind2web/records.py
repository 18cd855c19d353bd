"""Mind2Web-Live's files: the published tasks, and the platform's raw export."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Text = Annotated[str, Field(min_length=1)]
Function = Literal[
    "url_included_match",
    "url_exactly_match",
    "url_semantic_match",
    "element_path_exactly_match",
    "element_path_included_match",
    "element_value_exactly_match",
    "element_value_included_match",
    "element_value_semantic_match",
]
_URL: Final = re.compile(r"https?://[^\s\"'<>]+")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class NodeContent(_Lenient):
    """What a key node asks for.

    Attributes:
        key: of `url_*`: one parameter of the query; the whole URL where empty.
        reference_answer: the text, the CSS selector, or the rule for a judge.
        netloc: of elements: the first label of the host, without `www.`.
        url: the page of the step in which it was recorded.
        path: of a value: the CSS selector of its element.
    """

    reference_answer: str
    url: Text
    key: str = ""
    netloc: str = ""
    path: str | None = None


class KeyNode(_Lenient):
    """One state on the way to the goal."""

    match_function_name: Function
    content: NodeContent
    method: str | None = None


class Mind2WebRecord(_Lenient):
    """One published task."""

    index: int | Text
    task: Text
    reference_task_length: int = Field(ge=1)
    evaluation: tuple[KeyNode, ...] = Field(min_length=1)


class _Reward(_Lenient):
    name: Text
    required: str | None = ""
    optional: str | None = ""
    key: str | None = ""


class _Step(_Lenient):
    href: str | None = ""
    selector: str | None = ""
    value: str | None = ""
    description: str | None = ""
    rewards: tuple[_Reward, ...] = Field(default=(), alias="rewardFunction")


class RawExport(_Lenient):
    """One task as the recording platform exports it."""

    title: Text
    steps: tuple[_Step, ...] = Field(min_length=1)

    def published(self, index: int) -> dict[str, JsonValue]:
        """Return the task as the publisher's `raw_data_processor.py` writes it out."""
        return {
            "index": index,
            "task": self.title,
            "reference_task_length": len(self.steps),
            "evaluation": [node for step in self.steps for node in _nodes(step)],
        }


def _nodes(step: _Step) -> Iterator[dict[str, JsonValue]]:
    """Yield the key nodes of a step; one of path and value is one node with a `path`."""
    named = _URL.search(step.description or "")
    url = named[0] if named else step.href or ""
    names = {one.name for one in step.rewards}
    has_value = any(name.startswith("element_value") for name in names)
    for one in step.rewards:
        is_path = one.name.startswith("element_path")
        if is_path and has_value:
            continue
        content: dict[str, JsonValue] = {"key": one.key or "", **_asked(one, step, url), "url": url}
        node: dict[str, JsonValue] = {"match_function_name": one.name, "content": content}
        if not one.name.startswith("url"):
            content.pop("key")
            content["netloc"] = first_label(url)
        if is_path:
            node["method"] = "selector"
        elif has_value and any(name.startswith("element_path") for name in names):
            content["path"] = step.selector or ""
        yield node


def _asked(reward: _Reward, step: _Step, url: str) -> dict[str, JsonValue]:
    match reward.name:
        case "url_included_match":
            wanted = unquote(reward.required or "")
        case "url_exactly_match":
            values = parse_qs(urlsplit(url).query).get(reward.key or "", [])
            wanted = reward.optional or (values[0] if values else url)
        case "url_semantic_match" | "element_value_semantic_match":
            wanted = reward.optional or ""
        case "element_value_included_match":
            wanted = reward.required or ""
        case "element_value_exactly_match":
            wanted = step.value or ""
        case _:
            wanted = step.selector or ""
    return {"reference_answer": wanted}


def first_label(url: str) -> str:
    """Return what the published code calls `netloc`: the first label of the host, without www."""
    labels = urlsplit(url).netloc.split(".")
    return labels[1] if len(labels) > 1 and labels[0].startswith("www") else labels[0]
