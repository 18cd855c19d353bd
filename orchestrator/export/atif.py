"""Runs as ATIF: Harbor's Agent Trajectory Interchange Format, one trajectory an episode."""

from __future__ import annotations

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from arena_core.plugins import ARENA
from evaluators.evidence import Branch
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.extension_points import Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.run_report.tables import encodable
from orchestrator.episode.jsonl_files import read_exchanges
from orchestrator.export.turns import (
    Turn,
    began_at,
    intent_of,
    no_pictures,
    opening_of,
    page_in_words,
    turns_of,
)
from orchestrator.runs.store.evidence_files import picture_path
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import ScoredEpisode

SCHEMA: Final = "ATIF-v1.6"  # the first with pictures; later ones add nothing that is used here
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+|^\.+")
_PICTURES: Final = {".png", ".jpeg", ".gif", ".webp"}
Object = dict[str, Any]


class Atif:
    """Writes RUN/EPISODE/trajectory.json: the intent a user's step, each action an agent's.

    What the episode is worth stands in `extra`: `reward` is null where it is unscored. The steps
    that a branch shares with its root are marked `is_copied_context`, which readers that train on
    trajectories leave out; `extra` names the root and the last of these steps.
    """

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path, *, images: bool = False) -> Written:
        """Write a folder for each run.

        Args:
            runs: what is written.
            path: of the folder.
            images: screenshots lie beside the trajectories, which name them.
        """
        episodes, notes = 0, []
        path.mkdir()
        for number, report in enumerate(runs, 1):
            folder = path / _folder_name(number, report.lock)
            for episode in report.episodes:
                place = folder / episode.folder
                writer = _Episode(report, episode, place if images else None)
                notes += writer.notes
                try:
                    place.mkdir(parents=True)
                    text = json.dumps(writer.trajectory(), ensure_ascii=False, indent=1)
                    (place / "trajectory.json").write_text(text, encoding="utf-8")
                except OSError as cause:
                    message = f"{place}: the trajectory cannot be written: {cause.strerror}"
                    raise StoreError(message) from cause
                episodes += 1
        if images and not any(path.glob("*/*/images")):
            raise no_pictures()
        return Written(episodes=episodes, notes=tuple(notes))


def _folder_name(number: int, lock: RunLock) -> str:
    return f"{number:03}-{_NOT_A_NAME.sub('-', encodable(lock.run))[:100]}"


@dataclass(frozen=True, slots=True)
class _Spent:
    """What the models of one step reported."""

    prompt: int
    completion: int
    usd: float | None

    def metrics(self) -> Object:
        found = {"prompt_tokens": self.prompt, "completion_tokens": self.completion}
        return found | ({} if self.usd is None else {"cost_usd": self.usd})


