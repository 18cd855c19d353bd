"""What is told of each step beside the evidence: compressed, whole, without secrets."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
from pydantic import JsonValue
from quick_cases import SLOW

from arena_core.errors import StoreError
from orchestrator.agents.model.messages import hash_of
from orchestrator.agents.model_exchange import ModelExchange, TokenUsage
from orchestrator.episode.jsonl_files import (
    EXCHANGES_FILE,
    ExchangeWriter,
    KeptExchange,
    StepLines,
    read_exchanges,
    read_lines,
)

TOOLS: list[JsonValue] = [{"type": "function", "function": {"name": "click", "parameters": {}}}]


def said(role: str, text: str) -> dict[str, JsonValue]:
    return {"role": role, "content": text}


def asked(*messages: dict[str, JsonValue], **more: JsonValue) -> ModelExchange:
    return ModelExchange(request={"model": "m", **more, "messages": list(messages)}, reply="{}")


def kept(folder: Path, *exchanges: ModelExchange) -> tuple[KeptExchange, ...]:
    lines, writer = StepLines(()), ExchangeWriter()
    for step, exchange in enumerate(exchanges, start=1):
        lines.add(writer.line(step, exchange))
    (folder / EXCHANGES_FILE).write_bytes(lines.packed())
    return read_exchanges(folder)


def test_exchanges_are_read_as_they_were(tmp_path: Path) -> None:
    rules, first, answer = said("system", "be brief"), said("user", "1"), said("assistant", "2")
    exchanges = (
        asked(rules, first, tools=TOOLS),
        asked(said("system", "judge it"), first),
        dataclasses.replace(
            asked(rules, first, answer, said("user", "3"), tools=TOOLS),
            usage=TokenUsage(input_tokens=5, output_tokens=1, cached_tokens=2),
            usd=0.25,
            seconds=1.5,
            left_out=("temperature",),
        ),
        asked(),
        ModelExchange(request={"model": "m"}, error="it is gone"),
        asked(rules, said("user", "other"), tools=TOOLS),
    )
    found = kept(tmp_path, *exchanges)
    assert tuple(one.exchange for one in found) == exchanges
    assert [one.step for one in found] == [1, 2, 3, 4, 5, 6]
    assert [one.sha256 for one in found] == [hash_of(one.request) for one in exchanges]


@SLOW
def test_a_conversation_that_grows_takes_no_square_of_its_length(tmp_path: Path) -> None:
    # Random letters, as nothing but leaving the repetition out makes them shorter.
    chance = random.Random(7)
    pages = [said("user", "".join(chance.choices("abcdefghij", k=8_000))) for _ in range(40)]
    exchanges = [asked(*pages[: number + 1]) for number in range(40)]
    kept(tmp_path, *exchanges)
    whole = 40 * 8_000
    assert (tmp_path / EXCHANGES_FILE).stat().st_size < whole


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    lines = StepLines(())
    lines.add({"step": 1, "number": 0, "sha256": "", "request": {"messages": {"of": 7}}})
    (tmp_path / EXCHANGES_FILE).write_bytes(lines.packed())
    with pytest.raises(StoreError, match="line 1"):
        read_exchanges(tmp_path)


def test_runs_of_earlier_versions_have_none(tmp_path: Path) -> None:
    assert read_exchanges(tmp_path) == ()


def test_lines_that_nobody_wrote_so_are_damage_and_one_clear_line(tmp_path: Path) -> None:
    question = asked(said("user", "1"))
    first = ExchangeWriter().line(1, question)
    spoilt: list[dict[str, object]] = [
        {"reply": 5},
        {"usage": {"input_tokens": "many"}},
        {"usage": 5},
        {"usd": "much"},
        {"usd": -1.0},
        {"seconds": float("inf")},
        {"occurrence": [1]},
        {"sha256": None},
        {"number": 3},
        {"number": 0},  # a line that is there twice
        {"left_out": 5},
        {"request": {"messages": {"of": -1, "first": 1, "then": []}}},
        {"request": {"messages": {"of": 0, "first": -1, "then": []}}},
        {"request": {"messages": {"of": 7, "first": 0, "then": []}}},
        {"request": {"tools": {"of": -1}}},
        {"request": 5},
    ]
    for change in spoilt:
        lines = StepLines(())
        lines.add(first)
        lines.add({**first, "number": 1, **change})
        (tmp_path / EXCHANGES_FILE).write_bytes(lines.packed())
        with pytest.raises(StoreError, match=r"is damaged: line 2: ") as refused:
            read_exchanges(tmp_path)
        assert "\n" not in refused.value.message, change


def test_lines_are_read_as_they_were_added_and_more_may_follow(tmp_path: Path) -> None:
    lines = StepLines()
    path = tmp_path / "some.jsonl.gz"
    lines.add({"step": 0, "text": "Käse\n" * 500})
    path.write_bytes(lines.packed())
    assert list(read_lines(path)) == [{"step": 0, "text": "Käse\n" * 500}]
    assert path.stat().st_size < 200
    lines.add({"step": 1})
    path.write_bytes(lines.packed())
    assert [line["step"] for line in read_lines(path)] == [0, 1]


def test_values_of_secret_variables_are_redacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_API_KEY", 'a"very"secret')
    lines = StepLines()
    lines.add({"asked": 'the key is a"very"secret indeed'})
    (tmp_path / "x.gz").write_bytes(lines.packed())
    assert list(read_lines(tmp_path / "x.gz")) == [{"asked": "the key is [redacted] indeed"}]


def test_a_run_of_an_earlier_version_has_no_lines_and_a_damaged_file_is_one_error(
    tmp_path: Path,
) -> None:
    assert list(read_lines(tmp_path / "none.gz")) == []
    lines = StepLines()
    lines.add({"step": 0})
    (tmp_path / "cut.gz").write_bytes(lines.packed()[:-9])
    with pytest.raises(StoreError, match=r"cut\.gz: cannot be read"):
        list(read_lines(tmp_path / "cut.gz"))
