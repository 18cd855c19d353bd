"""Pictures: 300 drawn ones, a card for each of the shop's categories and scenes of the town."""

from __future__ import annotations

from dataclasses import dataclass

from gazette.sources import World, slug

TOTAL = 300
CITIES = 80
WORDS = {
    "town": "a row of painted houses",
    "harbour": "boats on calm water below a row of houses",
    "road": "a road between houses",
    "table": "a table by a window",
    "garden": "a garden with beds and a fence",
    "hills": "hills above the sea",
    "beach": "a beach with low waves",
    "museum": "a building with columns",
    "stage": "a stage with curtains and lamps",
    "pitch": "a playing field with a stand",
}


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


# subject, scene, emojis, and words for "title: alt text"; a subject is a category of the newspaper.
SCENES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "Council",
        "town",
        "🏛️🗳️📜",
        (
            "The Guildhall",
            "Market Square",
            "Council chamber",
            "The notice board",
            "The town clock",
            "A vote",
        ),
    ),
    (
        "Harbour",
        "harbour",
        "⛵🚤🐟🦀⚓🛟🦞🚢",
        (
            "The quay",
            "Boats at their moorings",
            "The pier head",
            "Nets drying",
            "The slip",
            "Early catch",
            "The harbour mouth",
            "Winter berths",
            "The lifeboat",
            "Two masts",
        ),
    ),
    (
        "Schools",
        "town",
        "🎒✏️🏫📐🔬",
        ("The school gate", "A class outdoors", "Science week", "The playground", "Drawing lesson"),
    ),
    (
        "Transport",
        "road",
        "🚌🚲🚂⛴️🚦",
        (
            "The number 7 bus",
            "Roadworks",
            "The branch line",
            "The ferry",
            "Bicycles at the station",
            "The crossing",
        ),
    ),
    (
        "Business",
        "town",
        "🏪🧵🥖🛠️🪑",
        (
            "A shop window",
            "The high street",
            "Behind the counter",
            "Opening day",
            "The workshop",
            "A new sign",
        ),
    ),
    (
        "Food & Drink",
        "table",
        "🍲🥧🦀🍞🍎🧀🥣🐟🍰🍅🥐☕",
        (
            "Chowder",
            "Pie from the oven",
            "Dressed crab",
            "Bread and butter",
            "Apples",
            "Cheese board",
            "Soup of the day",
            "The catch on a plate",
            "Cake on Sunday",
            "Tomatoes",
            "Breakfast",
            "Coffee",
        ),
    ),
    (
        "Home & Garden",
        "garden",
        "🌷🥕🍅🌹🌻🥬🪴🧤🔧🪚",
        (
            "The allotments",
            "Carrots, washed",
            "Under glass",
            "Roses by the wall",
            "Sunflowers",
            "Spring cabbage",
            "Pots on a step",
            "Gloves and string",
            "The repair table",
            "An old saw",
        ),
    ),
    (
        "Outdoors",
        "hills",
        "🥾🐦🦅🌲🧭🦉🐑🏕️",
        (
            "The Cliff Path",
            "Above Seal Cove",
            "The stile",
            "Pinewood",
            "The valley in the morning",
            "A bird on a post",
            "Sheep at the gate",
            "A tent on the ridge",
        ),
    ),
    (
        "Health",
        "beach",
        "🏊🫖🧘🩺",
        ("Morning swimmers", "After the swim", "On the sand", "The surgery's sign"),
    ),
    (
        "Museums",
        "museum",
        "🏺🖼️🗿⌚♟️🫖🔭🎲",
        (
            "The first room",
            "Paintings of the harbour",
            "The stone head",
            "Clocks",
            "The sailors' chess set",
            "Kettles in a row",
            "The lens",
            "Games under glass",
        ),
    ),
    (
        "Music",
        "stage",
        "🎻🥁🎺🎸🎷🪗",
        (
            "Strings",
            "The drum",
            "Brass in the bandstand",
            "Two guitars",
            "Swing night",
            "The accordion",
        ),
    ),
    (
        "Books",
        "table",
        "📚📖🖋️📔",
        ("New books", "The reading group's copy", "A pen and a page", "Notebooks"),
    ),
    ("Stage", "stage", "🎭🎪🎬🕯️", ("The Players", "Under canvas", "Rehearsal", "Lights down")),
    (
        "Football",
        "pitch",
        "⚽🥅🏆👟",
        ("Kick-off", "The goal", "The cup", "Muddy boots", "The stand"),
    ),
    ("Sailing", "harbour", "⛵🏁🧭", ("Round the buoy", "The start", "Light airs")),
    ("Running", "hills", "🏃👟🏅", ("The Lighthouse Ten", "At the start", "A medal")),
    (
        "Chess & Games",
        "table",
        "♟️🎲🃏🧩",
        ("The last board", "Backgammon upstairs", "A hand of cards", "Two thousand pieces"),
    ),
    ("Editorial", "harbour", "📰🔔", ("The Gazette's window", "The bell")),
    ("Columns", "town", "☂️🧦🪟", ("Rain on Market Square", "A lost sock", "The kitchen window")),
    ("Letters", "table", "✉️📬", ("The post", "Letters to the editor")),
    (
        "Events",
        "town",
        "🎪🎉🏮🧁🎈",
        ("Lantern walk", "The fête", "Stalls in the square", "Cakes", "Balloons"),
    ),
    ("Lost and found", "beach", "🧤🔑🪁", ("One glove", "Keys", "A kite")),
)


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
