"""The submissions: where, when and by whom, then what they say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from random import Random
from typing import Any

from waypost import paths

from forumseed import timing
from forumseed.context import Context
from forumseed.people import MEMBER, MODERATOR
from forumseed.phrases import capital, fill, some
from forumseed.places import Place

SUBMISSIONS = 20_000
TRIES = 60
INTENTS = {
    "gear": {"advice": 26, "problem": 18, "review": 15, "show": 12, "howto": 9, "opinion": 10,
             "deal": 5, "fact": 4, "weekly": 1},
    "city": {"visit": 32, "live": 38, "fact": 8, "photo": 12, "news": 10},
    "talk": {"ask": 60, "tell": 40},
    "learned": {"title": 1},
    "made": {"title": 1},
}  # fmt: skip
BODIES = {"advice": "advice", "problem": "problem", "review": "review", "show": "show",
          "howto": "howto", "opinion": "opinion", "deal": "review", "weekly": "howto",
          "visit": "visit", "live": "live", "photo": "photo", "news": "photo"}  # fmt: skip
DATED = frozenset({"photo", "weekly", "news"})
LINKS_PRODUCT = {"review": 0.45, "deal": 1.0, "show": 0.1}


@dataclass(slots=True)
class Draft:
    """A submission to be; its id is its place in time."""

    id: int
    place: Place
    author: int
    created: datetime
    intent: str
    liking: float
    ups: int = 1
    downs: int = 0
    title: str = ""
    url: str = ""
    body: str = ""
    image: str = ""
    image_alt: str = ""
    is_pinned: bool = False
    is_locked: bool = False
    visibility: str = "visible"
    context: Context | None = None
    form: str = ""  # the template of its title
    has_body: bool = False

    @property
    def link(self) -> str:
        """The thread as a link in Markdown."""
        return f"[{self.title}]({paths.submission(self.place.name, self.id, self.title)})"


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who writes in a forum, the eager ones more often."""

    members: list[int]
    weights: list[float]

    def pick(self, rng: Random) -> int:
        """Return one of them."""
        return rng.choices(self.members, cum_weights=self.weights)[0]


def crowds(subscribers: dict[int, list[int]]) -> dict[int, Crowd]:
    """Return each forum's writers, from its subscribers' ids in order."""
    made = {}
    for forum, members in subscribers.items():
        rng = Random(f"forum/crowd/{forum}")
        eager = [min(rng.paretovariate(1.1), 40) for _ in members]
        for number, member in enumerate(members):
            if member in {MEMBER, MODERATOR}:
                eager[number] = 26.0
        made[forum] = Crowd(members, list(accumulate(eager)))
    return made


def plan(places: list[Place], writers: dict[int, Crowd]) -> list[Draft]:
    """Return all submissions in order of time, without their texts."""
    rng = Random("forum/threads")
    shares = [place.share for place in places]
    chosen = [place for place in places for _ in range(20)]
    chosen += rng.choices(places, weights=shares, k=SUBMISSIONS - len(chosen))
    drafts = []
    for place in chosen:
        intents = INTENTS[place.kind]
        intent = rng.choices(list(intents), weights=list(intents.values()))[0]
        created = timing.submitted(rng)
        liking = rng.lognormvariate(0.4, 1.35)
        draft = Draft(0, place, writers[place.id].pick(rng), created, intent, liking)
        disputed = intent == "opinion" or rng.random() < 0.05
        draft.ups, draft.downs = timing.votes(rng, liking, created, disputed=disputed)
        fate = rng.random()
        draft.visibility = "removed" if fate < 0.009 else "deleted" if fate < 0.014 else "visible"
        draft.is_locked = rng.random() < 0.008
        drafts.append(draft)
    drafts.sort(key=lambda draft: draft.created)
    for number, draft in enumerate(drafts, start=1):
        draft.id = number
    return drafts


def pin(drafts: list[Draft], kept: dict[int, list[int]]) -> None:
    """Make the first thread of every forum its founder's welcome, pinned."""
    seen: set[int] = set()
    for draft in drafts:
        if draft.place.id not in seen:
            seen.add(draft.place.id)
            draft.author = kept[draft.place.id][0]
            draft.is_pinned, draft.is_locked, draft.visibility = True, False, "visible"


def write(drafts: list[Draft], words: dict[str, Any]) -> None:
    """Give every draft its title and link; no two titles are alike."""
    rng = Random("forum/titles")
    seen: set[str] = set()
    for draft in drafts:
        for attempt in range(TRIES):
            context = Context.of(draft.place.setting, rng, str)
            title = _title(draft, context, rng, words)
            if attempt > TRIES // 2:
                title += f" ({draft.created:%B %Y})"
            if title.lower() not in seen and len(title) <= 300:
                break
        else:
            message = f"no new title for {draft.place.name}/{draft.intent}"
            raise ValueError(message)
        seen.add(title.lower())
        draft.title, draft.context = title, context
        draft.url = _url(draft, context, rng)
        told = dict(context.said)
        draft.has_body = _draws(draft, context, rng, words)
        context.said = told


def _title(draft: Draft, context: Context, rng: Random, words: dict[str, Any]) -> str:
    if draft.is_pinned:
        return f"Welcome to /f/{draft.place.name}: read this first"
    if draft.intent in DATED:
        day = draft.created
        date = f"{day.day} {day:%B}"
        context.fixed |= {"month": f"{day:%B}", "year": str(day.year), "date": date}
    draft.form = rng.choice(_titles(draft, words))
    return capital(fill(draft.form, rng, context))


def _titles(draft: Draft, words: dict[str, Any]) -> list[str]:
    kind = draft.place.kind
    if kind == "talk":
        return draft.place.setting.pack[draft.intent]
    if draft.intent == "fact" and kind == "gear":
        return words["learned"]["title"]
    return words[kind][draft.intent]


def _url(draft: Draft, context: Context, rng: Random) -> str:
    article = context.article
    if draft.is_pinned:
        return ""
    if article and "fact_short" in context.fixed and rng.random() < 0.7:
        return article.url
    if draft.place.kind == "gear" and rng.random() < LINKS_PRODUCT.get(draft.intent, 0.0):
        return context.product.url
    return ""


def _draws(draft: Draft, context: Context, rng: Random, words: dict[str, Any]) -> bool:
    """Draw what bodies were once made of, and return whether this thread has one.

    Tasks name threads by their titles, and the stream that titles come from runs through here.
    """
    place, kind, intent = draft.place, draft.place.kind, draft.intent
    if draft.is_pinned:
        return True
    if draft.url and rng.random() < 0.45:
        return False
    if kind in {"gear", "city"} and intent in BODIES:
        pool = words[kind][f"body_{BODIES[intent]}"]
    elif kind in {"gear", "city", "learned"}:
        pool = words["learned"]["body"]
    elif kind == "talk":
        pack = place.setting.pack
        told = [rng.choice(pack["pro"]), rng.choice(pack["con"])] if intent == "tell" else []
        pool = [*rng.sample(words["common"]["story"], 4), *told, "Related: {thread_ref}.",
                *rng.sample(words["common"]["close"], 1)]  # fmt: skip
        if rng.random() < 0.25:
            return False
    else:
        pool = words[kind]["body"]
    sentences = {capital(fill(one, rng, context)) for one in some(rng, pool, 2, 6)}
    if len(sentences) > 3:
        rng.random()
    return True
