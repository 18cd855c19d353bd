"""A person does a task on the real sites, in a window; what is saved proves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents.arena_process import arena
from support.recorder.scripted_person import person_at, screen

from orchestrator.api.recordings import RecordingAsked
from orchestrator.authoring.recorder import proposals
from orchestrator.authoring.recorder.desk import Desk, DraftSaid
from orchestrator.authoring.recorder.recording import Recording
from orchestrator.authoring.recorder.task_text import Parameter
from orchestrator.authoring.recorder.trying import Bench, Trial
from sites.registry import load_registry
from tasks.loader import load_source

pytestmark = [pytest.mark.docker, pytest.mark.browser]

PROOF_S = 400.0


@pytest.fixture(autouse=True)
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A screen for the person's window; it ends with the test."""
    with screen() as name:
        if name is None:
            pytest.skip("no Xvfb here")
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield


async def saved(
    made: Recording,
    out: Path,
    intent: str,
    answer: str = "",
    parameters: tuple[Parameter, ...] = (),
) -> None:
    """Choose what a person would: all that is likely, and the rows that were found as they are."""
    desk = Desk(lambda: made, load_registry(), out)
    chosen = [*await desk.likely(answer or None)]
    bench = Bench(recording=made, answer=answer or None)
    rows = [one for one in proposals.of_end(made, None) if one.key.startswith("end-row")]
    chosen += [one.key for one in rows if bench.attempt(one.check).trial is Trial.MET][:1]
    draft = DraftSaid(
        id=out.stem, intent=intent, answer=answer, chosen=tuple(chosen), parameters=parameters
    )
    await desk.save(draft)


def assert_proves(suite: Path) -> None:
    proved = arena("tasks", "lint", suite, "--prove", "--json", cwd=suite.parent, limit_s=PROOF_S)
    assert proved.code == 0, f"{proved.out}\n{proved.err}"
    assert [one for one in proved.document if one["severity"] == "error"] == []


async def test_a_look_up_proves(tmp_path: Path) -> None:
    asked = RecordingAsked(
        name="samovar-town", start=["wiki:/article/Kettle"], roles={}, folder=tmp_path / "it"
    )
    async with person_at(asked) as (recorder, person):
        await person.click("link", "Samovar")
        recorder.capture.stopped.set()
        made = await recorder.finish()
    out = tmp_path / "samovar-town.yaml"
    intent = "Which town is the chief town of the makers of samovars? Answer with its name."
    await saved(made, out, intent, "Tula")
    assert_proves(out)


@pytest.mark.slow(minutes=4)
async def test_each_task_of_a_recorded_template_is_played(tmp_path: Path) -> None:
    """One was recorded; the others were never done by anybody until they are proven."""
    asked = RecordingAsked(
        name="makers", start=["wiki:/article/Kettle"], roles={}, folder=tmp_path / "it"
    )
    async with person_at(asked) as (recorder, person):
        await person.click("link", "Samovar")
        recorder.capture.stopped.set()
        made = await recorder.finish()
    intent = "Which town is best known for making what “Samovar” is about? Answer with its name."
    things, towns = ("Samovar", "Teapot", "Trivet"), ("Tula", "Yixing", "Limoges")
    for out, count in ((tmp_path / "two.yaml", 2), (tmp_path / "three.yaml", 3)):
        rows = (
            Parameter(name="thing", values=things[:count]),
            Parameter(name="town", values=towns[:count]),
        )
        await saved(made, out, intent, "Tula", rows)
        drawn = out.with_name(f"drawn-{out.name}")
        words = ("tasks", "instantiate", out, "--seed", "7", "--out", drawn)
        assert arena(*words, cwd=tmp_path, limit_s=PROOF_S).code == 0
        tasks = load_source(str(drawn)).suite.tasks
        assert {one.intent for one in tasks} == {
            intent.replace("Samovar", thing) for thing in things[:count]
        }
    assert_proves(tmp_path / "drawn-two.yaml")
    played = arena(
        "tasks", "lint", "drawn-three.yaml", "--prove", "--json", cwd=tmp_path, limit_s=PROOF_S
    )
    wrong = [one for one in played.document if one["severity"] == "error"]
    assert played.code != 0
    assert len({one["task"] for one in wrong}) == 1
    assert "'Teapot'" in wrong[0]["message"]  # the nearest to what is not there


@pytest.mark.slow(minutes=6)
async def test_a_purchase_proves(tmp_path: Path) -> None:
    asked = RecordingAsked(
        name="buy-a-jacket",
        start=["http://shop.arena.test/product/1659/northmark-jura-city-rain-jacket-m-moss/"],
        roles={"shop": "customer"},
        folder=tmp_path / "it",
    )
    async with person_at(asked) as (recorder, person):
        await person.click("button", "Add to basket")
        await person.goto("http://shop.arena.test/checkout/")
        await person.click("button", "Ship to your default shipping address")
        await person.click("button", "Select Standard delivery")
        await person.click("link", "Continue")
        await person.click("button", "Place order")
        recorder.capture.stopped.set()
        made = await recorder.finish()
    out = tmp_path / "buy-a-jacket.yaml"
    await saved(made, out, "Buy this rain jacket, to my default address, by standard delivery.")
    assert "table: order_order" in out.read_text()
    assert_proves(out)


@pytest.mark.slow(minutes=6)
async def test_an_edit_of_the_newspaper_proves(tmp_path: Path) -> None:
    asked = RecordingAsked(
        name="approve-ada",
        start=["cms:/wp-admin/comment.php?action=editcomment&c=7976"],
        roles={"cms": "editor"},
        folder=tmp_path / "it",
    )
    async with person_at(asked) as (recorder, person):
        await person.click("radio", "Approved")
        await person.type("textbox", "Name", "Ada Pemberton")
        await person.click("button", "Update")
        recorder.capture.stopped.set()
        made = await recorder.finish()
    out = tmp_path / "approve-ada.yaml"
    await saved(made, out, "Approve the comment of Ada P., and name her Ada Pemberton.")
    assert "comment_author: Ada Pemberton" in out.read_text()
    assert_proves(out)
