"""The region holds what it promises, holds together, and is the same at each build."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support.sites.cartography import CITIES, Mapped, generate, region, world

pytestmark = pytest.mark.slow(minutes=1)

HOUSES, PLACES = 100_000, 10_000
_PLACES = ("amenity", "shop", "tourism", "office", "craft", "leisure")


def _tagged(kind: str) -> list[Mapped]:
    return [one for one in region() if one.kind == kind and one.tags]


def test_there_are_as_many_houses_and_places_as_promised() -> None:
    nodes = _tagged("node")
    houses = [
        node
        for node in nodes
        if node.tags.get("addr:city") in CITIES
        and all(key.startswith("addr:") for key in node.tags)
    ]
    places = [
        node
        for node in nodes
        if any(key in node.tags for key in _PLACES) or node.tags.get("highway") == "bus_stop"
    ]
    assert len(houses) == HOUSES
    assert len(places) >= PLACES


def test_no_two_houses_of_a_street_have_the_same_number() -> None:
    found = Counter(
        (node.tags["addr:city"], node.tags["addr:street"], node.tags["addr:housenumber"])
        for node in _tagged("node")
        if node.tags.get("addr:city") in CITIES
    )
    assert [address for address, times in found.items() if times > 1] == []


def test_every_city_has_the_streets_that_the_shared_world_knows() -> None:
    streets = defaultdict(set)
    for node in _tagged("node"):
        if "addr:street" in node.tags:
            streets[node.tags["addr:city"]].add(node.tags["addr:street"])
    wanted = set(world()["streets"]) - {"Harbour Street"}
    assert {city: wanted - streets[city] for city in CITIES} == {city: set() for city in CITIES}
    assert "Harbour Street" in streets["Port Merrow"]


def test_what_the_shared_world_tells_of_stands_in_its_street() -> None:
    found = {
        (node.tags["name"], node.tags["addr:city"]): node.tags["addr:street"]
        for node in _tagged("node")
        if "name" in node.tags and "addr:street" in node.tags
    }
    told = {
        (place["tags"]["name"], place.get("town", "Port Merrow")): place["street"]
        for place in world()["place"]
        if "street" in place
    }
    assert {key: found.get(key) for key in told} == told


def test_every_road_can_be_reached_from_every_other() -> None:
    beside: dict[int, set[int]] = defaultdict(set)
    for way in _tagged("way"):
        if "highway" in way.tags and way.tags.get("area") != "yes":
            for before, after in zip(way.members, way.members[1:], strict=False):
                beside[before].add(after)
                beside[after].add(before)
    reached: set[int] = set()
    waiting = [next(iter(beside))]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += beside[node]
    assert len(reached) == len(beside)


def test_ways_and_relations_name_only_what_is_there() -> None:
    there = {(one.kind, one.number) for one in region()}
    assert all(
        ("node", ref) in there for one in region() if one.kind == "way" for ref in one.members
    )
    members = [member for one in region() if one.kind == "relation" for member in one.members]
    assert all((kind, ref) in there for kind, ref, _ in members)


def test_two_builds_give_the_same_files(tmp_path: Path) -> None:
    digests = []
    for hash_seed in ("1", "2"):
        generate(tmp_path / hash_seed, hash_seed)
        files = sorted((tmp_path / hash_seed).iterdir())
        digests.append([(one.name, hashlib.sha256(one.read_bytes()).digest()) for one in files])
    assert digests[0] == digests[1]
    assert len(digests[0]) > 1
