"""A pack for WebHarbor: `trajectory.json` and screenshots, which its judges and verifiers read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from arena_core.actions import Back, Click, Goto, Scroll, ScrollDirection, Select, Type
from evaluators.evidence import Ended, StepEvidence
from orchestrator.export.har import write_json
from orchestrator.export.packs import Pack, PackedEpisode, PackForm, UnfitError

_REASONS: Final[Mapping[Ended, str]] = {
    Ended.STOPPED: "agent_done",
    Ended.INFEASIBLE: "agent_done",
    Ended.STEP_LIMIT: "max_steps",
}
_DATABASES: Final = (
    "initial.db and after.db are not in it: verifiers that compare databases cannot score it"
)
Json = dict[str, Any]


class WebHarborPack(Pack):
    """Writes `TASK/trajectory.json` and `TASK/screenshots/step_NNN.png`."""

    form = PackForm(
        name="webharbor", title="WebHarbor", ids=re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,120}")
    )

    def write_episode(self, episode: PackedEpisode, path: Path) -> None:
        views = episode.views()
        trajectory = _trajectory(episode)
        folder = path / episode.id
        (folder / "screenshots").mkdir(parents=True)
        # Its agent looks once more after it said that it is done: the page has not moved then.
        after = views[-1:] if len(trajectory["steps"]) == len(views) else ()
        for number, view in enumerate((*views, *after)):
            (folder / "screenshots" / _picture(number)).write_bytes(view)
        write_json(folder / "trajectory.json", trajectory)

    def notes(self, written: Sequence[PackedEpisode]) -> Iterable[str]:  # noqa: ARG002
        return (_DATABASES,)


def _picture(number: int) -> str:
    return f"step_{number:03d}.png"


def _trajectory(episode: PackedEpisode) -> Json:
    evidence, record = episode.evidence, episode.record
    ended = evidence.ended
    if ended is None:
        raise UnfitError("it has no end")
    places = _Places.of(episode)
    steps = [
        _step(number, before, step, places)
        for number, (before, step) in enumerate(
            zip((evidence.steps[0], *episode.actions), episode.actions, strict=False)
        )
    ]
    last = (*evidence.steps[:1], *episode.actions)[-1]
    if ended in {Ended.STOPPED, Ended.INFEASIBLE}:
        steps.append(_done(episode, len(steps), last, places))
    return {
        "task": str(record.get("ques") or episode.scored.task.intent),
        "task_id": episode.id,
        "start_url": str(record.get("web") or evidence.steps[0].url),
        "model": evidence.agent,
        "max_steps": episode.scored.task.limits.steps,
        "steps": steps,
        "terminated": ended is not Ended.STEP_LIMIT,
        "termination_reason": _REASONS.get(ended, ended.value),
        "final_answer": episode.answer,
        "final_url": places.published(last.url),
        "judge_rubric": str(record.get("judge_rubric") or ""),
        "verifier_path": str(record.get("verifier_path") or ""),
    }


class _Places:
    """Where the publisher's own addresses stand in place of the replicas'."""

    def __init__(self, bases: Mapping[str, str]) -> None:
        self._bases = sorted(
            ((replica, base) for base, replica in bases.items() if base.startswith("http")),
            key=lambda pair: -len(pair[0]),
        )

    @classmethod
    def of(cls, episode: PackedEpisode) -> _Places:
        original = episode.scored.task.original
        return cls({} if original is None else original.bases)

    def published(self, url: str) -> str:
        """Return a URL as it is there; any other as it is."""
        for replica, base in self._bases:
            if url == replica or url.startswith((f"{replica}/", f"{replica}?", f"{replica}#")):
                return base.rstrip("/") + url.removeprefix(replica)
        return url


def _step(number: int, before: StepEvidence, step: StepEvidence, places: _Places) -> Json:
    name, params = _call(step, places)
    return {
        "step": number,
        "url": places.published(before.url),
        "title": before.title,
        "thought": step.thought or "",
        "action": name,
        "params": params,
        "screenshot_before": _picture(number),
        "screenshot_after": _picture(number + 1),
        "url_after": places.published(step.url),
        "action_result": {"success": step.error is None, "error": step.error},
    }


def _done(episode: PackedEpisode, number: int, last: StepEvidence, places: _Places) -> Json:
    end, ended = episode.end, episode.evidence.ended
    url = places.published(last.url)
    return {
        "step": number,
        "url": url,
        "title": last.title,
        "thought": (end.thought if end is not None else None) or "",
        "action": "done",
        "params": {"text": episode.answer or "", "success": ended is Ended.STOPPED},
        "screenshot_before": _picture(number),
        "screenshot_after": _picture(number + 1),
        "url_after": url,
    }


def _call(step: StepEvidence, places: _Places) -> tuple[str, Json]:  # noqa: PLR0911 - a case each
    """Return an action as WebHarbor's own agent calls it; any other by Arena's name and fields."""
    match step.action:
        case Click(element=element, count=1, button="left", modifiers=()):
            return "click", {"index": element}
        case Type(element=element, text=text):
            return "input", {"index": element, "text": text}
        case Scroll(element=None, direction=ScrollDirection.UP | ScrollDirection.DOWN as direction):
            return "scroll", {"down": direction is ScrollDirection.DOWN}
        case Goto(url=url):
            return "navigate", {"url": places.published(url)}
        case Back():
            return "go_back", {}
        case Select(element=element, options=[option]):
            return "select_dropdown", {"index": element, "text": option}
        case None:
            return "unknown", {}
        case action:
            return action.kind, action.model_dump(mode="json", exclude={"kind"})


WEBHARBOR: Final = WebHarborPack()
