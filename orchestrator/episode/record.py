"""The growing record of one episode, so that whatever breaks it off keeps what there was."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from datetime import UTC, datetime
from typing import Final

from arena_core.foreign import cut
from evaluators.barred_sites import BarredSite
from evaluators.evidence import (
    AgentResponse,
    Branch,
    ConsentGiven,
    Ended,
    EpisodeFault,
    Evidence,
    Located,
    MiniWobRecord,
    PersonTimes,
    Receipt,
    StepEvidence,
    TriedWay,
    UnscoredReason,
    Varied,
)
from evaluators.tape_misses import MissedBy, MissedRequest, kept_misses
from orchestrator.agents.model.messages import ImagePart
from orchestrator.agents.model_exchange import ModelExchange, Spent
from orchestrator.browser.observation import (
    AriaSnapshot,
    AxTree,
    Html,
    MarkedPicture,
    Observation,
    Picture,
    PrunedHtml,
)
from orchestrator.browser.session.network import NetworkRecord
from orchestrator.episode.environment import AttemptSpec, EpisodeEnvironment, EpisodeSession
from orchestrator.episode.jsonl_files import (
    EXCHANGES_FILE,
    OBSERVATIONS_FILE,
    ExchangeWriter,
    StepLines,
)
from orchestrator.gateway.arm import Arm
from orchestrator.gateway.journal import GatewayJournal
from orchestrator.gateway.live_limits import LiveUse

# Of every picture that agents see: one pixel for each CSS pixel.
_DEVICE_SCALE = 1
_MOST_BECAUSE: Final = 10_000  # characters
_MOST_DIFFERS: Final = 500  # of what differs by one way


def picture_name(picture: Picture) -> str:
    """Return the file that a picture is kept in: equal pictures are one file."""
    return ImagePart(picture.data).file_name


def pictures_in(observation: Observation) -> tuple[Picture, ...]:
    parts = observation.parts.values()
    plain = [part for part in parts if isinstance(part, Picture)]
    return (*plain, *(part.picture for part in parts if isinstance(part, MarkedPicture)))


def seen_line(observation: Observation) -> dict[str, object]:
    """Return an observation as JSON, texts whole, pictures by the names of their files.

    `step` is how many actions were done before: what the agent saw when it decided the next one.
    """
    return {
        "step": observation.step,
        "url": observation.url,
        "title": observation.title,
        "tabs": [asdict(tab) for tab in observation.tabs],
        "last_error": observation.last_error,
        **({} if observation.reply is None else {"reply": observation.reply}),
        "parts": {name: _part(part) for name, part in observation.parts.items()},
    }


def _part(part: object) -> object:
    match part:
        case AxTree() | AriaSnapshot() | Html():
            return {"text": part.text}
        case PrunedHtml():
            return {"text": part.text, "ids": dict(part.ids), "viewports": list(part.viewports)}
        case Picture():
            return _picture(part)
        case MarkedPicture():
            return _picture(part.picture) | {"marks": [asdict(mark) for mark in part.marks]}
        case _:
            return _plain(part)


def _picture(picture: Picture) -> dict[str, object]:
    return {
        "picture": picture_name(picture),
        "width": picture.width,
        "height": picture.height,
        "device_scale": _DEVICE_SCALE,
    }


def _plain(part: object) -> object:
    """Return what a form of somebody else's yielded, as far as it is JSON; the kind of the rest."""
    if isinstance(part, Mapping):
        return {str(key): _plain(value) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_plain(one) for one in part]
    if is_dataclass(part) and not isinstance(part, type):
        return {name: _plain(getattr(part, name)) for name in part.__dataclass_fields__}
    is_json = part is None or isinstance(part, (bool, int, float, str))
    return part if is_json else {"kind": type(part).__qualname__}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSoFar:
    """What an episode had to show at one moment; a branch goes on from it.

    Attributes:
        seen: what the agent saw after each of these steps.
        seconds: how long it had taken.
    """

    steps: tuple[StepEvidence, ...]
    seen: tuple[Observation, ...]
    pictures: Mapping[str, bytes]
    required: tuple[Located, ...]
    spent: Spent
    changed_cookies: bool
    replayed_from: str | None
    exchanges: ExchangeWriter
    lines: Mapping[str, StepLines]
    started: datetime
    seconds: float
    tape_misses: tuple[MissedRequest, ...] = ()


