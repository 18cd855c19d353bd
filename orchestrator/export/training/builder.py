"""Builds a data set from episodes: filtered, counted, each record with where it is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError, UsageError
from arena_core.names import offered
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.extension_points import LeftOut, Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.export.training.dataset import (
    CARD,
    DataCard,
    DataSet,
    Removal,
    Source,
    TaskCount,
    warnings_of,
    write_card,
)
from orchestrator.export.training.rollouts import Rollout, Turn, rollouts_by_task, template_of
from orchestrator.export.training.samples import Removed, Sample, provenance
from orchestrator.export.training.split import Split, read_split
from orchestrator.runs.store.secrets import SecretSearch, known_secrets
from sites.registry import load_registry

FIELDS: Final[Mapping[str, str]] = {
    "run, episode": "the run, and the episode's folder in it: with `step` they are the keys of the"
    " tables of `arena export csv` and `parquet`",
    "suite, suite_hash": "the run's suite, and SHA-256 of it",
    "task, template, sites, world": "what was played, and where; template: the task itself where"
    " it is an instance of none",
    "staged": "sites whose live origin was staged, with commas between them; empty where none was",
    "repeat, attempt, step": "which episode, and which of its actions, from 1",
    "branch_root, branch_step, checkpoint": "of a branch the episode whose steps it shares, the"
    " last of these, and the checkpoint; else null. Its records are of later steps alone",
    "seed, run_seed, task_seed": "what the model was asked with, what the run began with, and what"
    " a page of MiniWoB++ drew its problem from; null where there is none",
    "temperature": "what the model was asked with",
    "site_images": "images of the replicas, `TAG=DIGEST`",
    "agent, agent_class, model": "who played; a reference agent knows the solution",
    "parser, prompt_version": "what read the replies and what wrote the prompts: code and version",
    "prompt_is": "`asked`: word for word what the model was asked; `observed`: no model was asked,"
    " and the prompt is the goal, the URL and the observation as recorded",
    "n, n_right, n_unscored": "episodes of the task among these runs: scored, successful, unscored;"
    " branches are not counted",
}

OUTCOMES: Final = (
    (
        "A successful episode is right as a whole: that each of its steps was needed, or the best"
        " one, is not shown."
    ),
    "Success is what the task's checks find; what they do not look at may be wrong all the same.",
)


class DataSetExporter:
    """What all exporters of data sets declare: a folder, and that they search it for secrets."""

    suffix = ""
    is_folder = True
    searches_secrets = True


@dataclass(slots=True, kw_only=True)
class DataSetBuilder:
    """The state of one export.

    Attributes:
        known: sites whose accounts' secrets are searched for.
        left_out: episodes that gave nothing, and why.
        written_from: the episodes that gave something, by their folders.
        seen_forms: the forms of observation that agents without a model were shown; None before an
            episode was taken.
        pairs: of preferences, why states and pairs were removed.
    """

    runs: Sequence[RunReport]
    split: Split
    secrets: SecretSearch
    known: frozenset[str]
    counts: dict[tuple[str, str], TaskCount] = field(default_factory=dict)
    removed: Counter[Removed] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    written_from: set[Path] = field(default_factory=set)
    seen_forms: set[str] | None = None
    pairs: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls, runs: Sequence[RunReport], split: str | None, include: str | None = None
    ) -> DataSetBuilder:
        """Begin an export; what its tasks' suites hold out is left out but for `include`."""
        registry = load_registry()
        path = None if split is None else Path(split)
        return cls(
            runs=runs,
            split=read_split(path, [run.folder.suite() for run in runs], include=include),
            secrets=known_secrets(registry),
            known=frozenset(registry.sites),
            counts=_counted(runs),
        )

    def tasks(self) -> Iterator[tuple[Rollout, ...]]:
        """Yield the readable episodes of each task that may be trained on."""
        for _, found in rollouts_by_task(self.runs):
            taken: list[Rollout] = []
            for one in found:
                why = self._refusal(one)
                if why is None:
                    taken.append(one)
                else:
                    self.refused[why] += 1
                    self.leave_out(one, why)
            self.secrets.find_also(text for one in taken for text in one.typed)
            for one in taken:
                self.seen_forms = (self.seen_forms or set()) | _forms_without_model(one)
            if taken:
                yield tuple(taken)

    def _require_seen(self, observation: str | None) -> None:
        """Refuse a form of observation that can stand for no prompt of what was taken."""
        if observation is None or self.seen_forms is None or observation in self.seen_forms:
            return
        message = (
            f"--option observation={observation} has no effect: no episode of an agent without a"
            " model has that form recorded"
        )
        known = offered(observation, self.seen_forms, intro="recorded are")
        raise UsageError(message, hint=known)

    def count_of(self, rollout: Rollout) -> TaskCount:
        return self.counts[rollout.lock.suite, rollout.task.id]

    def leave_out(self, rollout: Rollout, why: str) -> None:
        run = rollout.report.folder.path
        self.left_out.append(LeftOut(run=run, what=rollout.scored.folder, why=why))

    def took(self, rollout: Rollout, records: int) -> None:
        self.written_from.add(rollout.folder)
        self.count_of(rollout).records += records

    def about(self, rollout: Rollout, turn: Turn, sample: Sample | None) -> dict[str, Any]:
        """Return where a record comes from, with the counts of its task."""
        counted = self.count_of(rollout)
        return provenance(rollout, turn, sample) | {
            "n": counted.right + counted.wrong,
            "n_right": counted.right,
            "n_unscored": counted.unscored,
        }

    def write(
        self,
        path: Path,
        kind: str,
        title: str,
        add: Callable[[DataSet, Sequence[Rollout]], None],
        *,
        limits: Sequence[str],
        fields: Mapping[str, str],
        observation: str | None = None,
    ) -> Written:
        """Write a data set with its card, and say what was written.

        Args:
            add: adds the records of the episodes of one task.
            limits: what the data cannot show.
            fields: of a record, beside those that say where it comes from.
            observation: the form that stands for the prompt of agents that asked no model.
        """
        try:
            with DataSet(path, kind, self.secrets) as data:
                for rollouts in self.tasks():
                    add(data, rollouts)
            self._require_seen(observation)
            return self._finish(data, kind, title, limits, fields)
        except OSError as cause:
            message = f"{path}: the data set cannot be written: {cause.strerror}"
            hint = "free some disk, or name another place with --out"
            raise StoreError(message, hint=hint) from cause

    def _finish(
        self,
        data: DataSet,
        kind: str,
        title: str,
        limits: Sequence[str],
        fields: Mapping[str, str],
    ) -> Written:
        removals = [
            *(Removal(of="episodes", why=why, count=one) for why, one in _sorted(self.refused)),
            *(
                Removal(of="steps", why=why.value, count=one)
                for why, one in _sorted(self.removed + data.removed)
            ),
            *(
                Removal(of="states and pairs", why=why, count=one)
                for why, one in self.pairs.items()
            ),
        ]
        warnings = (
            *warnings_of(self.runs, has_split=bool(str(self.split))),
            *_unknown_sites(self.runs, self.known),
        )
        card = DataCard(
            kind=kind,
            title=title,
            file=data.path.name,
            sha256=data.digest(),
            records=data.records,
            images=data.images,
            episodes=len(self.written_from),
            sources=tuple(Source.of(run) for run in self.runs),
            tasks=tuple(self.counts[key] for key in sorted(self.counts)),
            removed=tuple(removals),
            split=str(self.split) or None,
            secrets_searched=f"{self.secrets.count} values of the sites' accounts and of this"
            " machine's environment, what was typed into password fields, and what looks like a"
            " key were searched for in all texts. Pictures were not: a screenshot may show a"
            " password that the page shows in plain",
            fields={**fields, **FIELDS},
            limits=tuple(limits),
            warnings=warnings,
        )
        write_card(card, data.path.parent)
        removed = ", ".join(f"{one.count} {one.of}: {one.why}" for one in removals if one.count)
        return Written(
            episodes=len(self.written_from),
            left_out=tuple(self.left_out),
            notes=(
                f"{data.records} records in {data.path.name}; {CARD} says what was removed",
                *((f"removed: {removed}",) if removed else ()),
                *warnings,
            ),
        )

    def _refusal(self, rollout: Rollout) -> str | None:
        miniwob = rollout.task.miniwob
        if miniwob is not None and miniwob.mode == "test":
            return "is a test problem of its page, as the suite says (mode: test)"
        why = self.split.refuses(rollout.lock.suite, rollout.task)
        return why or rollout.unreadable or None


