"""Runs as logs of Inspect, through its own writer: one for each run and world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError
from arena_core.extras import extra
from arena_core.worlds import World
from evaluators.evidence import Ended
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.extension_points import LeftOut, Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.analysis.run_report.tables import as_time, models_of
from orchestrator.analysis.wording import agent_note
from orchestrator.export.turns import (
    Turn,
    began_at,
    intent_of,
    no_pictures,
    opening_of,
    page_in_words,
    turns_of,
)
from orchestrator.runs.store.evidence_files import picture_uri
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.run_folder import RunFolder

SCORER: Final = "success"
_BRANCH: Final = "is a branch, and no epoch of its task"
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
        """
        inspect = _Inspect(images=images)
        written = 0
        left_out: list[LeftOut] = []
        path.mkdir()
        for number, report in enumerate(runs):
            for world in report.lock.worlds:
                played = [one for one in report.episodes if one.key.world is world]
                episodes = [one for one in played if one.is_attempt]
                left_out += [
                    LeftOut(run=report.folder.path, what=one.folder, why=_BRANCH)
                    for one in played
                    if not one.is_attempt
                ]
                if not episodes:
                    continue
                log = inspect.log(report, world, episodes)
                inspect.write(log, path / _file_name(report, world, number))
                written += len(episodes)
        if images and not inspect.has_pictures:
            raise no_pictures()
        return Written(episodes=written, left_out=tuple(left_out))


def _file_name(report: RunReport, world: World, number: int) -> str:
    """Return a name of Inspect's pattern, which no other log of the export has."""
    created = as_time(report.lock.created_at) or began_at(report.episodes[0].outline)
    task = _NOT_A_NAME.sub("-", f"{report.lock.suite}-{report.lock.agent.name}-{world}")[:100]
    return f"{created:%Y-%m-%dT%H-%M-%S}+00-00_{task}_{number}-{world}.eval"


