"""What was asked of models, kept without keeping it twice."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest
from pydantic import JsonValue

from arena_core.errors import StoreError
from orchestrator.model.question import hash_of
from orchestrator.model_exchange import ModelExchange, TokenUsage
from orchestrator.store.exchange_lines import ExchangeWriter, KeptExchange, read_exchanges
from orchestrator.store.step_lines import EXCHANGES_FILE, StepLines

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
