from __future__ import annotations

from pathlib import Path

import pytest
from kiosk_site import KIOSK

from orchestrator.capacity.costs import Costs
from orchestrator.capacity.sizes import MIB

IMAGE = "sha256:one"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "costs.json"


def test_before_a_measurement_the_manifests_limit_counts(path: Path) -> None:
    for image in (IMAGE, None):
        cost = Costs.load(path).of(KIOSK, image)
        assert (cost.size_bytes, cost.source) == (512 * MIB, "by its limit")


def test_what_was_learned_is_known_to_the_next_process(path: Path) -> None:
    Costs.load(path).learn(IMAGE, 100 * MIB)
    cost = Costs.load(path).of(KIOSK, IMAGE)
    assert (cost.size_bytes, cost.source) == (100 * MIB, "learned")
    assert not Costs.load(path).of(KIOSK, "sha256:other").is_learned


def test_the_most_that_was_seen_counts(path: Path) -> None:
    costs = Costs.load(path)
    for size in (100, 120, 90):
        costs.learn(IMAGE, size * MIB)
    assert Costs.load(path).of(KIOSK, IMAGE).size_bytes == 120 * MIB


def test_two_processes_that_learn_at_once_do_not_forget_each_others(path: Path) -> None:
    one, other = Costs.load(path), Costs.load(path)
    one.learn(IMAGE, 1)
    other.learn("sha256:other", 2)
    assert [Costs.load(path).of(KIOSK, name).size_bytes for name in (IMAGE, "sha256:other")] == [
        1,
        2,
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"sha256:one": "much"}', '{"sha256:one": -5}', "{"])
def test_a_damaged_file_is_as_good_as_none(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    costs = Costs.load(path)
    assert not costs.of(KIOSK, IMAGE).is_learned
    costs.learn(IMAGE, 7)
    assert Costs.load(path).of(KIOSK, IMAGE).size_bytes == 7


def test_a_cache_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    costs = Costs.load(tmp_path / "file" / "costs.json")
    costs.learn(IMAGE, 7)
    assert costs.of(KIOSK, IMAGE).size_bytes == 7


def test_one_measurement_of_an_image_is_enough_for_a_process(path: Path) -> None:
    costs = Costs.load(path)
    assert costs.wants(IMAGE)
    costs.learn(IMAGE, 7)
    assert not costs.wants(IMAGE)
    assert Costs.load(path).wants(IMAGE)