def pictures_of(rollout: Rollout, sample: Sample) -> list[Path]:
    return [rollout.folder / name for name in sample.pictures]


def require_above_zero(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise UsageError(f"--option {name}={number} is not above 0")


def _forms_without_model(rollout: Rollout) -> set[str]:
    """Return the forms of observation in which an agent without a model saw its pages."""
    if rollout.asked_models:
        return set()
    return {form for turn in rollout.turns for form in (turn.seen or {}).get("parts", {})}


def _unknown_sites(runs: Sequence[RunReport], known: frozenset[str]) -> Iterator[str]:
    played = {site for run in runs for one in run.episodes for site in one.task.sites}
    if played - known:
        names = ", ".join(sorted(played - known))
        yield f"no manifest here of {names}: passwords of their accounts were not searched for"


def _counted(runs: Sequence[RunReport]) -> dict[tuple[str, str], TaskCount]:
    counts: dict[tuple[str, str], TaskCount] = {}
    for run in runs:
        for one in run.episodes:
            suite, task = run.lock.suite, one.task
            counted = counts.setdefault(
                (suite, task.id), TaskCount(suite=suite, task=task.id, template=template_of(task))
            )
            if not one.is_attempt:
                continue
            match one.score.outcome.kind:
                case OutcomeKind.SUCCESS:
                    counted.right += 1
                case OutcomeKind.FAILURE:
                    counted.wrong += 1
                case OutcomeKind.UNSCORED:
                    counted.unscored += 1
    return counts


def _sorted(counted: Mapping[Any, int]) -> list[tuple[Any, int]]:
    return sorted(counted.items(), key=lambda pair: str(pair[0]))
