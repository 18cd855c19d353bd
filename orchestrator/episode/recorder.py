"""Gathers the evidence of one attempt while it happens, so that a fault keeps what there was."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from arena_core.bugs import bug_in_words, place_of
from evaluators.evidence import (
    Ended,
    EpisodeFault,
    Evidence,
    Located,
    Receipt,
    StepEvidence,
    UnscoredReason,
    WobRecord,
)
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment


@dataclass(slots=True)
class Recorder:
    """The growing record of one attempt."""

    spec: AttemptSpec
    environment: EpisodeEnvironment
    receipts: tuple[Receipt, ...] = ()
    steps: list[StepEvidence] = field(default_factory=list)
    screenshots: dict[str, bytes] = field(default_factory=dict)
    required: tuple[Located, ...] = ()
    located: tuple[Located, ...] = ()
    answer: str | None = None
    ended: Ended | None = None
    ended_because: str | None = None
    interrupted: bool = False
    wrote: frozenset[str] = frozenset()
    input_tokens: int = 0
    output_tokens: int = 0
    wob: WobRecord | None = None
    _fault: EpisodeFault | None = None
    _clock: float = field(default_factory=time.monotonic)
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def fault(self, reason: UnscoredReason, message: str) -> None:
        """Write down why the attempt broke off; the first reason stands."""
        if self._fault is None:
            self._fault = EpisodeFault(reason=reason, message=message)

    def bug(self, error: Exception) -> None:
        """Write down a bug of Arena's that broke the attempt off."""
        if self._fault is None:
            self._fault = EpisodeFault(
                reason=UnscoredReason.INTERNAL,
                message=bug_in_words(error),
                place=place_of(error),
            )

    @property
    def has_bug(self) -> bool:
        """Whether a bug broke it off: then nobody knows what was done to sites and browser."""
        return self._fault is not None and self._fault.reason is UnscoredReason.INTERNAL

    def keep_screenshot(self, index: int, image: bytes) -> str:
        """Keep a step's screenshot and return its file name."""
        name = f"step-{index:03d}.webp"
        self.screenshots[name] = image
        return name

    def evidence(self) -> Evidence:
        """Return everything as it stands now."""
        return Evidence(
            suite=self.spec.suite,
            task=self.spec.task.id,
            world=self.environment.world,
            agent=self.spec.agent.name,
            repeat=self.spec.repeat,
            attempt=self.spec.attempt,
            started_at=self._started.isoformat(timespec="milliseconds"),
            seconds=round(time.monotonic() - self._clock, 3),
            answer=self.answer,
            ended=self.ended,
            ended_because=self.ended_because,
            steps=tuple(self.steps),
            required=self.required,
            located=self.located,
            fault=self._fault,
            receipts=self.receipts,
            staged=tuple(one.site.name for one in self.environment.upstreams.staged),
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            wob=self.wob,
        )
