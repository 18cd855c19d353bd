"""Where two episodes of one task part between the worlds, and why: by rule, from their evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, Located, StepEvidence, UnscoredReason
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.run_report.page_texts import PageTexts, text_difference
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.wording import step_in_words
from orchestrator.runs.store.rescoring import ScoredEpisode

_REFUSALS: Final = frozenset({401, 403, 407, 429, 451, 503})
_AN_ERROR: Final = 400
_LATE: Final = ("timeout", "timed out", "took longer")
# What names an element of one page, which has other names in the other world.
_ELEMENTS: Final = {"element", "to", "url"}
# What says in words what is meant.
_WORDS: Final = {"text", "option", "answer"}
_LONGEST: Final = 120


class PartingCause(StrEnum):
    """Why the episodes part at a step.

    `blocked`: one world alone refused (status 401, 403, 407, 429, 451 or 503), or its episode ended
    as blocked. `policy`: Arena refused a request in one world alone. `slower`: one world alone did
    not settle or answer in time. `layout`: the same action could not be done in one world alone, or
    led elsewhere. `content`: a page at the same address said something else before the agent did
    something else. `chance`: the agent did something else, and its repeats in one world part as
    early, or end differently. `unknown`: it did something else, and the evidence does not show why.
    """

    BLOCKED = "blocked"
    POLICY = "policy"
    SLOWER = "slower"
    LAYOUT = "layout"
    CONTENT = "content"
    CHANCE = "chance"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Parting:
    """The step at which the episodes of two worlds part.

    Attributes:
        step: its index, offline; 0 is the opening of the start pages.
        because: what differs there, in one sentence.
    """

    step: int
    cause: PartingCause
    because: str

    def __str__(self) -> str:
        return f"step {self.step}, {self.cause}: {self.because}"


def partings(report: RunReport) -> dict[str, Parting]:
    """Return where the worlds part, by task, of the tasks whose first repeats end differently."""
    folder = report.folder.evidence_folder
    return {row.task.id: _parting_of(row, folder) for row in report.rows if row.diverges}


def causes(found: Iterable[Parting]) -> dict[PartingCause, int]:
    """Count partings by cause, the most frequent first."""
    return dict(Counter(one.cause for one in found).most_common())


def causes_said(found: Iterable[Parting]) -> str:
    """Return the count of partings by cause in words."""
    return ", ".join(f"{cause} {count}" for cause, count in causes(found).items())


def _parting_of(row: TaskRow, folder: Callable[[str], Path]) -> Parting:
    played = [row.episodes[world] for world in (World.OFFLINE, World.ONLINE)]
    offline, online = (Side.of(mine[0], folder(mine[0].folder)) for mine in played)
    repeats = [[Repeat.of(one, folder(one.folder)) for one in mine] for mine in played]
    return parting(offline, online, repeats) or no_parting(offline)


@dataclass(frozen=True, slots=True)
class Repeat:
    """One repeat of a task in one world, the first one included.

    Attributes:
        success: None where it is unscored.
        folder: of its evidence.
    """

    path: tuple[str, ...]
    success: bool | None = None
    folder: Path | None = None

    @classmethod
    def of(cls, episode: ScoredEpisode, folder: Path) -> Repeat:
        kind = episode.score.outcome.kind
        success = None if kind is OutcomeKind.UNSCORED else kind is OutcomeKind.SUCCESS
        return cls(episode.path, success, folder)


Repeats = Sequence[Sequence[Repeat]]


@dataclass(frozen=True, slots=True)
class Side:
    """One world's episode.

    Attributes:
        reason: why it has no score.
        because: why it ended as it did.
        folder: of its evidence; what the agent saw is read from there.
    """

    evidence: Evidence
    reason: UnscoredReason | None = None
    because: str = ""
    folder: Path | None = None

    @classmethod
    def of(cls, episode: ScoredEpisode, folder: Path) -> Side:
        score = episode.score
        return cls(episode.evidence, score.outcome.reason, score.because, folder)

    def at(self, index: int) -> StepEvidence | None:
        """Return a step; None where the episode has ended before."""
        steps = self.evidence.steps
        return steps[index] if index < len(steps) else None


def no_parting(offline: Side) -> Parting:
    """Return the parting of episodes that end differently, though no step or value differs."""
    because = "the evidence shows the same steps, pages and values in both worlds"
    return Parting(max(0, len(offline.evidence.steps) - 1), PartingCause.UNKNOWN, because)


def parting(offline: Side, online: Side, repeats: Repeats = ()) -> Parting | None:
    """Return the step at which two episodes of a task part; None where nothing differs.

    Steps are the same where the agent did the same (the kind of action, its words, role and name of
    the element) and came to the same logical address. Both episodes are aligned by their same
    steps. They part after the last one, so a detour from which both come back, as a consent banner
    that is answered, is no parting, unless the site or Arena refused something there.

    Args:
        repeats: of each world all repeats, to tell the worlds' doing from the agent's own chance;
            nothing is called chance where there is one repeat alone.
    """
    first, second = (list(map(_key, side.evidence.steps)) for side in (offline, online))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    same = [(one.a + k, one.b + k) for one in blocks for k in range(one.size)]
    both = _Both(offline, online, same, repeats)
    last, gap = both.pair(*_after(same)), _first_gap(same)
    if last.is_left:
        return Parting(last.index, *_cause(last, both))
    detour = None if gap is None else both.pair(*gap)
    if detour is not None and (refused := _refused(detour, offline, online)):
        return Parting(detour.index, *refused)
    ends = _said(offline.evidence.located, online.evidence.located) or both.said
    if ends is not None:
        at = max(0, last.index - 1)
        chance = _chance(at, repeats)
        if chance is not None:
            return Parting(at, PartingCause.CHANCE, f"{ends}; {chance}")
        return Parting(at, PartingCause.CONTENT, ends)
    if detour is None:
        return None
    return Parting(detour.index, *_cause(detour, both))


@dataclass(frozen=True, slots=True)
class _Both:
    """Two episodes, the steps that both share, and all repeats of each world."""

    offline: Side
    online: Side
    same: Sequence[tuple[int, int]]
    repeats: Repeats

    def pair(self, at: int, other: int) -> _Pair:
        return _Pair(at, self.offline.at(at), self.online.at(other), other)

    @property
    def said(self) -> str | None:
        """What the pages of a shared step say differently, by their titles and the checks."""
        return next(filter(None, (self.pair(*at).said for at in self.same)), None)


def _after(same: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return (same[-1][0] + 1, same[-1][1] + 1) if same else (0, 0)


def _first_gap(same: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return where the first steps are that both episodes do not share, before one that they do."""
    at = (0, 0)
    for pair in same:
        if pair != at:
            return at
        at = (pair[0] + 1, pair[1] + 1)
    return None


