"""Composes what customers and the shop say of a product (no database here).

The words are in seed/opinions. A phrase may end in " ~ " and conditions, all of which must hold:
`2+` (owned for two months), `14d+` (days), `-word` (is not so), or `one/other`: one of these stands
in the product's kind, material, size and finish, or in the flags. A word in square brackets is
what the phrase is about: titles name it, and nobody speaks of it twice.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from shopseed.plan import SIZE_IN_WORDS, Plan

FOLDER = Path(__file__).resolve().parent.parent / "opinions"
SLOT = re.compile(r"\{([A-Za-z_]+)(?::(\w+))?\}")
PART = re.compile(r"\[([^]]+)\]")
CHOICE = re.compile(r"\[([^]|]*\|[^]]*)\]")
AGED = re.compile(r"(\d+)(d?)\+")
MEASURE = re.compile(r"[\d.,]+ (L|ml|cm|mm|g|W|lm)|Set of \d+|X?[SML]L?")
MONTH = 30.4
COMPOUND = re.compile(  # materials that nobody would praise by name
    r"^an? | and | with |[^sa]s$|\d|nylon|poly|plast|MDF|rubb|resin|foam"
)
PERSONAL = re.compile(  # what the shop would not say, or not of something new
    r"\b(I|my|me|our|we|us|expected|does come off|came|was|(has|have) (not|\w+(ed|en|ept|ome)))\b"
)
ADVICE = re.compile(r"(Wash|Trim|Air|Turn|Sow|Hone|Rub|Lie)\b")  # how to treat the goods
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CLAUSES = ("good", "minor", "serious")
ONCE = ("old", "age", "month", "price", "finish", "size", "material", "brand")
DEAR = 60
SHORT = 0.18  # of the reviews are a line or two
TELLING = 0.8  # of the titles name something of the product
WORN = ("Socks", "Gloves", "Hiking Boots", "Belt")  # not tried by others


@dataclass(frozen=True, slots=True)
class Phrase:
    """Some words and what must hold for them."""

    text: str
    conditions: tuple[str, ...]

    def holds(self, known: str, days: int) -> bool:
        """Tell whether all conditions hold of what is known of a product and its owner."""
        return all(_holds(condition, known, days) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Shelf:
    """What is said of one category's goods."""

    is_plural: bool
    is_brief: bool
    lists: dict[str, tuple[Phrase, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A review to be: which product (the variant that was bought), by whom, how many stars."""

    item: Plan
    who: int
    stars: int
    days: int  # since it was delivered
    month: str
    quantity: int = 1
    part: str = "own"  # or "received" and "given": as a present
    is_returned: bool = False
    title: str = ""  # one that is given: its text speaks of what the title names


def _holds(condition: str, known: str, days: int) -> bool:
    if aged := AGED.fullmatch(condition):
        return days >= int(aged[1]) * (1 if aged[2] else MONTH)
    if condition.startswith("-"):
        return not _holds(condition[1:], known, days)
    return any(
        word in known and (len(word) > 3 or re.search(rf"\b{word}\b", known) is not None)
        for word in condition.split("/")
    )


def phrase(text: str) -> Phrase:
    """Return the phrase with its conditions split off."""
    words, _, rest = text.strip().partition(" ~ ")
    return Phrase(words, tuple(one.strip() for one in rest.split(",") if one.strip()))


@cache
def frames() -> dict[str, Any]:
    """Return the sentences that the categories' words go into."""
    found = tomllib.loads((FOLDER / "frames.toml").read_text(encoding="utf-8"))
    return {
        name: {key: tuple(map(phrase, texts)) for key, texts in table.items()}
        if isinstance(table, dict)
        else table
        for name, table in found.items()
    }


@cache
def shelves() -> dict[str, Shelf]:
    """Return what is said of each category, by its name."""
    found = {}
    for source in sorted(FOLDER.glob("[0-9]*.toml")):
        for name, table in tomllib.loads(source.read_text(encoding="utf-8")).items():
            lists = {
                key: tuple(phrase(text) for text in value.split("; "))
                for key, value in table.items()
                if isinstance(value, str)
            }
            found[name] = Shelf(table.get("plural", False), table.get("brief", False), lists)
    return found


@cache
def _slots(text: str) -> Counter[str]:
    return Counter(found[1].lower() for found in SLOT.finditer(text))


@cache
def part_of(text: str) -> str:
    """Return what a phrase is about."""
    found = PART.search(text)
    return found[1] if found else ""


def capital(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """Return the text with a small first letter."""
    return text[:1].lower() + text[1:]


def age(days: int) -> str:
    """Return a time as people say it: never more than it was."""
    weeks, months = days // 7, int(days / MONTH)
    if days < 7:
        return "a few days"
    if months < 2:
        return "a week" if weeks == 1 else f"{COUNTS[weeks]} weeks"
    if months < 12:
        return "half a year" if months == 6 else f"{COUNTS[min(months, 10)]} months"
    if months % 12 < 6:
        return "a year" if months < 24 else "two years"
    return "a year and a half" if months < 24 else "more than two years"


def _known(case: Case, shelf: Shelf) -> str:
    """Return all that conditions may ask for, in one text."""
    item, model = case.item, case.item.model
    colours = set(frames()["colours"].split())
    is_stuff = not COMPOUND.search(model.material)
    flags = {
        case.part: True,
        "user": case.part != "given",
        "plural" if shelf.is_plural else "single": True,
        "brief": shelf.is_brief,
        "coloured": bool(item.finish)
        and set(item.finish.split()) <= colours | {"Matte", "Brushed"},
        "sized": MEASURE.fullmatch(item.size) is not None,
        "stuff": is_stuff,
        "several": case.quantity == 2,
        "low": case.stars < 3,
        "middling": case.stars == 3,
        "worn": item.words.noun in WORN,
        "dear": item.price is not None and item.price >= DEAR,
    }
    words = (model.kind.name, model.material, item.size, item.finish)
    return " | ".join((*words, *(name for name, is_so in flags.items() if is_so))).lower()


class Voice:
    """One reviewer of one product: what fits, and what has been said already."""

    def __init__(self, rng: Random, case: Case, heard: Counter[str] | None = None) -> None:
        """Choose what the whole text holds to: uses, people, and the points in their order.

        `heard` counts the frames and clauses of those who spoke of the product before.
        """
        self.rng, self.case = rng, case
        self.heard: Counter[str] = Counter() if heard is None else heard
        self.shelf = shelves()[case.item.words.name]
        self.known = _known(case, self.shelf)
        self.parts: dict[str, str] = {}
        self.used: set[Phrase] = set()
        self.named: Counter[str] = Counter()
        self.often = {"use": 2, "kin": 1 if case.part == "own" else 2, **dict.fromkeys(ONCE, 1)}
        self.left = {key: self._unheard(self.shelf.lists[key]) for key in CLAUSES}
        self.uses = [one.text for one in self._fitting(self.shelf.lists["use"])]
        old = rng.choice(self._fitting(self.shelf.lists["old"])).text
        self.given = {**self._wares(), "old": old, **self._circumstances()}

    def _fitting(self, phrases: tuple[Phrase, ...]) -> list[Phrase]:
        fitting = [one for one in phrases if one.holds(self.known, self.case.days)]
        return self.rng.sample(fitting, len(fitting))

    def _unheard(self, phrases: tuple[Phrase, ...]) -> list[Phrase]:
        title = self.case.title

        def rank(one: Phrase) -> tuple[bool, int]:
            return not (title and part_of(one.text) in title), self.heard[one.text]

        return sorted(self._fitting(phrases), key=rank)

    def _wares(self) -> dict[str, str]:
        item = self.case.item
        thing = item.words.noun.lower()
        article = "an" if thing[0] in "aeio" or thing.startswith("um") else "a"  # "a ukulele"
        bare = self.shelf.is_plural or thing == "ink"
        forms = ("it it its is has was s this", "they them their are have were  these")
        grammar = dict(
            zip(forms[0].split(" "), forms[self.shelf.is_plural].split(" "), strict=False)
        )
        return {
            **grammar,
            "it": "they" if self.shelf.is_plural else "it",
            "thing": thing,
            "a_thing": thing if bare else f"{article} {thing}",
            "finish": item.finish.lower(),
            "size": item.size.lower() if item.size.startswith("Set") else item.size,
            "material": item.model.material,
            "brand": item.model.brand,
            "price": f"£{item.price}",
        }

    def _circumstances(self) -> dict[str, str]:
        people = Random(f"people/{self.case.who}")  # the same in all reviews of a person
        spouse = people.choice(frames()["spouse"])
        kin = [*people.sample(frames()["kin"], 5), *([spouse] * 2 if spouse else [])]
        return {
            "kin": self.rng.choice(kin),
            "age": age(self.case.days),
            "month": self.case.month,
        }

    def _slot(self, found: re.Match[str]) -> str:
        name, plural = found[1], found[2]
        key = name.lower()
        if plural:
            return plural if self.shelf.is_plural else key
        if key in CLAUSES:
            text = self._clause(key)
        elif key.endswith("_part"):
            text = self.parts[key.removesuffix("_part")]
        elif key == "use":
            text = self.uses[min(self.named[key], len(self.uses) - 1)]
        else:
            text = self.given[key]
        self.named[key] += 1
        return capital(text) if name[0].isupper() else text

    def _clause(self, key: str) -> str:
        text = self.left[key].pop(0).text
        self.heard[text] += 1
        part = part_of(text)
        self.parts.setdefault(key, part)
        for name, phrases in self.left.items():  # nobody speaks of the lid twice
            self.left[name] = [one for one in phrases if part_of(one.text) != part]
        return PART.sub(r"\1", text)

    def _fits(self, frame: Phrase) -> bool:
        """Tell whether the frame is new, true, and has words left to fill it."""
        if frame in self.used:
            return False
        wanted = _slots(frame.text)
        parts = [self.parts.get(key, "") for key in CLAUSES if wanted[f"{key}_part"]]
        clauses = sum(wanted[key] for key in CLAUSES)
        return (
            all(
                len({part_of(one.text) for one in self.left[key]}) >= clauses
                for key in CLAUSES
                if wanted[key]
            )
            and all(parts)
            and not any(one != other and one in other for one in parts for other in parts)
            and len(parts) == len(set(parts))
            and not any(self.named[key] >= most for key, most in self.often.items() if wanted[key])
            and (not wanted["use"] or self._has_use(frame.text))
            and frame.holds(" | ".join((self.known, *self.parts)), self.case.days)
        )

    def _has_use(self, frame: str) -> bool:
        """Tell whether a use is left; "you" do not sit at "my mother's bedside"."""
        left = self.uses[self.named["use"] :]
        return bool(left) and not (re.search(r"\byou\b", frame) and PERSONAL.search(left[0]))

    def say(self, name: str, key: str) -> str:
        """Return a sentence, or nothing where no frame fits any more."""
        fitting = [one for one in frames()[name][key] if self._fits(one)]
        if not fitting:
            return ""
        if name == "title" and self.rng.random() < TELLING:
            fitting = [one for one in fitting if "{" in one.text] or fitting
        fewest = min(self.heard[one.text] for one in fitting)
        frame = self.rng.choice([one for one in fitting if self.heard[one.text] == fewest])
        self.used.add(frame)
        self.heard[frame.text] += 1
        chosen = CHOICE.sub(lambda found: self.rng.choice(found[1].split("|")), frame.text)
        return SLOT.sub(self._slot, chosen)


Maybe = Callable[[float, str, str], str]


def _happy(voice: Voice, maybe: Maybe) -> list[str]:
    is_best = voice.case.stars == 5
    praise = [voice.say("good", "one"), maybe(0.5 if is_best else 0.3, "good", "one")]
    complaint = "" if is_best else maybe(0.75, "mixed", "small")
    more = maybe(0.5, "good", "more")
    middle = voice.rng.choice(
        ((*praise, more, complaint), (*praise, complaint, more), (more, *praise, complaint))
    )
    return [
        maybe(0.65, "opening", "good"),
        *middle,
        maybe(0.5, "closing", str(voice.case.stars)),
    ]


def _torn(voice: Voice, maybe: Maybe) -> list[str]:
    return [
        maybe(0.6, "opening", "poor"),
        voice.say("mixed", "even"),
        maybe(0.3, "good", "one"),
        maybe(0.5, "bad", "also"),
        maybe(0.55, "closing", "3"),
    ]


def _unhappy(voice: Voice, maybe: Maybe) -> list[str]:
    stars, is_returned = voice.case.stars, voice.case.is_returned
    return [
        maybe(0.65, "opening", "poor"),
        voice.say("bad", "one"),
        maybe(0.5, "bad", "also") if stars == 2 else maybe(0.5, "bad", "one"),
        maybe(0.45, "good", "faint") if stars == 2 else "",
        maybe(1, "closing", "returned") if is_returned else maybe(0.6, "closing", str(stars)),
    ]


def compose(rng: Random, case: Case, heard: Counter[str] | None = None) -> tuple[str, str]:
    """Return a review's title and text: what `heard` counts is said where nothing else fits."""
    voice = Voice(rng, case, heard)

    def maybe(chance: float, name: str, key: str) -> str:
        return voice.say(name, key) if rng.random() < chance else ""

    write = _happy if case.stars > 3 else _torn if case.stars == 3 else _unhappy
    is_short = rng.random() < SHORT and not case.is_returned
    sentences = [voice.say("short", str(case.stars))] if is_short else []
    sentences = sentences if any(sentences) else write(voice, maybe)
    voice.named.clear()
    key = "returned" if case.is_returned else str(case.stars)
    return voice.say("title", key), " ".join(sentence for sentence in sentences if sentence)


def describe(item: Plan) -> str:
    """Return the shop's text of a product: use, measures, a detail, origin; facts as in the plan."""
    rng = Random(f"description/{item.id}")
    shown = item.children[0] if item.children else item
    voice = Voice(rng, Case(item=shown, who=0, stars=5, days=0, month=""))
    model, words = item.model, item.words
    lead = words.lead.format(
        size=shown.size,
        size_l=shown.size.lower() if SIZE_IN_WORDS.search(shown.size) else shown.size,
        finish=shown.finish,
        weight=shown.weight,
        material=model.material,
    ).rstrip(".")
    extra = model.extra.rstrip(".")
    voice.given |= {
        "name": model.name,
        "clause": model.kind.clause,
        "lead": lead,
        "lead_small": small(lead),
        "extra": extra,
        "extra_small": small(extra),
        "made": words.made,
        "made_small": small(words.made),
        "place": model.place,
    }
    voice.left["good"] = [
        one
        for one in voice.left["good"]
        if part_of(one.text) not in f"{extra} {model.kind.clause}" and not PERSONAL.search(one.text)
    ]
    voice.uses = [use for use in voice.uses if not PERSONAL.search(use)]
    voice.known += " | joined" * (";" in lead) + " | advice" * bool(ADVICE.match(extra))
    said = {key: voice.say("description", key) for key in ("first", "measures", "detail", "last")}
    said["detail"] = said["detail"] or f"{extra}."  # no good point may be left
    return " ".join(said.values())
