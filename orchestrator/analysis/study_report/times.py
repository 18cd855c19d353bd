"""When a study's episodes ran, and what their time went to: resets, and the phases of steps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from arena_core.worlds import World
from evaluators.evidence import Receipt, Timings
from evaluators.verdicts import OutcomeKind
from orchestrator.analysis.stats.results import moment_of
from orchestrator.runs.store.rescoring import ScoredEpisode

PHASES: Final = ("decide", "act", "settle", "locate", "observe")
_BINS: Final = 60
_KINDS: Final = (OutcomeKind.SUCCESS, OutcomeKind.FAILURE, OutcomeKind.UNSCORED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRow:
    """The mean milliseconds of each phase of a cell's steps, in the order of `PHASES`."""

    agent: str
    suite: str
    world: World
    steps: int
    means: tuple[float, ...]

    def drawn(self, longest: float) -> Markup:
        """Return the phases as one bar; the longest of all bars is as long as the picture."""
        place, parts = 0.0, []
        for name, mean in zip(PHASES, self.means, strict=True):
            width = 100 * mean / longest if longest else 0.0
            bounds = {"x": _percent(place), "width": _percent(width)}
            parts.append(_element("rect", y="25%", height="50%", class_=f"phase {name}", **bounds))
            place += width
        return _picture(parts)

    @property
    def whole(self) -> float:
        """The mean milliseconds of a step."""
        return sum(self.means)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The episodes of one agent in one world over the time of the study."""

    agent: str
    world: World
    counts: Counter[OutcomeKind]
    drawn: Markup


@dataclass(slots=True)
class StudyTimes:
    """The sums, as they grow by an episode at a time."""

    receipts: list[Receipt] = field(default_factory=list)
    phases: dict[tuple[str, str, World], list[float]] = field(default_factory=dict)
    started: list[tuple[float, str, World, OutcomeKind]] = field(default_factory=list)
    reset_at: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _first: float = math.inf
    _last: float = -math.inf

    def add(self, agent: str, suite: str, scored: ScoredEpisode) -> None:
        evidence = scored.evidence
        self.receipts += (_light(one) for one in evidence.receipts)
        sums = self.phases.setdefault((agent, suite, evidence.world), [0.0] * (len(PHASES) + 1))
        for step in evidence.steps:
            if step.action is not None:
                sums[-1] += 1
                for number, ms in enumerate(milliseconds(step.timings)):
                    sums[number] += ms
        moment = None if scored.is_unreadable else moment_of(evidence.started_at)
        if moment is not None:
            self._first, self._last = min(self._first, moment), max(self._last, moment)
            self.started.append((moment, agent, evidence.world, scored.score.outcome.kind))
            for one in evidence.receipts:
                self.reset_at.setdefault((one.site, one.strategy), []).append(moment)

    def phase_rows(self) -> tuple[PhaseRow, ...]:
        """Return the phases of each cell that took a step."""
        return tuple(
            PhaseRow(
                agent=agent,
                suite=suite,
                world=world,
                steps=int(sums[-1]),
                means=tuple(one / sums[-1] for one in sums[:-1]),
            )
            for (agent, suite, world), sums in self.phases.items()
            if sums[-1]
        )

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """When the first and the last episode began; None where none did."""
        if not self.started:
            return None
        return datetime.fromtimestamp(self._first, UTC), datetime.fromtimestamp(self._last, UTC)

    @property
    def longest_pause(self) -> float:
        """The seconds between the two neighbouring starts that are farthest apart."""
        moments = sorted(moment for moment, *_ in self.started)
        pairs = pairwise(moments)
        return max((after - before for before, after in pairs), default=0.0)

    def lanes(self) -> tuple[Lane, ...]:
        """Return a time-line for each agent and world, all from the same start to the same end."""
        if not self.started:
            return ()
        found: dict[tuple[str, World], list[Counter[OutcomeKind]]] = {}
        for moment, agent, world, kind in self.started:
            bins = found.setdefault((agent, world), [Counter() for _ in range(_BINS)])
            bins[self._bin(moment)][kind] += 1
        most = max(one.total() for bins in found.values() for one in bins)
        agents = dict.fromkeys(agent for agent, _ in found)  # in the order of the runs
        return tuple(
            Lane(agent=agent, world=world, counts=sum(bins, Counter()), drawn=_lane(bins, most))
            for agent in agents
            for world in World
            for bins in [found.get((agent, world))]
            if bins is not None
        )

    def reset_lanes(self) -> Mapping[tuple[str, str], Markup]:
        """Return a time-line of the resets of each site and strategy, as `lanes` has its parts.

        A reset counts when the episode begins that it made a replica ready for.
        """
        found = {
            key: Counter(self._bin(moment) for moment in moments)
            for key, moments in self.reset_at.items()
        }
        most = max((max(bins.values()) for bins in found.values()), default=1)
        return {key: _reset_lane(bins, most) for key, bins in found.items()}

    def _bin(self, moment: float) -> int:
        """Return the part of the study's time that a moment lies in."""
        length = self._last - self._first
        return min(int((moment - self._first) / length * _BINS), _BINS - 1) if length else 0


def _bar(number: int, top: float, height: float, kind: str) -> Markup:
    """Return a bar in one part of the study's time."""
    width = 100 / _BINS
    place = {"x": _percent(number * width), "width": _percent(width * 0.88)}
    return _element("rect", **place, y=_percent(top), height=_percent(height), class_=kind)


def _reset_lane(bins: Mapping[int, int], most: int) -> Markup:
    heights = ((number, 100 * count / most) for number, count in sorted(bins.items()))
    bars = [_bar(number, 100 - height, height, "phase reset") for number, height in heights]
    return _picture(bars, kind="lane")


def _lane(bins: Sequence[Counter[OutcomeKind]], most: int) -> Markup:
    parts = []
    for number, counts in enumerate(bins):
        bottom = 100.0
        for kind in _KINDS:
            if not counts[kind]:
                continue
            height = 100 * counts[kind] / most
            bottom -= height
            parts.append(_bar(number, bottom, height, f"kind-{kind}"))
    return _picture(parts, kind="lane")


def longest_step(rows: Iterable[PhaseRow]) -> float:
    """Return the longest mean of a step, in milliseconds."""
    return max((one.whole for one in rows), default=0.0)


def _light(receipt: Receipt) -> Receipt:
    """Return a receipt without its differences, which may be many."""
    return receipt.model_copy(update={"differences": ()})


def milliseconds(timings: Timings) -> tuple[float, ...]:
    """Return how long each of `PHASES` took."""
    return (
        timings.decide_ms,
        timings.act_ms,
        timings.settle_ms,
        timings.locate_ms,
        timings.observe_ms,
    )


def _element(name: str, content: Markup | str = "", **attributes: str) -> Markup:
    """Return one SVG element; `class_` stands for `class`."""
    given = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_"), value) for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, given, content)


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def _picture(parts: Iterable[Markup], kind: str = "track") -> Markup:
    """Return a picture for eyes alone, as the figures stand beside it; it fits any width."""
    start = Markup('<svg class="{}" aria-hidden="true" focusable="false">').format(kind)
    return start + Markup("").join(parts) + Markup("</svg>")
