"""What a run is asked to do: one model for the command line, files, locks and the runner.

To add an option, add a field here, and an alias in `orchestrator/cli/runs/options.py` for those
commands that offer it; then read `request.settings` where it takes effect. Study files, run files
and locks have it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self, TypedDict, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from arena_core.errors import InputError, UsageError
from arena_core.worlds import World
from orchestrator.browser.process.kinds import BrowserKind, RemoteAddress, read_browser
from orchestrator.gateway.policy import Resolve
from orchestrator.gateway.tapes.named import NamedTape, known_tape, tapes_beside
from orchestrator.gateway.variations import Variation, variations_of
from orchestrator.runs.pace import Workers, at_first
from orchestrator.runs.shard import Shard
from orchestrator.sandbox.memory import parse_size
from sites.documents import SHOWN_FAULTS, read_document
from sites.faults import mistakes
from sites.fields import Strict, written

OptionValue = str | int | FiniteFloat | bool | None
Model = TypeVar("Model", bound=Strict)


def _known_strategy(name: str) -> str:
    if name != "auto":
        from orchestrator.sandbox.reset.ladder import strategies_for  # noqa: PLC0415  with the engine

        strategies_for(name)
    return name


def _read_by(read: Callable[[str], object]) -> Callable[[object], object]:
    """Return a validator that reads text; what refuses it says why."""

    def validated(text: object) -> object:
        if not isinstance(text, str):
            return text
        try:
            return read(text)
        except UsageError as refused:
            message = f"{refused.message}; {refused.hint}" if refused.hint else refused.message
            raise ValueError(message) from refused

    return validated


def _known_browser(text: str) -> str:
    read_browser(text)
    return text


def _by_its_name(given: object) -> object:
    return {"use": given} if isinstance(given, str) else given


def _go_together(texts: tuple[str, ...]) -> tuple[str, ...]:
    _read_by(lambda _: variations_of(texts))("")
    return texts


Vary = Annotated[
    tuple[Annotated[str, AfterValidator(_read_by(lambda text: str(Variation.parse(text))))], ...],
    AfterValidator(_go_together),
]

Bytes = Annotated[
    int,
    BeforeValidator(_read_by(parse_size)),
    Field(gt=0),
    WithJsonSchema({"type": ["string", "integer"], "examples": ["4GiB"]}),
]

Steps = Annotated[int, Field(ge=1, le=500)]
Seconds = Annotated[FiniteFloat, Field(gt=0, le=7200)]


class EpisodeLimits(Strict):
    """How many steps and seconds an episode may take."""

    steps: Steps | None = None
    seconds: Seconds | None = None


class SpendingLimits(Strict):
    """What may be spent on models; None where that has no limit.

    Attributes:
        max_tokens: of prompts and replies together.
    """

    max_usd: FiniteFloat | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)

    def changed(self, max_usd: object = None, max_tokens: object = None) -> SpendingLimits:
        """Return these limits, with those that are given in their place."""
        given = {"max_usd": max_usd, "max_tokens": max_tokens}
        said = {name: limit for name, limit in given.items() if limit is not None}
        return read_asked(SpendingLimits, **self.model_dump() | said)


class AgentEntry(Strict):
    """An agent with its options, or a command that plays over CDP.

    Attributes:
        agent: a registered name, or `package.module:Factory`.
        options: as the agent declares them, its model's among them.
        command: a program that plays each episode over CDP, in place of `agent`.
        seconds: how long the command may take for an episode.
    """

    agent: str | None = Field(default=None, min_length=1)
    options: dict[str, OptionValue] = Field(default_factory=dict)
    command: str | None = Field(default=None, min_length=1)
    seconds: FiniteFloat | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.agent is None) == (self.command is None):
            refuse_field(("agent",), "needs `agent` or `command`, and not both")
        if self.command is not None and self.options:
            refuse_field(("options",), "has no effect with `command`")
        if self.command is None and self.seconds is not None:
            refuse_field(("seconds",), "has no effect without `command`")
        return self


Declared = Annotated[
    str, written(r"[\w .:/+-]{1,80}", "a few words without '@': a password never stands in a lock")
]


class BrowserEntry(Strict):
    """The browser that pages are opened in, and what is known of a way out that is not its own.

    Attributes:
        use: `headless-shell`, `chromium` (the full browser, without a window), `headed`, or
            `cdp:URL` for one that is running: `cdp:http://127.0.0.1:9222`,
            `cdp:wss://connect.example.com?apiKey=${KEY}`; `${NAME}` stands for a variable of the
            environment.
        provider: who hosts that one.
        proxy: what its requests leave by, such as `residential`.
        country: where they leave, by ISO 3166: `DE`.
    """

    use: Annotated[str, AfterValidator(_read_by(_known_browser))]
    provider: Declared | None = None
    proxy: Declared | None = None
    country: Annotated[str, written(r"[A-Z]{2}", "two capital letters, such as DE")] | None = None

    @model_validator(mode="after")
    def _is_hosted(self) -> Self:
        if self.provider is not None and not self.kind.is_remote:
            refuse_field(("provider",), f"has no effect with {self.use}: Arena starts that itself")
        return self

    @property
    def kind(self) -> BrowserKind:
        """What `use` names."""
        return read_browser(self.use)[0]

    @property
    def address(self) -> RemoteAddress | None:
        """Where it is, of one that is running already."""
        return read_browser(self.use)[1]

    @property
    def shown(self) -> str:
        """What `use` names, without the secret part of an address."""
        return str(self.kind) if self.address is None else f"{self.kind}:{self.address}"


Browser = Annotated[BrowserEntry, BeforeValidator(_by_its_name)]


class RunTerms(Strict):
    """The part of a run's settings that its lock keeps word for word.

    A field that is added must be empty by default (None, False, nothing in it), or be left out of
    what is written where it has its default: the digests of earlier locks stay the same.

    Attributes:
        worlds: in which every task that runs there is played.
        repeats: how often each task is played in each world.
        attempts: how often an episode is tried when infrastructure fails.
        resolve: `HOST:PORT:ADDR:PORT` entries that send a live host elsewhere, as curl does.
        screenshots: keep one screenshot per step.
        record_requests: record the requests of every episode, not only where a task asks.
        trace: keep Playwright's trace of every episode.
        workers: episodes of each world side by side; `auto` follows the machine.
        spares: warm replicas beyond the workers', of each site that holds state; chosen from
            available memory where it is omitted.
        memory: budget for all replicas, such as `4GiB`; most of the machine where it is omitted.
        strategy: of resets between episodes: `auto`, `swap`, `clean`, `rewind` or `recreate`.
        budget: what may be spent on models.
        vary: `NAME=VALUE[@PARAM]` entries that change what the agent meets on replicas: the arm.
        tape: `SITE=FILE[@frozen]` entries: offline, a tape of its live origin answers for the site.
        canary: online, references are played before the agent is, and again after it failed.
        canary_age: for how many minutes such a look answers; 10 where it is omitted.
        shard: `I/N`: only this share of the trials is played; `arena merge` puts all N together.
    """

    worlds: tuple[World, ...] = Field(default=(World.OFFLINE,), min_length=1)
    repeats: int = Field(default=1, ge=1)
    attempts: int = Field(default=3, ge=1)
    resolve: tuple[str, ...] = ()
    screenshots: bool = Field(default=True, exclude_if=bool)
    record_requests: bool = False
    trace: bool = False
    workers: Workers = 1
    spares: int | None = Field(default=None, ge=0)
    memory: Bytes | None = None
    strategy: str = "auto"
    budget: SpendingLimits = SpendingLimits()
    vary: tuple[str, ...] = ()
    tape: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    canary: bool = Field(default=False, exclude_if=lambda value: not value)
    canary_age: int | None = Field(None, ge=1, le=30, exclude_if=lambda value: value is None)
    shard: Annotated[str | None, AfterValidator(_read_by(lambda text: str(Shard.parse(text))))] = (
        Field(default=None, exclude_if=lambda value: value is None)
    )

    @property
    def workers_at_first(self) -> int:
        return at_first(self.workers)

    @property
    def settings_beside(self) -> dict[str, Any]:
        """What the settings of a run on these terms hold beside them."""
        return {}

    @property
    def terms(self) -> dict[str, Any]:
        """The fields of `RunTerms` by name, as they are."""
        return {name: getattr(self, name) for name in RunTerms.model_fields}

    def settings(self, **changes: object) -> RunSettings:
        """Return the settings of a run on these terms, some changed; None changes none."""
        given = self.terms | self.settings_beside
        said = {name: value for name, value in changes.items() if value is not None}
        return RunSettings.of(**given | said)


class RunSettings(RunTerms):
    """How a run is played, whoever plays it on whichever tasks.

    Attributes:
        staged: live origins are staged on this machine, and labelled so.
        browser: that pages are opened in, by name or with more; omitted, the full browser without a
            window where real sites are visited, and the headless shell elsewhere.
    """

    staged: bool = False
    browser: Browser | None = Field(default=None, exclude_if=lambda value: value is None)
    resolve: tuple[
        Annotated[str, AfterValidator(_read_by(lambda text: str(Resolve.parse(text))))], ...
    ] = ()
    strategy: Annotated[str, AfterValidator(_read_by(_known_strategy))] = "auto"
    vary: Vary = ()
    tape: tuple[Annotated[str, AfterValidator(_read_by(known_tape))], ...] = Field(
        default=(), exclude_if=lambda value: not value
    )

    @classmethod
    def of(cls, **asked: object) -> Self:
        """Return what keywords ask for; limits of what is spent may stand by themselves."""
        limits = {name: asked.pop(name) for name in SpendingLimits.model_fields if name in asked}
        if any(limit is not None for limit in limits.values()):
            before = asked.get("budget")
            budget = before if isinstance(before, SpendingLimits) else SpendingLimits()
            asked["budget"] = budget.changed(**limits)
        return read_asked(cls, **asked)

    @model_validator(mode="before")
    @classmethod
    def _says_nothing_by_null(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        return {name: value for name, value in given.items() if value is not None}

    @field_validator("worlds")
    @classmethod
    def _no_world_twice(cls, given: tuple[World, ...]) -> tuple[World, ...]:
        if len(set(given)) < len(given):
            raise ValueError("must name no world twice")
        return given

    @model_validator(mode="after")
    def _has_spares_to_swap(self) -> Self:
        if self.strategy == "swap" and self.spares == 0:
            message = "the strategy swap needs a spare, and spares: 0 allows none"
            refuse_field(("strategy",), message)
        return self

    @model_validator(mode="after")
    def _is_within_reach(self) -> Self:
        entry = self.browser
        if entry is not None and entry.kind.is_remote:
            for field, is_wrong, why in (
                ("worlds", World.OFFLINE in self.worlds, "reaches no replica: play online alone"),
                ("staged", self.staged, "reaches no staged origin, which is on this machine"),
                ("resolve", bool(self.resolve), "looks names up by itself"),
            ):
                if is_wrong:
                    refuse_field((field,), f"the browser {entry.shown} {why}")
        elif entry and World.ONLINE not in self.worlds and (entry.proxy or entry.country):
            refuse_field(("browser",), "`proxy` and `country` have no effect offline")
        return self

    @model_validator(mode="after")
    def _varies_replicas_alone(self) -> Self:
        if self.vary and World.ONLINE in self.worlds:
            message = "live sites are never rewritten: play arms in the offline world alone"
            refuse_field(("vary",), message)
        return self

    @model_validator(mode="after")
    def _plays_tapes_offline(self) -> Self:
        sites = [NamedTape.parse(one).site for one in self.tape]
        if len(set(sites)) < len(sites):
            refuse_field(("tape",), "names a site twice; arena tape import makes one of two tapes")
        if self.tape and World.OFFLINE not in self.worlds:
            refuse_field(("tape",), "has no effect online: tapes answer in the offline world")
        if self.tape and self.vary:
            refuse_field(("vary",), "changes replicas, and what is recorded stays as it was")
        return self

    @property
    def tapes(self) -> dict[str, NamedTape]:
        """The tapes by the site that each answers for."""
        return {one.site: one for one in map(NamedTape.parse, self.tape)}

    @property
    def settings_beside(self) -> dict[str, Any]:
        return {"staged": self.staged, "browser": self.browser}

    @property
    def arm(self) -> tuple[Variation, ...]:
        """How the world differs that the agent meets; empty for the clean arm."""
        return variations_of(self.vary)

    @property
    def resolves(self) -> tuple[Resolve, ...]:
        """Where live hosts are sent instead."""
        return tuple(map(Resolve.parse, self.resolve))


class RunSpec(AgentEntry, RunSettings):
    """A whole run: what `arena eval` plays, and what `--config` reads from a file.

    Attributes:
        agent: `oracle` where neither an agent nor a command is named.
        suite: a shipped suite's name, or a path; one relative to the file is found there, and so
            are tapes.
        tasks: ids, or patterns of them with `*` and `?`; all tasks where there is none.
    """

    options: dict[str, Any] = Field(default_factory=dict)
    suite: str = Field(default="demo", min_length=1)
    tasks: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _plays_the_oracle_by_default(cls, given: object) -> object:
        if isinstance(given, Mapping) and given.get("agent") is given.get("command") is None:
            return {**given, "agent": "oracle"}
        return given

    @field_validator("worlds", mode="before")
    @classmethod
    def _takes_one_world(cls, given: object) -> object:
        return (given,) if isinstance(given, str) else given

    @field_validator("worlds")
    @classmethod
    def _offline_first(cls, given: tuple[World, ...]) -> tuple[World, ...]:
        return tuple(world for world in World if world in given)

    @field_validator("options", mode="before")
    @classmethod
    def _takes_paths(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        return {
            name: str(value) if isinstance(value, PurePath) else value
            for name, value in given.items()
        }

    @classmethod
    def read(cls, path: Path, asked: Mapping[str, object]) -> Self:
        """Read a run's file, and let what is asked for beside it come first."""
        file = read_document(path, cls, InputError)
        said = {name: getattr(file, name) for name in file.model_fields_set}
        if "suite" in said:
            from tasks.loader import suite_beside  # noqa: PLC0415  most commands read no suite

            said["suite"] = suite_beside(file.suite, path)
        if "tape" in said:
            said["tape"] = tapes_beside(file.tape, path)
        another = {"agent", "command"} & asked.keys()
        for name in ("agent", "command", "seconds") if another else ():
            said.pop(name, None)
        options = asked.get("options")
        if "command" in asked:
            said.pop("options", None)
        given = said | dict(asked)
        if "options" in said and isinstance(options, Mapping):
            given["options"] = file.options | dict(options)
        return cls.of(**given)


