"""What the agent saw stays beside the evidence: texts whole, each picture once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.worlds.fake_world import FakeSession, FakeWorld, attempt_at, browsing_task

from arena_core.actions import Back, Stop
from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    PRUNED_HTML,
    SCREENSHOT,
    SOM,
    AriaSnapshot,
    AxTree,
    Box,
    Mark,
    MarkedPicture,
    Observation,
    Picture,
    PrunedHtml,
)
from orchestrator.episode.episode import Episode
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, read_lines
from orchestrator.episode.record import picture_name, seen_line

PLAIN = Picture(b"plain", 1280, 720)
BOX = Box(1, 2, 3, 4, visible=True)
MARKED = MarkedPicture(Picture(b"marked", 1280, 720), (Mark(7, "button", "Buy", BOX),))
PARTS: dict[str, object] = {
    AXTREE: AxTree((), "the tree"),
    ARIA: AriaSnapshot("- button"),
    PRUNED_HTML: PrunedHtml("<a[A]| >", {"A": 7}, viewports=(0.5, 2.0)),
    SCREENSHOT: PLAIN,
    SOM: MARKED,
    BOXES: {7: BOX},
}


@dataclass(frozen=True)
class Theirs:
    """A part of a form of somebody else's."""

    colours: tuple[str, ...]
    raw: bytes


def test_a_line_holds_every_part_and_pictures_by_the_names_of_their_files() -> None:
    seen = Observation(step=3, url="u", title="t", tabs=(), last_error="no", parts=PARTS)
    line = json.loads(json.dumps(seen_line(seen)))
    assert (line["step"], line["url"], line["last_error"]) == (3, "u", "no")
    parts = line["parts"]
    assert parts[AXTREE] == {"text": "the tree"}
    assert parts[PRUNED_HTML] == {"text": "<a[A]| >", "ids": {"A": 7}, "viewports": [0.5, 2.0]}
    size = {"width": 1280, "height": 720, "device_scale": 1}
    assert parts[SCREENSHOT] == {"picture": picture_name(PLAIN), **size}
    assert parts[SOM]["picture"] == picture_name(MARKED.picture) != picture_name(PLAIN)
    assert parts[SOM]["marks"][0]["box"] == parts[BOXES]["7"]
    assert parts[BOXES]["7"]["visible"] is True


def test_a_part_of_somebody_elses_is_kept_as_far_as_it_is_json() -> None:
    parts: dict[str, object] = {"x": Theirs(("red",), b"\0"), "y": object(), "z": {1: None}}
    line = seen_line(Observation(step=0, url="", title="", tabs=(), parts=parts))
    assert json.loads(json.dumps(line["parts"])) == {
        "x": {"colours": ["red"], "raw": {"kind": "bytes"}},
        "y": {"kind": "object"},
        "z": {"1": None},
    }


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ({SCREENSHOT}, picture_name(PLAIN)),
        ({SOM}, picture_name(MARKED.picture)),
        ({SOM, SCREENSHOT}, picture_name(PLAIN)),
        ({AXTREE}, "step-000.webp"),
    ],
)
async def test_a_step_has_one_picture_and_equal_ones_are_one_file(
    asked: set[str], kept: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files, evidence = await played(asked, monkeypatch)
    names = {name for name in files if name != OBSERVATIONS_FILE}
    assert evidence.steps[0].screenshot == kept
    seen_names = {SCREENSHOT: picture_name(PLAIN), SOM: picture_name(MARKED.picture)}
    own = {"step-000.webp", "step-001.webp"} if asked == {AXTREE} else set()
    assert names == own | {seen_names[one] for one in asked if one in seen_names}
    path = tmp_path / OBSERVATIONS_FILE
    path.write_bytes(files[OBSERVATIONS_FILE])
    lines = list(read_lines(path))
    assert [line["step"] for line in lines] == [0, 1]
    assert set(lines[1]["parts"]) == asked


async def played(
    asked: set[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[Mapping[str, bytes], Any]:
    plain = FakeSession.observe

    async def observe(self: FakeSession, step: int, *more: Any) -> Observation:
        seen = await plain(self, step, *more)
        return replace(seen, parts={name: PARTS[name] for name in asked})

    monkeypatch.setattr(FakeSession, "observe", observe)
    spec = replace(attempt_at(browsing_task()), observations=frozenset(asked), screenshots=True)
    async with Episode(spec, FakeWorld().environment()) as episode:
        await episode.reset()
        await episode.step(Back())
        await episode.step(Stop())
        await episode.score()
    return episode.files, episode.evidence()
