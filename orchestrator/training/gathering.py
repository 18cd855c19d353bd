"""Episodes on their way into a data set: filtered, counted, and written with their card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from arena_core.errors import StoreError, UsageError
from evaluators.verdicts import OutcomeKind
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import LeftOut, Written
from orchestrator.store.secrets import SecretSearch, known_secrets, typed_unseen
from orchestrator.training.card import (
    CARD,
    DataCard,
    Removal,
    Source,
    TaskCount,
    warnings_of,
    write_card,
)
from orchestrator.training.dataset import DataSet
from orchestrator.training.provenance import provenance
from orchestrator.training.rollouts import Rollout, Turn, rollouts_by_task, template_of
from orchestrator.training.samples import Removed, Sample
from orchestrator.training.split import Split, read_split
from sites.atlas import load_atlas
from tasks.schema import Task

FIELDS: Final[Mapping[str, str]] = {
    "run, suite, suite_hash": "the run, its suite, and SHA-256 of the suite",
    "task, template, sites, world": "what was played, and where; template: the task itself where"
    " it is an instance of none",
    "repeat, attempt, step": "which episode, and which of its actions, from 1",
    "seed, run_seed, task_seed": "what the model was asked with, what the run began with, and what"
    " a page of MiniWoB++ drew its problem from; null where there is none",
    "temperature": "what the model was asked with",
    "site_images": "images of the replicas, `TAG=DIGEST`",
    "agent, agent_class, model": "who played; a reference agent knows the solution",
    "parser, prompt_version": "what read the replies and what wrote the prompts: code and version",
    "prompt_is": "`asked`: word for word what the model was asked; `observed`: no model was asked,"
    " and the prompt is the goal, the URL and the observation as recorded",
    "n, n_right, n_unscored": "episodes of the task among these runs: scored, successful, unscored",
}

OUTCOMES: Final = (
    (
        "A successful episode is right as a whole: that each of its steps was needed, or the best"
        " one, is not shown."
    ),
    "Success is what the task's checks find; what they do not look at may be wrong all the same.",
)


@dataclass(slots=True, kw_only=True)
class Gathering:
    """The state of one export.

    Attributes:
        known: sites whose accounts' secrets are searched for.
        counts: by suite and task.
        left_out: episodes that gave nothing, and why.
        written_from: the episodes that gave something, by their folders.
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

    @classmethod
    def of(
        cls, runs: Sequence[RunReport], split: str | None, include: str | None = None
    ) -> Gathering:
        """Begin an export; what its tasks' suites hold out is left out but for `include`.

        Raises:
            InputError, UnknownNameError: as `read_split`.
            StoreError: a run's copy of its suite cannot be read.
        """
        atlas = load_atlas()
        path = None if split is None else Path(split)
        return cls(
            runs=runs,
            split=read_split(path, [run.folder.suite() for run in runs], include=include),
            secrets=known_secrets(atlas),
            known=frozenset(atlas.sites),
            counts=_counted(runs),
        )

    def tasks(self) -> Iterator[tuple[Task, tuple[Rollout, ...]]]:
        """Yield the readable episodes of each task that may be trained on."""
        for task, found in rollouts_by_task(self.runs):
            taken: list[Rollout] = []
            for one in found:
                why = self._refusal(one)
                if why is None:
                    taken.append(one)
                else:
                    self.refused[why] += 1
                    self.leave_out(one, why)
            typed = (typed_unseen(turn.step) for one in taken for turn in one.turns)
            self.secrets.find_also(text for text in typed if text)
            if taken:
                yield task, tuple(taken)

    def count_of(self, rollout: Rollout) -> TaskCount:
        """Return how often the task of an episode was played, in all runs."""
        return self.counts[rollout.lock.suite, rollout.task.id]

    def leave_out(self, rollout: Rollout, why: str) -> None:
        """Note that an episode gave nothing."""
        run = rollout.report.folder.path
        self.left_out.append(LeftOut(run=run, what=rollout.scored.folder, why=why))

    def took(self, rollout: Rollout, records: int) -> None:
        """Note that an episode gave records."""
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

    def finish(
        self,
        data: DataSet,
        kind: str,
        title: str,
        *,
        limits: Sequence[str],
        fields: Mapping[str, str],
        pairs: Mapping[str, int] | None = None,
    ) -> Written:
        """Write the card, and say what was written.

        Args:
            data: closed.
            kind: of data.
            title: of the card.
            limits: what the data cannot show.
            fields: of a record beside those that say where it comes from.
            pairs: of pairs, why states and pairs were removed.
        """
        removals = [
            *(Removal(of="episodes", why=why, count=one) for why, one in _sorted(self.refused)),
            *(
                Removal(of="steps", why=why.value, count=one)
                for why, one in _sorted(self.removed + data.removed)
            ),
            *(
                Removal(of="states and pairs", why=why, count=one)
                for why, one in (pairs or {}).items()
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
        wob = rollout.task.wob
        if wob is not None and wob.mode == "test":
            return "is a test problem of its page, as the suite says (mode: test)"
        why = self.split.refuses(rollout.lock.suite, rollout.task)
        return why or rollout.unreadable or None


def pictures_of(rollout: Rollout, sample: Sample) -> list[Path]:
    """Return the files of a sample's images."""
    return [rollout.folder / name for name in sample.pictures]


def cannot_write(path: Path, cause: OSError) -> StoreError:
    """Return the error of a data set that cannot be written."""
    message = f"{path}: the data set cannot be written: {cause.strerror}"
    return StoreError(message, hint="free some disk, or name another place with --out")


def require_above_zero(**numbers: int | None) -> None:
    """Refuse options that count something.

    Raises:
        UsageError: one is not above 0.
    """
    for name, number in numbers.items():
        if number is not None and number < 1:
            message = f"--option {name}={number} is not above 0"
            raise UsageError(message)


def _unknown_sites(runs: Sequence[RunReport], known: frozenset[str]) -> Iterator[str]:
    """Say of which sites nobody knows the passwords here."""
    played = {site for run in runs for one in run.trials for site in one.task.sites}
    if played - known:
        names = ", ".join(sorted(played - known))
        yield f"no manifest here of {names}: passwords of their accounts were not searched for"


def _counted(runs: Sequence[RunReport]) -> dict[tuple[str, str], TaskCount]:
    """Return how often each task was played, and how that ended."""
    counts: dict[tuple[str, str], TaskCount] = {}
    for run in runs:
        for one in run.trials:
            suite, task = run.lock.suite, one.task
            counted = counts.setdefault(
                (suite, task.id), TaskCount(suite=suite, task=task.id, template=template_of(task))
            )
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
