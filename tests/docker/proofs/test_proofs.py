"""Each proof catches its mistake: tasks broken on purpose, played on the real sites."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.agents.arena_process import arena

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=1)]

BROKEN = Path(__file__).with_name("broken.yaml")
FOUND = {
    "wrong-key": ["offline: check 'bells': computed is another value: found '47', wanted"],
    "met-untouched": ["offline: check 'tea' holds before the first action: found '1'"],
    "solved-untouched": [
        "offline: doing nothing must fail, ends as 'success'",
        "offline: check 'article' holds before the first action",
        "offline: stopped before its last action, the reference ends as 'success'",
        "offline: pages opened and left passes",
    ],
    "node-not-on-the-way": [
        "offline: the reference does not meet key node 'sakai'",
        "offline: stopped before its last action, the reference ends as 'success'",
    ],
    "last-step-superfluous": [
        "offline: stopped before its last action, the reference ends as 'success'",
    ],
    "nobody-looks": [
        "offline: check 'unchanged' holds before the first action",
        "offline: pages opened and left passes",
        "offline: the change made and taken back passes",
        "offline: the form failed with a redirect passes",
    ],
    "same-answer-1": ["offline: the answer of 'same-answer-2' ('yes') passes as well"],
    "same-answer-2": ["offline: the answer of 'same-answer-1' ('yes') passes as well"],
    "same-work-1": ["offline: what solves 'same-work-2' meets the checks of this task too"],
    "same-work-2": ["offline: what solves 'same-work-1' meets the checks of this task too"],
}


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, str]]]:
    """The errors that proving the broken suite once finds, by task."""
    ended = arena(
        "tasks",
        "lint",
        BROKEN,
        "--prove",
        "--json",
        cwd=tmp_path_factory.mktemp("proof"),
        limit_s=300,
    )
    assert ended.code == 5, ended.err
    errors: dict[str, list[dict[str, str]]] = {}
    for finding in ended.document:
        if finding["severity"] == "error":
            errors.setdefault(finding["task"], []).append(finding)
    return errors


def test_a_sound_task_has_no_findings(proven: dict[str, list[dict[str, str]]]) -> None:
    assert "sound" not in proven
    assert set(proven) == set(FOUND)


@pytest.mark.parametrize("task", FOUND)
def test_each_mistake_is_found_by_its_proof(
    proven: dict[str, list[dict[str, str]]], task: str
) -> None:
    messages = [finding["message"] for finding in proven[task]]
    assert len(messages) == len(FOUND[task]), messages
    for wanted, message in zip(FOUND[task], messages, strict=True):
        assert message.startswith(wanted)


def test_a_finding_names_the_line_of_what_is_wrong(
    proven: dict[str, list[dict[str, str]]],
) -> None:
    lines = BROKEN.read_text(encoding="utf-8").splitlines()
    for task, wanted in (
        ("wrong-key", "computed: {site: wiki"),
        ("met-untouched", "- name: tea"),
        ("last-step-superfluous", "- {do: scroll"),
    ):
        file, line = proven[task][0]["where"].rsplit(":", 1)
        assert file == str(BROKEN)
        assert wanted in lines[int(line) - 1]
