"""The scripts of `docs/scaling.md`: what each scheduler starts, and shards of a study, merged."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.runs.ledger_check import ledger_faults
from support.runs.sharded_scripts import (
    SCHEDULERS,
    merging,
    of_a_study,
    run,
    started,
    write_scripts,
)
from support.tasks.small_suites import bells, write_suite

from evaluators.verdicts import Outcome, Verdict
from orchestrator.analysis.run_report.run_report import RunReport, read_run
from orchestrator.runs.store.ledger import EpisodeKey
from orchestrator.runs.store.run_folder import RunFolder

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=8)]

STUDY = """\
name: sharded
agents:
  right: {{agent: oracle}}
  wrong: {{agent: oracle, options: {{error_rate: 0.5, seed: 7}}}}
worlds: [offline]
suites: [{{suite: {suite}}}]
repeats: 2
questions: [{{id: q, kind: difference, of: agents, first: right, second: wrong}}]
"""


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_a_scheduler_starts_is_merged_to_the_run_on_one_machine(
    tmp_path: Path, scheduler: str
) -> None:
    suite = write_suite(tmp_path, *(bells(name) for name in ("one", "two", "three")))
    (tmp_path / "run.yaml").write_text(f"suite: {suite.name}\n")
    write_scripts(tmp_path)
    for number in (3, 1, 4, 2):
        run(*started(scheduler, number), tmp_path)
    run(merging(scheduler), {}, tmp_path)
    merged = read_run(RunFolder.open(tmp_path / "whole"))
    assert (merged.pending, merged.edited) == (0, ())
    if scheduler == SCHEDULERS[0]:
        run(["arena", "eval", "--config", "run.yaml", "--out", "alone"], {}, tmp_path)
        run(["arena", "eval", "--resume", "whole"], {}, tmp_path)  # plays nothing
        again = read_run(RunFolder.open(tmp_path / "whole"))
        alone = read_run(RunFolder.open(tmp_path / "alone"))
        assert verdicts(merged) == verdicts(again) == verdicts(alone)
        assert len(again.attempts) == 3


def test_a_study_in_shards_is_the_study_on_one_machine(tmp_path: Path) -> None:
    suite = write_suite(tmp_path, *(bells(name) for name in ("one", "two", "three")))
    (tmp_path / "study.yaml").write_text(STUDY.format(suite=suite.name))
    run(of_a_study(), {}, tmp_path)
    run(["arena", "study", "run", "study.yaml", "--out", "alone"], {}, tmp_path)
    whole = tmp_path / "study-of-both"
    for agent in ("right", "wrong"):
        parts = [tmp_path / "parts" / number / "runs" / agent for number in "12"]
        assert ledger_faults(parts, kept_in=whole / "runs" / agent) == []
        merged, alone = (
            verdicts(read_run(RunFolder.open(study / "runs" / agent)))
            for study in (whole, tmp_path / "alone")
        )
        assert merged == alone
        assert len(merged) == 2 * 3
    run(["arena", "study", "verify", str(whole)], {}, tmp_path)
    run(["arena", "study", "run", str(whole)], {}, tmp_path)  # plays nothing
    run(["arena", "study", "verify", str(whole)], {}, tmp_path)


def verdicts(report: RunReport) -> dict[EpisodeKey, tuple[Outcome, tuple[Verdict, ...]]]:
    return {one.key: (one.score.outcome, one.score.verdicts) for one in report.episodes}
