"""What a model costs: who says so, and for which endpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_core.errors import InputError
from orchestrator.agents.model.options import (
    OPENAI_URL,
    ModelPrice,
    find_price,
    read_prices,
    shipped_prices,
)
from orchestrator.agents.model_exchange import TokenUsage

OWN = """
date: 2026-11-20
source: our contract
models:
  qwen: {input: 1, output: 4, cached: 0.5}
  gpt-4o: {input: 99, output: 99}
"""


def table(folder: Path, text: str = OWN) -> Path:
    path = folder / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_reply_costs_its_tokens_the_cached_ones_less() -> None:
    price = ModelPrice(input=2, output=8, cached=0.5)
    usage = TokenUsage(input_tokens=1_000_000, output_tokens=500_000, cached_tokens=400_000)
    assert price.cost(usage) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 4)


def test_cached_tokens_without_a_price_cost_what_others_do() -> None:
    usage = TokenUsage(input_tokens=1_000_000, cached_tokens=1_000_000)
    assert ModelPrice(input=2, output=8).cost(usage) == 2


def test_an_endpoint_that_counts_more_cached_than_asked_pays_nothing_back() -> None:
    usage = TokenUsage(input_tokens=10, cached_tokens=1_000_000)
    assert ModelPrice(input=2, output=8, cached=0.5).cost(usage) > 0


def test_the_shipped_table_names_its_day_and_source() -> None:
    shipped = shipped_prices()
    assert shipped.models
    found = find_price("gpt-4o", OPENAI_URL)
    assert found is not None
    assert str(found.date) in str(found)
    assert shipped.source in str(found)


def test_a_model_of_that_name_elsewhere_has_no_known_price() -> None:
    assert find_price("gpt-4o", "http://127.0.0.1:8000/v1") is None
    assert find_price("gpt-4o-2099", OPENAI_URL) is None


def test_ones_own_table_counts_first_and_arenas_for_the_rest(tmp_path: Path) -> None:
    own = table(tmp_path)
    local = find_price("qwen", "http://127.0.0.1:8000/v1", own)
    assert local is not None
    assert local.source == "our contract"
    overridden = find_price("gpt-4o", OPENAI_URL, own)
    assert overridden is not None
    assert overridden.price.input == 99
    assert find_price("gpt-5", OPENAI_URL, own) is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: {}", "date"),
        (OWN.replace("input: 1,", "input: -1,"), "models.qwen.input"),
        (OWN.replace("input: 1,", "input: .nan,"), "models.qwen.input"),
        (OWN.replace("output: 4,", "out: 4,"), "models.qwen.output"),
        ("date: [", "not YAML"),
        ("[]", "file"),
    ],
)
def test_a_table_that_is_wrong_is_refused_with_file_and_field(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_prices(table(tmp_path, text))
    assert "prices.yaml" in caught.value.message
    assert said in caught.value.message
    assert "\n" not in caught.value.message


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_prices(tmp_path / "none.yaml")