@dataclass(frozen=True, slots=True)
class _Pair:
    """A step of both episodes; None where one has ended before."""

    index: int
    offline: StepEvidence | None
    online: StepEvidence | None
    other: int

    @property
    def is_left(self) -> bool:
        """Whether there is such a step in one of the episodes."""
        return self.offline is not None or self.online is not None

    @property
    def is_meant_alike(self) -> bool:
        """Whether the agent meant the same, as far as an action that failed shows it."""
        first, second = self.offline, self.online
        if first is None or second is None or _words(first) != _words(second):
            return False
        failed = first.error is not None or second.error is not None
        return failed or _acted(first) == _acted(second)

    @property
    def said(self) -> str | None:
        """What the pages of a step say differently, as far as evidence shows it."""
        first, second = self.offline, self.online
        if first is None or second is None:
            return None
        if first.title != second.title:
            return _beside("the title is", first.title, second.title)
        return _said(first.located, second.located)

    def only(self, wanted: Sequence[bool]) -> str | None:
        """Return the world for which alone something holds."""
        return {(True, False): "offline", (False, True): "online"}.get((wanted[0], wanted[1]))

    def each(self) -> Iterator[StepEvidence | None]:
        yield self.offline
        yield self.online


def _cause(pair: _Pair, both: _Both) -> tuple[PartingCause, str]:
    offline, online = both.offline, both.online
    return (
        _refused(pair, offline, online)
        or _late(pair, offline, online)
        or _led_elsewhere(pair)
        or _drifted(offline, online)
        or _did_otherwise(pair, both)
    )


def _refused(pair: _Pair, offline: Side, online: Side) -> tuple[PartingCause, str] | None:
    statuses = [one.status if one else None for one in pair.each()]
    world = pair.only([status in _REFUSALS for status in statuses])
    if world is not None:
        status = next(one for one in statuses if one in _REFUSALS)
        return PartingCause.BLOCKED, f"only {world} the page answers {status}"
    for world, side in (("offline", offline), ("online", online)):
        if side.reason is UnscoredReason.BLOCKED:
            return PartingCause.BLOCKED, f"only {world}: {_short(side.because)}"
    refused = [_refusal(one) for one in pair.each()]
    world = pair.only([one is not None for one in refused])
    if world is not None:
        why = next(one for one in refused if one is not None)
        return PartingCause.POLICY, f"only {world} a request was refused: {_short(why)}"
    return None


def _refusal(step: StepEvidence | None) -> str | None:
    """Say why the page itself or a write was refused; what else it fetches does not count."""
    if step is None:
        return None
    meant = (note for note in step.notes if note.may_write or note.url == step.url)
    return next((note.refused for note in meant if note.refused), None)


def _late(pair: _Pair, offline: Side, online: Side) -> tuple[PartingCause, str] | None:
    world = pair.only([_is_late(one) for one in pair.each()])
    if world is not None:
        return PartingCause.SLOWER, f"only {world} the page was not ready in time"
    ended = [
        one is None and side.evidence.ended is Ended.DEADLINE
        for one, side in zip(pair.each(), (offline, online), strict=True)
    ]
    world = pair.only(ended)
    return None if world is None else (PartingCause.SLOWER, f"only {world} the time ran out")


