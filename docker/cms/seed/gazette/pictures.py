"""Pictures: 300 drawn ones, a card for each of the shop's categories and scenes of the town."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gazette.sources import World, slug, vocabulary

TOTAL = 300
CITIES = 80
_PICTURES = vocabulary("pictures")
# What a scene shows.
WORDS: Mapping[str, str] = _PICTURES["scenes"]
# subject, scene, emojis, and words for "title: alt text"; a subject is a category of the newspaper.
SCENES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = tuple(
    (one["name"], one["scene"], one["emojis"], tuple(one["titles"])) for one in _PICTURES["subject"]
)


@dataclass(frozen=True, slots=True)
class Picture:
    """One item of the media library; `subject` is what stories look pictures up by."""

    slug: str
    title: str
    alt: str
    caption: str
    subject: str
    scene: str
    emoji: str


def gallery(world: World) -> list[Picture]:
    """Return what is drawn, in order: cards of the shop's categories, cities, then scenes."""
    made = [
        Picture(
            slug=f"tested-{slug(words.name)}",
            title=f"{words.name} on the test bench",
            alt=f"A drawn {words.noun.lower()} on a table in front of a coloured wall",
            caption=f"From our test of {words.name.lower()}.",
            subject=f"shop/{words.name}",
            scene="table",
            emoji=words.emoji,
        )
        for department in world.departments
        for words in department.categories
    ]
    made += [
        Picture(
            slug=f"city-{slug(city.name)}",
            title=f"{city.name}, a view",
            alt=f"Roofs and towers of {city.name} under a wide sky",
            caption=f"{city.name}, drawn by a reader.",
            subject=f"city/{city.name}",
            scene="skyline",
            emoji="",
        )
        for city in world.cities[:CITIES]
    ]
    rounds = 0
    while len(made) < TOTAL:
        for subject, scene, emojis, titles in SCENES:
            signs = pictograms(emojis)
            title = titles[rounds % len(titles)]
            number = rounds // len(titles)
            name = title if not number else f"{title} ({number + 1})"
            if len(made) < TOTAL and number < 2:
                made.append(
                    Picture(
                        slug=slug(f"{subject} {name}"),
                        title=name,
                        alt=f"{title}: drawing of {WORDS[scene]}",
                        caption=f"{title}. Drawing: Gazette",
                        subject=subject,
                        scene=scene,
                        emoji=signs[rounds % len(signs)],
                    )
                )
        rounds += 1
    return made


def pictograms(emojis: str) -> list[str]:
    """Split a string into pictograms (a variation selector belongs to the one before)."""
    signs: list[str] = []
    for character in emojis:
        if character == "\ufe0f":
            signs[-1] += character
        else:
            signs.append(character)
    return signs
