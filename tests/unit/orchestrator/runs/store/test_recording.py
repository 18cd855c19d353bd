"""A run's replies, asked for again: by what is asked, whatever the order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import pytest
from pydantic import JsonValue
from support.runs.tiny_run import SUITE, make_lock, tiny_evidence

from arena_core.errors import ReplayMissError, StoreError
from arena_core.worlds import World
from orchestrator.agents.model.messages import hash_of
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.episode.jsonl_files import EXCHANGES_FILE, ExchangeWriter, KeptExchange, StepLines
from orchestrator.runs.store.ledger import AttemptState, EpisodeKey
from orchestrator.runs.store.recording import Recording
from orchestrator.runs.store.run_folder import RunFolder

ONE, TWO = "offline-kettle-r0", "offline-kettle-r1"


def body(text: str, **more: JsonValue) -> dict[str, JsonValue]:
    message: JsonValue = {"role": "user", "content": text}
    return {"model": "m", "temperature": 0.0, **more, "messages": [message]}


def kept(request: dict[str, JsonValue], reply: str, occurrence: int = 0) -> KeptExchange:
    exchange = ModelExchange(request=request, reply=reply, occurrence=occurrence)
    return KeptExchange(step=1, number=0, sha256=hash_of(request), exchange=exchange)


def ask(
    recording: Recording, request: dict[str, JsonValue], episode: str = ONE, occurrence: int = 0
) -> str | None:
    return recording.answer(episode, hash_of(request), occurrence, request).reply


def test_the_same_question_is_answered_as_often_and_in_the_order_it_was() -> None:
    # Kept in the order of the replies; the second was there first.
    recording = Recording("run", {ONE: [kept(body("x"), "b", 1), kept(body("x"), "a", 0)]})
    assert [ask(recording, body("x"), occurrence=n) for n in (0, 1)] == ["a", "b"]
    with pytest.raises(ReplayMissError, match="only 2 times"):
        ask(recording, body("x"), occurrence=2)


def test_each_episode_gets_its_own_answers_in_any_order() -> None:
    recording = Recording("run", {ONE: [kept(body("x"), "a")], TWO: [kept(body("x"), "b")]})
    assert ask(recording, body("x"), TWO) == "b"
    assert ask(recording, body("x"), ONE) == "a"
    with pytest.raises(ReplayMissError, match="answered differently"):
        ask(recording, body("x"), "online-kettle-r0")


def test_what_only_other_episodes_asked_is_answered_where_all_agree() -> None:
    recording = Recording("run", {ONE: [kept(body("x"), "a")], TWO: [kept(body("x"), "a")]})
    assert ask(recording, body("x"), "online-kettle-r0") == "a"


def test_the_order_of_keys_makes_no_other_request() -> None:
    recording = Recording("run", {ONE: [kept(body("x"), "a")]})
    assert ask(recording, dict(reversed(list(body("x").items())))) == "a"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (body("x") | {"model": "other"}, "model: 'm' in the run, 'other' now"),
        (body("x") | {"temperature": 0.7}, "temperature: '0.0' in the run, '0.7' now"),
        (body("x", seed=7), "seed: nothing in the run, '7' now"),
        (body("page " * 30 + "red kettle"), "messages[0].content, letter 151: "),
        (body("x") | {"messages": []}, "messages[0].role: 'user' in the run, nothing now"),
    ],
)
def test_a_question_that_the_run_never_asked_says_what_differs_first(
    asked: dict[str, JsonValue], said: str
) -> None:
    recorded = body("page " * 30 + "blue kettle") if "letter" in said else body("x")
    recording = Recording("20261122-demo", {ONE: [kept(body("other"), "b"), kept(recorded, "a")]})
    with pytest.raises(ReplayMissError) as caught:
        ask(recording, asked)
    assert said in caught.value.message
    assert "20261122-demo" in caught.value.message
    assert not caught.value.is_permanent


def test_another_image_is_another_request() -> None:
    def shown(name: str) -> dict[str, JsonValue]:
        part: JsonValue = {"type": "image_url", "image_url": {"url": name}}
        return {"model": "m", "messages": [{"role": "user", "content": [part]}]}

    recording = Recording("run", {ONE: [kept(shown("image-1.png"), "a")]})
    assert ask(recording, shown("image-1.png")) == "a"
    with pytest.raises(ReplayMissError, match=r"image_url\.url: 'image-1.png' in the run"):
        ask(recording, shown("image-2.png"))


def test_an_unknown_episode_is_compared_with_the_others() -> None:
    recording = Recording("run", {ONE: [dataclasses.replace(kept(body("x"), "a"))]})
    with pytest.raises(ReplayMissError, match="content: 'x' in the run"):
        ask(recording, body("y"), "online-other-r0")


def test_a_question_that_was_answered_in_two_ways_is_a_miss() -> None:
    """A line that was put in twice, the second time with another reply."""
    doubled = [kept(body("x"), "a"), kept(body("x"), "b"), kept(body("y"), "a")]
    recording = Recording("run", {ONE: [*doubled, kept(body("y"), "a")]})
    with pytest.raises(ReplayMissError, match="two answers"):
        ask(recording, body("x"))
    assert ask(recording, body("y")) == "a"


def lines_of(*replies: str) -> bytes:
    lines, writer = StepLines(()), ExchangeWriter()
    for step, reply in enumerate(replies, start=1):
        lines.add(writer.line(step, kept(body(f"step {step}"), reply).exchange))
    return lines.packed()


def played(path: Path, exchanges: Iterable[str]) -> RunFolder:
    folder = RunFolder.create(path, make_lock(), SUITE)
    episode = EpisodeKey("one", World.OFFLINE)
    evidence = tiny_evidence(agent="chat", seconds=1.5, answer="1890")
    with folder.writing() as ledger:
        number = ledger.start(episode)
        files = {EXCHANGES_FILE: lines_of(*exchanges)}
        digest = folder.save_evidence(episode.folder(number), evidence, files)
        ledger.end(episode, number, AttemptState.FINISHED, "failure", digest)
    return folder


def test_a_run_with_fewer_replies_than_steps_answers_those_it_has(tmp_path: Path) -> None:
    recording = Recording.load(played(tmp_path / "run", ["1890"]))
    episode = EpisodeKey("one", World.OFFLINE).name
    assert ask(recording, body("step 1"), episode) == "1890"
    with pytest.raises(ReplayMissError, match=r"content: .step 1. in the run, .step 2. now"):
        ask(recording, body("step 2"), episode)


@pytest.mark.parametrize(
    "tampered", [lines_of("1891"), lines_of("1890", "1891"), lines_of(), b"no gzip"]
)
def test_a_run_whose_replies_were_changed_is_not_replayed(tmp_path: Path, tampered: bytes) -> None:
    """The model said 1890: a replay that says 1891 would be a success that nobody had."""
    folder = played(tmp_path / "run", ["1890"])
    (name,) = folder.evidence_names()
    (folder.evidence_folder(name) / EXCHANGES_FILE).write_bytes(tampered)
    with pytest.raises(StoreError, match="was changed since it was saved") as refused:
        Recording.load(folder)
    assert "\n" not in refused.value.message
