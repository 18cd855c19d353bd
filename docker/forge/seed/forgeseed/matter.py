"""What an issue is about: the words of its subject, and what is known of such a matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from forgeseed.projects import Project
from forgeseed.sources import vocabulary
from forgeseed.wording import TOOLS, Wording

BUGS = frozenset(("broken", "log", "disagree"))
QUESTIONS = frozenset(("how", "please", "question"))


@dataclass(frozen=True, slots=True)
class Matter:
    """What a subject says, as report and notes need it.

    Attributes:
        kind: which kind of subject it is: broken, add, how and so on.
        said: the slots of the subject and what stands for them.
    """

    project: Project
    kind: str
    said: Mapping[str, str]

    @property
    def profile(self) -> str:
        """Whether the project makes a device, a tool or pages."""
        if self.project.code == "c":
            return "device"
        return "tool" if self.project.identifier in TOOLS else "web"

    @property
    def is_wish(self) -> bool:
        """Whether it asks for something new."""
        return not self.is_question and not self.is_bug

    @property
    def is_question(self) -> bool:
        """Whether it asks how, or for a favour."""
        return self.kind in QUESTIONS

    @property
    def is_bug(self) -> bool:
        """Whether it says that something is wrong."""
        return self.kind in BUGS or self.kind in vocabulary("milieu")["goods"]

    def known(self, rng: Random) -> Mapping[str, Any]:
        """Return what is known of the matter: lists of sentences by their purpose."""
        if self.is_wish:
            return self._wish()
        if self.kind in ("how", "please"):
            return dict(vocabulary("support")["ask"][self.said["ask"]])
        if self.kind in vocabulary("milieu")["goods"]:
            return dict(vocabulary("milieu")["goods"][self.kind])
        return self._bug(rng)

    def _bug(self, rng: Random) -> Mapping[str, Any]:
        fails = vocabulary("failures").get(self.said.get("fails", ""), {})
        if "cases" in fails:
            fails = {**fails, **rng.choice(fails["cases"])}
        when = self.condition()
        if not when:
            return {**fails, "step": [], "only": [], "around": [], "seen_by": []}
        return {
            "seen": _without(fails.get("seen", []), when),
            "want": _without(fails.get("want", []), when),
            "hurt": _without([fails["hurt"]] if fails else [], when),
            **{name: when[name] for name in ("step", "only", "err", "why", "qa", "around")},
            "seen_by": when["seen"],
        }

    def _wish(self) -> Mapping[str, Any]:
        told = vocabulary("features")
        if self.kind in ("add", "offer"):
            return dict(told["add"][self.said["feature"]])
        if self.kind == "let":
            return dict(told["let"][self.said["may"]])
        return dict(told[self.kind]["any"])

    def condition(self) -> Mapping[str, Any]:
        """Return what is known of the condition that the subject names, if it names one."""
        when = self.said.get("when", "")
        told = vocabulary("conditions")
        own = told["device"] if self.profile == "device" else {}
        found: Mapping[str, Any] = own.get(when) or told["any"].get(when) or {}
        return found

    def machines(self) -> Sequence[str]:
        """Return where it may have shown."""
        machine = self.condition().get("machine")
        every: Sequence[str] = vocabulary("milieu")["machines"][self.profile]
        return [machine] if machine else every


def matter_of(project: Project, kind: str, wording: Wording) -> Matter:
    """Return the matter of a subject that was just drawn."""
    return Matter(project, kind, dict(wording.drawn))


def _without(sentences: Sequence[str], when: Mapping[str, Any]) -> Sequence[str]:
    """Leave out what would contradict the condition."""
    words = when.get("without", [])
    return [one for one in sentences if not any(word in one for word in words)]
