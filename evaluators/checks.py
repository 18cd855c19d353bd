"""A check is when × locate × match: its schema as tasks write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from arena_core.worlds import World
from evaluators.fields import Slug, When
from evaluators.judgements import Replies
from evaluators.lint import Place
from evaluators.locators.base import Locator
from evaluators.locators.kinds import Locate
from evaluators.matchers.base import JudgedMatcher, Matched, Matcher, UrlForm
from evaluators.matchers.kinds import Match
from sites.fields import SitePath, Strict

# A reason is read by people: longer ones are cut.
_LONGEST_SENTENCE: Final = 4_000
_NO_REPLIES: Final[Replies] = {}


class Computed(BaseModel):
    """Asks an untouched replica for the value that a check expects in the offline world.

    One of `sql`, `page` and `path` says how; each yields values as the locator of that kind does.

    Attributes:
        sql: one SELECT on the site's database.
        page: a logical path, opened with the task's logins; `selector` says what of it.
        attribute: of the elements found, in place of their visible text.
        path: path and query of a JSON answer, fetched with the task's logins.
        role: asks with this role's API login instead of the logins in the browser.
        json_path: what of it; the whole body as text where omitted.
        pattern: a regular expression; each value becomes what its one group finds in it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    site: str
    sql: str | None = None
    page: SitePath | None = None
    selector: str | None = None
    attribute: str | None = None
    path: SitePath | None = None
    role: str | None = None
    json_path: str | None = None
    pattern: str | None = None

    @model_validator(mode="after")
    def _asks_one_way(self) -> Self:
        if [self.sql, self.page, self.path].count(None) != 2:  # noqa: PLR2004
            message = "is computed by one of `sql`, `page` and `path`"
        elif (self.page is None) != (self.selector is None):
            message = "`page` and `selector` belong together"
        elif self.attribute is not None and self.page is None:
            message = "`attribute` is one of elements on a `page`"
        elif self.path is None and (self.json_path, self.role) != (None, None):
            message = "`json_path` and `role` go with a `path`"
        else:
            return self
        raise ValueError(message)

    @model_validator(mode="after")
    def _pattern_has_one_group(self) -> Self:
        if self.pattern is None:
            return self
        try:
            groups = re.compile(self.pattern).groups
        except re.error as cause:
            raise ValueError(f"`pattern` is no regular expression: {cause}") from cause
        if groups != 1:
            raise ValueError(f"`pattern` needs one group: it has {groups}")
        return self

    def read(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the pattern's group finds in each value; the values where there is none.

        A value that the pattern does not fit yields nothing.
        """
        if self.pattern is None:
            return values
        found = (re.search(self.pattern, value) for value in values)
        return tuple(one[1] for one in found if one is not None and one[1] is not None)


class WrongKey(Computed):
    """A near miss: what somebody answers who made one certain mistake. It must not pass.

    Attributes:
        name: the mistake: `first-page`, `cancelled-counted`, `a-day-off`.
    """

    name: Slug


class Margin(Computed):
    """What sets the best apart from the next: where two are equal, no answer is the right one.

    What is asked for yields the measures alone, best first and runner-up included.

    Attributes:
        best: how many of them the key names.
        by: the least difference between neighbours; any where omitted.
    """

    best: int = Field(default=1, ge=1)
    by: FiniteFloat | None = Field(default=None, gt=0)


class Look(Strict):
    """One thing that is looked at and written into the evidence, and that no score asks for.

    Compatible scorers of published task sets read it there (`evaluators/scorers`).

    Attributes:
        name: unique in its task; evidence, reports and linter use it.
        worlds: where it is looked at; a world that the task does not have is a mistake.
    """

    name: Slug
    when: When
    locate: Locate
    worlds: tuple[World, ...] = (World.OFFLINE, World.ONLINE)

    @property
    def ways(self) -> tuple[Look, ...]:
        """What is looked at, each under a name of its own in the evidence."""
        return (self,)

    @model_validator(mode="after")
    def _locator_fits_phase(self) -> Self:
        fault = self.locate.phase_fault(self.when)
        if fault is not None:
            raise ValueError(fault)
        return self


class Alternative(Strict):
    """Another way to meet a check: what is looked at, and what it must be."""

    locate: Locate
    match: Match

    @model_validator(mode="after")
    def _locator_fits_matcher(self) -> Self:
        refuse_misfit(self.locate, self.match)
        return self


class Check(Look):
    """One thing that must hold.

    An end check decides success. A key node (`when: step`) scores progress, and decides success
    only where it is `required`.

    Attributes:
        computed: where the expected value comes from; the linter asks there, an episode never does.
        wrong_keys: near misses, asked like it: a proof shows that none of them passes.
        margin: of a key that is the most or the least of something, what the candidates measure.
        required: of a key node, that the task asks for this very step: no success without it.
        any_of: alternatives; any of them that is met meets the check.
    """

    match: Match
    computed: Computed | None = None
    wrong_keys: tuple[WrongKey, ...] = Field(default=(), exclude_if=lambda value: not value)
    margin: Margin | None = Field(default=None, exclude_if=lambda value: value is None)
    required: bool = Field(default=False, exclude_if=lambda value: not value)
    any_of: tuple[Alternative, ...] = Field(default=(), exclude_if=lambda value: not value)

    def answering(self, question: str) -> Check:
        """Return it with its matches as they compare answers to a question."""
        others = tuple(
            one.model_copy(update={"match": one.match.answering(question)}) for one in self.any_of
        )
        return self.model_copy(update={"match": self.match.answering(question), "any_of": others})

    @property
    def asked(self) -> tuple[tuple[Place, Computed], ...]:
        """All that a replica is asked for it: key, wrong keys and margin, with their places."""
        wrong = ((("wrong_keys", number), one) for number, one in enumerate(self.wrong_keys))
        found: tuple[tuple[Place, Computed | None], ...] = (
            (("computed",), self.computed),
            *wrong,
            (("margin",), self.margin),
        )
        return tuple((at, one) for at, one in found if one is not None)

    @property
    def decides(self) -> bool:
        """Whether there is no success without it."""
        return self.when is When.END or self.required

    @property
    def ways(self) -> tuple[Check, ...]:
        """The check by each of its alternatives, itself first; evidence names the others `name/2`.

        No check can be called so: names hold no slash.
        """
        itself = self.model_copy(update={"any_of": ()})
        return (
            itself,
            *(
                itself.model_copy(
                    update={
                        "name": f"{self.name}/{number}",
                        "locate": one.locate,
                        "match": one.match,
                        "computed": None,
                        "wrong_keys": (),
                        "margin": None,
                    }
                )
                for number, one in enumerate(self.any_of, start=2)
            ),
        )

    @model_validator(mode="after")
    def _alternatives_fit_phase(self) -> Self:
        for one in self.any_of:
            fault = one.locate.phase_fault(self.when)
            if fault is not None:
                raise ValueError(fault)
        return self

    @model_validator(mode="after")
    def _only_key_nodes_are_required(self) -> Self:
        if self.required and self.when is When.END:
            message = "`required` says of a key node that it decides: an end check always does"
            raise ValueError(message)
        return self

    @model_validator(mode="after")
    def _locator_fits_matcher(self) -> Self:
        refuse_misfit(self.locate, self.match)
        if self.asked and not self.match.is_computable:
            (at, *_), _ = self.asked[0]
            message = f"what `how: {self.match.how}` compares is not computed:"
            message += f" say `{at}` on a check with one value"
            raise ValueError(message)
        return self


def refuse_misfit(locate: Locator, match: Matcher) -> None:
    """Refuse a matcher that does not compare what a locator yields."""
    if locate.yields != match.compares:
        message = f"`by: {locate.by}` yields {locate.yields} and"
        message += f" `how: {match.how}` compares {match.compares}: they do not go together"
        raise ValueError(message)


def match(
    check: Check, values: Sequence[str], world: World, replies: Replies = _NO_REPLIES
) -> Matched:
    """Compare what a check's locator found with what the check expects in a world; never raises."""

    def form(text: str) -> str:
        return check.locate.expected_form(text, is_whole=check.match.is_whole)

    if isinstance(check.match, JudgedMatcher):
        return _short(check.match.match_judged(values, world, replies, form))
    spelled = UrlForm(form) if check.locate.are_urls else form
    return _short(check.match.match(values, world, spelled))


def _short(matched: Matched) -> Matched:
    """Return a result whose sentences are short, whatever the matcher made of long values."""
    if max(len(matched.reason), len(matched.expected)) <= _LONGEST_SENTENCE:
        return matched
    return replace(matched, reason=_cut(matched.reason), expected=_cut(matched.expected))


def _cut(sentence: str) -> str:
    whole = len(sentence) <= _LONGEST_SENTENCE
    return sentence if whole else sentence[: _LONGEST_SENTENCE - 1] + "…"
