"""`arena record` as a user runs it: a window, a page, Ctrl-C, and a folder that is left."""

from __future__ import annotations

import asyncio
import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.agents.arena_process import ArenaProcess
from support.recorder.scripted_person import screen

from orchestrator import Arena
from orchestrator.authoring.recorder.recording import open_recording

pytestmark = [pytest.mark.docker, pytest.mark.browser]


@pytest.fixture
def display() -> Iterator[dict[str, str]]:
    with screen() as name:
        if name is None:
            pytest.skip("no Xvfb here")
        yield {"DISPLAY": name}


class Page:
    """The recorder's page, for a program."""

    def __init__(self, printed: str) -> None:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/#(\S+)", printed)
        assert found is not None, printed
        self._origin = found[1]
        self._opener = urllib.request.build_opener()
        self._opener.addheaders = [("X-Arena-Token", found[2])]

    def ask(self, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with self._opener.open(f"{self._origin}{path}", data, timeout=30) as answer:
            return json.load(answer)


DRAFT = {
    "id": "kettle",
    "intent": "What stands above the article that is shown?",
    "answer": "Kettle",
    "chosen": ["end-answer"],
}


def test_a_recording_is_stopped_saved_and_opened_again(
    tmp_path: Path, display: dict[str, str]
) -> None:
    words = ("record", "wiki:/article/Kettle", "--name", "kettle", "--folder", "it", "--print")
    with ArenaProcess(*words, cwd=tmp_path, env=display) as process:
        page = Page(process.printed(r"/#\S+\n", 120))
        assert page.ask("/api/recording")["is_running"]
        process.interrupt()
        process.hear("choose the checks on the page", 120)
        assert not page.ask("/api/recording")["is_running"]
        assert page.ask("/api/save", DRAFT)["path"] == "kettle.yaml"
        process.printed("saved: kettle.yaml")
        process.interrupt()
        assert process.wait(60).code == 0
    assert (tmp_path / "kettle.yaml").is_file()
    assert [step.number for step in open_recording(tmp_path / "it").steps] == [0]
    assert not (tmp_path / "it" / "draft.yaml").exists()

    with ArenaProcess(
        "record", "--open", "it", "--name", "kettle", "--print", cwd=tmp_path
    ) as again:
        page = Page(again.printed(r"/#\S+\n"))
        assert page.ask("/api/draft", DRAFT)["missing"] == []
        again.interrupt()
        assert again.wait(60).code == 0


async def test_python_gets_the_file_once_the_page_has_saved_it(
    tmp_path: Path, display: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display["DISPLAY"])
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with Arena() as arena, asyncio.TaskGroup() as both:
        start, out = ["wiki:/article/Kettle"], tmp_path / "kettle.yaml"
        recording = both.create_task(
            arena.record(start, out, folder=tmp_path / "it", on_page=address.set_result)
        )
        page = Page(await address)
        await asyncio.to_thread(page.ask, "/api/stop", {})
        assert not recording.done()
        await asyncio.to_thread(page.ask, "/api/save", DRAFT)
    assert recording.result() == out
    assert "answer: Kettle" in out.read_text()
    assert open_recording(tmp_path / "it").end is not None


def test_steps_of_codegen_are_played_and_shown(tmp_path: Path) -> None:
    lines = tmp_path / "codegen.py"
    lines.write_text(
        'page.goto("http://wiki.arena.test/wiki/A/Kettle")\n'
        'page.get_by_role("link", name="Samovar", exact=True).click()\n'
        "page.pause()\n"
    )
    words = ("record", "wiki:/", "--from", lines, "--folder", "it", "--name", "tea", "--print")
    with ArenaProcess(*words, cwd=tmp_path) as process:
        page = Page(process.printed(r"/#\S+\n", 120))
        process.hear(r"line 3 \(page.pause\(\)\) is left out")
        steps = page.ask("/api/recording")["steps"]
        process.interrupt()
        assert process.wait(60).code == 0
    assert [one["said"] for step in steps for one in step["actions"]] == [
        "go to wiki:/article/Kettle",
        "click link “Samovar”",
    ]
