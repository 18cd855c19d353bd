"""The words of one issue: whatever is said of it once stays so, and no sentence comes twice."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from forgeseed.matter import Matter
from forgeseed.sources import vocabulary
from forgeseed.wording import SLOT

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")
# Words that keep their capital within a sentence, beside those that have another one or a digit.
_KEPT = re.compile(
    "(I|January|March|April|May|June|July|August|Monday|Tuesday|Friday|Welsh|English|Irish|Dutch|"
    "Firefox|Chromium|Edge|Safari|Squid|Europe/London|Oneill|Port|Settings|History)$|[ODI]'"
)
_ITEM = re.compile(r"\b(?<!-)an? {item}")
_START = re.compile(r"(^|[.!?] |\n(?:[-\d.]+ )?)([a-z])")


class Story:
    """Fills sentences with what is known of one issue.

    Attributes:
        known: sentences by purpose, of this matter.
    """

    def __init__(self, rng: Random, matter: Matter, author: str) -> None:
        self.rng = rng
        self.matter = matter
        self.known = matter.known(rng)
        self._used: set[str] = set()
        self._slots = self._words(author)
        self._article = "an" if self._slots["item"][0] in "aeiou" else "a"
        self.cause, self.fix = self._pick_pair("why")
        self._slots["err"] = self.put(str(self.known.get("err", "no answer from the {other}")))

    def take(self, pool: str, purpose: str, sentence: str = "", **more: str) -> str:
        """Return a frame of `pool` that was not used yet, filled, around a sentence."""
        return self.framed(self.pick(vocabulary("talk")[pool][purpose]), sentence, **more)

    def framed(self, frame: str, sentence: str = "", **more: str) -> str:
        """Return a frame around a sentence."""
        whole = frame.replace("{x}", sentence).replace("{l}", _inner(sentence))
        for name, text in more.items():
            whole = whole.replace("{" + name + "}", text)
        return self.fill(whole)

    def pick(self, choices: Sequence[str]) -> str:
        """Return one of the choices, one that was not used yet if there is any."""
        fresh = [one for one in choices if one not in self._used and self._fits(one)]
        chosen = self.rng.choice(fresh or list(choices))
        self._used.add(chosen)
        return chosen

    def of(self, purpose: str) -> str:
        """Return a sentence that serves a purpose, or nothing where none is left."""
        held = self.known.get(purpose) or []
        choices = [held] if isinstance(held, str) else held
        fresh = [one for one in choices if one not in self._used]
        return self.pick(fresh) if fresh else ""

    def questions(self) -> list[tuple[str, str]]:
        """Return what may be asked, with the answers."""
        pairs = [(one, other) for one, other in self.known.get("qa", [])]
        self.rng.shuffle(pairs)
        return pairs

    def fill(self, template: str) -> str:
        """Return a text with its slots filled, each sentence with a capital."""
        whole = self.put(template)
        whole = _START.sub(lambda found: found.group(1) + found.group(2).upper(), whole)
        return whole.replace("?.", "?").replace("..", ".")

    def put(self, template: str) -> str:
        """Return a text with its slots filled, as a machine would write it."""
        template = _ITEM.sub(f"{self._article} {{item}}", template)
        return SLOT.sub(self._slot, template).strip()

    def chance(self, share: float) -> bool:
        """Return true in that share of the cases."""
        return self.rng.random() < share

    def _fits(self, text: str) -> bool:
        return bool(self.matter.project.code) or " main" not in text

    def _pick_pair(self, name: str) -> tuple[str, str]:
        pairs = self.known.get(name) or [("", "")]
        if isinstance(pairs[0], str):  # of a wish: the needs, no causes
            return "", ""
        cause, fix = self.rng.choice(pairs)
        return cause, fix

    def _slot(self, match: re.Match[str]) -> str:
        name = match.group(1)
        text = self._slots[name.lower()]
        return text[0].upper() + text[1:] if name[0].isupper() else text

    def _words(self, author: str) -> dict[str, str]:
        told, project, rng = vocabulary("milieu"), self.matter.project, self.rng
        item, users, staff, where = told["projects"][project.identifier]
        said: Mapping[str, str] = self.matter.said
        called = told["called"]
        return {
            "few": str(rng.randint(3, 7)),
            "tens": str(rng.randint(12, 48)),
            "many": str(rng.randint(110, 940)),
            "weekday": rng.choice(WEEKDAYS),
            "machine": rng.choice(self.matter.machines()),
            "item": item,
            "items": _plural(item),
            "users": users,
            "staff": staff,
            "unit": told["units"].get(project.identifier, "device"),
            "log": project.identifier,
            "author": author,
            "where": where,
            **{name: text for name, text in said.items() if name != "about"},
            "thing": called.get(said["thing"], said["thing"]),
            "other": called.get(said["other"], said["other"]),
        }


def _plural(noun: str) -> str:
    if noun.endswith(("s", "sh", "ch", "x")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _inner(sentence: str) -> str:
    """Return a sentence as a part of another one: no capital, no full stop."""
    text = sentence.removesuffix(".")
    first = text.split(" ", 1)[0].rstrip(",.:;")
    if not first or _KEPT.match(first):
        return text
    if first.startswith("{"):
        return text[0] + text[1].lower() + text[2:]
    if any(letter.isupper() or letter.isdigit() for letter in first[1:]):
        return text
    return text[0].lower() + text[1:]
