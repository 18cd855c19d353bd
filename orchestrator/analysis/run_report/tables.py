"""Runs as tables: episodes, steps, checks, receipts, values; each column with type and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, Protocol

from arena_core.errors import StoreError, UnknownNameError
from arena_core.extras import extra
from arena_core.worlds import World
from evaluators.evidence import Receipt, StepEvidence
from evaluators.verdicts import CheckStatus, OutcomeKind, Verdict
from orchestrator.analysis.run_report.step_values import step_values
from orchestrator.episode.jsonl_files import read_exchanges
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.rescoring import ScoredEpisode
from orchestrator.runs.store.run_folder import RunFolder

Value = str | int | float | bool | Decimal | datetime | None
Row = tuple[Value, ...]
USD_DIGITS: Final = 38
USD_PLACES: Final = 9
_USD: Final = Decimal(1).scaleb(-USD_PLACES)
Rows = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPart:
    """What a run is in its study.

    Attributes:
        study: the study's name.
        label: what the study calls its agent.
        registered_repeats: how many repeats of each of its tasks were registered before the study
            was played; none of a run that was added later.
    """

    study: str
    label: str
    registered_repeats: int


class TabledRun(Protocol):
    """What tables are made of; a `RunReport` has it."""

    @property
    def folder(self) -> RunFolder:
        """Where the run is."""

    @property
    def lock(self) -> RunLock:
        """What the run was asked to do."""

    @property
    def part(self) -> StudyPart | None:
        """What it is in its study."""

    @property
    def episodes(self) -> Sequence[ScoredEpisode]:
        """Its finished episodes."""


class Kind(StrEnum):
    """What a column holds; any of them may be empty where the column says so.

    `usd` is a decimal of 38 digits, 9 of them after the point; `time` is UTC, to the millisecond.
    """

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    USD = "usd"
    FLAG = "flag"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        unit: empty if there is none.
        meaning: in one sentence or less, and what empty means.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: a file of its name."""

    name: str
    rows: str
    columns: tuple[Column, ...]

    def row(self, values: Sequence[Value]) -> Row:
        if len(values) != len(self.columns):
            raise ValueError(f"{self.name}: {len(values)} values for {len(self.columns)} columns")
        return tuple(values)


def as_usd(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(repr(amount)).quantize(_USD)


def as_time(text: str) -> datetime | None:
    """Return ISO 8601 text as UTC; None if it is anything else, or names no zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else found.astimezone(UTC)


def encodable(text: str) -> str:
    """Return text that UTF-8 can hold; other bytes of a path stand as numbers."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def models_of(report: TabledRun, episode: ScoredEpisode) -> tuple[str, ...]:
    """Return the models that an episode asked, as their endpoint calls them; none where unknown.

    An agent that is not Arena's need not have an option for it; what it asked through Arena's
    client is in the evidence all the same.
    """
    said = report.lock.agent.options.get("model")
    if isinstance(said, str) and said:
        return (said,)
    try:
        kept = read_exchanges(report.folder.evidence_folder(episode.folder))
    except StoreError:  # what cannot be read names no model, and no score needs it
        return ()
    asked = (one.exchange.request.get("model") for one in kept)
    return tuple(dict.fromkeys(one for one in asked if isinstance(one, str) and one))


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
    "one per finished episode",
    (
        *_KEY,
        Column("run_folder", _TEXT, "name of the run's folder; in a study, of the cell's"),
        Column("study", _TEXT, "name of the study; empty where the run belongs to none"),
        Column("label", _TEXT, "what the study calls the agent; empty as `study`"),
        Column("registered", _FLAG, "`false`: added after registration; empty as `study`"),
        Column("suite", _TEXT, "name of the suite"),
        Column("suite_version", _INTEGER, "version of the suite"),
        Column("suite_hash", _TEXT, "SHA-256 of the suite"),
        Column("agent", _TEXT, "the agent as reports name it"),
        Column("agent_class", _TEXT, "`contestant`, or what else its figures stand for"),
        Column("agent_given", _TEXT, "the options that it was given, as JSON, without secrets"),
        Column("arm", _TEXT, "how the world that it met was varied; empty in the clean arm"),
        Column(
            "model", _TEXT, "models that were asked, comma-separated; empty where none is known"
        ),
        Column("run_seed", _INTEGER, "the agent's option `seed`; empty without one"),
        Column("task_seed", _INTEGER, "seed of a MiniWoB++ page's problem; else empty"),
        Column("site_images", _TEXT, "images of the replicas, `TAG=DIGEST`, comma-separated"),
        Column("staged", _TEXT, "sites whose live origin was staged, comma-separated"),
        Column("family", _TEXT, "family of the task"),
        Column("template", _TEXT, "template that the task instantiates; empty without one"),
        Column("sites", _TEXT, "sites of the task, comma-separated"),
        Column("reference_length", _INTEGER, "actions of the reference; empty without one"),
        Column("expected_divergence", _TEXT, "how the oracle ends online on purpose; else empty"),
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
        Column("confidence", _NUMBER, "how sure it said it was; empty where unsaid", "share"),
        Column("input_tokens", _INTEGER, "tokens of prompts, as the model reports", "tokens"),
        Column("output_tokens", _INTEGER, "tokens of replies", "tokens"),
        Column("usd", Kind.USD, "cost of the models; empty where no price is known", "US dollars"),
        Column("replayed_from", _TEXT, "the run whose replies answered; nothing was spent then"),
        Column("branch_root", _TEXT, "whose steps it shares, where it starts at a checkpoint"),
        Column("branch_step", _INTEGER, "the last step that it shares with its root"),
        Column("was", _TEXT, "the outcome that the run itself recorded"),
        Column(
            "person_seconds", _NUMBER, "of a person, from Start to the answer, without pauses", "s"
        ),
        Column("person_paused", _NUMBER, "how long they paused; both empty of an agent", "s"),
    ),
)