def _is_late(step: StepEvidence | None) -> bool:
    if step is None:
        return False
    error = (step.error or "").lower()
    return not step.settled or any(word in error for word in _LATE)


def _led_elsewhere(pair: _Pair) -> tuple[PartingCause, str] | None:
    """Tell what the same action did: it failed in one world, or led to another page there."""
    first, second = pair.offline, pair.online
    if first is None or second is None or not pair.is_meant_alike:
        return None
    world = pair.only([first.error is not None, second.error is not None])
    if world is not None:
        failed = first if world == "offline" else second
        deed = _deed(second if world == "offline" else first)
        why = _short(failed.error or "")
        return PartingCause.LAYOUT, f"{deed} cannot be done {world}: {why}"
    pages = [_page(one) + _shown_status(one) for one in (first, second)]
    return PartingCause.LAYOUT, _beside(f"{_deed(first)} leads to", *pages)


def _drifted(offline: Side, online: Side) -> tuple[PartingCause, str] | None:
    for world, side in (("offline", offline), ("online", online)):
        if side.reason is UnscoredReason.DRIFTED:
            return PartingCause.CONTENT, f"only {world}: {_short(side.because)}"
    return None


def _did_otherwise(pair: _Pair, both: _Both) -> tuple[PartingCause, str]:
    did = _beside("the agent did:", *(_deed(one) for one in pair.each()))
    chance = _chance(pair.index, both.repeats)
    if chance is not None:
        return PartingCause.CHANCE, f"{did}; {chance}"
    read, is_named = _read_otherwise(pair, both)
    said = read if is_named else both.said or read
    if said is not None:
        return PartingCause.CONTENT, f"{did}; before that, {said}"
    alone = not any(len(mine) > 1 for mine in both.repeats)
    return (
        PartingCause.UNKNOWN,
        f"{did}{'; with one repeat, chance cannot be ruled out' if alone else ''}",
    )


def _read_otherwise(pair: _Pair, both: _Both) -> tuple[str | None, bool]:
    """Say how the texts differ that the agent had read; and whether what it did names that."""
    shared = [at for at in both.same if at[0] < pair.index and at[1] < pair.other]
    others: tuple[list[PageTexts], list[PageTexts]] = ([], [])
    sides = (both.offline, both.online)
    for side, mine, texts in zip(sides, both.repeats, others, strict=False):
        texts += [PageTexts.read(one.folder) for one in mine if one.folder != side.folder]
    found = text_difference(
        (PageTexts.read(both.offline.folder), PageTexts.read(both.online.folder)),
        shared,
        (_names(pair.offline), _names(pair.online)),
        others,
    )
    if found is None:
        return None, False
    how = "the text differs by what it names:" if found.is_named else "the text differs, first by"
    return _beside(how, found.offline or "nothing", found.online or "nothing"), found.is_named


def _names(step: StepEvidence | None) -> tuple[str, ...]:
    """Return the words that an action was meant by: its element's name, its text, its answer."""
    if step is None or step.action is None:
        return ()
    words = step.action.model_dump(include=_WORDS)
    return (*(one.name for one in step.acted), *(str(word) for word in words.values() if word))


def _chance(index: int, repeats: Repeats) -> str | None:
    """Say how the agent disagrees with itself within one world, no later than at a step."""
    for world, mine in zip(("offline", "online"), repeats, strict=False):
        apart = _part_at([one.path for one in mine])
        if apart is not None and apart <= index:
            return f"its repeats {world} part at step {apart}"
        if len({one.success for one in mine} - {None}) > 1:
            return f"its repeats {world} end differently"
    return None


def _part_at(paths: Sequence[tuple[str, ...]]) -> int | None:
    """Return the first step at which the repeats of one world part; None where none does."""
    for index, deeds in enumerate(zip_longest(*paths), start=1):
        if len(set(deeds)) > 1:
            return index
    return None


def _key(step: StepEvidence) -> tuple[object, ...]:
    return _words(step), _acted(step), _page(step), step.error is None


def _words(step: StepEvidence) -> str:
    return "" if step.action is None else step.action.model_dump_json(exclude=_ELEMENTS)


def _acted(step: StepEvidence) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.event.value, one.role, one.name) for one in step.acted)


def _page(step: StepEvidence) -> str:
    return step.logical or step.url


def _shown_status(step: StepEvidence) -> str:
    return f" ({step.status})" if step.status is not None and step.status >= _AN_ERROR else ""


def _deed(step: StepEvidence | None) -> str:
    return "nothing more" if step is None else step_in_words(step)


def _said(offline: Sequence[Located], online: Sequence[Located]) -> str | None:
    """Say which check found other values in the other world; None where none did."""
    others = {one.check: one.values for one in online if one.error is None}
    for one in offline:
        other = others.get(one.check)
        if one.error is None and other is not None and one.values != other:
            found = (", ".join(values) or "nothing" for values in (one.values, other))
            return _beside(f"check {one.check} found", *found)
    return None


def _beside(what: str, offline: str, online: str) -> str:
    return f"{what} “{_short(offline)}” offline and “{_short(online)}” online"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
