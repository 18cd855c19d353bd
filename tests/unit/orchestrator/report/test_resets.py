from __future__ import annotations

import pytest

from evaluators.evidence import Proof, Receipt
from orchestrator.report.html import render_html
from orchestrator.report.resets import fallbacks, reset_figures
from orchestrator.report.run_report import RunReport


def receipt(
    strategy: str,
    seconds: float,
    *,
    proof: Proof = Proof.FINGERPRINT,
    fell: tuple[str, ...] = (),
    swapped: bool = False,
    waited: float = 0.0,
    after: str = "g",
) -> Receipt:
    return Receipt(
        site="shop",
        strategy=strategy,
        seconds=seconds,
        before=None,
        after=after,
        golden="g",
        proof=proof,
        fallbacks=fell,
        swapped=swapped,
        waited=waited,
    )


def test_receipts_are_summed_up_by_site_and_rung() -> None:
    rewound, cleaned = reversed(
        reset_figures(
            [
                receipt("rewind", 0.2, waited=0.3),
                receipt("rewind", 0.4, swapped=True),
                receipt("rewind", 0.9, after="else"),
                receipt("clean", 0.01, proof=Proof.COUNTERS),
            ]
        )
    )
    assert (rewound.strategy, rewound.count, rewound.proven) == ("rewind", 3, 2)
    assert (rewound.median_s, rewound.max_s) == (0.4, 0.9)
    assert (rewound.swapped, rewound.longest_wait_s) == (1, 0.3)
    assert (cleaned.strategy, cleaned.proven, cleaned.by_counters) == ("clean", 1, 1)


def test_the_longest_median_has_the_full_bar_and_the_others_their_share() -> None:
    bars = {
        one.strategy: one.share
        for one in reset_figures([receipt("recreate", 2.0), receipt("rewind", 0.5)])
    }
    assert bars == {"recreate": 1.0, "rewind": pytest.approx(0.25)}


def test_resets_that_took_no_time_have_no_bar() -> None:
    [figures] = reset_figures([receipt("clean", 0.0)])
    assert figures.share == 0.0


def test_what_was_not_enough_is_counted_the_most_frequent_first() -> None:
    counted = fallbacks(
        [
            receipt("rewind", 1, fell=("clean: table auth_user moved",)),
            receipt("recreate", 1, fell=("clean: table auth_user moved", "rewind: no answer")),
        ]
    )
    assert [(one.count, one.reason) for one in counted] == [
        (2, "clean: table auth_user moved"),
        (1, "rewind: no answer"),
    ]


def test_the_report_shows_rungs_proofs_and_no_fallback_where_there_was_none(
    report: RunReport,
) -> None:
    page = render_html(report)
    assert "12 of 12" in page
    assert "a rung was not enough" not in page
