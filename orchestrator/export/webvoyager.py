"""A pack for WebVoyager: the messages and screenshots that its `auto_eval.py` reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from arena_core.actions import Back, Clear, Click, Scroll, Type, Wait
from evaluators.evidence import StepEvidence
from orchestrator.analysis.wording import action_in_words
from orchestrator.export.har import write_json
from orchestrator.export.packs import Pack, PackedEpisode, PackForm, one_line

_STEPS: Final = 15
_BEFORE, _AFTER = "Now given a task:", "Please interact with"
_SYSTEM: Final = (
    "Written by Arena from the evidence of an episode. The agent was not asked in these words."
)
# As its judge reads the last message; the first fit counts, wherever it stands.
_ANSWER: Final = re.compile(r"ANSWER[; ]+\[?(.[^\]]*)\]?")
_PLACEHOLDER: Final = "data:image/png;base64,{b64_img}"  # as its own runner writes it
Json = dict[str, object]


class WebVoyagerPack(Pack):
    """Writes `taskID/interact_messages.json` and `taskID/screenshotN.png`, from 1."""

    form = PackForm(
        name="webvoyager", title="WebVoyager", ids=re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,120}")
    )

    def write_episode(self, episode: PackedEpisode, path: Path) -> None:
        views = episode.views()
        folder = path / f"task{episode.id}"
        folder.mkdir()
        for number, view in enumerate(views, start=1):
            (folder / f"screenshot{number}.png").write_bytes(view)
        write_json(folder / "interact_messages.json", list(_messages(episode)))

    def notes(self, written: Sequence[PackedEpisode]) -> Iterable[str]:
        odd = Counter(what for episode in written for what in _odd(episode))
        return (f"{what}: {odd[what]}" for what in sorted(odd))


def _messages(episode: PackedEpisode) -> Iterator[Json]:
    yield {"role": "system", "content": _SYSTEM}
    task = one_line(str(episode.record.get("ques") or episode.scored.task.intent))
    start = str(episode.record.get("web") or episode.evidence.steps[0].url)
    given = f"{_BEFORE} {_without_marks(task)}  {_AFTER} {start} and get the answer. \n"
    yield _seen(f"{given}{_observation(episode.evidence.steps[0])}")
    for step in episode.actions:
        yield {"role": "assistant", "content": _said(step.thought, _act(step))}
        yield _seen(_observation(step))
    if episode.answer:
        thought = None if episode.end is None else episode.end.thought
        yield {"role": "assistant", "content": _answered(thought, episode.answer)}


def _seen(text: str) -> Json:
    return {
        "role": "user",
        "content": [
            {"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": _PLACEHOLDER}},
        ],
    }


def _observation(step: StepEvidence) -> str:
    error = f" The last action was not done: {one_line(step.error)}" if step.error else ""
    return f"Observation:{error} {step.title} ({step.url})"


def _said(thought: str | None, action: str) -> str:
    return f"Thought: {thought or ''}\n\nAction: {action}"


def _answered(thought: str | None, answer: str) -> str:
    """Return the last message; without a thought in which its judge would find another answer."""
    action = f"ANSWER; {one_line(answer)}"
    whole = _said(thought, action)
    alone = _said(None, action)
    found, wanted = _ANSWER.search(whole), _ANSWER.search(alone)
    is_same = found is not None and wanted is not None and found[1] == wanted[1]
    return whole if is_same else alone


def _without_marks(task: str) -> str:
    """Return a task without the words at which its reader ends it."""
    return task.replace(_AFTER, "please interact with")


def _act(step: StepEvidence) -> str:  # noqa: PLR0911 - a case each
    """Return an action in WebVoyager's words; any other in Arena's."""
    match step.action:
        case Click(element=element, count=1, button="left", modifiers=()):
            return f"Click [{element}]"
        case Type(element=element, text=text):
            return f"Type [{element}]; {one_line(text)}"
        case Clear(element=element):
            return f"Type [{element}]; "
        case Scroll(element=element, direction=direction):
            return f"Scroll [{'WINDOW' if element is None else element}]; {direction}"
        case Wait():
            return "Wait"
        case Back():
            return "GoBack"
        case None:
            return "(what the agent did is not known)"
        case action:
            return one_line(action_in_words(action, step))


def _odd(episode: PackedEpisode) -> Iterator[str]:
    """Yield what of an episode its judge does not take as it is."""
    answer = episode.answer
    if not answer:
        yield "episodes without an answer, which its judge counts as failures unseen"
    elif "]" in answer:
        yield "answers that hold a ], where its judge cuts them"
    if len(episode.actions) > _STEPS:
        yield f"episodes of more than the {_STEPS} steps that WebVoyager allows"


WEBVOYAGER: Final = WebVoyagerPack()
