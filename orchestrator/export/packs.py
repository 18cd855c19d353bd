"""What the packs of published sets share: which episodes go into one, and their pictures."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from arena_core.actions import Stop
from arena_core.errors import UsageError
from arena_core.names import counted, listed
from evaluators.evidence import Ended, Evidence, StepEvidence, UnscoredReason
from evaluators.scorers.base import OriginalTask
from orchestrator.analysis.run_report.extension_points import LeftOut, Written
from orchestrator.analysis.run_report.run_report import RunReport
from orchestrator.runs.store.evidence_files import read_picture
from orchestrator.runs.store.rescoring import ScoredEpisode


class UnfitError(Exception):
    """An episode cannot be written in a form; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackForm:
    """A published set, as far as its pack asks.

    Attributes:
        name: of the export, and of the format that its tasks are imported from.
        ids: what a task's id must look like to be the name of a folder there.
    """

    name: str
    title: str
    ids: re.Pattern[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedEpisode:
    """One episode that goes into a pack.

    Attributes:
        id: of its task, as its publisher calls it.
    """

    report: RunReport
    scored: ScoredEpisode
    id: str

    @property
    def evidence(self) -> Evidence:
        return self.scored.evidence

    @property
    def original(self) -> OriginalTask:
        found = self.scored.task.original
        if found is None:
            raise UnfitError("its task was not imported")
        return found

    @property
    def record(self) -> Mapping[str, Any]:
        """The task as its publisher wrote it; empty for one that came from nowhere."""
        original = self.scored.task.original
        return {} if original is None else original.record

    @property
    def actions(self) -> tuple[StepEvidence, ...]:
        """The steps in which the agent acted: neither the opening nor its end."""
        return tuple(step for step in self.evidence.steps[1:] if not _is_end(step))

    @property
    def end(self) -> StepEvidence | None:
        """The step with which the agent ended the episode; None where something else did."""
        last = self.evidence.steps[-1] if self.evidence.steps else None
        return last if last is not None and _is_end(last) else None

    @property
    def answer(self) -> str | None:
        """What the agent said at its end: its answer, or why the task cannot be done."""
        response = self.evidence.response
        if self.evidence.answer:
            return self.evidence.answer
        return (response.reason if response is not None else None) or None

    def views(self) -> tuple[bytes, ...]:
        """Return what the pages looked like before each action and at the end, as PNG."""
        folder = self.report.folder.evidence_folder(self.scored.folder)
        seen = (*self.evidence.steps[:1], *self.actions)
        return tuple(_png(step, folder) for step in seen)


def choose(
    runs: Sequence[RunReport],
    form: PackForm,
    *,
    repeat: int | None,
    world: str | None,
    any_suite: bool,
) -> tuple[tuple[PackedEpisode, ...], tuple[LeftOut, ...]]:
    """Return one episode of each task, and those that are left out.

    Runs of arms are left out beside clean ones: figures of a leaderboard are of the sites as they
    are. What did not come to an end is left out, never written as a failure; an episode that
    Arena's own checks cannot score is there, as others judge it. A choice among repeats is the
    user's: which one there is left must not hang on how the others went.
    """
    clean = [report for report in runs if report.lock.arm is None]
    # Where nothing is clean, what was named is what was meant, and is refused.
    _require_one_agent(clean or runs, form)
    _require_clean(clean or runs, form)
    left = [one for report in runs if report.lock.arm is not None for one in _of_arm(report, form)]
    by_id: defaultdict[str, list[PackedEpisode]] = defaultdict(list)
    for report in clean:
        for scored in report.episodes:
            why = _unwanted(scored, form, repeat=repeat, world=world, any_suite=any_suite)
            if why is None:
                name = _published_id(scored, form)
                by_id[name].append(PackedEpisode(report=report, scored=scored, id=name))
            else:
                left.append(LeftOut(run=report.folder.path, what=scored.folder, why=why))
    chosen: list[PackedEpisode] = []
    for episodes in by_id.values():
        _require_one(episodes, form)
        why = _unfit(episodes[0], form)
        if why is None:
            chosen.append(episodes[0])
        else:
            left.append(_left_out(episodes[0], why))
    if any_suite and chosen and not _foreign_note(chosen, form):
        message = f"--option any_suite=true has no effect: all tasks are {form.title}'s own"
        raise UsageError(message, hint="leave it out")
    if not chosen:
        why = left[-1].why if left else "no episode is finished"
        message = f"no episode can go into a pack of {form.title}: {why}"
        raise UsageError(message, hint=_hint(form, left))
    return tuple(chosen), tuple(left)


class Pack(ABC):
    """The exporter of a leaderboard's pack: a folder for each task."""

    suffix = ""
    is_folder = True
    form: ClassVar[PackForm]

    def export(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        repeat: int | None = None,
        world: str | None = None,
        any_suite: bool = False,
    ) -> Written:
        """Write one episode of each task.

        Args:
            runs: of one agent.
            path: the folder.
            repeat: which repeat of each task.
            world: which world.
            any_suite: tasks of other sets as well, which are nothing for the leaderboard.
        """
        return self.write_pack(runs, path, repeat=repeat, world=world, any_suite=any_suite)

    def write_pack(
        self,
        runs: Sequence[RunReport],
        path: Path,
        *,
        repeat: int | None,
        world: str | None,
        any_suite: bool,
    ) -> Written:
        episodes, unfit = choose(runs, self.form, repeat=repeat, world=world, any_suite=any_suite)
        path.mkdir()
        written: list[PackedEpisode] = []
        left: list[LeftOut] = []
        for one in episodes:
            try:
                self.write_episode(one, path)
                written.append(one)
            except UnfitError as unfit_now:
                left.append(_left_out(one, str(unfit_now)))
        if not written:
            raise UsageError(f"no episode can go into a pack of {self.form.title}: {left[0].why}")
        notes = (*_foreign_note(written, self.form), *self.notes(written))
        return Written(episodes=len(written), left_out=(*unfit, *left), notes=notes)

    @abstractmethod
    def write_episode(self, episode: PackedEpisode, path: Path) -> None:
        """Write an episode into the pack, or raise UnfitError before writing anything."""

    @abstractmethod
    def notes(self, written: Sequence[PackedEpisode]) -> Iterable[str]:
        """Return what else a person should know of the pack."""


def _foreign_note(episodes: Sequence[PackedEpisode], form: PackForm) -> tuple[str, ...]:
    """Return the line that is to be said where tasks did not come from the set."""
    others = sum(_published_by(one.scored) != form.name for one in episodes)
    if not others:
        return ()
    tasks = counted(others, "task is", "tasks are")
    return (f"{tasks} none of {form.title}: this is nothing for its leaderboard",)


def one_line(text: str) -> str:
    """Return a text without line breaks, which loaders stop at."""
    return " ".join(text.split())


def _of_arm(report: RunReport, form: PackForm) -> Iterable[LeftOut]:
    """Yield the episodes of a run that was played in an arm."""
    why = (
        f"it was played in the arm {report.lock.arm}, and {form.title} takes the sites as they are"
    )
    for scored in report.episodes:
        yield LeftOut(run=report.folder.path, what=scored.folder, why=why)


def _left_out(episode: PackedEpisode, why: str) -> LeftOut:
    return LeftOut(run=episode.report.folder.path, what=episode.scored.folder, why=why)


def _is_end(step: StepEvidence) -> bool:
    action = step.action
    return isinstance(action, Stop) or (action is not None and action.kind == "infeasible")


def _published_by(scored: ScoredEpisode) -> str | None:
    return None if scored.task.original is None else scored.task.original.format


def _published_id(scored: ScoredEpisode, form: PackForm) -> str:
    original = scored.task.original
    if original is None or original.format != form.name:
        return scored.task.id
    return original.id


def _unwanted(
    scored: ScoredEpisode,
    form: PackForm,
    *,
    repeat: int | None,
    world: str | None,
    any_suite: bool,
) -> str | None:
    """Return why an episode is not asked for; None where it is."""
    if repeat is not None and scored.key.repeat != repeat:
        return f"repeat {repeat} was asked for"
    if world is not None and scored.key.world != world:
        return f"the world {world} was asked for"
    if not any_suite and _published_by(scored) != form.name:
        return f"its task did not come from {form.title}"
    return None


def _unfit(episode: PackedEpisode, form: PackForm) -> str | None:
    """Return why the one episode of a task cannot be written; None where it can."""
    evidence, outcome = episode.scored.outline, episode.scored.score.outcome
    is_kept_out = outcome.reason in {UnscoredReason.BLOCKED, UnscoredReason.TAPE_MISS}
    if is_kept_out or evidence.fault is not None or evidence.ended in {None, Ended.NOT_STARTED}:
        return f"{outcome}: {episode.scored.score.because}"
    if form.ids.fullmatch(episode.id) is None:
        return f"the id {episode.id!r} of its task cannot be the name of a folder there"
    return None


def _require_one(episodes: Sequence[PackedEpisode], form: PackForm) -> None:
    if len(episodes) == 1:
        return
    first, second = episodes[0].scored.key, episodes[1].scored.key
    what = f"task '{episodes[0].id}' was played {len(episodes)} times"
    message = f"{what}, and a pack of {form.title} holds one episode of each"
    if first.world is not second.world:
        hint = f"--option world={first.world}, or world={second.world}"
    elif first.repeat != second.repeat:
        repeats = " or ".join(str(one.scored.key.repeat) for one in episodes)
        hint = f"--option repeat={first.repeat} (there are {repeats}); export each by itself"
    else:
        hint = "export each run by itself"
    raise UsageError(message, hint=hint)


def _require_one_agent(runs: Sequence[RunReport], form: PackForm) -> None:
    names = sorted({report.lock.agent.name for report in runs})
    if len(names) > 1:
        message = f"the runs are of {listed(names)}, and a pack of {form.title} is of one agent"
        raise UsageError(message, hint="export the runs of each agent by themselves")


def _require_clean(runs: Sequence[RunReport], form: PackForm) -> None:
    for report in runs:
        if report.lock.arm is not None:
            message = (
                f"{report.folder.path}: was played in the arm {report.lock.arm}, and {form.title}"
                " takes figures of the sites as they are"
            )
            raise UsageError(message, hint="export a run that was played without --vary")
        if not all(one.is_attempt for one in report.episodes):
            message = f"{report.folder.path}: goes on from checkpoints of other episodes, and"
            message += f" {form.title} takes whole attempts"
            raise UsageError(message, hint="export a run whose episodes begin at their start")


def _hint(form: PackForm, left: Sequence[LeftOut]) -> str:
    if any("did not come from" in one.why for one in left):
        how = "--option any_suite=true writes tasks of other suites"
        return f"{how}, which is nothing for the leaderboard of {form.title}"
    return "arena report RUN says what became of its episodes"


def _png(step: StepEvidence, folder: Path) -> bytes:
    from PIL import Image  # noqa: PLC0415 - heavy, and no other export needs it

    name, content = step.screenshot, read_picture(folder, step.screenshot)
    if content is None:
        raise UnfitError(f"step {step.index} has no screenshot: play without --no-screenshots")
    try:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            Image.open(BytesIO(content)).verify()
            return content
        written = BytesIO()
        Image.open(BytesIO(content)).save(written, "PNG")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as cause:
        raise UnfitError(f"the screenshot {name} cannot be read: {cause}") from cause
    return written.getvalue()
