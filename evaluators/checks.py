"""A check is when × locate × match: its schema as tasks write it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    model_validator,
)

from arena_core.worlds import World
from evaluators.changes import ChangeKind, IgnoredChanges, is_secret
from evaluators.computed import Computed
from evaluators.text import normalise
from sites.fields import written

T = TypeVar("T")

Slug = Annotated[
    str,
    written(
        r"[a-z0-9][a-z0-9-]{0,60}",
        "a name of at most 61 lower-case letters, digits and '-' that begins with no '-'",
    ),
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PerWorld(_Strict, Generic[T]):
    """One value per world, where the worlds truly differ."""

    offline: T
    online: T

    def of(self, world: World) -> T:
        """Return the value that holds in a world."""
        match world:
            case World.OFFLINE:
                return self.offline
            case World.ONLINE:
                return self.online


class When(StrEnum):
    """`step`: a key node, met once at any step, in any order. `end`: holds at the end."""

    STEP = "step"
    END = "end"


class UrlPart(StrEnum):
    """What of a visited URL a url locator yields.

    `logical` is `site:/path` without query and fragment, `query` every value of one parameter,
    `full` the logical URL with query and fragment. All are percent-decoded once; a trailing slash
    of the path and the order of different parameters make no difference. The expected side of
    `logical` and `full` is a logical URL and is read the same way; that of `query` and `fragment`
    is a plain value and stands as it is meant.
    """

    LOGICAL = "logical"
    QUERY = "query"
    FRAGMENT = "fragment"
    FULL = "full"


class LocateUrl(_Strict):
    """Yields the URLs a step passed through (`step`), or the current tab's last one (`end`).

    With `part: query` a value counts only where the page's logical URL equals `page`, if given.
    """

    by: Literal["url"] = "url"
    part: UrlPart = UrlPart.LOGICAL
    key: str | None = None
    page: str | None = None

    @model_validator(mode="after")
    def _key_fits_part(self) -> Self:
        if (self.part is UrlPart.QUERY) != (self.key is not None):
            message = "`key` names the parameter of `part: query` and stands nowhere else"
            raise ValueError(message)
        return self


class LocateAnswer(_Strict):
    """Yields the answer the agent stopped with; nothing where it gave none."""

    by: Literal["answer"] = "answer"


class ElementField(StrEnum):
    """What of an element acted on is read."""

    NAME = "name"
    TEXT = "text"
    VALUE = "value"
    PATH = "path"
    ROLE = "role"


class ElementEvent(StrEnum):
    """A trusted event that the page watcher reports."""

    CLICK = "click"
    INPUT = "input"
    CHANGE = "change"
    SUBMIT = "submit"


class LocateElement(_Strict):
    """Yields a field of the elements acted on, as the page watcher saw them.

    Attributes:
        event: which kind of event counts.
        read: which field is yielded.
        role: only elements of this accessible role count.
        named: only elements with this accessible name count (compared exactly, case folded).
        page: only events on this logical URL (`site:/path`) count.
    """

    by: Literal["element"] = "element"
    event: ElementEvent
    read: ElementField = ElementField.NAME
    role: str | None = None
    named: str | None = None
    page: str | None = None


class LocatePage(_Strict):
    """Yields what a CSS selector finds on a page.

    Attributes:
        at: `own` is the agent's current tab as it is; a logical URL is opened in a fresh tab with
            the episode's logins (only with `when: end`).
        selector: CSS; every match yields one value.
        attribute: yields this attribute (`value` is the live value); the visible text if omitted.
        role: the fresh tab is opened as this role of the page's site, where the task has several;
            as the first if omitted.
    """

    by: Literal["page"] = "page"
    at: str = "own"
    selector: str | PerWorld[str]
    attribute: str | None = None
    role: str | None = None

    @model_validator(mode="after")
    def _own_page_has_its_role(self) -> Self:
        if self.role is not None and self.at == "own":
            message = "`role` opens a page: name one with `at`; the agent's own tab has its role"
            raise ValueError(message)
        return self


class LocateDb(_Strict):
    """Yields the rows of one SELECT on a replica's database, columns joined with ` | `.

    There is no database behind a live site: a task that runs online limits the check by `worlds`.
    """

    by: Literal["db"] = "db"
    site: str
    sql: str


class LocateApi(_Strict):
    """Yields values of a site's JSON answer.

    Attributes:
        path: logical path and query, fetched by GET with the episode's logins in the browser.
        role: asked with this role's API login instead (`Role.api` of the manifest), which only a
            replica has: a task that runs online limits the check by `worlds` where the site has a
            live origin.
        json_path: JSONPath (RFC 9535), its leading `$.` may be left away: `items[0].id`; the whole
            body as text where omitted.
    """

    by: Literal["api"] = "api"
    site: str
    path: str
    role: str | None = None
    json_path: str | None = None


class LocateDelta(_Strict):
    """Yields what the episode changed in a replica, one canonical JSON text a change.

    Rows before and after, entries of the stateful folders, tables and their definitions; next ids
    are left out: a row added moves them, and one that is gone again did no harm. What a change
    looks like says `evaluators.changes`.

    Attributes:
        ignore: what changes by itself, such as the login that precedes every episode.
    """

    by: Literal["db_delta"] = "db_delta"
    site: str
    ignore: IgnoredChanges = IgnoredChanges()


class LocateWob(_Strict):
    """Yields the raw reward that a MiniWoB++ page ended the episode with; nothing before that.

    Raw: as the page gave it, without the decay by time.
    """

    by: Literal["wob"] = "wob"


Locate = Annotated[
    LocateUrl
    | LocateAnswer
    | LocateElement
    | LocatePage
    | LocateDb
    | LocateApi
    | LocateDelta
    | LocateWob,
    Field(discriminator="by"),
]


def _no_boolean(value: object) -> object:
    """Refuse what YAML made of a bare `yes` or `no`: as a number it would be 1 or 0."""
    if isinstance(value, bool):
        message = "is true or false to YAML: put the text in quotes"
        raise ValueError(message)  # noqa: TRY004 - pydantic reports ValueError with its field
    return value


Expected = Annotated[str | int | FiniteFloat, BeforeValidator(_no_boolean)]
ExpectedNumber = Annotated[FiniteFloat, BeforeValidator(_no_boolean)]
ExpectedValues = Expected | tuple[Expected, ...]


class MatchExact(_Strict):
    """Met where a value equals the expected one.

    Both sides are normalised as `evaluators.text.normalise` says; case is folded unless `case`. A
    list is compared with all values: in order, or as a multiset where `ordered` is false; the empty
    list asks that nothing was found. A number written without quotes equals that number however
    many zeros it is written with (`12.5` and `12.50`).
    """

    how: Literal["exact"] = "exact"
    value: ExpectedValues | PerWorld[ExpectedValues]
    case: bool = False
    ordered: bool = True


class MatchInclude(_Strict):
    """Met where a value holds the expected text, as whole words unless `parts`.

    Normalised as in `exact`. A list asks for each of its texts, in any of the values. What counts
    as a word says `evaluators.text.holds_words`.
    """

    how: Literal["include"] = "include"
    value: ExpectedValues | PerWorld[ExpectedValues]
    case: bool = False
    parts: bool = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        given = self.value
        branches = (given.offline, given.online) if isinstance(given, PerWorld) else (given,)
        for branch in branches:
            texts = branch if isinstance(branch, tuple) else (branch,)
            if not texts or not all(normalise(str(text)) for text in texts):
                message = "every text holds the empty text: `value` must ask for something"
                raise ValueError(message)
        return self


class MatchNumber(_Strict):
    """Met where the value holds exactly one number, within `tolerance` of the expected one.

    Thousands separators, signs, currency signs, units and percent signs around the number are
    understood; text with two different numbers is not a match, so no answer can list guesses. How
    numbers are read says `evaluators.numbers.read_numbers`. `tolerance` is inclusive.
    """

    how: Literal["number"] = "number"
    value: ExpectedNumber | PerWorld[ExpectedNumber]
    tolerance: ExpectedNumber = Field(default=0.0, ge=0)


ExpectedCell = Expected | None


class ExpectedChange(_Strict):
    """One change that must have happened.

    Attributes:
        table: of the row; or else `file`: path of an entry of a stateful folder, `*` for any
            letters, slashes too.
        kind: what happened to it.
        columns: the columns that matter: of an added or changed row after, of a removed row before.
            Compared as `exact` compares; null is SQL NULL.
        before: of a changed row, columns before.
        also: of a changed row, columns (`*` for any letters) that may have changed along; any other
            that is named nowhere must be as it was.
        count: how many such changes there must be, each of its own.
    """

    table: str | None = None
    file: str | None = None
    kind: ChangeKind
    columns: dict[str, ExpectedCell] = Field(default_factory=dict)
    before: dict[str, ExpectedCell] = Field(default_factory=dict)
    also: tuple[str, ...] = ()
    count: int = Field(default=1, ge=1, le=1000)

    @model_validator(mode="after")
    def _names_one_thing(self) -> Self:
        if (self.table is None) == (self.file is None):
            message = "a change names either a `table` or a `file`"
            raise ValueError(message)
        if self.file is not None and (self.columns or self.before or self.also):
            message = "a file has no columns: say only `file`, `kind` and `count`"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _columns_fit_kind(self) -> Self:
        if self.kind is not ChangeKind.CHANGED and (self.before or self.also):
            message = f"`before` and `also` are for `kind: changed`, not {self.kind}"
            raise ValueError(message)
        is_row = self.table is not None and self.kind is ChangeKind.CHANGED
        if is_row and not (self.columns or self.before or self.also):
            message = (
                "a changed row names the columns that change: in `columns`, `before` or `also`"
            )
            raise ValueError(message)
        secret = next((name for name in (*self.columns, *self.before) if is_secret(name)), None)
        if secret is not None:
            message = f"column '{secret}' is named like a secret: its values are kept nowhere"
            raise ValueError(message)
        return self


class AllowedChanges(_Strict):
    """Tables and files that may change freely, by name or path; `*` stands for any letters."""

    tables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class MatchDelta(_Strict):
    """Met where exactly these changes were made, apart from what may change freely.

    Each expected change needs a change of its own; the empty list asks that nothing changed.
    """

    how: Literal["delta"] = "delta"
    changes: tuple[ExpectedChange, ...]
    allow: AllowedChanges = AllowedChanges()


Match = Annotated[MatchExact | MatchInclude | MatchNumber | MatchDelta, Field(discriminator="how")]


class Check(_Strict):
    """One thing that must hold.

    Attributes:
        name: unique in its task; reports and linter use it.
        worlds: where the check applies; a check of no world of the task is a mistake.
        computed: where the expected value comes from; the linter asks there, an episode never does.
    """

    name: Slug
    when: When
    locate: Locate
    match: Match
    worlds: tuple[World, ...] = (World.OFFLINE, World.ONLINE)
    computed: Computed | None = None

    @model_validator(mode="after")
    def _locator_fits_moment(self) -> Self:
        always = isinstance(self.locate, LocateUrl | LocatePage)
        if self.when is When.STEP and not (always or isinstance(self.locate, LocateElement)):
            message = (
                f"a key node (`when: step`) locates by url, element or page, not {self.locate.by}"
            )
            raise ValueError(message)
        if self.when is When.END and isinstance(self.locate, LocateElement):
            message = "an element locator needs `when: step`: events happen at steps"
            raise ValueError(message)
        if (
            self.when is When.STEP
            and isinstance(self.locate, LocatePage)
            and self.locate.at != "own"
        ):
            message = "a key node reads the agent's own page: `at: own`"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _delta_fits_delta(self) -> Self:
        if isinstance(self.locate, LocateDelta) != isinstance(self.match, MatchDelta):
            found = f"`by: {self.locate.by}` with `how: {self.match.how}`"
            message = f"`by: db_delta` and `how: delta` belong together, not {found}"
            raise ValueError(message)
        if self.computed is not None and isinstance(self.match, MatchDelta):
            message = "changes are not computed: say `computed` on a check with one value"
            raise ValueError(message)
        return self
