"""Runs as four tables: episodes, steps, checks, receipts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from evaluators.evidence import Receipt, StepEvidence
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.exports.columns import Column, Kind, Row, Table, Value, as_time, as_usd, encodable
from orchestrator.report.run_report import RunReport
from orchestrator.store.rescoring import ScoredTrial

_TEXT, _INTEGER, _NUMBER, _FLAG = Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.FLAG

_KEY: Final = (
    Column("run", _TEXT, "id of the run"),
    Column("episode", _TEXT, "the episode's folder in the run's `evidence/`"),
    Column("world", _TEXT, "`offline` or `online`"),
    Column("task", _TEXT, "id of the task in its suite"),
    Column("repeat", _INTEGER, "which repeat, from 0"),
)

EPISODES: Final = Table(
    "episodes",
    "one a finished episode",
    (
        *_KEY,
        Column("run_folder", _TEXT, "name of the run's folder; in a study, of the cell's"),
        Column("suite", _TEXT, "name of the suite"),
        Column("suite_version", _INTEGER, "version of the suite"),
        Column("agent", _TEXT, "the agent as reports name it"),
        Column("agent_class", _TEXT, "`contestant`, or what else its figures stand for"),
        Column("agent_given", _TEXT, "the options that it was given, as JSON, without secrets"),
        Column("staged", _TEXT, "sites whose live origin was staged, with commas between them"),
        Column("family", _TEXT, "family of the task"),
        Column("template", _TEXT, "what the task is an instance of; empty where of none"),
        Column("sites", _TEXT, "sites of the task, with commas between them"),
        Column("attempt", _INTEGER, "which attempt at the episode counts, from 1"),
        Column("started_at", Kind.TIME, "when the attempt began"),
        Column("seconds", _NUMBER, "how long it took", "s"),
        Column("outcome", _TEXT, "`success`, `failure` or `unscored`"),
        Column("success", _FLAG, "whether it succeeded; **empty where it is unscored**"),
        Column("reason", _TEXT, "why it is unscored; empty where it is scored"),
        Column("because", _TEXT, "why the outcome is what it is, in a sentence"),
        Column("key_nodes_met", _INTEGER, "key nodes known to be met"),
        Column("key_nodes", _INTEGER, "key nodes of the task in this world"),
        Column("completion", _NUMBER, "key nodes met ÷ key nodes; empty where unknown", "share"),
        Column("alignment", _NUMBER, "human alignment score; empty where unknown", "share"),
        Column("efficiency", _NUMBER, "steps per key node met; empty where none is", "steps"),
        Column("steps", _INTEGER, "actions of the agent, the last one included"),
        Column("ended", _TEXT, "how it came to its end; empty where it broke off"),
        Column("ended_because", _TEXT, "more about that; empty where there is nothing"),
        Column("answer", _TEXT, "what the agent answered; empty where it gave no answer"),
        Column("input_tokens", _INTEGER, "tokens of prompts, as the model reports", "tokens"),
        Column("output_tokens", _INTEGER, "tokens of replies", "tokens"),
        Column("usd", Kind.USD, "cost of the models; empty where no price is known", "US dollars"),
        Column("replayed_from", _TEXT, "the run whose replies answered; nothing was spent then"),
        Column("was", _TEXT, "the outcome that the run itself wrote down"),
    ),
)

STEPS: Final = Table(
    "steps",
    "one a step, the opening of the start pages (step 0) too",
    (
        *_KEY,
        Column("step", _INTEGER, "number of the step; 0 is the opening"),
        Column("action", _TEXT, "kind of action; empty for the opening"),
        Column("arguments", _TEXT, "the whole action as JSON; empty for the opening"),
        Column("thought", _TEXT, "the agent's reason; empty where it gave none"),
        Column("error", _TEXT, "why the action could not be done; empty where it was"),
        Column("url", _TEXT, "of the current tab after the step"),
        Column("logical", _TEXT, "the same as a logical URL; empty where it is of no site"),
        Column("title", _TEXT, "of the page"),
        Column("http_status", _INTEGER, "of the page's document; empty where unknown"),
        Column("login", _TEXT, "who the tab is logged in as; empty where that is not asked"),
        Column("settled", _FLAG, "whether the page came to rest in time"),
        Column("visits", _INTEGER, "URLs that tabs committed to"),
        Column("events", _INTEGER, "events on elements that the watcher reported"),
        Column("requests", _INTEGER, "requests that the gateway saw"),
        Column("refused", _INTEGER, "requests that were refused"),
        Column("decide_ms", _NUMBER, "time of the agent's decision", "ms"),
        Column("act_ms", _NUMBER, "time of the action", "ms"),
        Column("settle_ms", _NUMBER, "time until the page was at rest", "ms"),
        Column("locate_ms", _NUMBER, "time of looking for what checks ask", "ms"),
        Column("observe_ms", _NUMBER, "time of observing the page", "ms"),
        Column("screenshot", _TEXT, "file in the episode's folder; empty where none was kept"),
    ),
)

CHECKS: Final = Table(
    "checks",
    "one a check of the task that applies in the world",
    (
        *_KEY,
        Column("check", _TEXT, "name of the check"),
        Column("kind", _TEXT, "`requires`, `step` (a key node) or `end`"),
        Column("decides", _FLAG, "whether there is no success without it"),
        Column("status", _TEXT, "`met`, `unmet`, or `unknown` where nobody could look"),
        Column("met", _FLAG, "**empty where it is unknown, or the episode is unscored**"),
        Column("step", _INTEGER, "the first step that met a key node; empty where none did"),
        Column("reason", _TEXT, "why the status is what it is"),
        Column("expected", _TEXT, "what was asked for"),
        Column("found", _TEXT, "what was found, each value once, a line each"),
        Column("needs_judge", _FLAG, "whether it is unknown because no judge was asked"),
    ),
)

RECEIPTS: Final = Table(
    "receipts",
    "one a reset of a site before an episode",
    (
        *_KEY,
        Column("number", _INTEGER, "which reset of the episode, from 0"),
        Column("site", _TEXT, "name of the site"),
        Column("strategy", _TEXT, "the rung of the ladder that led to golden"),
        Column("seconds", _NUMBER, "the whole reset, its proof included", "s"),
        Column("waited", _NUMBER, "how long the episode waited for the replica", "s"),
        Column("proven", _FLAG, "whether the state after it is golden"),
        Column("proof", _TEXT, "how that is known"),
        Column("before", _TEXT, "fingerprint before; empty where it was not taken"),
        Column("after", _TEXT, "fingerprint after"),
        Column("golden", _TEXT, "what `after` must equal"),
        Column("swapped", _FLAG, "whether the episode got a spare replica at once"),
        Column("differences", _INTEGER, "how many things differed from golden before"),
        Column("fallbacks", _TEXT, "rungs that were not enough, a line each"),
    ),
)

TABLES: Final = (EPISODES, STEPS, CHECKS, RECEIPTS)

Rows = Mapping[str, Sequence[Row]]


def rows_of(runs: Iterable[RunReport]) -> Iterator[Rows]:
    """Yield the rows of each episode by the name of their table, in the order of the reports.

    Raises:
        StoreError: evidence cannot be read any more.
    """
    for report in runs:
        for trial in report.trials:
            yield _rows(report, trial)


def _rows(report: RunReport, trial: ScoredTrial) -> Rows:
    at = trial.trial
    key = (report.lock.run, trial.folder, at.world.value, at.task, at.repeat)
    score = trial.score
    is_scored = score.outcome.kind is not OutcomeKind.UNSCORED
    checks = [
        *(_check(one, "requires", is_scored=is_scored) for one in score.required),
        *(_check(one, one.when.value, is_scored=is_scored) for one in score.verdicts),
    ]
    return {
        EPISODES.name: [EPISODES.row((*key, *_episode(report, trial)))],
        STEPS.name: [STEPS.row((*key, *_step(one))) for one in trial.evidence.steps],
        CHECKS.name: [CHECKS.row((*key, *one)) for one in checks],
        RECEIPTS.name: [
            RECEIPTS.row((*key, number, *_receipt(one)))
            for number, one in enumerate(trial.outline.receipts)
        ],
    }


def _episode(report: RunReport, trial: ScoredTrial) -> Sequence[Value]:
    lock, score, outline = report.lock, trial.score, trial.outline
    kind, reason = score.outcome.kind, score.outcome.reason
    given = {name: lock.agent.options.get(name) for name in lock.agent.given}
    return (
        encodable(report.folder.path.resolve().name),
        lock.suite,
        lock.suite_version,
        lock.agent.name,
        lock.agent.agent_class.value,
        json.dumps(given, ensure_ascii=False),
        ",".join(outline.staged),
        trial.task.family.value,
        trial.task.template,
        ",".join(trial.task.sites),
        outline.attempt,
        as_time(outline.started_at),
        outline.seconds,
        kind.value,
        None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS,
        None if reason is None else reason.value,
        score.because,
        score.key_nodes_met,
        score.key_nodes,
        score.completion,
        score.alignment,
        score.efficiency,
        score.steps,
        None if outline.ended is None else outline.ended.value,
        outline.ended_because,
        outline.answer,
        outline.input_tokens,
        outline.output_tokens,
        as_usd(outline.usd),
        outline.replayed_from,
        trial.was,
    )


def _step(step: StepEvidence) -> Sequence[Value]:
    action, times = step.action, step.timings
    return (
        step.index,
        None if action is None else action.kind,
        None if action is None else action.model_dump_json(),
        step.thought,
        step.error,
        step.url,
        step.logical,
        step.title,
        step.status,
        step.login,
        step.settled,
        len(step.visits),
        len(step.acted),
        step.requests,
        sum(note.refused is not None for note in step.notes),
        times.decide_ms,
        times.act_ms,
        times.settle_ms,
        times.locate_ms,
        times.observe_ms,
        step.screenshot,
    )


def _check(verdict: Verdict, kind: str, *, is_scored: bool) -> Sequence[Value]:
    is_known = is_scored and verdict.status is not CheckStatus.UNKNOWN
    return (
        verdict.check,
        kind,
        verdict.decides,
        verdict.status.value,
        verdict.status is CheckStatus.MET if is_known else None,
        verdict.step,
        verdict.reason,
        verdict.expected,
        "\n".join(verdict.found),
        verdict.needs_judge,
    )


def _receipt(receipt: Receipt) -> Sequence[Value]:
    return (
        receipt.site,
        receipt.strategy,
        receipt.seconds,
        receipt.waited,
        receipt.proven,
        receipt.proof.value,
        receipt.before,
        receipt.after,
        receipt.golden,
        receipt.swapped,
        len(receipt.differences),
        "\n".join(receipt.fallbacks),
    )
