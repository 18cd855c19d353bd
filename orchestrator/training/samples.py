"""A prompt with the reply that chose an action: what a model is trained on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import ValidationError

from orchestrator.grammars.autowebglm import print_command
from orchestrator.model.reply_body import ReplyBody, ReplyMessage
from orchestrator.observation import Observation, PrunedHtml, Tab
from orchestrator.training.rollouts import Rollout, Seen, Turn

Shape = Literal["chat", "autowebglm"]
Message = dict[str, Any]

# The folder of images beside the data file.
IMAGES: Final = "images"


class Removed(StrEnum):
    """Why a step of an episode became no record; the words are those of the data card."""

    FAILED = "the action could not be done"
    IDLE = "the reply held no action, and nothing was done"
    SEVERAL_CALLS = "the reply called several functions, of which one was played"
    CONTINUED = "chosen by the reply of an earlier step, whose record holds it"
    NOT_RECORDED = "what the agent was asked or saw is not recorded"
    NO_PICTURE = "an image of the prompt is not in the evidence"
    OTHER_SHAPE = "the prompt is not one text, as AutoWebGLM's is: --option shape=chat"
    REDACTED = "a secret was redacted when the episode was recorded"
    SECRET = "it holds a secret"  # noqa: S105 - the words of the card
    DUPLICATE = "the same prompt and reply as another record"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A prompt and its reply.

    Attributes:
        prompt: messages as the model was sent them, images by the place of their file.
        tools: the functions that it was offered.
        reply: the assistant's message.
        pictures: names of the images' files, in the order of the prompt.
        asked_with: the rest of the request: model, temperature, seed; empty where no model was
            asked, and the prompt is what the agent saw.
    """

    prompt: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...]
    reply: Message
    pictures: tuple[str, ...] = ()
    asked_with: Mapping[str, Any]

    @property
    def prompt_digest(self) -> str:
        """SHA-256 of the prompt and the functions: equal prompts have one."""
        return digest_of([self.prompt, self.tools])

    @property
    def digest(self) -> str:
        """SHA-256 of prompt and reply."""
        return digest_of([self.prompt, self.tools, self.reply])

    @property
    def one_text(self) -> str | None:
        """The prompt, where it is a single message of text and no function is offered."""
        if len(self.prompt) != 1 or self.tools:
            return None
        content = self.prompt[0].get("content")
        return content if isinstance(content, str) else None


def sample_of(rollout: Rollout, turn: Turn, form: str | None) -> Sample | Removed:
    """Return what a step is trained on, or why it is left out.

    Args:
        rollout: the episode.
        turn: the step.
        form: of an agent that asked no model, the form of observation that stands for the prompt;
            None takes no such episode.
    """
    if turn.has_failed:
        return Removed.FAILED
    if turn.does_nothing:
        return Removed.IDLE
    if turn.asked is None:
        if rollout.asked_models:
            return Removed.CONTINUED
        return _from_observation(rollout, turn, form)
    return _from_exchange(rollout, turn)


def reply_of(body: str) -> ReplyMessage | None:
    """Return the message of a recorded reply; None where it holds none."""
    try:
        return ReplyBody.model_validate_json(body).choices[0].message
    except (ValidationError, LookupError):
        return None


def _from_exchange(rollout: Rollout, turn: Turn) -> Sample | Removed:
    exchange = turn.asked.exchange if turn.asked is not None else None
    said = reply_of(exchange.reply or "") if exchange is not None else None
    if exchange is None or said is None:
        return Removed.NOT_RECORDED
    if len(said.calls) > 1:
        return Removed.SEVERAL_CALLS
    request = dict(exchange.request)
    messages, tools = request.pop("messages", None), request.pop("tools", None) or []
    if not isinstance(messages, list) or not isinstance(tools, list):
        return Removed.NOT_RECORDED
    pictures: list[str] = []
    prompt = tuple(_with_places(one, pictures) for one in messages if isinstance(one, dict))
    if any(not (rollout.folder / name).is_file() for name in pictures):
        return Removed.NO_PICTURE
    reply: Message = {"role": "assistant", "content": said.text or None}
    if said.calls:
        call = said.calls[0]
        function = {"name": call.name, "arguments": call.arguments}
        reply["tool_calls"] = [{"id": call.id, "type": "function", "function": function}]
    return Sample(
        prompt=prompt,
        tools=tuple(one for one in tools if isinstance(one, dict)),
        reply=reply,
        pictures=tuple(pictures),
        asked_with=request,
    )


def _with_places(message: Mapping[str, Any], pictures: list[str]) -> Message:
    """Return a message whose images are places beside the data file; notes their names."""
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    parts: list[dict[str, Any]] = []
    for part in content:
        url = (part.get("image_url") or {}).get("url")
        if part.get("type") == "image_url" and isinstance(url, str):
            pictures.append(url)
            parts.append({"type": "image", "image": f"{IMAGES}/{url}"})
        else:
            parts.append({"type": "text", "text": part.get("text", "")})
    return {**message, "content": parts}


def _from_observation(rollout: Rollout, turn: Turn, form: str | None) -> Sample | Removed:
    """Return goal and observation as the prompt, and the action in the grammar of the form."""
    text = None if form is None else _text_of(turn.seen, form)
    if turn.seen is None or text is None:
        return Removed.NOT_RECORDED
    asked = f"{rollout.goal}\n\n{turn.seen.get('url', '')}\n\n{text}"
    command = _command(turn)
    said = command or turn.action.model_dump_json(exclude_defaults=False)
    return Sample(
        prompt=({"role": "user", "content": asked},),
        tools=(),
        reply={"role": "assistant", "content": said},
        asked_with={},
    )


def _text_of(seen: Seen | None, form: str) -> str | None:
    part = (seen or {}).get("parts", {}).get(form)
    text = part.get("text") if isinstance(part, dict) else None
    return text if isinstance(text, str) and text else None


def _command(turn: Turn) -> str | None:
    """Return an action as a command of AutoWebGLM's, where the page was shown with its labels."""
    seen = turn.seen or {}
    for name, part in seen.get("parts", {}).items():
        if isinstance(part, dict) and isinstance(part.get("ids"), dict):
            tabs = tuple(Tab(**tab) for tab in seen.get("tabs", ()))
            page = PrunedHtml(part.get("text", ""), part["ids"])
            observation = Observation(
                step=0, url=seen.get("url", ""), title="", tabs=tabs, parts={name: page}
            )
            return print_command(turn.action, observation)
    return None


def digest_of(value: object) -> str:
    """Return SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=dict)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()