class _Episode:
    """One episode as a trajectory.

    Attributes:
        notes: what of it could not be read, and no score needs.
    """

    def __init__(self, report: RunReport, episode: ScoredEpisode, pictures: Path | None) -> None:
        self._report, self._episode, self._pictures = report, episode, pictures
        self._folder = report.folder.evidence_folder(episode.folder)
        self.notes: list[str] = []
        self._spent = self._read_spent()

    def trajectory(self) -> Object:
        lock, outline = self._report.lock, self._episode.outline
        steps = list(self._steps())
        totals: Object = {
            "total_prompt_tokens": outline.input_tokens,
            "total_completion_tokens": outline.output_tokens,
            "total_steps": len(steps),
        }
        if outline.usd is not None:
            totals["total_cost_usd"] = outline.usd
        return {
            "schema_version": SCHEMA,
            "session_id": f"{lock.run}/{self._episode.folder}",
            "agent": _agent(lock),
            "steps": steps,
            "final_metrics": totals,
            "extra": self._worth(),
        }

    def _worth(self) -> Object:
        episode, score = self._episode, self._episode.score
        outcome = score.outcome
        reward = None if outcome.reason else float(outcome.kind is OutcomeKind.SUCCESS)
        return {
            "run": self._report.lock.run,
            "suite": self._report.lock.suite,
            "task": episode.key.task,
            "template": episode.task.template,
            "world": episode.key.world.value,
            "repeat": episode.key.repeat,
            "outcome": str(outcome),
            "because": score.because,
            "reward": reward,
            "completion": score.completion,
            "answer": episode.outline.answer,
            "ended": None if episode.outline.ended is None else episode.outline.ended.value,
            "branch": _branch(episode.outline.branch),
            "checks": {one.check: one.status.value for one in score.verdicts},
        }

    def _steps(self) -> Iterator[Object]:
        evidence = self._episode.evidence
        first: Object = {
            "step_id": 1,
            "timestamp": began_at(evidence).isoformat(),
            "source": "user",
            "message": intent_of(self._episode),
        }
        opening = opening_of(evidence)
        if opening is not None:
            seen = self._content(page_in_words(opening), opening.screenshot)
            first["observation"] = {"results": [{"content": seen}]}
        yield first
        shared = 0 if evidence.branch is None else evidence.branch.step
        for number, turn in enumerate(turns_of(evidence), 2):
            step = self._step(number, turn)
            yield step | ({"is_copied_context": True} if turn.index <= shared else {})

    def _step(self, number: int, turn: Turn) -> Object:
        seen = turn.seen if turn.error is None else f"{turn.error}\n\n{turn.seen}"
        result = {"source_call_id": turn.call, "content": self._content(seen, turn.screenshot)}
        step: Object = {
            "step_id": number,
            "timestamp": turn.at.isoformat(),
            "source": "agent",
            "message": turn.thought or "",
            "tool_calls": [
                {
                    "tool_call_id": turn.call,
                    "function_name": turn.action,
                    "arguments": turn.arguments,
                }
            ],
            "observation": {"results": [result]},
        }
        spent = self._spent.get(turn.index)
        return step if spent is None else step | {"metrics": spent.metrics()}

    def _content(self, text: str, screenshot: str | None) -> str | list[Object]:
        if self._pictures is None or screenshot is None:
            return text
        source = picture_path(self._folder, screenshot)
        kind = "" if source is None else source.suffix.lower()
        if source is None or kind not in _PICTURES:
            return text
        target = self._pictures / "images" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copyfile(source, target)
        picture = {"media_type": f"image/{kind[1:]}", "path": f"images/{source.name}"}
        return [{"type": "text", "text": text}, {"type": "image", "source": picture}]

    def _read_spent(self) -> Mapping[int, _Spent]:
        """Return what each step's questions to models cost, where they were kept."""
        try:
            exchanges = read_exchanges(self._folder)
        except StoreError as cause:
            self.notes.append(f"without metrics of steps: {cause.message}")
            return {}
        of_step: defaultdict[int, list[_Spent]] = defaultdict(list)
        for one in exchanges:
            usage = one.exchange.usage
            if usage is not None:
                spent = _Spent(usage.input_tokens, usage.output_tokens, one.exchange.usd)
                of_step[one.step].append(spent)
        return {step: _total(found) for step, found in of_step.items()}


def _total(found: Sequence[_Spent]) -> _Spent:
    prices = [one.usd for one in found if one.usd is not None]
    return _Spent(
        prompt=sum(one.prompt for one in found),
        completion=sum(one.completion for one in found),
        usd=sum(prices) if len(prices) == len(found) else None,
    )


def _branch(branch: Branch | None) -> Object | None:
    if branch is None:
        return None
    return {"root": branch.root, "step": branch.step, "checkpoint": branch.checkpoint}


def _agent(lock: RunLock) -> Object:
    agent = lock.agent
    model = agent.options.get("model")
    said: Object = {
        "name": agent.name,
        "version": agent.version or lock.packages.get(ARENA) or "unknown",
        "extra": {"agent_class": agent.agent_class.value, "kind": agent.kind},
    }
    return said | ({"model_name": model} if isinstance(model, str) and model else {})


ATIF: Final = Atif()