class _Inspect:
    """Makes Inspect's records; its package is imported when one is made."""

    def __init__(self, *, images: bool) -> None:
        self._log = extra("inspect_ai.log", "inspect")
        self._model = extra("inspect_ai.model", "inspect")
        self._tool = extra("inspect_ai.tool", "inspect")
        self._scorer = extra("inspect_ai.scorer", "inspect")
        self._event = extra("inspect_ai.event", "inspect")
        self._images = images
        self.has_pictures = False

    def write(self, log: Any, path: Path) -> None:
        """Write a log, in a thread: Inspect runs an event loop of its own."""
        with ThreadPoolExecutor(1) as thread:
            try:
                thread.submit(self._log.write_eval_log, log, str(path), "eval").result()
            except OSError as cause:
                message = f"{path}: the log cannot be written: {cause.strerror or cause}"
                raise StoreError(message) from cause

    def log(self, report: RunReport, world: World, episodes: Sequence[ScoredEpisode]) -> Any:
        lock = report.lock
        asked = {one.folder: models_of(report, one) for one in episodes}
        model = _model_name(name for names in asked.values() for name in names)
        metrics = [{"name": f"inspect_ai/{name}"} for name in ("accuracy", "stderr")]
        usage = _total([self._usage(one) for one in episodes])
        began = [began_at(one.outline) for one in episodes]
        ended = [began_at(one.outline) + timedelta(seconds=one.outline.seconds) for one in episodes]
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
                samples=len({one.key.task for one in episodes}),
                sample_ids=list(dict.fromkeys(one.key.task for one in episodes)),
                shuffled=False,
            ),
            model=model,
            config=self._log.EvalConfig(epochs=lock.repeats, epochs_reducer=["mean"]),
            packages=dict(lock.packages),
            metadata={
                "world": world.value,
                "agent_class": lock.agent.agent_class.value,
                "vary": list(lock.vary),
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
            samples=[
                self._sample(report.folder, one, _model_name(asked[one.folder])) for one in episodes
            ],
        )
        self._log.recompute_metrics(log)
        return log

    def _sample(self, run: RunFolder, episode: ScoredEpisode, model: str) -> Any:
        evidence, outline = episode.evidence, episode.outline
        began = began_at(outline)
        name = f"{run.lock().run}-{episode.folder}"
        usage = self._usage(episode)
        return self._log.EvalSample(
            id=episode.key.task,
            epoch=episode.key.repeat + 1,
            uuid=name,
            input=intent_of(episode),
            target=[
                f"{one.check}: {one.expected}" for one in episode.score.verdicts if one.decides
            ],
            messages=list(self._messages(run, episode)),
            output=self._output(model, outline.answer),
            scores={SCORER: self._score(episode)},
            metadata=_metadata(episode),
            events=list(self._events(episode, name, turns_of(evidence))),
            model_usage={model: usage} if usage else {},
            started_at=began,
            completed_at=began + timedelta(seconds=outline.seconds),
            total_time=outline.seconds,
            working_time=outline.seconds,
            limit=self._limit(episode),
            turn_count=episode.score.steps,
        )

    def _output(self, model: str, answer: str | None) -> Any:
        """Return the answer as the output of a model; an id of Inspect's making would be random."""
        if answer is None:
            return self._model.ModelOutput(model=model)
        message = self._model.ChatMessageAssistant(id="answer", content=answer)
        choice = self._model.ChatCompletionChoice(message=message)
        return self._model.ModelOutput(model=model, choices=[choice], completion=answer)

    def _score(self, episode: ScoredEpisode) -> Any:
        outcome = episode.score.outcome
        said = {
            "answer": episode.outline.answer,
            "explanation": episode.score.because,
            "metadata": _figures(episode),
        }
        if outcome.reason is not None:
            return self._scorer.Score.unscored(reason=outcome.reason.value, **said)
        return self._scorer.Score(value=_VALUES[outcome.kind], **said)

    def _messages(self, run: RunFolder, episode: ScoredEpisode) -> Iterator[Any]:
        evidence = episode.evidence
        opening = opening_of(evidence)
        opened = f"\n\nThe browser shows: {page_in_words(opening)}" if opening else ""
        yield self._model.ChatMessageUser(id="intent", content=f"{intent_of(episode)}{opened}")
        folder = run.evidence_folder(episode.folder)
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
        picture = picture_uri(folder, turn.screenshot) if self._images else None
        if picture is None:
            return turn.seen
        self.has_pictures = True
        return [self._model.ContentText(text=turn.seen), self._model.ContentImage(image=picture)]

    def _call(self, turn: Turn) -> Any:
        return self._tool.ToolCall(id=turn.call, function=turn.action, arguments=turn.arguments)

    def _error(self, turn: Turn) -> Any:
        return self._tool.ToolCallError("unknown", turn.error) if turn.error else None

    def _events(self, episode: ScoredEpisode, name: str, turns: Iterator[Turn]) -> Iterator[Any]:
        began = began_at(episode.outline)
        span = {"span_id": name}
        for number, receipt in enumerate(episode.outline.receipts):
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
            timestamp=began + timedelta(seconds=episode.outline.seconds),
            working_start=episode.outline.seconds,
            score=self._score(episode),
            scorer=SCORER,
            **span,
        )

    def _usage(self, episode: ScoredEpisode) -> Any:
        taken, given = episode.outline.input_tokens, episode.outline.output_tokens
        if not taken and not given and episode.outline.usd is None:
            return None
        return self._model.ModelUsage(
            input_tokens=taken,
            output_tokens=given,
            total_tokens=taken + given,
            total_cost=episode.outline.usd,
        )

    def _limit(self, episode: ScoredEpisode) -> Any:
        limits = episode.task.limits
        if episode.outline.ended is Ended.STEP_LIMIT:
            return self._log.EvalSampleLimit(type="turn", limit=limits.steps)
        if episode.outline.ended is Ended.DEADLINE:
            return self._log.EvalSampleLimit(type="time", limit=limits.seconds)
        return None


def _total(usages: Sequence[Any]) -> Any:
    found = [one for one in usages if one is not None]
    return sum(found[1:], found[0]) if found else None


def _model_name(asked: Iterable[str]) -> str:
    """Return the models that were asked as Inspect names one: provider and name."""
    names = "+".join(dict.fromkeys(asked))
    return f"arena/{names}" if names else _NO_MODEL


def _metadata(episode: ScoredEpisode) -> dict[str, Any]:
    task = episode.task
    return {
        "family": task.family.value,
        "template": task.template,
        "sites": list(task.sites),
        "world": episode.key.world.value,
        "episode": episode.folder,
        "ended": None if episode.outline.ended is None else episode.outline.ended.value,
        "ended_because": episode.outline.ended_because,
    }


def _figures(episode: ScoredEpisode) -> Mapping[str, Any]:
    score = episode.score
    return {
        "outcome": str(score.outcome),
        "key_nodes_met": score.key_nodes_met,
        "key_nodes": score.key_nodes,
        "completion": score.completion,
        "alignment": score.alignment,
        "steps": score.steps,
        "checks": {one.check: f"{one.status}: {one.reason}" for one in score.verdicts},
    }


INSPECT: Final = InspectLogs()
