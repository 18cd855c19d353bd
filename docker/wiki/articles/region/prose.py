"""Sentence patterns: the YAML files of prose/, one entry per kind of subject.

A text is a list of pools, and of each pool one sentence is said. ``{it.river.link}`` walks from the
subject to what it knows; a sentence that meets None on the way is not said, so a village without a
river has no sentence on its river. An empty sentence in a pool makes it one that may be left out.
``!c`` capitalises a value, ``!n`` puts "a" or "an" before it, ``{it.days:day}`` counts. ``@works``
stands for a table or a list of ``blocks``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import yaml
from draft import Draft, DraftBlock, DraftSection

from region.dice import Dice
from region.subject import Subject

HERE = Path(__file__).parent / "prose"
Pool = tuple[str, ...]
Blocks = Callable[[str, Subject], DraftBlock | None]


class PatternError(ValueError):
    """A file of prose/ lacks a part, or a subject cannot say its lead."""


class MissingValueError(Exception):
    """A pattern asks for what this subject does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """How articles of one kind read."""

    topic: str
    lead: tuple[Pool, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[tuple[str, tuple[Pool | str, ...]], ...]
    see: tuple[str, ...]


class Sentences(Formatter):
    """Fills patterns from one subject."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def say(self, pattern: str) -> str | None:
        """Return the sentence, or None where the subject lacks a value for it."""
        try:
            return self.vformat(pattern, (), {"it": self._subject})
        except MissingValueError:
            return None

    def get_field(
        self,
        field_name: str,
        args: Sequence[object],  # noqa: ARG002  Formatter hands both
        kwargs: Mapping[str, object],
    ) -> tuple[object, str]:
        """Walk the dotted name; a None on the way ends the sentence."""
        first, *rest = field_name.split(".")
        value: object = kwargs[first]
        for name in rest:
            value = getattr(value, name)
            if value is None:
                raise MissingValueError
        return value, first

    def format_field(self, value: object, format_spec: str) -> str:
        """Count things where the format is a noun: ``{it.days:day}`` says 1 day or 3 days."""
        if isinstance(value, int) and format_spec.isalpha() and len(format_spec) > 1:
            return f"{value:,} {format_spec}{'' if value == 1 else 's'}"
        return str(super().format_field(value, format_spec))

    def convert_field(self, value: object, conversion: str | None) -> object:
        """Apply !c and !n."""
        words = str(value)
        match conversion:
            case "c":
                return words[0].upper() + words[1:]
            case "n":
                vowel = words[0].lower() in "aeiou8" or words in {"11", "18"}
                return f"an {words}" if vowel else f"a {words}"
            case _:
                return value


class Prose:
    """Writes drafts by the patterns of each kind."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._patterns = {
            kind: patterns for path in sorted(HERE.glob("*.yaml")) for kind, patterns in _read(path)
        }

    def draft(self, subject: Subject) -> Draft:
        """Return the subject's article."""
        patterns = self._patterns[type(subject).__name__]
        sentences, dice = Sentences(subject), Dice(f"prose of {subject.title}")
        lead = _paragraph(sentences, dice, patterns.lead)
        if not lead.strip():
            message = f"{subject.title}: no sentence for the lead"
            raise PatternError(message)
        sections = tuple(
            DraftSection(heading, blocks)
            for heading, pools in patterns.sections
            if (blocks := self._section(subject, sentences, dice, pools))
        )
        facts = ((label, sentences.say(pattern)) for label, pattern in patterns.facts)
        said = (sentences.say(pattern) for pattern in patterns.see)
        return Draft(
            title=subject.title,
            lead=(lead,),
            facts=tuple((label, value) for label, value in facts if value is not None),
            sections=sections,
            see_also=tuple(dict.fromkeys(title for title in said if title is not None)),
            topic=patterns.topic,
            proper=True,
            autolink=False,
            marked=True,
        )

    def _section(
        self, subject: Subject, sentences: Sentences, dice: Dice, pools: Sequence[Pool | str]
    ) -> tuple[DraftBlock, ...]:
        blocks: list[DraftBlock | None] = []
        spoken = tuple(pool for pool in pools if not isinstance(pool, str))
        if words := _paragraph(sentences, dice, spoken):
            blocks.append(words)
        blocks += [self._blocks(pool[1:], subject) for pool in pools if isinstance(pool, str)]
        return tuple(block for block in blocks if block is not None)


def _paragraph(sentences: Sentences, dice: Dice, pools: Sequence[Pool]) -> str:
    spoken = []
    for pool in pools:
        sayable = [words for pattern in pool if (words := sentences.say(pattern)) is not None]
        if sayable:
            spoken.append(dice.pick(sayable))
    return " ".join(words for words in spoken if words)


def _read(path: Path) -> list[tuple[str, Patterns]]:
    found = []
    for kind, raw in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        if unknown := set(raw) - {"topic", "lead", "facts", "sections", "see"}:
            message = f"{path.name}: {kind}: unknown {sorted(unknown)}"
            raise PatternError(message)
        found.append(
            (
                str(kind),
                Patterns(
                    topic=raw["topic"],
                    lead=tuple(tuple(pool) for pool in raw["lead"]),
                    facts=tuple(raw["facts"].items()),
                    sections=tuple(
                        (
                            heading,
                            tuple(one if isinstance(one, str) else tuple(one) for one in pools),
                        )
                        for heading, pools in raw["sections"].items()
                    ),
                    see=tuple(raw.get("see", ())),
                ),
            )
        )
    return found