class Pace(TypedDict, total=False):
    """How fast a run goes, by keyword: see the fields of `RunSpec`."""

    workers: int | Literal["auto"] | None
    spares: int | None
    memory: str | int | None
    strategy: str | None


class Changes(Pace, total=False):
    """What may change when a run goes on, by keyword: see the fields of `RunSpec`.

    `browser` names the address again of which the lock keeps no secret; it stays the browser.
    """

    browser: BrowserEntry | str | None
    max_usd: float | None
    max_tokens: int | None
    screenshots: bool | None


class Asked(Changes, total=False):
    """What a run may be asked for by keyword: see the fields of `RunSpec`."""

    suite: str
    worlds: Sequence[str]
    repeats: int
    attempts: int
    staged: bool
    resolve: Sequence[str]
    vary: Sequence[str]
    tape: Sequence[str]
    options: Mapping[str, object] | None
    record_requests: bool
    trace: bool
    canary: bool
    canary_age: int | None
    shard: str


def refuse_field(at: tuple[int | str, ...], message: str) -> None:
    """Refuse a field of the model that is validated."""
    error = ValueError(message)
    # The message says itself what stood there: of a mapping nothing more is said.
    said = {"message": message}
    details = InitErrorDetails(type="value_error", loc=at, input=said, ctx={"error": error})
    raise ValidationError.from_exception_data("document", [details])


def read_asked(model: type[Model], **asked: object) -> Model:
    """Return what keywords ask for as a model; None asks for nothing."""
    given = {name: value for name, value in asked.items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as cause:
        raise _refusal(cause, given, model) from cause


def _refusal(
    cause: ValidationError, asked: Mapping[str, object], model: type[Strict]
) -> UsageError:
    """Say what is wrong with keywords: as what reads a value says it, else by the field."""
    for fault in cause.errors():
        told = getattr(fault.get("ctx", {}).get("error"), "__cause__", None)
        if isinstance(told, UsageError):
            return told
    found = mistakes(cause, asked, model.model_fields)
    return UsageError("; ".join(map(str, found[:SHOWN_FAULTS])))
