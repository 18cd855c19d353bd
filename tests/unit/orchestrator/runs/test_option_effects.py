"""Options about live origins are refused where no upstream of the run is touched by them."""

from __future__ import annotations

from contextlib import nullcontext as nothing
from typing import Any

import pytest
from support.runs.make_evidence import make_check
from support.runs.published_run import published
from support.runs.tiny_run import SUITE

from arena_core.errors import UsageError
from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.fields import When
from evaluators.scorers.base import OriginalTask
from orchestrator.agents.interface import AgentClass, AgentLock
from orchestrator.runs.new_run import refuse_without_effect
from orchestrator.runs.request import RunRequest
from orchestrator.runs.spec import RunSettings
from sites.registry import load_registry
from tasks.schema import MiniWobStart

ATLAS = load_registry(())
BOTH = tuple(World)


def refuse(
    *sites: str,
    worlds: tuple[World, ...] = BOTH,
    resolves: str = "",
    recorded: str | None = None,
    original: OriginalTask | None = None,
    miniwob: MiniWobStart | None = None,
    labels: dict[str, dict[str, str]] | None = None,
    checks: tuple[Check, ...] = SUITE.tasks[0].checks,
    **more: Any,
) -> None:
    """Hold a run on these sites to its options; shop and wiki can be staged, forum cannot."""
    changes: dict[str, Any] = {"sites": sites, "worlds": worlds, "recorded": recorded}
    changes |= {"original": original, "miniwob": miniwob, "checks": checks}
    changes["labels"] = labels or {}
    task = SUITE.tasks[0].model_copy(update=changes)
    nobody: Any = None
    request = RunRequest(
        suite=SUITE,
        tasks=(task,),
        agent=nobody,
        agent_lock=AgentLock(name="a", kind="a", options={}, agent_class=AgentClass.BASELINE),
        settings=RunSettings(worlds=worlds, resolve=tuple(resolves.split()), **more),
    )
    refuse_without_effect(request, (), ATLAS)


def test_what_can_be_staged_or_is_found_by_name_may_be_said() -> None:
    refuse("shop", "tools", staged=True)
    refuse("wiki", resolves="en.wikipedia.org:443:127.0.0.1:8443")


