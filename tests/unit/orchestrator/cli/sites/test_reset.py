from __future__ import annotations

from collections.abc import Callable

import pytest
from support.agents.arena_process import Ended

from evaluators.evidence import Receipt, Verification
from orchestrator.cli.console import Console
from orchestrator.cli.sites.reset import _show
from orchestrator.sandbox.standing_sites import SiteReset

Call = Callable[..., Ended]


def receipt(**fields: object) -> Receipt:
    return Receipt.model_validate(
        {
            "site": "shop",
            "strategy": "rewind",
            "seconds": 0.41,
            "before": None,
            "after": "a" * 64,
            "golden": "a" * 64,
            **fields,
        }
    )


def test_a_swap_is_refused_and_the_line_says_where_swaps_happen(call: Call) -> None:
    ended = call("reset", "--strategy", "swap")
    assert ended.code == 2
    assert "has one port and no gateway" in ended.err
    assert "`arena eval`" in ended.err


def test_one_line_a_site_says_which_strategy_how_long_and_that_it_is_golden(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clean = receipt(site="wiki", strategy="clean", seconds=0.02, before="a" * 64)
    _show(Console(), [SiteReset(receipt(), 0), SiteReset(clean, None)], verify=False)
    _, shop, wiki = capsys.readouterr().out.splitlines()
    assert " ".join(shop.split()) == "shop rewind 0.41 golden aaaaaaaaaaaa fingerprint not looked"
    assert " ".join(wiki.split()) == "wiki clean 0.02 golden aaaaaaaaaaaa fingerprint 0"


def test_a_strategy_that_was_not_enough_is_named_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    why = f"clean: table note: {'1 row more, ' * 40}"
    done = SiteReset(receipt(fallbacks=(why,), proof=Verification.FINGERPRINT), 0)
    _show(Console(), [done], verify=False)
    _, line, reason = capsys.readouterr().out.splitlines()
    assert line.split()[-1] == "clean"
    assert reason.startswith("shop: clean: table note: 1 row more")
    assert reason.endswith("…; so rewind")
    assert len(reason) < 200


def test_slots_of_one_site_are_distinguished(capsys: pytest.CaptureFixture[str]) -> None:
    differed = receipt(differences=("table note: 1 row more",))
    row = "table note, row id=3 added"
    _show(Console(), [SiteReset(receipt(), 0), SiteReset(differed, 1, (row,))], verify=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:] == [
        "shop (slot 0): nothing differed",
        "shop (slot 1): table note: 1 row more",
        f"shop (slot 1): {row}",
    ]
