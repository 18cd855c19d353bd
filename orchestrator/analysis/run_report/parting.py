"""Where two episodes of one task part between the worlds, and why: by rule, from their evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import Ended, Evidence, Located, StepEvidence, UnscoredReason
from orchestrator.analysis.run_report.run_report import RunReport, TaskRow
from orchestrator.analysis.wording import step_in_words
from orchestrator.runs.store.rescoring import ScoredEpisode

_REFUSALS: Final = frozenset({401, 403, 407, 429, 451, 503})
_AN_ERROR: Final = 400
_LATE: Final = ("timeout", "timed out", "took longer")
# What names an element of one page, which has other names in the other world.
_ELEMENTS: Final = {"element", "to", "url"}
_LONGEST: Final = 120


class PartingCause(StrEnum):
    """Why the episodes part at a step.

    `blocked`: one world alone refused (status 401, 403, 407, 429, 451 or 503), or its episode ended
    as blocked. `policy`: Arena refused a request in one world alone. `slower`: one world alone did
    not settle or answer in time. `layout`: the same action could not be done in one world alone, or
    led elsewhere. `content`: a page at the same address said something else before the agent did
    something else. `chance`: the agent did something else, and its repeats in one world part as
    early. `unknown`: it did something else, and the evidence does not show why.
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
    found = ((row.task.id, _parting_of(row)) for row in report.rows if row.diverges)
    return {task: parting for task, parting in found if parting is not None}


def causes(found: Iterable[Parting]) -> str:
    """Count partings by cause in words, the most frequent first."""
    counts = Counter(one.cause for one in found)
    return ", ".join(f"{cause} {count}" for cause, count in counts.most_common())


def _parting_of(row: TaskRow) -> Parting | None:
    offline, online = row.episodes.get(World.OFFLINE, ()), row.episodes.get(World.ONLINE, ())
    if not offline or not online:
        return None
    paths = [[one.path for one in episodes] for episodes in (offline, online)]
    return parting(Side.of(offline[0]), Side.of(online[0]), paths)


@dataclass(frozen=True, slots=True)
class Side:
    """One world's episode.

    Attributes:
        reason: why it has no score.
        because: why it ended as it did.
    """

    evidence: Evidence
    reason: UnscoredReason | None = None
    because: str = ""

    @classmethod
    def of(cls, episode: ScoredEpisode) -> Side:
        return cls(episode.evidence, episode.score.outcome.reason, episode.score.because)

    def at(self, index: int) -> StepEvidence | None:
        """Return a step; None where the episode has ended before."""
        steps = self.evidence.steps
        return steps[index] if index < len(steps) else None


def parting(
    offline: Side, online: Side, repeats: Sequence[Sequence[tuple[str, ...]]] = ()
) -> Parting | None:
    """Return the step at which two episodes of a task part; None where nothing differs.

    Steps are the same where the agent did the same (the kind of action, its words, role and name of
    the element) and came to the same logical address. Both episodes are aligned by their same
    steps. They part after the last one, so a detour from which both come back, as a consent banner
    that is answered, is no parting, unless the site or Arena refused something there.

    Args:
        repeats: of each world the paths of all repeats, to tell the worlds' doing from the agent's
            own chance; nothing is called chance where there is one repeat alone.
    """
    first, second = (list(map(_key, side.evidence.steps)) for side in (offline, online))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    same = [(one.a + k, one.b + k) for one in blocks for k in range(one.size)]
    said = next(filter(None, (_Pair.of(offline, online, *at).said for at in same)), None)
    last, gap = _Pair.of(offline, online, *_after(same)), _first_gap(same)
    if last.is_left:
        return Parting(last.index, *_cause(last, offline, online, said, repeats))
    detour = None if gap is None else _Pair.of(offline, online, *gap)
    if detour is not None and (refused := _refused(detour, offline, online)):
        return Parting(detour.index, *refused)
    ends = _said(offline.evidence.located, online.evidence.located) or said
    if ends is not None:
        return Parting(max(0, last.index - 1), PartingCause.CONTENT, ends)
    if detour is None:
        return None
    return Parting(detour.index, *_cause(detour, offline, online, said, repeats))


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

    @classmethod
    def of(cls, offline: Side, online: Side, at: int, other: int) -> _Pair:
        return cls(at, offline.at(at), online.at(other))

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
            return _both("the title is", first.title, second.title)
        return _said(first.located, second.located)

    def only(self, wanted: Sequence[bool]) -> str | None:
        """Return the world for which alone something holds."""
        return {(True, False): "offline", (False, True): "online"}.get((wanted[0], wanted[1]))

    def each(self) -> Iterator[StepEvidence | None]:
        yield self.offline
        yield self.online


def _cause(
    pair: _Pair,
    offline: Side,
    online: Side,
    said: str | None,
    repeats: Sequence[Sequence[tuple[str, ...]]],
) -> tuple[PartingCause, str]:
    return (
        _refused(pair, offline, online)
        or _late(pair, offline, online)
        or _led_elsewhere(pair)
        or _drifted(offline, online)
        or _did_otherwise(pair, said, repeats)
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
    return PartingCause.LAYOUT, _both(f"{_deed(first)} leads to", *pages)


def _drifted(offline: Side, online: Side) -> tuple[PartingCause, str] | None:
    for world, side in (("offline", offline), ("online", online)):
        if side.reason is UnscoredReason.DRIFTED:
            return PartingCause.CONTENT, f"only {world}: {_short(side.because)}"
    return None


def _did_otherwise(
    pair: _Pair, said: str | None, repeats: Sequence[Sequence[tuple[str, ...]]]
) -> tuple[PartingCause, str]:
    did = _both("the agent did:", *(_deed(one) for one in pair.each()))
    for world, paths in zip(("offline", "online"), repeats, strict=False):
        apart = _part_at(paths)
        if apart is not None and apart <= pair.index:
            return PartingCause.CHANCE, f"{did}; its repeats {world} part at step {apart}"
    if said is not None:
        return PartingCause.CONTENT, f"{did}; before that, {said}"
    alone = not any(len(paths) > 1 for paths in repeats)
    return (
        PartingCause.UNKNOWN,
        f"{did}{'; with one repeat, chance cannot be ruled out' if alone else ''}",
    )


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
            return _both(f"check {one.check} found", *found)
    return None


def _both(what: str, offline: str, online: str) -> str:
    return f"{what} “{_short(offline)}” offline and “{_short(online)}” online"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
