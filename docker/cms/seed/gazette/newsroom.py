"""The whole newspaper: who writes what and when, with which picture, and what it links to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from gazette import features, kitchen, stories, telling
from gazette.accounts import Account
from gazette.clock import NOW, moments
from gazette.pictures import Picture
from gazette.sources import World, slug, vocabulary
from gazette.story import Story
from gazette.writing import link, paragraph, picture

PUBLISHED = 1500
KEPT_BACK = {"draft": 12, "pending": 9, "private": 3}
LEAD = "Harbour"  # the front page begins with its latest article
FIRST_POST, FIRST_PICTURE = 1001, 101
# A topic of the encyclopedia's things -> the category whose pictures it takes.
THING_PICTURES: Mapping[str, str] = {
    name: one["pictures"] for name, one in vocabulary("features")["topics"].items()
}


@dataclass(frozen=True, slots=True)
class Issue:
    """A picture of the library as stories use it."""

    id: int
    picture: Picture
    url: str


def edition(
    world: World,
    town: Mapping[str, Sequence[str]],
    accounts: Sequence[Account],
    library: Sequence[Issue],
) -> list[Story]:
    """Return every article, published ones first and oldest first, ids and addresses given.

    All that lists and counts show is drawn with a first draft; the words are written after that.
    """
    rng = Random("edition")
    drafts: list[tuple[str, object]] = [("story", kind) for kind in stories.kinds()]
    drafts += features.assignments(world)
    rng.shuffle(drafts)
    drafts = drafts[:PUBLISHED] + [
        ("story", kind) for kind in rng.sample(list(stories.kinds()), sum(KEPT_BACK.values()))
    ]
    dates = moments(rng, PUBLISHED, last=NOW - timedelta(hours=1))
    dates += moments(rng, len(drafts) - PUBLISHED, first=NOW - timedelta(days=60))
    made: list[Story] = []
    titles: set[str] = set()
    for number, (draft, date) in enumerate(zip(drafts, dates, strict=True)):
        made.append(_fresh(draft, number, world, town, date, titles))
    for status, count in KEPT_BACK.items():
        for story in [one for one in made[PUBLISHED:] if one.status == "publish"][:count]:
            story.status = status
    _sign(rng, made, accounts)
    _address(made)
    _illustrate(rng, made, library, world)
    _refer(rng, made)
    telling.tell(made)
    next(
        one for one in reversed(made) if one.category == LEAD and one.status == "publish"
    ).sticky = True
    return made


def _fresh(
    draft: tuple[str, Any],
    number: int,
    world: World,
    town: Mapping[str, Sequence[str]],
    date: datetime,
    titles: set[str],
) -> Story:
    """Write a story whose title nobody has used."""
    for again in range(40):
        seed = number + again * 10_000
        if draft[0] == "story":
            story = stories.write(draft[1], seed, world, town, date)
        else:
            story = features.write(draft, seed, world, town, date)
        if story.title not in titles:
            break
    else:
        story.title = f"{story.title} ({date:%B %Y})"
    titles.add(story.title)
    return story


def _sign(rng: Random, made: Sequence[Story], accounts: Sequence[Account]) -> None:
    """Give each story an author: Nora Lindqvist the things, the rest of the staff a few beats each."""
    by_role: dict[str, list[Account]] = defaultdict(list)
    for account in accounts:
        by_role[account.role].append(account)
    nora = by_role["author"][0]
    reporters = by_role["author"][1:] + by_role["editor"]
    categories = sorted({story.category for story in made})
    beats = {category: rng.sample(reporters, 4) for category in categories}
    for story in made:
        thing = story.category.partition("/")[0] in {"Tested", "Explained"}
        if story.status == "pending":
            story.author = rng.choice(by_role["contributor"]).id
        elif rng.random() < (0.35 if thing else 0.02):
            story.author = nora.id
        elif story.category == "Editorial":
            story.author = by_role["editor"][0].id
        else:
            story.author = rng.choice(beats[story.category]).id


def _address(made: Sequence[Story]) -> None:
    taken: set[str] = set()
    for number, story in enumerate(made):
        story.id = FIRST_POST + number
        base = slug(story.title)[:110].strip("-")
        name, again = base, 2
        while name in taken:
            name, again = f"{base}-{again}", again + 1
        taken.add(name)
        story.slug = name


def _illustrate(rng: Random, made: Sequence[Story], library: Sequence[Issue], world: World) -> None:
    by_subject: dict[str, list[Issue]] = defaultdict(list)
    for issue in library:
        by_subject[issue.picture.subject].append(issue)
    nouns = {
        words.noun.lower(): f"shop/{words.name}"
        for department in world.departments
        for words in department.categories
    }
    for story in made:
        subject = story.subject
        if subject.startswith("thing/"):
            _, topic, name = subject.split("/", 2)
            subject = nouns.get(name.lower(), THING_PICTURES[topic])
        choice = by_subject.get(subject) or by_subject["Transport"]
        first, second = rng.sample(choice, 2) if len(choice) > 1 else (choice[0], choice[0])
        dish = story.filler.peek("dish") if story.category == "Food & Drink" else ""
        shown = _of_dish(dish, library) if dish else (first, second)
        if rng.random() < 0.93:
            story.picture = shown[0].id
        if first is not second and rng.random() < 0.3:
            story.inset = (
                rng.randrange(1, max(2, len(story.blocks) - 1)),
                _drawing(shown[1], kitchen.picture_of(dish)[1] if dish else ""),
            )


def _of_dish(dish: str, library: Sequence[Issue]) -> tuple[Issue, Issue]:
    """Return two drawings, or one twice, that may stand beside the dish."""
    titles = kitchen.picture_of(dish)[0]
    fitting = [one for one in library if one.picture.title.partition(" (")[0] in titles]
    return fitting[0], fitting[-1]


def _drawing(issue: Issue, caption: str) -> str:
    shown = issue.picture
    title = shown.title.partition(" (")[0]
    return picture(
        issue.id,
        issue.url,
        shown.alt.replace(title, caption or title, 1),
        shown.caption.replace(title, caption or title, 1),
    )


def _refer(rng: Random, made: Sequence[Story]) -> None:
    """Let some stories name an earlier one of the same category."""
    earlier: dict[str, list[Story]] = defaultdict(list)
    for story in made:
        before = earlier[story.category]
        if before and rng.random() < 0.4:
            other = rng.choice(before[-12:])
            story.refers = paragraph(f"Earlier: {link(other.path, other.title)}.")
        if story.status == "publish":
            before.append(story)
