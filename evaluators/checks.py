"""A check is when × locate × match: its schema as tasks write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from pydantic import Field, model_validator

from arena_core.worlds import World
from evaluators.computed import Computed
from evaluators.fields import Slug, When
from evaluators.judgements import Replies
from evaluators.kinds import Locate
from evaluators.locators.base import Locator
from evaluators.matcher_kinds import Match
from evaluators.matchers.base import JudgedMatcher, Matched, Matcher, UrlForm
from sites.fields import Strict

# A reason is read by people: longer ones are cut.
_LONGEST_SENTENCE: Final = 4_000
_NO_REPLIES: Final[Replies] = {}


class Look(Strict):
    """One thing that is looked at and written into the evidence, and that no score asks for.

    Compatible readings of published task sets read it there (`evaluators/readings`).

    Attributes:
        name: unique in its task; evidence, reports and linter use it.
        worlds: where it is looked at; a world that is none of the task's is a mistake.
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
        required: of a key node, that the task asks for this very step: no success without it.
        any_of: alternatives; any of them that is met meets the check.
    """

    match: Match
    computed: Computed | None = None
    required: bool = Field(default=False, exclude_if=lambda value: not value)
    any_of: tuple[Alternative, ...] = Field(default=(), exclude_if=lambda value: not value)

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
        if self.computed is not None and not self.match.is_computable:
            message = f"what `how: {self.match.how}` compares is not computed:"
            message += " say `computed` on a check with one value"
            raise ValueError(message)
        return self


def refuse_misfit(locate: Locator, match: Matcher) -> None:
    """Refuse a matcher that does not compare what a locator yields.

    Raises:
        ValueError: naming both.
    """
    if locate.yields != match.compares:
        message = f"`by: {locate.by}` yields {locate.yields} and"
        message += f" `how: {match.how}` compares {match.compares}: they do not go together"
        raise ValueError(message)


def match(
    check: Check, values: Sequence[str], world: World, replies: Replies = _NO_REPLIES
) -> Matched:
    """Compare what a check's locator found with what the check expects in a world; never raises.

    Args:
        check: whose values.
        values: what was found.
        world: of the episode.
        replies: of judges, by the key of the question.
    """

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
