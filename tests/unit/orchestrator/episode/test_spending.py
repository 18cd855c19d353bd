"""What models cost, and what of it nobody knows."""

from __future__ import annotations

import pytest

from arena_core.errors import AgentError
from orchestrator.agents.model_exchange import (
    ModelExchange,
    Spent,
    TokenUsage,
    reported_usage,
    spent_on,
    total,
)


def exchange(tokens: int, usd: float | None = None) -> ModelExchange:
    return ModelExchange(usage=TokenUsage(input_tokens=tokens, output_tokens=1), usd=usd)


def test_costs_add_up_and_one_unknown_makes_the_sum_unknown() -> None:
    known = [Spent.of_exchange(exchange(10, 0.25)), Spent.of_exchange(exchange(20, 0.5))]
    assert total(known).usd == 0.75
    assert total(known).tokens == 32
    unknown = total([*known, Spent.of_exchange(exchange(5))])
    assert (unknown.usd, unknown.priced_usd, unknown.unpriced) == (None, 0.75, 1)


def test_who_asked_no_model_has_no_cost_and_spoils_none() -> None:
    assert Spent().usd is None
    assert (Spent() + Spent.of_exchange(exchange(10, 0.0))).usd == 0.0
    refused = Spent.of_exchange(ModelExchange(error="401"))
    assert (refused + Spent.of_exchange(exchange(10, 0.5))).usd == 0.5


def test_a_reply_that_nobody_counted_is_known_to_be_missing() -> None:
    spent = Spent.of_exchange(ModelExchange(reply="{}"))
    assert (spent.uncounted, spent.usd) == (1, None)


def test_an_agent_that_reports_its_exchanges_is_not_counted_twice() -> None:
    exchanges = [exchange(100, 0.5), exchange(50, 0.25)]
    assert spent_on(exchanges, 150, 2, 0.75) == total(map(Spent.of_exchange, exchanges))


def test_an_agent_that_reports_less_than_it_asked_spent_what_it_asked() -> None:
    spent = spent_on([exchange(100, 0.5)], 0, 0, None)
    assert (spent.input_tokens, spent.usd) == (100, 0.5)


def test_what_an_agent_asked_by_a_client_of_its_own_comes_on_top() -> None:
    priced = spent_on([exchange(100, 0.5)], 300, 1, 0.75)
    assert (priced.input_tokens, priced.usd) == (300, 0.75)
    unpriced = spent_on([exchange(100, 0.5)], 300, 1, None)
    assert (unpriced.input_tokens, unpriced.usd) == (300, None)
    assert spent_on((), 7, 2, None).tokens == 9
    assert spent_on((), 0, 0, None) == Spent()


def test_the_usage_of_an_outside_agent_is_read() -> None:
    spent = reported_usage({"input_tokens": 812, "output_tokens": 40, "usd": 0.5, "more": "x"})
    assert (spent.input_tokens, spent.output_tokens, spent.usd) == (812, 40, 0.5)
    assert reported_usage({"input_tokens": 812}).usd is None
    assert reported_usage(None) == reported_usage({}) == Spent()


def test_tokens_that_an_outside_agent_does_not_know_are_unknown_and_no_mistake() -> None:
    spent = reported_usage({"input_tokens": None, "output_tokens": 40, "usd": 0.5})
    assert (spent.output_tokens, spent.usd, spent.uncounted) == (40, 0.5, 1)
    nothing_known = reported_usage({"input_tokens": None, "output_tokens": None, "usd": None})
    assert (nothing_known.tokens, nothing_known.usd) == (0, None)
    assert (nothing_known.replies, nothing_known.uncounted, nothing_known.unpriced) == (1, 1, 1)


@pytest.mark.parametrize(
    "value",
    [
        [],
        "many",
        {"input_tokens": -1},
        {"input_tokens": "3"},
        {"output_tokens": 1.5},
        {"usd": float("nan")},
        {"usd": -0.1},
        {"usd": True},
    ],
)
def test_an_invalid_usage_is_the_agents_fault(value: object) -> None:
    with pytest.raises(AgentError, match="agent reports invalid usage"):
        reported_usage(value)
