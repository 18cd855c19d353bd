"""Tells an issue from beginning to end: what was reported, and what was said until now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from forgeseed.clock import DAY
from forgeseed.matter import Matter
from forgeseed.people import Person
from forgeseed.projects import MANAGER
from forgeseed.reports import report
from forgeseed.story import Story
from forgeseed.talk import Talk, Turn


@dataclass(frozen=True, slots=True)
class Said:
    """A note that somebody writes: only its words are missing."""

    who: Person
    when: datetime
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """What is settled before a word is written: who, when, and how it ends.

    Attributes:
        key: what the words follow from; another key gives other words.
        notes: in the order of time.
    """

    key: str
    matter: Matter
    author: Person
    assignee: Person | None
    made: datetime
    outcome: str
    priority: int
    notes: Sequence[Said]


def tell(plot: Plot) -> tuple[str, list[str]]:
    """Return the description of an issue and its notes.

    The words come from a stream of their own, so that people and dates do not depend on them.
    """
    project = plot.matter.project
    makers, managers = project.committers, project.of_role(MANAGER)
    story = Story(Random(f"forge/tales/{plot.key}"), plot.matter, plot.author.first)
    described = report(story, by_maker=plot.author in makers)
    talk = Talk(story, plot.outcome, plot.priority)
    turns = (
        Turn(
            who=one.who.login,
            days=(one.when - plot.made) / DAY,
            is_author=one.who == plot.author,
            is_maker=one.who in makers,
            is_manager=one.who in managers,
            is_assignee=one.who == plot.assignee,
            ends=one.ends,
        )
        for one in plot.notes
    )
    return described, [talk.say(turn) for turn in turns]
