"""The appendix of prompts shows what a model was asked, word for word."""

from __future__ import annotations

from pathlib import Path

from quick_cases import SLOW
from support.runs.played_episode import ANSWER
from support.runs.sampled_runs import RIGHT, TO_KETTLE, Sampled, sampled_run
from support.worlds.fake_world import browsing_task

from orchestrator.analysis.figures.writing import prompts
from orchestrator.analysis.stats.results import EpisodeTable
from orchestrator.analysis.studies.analysis import analyse
from orchestrator.analysis.studies.study_runs import first_prompt, read_study_run
from orchestrator.episode.jsonl_files import EXCHANGES_FILE, read_exchanges


@SLOW
async def test_the_first_request_of_the_first_episode_is_shown_as_it_was_sent(
    tmp_path: Path,
) -> None:
    task = browsing_task(checks=[ANSWER])
    run = await sampled_run(tmp_path / "run", [Sampled(task, [TO_KETTLE, RIGHT])] * 2)
    [first, second] = run.episodes

    found = first_prompt("chat", "tiny", run.folder)

    assert found is not None
    [asked, *_] = read_exchanges(run.folder.evidence_folder(first.folder))
    sent = asked.exchange.request["messages"]
    assert isinstance(sent, list)
    assert [(one.role, one.text) for one in found.messages] == [
        (message["role"], message["content"]) for message in sent if isinstance(message, dict)
    ]
    assert (found.episode, found.model) == (first.folder, "scripted")

    (run.folder.evidence_folder(first.folder) / EXCHANGES_FILE).write_bytes(b"damaged")
    again = first_prompt("chat", "tiny", run.folder)
    assert again is not None
    assert again.episode == second.folder


async def test_the_markdown_of_prompts_has_each_letter_of_them(tmp_path: Path) -> None:
    fenced = "What is `this`?\n```\n# code\n````\nend"
    task = browsing_task(checks=[ANSWER]).model_copy(update={"intent": fenced})
    report = await sampled_run(tmp_path / "run", [Sampled(task, [TO_KETTLE, RIGHT])])
    run, rows = read_study_run("chat", "tiny", "run", report.folder)

    written = prompts(analyse((), EpisodeTable(rows), (run,), title="Own"))

    assert fenced in written
    assert "`````\n" in written  # a fence that no line of the prompt ends
    assert written.count("`````") % 2 == 0


async def test_an_agent_that_asked_no_model_has_no_prompt(tmp_path: Path) -> None:
    report = await sampled_run(tmp_path / "run", [Sampled(browsing_task(), [])], agent="oracle")
    run, rows = read_study_run("oracle", "tiny", "run", report.folder)

    assert run.prompt is None
    assert prompts(analyse((), EpisodeTable(rows), (run,), title="Own")) == ""
