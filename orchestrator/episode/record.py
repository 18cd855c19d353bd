"""The growing record of one episode, so that whatever breaks it off keeps what there was."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from evaluators.evidence import (
    AgentResponse,
    Ended,
    EpisodeFault,
    Evidence,
    Located,
    Receipt,
    StepEvidence,
    WobRecord,
)
from orchestrator.browser.network import NetworkRecord
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment
from orchestrator.episode.interfaces import EpisodeSession
from orchestrator.episode.seen import picture_name, pictures_in, seen_line
from orchestrator.model_exchange import ModelExchange
from orchestrator.observation import Observation
from orchestrator.spending import Spent
from orchestrator.store.exchange_lines import ExchangeWriter
from orchestrator.store.step_lines import EXCHANGES_FILE, OBSERVATIONS_FILE, StepLines


@dataclass(slots=True)
class EpisodeRecord:
    """What an episode has to show so far.

    Attributes:
        is_whole: nothing more is to be looked at. The evidence names no end before that, so that it
            can never be taken for a finished episode's.
        changed_cookies: the agent itself changed the browser's: whether it is still logged in is
            its own doing.
        seconds: how long it took; None until it is over.
    """

    spec: AttemptSpec
    environment: EpisodeEnvironment
    steps: list[StepEvidence] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    traces: dict[str, bytes] = field(default_factory=dict)
    required: tuple[Located, ...] = ()
    located: tuple[Located, ...] = ()
    answer: str | None = None
    response: AgentResponse | None = None
    ended: Ended | None = None
    ended_because: str | None = None
    fault: EpisodeFault | None = None
    network: NetworkRecord | None = None
    spent: Spent = field(default_factory=Spent)
    is_whole: bool = False
    changed_cookies: bool = False
    seconds: float | None = None
    _replayed_from: str | None = None
    _exchanges: ExchangeWriter = field(default_factory=ExchangeWriter)
    _lines: dict[str, StepLines] = field(default_factory=dict)
    _receipts: tuple[Receipt, ...] = ()
    _clock: float = field(default_factory=time.monotonic)
    _started: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        self._receipts = self.environment.lease.receipts

    @property
    def is_over(self) -> bool:
        """Whether no further step can be added."""
        return self.ended is not None or self.fault is not None

    def begin(self) -> None:
        """Start the clock."""
        self._clock = time.monotonic()
        self._started = datetime.now(UTC)

    def stop_clock(self) -> None:
        """Keep how long the episode took."""
        if self.seconds is None:
            self.seconds = self._elapsed()

    def end(self, ended: Ended, because: str | None) -> None:
        """Write down how the episode came to its end."""
        self.ended = ended
        self.ended_because = because

    def break_off(self, fault: EpisodeFault) -> None:
        """Write down why the episode broke off; the first reason stands."""
        if self.fault is None:
            self.fault = fault

    def keep_screenshot(self, index: int, image: bytes) -> str:
        """Keep a step's screenshot and return its file name."""
        name = f"step-{index:03d}.webp"
        self.pictures[name] = image
        return name

    async def keep_traces(self, session: EpisodeSession) -> None:
        """Keep what Playwright traced until now, once."""
        self.traces.update(await session.traces())

    def keep_seen(self, observation: Observation) -> str | None:
        """Keep what the agent saw, its pictures once each.

        Returns:
            The file of a picture that shows the page; None where the agent saw none.
        """
        pictures = pictures_in(observation)
        self.pictures.update({picture_name(one): one.data for one in pictures})
        self.note(OBSERVATIONS_FILE, seen_line(observation))
        return picture_name(pictures[0]) if pictures else None

    def keep_exchanges(self, exchanges: Iterable[ModelExchange]) -> None:
        """Keep what models were asked for the next step and what came back, images once each."""
        for exchange in exchanges:
            self.pictures.update(exchange.images)
            self._replayed_from = exchange.replayed_from or self._replayed_from
            self.note(EXCHANGES_FILE, self._exchanges.line(len(self.steps), exchange))

    def note(self, file: str, line: Mapping[str, object]) -> None:
        """Add a line to a compressed file that is kept beside the evidence.

        Args:
            file: its name, see `orchestrator.store.step_lines`.
            line: a JSON object; what is of a step names it under the key `step`.
        """
        self._lines.setdefault(file, StepLines()).add(line)

    def files(self) -> Mapping[str, bytes]:
        """Return what is kept beside the evidence, by file name."""
        lines = {name: lines.packed() for name, lines in self._lines.items()}
        return self.pictures | self.traces | lines

    def evidence(self, wob: WobRecord | None, incomplete: str | None) -> Evidence:
        """Return everything as it stands now.

        Args:
            wob: what a MiniWoB++ page says of the episode.
            incomplete: why there is no end, where something is still to be looked at.
        """
        spec = self.spec
        return Evidence(
            suite=spec.suite,
            task=spec.task.id,
            world=self.environment.world,
            agent=spec.agent,
            repeat=spec.repeat,
            attempt=spec.attempt,
            started_at=self._started.isoformat(timespec="milliseconds"),
            seconds=self._elapsed() if self.seconds is None else self.seconds,
            answer=self.answer,
            response=self.response,
            ended=self.ended if self.is_whole else None,
            ended_because=self.ended_because if self.is_whole else incomplete,
            steps=tuple(self.steps),
            required=self.required,
            located=self.located,
            fault=self.fault,
            receipts=self._receipts,
            staged=tuple(one.site.name for one in self.environment.upstreams.staged),
            input_tokens=self.spent.input_tokens,
            output_tokens=self.spent.output_tokens,
            usd=self.spent.usd,
            replayed_from=self._replayed_from,
            wob=wob,
            network=None if self.network is None else self.network.requests,
            network_fault=None if self.network is None else self.network.fault,
        )

    def _elapsed(self) -> float:
        return round(time.monotonic() - self._clock, 3)
