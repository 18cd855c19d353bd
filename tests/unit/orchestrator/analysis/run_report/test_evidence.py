"""What a report shows of evidence."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from quick_cases import SLOW
from support.runs.made_run import make_run

from evaluators.evidence import Receipt, Verification
from orchestrator.analysis.run_report.evidence import LONGEST, SeenTexts, fallbacks, reset_figures
from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.episode.jsonl_files import OBSERVATIONS_FILE, StepLines


def receipt(
    strategy: str,
    seconds: float,
    *,
    proof: Verification = Verification.FINGERPRINT,
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


def test_receipts_are_summed_up_by_site_and_strategy() -> None:
    rewound, cleaned = reversed(
        reset_figures(
            [
                receipt("rewind", 0.2, waited=0.3),
                receipt("rewind", 0.4, swapped=True),
                receipt("rewind", 0.9, after="else"),
                receipt("clean", 0.01, proof=Verification.COUNTERS),
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


@SLOW
def test_the_report_shows_strategies_proofs_and_no_fallback_where_there_was_none(
    report: RunReport,
) -> None:
    page = render_html(report)
    assert "12 of 12" in page
    assert "a strategy was not enough" not in page


def write(folder: Path, *lines: dict[str, object]) -> None:
    kept = StepLines()
    for line in lines:
        kept.add(line)
    (folder / OBSERVATIONS_FILE).write_bytes(kept.packed())


@SLOW
def test_a_step_shows_the_texts_of_its_observation_cut_to_what_is_looked_through(
    tmp_path: Path,
) -> None:
    run = make_run(tmp_path / "run")
    name = run.evidence_names()[0]
    episode: Any = SimpleNamespace(folder=name)
    assert SeenTexts(run).text(episode, 0) == ""
    tree = {"text": "[1] <button>" + "x" * 9000}
    write(run.evidence_folder(name), {"step": 0, "parts": {"axtree": tree, "boxes": {"1": {}}}})
    shown = SeenTexts(run).text(episode, 0)
    assert shown.startswith("axtree\n[1] <button>")
    assert len(shown) < LONGEST + 100
    assert OBSERVATIONS_FILE in shown
    assert SeenTexts(run).text(episode, 1) == ""
    page = render_html(read_run(run))
    assert "what the agent saw then" in page
    assert "[1] &lt;button&gt;" in page


def test_a_damaged_file_hides_nothing_else(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    name = run.evidence_names()[0]
    (run.evidence_folder(name) / OBSERVATIONS_FILE).write_bytes(b"\x1f\x8bnothing")
    episode: Any = SimpleNamespace(folder=name)
    assert "cannot be read" in SeenTexts(run).text(episode, 0)
