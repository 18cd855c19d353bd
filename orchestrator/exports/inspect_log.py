"""Runs as logs of Inspect, through its own writer: one for each run and world."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from arena_core.worlds import World
from evaluators.evidence import Ended
from evaluators.verdicts import OutcomeKind
from orchestrator.exports.columns import as_time
from orchestrator.exports.extras import extra
from orchestrator.exports.turns import (
    Turn,
    began_at,
    intent_of,
    opening_of,
    page_in_words,
    turns_of,
)
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import Written
from orchestrator.report.wording import agent_note
from orchestrator.store.rescoring import ScoredTrial
from orchestrator.store.run_folder import RunFolder

SCORER: Final = "success"
_NO_MODEL: Final = "none/none"
_VALUES: Final = {OutcomeKind.SUCCESS: "C", OutcomeKind.FAILURE: "I"}
_NOT_A_NAME: Final = re.compile(r"[^A-Za-z0-9.]+")


class InspectLogs:
    """Writes `.eval` files: tasks are samples, repeats epochs, actions messages and tool events.

    The scorer `success` is `C` or `I`, and Inspect's own sign for unscored where an episode is
    unscored, with the reason: its metrics and reducers leave that out. Figures in a log are
    computed by Inspect.
    """

    suffix = ""
    is_folder = True

    def export(self, runs: Sequence[RunReport], path: Path, *, images: bool = False) -> Written:
        """Write the logs of a folder that Inspect takes as its log folder.

        Args:
            runs: what is written.
            path: of the folder.
            images: the logs hold the screenshots.

        Raises:
            PrerequisiteError: inspect-ai is not installed.
            StoreError: a log cannot be written, or evidence cannot be read.
        """
        inspect = _Inspect(images=images)
        episodes = 0
        path.mkdir()
        for number, report in enumerate(runs):
            for world in report.lock.worlds:
                trials = [one for one in report.trials if one.trial.world is world]
                if not trials:
                    continue
                log = inspect.log(report, world, trials)
                inspect.write(log, path / _file_name(report, world, number))
                episodes += len(trials)
        return Written(episodes=episodes)


def _file_name(report: RunReport, world: World, number: int) -> str:
    """Return a name of Inspect's pattern, which no other log of the export has."""
    created = as_time(report.lock.created_at) or began_at(report.trials[0].outline)
    task = _NOT_A_NAME.sub("-", f"{report.lock.suite}-{report.lock.agent.name}-{world}")[:100]
    return f"{created:%Y-%m-%dT%H-%M-%S}+00-00_{task}_{number}-{world}.eval"


