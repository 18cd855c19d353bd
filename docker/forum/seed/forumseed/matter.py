"""What a thread is about: the words its title gives, and those that fit them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

from shopseed import opinions

from forumseed import subjects
from forumseed.phrases import articles_agree, small
from forumseed.vocabulary import load

if TYPE_CHECKING:
    from forumseed.sources import Article, Product
    from forumseed.threads import Draft

CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
SLOT = re.compile(r"\{(\w+)\}")
YOU = re.compile(r"\b([Aa])n (us|uku|uni)")  # spoken as "you": a used ukulele
SEASONS = ("winter", "spring", "summer", "autumn")
NAMED = frozenset({"product", "model", "brand"})
DAYS = 100  # nobody speaks of what shows only after years
INITIAL = re.compile(r"\b(?:[A-Z]|St|Mr|Mrs|Dr|c|No)\.$")
# A sentence that begins so can stand by itself, and after "that".
PLAIN = re.compile(
    r"(The|A|An|In|Most|Some|Many|Until|After|At|By|On|Both|Two|Three|About|Nearly|Since) "
)


@cache
def people() -> dict[str, Any]:
    """Return who, where and when: what anybody may bring into a text."""
    return load("people_and_times")


class Matter:
    """One thread's words; what was drawn for it once, it keeps."""

    def __init__(self, draft: Draft, name: str, refer: Callable[[], str] | None = None) -> None:
        """Take over what the title says; `name` is the stream that the rest is drawn from."""
        if draft.context is None:
            message = f"thread {draft.id} has no title yet"
            raise ValueError(message)
        self.draft, self.context = draft, draft.context
        self.rng = Random(f"forum/{name}/{draft.id}")
        self.refer = refer
        self._held = dict(self.context.said)
        if issue := self._held.get("issue") or self._held.get("issue_s"):
            self._held["issue"] = small(issue).rstrip(".")
        self._form = draft.form.lower()
        self._title = draft.title.lower()

    @property
    def said(self) -> dict[str, str]:
        """What the title gives, by slot."""
        return self.context.said

    @property
    def product(self) -> Product | None:
        """The product that the title names."""
        return None if NAMED.isdisjoint(self.said) else self.context.product

    def holds(self, needs: str) -> bool:
        """Tell whether all of the conditions hold.

        A word is the thread's intent or a slot of its title; `=word` stands in the template of the
        title, `~word` in the title, and `!` turns a condition round.
        """
        return all(self._holds(one) for one in needs.split())

    def _holds(self, need: str) -> bool:
        if need.startswith("!"):
            return not self._holds(need[1:])
        if need.startswith("="):
            return need[1:].replace("_", " ") in self._form
        if need.startswith("~"):
            return need[1:].replace("_", " ") in self._title
        return need == self.draft.intent or need in self.said

    def fill(self, template: str) -> str | None:
        """Return the text, or nothing if a slot has no value here."""
        text = CHOICE.sub(lambda found: self.rng.choice(found[1].split("|")), template)
        for _ in range(3):  # a slot's value may have slots
            found = SLOT.findall(text)
            if not found:
                break
            for name in found:
                value = self._value(name[0].lower() + name[1:])
                if not value:
                    return None
                told = value[:1].upper() + value[1:] if name[0].isupper() else value
                text = text.replace(f"{{{name}}}", told, 1)
        text = articles_agree(re.sub(r"([.!?])\.(?=\s|$)", r"\1", text))
        return YOU.sub(r"\1 \2", text)

    def choose(self, templates: Sequence[str], used: set[str]) -> str | None:
        """Return one of the texts that can be filled, of a template that was not used if any is."""
        fresh = [one for one in templates if one not in used]
        for one in self.rng.sample(fresh, len(fresh)):
            if text := self.fill(one):
                used.add(one)
                return text
        return None

    def _value(self, name: str) -> str | None:
        if name in self._held:
            return self._held[name]
        if name in FREE:
            return FREE[name](self)
        if name in KEPT:
            value = self._held[name] = KEPT[name](self) or ""
            return value
        pool = people().get(name)
        return self.rng.choice(pool) if pool else None

    def phrases(self, *names: str) -> list[str]:
        """Return what customers say of the category, where it holds for the product named."""
        product = self.product
        known = known_of(product) if product else ""
        shelf = opinions.shelves()[self.context.category.name]
        return [
            opinions.PART.sub(r"\1", one.text)
            for name in names
            for one in shelf.lists[name]
            if one.holds(known, DAYS) or (not product and not one.conditions)
        ]

    def pick(self, pool: Sequence[str]) -> str | None:
        """Return one of them, if there is any."""
        return self.rng.choice(pool) if pool else None


