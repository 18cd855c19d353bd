"""A secret that an agent typed, saw, thought or answered is in no export, whatever its form."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet
import pytest
from quick_cases import ONE_QUICK
from support.runs.published_run import SITE, acted, evidence, published, run, step, task
from support.tasks.published_tasks import verified_task

from arena_core.actions import Goto, Stop, Type, Write
from evaluators.evidence import ElementEvent, Evidence, RequestNote
from evaluators.harms import Harm
from evaluators.network import RequestRecord, redacted
from orchestrator import Arena
from orchestrator.analysis.run_report.extension_points import EXPORTERS
from orchestrator.runs.store.run_folder import RunFolder
from tasks.schema import Task

KEY = "hf_0123456789abcdefghijkl"
TYPED = "hunter2!"  # into a password field; no manifest knows it
MARK = redacted("hunter2!", "5a17")
RECORD = {
    "online-mind2web": {"task_id": "m1", "confirmed_task": "", "website": SITE},
    "webvoyager": {"id": "Wiki--1", "web_name": "Wiki", "ques": "When was it?", "web": SITE},
    "webharbor": {"id": "Wiki--1", "web_name": "Wiki", "ques": "When was it?", "web": SITE},
}
STRINGS = {"type": "array", "items": {"type": "string"}}


def contents(path: Path) -> Iterator[bytes]:
    """Yield the files of an export as they are read, those in archives unpacked."""
    for one in [path] if path.is_file() else sorted(path.rglob("*")):
        if zipfile.is_zipfile(one):
            with zipfile.ZipFile(one) as archive:
                yield from (archive.read(name) for name in archive.namelist())
        elif one.suffix == ".parquet":
            yield str(pyarrow.parquet.read_table(one).to_pylist()).encode()
        elif one.is_file():
            yield one.read_bytes()


def password() -> str:
    """Return the password of an account of one of Arena's own sites."""
    return Arena().registry.sites["shop"].roles["customer"].password


def told(secret: str) -> Evidence:
    """Return an episode that tells a secret wherever an agent or a page can."""
    field = acted(ElementEvent.INPUT, "login", "emma")
    hidden = acted(ElementEvent.INPUT, "password")
    there = {"title": f"Hello {secret}", "thought": f"the password is {secret}"}
    steps = (
        step(0, None),
        step(1, Type(element=4, text=f"emma {secret}"), acted=(field,), **there),
        step(2, Type(element=5, text=TYPED), acted=(hidden,), thought=f"I type {TYPED}"),
        step(3, Write(text=TYPED), acted=(hidden,)),
        step(4, Goto(url=f"{SITE}/?q={secret}"), f"/?q={secret}", error=f"{secret} is wrong"),
        step(5, Stop(answer=f"1891 {secret}")),
    )
    noted = RequestNote(method="GET", url=f"{SITE}/{secret}", site="wiki", may_write=True)
    steps = (*steps[:4], steps[4].model_copy(update={"notes": (noted,)}), steps[5])
    sent = RequestRecord(
        index=0,
        step=1,
        method="POST",
        url=f"{SITE}/login?of={secret}",
        status=200,
        request_headers={"authorization": f"Bearer {MARK}"},
        request_body=f"name=emma&pass={MARK}&again={secret}",
    )
    return evidence("told", f"1891 {secret}", steps=steps, network=(sent,), ended_because=secret)


def asked(form: str, secret: str) -> Task:
    """Return a task whose words tell it too, imported from the set that a form is for."""
    if form == "webarena-verified":
        record = verified_task(STRINGS, ["1891"]) | {"task_id": 5}
        original = published(form, record, "5", {"__REDDIT__": SITE})
    elif form in RECORD:
        record = {**RECORD[form], "note": f"log in with {secret}"}
        original = published(form, record, str(record.get("task_id") or record["id"]))
    else:
        original = None
    made = task("told", original)
    told_in_answer = Harm.model_validate(
        {
            "name": "told",
            "severity": "high",
            "when": "end",
            "locate": {"by": "answer"},
            "match": {"how": "include", "value": "1891"},
        }
    )
    intent = f"Log in with {secret}, and tell the year."
    return made.model_copy(update={"intent": intent, "harms": (told_in_answer,)})


@pytest.fixture
def told_run(tmp_path: Path) -> Callable[[str, str], RunFolder]:
    """A run of one episode that tells a secret, of a task that a form takes."""
    return lambda form, secret: run(tmp_path / "run", [asked(form, secret)], [told(secret)])


@ONE_QUICK
@pytest.mark.parametrize("form", [one.name for one in EXPORTERS.plugins() if one.is_own])
@pytest.mark.parametrize("kind", ["password", "key"])
def test_a_secret_is_in_no_form(
    told_run: Callable[[str, str], RunFolder], tmp_path: Path, form: str, kind: str
) -> None:
    secret = password() if kind == "password" else KEY
    folder = told_run(form, secret)
    done = Arena().runs.export(folder.path, form, tmp_path / "out")
    content = b"".join(contents(done.path))
    assert content
    for one in (secret, TYPED):
        assert one.encode() not in content


def test_what_was_redacted_by_its_hash_keeps_it(
    told_run: Callable[[str, str], RunFolder], tmp_path: Path
) -> None:
    """Equal values have equal marks, by which they can be compared."""
    done = Arena().runs.export(told_run("har", KEY).path, "har", tmp_path / "out")
    [text] = [one for one in contents(done.path) if b'"log"' in one]
    assert text.count(MARK.encode()) >= 2


def test_scores_are_of_what_the_agent_said(
    told_run: Callable[[str, str], RunFolder], tmp_path: Path
) -> None:
    done = Arena().runs.export(told_run("jsonl", KEY).path, "jsonl", tmp_path / "out.jsonl")
    text = done.path.read_text(encoding="utf-8")
    assert '"was": "' in text
    outcome = text.partition('"outcome": "')[2].partition('"')[0]
    assert outcome == text.partition('"was": "')[2].partition('"')[0]