class _Inspect:
    """Makes Inspect's records; its package is imported when one is made."""

    def __init__(self, *, images: bool) -> None:
        names = ("log", "model", "tool", "scorer", "event")
        self._log, self._model, self._tool, self._scorer, self._event = (
            extra(f"inspect_ai.{name}", "inspect") for name in names
        )
        self._images = images

    def write(self, log: Any, path: Path) -> None:
        """Write a log, in a thread: Inspect runs an event loop of its own.

        Raises:
            StoreError: it cannot be written.
        """
        with ThreadPoolExecutor(1) as thread:
            try:
                thread.submit(self._log.write_eval_log, log, str(path), "eval").result()
            except OSError as cause:
                message = f"{path}: the log cannot be written: {cause}"
                raise StoreError(message) from cause

    def log(self, report: RunReport, world: World, trials: Sequence[ScoredTrial]) -> Any:
        """Return the log of a run in one world."""
        lock = report.lock
        model = _model_of(report)
        metrics = [{"name": f"inspect_ai/{name}"} for name in ("accuracy", "stderr")]
        usage = _total([self._usage(one) for one in trials])
        began = [began_at(one.outline) for one in trials]
        ended = [began_at(one.outline) + timedelta(seconds=one.outline.seconds) for one in trials]
        spec = self._log.EvalSpec(
            eval_id=f"{lock.run}-{world}",
            run_id=lock.run,
            created=lock.created_at,
            task=f"{lock.suite}-{world}",
            task_id=f"{lock.suite}-{world}",
            task_version=lock.suite_version,
            task_display_name=f"{report.title} ({world})",
            solver=lock.agent.name,
            solver_args={name: lock.agent.options.get(name) for name in lock.agent.given},
            tags=[note] if (note := agent_note(lock.agent)) else None,
            dataset=self._log.EvalDataset(
                name=lock.suite,
                samples=len({one.trial.task for one in trials}),
                sample_ids=list(dict.fromkeys(one.trial.task for one in trials)),
                shuffled=False,
            ),
            model=model,
            config=self._log.EvalConfig(epochs=lock.repeats, epochs_reducer=["mean"]),
            packages=dict(lock.packages),
            metadata={
                "world": world.value,
                "agent_class": lock.agent.agent_class.value,
                "staged": list(lock.staged) if world is World.ONLINE else [],
                "suite_hash": lock.suite_hash,
                "images": dict(lock.images),
                "browser": lock.browser,
            },
            scorers=[{"name": SCORER, "metrics": metrics}],
        )
        log = self._log.EvalLog(
            status="success" if not report.pending else "cancelled",
            eval=spec,
            stats=self._log.EvalStats(
                started_at=min(began), completed_at=max(ended), model_usage={model: usage}
            )
            if usage
            else self._log.EvalStats(started_at=min(began), completed_at=max(ended)),
            samples=[self._sample(report.folder, one, model) for one in trials],
        )
        self._log.recompute_metrics(log)
        return log

    def _sample(self, run: RunFolder, trial: ScoredTrial, model: str) -> Any:
        evidence, outline = trial.evidence, trial.outline
        began = began_at(outline)
        name = f"{run.lock().run}-{trial.folder}"
        usage = self._usage(trial)
        return self._log.EvalSample(
            id=trial.trial.task,
            epoch=trial.trial.repeat + 1,
            uuid=name,
            input=intent_of(trial),
            target=[f"{one.check}: {one.expected}" for one in trial.score.verdicts if one.decides],
            messages=list(self._messages(run, trial)),
            output=self._output(model, outline.answer),
            scores={SCORER: self._score(trial)},
            metadata=_metadata(trial),
            events=list(self._events(trial, name, turns_of(evidence))),
            model_usage={model: usage} if usage else {},
            started_at=began,
            completed_at=began + timedelta(seconds=outline.seconds),
            total_time=outline.seconds,
            working_time=outline.seconds,
            limit=self._limit(trial),
            turn_count=trial.score.steps,
        )

    def _output(self, model: str, answer: str | None) -> Any:
        """Return the answer as the output of a model; an id of Inspect's making would be random."""
        if answer is None:
            return self._model.ModelOutput(model=model)
        message = self._model.ChatMessageAssistant(id="answer", content=answer)
        choice = self._model.ChatCompletionChoice(message=message)
        return self._model.ModelOutput(model=model, choices=[choice], completion=answer)

    def _score(self, trial: ScoredTrial) -> Any:
        outcome = trial.score.outcome
        said = {
            "answer": trial.outline.answer,
            "explanation": trial.score.because,
            "metadata": _figures(trial),
        }
        if outcome.reason is not None:
            return self._scorer.Score.unscored(reason=outcome.reason.value, **said)
        return self._scorer.Score(value=_VALUES[outcome.kind], **said)

    def _messages(self, run: RunFolder, trial: ScoredTrial) -> Iterator[Any]:
        evidence = trial.evidence
        opening = opening_of(evidence)
        opened = f"\n\nThe browser shows: {page_in_words(opening)}" if opening else ""
        yield self._model.ChatMessageUser(id="intent", content=f"{intent_of(trial)}{opened}")
        folder = run.evidence_folder(trial.folder)
        for turn in turns_of(evidence):
            yield self._model.ChatMessageAssistant(
                id=f"{turn.call}-said",
                content=turn.thought or "",
                tool_calls=[self._call(turn)],
            )
            yield self._model.ChatMessageTool(
                id=f"{turn.call}-seen",
                content=self._content(turn, folder),
                tool_call_id=turn.call,
                function=turn.action,
                error=self._error(turn),
            )

    def _content(self, turn: Turn, folder: Path) -> Any:
        picture = _picture(folder, turn.screenshot) if self._images else None
        if picture is None:
            return turn.seen
        return [self._model.ContentText(text=turn.seen), self._model.ContentImage(image=picture)]

    def _call(self, turn: Turn) -> Any:
        return self._tool.ToolCall(id=turn.call, function=turn.action, arguments=turn.arguments)

    def _error(self, turn: Turn) -> Any:
        return self._tool.ToolCallError("unknown", turn.error) if turn.error else None

    def _events(self, trial: ScoredTrial, name: str, turns: Iterator[Turn]) -> Iterator[Any]:
        began = began_at(trial.outline)
        span = {"span_id": name}
        for number, receipt in enumerate(trial.outline.receipts):
            yield self._event.InfoEvent(
                uuid=f"{name}-reset-{number}",
                timestamp=began,
                working_start=0.0,
                source=f"reset of {receipt.site}",
                data=receipt.model_dump(mode="json"),
                **span,
            )
        for turn in turns:
            yield self._event.ToolEvent(
                uuid=f"{name}-{turn.call}",
                timestamp=turn.at,
                working_start=(turn.at - began).total_seconds(),
                completed=turn.at + timedelta(seconds=turn.seconds),
                working_time=turn.seconds,
                id=turn.call,
                function=turn.action,
                arguments=turn.arguments,
                result=turn.seen,
                error=self._error(turn),
                **span,
            )
        yield self._event.ScoreEvent(
            uuid=f"{name}-score",
            timestamp=began + timedelta(seconds=trial.outline.seconds),
            working_start=trial.outline.seconds,
            score=self._score(trial),
            scorer=SCORER,
            **span,
        )

    def _usage(self, trial: ScoredTrial) -> Any:
        taken, given = trial.outline.input_tokens, trial.outline.output_tokens
        if not taken and not given and trial.outline.usd is None:
            return None
        return self._model.ModelUsage(
            input_tokens=taken,
            output_tokens=given,
            total_tokens=taken + given,
            total_cost=trial.outline.usd,
        )

    def _limit(self, trial: ScoredTrial) -> Any:
        limits = trial.task.limits
        if trial.outline.ended is Ended.STEP_LIMIT:
            return self._log.EvalSampleLimit(type="turn", limit=limits.steps)
        if trial.outline.ended is Ended.DEADLINE:
            return self._log.EvalSampleLimit(type="time", limit=limits.seconds)
        return None


