"""What the packs of published sets share: which episodes go into one, and their pictures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from arena_core.actions import Stop
from arena_core.errors import UsageError
from evaluators.evidence import Ended, Evidence, StepEvidence
from evaluators.original import OriginalTask
from orchestrator.report.run_report import RunReport
from orchestrator.report.seams import LeftOut
from orchestrator.store.rescoring import ScoredTrial


class UnfitError(Exception):
    """An episode cannot be written in a form; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackForm:
    """A published set, as far as its pack asks.

    Attributes:
        name: of the export, and of the format that its tasks are imported from.
        title: as its publisher calls it.
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
    trial: ScoredTrial
    id: str

    @property
    def evidence(self) -> Evidence:
        """What it left behind."""
        return self.trial.evidence

    @property
    def original(self) -> OriginalTask:
        """The published task.

        Raises:
            UnfitError: its task came from nowhere.
        """
        found = self.trial.task.original
        if found is None:
            message = "its task was not imported"
            raise UnfitError(message)
        return found

    @property
    def record(self) -> Mapping[str, Any]:
        """The task as its publisher wrote it; empty for one that came from nowhere."""
        original = self.trial.task.original
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
        """Return what the pages looked like before each action and at the end, as PNG.

        Raises:
            UnfitError: a step has no screenshot, or it cannot be read.
        """
        folder = self.report.folder.evidence_folder(self.trial.folder)
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

    What did not come to an end is left out, never written as a failure; an episode that Arena's own
    checks cannot score is there, as others judge it. A choice among repeats is the user's: which
    one there is left must not hang on how the others went.

    Args:
        runs: of one agent.
        form: the set.
        repeat: which one; None where there is one alone.
        world: which one; None where there is one alone.
        any_suite: tasks of other sets go into it as well.

    Raises:
        UsageError: several episodes of a task remain, several agents, or nothing remains.
    """
    _require_one_agent(runs, form)
    left: list[LeftOut] = []
    by_id: defaultdict[str, list[PackedEpisode]] = defaultdict(list)
    for report in runs:
        for trial in report.trials:
            why = _unwanted(trial, form, repeat=repeat, world=world, any_suite=any_suite)
            if why is None:
                name = _published_id(trial, form)
                by_id[name].append(PackedEpisode(report=report, trial=trial, id=name))
            else:
                left.append(LeftOut(run=report.folder.path, what=trial.folder, why=why))
    chosen: list[PackedEpisode] = []
    for episodes in by_id.values():
        _require_one(episodes, form)
        why = _unfit(episodes[0], form)
        if why is None:
            chosen.append(episodes[0])
        else:
            left.append(_left_out(episodes[0], why))
    if not chosen:
        why = left[-1].why if left else "no episode is finished"
        message = f"no episode can go into a pack of {form.title}: {why}"
        raise UsageError(message, hint=_hint(form, left))
    return tuple(chosen), tuple(left)


def write_each(
    episodes: Sequence[PackedEpisode],
    form: PackForm,
    left: Sequence[LeftOut],
    write: Callable[[PackedEpisode], None],
) -> tuple[tuple[PackedEpisode, ...], tuple[LeftOut, ...]]:
    """Write episodes, and return those that were written and all that were left out.

    Args:
        episodes: as `choose` returns them.
        form: the set.
        left: what was left out before.
        write: writes one, or raises UnfitError before it writes anything.

    Raises:
        UsageError: none could be written.
    """
    written: list[PackedEpisode] = []
    more: list[LeftOut] = []
    for one in episodes:
        try:
            write(one)
            written.append(one)
        except UnfitError as unfit:
            more.append(_left_out(one, str(unfit)))
    if not written:
        message = f"no episode can go into a pack of {form.title}: {more[0].why}"
        raise UsageError(message)
    return tuple(written), (*left, *more)


def foreign(episodes: Sequence[PackedEpisode], form: PackForm) -> tuple[str, ...]:
    """Return the line that is to be said where tasks did not come from the set."""
    others = sum(_published_by(one.trial) != form.name for one in episodes)
    if not others:
        return ()
    tasks = "1 task is" if others == 1 else f"{others} tasks are"
    return (f"{tasks} none of {form.title}: this is nothing for its leaderboard",)