@dataclass(slots=True)
class EpisodeRecord:
    """What an episode has to show so far.

    Attributes:
        is_whole: nothing more is to be looked at. The evidence names no end before that, so that it
            can never be taken for a finished episode's.
        changed_cookies: the agent itself changed the browser's: whether it is still logged in is
            its own doing.
        seconds: how long it took; None until it is over.
        seen: what the agent saw after each step, where the episode may go back.
        branch: the checkpoint that it goes on from; None from a start.
        arm: what varies what the agent meets; None until that is open.
        live: what counts the requests to live hosts; None until that is open.
        consent: what was clicked before the agent began.
        person: how long the person took who plays it; None where an agent does.
        shown: what was seen last.
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
    seen: list[Observation] = field(default_factory=list)
    branch: Branch | None = None
    arm: Arm | None = None
    live: LiveUse | None = None
    consent: tuple[ConsentGiven, ...] = ()
    person: PersonTimes | None = None
    barred: list[BarredSite] = field(default_factory=list)
    shown: Observation | None = None
    tape_misses: list[MissedRequest] = field(default_factory=list)
    tape_answers: Counter[str] = field(default_factory=Counter)
    _missed_until: int = 0
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
        self._clock = time.monotonic()
        self._started = datetime.now(UTC)

    def so_far(self) -> RecordSoFar:
        """Return a copy of what there is, which nothing that follows changes."""
        return RecordSoFar(
            steps=tuple(self.steps),
            seen=tuple(self.seen),
            pictures=dict(self.pictures),
            required=self.required,
            spent=self.spent,
            changed_cookies=self.changed_cookies,
            replayed_from=self._replayed_from,
            exchanges=self._exchanges.copy(),
            lines={name: lines.copy() for name, lines in self._lines.items()},
            started=self._started,
            seconds=self._elapsed(),
            tape_misses=tuple(self.tape_misses),
        )

    def go_on(self, before: RecordSoFar, branch: Branch) -> None:
        """Begin with what another record had to show, as a branch of it."""
        self.branch = branch
        self.steps, self.seen = list(before.steps), list(before.seen)
        self.pictures = dict(before.pictures)
        self.required, self.spent = before.required, before.spent
        self.changed_cookies = before.changed_cookies
        self.tape_misses = list(before.tape_misses)
        self._replayed_from, self._started = before.replayed_from, before.started
        self._exchanges = before.exchanges.copy()
        self._lines = {name: lines.copy() for name, lines in before.lines.items()}
        self._clock = time.monotonic() - before.seconds

    def tell_past(self) -> None:
        if self.branch is not None:
            self.branch = self.branch.model_copy(update={"told": True})

    def fork_failed(self, differs: str) -> None:
        """Break off a branch that is not equal, for the reasons of all ways that were tried."""
        if self.branch is None:
            raise ValueError("no branch was begun")
        failed = TriedWay(pages=self.branch.pages, because=cut(differs, _MOST_DIFFERS))
        tried = (*self.branch.tried, failed)
        reasons = "; ".join(f"by {one.pages}: {one.because}" for one in tried)
        message = f"'{self.branch.checkpoint}' {reasons}"
        self.branch = self.branch.model_copy(update={"tried": tried})
        self.break_off(EpisodeFault(reason=UnscoredReason.FORK, message=message))

    def break_off_at_limit(self) -> None:
        """Break off where a limit of the run kept a live site from the agent."""
        if self.live is not None and self.live.refused is not None:
            self.break_off(EpisodeFault(reason=UnscoredReason.BLOCKED, message=self.live.refused))

    def stop_clock(self) -> None:
        if self.seconds is None:
            self.seconds = self._elapsed()

    def end(self, ended: Ended, because: str | None) -> None:
        self.ended = ended
        self.ended_because = None if because is None else cut(because, _MOST_BECAUSE)

    def break_off(self, fault: EpisodeFault) -> None:
        """Write down why the episode broke off; the first reason stands."""
        if self.fault is None:
            self.fault = fault

    def note_misses(
        self,
        step: int,
        journal: GatewayJournal,
        *,
        is_check: bool = False,
        is_led: bool = True,
    ) -> None:
        """Write down what tapes had no answer to since the last call, and count what they had.

        Args:
            journal: the gateway's, which this record reads on from where it stopped.
            is_check: a check asked, and no agent.
            is_led: whether the site's pages led there, as far as anybody can tell; what scripts of
                an outside program ask for looks the same.
        """
        exchanges = journal.since(self._missed_until)
        self._missed_until = journal.mark()
        for one in exchanges:
            if one.taped is not None:
                self.tape_answers[one.taped.value] += 1
            if one.missed is None or one.site is None:
                continue
            by = one.missed
            if is_check and by in {MissedBy.PAGE, MissedBy.ADDRESS}:
                by = MissedBy.CHECK
            elif not is_led and by in {MissedBy.PAGE, MissedBy.DATA}:
                by = MissedBy.ADDRESS
            self.tape_misses.append(
                MissedRequest(step=step, method=one.method, url=one.url, site=one.site, by=by)
            )

    def keep_screenshot(self, index: int, image: bytes) -> str:
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
        self.shown = observation
        if self.spec.may_go_back:
            self.seen.append(observation)
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
            file: its name, see `orchestrator.episode.jsonl_files`.
            line: a JSON object; what is of a step names it under the key `step`.
        """
        self._lines.setdefault(file, StepLines()).add(line)

    def files(self) -> Mapping[str, bytes]:
        lines = {name: lines.packed() for name, lines in self._lines.items()}
        return self.pictures | self.traces | lines

    def evidence(self, miniwob: MiniWobRecord | None, incomplete: str | None) -> Evidence:
        """Return everything as it stands now."""
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
            miniwob=miniwob,
            network=None if self.network is None else self.network.requests,
            network_fault=None if self.network is None else self.network.fault,
            branch=self.branch,
            varied=self._varied(),
            consent=self.consent,
            hosts=() if self.live is None else self.live.hosts(),
            person=self.person,
            barred=tuple(self.barred),
            tape_misses=kept_misses(self.tape_misses),
            tape_answers=dict(sorted(self.tape_answers.items())),
        )

    def _varied(self) -> tuple[Varied, ...]:
        effects = dict.fromkeys(self.spec.vary, 0) if self.arm is None else self.arm.effects
        return tuple(Varied(variation=str(one), count=count) for one, count in effects.items())

    def _elapsed(self) -> float:
        return round(time.monotonic() - self._clock, 3)
