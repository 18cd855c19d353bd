"""A prompt with the reply that chose an action, and the record that it becomes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal

from pydantic import ValidationError

from arena_core.plugins import ARENA
from orchestrator.agents.action_spaces.autowebglm import print_command
from orchestrator.agents.interface import AgentLock
from orchestrator.agents.model.completion import ReplyBody, ReplyMessage
from orchestrator.browser.observation import Observation, PrunedHtml, Tab
from orchestrator.export.training.rollouts import Rollout, Seen, Turn, template_of
from orchestrator.runs.store.evidence_files import picture_path

Shape = Literal["chat", "autowebglm"]
Message = dict[str, Any]
# The folder of images beside the data file.
IMAGES: Final = "images"
MESSAGES: Final = {
    "messages": "the conversation as the model was sent it, its reply last; `weight` is 1 on that"
    " reply and 0 on earlier ones, which may be wrong",
    "source, target": "in the shape `autowebglm`: the prompt, and the reply, as one text each",
    "tools": "the functions that were offered, as JSON text; empty where there were none",
    "images": "files of the prompt's images, in order",
}
# In what the two sides of a pair may differ.
_OF_ONE: Final = ("run", "episode", "repeat", "attempt", "step", "seed", "model")
# Options of every model agent that shape no prompt.
_OF_THE_MODEL: Final = frozenset(
    {"model", "model_url", "model_deadline", "temperature", "seed", "prices", "replay"}
    | {"reasoning_effort", "max_completion_tokens"}
)


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
    if any(picture_path(rollout.folder, name) is None for name in pictures):
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


def text_shape(sample: Sample, shape: Shape) -> str | Removed | None:
    """Return the prompt as one text where that shape is asked for; None for the chat shape."""
    if shape == "chat":
        return None
    text = sample.one_text
    reply = sample.reply.get("content")
    if text is None or not isinstance(reply, str) or "tool_calls" in sample.reply:
        return Removed.OTHER_SHAPE
    return text


def record_of(sample: Sample, shape: Shape) -> dict[str, Any]:
    if shape == "autowebglm":
        return {"source": sample.one_text, "target": sample.reply["content"]}
    return {
        "messages": [*(_weighed(one, 0) for one in sample.prompt), _weighed(sample.reply, 1)],
        **beside(sample),
    }


def beside(sample: Sample) -> dict[str, Any]:
    """Return what goes with messages: functions as JSON text, and the places of images."""
    tools = [dict(one) for one in sample.tools]
    return {
        "tools": json.dumps(tools, ensure_ascii=False) if tools else "",
        "images": [f"{IMAGES}/{name}" for name in sample.pictures],
    }


def _weighed(message: Message, weight: int) -> Message:
    return {**message, "weight": weight} if message.get("role") == "assistant" else message


def provenance(rollout: Rollout, turn: Turn, sample: Sample | None) -> dict[str, Any]:
    """Return the fields that say where a record comes from, JSON alone."""
    lock, evidence = rollout.lock, rollout.outline
    asked: Mapping[str, Any] = {} if sample is None else sample.asked_with
    return {
        "run": lock.run,
        "episode": rollout.scored.folder,
        "suite": lock.suite,
        "suite_hash": lock.suite_hash,
        "task": rollout.task.id,
        "template": template_of(rollout.task),
        "sites": list(rollout.task.sites),
        "world": evidence.world.value,
        "staged": ",".join(evidence.staged),
        "repeat": evidence.repeat,
        "attempt": evidence.attempt,
        "branch_root": None if evidence.branch is None else evidence.branch.root,
        "branch_step": None if evidence.branch is None else evidence.branch.step,
        "checkpoint": None if evidence.branch is None else evidence.branch.checkpoint,
        "step": turn.step.index,
        "seed": asked.get("seed"),
        "run_seed": _number(lock.agent.options.get("seed")),
        "task_seed": None if evidence.miniwob is None else evidence.miniwob.seed,
        "temperature": _number(asked.get("temperature")),
        "site_images": [f"{tag}={image}" for tag, image in sorted(lock.images.items())],
        "agent": lock.agent.name,
        "agent_class": lock.agent.agent_class.value,
        "model": str(asked.get("model") or ""),
        "parser": parser_of(lock.agent, lock.packages),
        "prompt_version": prompt_version(lock.agent, lock.packages),
        "prompt_is": "asked" if asked else "observed",
    }


def origin(rollout: Rollout, turn: Turn, sample: Sample) -> dict[str, Any]:
    """Return the fields in which the two continuations of a pair may differ."""
    found = provenance(rollout, turn, sample)
    return {name: found[name] for name in _OF_ONE}


def parser_of(agent: AgentLock, packages: Mapping[str, str]) -> str:
    """Return what read the replies: the agent's code, and whose version of it."""
    return f"{agent.import_path or agent.kind}, {_version(agent, packages)}"


def prompt_version(agent: AgentLock, packages: Mapping[str, str]) -> str:
    """Return what made the prompts: the agent's code with the options that shape them."""
    own = {name: one for name, one in agent.options.items() if name not in _OF_THE_MODEL}
    options = [f"{name}={one}" for name, one in sorted(own.items())]
    return " ".join([agent.kind, _version(agent, packages), *options])


def _version(agent: AgentLock, packages: Mapping[str, str]) -> str:
    if agent.distribution is not None:
        return f"{agent.distribution} {agent.version}"
    if agent.source_hash is not None:
        return f"sha256:{agent.source_hash}"
    return f"{ARENA} {packages.get(ARENA, 'of unknown version')}"


def _number(value: object) -> float | int | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and isinstance(value, (int, float)) else None
