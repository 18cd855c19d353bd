"""A login that is gone at the end of an episode: the site's doing, or the agent's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from quick_cases import SLOW
from support.agents.scripted_model import ChatRequest, Says, Script, ScriptedModel, ScriptedReply
from support.runs.run_at import RunAt, on_engine
from support.tasks.small_suites import PROFILE, current_url, profile, solve_profile, write_suite

from arena_core.actions import Action, Goto, Stop
from evaluators.evidence import UnscoredReason

pytestmark = [pytest.mark.docker, pytest.mark.browser]

StartModel = Callable[[Script], ScriptedModel]
EMMA = "emma.hartley@example.com"
SIGN_OUT = "/accounts/logout/"


def chat(model: ScriptedModel) -> tuple[str, ...]:
    return ("--agent", "chat", "--model", "scripted", "--model-url", model.url)


def change_emma(run: RunAt, change: str) -> None:
    """Change an account of a run's one shop, as its own application could."""
    sql = f"UPDATE auth_user SET {change} WHERE email = '{EMMA}'"  # noqa: S608 - the test's own
    [shop] = [one for one in run.containers() if "-shop-" in one.name]
    argv = ("mariadb", "--defaults-file=/srv/shop/my.cnf", "--user=arena", "shop", "-e", sql)
    done = on_engine(lambda engine: engine.execute(shop.id, argv))
    assert done.exit_code == 0, done.stderr


def once(deed: Callable[[], None]) -> Script:
    """Solve the task; do something else besides when first asked."""
    left = [deed]

    def reply(request: ChatRequest) -> ScriptedReply:
        if left:
            left.pop()()
        return solve_profile(request)

    return reply


def stop_at_login(solve: Script) -> Script:
    """Stop where the site leads to its login instead of where the agent wants to go."""
    assert callable(solve)

    def reply(request: ChatRequest) -> ScriptedReply:
        if "/accounts/login/" in current_url(request):
            return Says.action(Stop())
        return solve(request)

    return reply


@SLOW
@pytest.mark.parametrize(
    "change",
    ["password = CONCAT(password, 'x')", "is_active = 0"],
    ids=["another password", "barred"],
)
def test_a_login_that_the_site_drops_is_tried_again_and_never_a_failure(
    run: RunAt, tmp_path: Path, scripted_model: StartModel, change: str
) -> None:
    model = scripted_model(stop_at_login(once(lambda: change_emma(run, change))))
    played = run.play(write_suite(tmp_path, profile("profile")), *chat(model))
    assert played.code == 0, played.err
    assert run.attempts() == [("retried", "infra"), ("finished", "success")]
    fault = run.evidence("profile", 1).fault
    assert fault is not None
    assert fault.reason is UnscoredReason.INFRA
    assert fault.message.startswith(
        "site 'shop', role 'customer': the site dropped the login during the episode"
    )
    assert fault.message in played.err


def sign_out(origin: str) -> Script:
    def reply(request: ChatRequest) -> ScriptedReply:
        del request
        return Says.action(left.pop())

    left: list[Action] = [Stop(), Goto(url=f"{origin}{SIGN_OUT}")]
    return reply


def test_an_agent_that_signs_out_has_failed_by_itself(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(sign_out("http://shop.arena.test"))
    played = run.play(write_suite(tmp_path, profile("profile")), *chat(model))
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]
    assert run.evidence("profile").fault is None


@SLOW
def test_a_role_that_is_called_otherwise_now_is_not_logged_out(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    model = scripted_model(once(lambda: change_emma(run, "email = 'emma@example.com'")))
    played = run.play(write_suite(tmp_path, profile("profile")), *chat(model))
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "success")]
    assert PROFILE in {visit.url for step in run.evidence("profile").steps for visit in step.visits}


@SLOW
def test_an_agent_that_signs_out_at_a_live_origin_has_failed_by_itself_too(
    run: RunAt, tmp_path: Path, scripted_model: StartModel
) -> None:
    """Inside TLS only the browser sees what was asked for."""
    task = profile("profile", worlds=["online"])
    task = {**task, "checks": [check for check in task["checks"] if check["name"] == "profile"]}  # type: ignore[attr-defined]
    model = scripted_model(sign_out("https://www.harbourandpine.example"))
    played = run.play(write_suite(tmp_path, task), "--online", "--staged", *chat(model))
    assert played.code == 0, played.err
    assert run.attempts() == [("finished", "failure")]