def one_line(text: str) -> str:
    """Return a text without line breaks, which loaders stop at."""
    return " ".join(text.split())


def _left_out(episode: PackedEpisode, why: str) -> LeftOut:
    return LeftOut(run=episode.report.folder.path, what=episode.trial.folder, why=why)


def _is_end(step: StepEvidence) -> bool:
    action = step.action
    return isinstance(action, Stop) or (action is not None and action.kind == "infeasible")


def _published_by(trial: ScoredTrial) -> str | None:
    return None if trial.task.original is None else trial.task.original.format


def _published_id(trial: ScoredTrial, form: PackForm) -> str:
    original = trial.task.original
    if original is None or original.format != form.name:
        return trial.task.id
    return original.id


def _unwanted(
    trial: ScoredTrial,
    form: PackForm,
    *,
    repeat: int | None,
    world: str | None,
    any_suite: bool,
) -> str | None:
    """Return why an episode is not asked for; None where it is."""
    if repeat is not None and trial.trial.repeat != repeat:
        return f"repeat {repeat} was asked for"
    if world is not None and trial.trial.world != world:
        return f"the world {world} was asked for"
    if not any_suite and _published_by(trial) != form.name:
        return f"its task did not come from {form.title}"
    return None


def _unfit(episode: PackedEpisode, form: PackForm) -> str | None:
    """Return why the one episode of a task cannot be written; None where it can."""
    evidence, outcome = episode.trial.outline, episode.trial.score.outcome
    if evidence.fault is not None or evidence.ended in {None, Ended.NOT_STARTED}:
        return f"{outcome}: {episode.trial.score.because}"
    if form.ids.fullmatch(episode.id) is None:
        return f"the id {episode.id!r} of its task is no name of a folder there"
    return None


def _require_one(episodes: Sequence[PackedEpisode], form: PackForm) -> None:
    if len(episodes) == 1:
        return
    first, second = episodes[0].trial.trial, episodes[1].trial.trial
    what = f"task '{episodes[0].id}' was played {len(episodes)} times"
    message = f"{what}, and a pack of {form.title} holds one episode of each"
    if first.world is not second.world:
        hint = f"--option world={first.world}, or world={second.world}"
    elif first.repeat != second.repeat:
        repeats = " or ".join(str(one.trial.trial.repeat) for one in episodes)
        hint = f"--option repeat={first.repeat} (there are {repeats}); export each by itself"
    else:
        hint = "export each run by itself"
    raise UsageError(message, hint=hint)


def _require_one_agent(runs: Sequence[RunReport], form: PackForm) -> None:
    names = sorted({report.lock.agent.name for report in runs})
    if len(names) > 1:
        message = f"the runs are of {', '.join(names)}, and a pack of {form.title} is of one agent"
        raise UsageError(message, hint="export the runs of each agent by themselves")


def _hint(form: PackForm, left: Sequence[LeftOut]) -> str:
    if any("did not come from" in one.why for one in left):
        how = "--option any_suite=true writes tasks of other suites"
        return f"{how}, which is nothing for the leaderboard of {form.title}"
    return "arena report RUN says what became of its episodes"


def _png(step: StepEvidence, folder: Path) -> bytes:
    """Return the screenshot of a step as PNG.

    Raises:
        UnfitError: there is none that can be read.
    """
    from PIL import Image  # noqa: PLC0415 - heavy, and no other export needs it

    name = step.screenshot
    if name is None or Path(name).name != name:
        message = f"step {step.index} has no screenshot: play without --no-screenshots"
        raise UnfitError(message)
    try:
        content = (folder / name).read_bytes()
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            Image.open(BytesIO(content)).verify()
            return content
        written = BytesIO()
        Image.open(BytesIO(content)).save(written, "PNG")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as cause:
        message = f"the screenshot {name} cannot be read: {cause}"
        raise UnfitError(message) from cause
    return written.getvalue()
