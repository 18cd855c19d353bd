"""The file of a checkpoint: states, pages, what the agent saw, and the record until then."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Final, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticSerializationError

from arena_core.errors import StateError
from arena_core.foreign import first_fault
from arena_core.logs import secrets_of
from arena_core.worlds import World
from evaluators.evidence import Located, StepEvidence
from orchestrator.agents.model_exchange import Spent
from orchestrator.browser.observation import (
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    MarkedPicture,
    Observation,
    Picture,
    PrunedHtml,
)
from orchestrator.browser.session.page_state import BrowserState
from orchestrator.episode.checkpoint import Checkpoint
from orchestrator.episode.jsonl_files import (
    ExchangeWriter,
    StepLines,
    secrets_in_json,
    without_json,
)
from orchestrator.episode.record import RecordSoFar
from orchestrator.sandbox.reset.state import TakenState
from orchestrator.sandbox.states.archive import (
    MOST_BYTES,
    Digest,
    Kind,
    Parts,
    digest_of,
    opened_archive,
    packed_archive,
    write_archive,
)
from orchestrator.sandbox.states.state_file import (
    MOST_SITES,
    ImageId,
    SiteEntry,
    SiteName,
    site_parts,
)
from tasks.schema import Limits

_RECORD: Final = "record.json"
_PAGES: Final = "pages.json"
_LEAST: Final = 6  # letters: a shorter value is part of ordinary words

# Both are names of files beside the evidence of whoever goes on from it.
_PictureName = Annotated[
    str, StringConstraints(pattern=r"^(step|image)-[0-9a-f]{1,64}\.(webp|png|jpe?g|gif|bin)$")
]
_LinesName = Literal["observations.jsonl.gz", "exchanges.jsonl.gz"]
_Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{1,64}$")]
_Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Document(BaseModel):
    """Bytes stand in JSON as base64."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )


class _Manifest(_Document):
    """What the file holds; digests are of its parts.

    Attributes:
        sites, began: as those of `Checkpoint`, in the folders `sites/SITE` and `began/SITE`.
        pictures, lines: in the folder `files`, by name; lines are not compressed there.
    """

    format: Literal["arena-checkpoint"] = "arena-checkpoint"
    version: Literal[1] = 1
    made: AwareDatetime
    name: _Name
    suite: _Name
    task: _Name
    world: World
    played: Digest
    limits: Limits
    seed: _Count | None
    viewport: tuple[_Count, _Count] | None
    root: _Hex
    document_step: _Count
    left_s: _Seconds
    images: Annotated[dict[SiteName, ImageId], Field(max_length=MOST_SITES)]
    sites: Annotated[dict[SiteName, SiteEntry], Field(max_length=MOST_SITES)]
    began: Annotated[dict[SiteName, SiteEntry | None], Field(max_length=MOST_SITES)]
    record: Digest
    pages: Digest | None
    pictures: dict[_PictureName, Digest]
    lines: dict[_LinesName, Digest]

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.sites.keys() == self.began.keys() <= self.images.keys():
            raise ValueError("sites, began and images are not of the same sites")
        states = [*self.sites.items(), *self.began.items()]
        if any(one and one.image_id != self.images[site] for site, one in states):
            raise ValueError("a state is of another image than its replica ran")
        return self


class _Part(_Document):
    """One part of an observation: the one field that is not None says of which kind."""

    axtree: AxTree | None = None
    aria: AriaSnapshot | None = None
    html: Html | None = None
    pruned: PrunedHtml | None = None
    picture: Picture | None = None
    marked: MarkedPicture | None = None
    boxes: dict[int, Box] | None = None
    other: JsonValue = None

    @classmethod
    def of(cls, part: object) -> _Part:
        for name, kind in _KINDS.items():
            if isinstance(part, kind):
                return cls.model_validate({name: part})
        if isinstance(part, Mapping) and any(isinstance(one, Box) for one in part.values()):
            return cls(boxes=dict(part))
        return cls.model_validate({"other": part})

    def read(self) -> object:
        return next((found for _, found in self if found is not None), None)


_KINDS: Final[Mapping[str, type]] = {
    "axtree": AxTree,
    "aria": AriaSnapshot,
    "html": Html,
    "pruned": PrunedHtml,
    "picture": Picture,
    "marked": MarkedPicture,
}


class _Seen(_Document):
    """An observation, which stands without its parts beside them."""

    seen: Observation
    parts: dict[str, _Part]

    @classmethod
    def of(cls, seen: Observation) -> _Seen:
        parts = {name: _Part.of(part) for name, part in seen.parts.items()}
        return cls(seen=replace(seen, parts={}), parts=parts)

    def read(self) -> Observation:
        return replace(self.seen, parts={name: part.read() for name, part in self.parts.items()})