def known_of(product: Product) -> str:
    """Return what conditions may ask of a product."""
    return f"{product.kind} | {product.material} | {product.finish}".lower()


def prose(article: Article | None) -> list[tuple[str, str]]:
    """Return an article's whole sentences, each with its heading: "J. S. Bach" is no end of one."""
    whole: list[tuple[str, str]] = []
    for heading, sentence in article.sentences if article else ():
        if whole and whole[-1][0] == heading and INITIAL.search(whole[-1][1]):
            whole[-1] = (heading, f"{whole[-1][1]} {sentence}")
        else:
            whole.append((heading, sentence))
    return [
        (heading, one)
        for heading, one in whole
        if PLAIN.match(one) and one.endswith(".") and "; " not in one and not INITIAL.search(one)
    ]


def _fact(matter: Matter) -> str | None:
    told = matter.said.get("fact_short", "")
    found = [one for _, one in prose(matter.context.article) if one.rstrip(".") not in told]
    return matter.pick(found)


def _city(matter: Matter) -> str:
    cities = [
        one
        for one in matter.context.setting.cities
        if one not in {matter.context.setting.here, *matter.said.values()}
    ]
    return matter.rng.choice(cities)


def _old(matter: Matter) -> str | None:
    return matter.pick(matter.phrases("old"))


def _books(matter: Matter) -> list[str]:
    return matter.context.setting.pack.get("subject", [])


def _season(matter: Matter) -> str | None:
    """Return a saying that suits the month of which the title speaks."""
    month = matter.said.get("month")
    if month is None:
        return None
    number = matter.context.setting.slots["month"].index(month) + 1
    turned = 2 if matter.context.setting.here == "Melbourne" else 0
    season = SEASONS[(number % 12 // 3 + turned) % 4]
    return matter.pick(people()[f"in_{season}"])


def _somewhere(matter: Matter) -> str | None:
    told = matter.said.get("place")
    return matter.pick([one for one in matter.context.setting.places if one != told])


def _look(matter: Matter) -> str | None:
    place = matter.said.get("place")
    return matter.pick(subjects.spot(place).me) if place else None


FREE: dict[str, Callable[[Matter], str | None]] = {
    "n": lambda matter: matter.rng.choice(("two", "three", "four", "five", "six")),
    "n2": lambda matter: str(matter.rng.randint(10, 40)),
    "otherCity": _city,
    "inMonth": _season,
    "somewhere": _somewhere,
    "look": _look,
    "yr": lambda matter: str(matter.rng.randint(2011, matter.draft.created.year - 2)),
    "otherBook": lambda matter: matter.pick(
        [one for one in _books(matter) if one not in matter.said.values()]
    ),
    "purpose": lambda matter: matter.pick(matter.phrases("use")),
}
KEPT: dict[str, Callable[[Matter], str | None]] = {
    "noun": lambda matter: matter.context("noun"),
    "nouns": lambda matter: matter.context("nouns"),
    "here": lambda matter: matter.context.setting.here or None,
    "season": lambda matter: SEASONS[matter.draft.created.month % 12 // 3],
    "wd": lambda matter: f"{matter.draft.created:%A}",
    "home": _city,
    "my": lambda matter: matter.rng.choice(people()["kin"]),
    "old": _old,
    "use_c": lambda matter: matter.pick(matter.phrases("use")),
    "good": lambda matter: matter.pick(matter.phrases("good")) if matter.product else None,
    "minor": lambda matter: matter.pick(matter.phrases("minor")) if matter.product else None,
    "extra": lambda matter: matter.product.extra if matter.product else None,
    "clause": lambda matter: matter.product.clause if matter.product else None,
    "cost": lambda matter: matter.product.price if matter.product else None,
    "made": lambda matter: matter.product.material.lower() if matter.product else None,
    "maker": lambda matter: matter.product.brand if matter.product else None,
    "it": lambda matter: f"the {matter.product.model}" if matter.product else None,
    "fact": _fact,
    "topic": lambda matter: small(matter.context.article.title) if matter.context.article else None,
    "entry": lambda matter: matter.context.article.title if matter.context.article else None,
    "thread_ref": lambda matter: matter.refer() if matter.refer else None,
}