def _total(usages: Sequence[Any]) -> Any:
    found = [one for one in usages if one is not None]
    return sum(found[1:], found[0]) if found else None


def _model_of(report: RunReport) -> str:
    """Return the model of an agent as Inspect names models: provider and name."""
    model = report.lock.agent.options.get("model")
    return f"arena/{model}" if isinstance(model, str) and model else _NO_MODEL


def _metadata(trial: ScoredTrial) -> dict[str, Any]:
    task = trial.task
    return {
        "family": task.family.value,
        "template": task.template,
        "sites": list(task.sites),
        "world": trial.trial.world.value,
        "episode": trial.folder,
        "ended": None if trial.outline.ended is None else trial.outline.ended.value,
        "ended_because": trial.outline.ended_because,
    }


def _figures(trial: ScoredTrial) -> Mapping[str, Any]:
    score = trial.score
    return {
        "outcome": str(score.outcome),
        "key_nodes_met": score.key_nodes_met,
        "key_nodes": score.key_nodes,
        "completion": score.completion,
        "alignment": score.alignment,
        "steps": score.steps,
        "checks": {one.check: f"{one.status}: {one.reason}" for one in score.verdicts},
    }


def _picture(folder: Path, name: str | None) -> str | None:
    """Return a screenshot as a data URI; None where none was kept."""
    if name is None or not (folder / name).is_file():
        return None
    encoded = base64.b64encode((folder / name).read_bytes()).decode("ascii")
    return f"data:image/{Path(name).suffix.removeprefix('.')};base64,{encoded}"


INSPECT: Final = InspectLogs()