class _Record(_Document):
    """The record so far, but for its pictures and lines; `last` is what the agent saw last."""

    steps: Annotated[tuple[StepEvidence, ...], Field(min_length=1)]
    seen: tuple[_Seen, ...]
    last: _Seen
    required: tuple[Located, ...]
    spent: Spent
    changed_cookies: bool
    replayed_from: str | None
    exchanges: _Count
    started: AwareDatetime
    seconds: _Seconds

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if [step.index for step in self.steps] != list(range(len(self.steps))):
            raise ValueError("its steps are not all there")
        if len(self.seen) != len(self.steps) or self.last.seen.step != self.steps[-1].index:
            raise ValueError("what the agent saw is not of these steps")
        if any((step.action is None) != (step.index == 0) for step in self.steps):
            raise ValueError("a step has no action")
        return self


class _Pages(_Document):
    state: BrowserState

    @model_validator(mode="after")
    def _can_be_opened(self) -> Self:
        tabs = self.state.tabs
        numbers = Counter(tab.number for tab in tabs)
        if sum(tab.is_current for tab in tabs) != 1 or len(numbers) != len(tabs):
            raise ValueError("its tabs are not told apart, or not one of them is current")
        if not {"", *(tab.login for tab in tabs)} <= self.state.cookies.keys():
            raise ValueError("a tab is of a login that has no cookies")
        return self


def save_checkpoint(mark: Checkpoint, path: Path | str) -> None:
    """Write a checkpoint as one file, which another process and another machine can go on from.

    The file holds the sessions of accounts on replicas, and no secret of the environment: in the
    record they are `[redacted]`.

    Args:
        mark: what `OpenEpisode.checkpoint` returned.
        path: of the file; `NAME.arena-checkpoint` by custom.

    Raises:
        StateError: it cannot be written there; a page or a site holds a secret of the environment;
            or what the agent saw is of a form that JSON cannot hold.
    """
    write_archive(Path(path), packed_checkpoint(mark))


def packed_checkpoint(mark: Checkpoint) -> bytes:
    """Return the content of a checkpoint's file."""
    try:
        record = without_json(_record_of(mark).model_dump_json(), secrets_in_json()).encode()
        pages = None if mark.pages is None else _Pages(state=mark.pages).model_dump_json().encode()
        lines = {name: one.plain() for name, one in mark.record.lines.items()}
        manifest = _manifest_of(mark, record, pages, lines)
    except (ValueError, PydanticSerializationError) as cause:
        raise _unfit(mark, f"it holds what no file can: {_why(cause)}") from cause
    files = {f"files/{name}": one for name, one in {**mark.record.pictures, **lines}.items()}
    parts = {_RECORD: record, **({} if pages is None else {_PAGES: pages}), **files}
    for site, taken in mark.sites.items():
        parts |= site_parts(f"sites/{site}", taken)
    for site, start in mark.began.items():
        parts |= {} if start is None else site_parts(f"began/{site}", start)
    _require_same(mark, record, pages)
    _refuse_secrets(mark, [manifest.model_dump_json().encode(), *parts.values()])
    return packed_archive(Kind.CHECKPOINT, manifest, parts)


def load_checkpoint(path: Path | str | IO[bytes]) -> Checkpoint:
    """Read a file that `save_checkpoint` wrote; it may come from anybody.

    Args:
        path: of the file; or the file itself, open for reading bytes, which is left open.

    Raises:
        StateError: it is missing, damaged, no regular file, or not the file of a checkpoint.
    """
    source = Path(path) if isinstance(path, Path | str) else path
    with opened_archive(source, Kind.CHECKPOINT) as parts:
        told = _Manifest.model_validate_json(parts.manifest(Kind.CHECKPOINT))
        record = _Record.model_validate_json(parts.read(_RECORD, told.record))
        if told.document_step > record.steps[-1].index:
            raise ValueError("its document is of a later step")
        pages = None
        if told.pages is not None:
            pages = _Pages.model_validate_json(parts.read(_PAGES, told.pages)).state
            kept_s = (datetime.now(UTC) - told.made).total_seconds()
            pages = _as_fresh(pages, max(kept_s, 0.0))
        return Checkpoint(
            name=told.name,
            suite=told.suite,
            task=told.task,
            world=told.world,
            played=told.played,
            limits=told.limits,
            seed=told.seed,
            viewport=told.viewport,
            images=told.images,
            root=told.root,
            began={
                site: None if one is None else one.read(parts, f"began/{site}", site)
                for site, one in told.began.items()
            },
            sites={
                site: one.read(parts, f"sites/{site}", site) for site, one in told.sites.items()
            },
            pages=pages,
            seen=record.last.read(),
            record=_read_record(told, record, parts),
            document_step=told.document_step,
            left_s=told.left_s,
        )


