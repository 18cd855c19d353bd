"""The county's articles agree, lead to each other, and are the same at each build."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
from support.sites.encyclopedia import (
    articles,
    doubles,
    drafts,
    facts,
    handwritten_titles,
    links,
    table,
    text,
    words,
    world,
)

pytestmark = pytest.mark.slow(minutes=1)

ROOT = Path(__file__).parents[3]
ARTICLES = ROOT / "docker" / "wiki" / "articles"
DIGEST = """
import hashlib
from region.articles import county
print(hashlib.sha256(repr(county()).encode()).hexdigest())
"""


def number(words_: str) -> int:
    return int(re.sub(r"\D", "", words_))


def test_the_encyclopedia_has_5000_articles_with_those_written_by_hand() -> None:
    # Of countries, continents and lists there are some 210 more; they need the gazetteer.
    assert len(drafts()) + len(handwritten_titles()) >= 4_900
    assert len({draft.topic for draft in drafts()}) >= 30


def test_no_two_articles_have_one_title() -> None:
    assert doubles([*(draft.title for draft in drafts()), *handwritten_titles()]) == []


def test_no_link_leads_nowhere() -> None:
    known = {*articles(), *handwritten_titles()}
    dangling = {
        (title, link)
        for title, one in articles().items()
        for link in links(one)
        if link not in known
    }
    assert dangling == set()


def test_every_article_but_a_list_is_linked_by_another_than_its_index() -> None:
    indexes = {draft.title for draft in drafts() if draft.topic == "Indexes of Merrowshire"}
    indexes -= {"Lists of Merrowshire"}
    linked = {
        link
        for title, one in articles().items()
        if title not in indexes
        for link in links(one)
        if link != title
    }
    assert {draft.title for draft in drafts()} - linked - indexes == set()


def test_the_county_is_the_same_in_another_process_with_another_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-B", "-c", DIGEST],
            env={"PYTHONPATH": str(ARTICLES), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("list_title", "column", "label"),
    [
        ("List of hills of Merrowshire by height", "Height (m)", "Height"),
        ("List of rivers of Merrowshire by length", "Length (km)", "Length"),
        ("List of lakes of Merrowshire by area", "Area (ha)", "Area"),
        ("List of lighthouses of Merrowshire by height", "Height (m)", "Height"),
        ("List of bridges of Merrowshire by length", "Length (m)", "Length"),
        ("List of towns in Merrowshire by population", "Population (2021)", "Population (2021)"),
        ("List of villages in Merrowshire by population", "Population (2021)", "Population (2021)"),
        ("List of walks in Merrowshire", "Length (km)", "Length"),
    ],
)
def test_a_list_says_what_its_entries_say_and_has_one_first(
    list_title: str, column: str, label: str
) -> None:
    rows = table(list_title, "List")
    stated = [number(row[column]) for row in rows]
    own = [number(facts(row["title"])[label].split(" m")[0]) for row in rows]
    assert stated == own
    assert stated == sorted(stated, reverse=True)
    assert stated[0] > stated[1]


def test_a_persons_page_and_the_page_of_the_birthplace_agree() -> None:
    for person in world().society.people:
        box = facts(person.title)
        assert person.title in links(articles()[person.birthplace.title])
        assert box["Birthplace"] == person.birthplace.name
        assert box["Born"].endswith(str(person.born))
        listed = f"{person.name} ({person.life}), {person.trade}"
        assert listed in text(articles()[person.birthplace.title]).splitlines()


def test_nobody_works_before_growing_up_or_after_dying() -> None:
    arts = world().arts
    for work in (*arts.paintings, *arts.pieces, *arts.novels, *arts.films):
        maker = work.maker
        assert maker.born + 18 <= work.year <= (maker.died or 2026), work.title
    for lighthouse in world().buildings.lighthouses:
        if lighthouse.engineer is not None:
            assert lighthouse.engineer.born < lighthouse.opened < (lighthouse.engineer.died or 2026)


def test_what_a_painter_painted_hangs_where_the_museum_says() -> None:
    for painting in world().arts.paintings:
        hung = {row["Number"]: row for row in table(painting.museum.title, "Collection")}
        assert hung[painting.number]["title"] == painting.title
        made = {row["title"]: row["Year"] for row in table(painting.maker.title, "Work")}
        assert made[painting.title] == facts(painting.title)["Year"]


def test_a_seasons_table_adds_up() -> None:
    for season in world().football.seasons:
        assert sum(one.won for one in season.table) == sum(one.lost for one in season.table)
        assert sum(one.scored for one in season.table) == sum(one.conceded for one in season.table)
        assert {one.won + one.drawn + one.lost for one in season.table} == {22}
        assert facts(season.title)["Champion"] == table(season.title, "Final table")[0]["Club"]


def test_no_player_scores_more_in_seasons_than_in_a_career() -> None:
    best: Counter[str] = Counter()
    for season in world().football.seasons:
        if season.top_scorer is not None:
            best[season.top_scorer.title] += season.top_goals
    careers = {one.player.title: one.goals for one in world().football.careers}
    assert {name for name, goals in best.items() if goals > careers[name]} == set()


def test_the_league_counts_the_titles_that_its_clubs_list() -> None:
    for row in table("Merrow League", "Clubs"):
        club = articles()[row["title"]]
        titles = [one for one in club.sections if one.heading == "Titles"]
        listed = len(titles[0].blocks[0].items) if titles else 0
        assert listed == int(row["Titles"])


def test_a_lighthouse_named_after_an_island_stands_on_it_and_its_port_has_the_ferry() -> None:
    islands = {one.name: one for one in world().land.islands}
    for one in world().buildings.lighthouses:
        assert all(one.island is island for name, island in islands.items() if name in one.name)
        assert one.island is None or one.place is one.island.ferry


def test_a_tributary_is_shorter_than_the_river_that_it_joins() -> None:
    for river in world().land.rivers:
        assert river.mouth is None or river.length < river.mouth.length


def test_a_year_page_names_who_was_born_in_it() -> None:
    for person in world().society.people:
        if person.born >= 1800:
            assert person.title in links(articles()[f"{person.born} in Merrowshire"])


def test_the_makers_are_those_of_the_shop() -> None:

    shop = ROOT / "docker" / "shop" / "seed" / "vocabulary"
    sold = {
        (maker, told["department"], city)
        for path in shop.glob("[01]*.toml")
        for told in [tomllib.loads(path.read_text(encoding="utf-8"))]
        for maker, city in told["brands"].items()
    }
    told = {
        (one.name, department, city) for one in world().makers for department, city in one.workshops
    }
    assert told == sold


def test_the_town_is_that_of_the_newspaper() -> None:
    town = ROOT / "docker" / "cms" / "seed" / "vocabulary" / "town.toml"
    told = tomllib.loads(town.read_text(encoding="utf-8"))["slots"]
    kinds = ("venue", "museum", "school", "pub", "cafe", "club")
    names = [name for kind in kinds for name in told[kind]]
    named = {name.removeprefix("the ").removeprefix("The ") for name in names}
    known = {one.name.removeprefix("The ") for one in world().subjects}
    assert named - known == set()


def test_articles_of_one_kind_are_written_in_several_ways() -> None:
    for kind in ("Village", "Person", "Bridge", "Painting", "Species", "Ship"):
        titles = [one.title for one in world().subjects if type(one).__name__ == kind]
        named = {one.title: one.name for one in world().subjects}
        shapes = Counter(
            re.sub(r"\d[\d,]*", "0", words(articles()[title].lead[0].line)).replace(
                named[title], "NAME"
            )[:24]
            for title in titles
        )
        assert len(shapes) >= 3, kind


def test_a_sentence_without_its_value_is_not_said() -> None:
    prose = import_module("region.prose")
    river = next(one for one in world().land.rivers if one.mouth is None)
    sentences = prose.Sentences(river)
    assert sentences.say("It joins the {it.mouth.link}.") is None
    assert sentences.say("It ends in {it.sea}.") == "It ends in the sea."


def test_a_pattern_with_a_misspelt_value_stops_the_build() -> None:
    prose = import_module("region.prose")
    with pytest.raises(AttributeError, match="lenght"):
        prose.Sentences(world().land.rivers[0]).say("{it.lenght} km")


def test_values_are_capitalised_counted_and_given_an_article() -> None:
    prose = import_module("region.prose")
    bridge = world().buildings.bridges[0]
    said = prose.Sentences(bridge).say("{it.form!n} with {it.spans:span}; {it.form!c}")
    one = "" if bridge.spans == 1 else "s"
    assert said == f"a {bridge.form} with {bridge.spans} span{one}; {bridge.form.capitalize()}"


def test_a_mark_that_leads_to_no_article_stops_the_build() -> None:
    draft, linking = import_module("draft"), import_module("linking")
    lost = draft.Draft(
        title="Lost", lead=("See [[Nowhere]].",), sections=(), topic="x", marked=True
    )
    with pytest.raises(linking.UnknownTitleError, match="Nowhere"):
        linking.Linker([lost]).article(lost)


def test_a_marked_draft_gets_no_links_but_its_own() -> None:
    draft, linking = import_module("draft"), import_module("linking")
    kettle = draft.Draft(title="Kettle", lead=("A **kettle**.",), sections=(), topic="x")
    plain = draft.Draft(title="Plain", lead=("A kettle.",), sections=(), topic="x")
    marked = draft.Draft(title="Marked", lead=("A kettle.",), sections=(), topic="x", marked=True)
    linker = linking.Linker([kettle, plain, marked])
    assert links(linker.article(plain)) == {"Kettle"}
    assert links(linker.article(marked)) == set()