STEPS: Final = Table(
    "steps",
    "one per step, including the opening of the start pages (step 0)",
    (
        *_KEY,
        Column("step", _INTEGER, "number of the step; 0 is the opening"),
        Column("action", _TEXT, "kind of action; empty for the opening"),
        Column("arguments", _TEXT, "the whole action as JSON; empty for the opening"),
        Column("thought", _TEXT, "the agent's reason; empty where it gave none"),
        Column("error", _TEXT, "why the action could not be done; empty where it was"),
        Column("url", _TEXT, "of the current tab after the step"),
        Column("logical", _TEXT, "the same as a logical URL; empty where it belongs to no site"),
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
    "one per check of the task that applies in the world",
    (
        *_KEY,
        Column("check", _TEXT, "name of the check"),
        Column("kind", _TEXT, "`requires`, `step` (a key node) or `end`"),
        Column("decides", _FLAG, "whether success requires it"),
        Column("status", _TEXT, "`met`, `unmet`, or `unknown` where it could not be evaluated"),
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
    "one per reset of a site before an episode",
    (
        *_KEY,
        Column("number", _INTEGER, "which reset of the episode, from 0"),
        Column("site", _TEXT, "name of the site"),
        Column("strategy", _TEXT, "the strategy that led to golden"),
        Column("seconds", _NUMBER, "the whole reset, its proof included", "s"),
        Column("waited", _NUMBER, "how long the episode waited for the replica", "s"),
        Column("proven", _FLAG, "whether the state after it is golden"),
        Column("proof", _TEXT, "how that is known"),
        Column("before", _TEXT, "fingerprint before; empty where it was not taken"),
        Column("after", _TEXT, "fingerprint after"),
        Column("golden", _TEXT, "what `after` must equal"),
        Column("is_start", _FLAG, "whether that is a start of its own, and not the image's state"),
        Column("swapped", _FLAG, "whether the episode got a spare replica at once"),
        Column("differences", _INTEGER, "how many things differed from golden before"),
        Column("fallbacks", _TEXT, "strategies that were not enough, a line each"),
    ),
)


VALUES: Final = Table(
    "values",
    "one per step that rollouts start at",
    (
        Column("run", _TEXT, "id of the run of rollouts"),
        Column("task", _TEXT, "id of the task in its suite"),
        Column("root", _TEXT, "the episode whose steps the rollouts share, `RUN/EPISODE`"),
        Column("step", _INTEGER, "after how many of its actions; 0 is the start page"),
        Column("states", _TEXT, "the sites' states as proven, `SITE=DIGEST`, comma-separated"),
        Column("told", _FLAG, "whether the agents were told what was done before"),
        Column("value", _NUMBER, "succeeded ÷ scored; **empty where none is scored**", "share"),
        Column("low", _NUMBER, "of Wilson's 95 % interval of the value; empty as `value`", "share"),
        Column("high", _NUMBER, "of the same interval", "share"),
        Column("scored", _INTEGER, "rollouts with a score"),
        Column("succeeded", _INTEGER, "of these, those that succeeded"),
        Column("unscored", _INTEGER, "rollouts without one; no part of the value"),
    ),
)


TABLES: Final = (EPISODES, STEPS, CHECKS, RECEIPTS, VALUES)


def rows_of(runs: Iterable[TabledRun]) -> Iterator[Rows]:
    for report in runs:
        for episode in report.episodes:
            yield _rows(report, episode)
        if report.lock.rollouts is not None:
            values = [
                VALUES.row((report.lock.run, *one.document().values()))
                for one in step_values(report.episodes)
            ]
            yield {table.name: [] for table in TABLES} | {VALUES.name: values}


def _rows(report: TabledRun, episode: ScoredEpisode) -> Rows:
    at = episode.key
    key = (report.lock.run, episode.folder, at.world.value, at.task, at.repeat)
    score = episode.score
    is_scored = score.outcome.kind is not OutcomeKind.UNSCORED
    checks = [
        *(_check(one, "requires", is_scored=is_scored) for one in score.required),
        *(_check(one, one.when.value, is_scored=is_scored) for one in score.verdicts),
    ]
    return {
        EPISODES.name: [EPISODES.row((*key, *_episode(report, episode)))],
        STEPS.name: [STEPS.row((*key, *_step(one))) for one in episode.evidence.steps],
        CHECKS.name: [CHECKS.row((*key, *one)) for one in checks],
        RECEIPTS.name: [
            RECEIPTS.row((*key, number, *_receipt(one)))
            for number, one in enumerate(episode.outline.receipts)
        ],
        VALUES.name: [],
    }


def _episode(report: TabledRun, episode: ScoredEpisode) -> Sequence[Value]:
    lock, score, outline = report.lock, episode.score, episode.outline
    kind, reason = score.outcome.kind, score.outcome.reason
    given = {name: lock.agent.options.get(name) for name in lock.agent.given}
    seed, part, task, at = lock.agent.options.get("seed"), report.part, episode.task, episode.key
    diverges = task.expected_divergence if at.world is World.ONLINE else None
    return (
        encodable(report.folder.path.resolve().name),
        None if part is None else part.study,
        None if part is None else part.label,
        None if part is None else at.repeat < part.registered_repeats,
        lock.suite,
        lock.suite_version,
        lock.suite_hash,
        lock.agent.name,
        lock.agent.agent_class.value,
        json.dumps(given, ensure_ascii=False),
        lock.arm,
        ",".join(models_of(report, episode)),
        seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        None if outline.miniwob is None else outline.miniwob.seed,
        ",".join(f"{tag}={image}" for tag, image in sorted(lock.images.items())),
        ",".join(outline.staged),
        task.family.value,
        task.template,
        ",".join(task.sites),
        task.reference_length(at.world),
        None if diverges is None else diverges.outcome,
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
        episode.confidence,
        outline.input_tokens,
        outline.output_tokens,
        as_usd(outline.usd),
        outline.replayed_from,
        None if outline.branch is None else outline.branch.root,
        None if outline.branch is None else outline.branch.step,
        episode.was,
        None if outline.person is None else outline.person.seconds,
        None if outline.person is None else outline.person.paused,
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
        receipt.is_start,
        receipt.swapped,
        len(receipt.differences),
        "\n".join(receipt.fallbacks),
    )


# Those that can be empty: what is unscored or unknown is `<NA>`, and never a zero or a False.
_TYPES: Final = {
    Kind.TEXT: "string",
    Kind.INTEGER: "Int64",
    Kind.NUMBER: "Float64",
    Kind.USD: "Float64",
    Kind.FLAG: "boolean",
    Kind.TIME: "datetime64[ms, UTC]",
}


def frame_of(runs: Iterable[TabledRun], name: str) -> Any:
    """Return a table of `arena export csv` as a data frame, with the same columns."""
    pandas = extra("pandas", "pandas", needed_by="to_pandas()")
    table = next((one for one in TABLES if one.name == name), None)
    if table is None:
        message = f"there is no table '{name}'"
        raise UnknownNameError(message, hint=", ".join(one.name for one in TABLES))
    rows = [row for found in rows_of(runs) for row in found[name]]
    return pandas.DataFrame(
        {
            column.name: pandas.array(
                [_number(row[at], column.kind) for row in rows], dtype=_TYPES[column.kind]
            )
            for at, column in enumerate(table.columns)
        }
    )


def _number(value: Value, kind: Kind) -> Any:
    return float(value) if kind is Kind.USD and value is not None else value  # type: ignore[arg-type]