def _manifest_of(
    mark: Checkpoint, record: bytes, pages: bytes | None, lines: Mapping[str, bytes]
) -> _Manifest:
    return _Manifest(
        made=datetime.now(UTC),
        name=mark.name,
        suite=mark.suite,
        task=mark.task,
        world=mark.world,
        played=mark.played,
        limits=mark.limits,
        seed=mark.seed,
        viewport=mark.viewport,
        root=mark.root,
        document_step=mark.document_step,
        left_s=mark.left_s,
        images=dict(mark.images),
        sites={site: SiteEntry.of(taken) for site, taken in mark.sites.items()},
        began={
            site: None if one is None else SiteEntry.of(one) for site, one in mark.began.items()
        },
        record=digest_of(record),
        pages=None if pages is None else digest_of(pages),
        pictures={name: digest_of(one) for name, one in mark.record.pictures.items()},
        lines={name: digest_of(one) for name, one in lines.items()},
    )


def _record_of(mark: Checkpoint) -> _Record:
    so_far = mark.record
    return _Record(
        steps=so_far.steps,
        seen=tuple(map(_Seen.of, so_far.seen)),
        last=_Seen.of(mark.seen),
        required=so_far.required,
        spent=so_far.spent,
        changed_cookies=so_far.changed_cookies,
        replayed_from=so_far.replayed_from,
        exchanges=so_far.exchanges.number,
        started=so_far.started,
        seconds=so_far.seconds,
    )


def _read_record(told: _Manifest, record: _Record, parts: Parts) -> RecordSoFar:
    return RecordSoFar(
        steps=record.steps,
        seen=tuple(one.read() for one in record.seen),
        pictures={name: parts.read(f"files/{name}", one) for name, one in told.pictures.items()},
        required=record.required,
        spent=record.spent,
        changed_cookies=record.changed_cookies,
        replayed_from=record.replayed_from,
        exchanges=ExchangeWriter(record.exchanges),
        lines={
            name: StepLines.of(parts.read(f"files/{name}", one)) for name, one in told.lines.items()
        },
        started=record.started,
        seconds=record.seconds,
    )


def _as_fresh(pages: BrowserState, seconds: float) -> BrowserState:
    """Return pages whose cookies live as long from now on as they did when they were written.

    The sites' clocks are set back to that moment too. Else a login would end with no act of an
    agent's, on a page that still looks the same.
    """

    def later(cookie: Mapping[str, object]) -> Mapping[str, object]:
        ends = cookie.get("expires")
        if isinstance(ends, int | float) and ends > 0:
            return {**cookie, "expires": ends + seconds}
        return cookie  # it lasts as long as the browser

    jars = {login: tuple(map(later, jar)) for login, jar in pages.cookies.items()}
    return replace(pages, cookies=jars)


def _require_same(mark: Checkpoint, record: bytes, pages: bytes | None) -> None:
    """Refuse what would come back as something else: no branch of it could be equal."""
    try:
        seen = _Record.model_validate_json(record).last.read()
        state = None if pages is None else _Pages.model_validate_json(pages).state
    except ValueError as cause:
        raise _unfit(mark, f"it cannot be read again: {_why(cause)}") from cause
    if seen != mark.seen:
        raise _unfit(mark, "what its agent saw holds a secret, or what is no JSON")
    if state != mark.pages:
        raise _unfit(mark, "its pages hold what is no JSON")


def _refuse_secrets(mark: Checkpoint, parts: Iterable[bytes]) -> None:
    secrets = [one.encode() for one in secrets_of() if len(one) >= _LEAST]
    secrets += [one.encode() for one in secrets_in_json()]
    tabs = () if mark.pages is None else mark.pages.tabs
    bodies = [one.document.body for one in tabs if one.document is not None]
    bodies += [answer.body for one in tabs for answer in one.answers]
    states: list[TakenState] = [*mark.sites.values(), *filter(None, mark.began.values())]
    try:
        unpacked = [zlib.decompressobj().decompress(one.packed, MOST_BYTES) for one in states]
    except zlib.error as cause:
        raise _unfit(mark, f"a site's state is not packed as Arena packs it: {cause}") from cause
    if any(secret in one for one in (*parts, *bodies, *unpacked) for secret in secrets):
        raise _unfit(mark, "a page or a site holds a secret of the environment (…_KEY, …_TOKEN)")


def _why(cause: Exception) -> str:
    """Say what was wrong in one line, and not what stood there: that may be a secret."""
    return (
        first_fault(cause) if isinstance(cause, ValidationError) else " ".join(str(cause).split())
    )


def _unfit(mark: Checkpoint, why: str) -> StateError:
    return StateError(f"the checkpoint '{mark.name}' cannot be kept in a file: {why}")
