"""The pages around the articles: main page, topic lists, and what this encyclopedia is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from draft import Draft, DraftBullets, DraftSection
from model import Layout
from table_files import table

ABOUT = "About this encyclopedia"
_TABLES = table("front")
FEATURED: str = _TABLES["featured"]
# A thing's topic (its file's name) -> the title of the list that gathers it, and what it holds.
TOPICS = {name: (one["title"], one["holds"]) for name, one in _TABLES["topics"].items()}
COUNTY: tuple[str, ...] = tuple(_TABLES["county"])
DID_YOU_KNOW: tuple[str, ...] = tuple(_TABLES["did_you_know"])


def topic_lists(drafts: Sequence[Draft]) -> Iterator[Draft]:
    """Yield one list per topic of things."""
    for topic, (title, holds) in sorted(TOPICS.items()):
        members = sorted((one for one in drafts if one.topic == topic), key=lambda one: one.title)
        items = tuple(f"[[{one.title}]]: {_gist(one)}" for one in members)
        half = (len(items) + 1) // 2
        yield Draft(
            title=title,
            lead=(f"This **list** gathers the articles on {holds}.",),
            facts=(("Entries", str(len(items))),),
            sections=(
                DraftSection(
                    f"{members[0].title} to {members[half - 1].title}",
                    (DraftBullets(items[:half]),),
                ),
                DraftSection(
                    f"{members[half].title} to {members[-1].title}", (DraftBullets(items[half:]),)
                ),
                DraftSection(
                    "Scope", (f"It has {len(items)} entries, each with its own article.",)
                ),
            ),
            see_also=tuple(sorted(other for other, _ in TOPICS.values() if other != title)),
            topic="Lists",
            autolink=False,
            proper=True,
        )


def about(count: int) -> Draft:
    """Return the page that says what this is and where its data come from."""
    return Draft(
        title=ABOUT,
        lead=(
            (
                "This **encyclopedia** is free to read and to use. It is small: its articles are "
                "short, and on the county of [[Merrowshire]] they are at home."
            ),
        ),
        facts=(("Pages", str(count)), ("Language", "English")),
        sections=(
            DraftSection(
                "Content",
                (
                    (
                        f"It holds {count} pages on everyday things, on places, and on "
                        "Merrowshire. They link to each other and to nothing else."
                    ),
                ),
            ),
            DraftSection(
                "Sources",
                (
                    (
                        "Figures on countries and cities come from GeoNames (geonames.org), "
                        "licensed under Creative Commons Attribution 4.0, and names of languages "
                        "and currencies from the Unicode Common Locale Data Repository."
                    ),
                ),
            ),
            DraftSection(
                "Licence",
                ("The text is free to use under the Apache License, version 2.0.",),
            ),
        ),
        see_also=("Main Page",),
        topic="Lists",
        autolink=False,
        proper=True,
    )


def main_page(title: str, drafts: Sequence[Draft]) -> Draft:
    """Return the portal from which every list is two clicks away at most."""
    by_title = {draft.title: draft for draft in drafts}
    featured = by_title[FEATURED]
    opening = (*featured.lead, *featured.sections[0].blocks)
    lists = tuple(f"[[{name}]]: {holds}" for name, holds in sorted(TOPICS.values()))
    places = sorted(
        one.title
        for one in drafts
        if one.topic == "Lists" and one.title not in {ABOUT, *(name for name, _ in TOPICS.values())}
    )
    count = len(drafts) + 1
    return Draft(
        title=title,
        lead=(
            (
                f"Welcome to **Wikipedia**, the free encyclopedia: {count} articles in English on "
                "everyday things, on places and on the county of [[Merrowshire]]."
            ),
        ),
        sections=(
            DraftSection(
                "From today's featured article",
                (
                    *opening,
                    f"Read the full article: [[{FEATURED}]].",
                ),
            ),
            DraftSection("Did you know", (DraftBullets(DID_YOU_KNOW),)),
            DraftSection("Things by topic", (DraftBullets(lists),)),
            DraftSection("Merrowshire", (DraftBullets(COUNTY),)),
            DraftSection("Places", (DraftBullets(tuple(f"[[{name}]]" for name in places)),)),
            DraftSection("About", (f"See [[{ABOUT}]] for sources and licences.",)),
        ),
        topic="front",
        autolink=False,
        layout=Layout.PORTAL,
    )


def _gist(draft: Draft) -> str:
    first = next(block for block in draft.lead if isinstance(block, str))
    sentence = first.split(". ")[0].rstrip(".").replace("**", "")
    return (
        sentence[0].lower() + sentence[1:]
        if sentence.startswith(("A ", "An ", "The "))
        else sentence
    )
