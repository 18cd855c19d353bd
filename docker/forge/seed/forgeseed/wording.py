"""Turns templates into sentences: slots come from the project and from the lists of [slots]."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from forgeseed.projects import Project
from forgeseed.sources import products, vocabulary

SLOT = re.compile(r"\{(\w+)\}")
WEEKDAYS = ("Tuesday", "Wednesday", "Thursday")
HOURS = ("9.30", "10.00", "14.00", "16.30")
TOOLS = frozenset(
    [
        "harbour-search",
        "map-routing",
        "waypost-markdown",
        "sextant",
        "ropewalk",
        "foghorn",
        "tidewatch",
        "brasswork",
        "halyard",
        "barometer",
        "infrastructure",
    ]
)
GOODS = frozenset(
    f"harbour-{name}" for name in ("store", "checkout", "search", "warehouse", "returns")
)  # projects that speak of the shop's products


class Wording:
    """The slots of one text: what is drawn once stays the same throughout.

    Attributes:
        drawn: slot and what stands for it.
    """

    def __init__(self, rng: Random, project: Project, **given: str) -> None:
        thing, other = rng.sample(project.things, 2)
        managers = project.committers
        self._rng = rng
        self.drawn = {
            "thing": thing,
            "other": other,
            "name": project.name,
            "about": project.about,
            "lead": managers[0].name,
            **given,
        }
        self._lists = _lists(project)

    def of(self, template: str) -> str:
        """Return the template with its slots filled."""
        return SLOT.sub(self._slot, template).strip()

    def draw(self, names: list[str]) -> None:
        """Draw the slots that were not drawn yet."""
        for name in names:
            self._word(name)

    def _slot(self, match: re.Match[str]) -> str:
        name = match.group(1)
        if name[0].isupper():
            text = self._word(name.lower())
            return text[0].upper() + text[1:]
        return self._word(name)

    def _word(self, name: str) -> str:
        if name not in self.drawn:
            if name == "product":
                self.drawn[name] = self._rng.choice(products())
            else:
                self.drawn[name] = self._rng.choice(self._lists[name])
        return self.drawn[name]


def _lists(project: Project) -> dict[str, Any]:
    """Return the lists that slots are drawn from: a kettle has no browser, a library no screen."""
    told = vocabulary("issues")
    if project.code == "c":
        return {**told["slots"], **told["slots_device"]}
    if project.identifier in TOOLS:
        return {**told["slots"], **told["slots_tool"]}
    return dict(told["slots"])


def subject_of(rng: Random, wording: Wording, project: Project, tracker: str) -> tuple[str, str]:
    """Return of which kind an issue is, and what it is called."""
    told = vocabulary("issues")
    templates = list(told["subjects"][tracker])
    if project.identifier in GOODS and tracker in told["goods"] and rng.random() < 0.35:
        templates = told["goods"][tracker]
    kind, template = rng.choice(templates)
    return kind, wording.of(template)


def pass_over(rng: Random, wording: Wording, about: str) -> None:
    """Draw what a text of the issue once drew, so that all that is drawn later stays as it is."""
    wording.draw(rng.choice(vocabulary("issues")["drawn"][about]).split())
