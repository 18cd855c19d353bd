"""What the agent says to its model: the rules, two examples, and where it stands."""

from __future__ import annotations

from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from orchestrator.agent_interface import Assignment
from orchestrator.agents.prompt_files import filled, prompt_text
from orchestrator.agents.webarena.page import page_text
from orchestrator.model.messages import ChatRole, Message
from orchestrator.observation import Observation

PHRASE: Final = "In summary, the next action I will perform is"


# Whether the model reasons before it acts, or names the action alone.
Style = Literal["cot", "direct"]


class _Example(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    observation: str
    url: str
    objective: str
    previous: str
    reasoning: str
    action: str


_EXAMPLES: Final = TypeAdapter(tuple[_Example, ...])


class Prompt:
    """The prompt of one episode.

    WebArena sends its two examples as system messages with the names of speakers; here they are
    turns of user and assistant, which every endpoint takes.
    """

    def __init__(
        self,
        assignment: Assignment,
        *,
        style: Style,
        has_hint: bool,
        max_obs_length: int | None,
    ) -> None:
        self._objective = assignment.intent
        self._tokens = max_obs_length
        sites = "\n".join(f"- {name}: {url}" for name, url in assignment.sites.items())
        rules = filled(
            __package__,
            "rules.txt",
            sites=sites,
            hint=prompt_text(__package__, "hint.txt") if has_hint else "",
            form=filled(__package__, f"form_{style}.txt", phrase=PHRASE),
        )
        self._head = [Message(ChatRole.SYSTEM, rules)]
        for one in _examples():
            asked = _step(one.observation.rstrip("\n"), one.url, one.objective, one.previous)
            self._head += [
                Message(ChatRole.USER, asked),
                Message(ChatRole.ASSISTANT, _reply(one, style)),
            ]

    def least(self) -> tuple[Message, ...]:
        """Return the prompt with an empty page."""
        return (*self._head, Message(ChatRole.USER, _step("", "", self._objective, "None")))

    def messages(self, observation: Observation, previous: str) -> tuple[Message, ...]:
        """Return the whole conversation of a step: only the last action is recalled."""
        page = page_text(observation, self._tokens)
        step = _step(page, observation.url, self._objective, previous)
        return (*self._head, Message(ChatRole.USER, step))


def _examples() -> tuple[_Example, ...]:
    # BaseLoader: texts stay texts, whatever they look like.
    return _EXAMPLES.validate_python(
        yaml.load(prompt_text(__package__, "examples.yaml"), Loader=yaml.BaseLoader)  # noqa: S506
    )


def _reply(example: _Example, style: Style) -> str:
    action = f"```{example.action}```"
    return f"{example.reasoning} {PHRASE} {action}" if style == "cot" else action


def _step(observation: str, url: str, objective: str, previous: str) -> str:
    return filled(
        __package__,
        "step.txt",
        observation=observation,
        url=url,
        objective=objective,
        previous=previous,
    )