@pytest.mark.parametrize("sites", [("tools",), ("forum",)])
def test_staging_where_nothing_can_be_staged_has_no_effect(sites: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--staged has no effect"):
        refuse(*sites, staged=True)


def test_a_run_is_staged_whole_or_refused_before_anything_starts() -> None:
    with pytest.raises(UsageError, match="site 'forum' has no staged live origin"):
        refuse("shop", "forum", staged=True)


@pytest.mark.parametrize(
    ("worlds", "staged"), [((World.OFFLINE,), False), (BOTH, True)], ids=["offline", "staged"]
)
def test_an_address_of_what_is_not_looked_up_has_no_effect(
    worlds: tuple[World, ...], *, staged: bool
) -> None:
    with pytest.raises(UsageError, match="the run visits no such live origin") as refused:
        refuse(
            "wiki",
            worlds=worlds,
            staged=staged,
            resolves="en.wikipedia.org:443:127.0.0.1:8443",
        )
    assert "visited and not staged: none" in refused.value.hint


@pytest.mark.parametrize(
    ("option", "said"), [("record_requests", "--record-requests"), ("trace", "--trace")]
)
def test_watching_a_browser_that_no_task_has_is_refused(option: str, said: str) -> None:
    given: dict[str, Any] = {option: True}
    refuse("wiki", **given)
    with pytest.raises(UsageError, match=f"{said} has no effect: no chosen task is played"):
        refuse("wiki", recorded="prompt", **given)


def test_an_arm_without_a_replica_or_a_browser_has_no_effect() -> None:
    here = (World.OFFLINE,)
    refuse("shop", worlds=here, vary=("look=dark",))
    with pytest.raises(UsageError, match="it visits no replica in a browser"):
        refuse("shop", worlds=here, vary=("look=dark",), recorded="prompt")


def test_a_phones_window_is_refused_where_the_window_belongs_to_the_page() -> None:
    here, page = (World.OFFLINE,), MiniWobStart(page="click-test", seed=1)
    refuse("shop", worlds=here, vary=("look=dark",), miniwob=page)
    with pytest.raises(UsageError, match="the size of its window is part of its page"):
        refuse("shop", worlds=here, vary=("look=mobile",), miniwob=page)


@pytest.mark.parametrize(
    ("status", "is_refused"),
    [(None, False), (200, False), ("any", True), (503, True), ((200, 503), True)],
)
def test_refused_pages_must_not_count_as_visited(status: object, *, is_refused: bool) -> None:
    here, flaky = (World.OFFLINE,), ("network=flaky",)
    visit = {"by": "url"} if status is None else {"by": "url", "status": status}
    sent = {"by": "network", "url": "shop:/a"} | ({} if status is None else {"status": status})
    for locate, when in ((visit, When.STEP), (visit, When.END), (sent, When.END)):
        checks = (make_check(locate, "shop:/a", when=when),)
        refuse("shop", worlds=here, vary=("network=slow",), checks=checks)
        with pytest.raises(UsageError, match="could count as visited") if is_refused else nothing():
            refuse("shop", worlds=here, vary=flaky, checks=checks)


@pytest.mark.parametrize("format_name", ["webarena", "webarena-verified", "mind2web-live"])
def test_what_a_published_scorer_judges_is_refused_a_flaky_network(format_name: str) -> None:
    judged = published(format_name, {}, "7")
    with pytest.raises(UsageError, match="could count as visited"):
        refuse("shop", worlds=(World.OFFLINE,), vary=("network=flaky",), original=judged)


def test_an_arm_that_would_alter_what_a_scorer_reads_is_refused() -> None:
    here = (World.OFFLINE,)
    judged = published("webarena-verified", {"eval": [{"response_content": {"id": 1}}]}, "7")
    others = published("webarena-verified", {}, "7")
    refuse("shop", worlds=here, vary=("network=slow", "look=mobile"), original=judged)
    refuse("shop", worlds=here, vary=("look=dark",), original=others)
    with pytest.raises(UsageError, match="is judged by what the site answered"):
        refuse("shop", worlds=here, vary=("network=slow", "page=notice"), original=judged)


HERE = (World.OFFLINE,)
MINE = {"mine": {"Kettle": "Kessel", "Buy": "Kaufen"}}


def test_a_table_of_labels_that_nobody_has_is_refused() -> None:
    refuse("shop", worlds=HERE, vary=("labels=mine",), labels=MINE)
    refuse("shop", worlds=HERE, vary=("labels=german",))
    with pytest.raises(UsageError, match="has no table of labels 'yours'"):
        refuse("shop", worlds=HERE, vary=("labels=yours",), labels=MINE)


@pytest.mark.parametrize("value", ["Kettle", " kettle ", "Kessel", ["a", "KETTLE"]])
def test_a_value_that_a_check_expects_must_not_be_a_label(value: object) -> None:
    """A product that is named like a button: the agent would read, and give, the new name."""
    checks = (make_check({"by": "answer"}, value),)
    with pytest.raises(UsageError, match="which labels=mine renames"):
        refuse("shop", worlds=HERE, vary=("labels=mine",), labels=MINE, checks=checks)
    refuse("shop", worlds=HERE, vary=("look=dark",), labels=MINE, checks=checks)


@pytest.mark.parametrize(
    ("read", "is_refused"), [("name", False), ("text", False), ("value", True)]
)
def test_what_an_element_is_called_is_recorded_as_its_site_calls_it(
    read: str, *, is_refused: bool
) -> None:
    clicked = {"by": "element", "event": "click", "read": read, "named": "Buy"}
    checks = (make_check(clicked, "Buy", when=When.STEP),)
    with pytest.raises(UsageError, match="expects 'Buy'") if is_refused else nothing():
        refuse("shop", worlds=HERE, vary=("labels=mine",), labels=MINE, checks=checks)


def test_what_a_published_task_expects_must_not_be_a_label_and_what_it_asks_for_may() -> None:
    right = published("webarena", {"eval": {"reference_answers": {"must_include": ["Kettle"]}}}, "")
    asks = published("webarena", {"intent": "Buy", "intent_template": "Kettle"}, "")
    with pytest.raises(UsageError, match="its published task expects 'Kettle'"):
        refuse("shop", worlds=HERE, vary=("labels=mine",), labels=MINE, original=right)
    refuse("shop", worlds=HERE, vary=("labels=mine",), labels=MINE, original=asks)


def test_the_words_of_a_page_that_is_a_task_by_itself_are_not_renamed() -> None:
    page = MiniWobStart(page="click-test", seed=1)
    with pytest.raises(UsageError, match="part of what it asks for"):
        refuse("shop", worlds=HERE, vary=("labels=german",), miniwob=page)
