"""The recorder's page lets in whoever has its address, and takes nothing that is out of bounds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession
from support.recorder.made_recording import event, looked_up, recording_of, step_of, write

from orchestrator.authoring.recorder.desk import Desk, own_check, serve_desk
from orchestrator.authoring.recorder.recording import Recording, open_recording
from orchestrator.local_pages.serving import HEADER
from sites.registry import load_registry

INTENT = "Which town is the chief town of the makers of samovars?"


@dataclass
class Visitor:
    client: ClientSession
    origin: str
    token: str

    async def asks(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body)
        url, headers = f"{self.origin}{path}", {HEADER: self.token}
        async with self.client.request(method, url, data=data, headers=headers) as answer:
            text = await answer.read()
            is_json = answer.content_type == "application/json"
            return answer.status, json.loads(text) if is_json else text

    async def drafts(self, **more: object) -> Mapping[str, Any]:
        status, found = await self.asks(
            "POST", "/api/draft", {"id": "town", "intent": INTENT, "shows_file": True, **more}
        )
        assert status == 200, found
        return dict(found)


@asynccontextmanager
async def visiting(folder: Path, made: Recording) -> AsyncIterator[Visitor]:
    kept = open_recording(write(made, folder / "recording"))
    desk = Desk(lambda: kept, load_registry(), folder / "town.yaml")
    async with serve_desk(desk) as url, ClientSession() as client:
        parts = urlsplit(url)
        yield Visitor(client, f"http://{parts.netloc}", parts.fragment)


async def test_the_filmstrip_shows_steps_with_what_they_changed(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        _, found = await visitor.asks("GET", "/api/recording")
        assert [step["number"] for step in found["steps"]] == [0, 1]
        assert found["steps"][1]["actions"] == [
            {
                "place": 0,
                "said": "click link “Samovar”",
                "words": "Samovar",
                "others": [],
                "problem": None,
            }
        ]
        assert (await visitor.asks("GET", "/pictures/step-001.webp")) == (200, b"RIFF-webp")
        assert (await visitor.asks("GET", "/pictures/step-777.webp"))[0] == 404
        assert (await visitor.asks("GET", "/pictures/..%2Frecording.json"))[0] == 404


async def test_a_task_is_made_and_saved(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        _, step = await visitor.asks("GET", "/api/steps/1")
        node = step["checks"][0]
        assert (node["label"], node["trial"]) == ("address wiki:/article/Samovar", "met")
        nothing = await visitor.drafts()
        assert "no end check" in nothing["missing"][0]
        draft = {"answer": "Tula", "chosen": [node["key"], "end-answer", "made-up"]}
        whole = await visitor.drafts(**draft)
        assert whole["missing"] == []
        assert "name: Samovar" in whole["yaml"]
        saved = await visitor.asks("POST", "/api/save", {"id": "town", "intent": INTENT, **draft})
        assert saved[0] == 200
        assert "checks:" in (tmp_path / "town.yaml").read_text()


async def test_what_is_missing_is_not_saved(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        status, said = await visitor.asks("POST", "/api/save", {"id": "town", "intent": INTENT})
        assert status == 400
        assert "nothing was saved: no end check" in said["error"]
        assert not (tmp_path / "town.yaml").exists()


async def test_a_mistake_that_the_linter_finds_is_shown(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        own = "{name: x, when: end, locate: {by: url, site: nowhere}, match: {how: found}}"
        found = await visitor.drafts(own=own)
        assert "nowhere" in found["missing"][0]


@pytest.mark.parametrize(
    "body",
    [
        {"id": "x" * 62, "intent": INTENT},
        {"id": "town", "intent": INTENT, "left_out": ["../1"]},
        {"id": "town", "intent": INTENT, "more": 1},
        {"id": "town", "intent": "x" * 30_000},
        [],
        7,
    ],
)
async def test_what_is_out_of_bounds_is_refused_in_one_line(tmp_path: Path, body: object) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        status, said = await visitor.asks("POST", "/api/draft", body)
        assert status == 400
        assert "\n" not in said["error"]


async def test_a_body_without_end_is_cut_off(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        status, _ = await visitor.asks("POST", "/api/draft", "x" * 300_000)
        assert status == 413


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: [", "is no YAML"),
        ("[" * 3000, "your check"),
        ("7", "your check"),
        ("!!python/object/apply:os.system ['id']", "is no YAML"),
        ("name: x\nwhen: end\nlocate: {by: url}\nmatch: {how: nothing}", "your check"),
    ],
)
def test_a_check_of_ones_own_that_is_none_is_named(text: str, why: str) -> None:
    check, faults = own_check(text)
    assert check is None
    assert why in faults[0]
    assert "\n" not in faults[0]


async def test_a_step_left_out_is_not_in_the_task(tmp_path: Path) -> None:
    steps = [step_of(1, [event("click", name="Tour")]), *looked_up().steps[1:]]
    steps[1] = steps[1].model_copy(
        update={"evidence": steps[1].evidence.model_copy(update={"index": 2})}
    )
    async with visiting(tmp_path, recording_of(steps[0], _named_again(steps[1]))) as visitor:
        chosen = {"answer": "Tula", "chosen": ["end-answer"]}
        assert "Tour" in (await visitor.drafts(**chosen))["yaml"]
        assert "Tour" not in (await visitor.drafts(**chosen, left_out=["1-0"]))["yaml"]


def _named_again(step: Any) -> Any:
    evidence = step.evidence.model_copy(update={"screenshot": "step-002.webp"})
    return step.model_copy(update={"evidence": evidence})


async def test_two_steps_are_one_and_two_again(tmp_path: Path) -> None:
    typed = [event("input", "input", name="Search", value=one) for one in ("ketle", "kettle")]
    made = recording_of(step_of(1, typed[:1]), step_of(2, typed[1:]))
    async with visiting(tmp_path, made) as visitor:
        chosen = {"answer": "Tula", "chosen": ["end-answer"]}
        assert (await visitor.asks("POST", "/api/merge", {"step": 2, "merged": True}))[0] == 200
        _, found = await visitor.asks("GET", "/api/recording")
        assert [(step["number"], step["merged"]) for step in found["steps"]] == [(0, []), (1, [2])]
        assert found["steps"][1]["picture"] == "step-002.webp"
        assert (await visitor.asks("GET", "/pictures/step-002.webp"))[0] == 200
        assert "ketle" not in (await visitor.drafts(**chosen))["yaml"]
        assert (await visitor.asks("POST", "/api/merge", {"step": 2, "merged": False}))[0] == 200
        assert "ketle" in (await visitor.drafts(**chosen))["yaml"]


@pytest.mark.parametrize("step", [0, 1, 7, -1, "2"])
async def test_a_step_with_none_before_it_is_merged_with_nothing(
    tmp_path: Path, step: object
) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        status, said = await visitor.asks("POST", "/api/merge", {"step": step, "merged": True})
        assert status == 400, said


async def test_a_task_of_a_template_that_was_done_too_is_told(tmp_path: Path) -> None:
    async with visiting(tmp_path, looked_up()) as visitor:
        draft = {
            "intent": "Which town made Samovar?",
            "answer": "Tula",
            "chosen": ["end-answer"],
            "parameters": [{"name": "ware", "values": ["Samovar", "Teapot"]}],
        }
        (said,) = (await visitor.drafts(**draft))["missing"]
        assert "passes the task of “Teapot” too" in said
        draft["parameters"] += [{"name": "town", "values": ["Tula", "Delft"]}]  # type: ignore[operator]
        assert (await visitor.drafts(**draft))["missing"] == []
