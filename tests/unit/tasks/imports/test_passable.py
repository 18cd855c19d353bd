"""Every imported task is passable: the episode that its own gold describes is a success."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.blind_answers import passed_blindly
from support.runs.make_evidence import make_evidence, make_step
from support.tasks.gold_pages import gold_episode as gold_pages
from support.tasks.gold_requests import gold_episode
from support.tasks.reference_data import AUTOWEBBENCH, MIND2WEB_LIVE, WEBARENA, reference_half

from arena_core.actions import Stop
from evaluators.scorers.autowebbench import AUTOWEBBENCH_SCORER
from evaluators.scorers.verified.scorer import VERIFIED_SCORER
from evaluators.scorers.webarena.scorer import WEBARENA_SCORER
from evaluators.scores import score
from tasks.imports.suite_file import import_suite
from tasks.schema import Family, Task

# What webarena-verified itself does not accept either, of the episode that does what it asks for:
# 319 has no data where it looks for them, 699, 700 and 811 have a list of one, 429 asks for two
# navigations to be the last, 562 to 566 compare a placeholder with a URL (566 names another
# project, too), the others ask for several requests each of which must be the last of its URL.
NOT_SOUND = frozenset(
    {
        *(319, 429, 562, 563, 564, 565, 566, 567, 568, 569, 570, 699, 700, 742, 743, 745, 746),
        811,
    }
)
NOT_PASSABLE_STRICTLY = frozenset({429, 566})
# Their form is sent to a URL of no site, where nobody answers; or they ask for the start page.
NOT_TRANSLATED = frozenset(
    {
        *(528, 529, 530, 689, 690, 691, 692, 693),
        *(356, 757, 758, *range(761, 768)),
    }
)
DATASET = "webarena_verified/assets/dataset/webarena-verified.json"


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Task, ...]:
    """The whole set, as its package on PyPI holds it."""
    folder = tmp_path_factory.mktemp("wheel")
    told = ["--no-deps", "--quiet", "--dest", str(folder), "webarena-verified==1.2.3"]
    got = subprocess.run(
        [sys.executable, "-m", "pip", "download", *told],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if got.returncode:
        pytest.skip(f"webarena-verified cannot be had here: {got.stderr.strip()[-200:]}")
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        path = Path(archive.extract(DATASET, folder))
    return import_suite("webarena-verified", [path]).tasks


def number(task: Task) -> int:
    assert task.original is not None
    return int(task.original.id)


@pytest.mark.slow(minutes=1)
class TestVerified:
    def test_each_gold_passes_strictly_unless_it_is_listed(
        self, verified: tuple[Task, ...]
    ) -> None:
        outcomes = {
            number(task): str(score(task.checks, gold_episode(task)).outcome) for task in verified
        }
        assert len(outcomes) == 812
        unmet = {task for task, outcome in outcomes.items() if outcome == "failure"}
        unsaid = {task for task, outcome in outcomes.items() if outcome.startswith("unscored")}
        assert unmet == NOT_PASSABLE_STRICTLY
        assert unsaid == NOT_TRANSLATED

    def test_each_gold_passes_in_its_scorer_unless_it_is_not_sound(
        self, verified: tuple[Task, ...]
    ) -> None:
        refused = {
            number(task)
            for task in verified
            if task.original is not None
            and VERIFIED_SCORER.score(task.original, gold_episode(task), {}).value != 1.0
        }
        assert refused - NOT_TRANSLATED == NOT_SOUND

    def test_nothing_is_passed_by_an_answer_without_content(
        self, verified: tuple[Task, ...]
    ) -> None:
        tried = [(task, passed_blindly(task)) for task in verified]
        passed = [(task, said) for task, said in tried if said is not None]
        assert {said for _, said in passed} == {"N/A"}
        assert {number(task) for task, _ in passed} == {491, 790, 792, 793, 805, 807}
        assert {task.family.value for task, _ in passed} == {"unachievable"}


class TestWebArena:
    """The even half: answers, final URLs and pages as the record asks for them."""

    # Found by an API login, which no look has; 294 and 296 name a host that no replica has.
    NOT_TRANSLATED = frozenset({294, 296, 436, 438, 440, 506, 508, 510, 586, 588})
    JUDGED = 32
    MISSPELT = frozenset({108, 110})  # "Feburary", "Sepetember": no agent is to write them so

    @SLOW
    def test_each_gold_passes_strictly_and_in_its_scorer(self) -> None:
        tasks = import_suite("webarena", [reference_half(WEBARENA)]).tasks
        outcomes: dict[str, set[int]] = {}
        refused = set()
        for task in tasks:
            assert task.original is not None
            played = gold_pages(task)
            outcome = str(score(task.checks, played).outcome)
            outcomes.setdefault(outcome, set()).add(number(task))
            asked = WEBARENA_SCORER.questions(task.original, played)
            said = {one.key: "same" if "ua" in one.prompt else "correct" for one in asked}
            if WEBARENA_SCORER.score(task.original, played, said).value != 1.0:
                refused.add(number(task))
        assert outcomes.pop("unscored: check_error") == self.NOT_TRANSLATED
        assert len(outcomes.pop("unscored: judge_unavailable")) == self.JUDGED
        assert outcomes.pop("failure") == self.MISSPELT
        assert set(outcomes) == {"success"}
        # ` |OR| ` is not split there (386); the others' pages were not looked at.
        assert refused == {386} | (self.NOT_TRANSLATED - {294, 296})

    @SLOW
    def test_a_blind_answer_passes_what_cannot_be_done_alone(self) -> None:
        tasks = import_suite("webarena", [reference_half(WEBARENA)]).tasks
        tried = [(task, passed_blindly(task)) for task in tasks]
        passed = {(task.family.value, said) for task, said in tried}
        # `None` answers "how many" where there are none.
        assert passed - {(family.value, None) for family in Family} == {
            ("unachievable", "N/A"),
            ("information", "None"),
        }
        zero = [task for task, said in tried if said == "None"]
        assert {getattr(check.match, "value", None) for task in zero for check in task.checks} == {
            "0"
        }


@SLOW
def test_each_recorded_command_passes_and_no_blind_one_does() -> None:
    for task in import_suite("autowebbench", [reference_half(AUTOWEBBENCH)]).tasks:
        assert task.original is not None
        target = str(task.original.record["target"])
        last = make_step(1).model_copy(update={"action": Stop(answer=target)})
        played = make_evidence(make_step(0), last, answer=target)
        assert str(score(task.checks, played).outcome) == "success"
        read = AUTOWEBBENCH_SCORER.score(task.original, played, {})
        assert read.metrics["strict"] == 1.0
        assert read.value in {1.0, None}
        assert passed_blindly(task) is None


def test_no_blind_answer_passes_a_live_task() -> None:
    for task in import_suite("mind2web-live", [reference_half(MIND2WEB_LIVE)]).tasks:
        assert passed_blindly(task) is None
