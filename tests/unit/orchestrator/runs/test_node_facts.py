"""What a node is held to: other images refuse it, other versions are said."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.runs.sharded_runs import play_run

from arena_core.errors import (
    ArenaError,
    ImageError,
    InputError,
    NodeDiffersError,
    StoreError,
    UnknownNameError,
)
from orchestrator.runs.clocks import ahead_of
from orchestrator.runs.node_facts import (
    NodeCheck,
    NodeEngine,
    NodeFacts,
    NodeFault,
    NodeImage,
    read_facts,
    read_likeness,
    write_facts,
)
from orchestrator.runs.node_look import images_here, recipes_wanted
from orchestrator.runs.store.lock import HostEnvelope, NodeClock
from orchestrator.sandbox.engine.containers import Labels
from sites.registry import load_registry

SHOP, WIKI = "arena/shop:1", "arena/wiki:1"
AB, CD = "sha256:" + "ab" * 32, "sha256:" + "cd" * 32
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def facts_of(images: dict[str, tuple[str, str | None]], **changes: Any) -> NodeFacts:
    facts = NodeFacts(
        node="here",
        at="2026-11-27T12:00:00+00:00",
        packages={"playwright": "1.48"},
        host=HostEnvelope(platform="Linux", python="3.11", cpus=2, memory_mb=24000),
        engine=NodeEngine(version="20.10.24", storage="overlay2", cpus=2, memory_mb=24000),
        browser="131.0.6778.85",
        clock=NodeClock(synchronised=None, engine_ahead_s=0.0),
        images={tag: NodeImage(id=one, golden=golden) for tag, (one, golden) in images.items()},
    )
    return facts.model_copy(update=changes)


def compared(here: NodeFacts, there: Path, missing: frozenset[str] = frozenset()) -> NodeCheck:
    like = read_likeness(there)
    differences = tuple(like.differences(here, missing))
    return NodeCheck(facts=here, faults=(), like=like.name, differences=differences)


def test_a_node_with_the_same_images_is_good_whatever_else_differs(tmp_path: Path) -> None:
    there, here = tmp_path / "there.json", facts_of({SHOP: (AB, "g")})
    other = HostEnvelope(platform="Linux", python="3.11", cpus=64, memory_mb=24000)
    write_facts(facts_of({SHOP: (AB, "g")}, host=other, browser="132"), there)
    found = compared(here, there)
    found.require_good()
    assert found.is_good
    assert {one.what: one.allow for one in found.differences} == {
        "host.cpus": "hardware",
        "browser": "browser",
    }


@pytest.mark.parametrize(
    ("here", "said"),
    [
        ({SHOP: (CD, "g"), WIKI: (AB, None)}, [f"image {SHOP} is {CD} here, {AB} there"]),
        ({SHOP: (AB, "h"), WIKI: (AB, None)}, [f"golden state of {SHOP} is h here, g there"]),
        ({SHOP: (AB, None), WIKI: (AB, None)}, [f"golden state of {SHOP} is not known here, g"]),
        ({SHOP: (AB, "g")}, [f"image {WIKI} is not known here, {AB} there"]),
        (
            {SHOP: (AB, "g"), WIKI: (AB, None), "arena/cms:1": (CD, "c")},
            [f"image arena/cms:1 is {CD} here, not known there"],
        ),
        (
            {SHOP: (CD, "h"), WIKI: (AB, None)},
            [f"image {SHOP} is {CD}", f"golden state of {SHOP} is h"],
        ),
    ],
)
def test_another_digest_or_golden_state_refuses_the_node_in_a_line_each(
    here: dict[str, tuple[str, str | None]], said: list[str], tmp_path: Path
) -> None:
    there = tmp_path / "there.json"
    write_facts(facts_of({SHOP: (AB, "g"), WIKI: (AB, None)}), there)
    found = compared(facts_of(here), there)
    assert len(found.refused) == len(said)
    for line, one in zip(said, found.refused, strict=True):
        assert str(one).startswith(line)
    with pytest.raises(NodeDiffersError, match="this node is not like node 'here'") as refused:
        found.require_good()
    assert "arena images save" in refused.value.hint


def test_a_run_says_which_images_a_node_must_have(tmp_path: Path) -> None:
    run = play_run(tmp_path / "run", None).path
    for path in (run, run / "lock.json"):
        assert compared(facts_of({SHOP: (AB, "g")}), path).is_good
        assert not compared(facts_of({SHOP: (CD, "g")}), path).is_good


def test_a_run_says_on_which_golden_states_it_was_played_and_how_clocks_stood(
    tmp_path: Path,
) -> None:
    clock = NodeClock(synchronised=True, engine_ahead_s=0.0)
    run = play_run(tmp_path / "run", None, goldens={SHOP: "g"}, clock=clock).path
    found = compared(facts_of({SHOP: (AB, "other")}), run)
    assert list(map(str, found.refused)) == [f"golden state of {SHOP} is other here, g there"]
    assert compared(facts_of({SHOP: (AB, "g")}), run).is_good
    assert read_likeness(run).clock == clock


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: "null",
        lambda text: '{"kind": "arena node", "version": 1}',
        lambda text: text.replace('"version": 1,', '"version": 2,'),
        lambda text: text.replace(AB, "sha256:ab"),
        lambda text: text.replace(AB, "latest"),
        lambda text: text.replace(SHOP, "shop\\u001b[2J"),
        lambda text: text.replace('"cpus": 2', '"cpus": "many"', 1),
        lambda text: text.replace('"node"', '"more": 1, "node"'),
        lambda text: text.replace("here", "h" * 10_000),
        lambda text: "[" * 100_000,
        lambda text: text + "x" * 1_000_000,
    ],
)
def test_facts_that_nobody_wrote_so_are_one_clear_line(changed: Any, tmp_path: Path) -> None:
    path = tmp_path / "node.json"
    write_facts(facts_of({SHOP: (AB, "g")}), path)
    path.write_text(changed(path.read_text()))
    with pytest.raises(InputError) as refused:
        read_likeness(path)
    assert str(path) in refused.value.message
    assert "\x1b" not in refused.value.message
    assert "\n" not in refused.value.message


def test_what_names_no_image_is_nothing_to_be_like(tmp_path: Path) -> None:
    write_facts(facts_of({}), tmp_path / "node.json")
    run = play_run(tmp_path / "run", None, images={}).path
    for path in (tmp_path / "node.json", run):
        with pytest.raises(InputError, match="nothing can be compared"):
            read_likeness(path)


@pytest.mark.parametrize("name", ["gone.json", "folder", "pipe", "lock.json"])
def test_what_is_no_file_of_facts_is_one_clear_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises((InputError, StoreError)) as refused:
        read_likeness(tmp_path / name)
    assert isinstance(refused.value, ArenaError)


def test_facts_are_written_over_facts_and_over_nothing_else(tmp_path: Path) -> None:
    path, other = tmp_path / "node.json", tmp_path / "lock.json"
    write_facts(facts_of({SHOP: (AB, "g")}), path)
    write_facts(facts_of({SHOP: (CD, "g")}), path)
    assert read_facts(path).images[SHOP].id == CD
    other.write_text("{}")
    with pytest.raises(InputError):
        write_facts(facts_of({SHOP: (AB, "g")}), other)
    assert other.read_text() == "{}"


def test_missing_images_are_named_with_the_next_step() -> None:
    faults = (NodeFault(SHOP, "not here", "arena build shop"),)
    with pytest.raises(ImageError, match=f"1 image cannot be used: {SHOP}: not here") as refused:
        NodeCheck(facts=facts_of({}), faults=faults).require_good()
    assert refused.value.hint == "arena build shop"


class Images:
    """An engine with some images, by tag with their labels."""

    def __init__(self, **labels: dict[str, str]) -> None:
        self._labels = {f"arena/{name}:1": one for name, one in labels.items()}

    async def image(self, tag: str) -> object | None:
        labels = self._labels.get(tag)
        return None if labels is None else SimpleNamespace(id=AB, tag=tag, labels=labels)


async def test_an_image_of_other_sources_is_a_fault_unless_another_node_has_it_so() -> None:
    registry = load_registry(())
    wanted = recipes_wanted(registry, registry.select(["shop", "wiki"]), None, staged=False)
    engine: Any = Images(shop={Labels.GOLDEN: "g", Labels.SOURCE: "another"})
    images, faults = await images_here(engine, registry, wanted, is_alone=True)
    assert images == {SHOP: NodeImage(id=AB, golden="g")}
    assert [(one.image, one.hint) for one in faults] == [
        (SHOP, "arena build shop"),
        (WIKI, "arena build wiki"),
    ]
    assert faults[0].why.startswith("outdated")
    _, faults = await images_here(engine, registry, wanted, is_alone=False)
    assert [one.image for one in faults] == [WIKI]
    assert "arena node prepare --images" in faults[0].hint, "one built here would be another"


def test_what_is_wanted_is_what_was_named_else_what_the_other_has(tmp_path: Path) -> None:
    registry = load_registry(())
    path = tmp_path / "node.json"
    write_facts(facts_of({SHOP: (AB, "g"), "arena/shop-live:1": (CD, None)}), path)
    like = read_likeness(path)
    named = recipes_wanted(registry, registry.select(["wiki"]), like, staged=True)
    assert [one.image.tag for one in named] == [WIKI, "arena/wiki-live:1"]
    of_the_other = recipes_wanted(registry, None, like, staged=False)
    assert [one.image.tag for one in of_the_other] == ["arena/shop-live:1", SHOP]
    write_facts(facts_of({"own/till:1": (AB, "g")}), path)
    with pytest.raises(UnknownNameError, match="no site here: own/till:1"):
        recipes_wanted(registry, None, read_likeness(path), staged=False)


def test_a_clock_is_ahead_by_what_no_answer_time_explains() -> None:
    later = NOON + timedelta(seconds=2)
    assert ahead_of("2026-11-27T12:00:01.123456789Z", NOON, later) == 0.0
    assert ahead_of("2026-11-27T12:00:05Z", NOON, later) == 3.0
    assert ahead_of("2026-11-27T11:59:00Z", NOON, later) == -60.0
    assert [ahead_of(told, NOON, later) for told in ("", "noon", "2026-11-27T12:00:01")] == [
        None
    ] * 3


def test_what_is_written_is_what_json_readers_find(tmp_path: Path) -> None:
    path = tmp_path / "node.json"
    write_facts(facts_of({SHOP: (AB, "g")}), path)
    assert json.loads(path.read_text())["images"] == {SHOP: {"id": AB, "golden": "g"}}
