"""The file of a checkpoint: what is written is read, and what is not its own is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from support.worlds.fake_world import IMAGE, WIKI, browsing_task

from arena_core.actions import Click, Type
from arena_core.errors import StateError, UsageError
from arena_core.worlds import World
from evaluators.evidence import Located, StepEvidence
from orchestrator import Checkpoint, load_checkpoint, save_checkpoint
from orchestrator.agents.model_exchange import ModelExchange, Spent
from orchestrator.browser.observation import (
    AriaSnapshot,
    AxTree,
    Box,
    Html,
    Mark,
    MarkedPicture,
    Node,
    Observation,
    Picture,
    PrunedHtml,
    Tab,
)
from orchestrator.browser.session.page_ids import PageIds
from orchestrator.browser.session.page_state import (
    BrowserState,
    FieldState,
    NextNumbers,
    TabState,
)
from orchestrator.browser.session.script_answers import ScriptAnswer
from orchestrator.episode.checkpoint import played_digest
from orchestrator.episode.jsonl_files import (
    EXCHANGES_FILE,
    OBSERVATIONS_FILE,
    ExchangeWriter,
    StepLines,
    read_exchanges,
)
from orchestrator.episode.record import RecordSoFar
from orchestrator.gateway.recorded import RecordedDocument
from orchestrator.sandbox.reset.state import Fingerprint, TableState, TakenState
from orchestrator.sandbox.states import archive
from orchestrator.sandbox.states.state_file import SavedState, read_state, write_state

TASK = browsing_task()
STARTED = datetime(2026, 10, 1, 9, 0, 30, tzinfo=UTC)
PICTURE = Picture(data=b"\x89PNG\xff\x00", width=2, height=1)
BOX = Box(x=1.0, y=2.5, width=3.0, height=4.0, visible=True)
PARTS: Mapping[str, object] = {
    "axtree": AxTree((Node(id=3, depth=0, role="link", name="Añil", level=1),), "[3] link"),
    "aria": AriaSnapshot("- link [ref=e3]"),
    "html": Html("<a arena='3'>"),
    "pruned_html": PrunedHtml("A", {"A": 3}, {"A": "seg"}, (0.0, 2.5)),
    "screenshot": PICTURE,
    "som": MarkedPicture(PICTURE, (Mark(3, "link", "Añil", BOX),)),
    "boxes": {3: BOX},
    "somebody.else": {"a": [1, None, {"b": "c"}]},
}


def seen(step: int, parts: Mapping[str, object] = PARTS) -> Observation:
    tab = Tab(index=1, title="Wiki", url=f"{WIKI}/", is_current=True, login="wiki: editor")
    return Observation(
        step=step, url=f"{WIKI}/", title="Wiki", tabs=(tab,), parts=parts, last_error="no"
    )


def taken(
    site: str = "wiki", content: bytes = b"blocks", rows: bytes | None = b"rows"
) -> TakenState:
    return TakenState(
        site=site,
        image_id=IMAGE,
        packed=zlib.compress(content),
        fingerprint=Fingerprint(tables=(TableState("t", 1, "c", 2, "d"),)),
        clock=STARTED,
        rows=rows,
    )


def tab(**changes: Any) -> TabState:
    document = RecordedDocument(f"{WIKI}/", 200, (("content-type", "text/html"),), b"\xff<p>")
    _ = document.key  # it is kept beside the fields
    return TabState(
        **{
            "number": 1,
            "login": "",
            "url": f"{WIKI}/#a",
            "opened_url": f"{WIKI}/",
            "document": document,
            "answers": (ScriptAnswer("POST", f"{WIKI}/add", "row=1", 201, (("A", "b"),), b"\xff"),),
            "is_current": True,
            "actions": 1,
            "scroll": (0.0, 12.5),
            "scrolled": (("#list", 0.0, 3.0),),
            "fields": (FieldState(path="#q", value="kettle"), FieldState(path="#s", selected=(1,))),
            "details": (("#d", True),),
            "focus": "#q",
            "caret": (1, 2),
            "pointer": (3.0, 4.0),
            "session_storage": {WIKI: (("a", "b"),)},
            "unread_origins": ("http://shop.arena.test",),
            "ids": PageIds(lines=("link",), line_ids=(3,), controls=("[]",), control_ids=(4,)),
            **changes,
        }
    )


def pages(*tabs: TabState) -> BrowserState:
    cookie = {"name": "session", "value": "s1", "domain": "wiki.arena.test", "httpOnly": True}
    stored = {"origin": WIKI, "localStorage": [{"name": "a", "value": "b"}], "indexedDB": []}
    return BrowserState(
        tabs=tabs or (tab(),),
        cookies={"": (cookie,)},
        storage={"": (stored,)},
        ids=NextNumbers(tab=2, element=5),
    )


def record(**changes: Any) -> RecordSoFar:
    lines, exchanges = StepLines(), ExchangeWriter()
    lines.add({"step": 0, "url": WIKI})
    asked = StepLines()
    asked.add(exchanges.line(0, ModelExchange(request={"messages": [{"content": "hi"}]})))
    steps = (
        StepEvidence(index=0, action=None, url=f"{WIKI}/", logical="wiki:/", title="Wiki"),
        StepEvidence(
            index=1,
            action=Click(element=3),
            url=f"{WIKI}/",
            logical="wiki:/",
            title="Wiki",
            thought="the link",
            located=(Located(check="answer", values=("1891",), data={"n": 1}),),
        ),
    )
    return RecordSoFar(
        **{
            "steps": steps,
            "seen": (seen(0), seen(1)),
            "pictures": {"step-001.webp": b"RIFF", f"image-{'a' * 64}.png": b"\x89PNG"},
            "required": (Located(check="there", values=("yes",)),),
            "spent": Spent(replies=1, input_tokens=12, priced_usd=0.25),
            "changed_cookies": True,
            "replayed_from": None,
            "exchanges": exchanges,
            "lines": {OBSERVATIONS_FILE: lines, EXCHANGES_FILE: asked},
            "started": STARTED,
            "seconds": 12.5,
            **changes,
        }
    )


def mark(**changes: Any) -> Checkpoint:
    return Checkpoint(
        **{
            "name": "before buying",
            "suite": "tiny",
            "task": TASK.id,
            "world": World.OFFLINE,
            "played": played_digest(TASK, None),
            "limits": TASK.limits,
            "seed": None,
            "viewport": (1024, 768),
            "images": {"wiki": IMAGE},
            "root": "0123456789abcdef",
            "began": {"wiki": None},
            "sites": {"wiki": taken()},
            "pages": pages(),
            "seen": seen(1),
            "record": record(),
            "document_step": 1,
            "left_s": 99.5,
            **changes,
        }
    )


def kept(path: Path, one: Checkpoint) -> Checkpoint:
    save_checkpoint(one, path)
    return load_checkpoint(path)


def content(one: Checkpoint) -> list[object]:
    """Return all that a checkpoint holds, as what can be compared."""
    of_record: dict[str, object] = {"exchanges": one.record.exchanges.number}
    of_record["lines"] = {name: lines.plain() for name, lines in one.record.lines.items()}
    return [
        [getattr(one, field.name) for field in fields(one) if field.name != "record"],
        [
            of_record.get(field.name, getattr(one.record, field.name))
            for field in fields(one.record)
        ],
    ]


@pytest.mark.parametrize(
    "one",
    [
        mark(),
        mark(pages=None, sites={}, began={}, viewport=None, seed=7),
        mark(began={"wiki": taken(rows=None)}),
        mark(pages=pages(tab(document=None, url="about:blank"), tab(number=2, is_current=False))),
    ],
    ids=["all of it", "a page's own protocol", "a start", "two tabs"],
)
def test_what_is_written_is_read(tmp_path: Path, one: Checkpoint) -> None:
    found = kept(tmp_path / "a.arena-checkpoint", one)
    assert content(found) == content(one)
    assert found.ways == one.ways
    assert [path.name for path in tmp_path.iterdir()] == ["a.arena-checkpoint"]


def test_a_login_lasts_as_long_as_it_did_when_the_file_was_written(tmp_path: Path) -> None:
    """Its page would look the same without it, and the next click would fail."""
    path, ends = tmp_path / "a.arena-checkpoint", datetime.now(UTC).timestamp() + 3600
    jar = ({"name": "long", "expires": ends}, {"name": "session", "expires": -1}, {"name": "plain"})
    save_checkpoint(mark(pages=replace(pages(), cookies={"": jar})), path)
    made = datetime.now(UTC) - timedelta(days=30)
    rewritten(path, in_manifest(lambda one: one.update(made=made.isoformat())))
    found = load_checkpoint(path).pages
    assert found is not None
    long, *others = found.cookies[""]
    assert long["expires"] == pytest.approx(ends + 30 * 86400, abs=30)
    assert others == [*jar[1:]]


def test_exchanges_go_on_with_their_numbers(tmp_path: Path) -> None:
    found = kept(tmp_path / "a.arena-checkpoint", mark()).record
    lines = found.lines[EXCHANGES_FILE]
    asked: dict[str, JsonValue] = {"messages": [{"content": "hi"}, {"content": "and then"}]}
    lines.add(found.exchanges.line(1, ModelExchange(request=asked)))
    (tmp_path / EXCHANGES_FILE).write_bytes(lines.packed())
    requests = [one.exchange.request for one in read_exchanges(tmp_path)]
    assert [len(one["messages"]) for one in requests] == [1, 2]  # type: ignore[arg-type]


SECRET = 'sk-very"secret-0123456789'


def test_a_models_key_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    path = tmp_path / "a.arena-checkpoint"
    typed = (
        record()
        .steps[1]
        .model_copy(update={"action": Type(element=3, text=SECRET), "thought": f"I type {SECRET}"})
    )
    earlier = seen(0, {**PARTS, "html": Html(f"<p>{SECRET}")})
    so_far = record(steps=(record().steps[0], typed), seen=(earlier, seen(1)))
    found = kept(path, mark(record=so_far))
    assert found.record.steps[1].thought == "I type [redacted]"
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            assert b"very" not in file.read(name), name


@pytest.mark.parametrize(
    "changes",
    [
        {"pages": pages(tab(fields=(FieldState(path="#q", value=SECRET),)))},
        {"pages": pages(tab(document=RecordedDocument(f"{WIKI}/", 200, (), SECRET.encode())))},
        {
            "pages": pages(
                tab(answers=(ScriptAnswer("GET", f"{WIKI}/x", "", 200, (), SECRET.encode()),))
            )
        },
        {"sites": {"wiki": taken(content=b"row " + SECRET.encode())}},
        {"sites": {"wiki": taken(rows=SECRET.encode())}},
        {"began": {"wiki": taken(content=SECRET.encode())}},
        {"seen": seen(1, {**PARTS, "html": Html(SECRET)})},
        {"record": record(pictures={"step-001.webp": SECRET.encode()})},
    ],
)
def test_what_cannot_be_redacted_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """A page or a database without it would be another: no branch could be equal."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with pytest.raises(StateError, match="secret") as refused:
        save_checkpoint(mark(**changes), tmp_path / "a.arena-checkpoint")
    assert SECRET not in refused.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("part", [object(), (1, 2), {"a": float("nan")}, {"a": ("b",)}, "\ud800"])
def test_a_form_that_would_come_back_otherwise_is_refused(tmp_path: Path, part: object) -> None:
    with pytest.raises(StateError, match="cannot be kept in a file"):
        save_checkpoint(mark(seen=seen(1, {"other": part})), tmp_path / "a.arena-checkpoint")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("changes", [{"name": "long " * 100}, {"images": {}}, {"left_s": -1.0}])
def test_what_would_not_be_read_again_is_refused_at_once(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    with pytest.raises(StateError, match="cannot be kept in a file") as refused:
        save_checkpoint(mark(**changes), tmp_path / "a.arena-checkpoint")
    assert "\n" not in refused.value.message


Content = dict[str, bytes]


def rewritten(path: Path, change: Callable[[Content], object]) -> None:
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in parts.items():
            file.writestr(name, content)


def in_manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Content], None]:
    def changed(parts: Content) -> None:
        document = json.loads(parts["checkpoint.json"])
        change(document)
        parts["checkpoint.json"] = json.dumps(document).encode()

    return changed


def in_part(name: str, change: Callable[[dict[str, Any]], object]) -> Callable[[Content], None]:
    """Change a part, and its digest with it, as somebody does who forges a file."""

    def changed(parts: Content) -> None:
        document = json.loads(parts[f"{name}.json"])
        change(document)
        parts[f"{name}.json"] = json.dumps(document).encode()
        digest = hashlib.sha256(parts[f"{name}.json"]).hexdigest()
        in_manifest(lambda one: one.update({name: digest}))(parts)

    return changed


def other_lines(parts: Content) -> None:
    parts["files/observations.jsonl.gz"] = b"[1]\n"
    digest = hashlib.sha256(b"[1]\n").hexdigest()
    in_manifest(lambda one: one["lines"].update({"observations.jsonl.gz": digest}))(parts)


def named(name: str) -> Callable[[Content], None]:
    def changed(parts: Content) -> None:
        parts[f"files/{name}"] = b"evil"
        digest = hashlib.sha256(b"evil").hexdigest()
        in_manifest(lambda one: one["pictures"].update({name: digest}))(parts)

    return changed


def set_tab(**changes: Any) -> Callable[[Content], None]:
    return in_part("pages", lambda one: one["state"]["tabs"][0].update(changes))


FORGED: dict[str, tuple[Callable[[Content], object], str]] = {
    "a part is another": (lambda one: one.update({"record.json": b"{}"}), "not what the file says"),
    "a state is another": (lambda one: one.update({"sites/wiki/taken": b"x"}), "not what the file"),
    "a picture is another": (lambda one: one.update({"files/step-001.webp": b"x"}), "not what the"),
    "a part is missing": (lambda one: one.pop("pages.json"), "has no part"),
    "a part too many": (lambda one: one.update({"../../evil": b"x"}), "does not name"),
    "a digest is another": (in_manifest(lambda one: one.update(record="0" * 64)), "not what the"),
    "a digest that is none": (in_manifest(lambda one: one.update(record="0")), "record: String"),
    "a later version": (in_manifest(lambda one: one.update(version=2, more=1)), "has version 2"),
    "another format": (in_manifest(lambda one: one.update(format="zip")), "format: Input should"),
    "an unknown key": (in_manifest(lambda one: one.update(surprise=1)), "surprise: Extra"),
    "a picture that leads out": (named("../../evil.png"), "should match pattern"),
    "a picture in place of the evidence": (named("evidence.json"), "should match pattern"),
    "lines in place of requests": (
        in_manifest(lambda one: one["lines"].update({"network.jsonl.gz": "0" * 64})),
        "observations.jsonl.gz",
    ),
    "lines that are no objects": (other_lines, ": Input should be an object"),
    "a site that leads out": (
        in_manifest(lambda one: one["sites"].update({"../a": one["sites"].pop("wiki")})),
        "should match pattern",
    ),
    "a state of another image": (
        in_manifest(lambda one: one["images"].update(wiki=f"sha256:{'2' * 64}")),
        "a state is of another image",
    ),
    "a state of a site that did not begin": (
        in_manifest(lambda one: one.update(began={})),
        "not of the same sites",
    ),
    "a later document": (in_manifest(lambda one: one.update(document_step=2)), "of a later step"),
    "no time at all": (in_manifest(lambda one: one.update(left_s=float("inf"))), "left_s"),
    "a step less": (in_part("record", lambda one: one["steps"].pop(0)), "not all there"),
    "no steps": (in_part("record", lambda one: one.update(steps=[])), "steps: Tuple"),
    "no action": (in_part("record", lambda one: one["steps"][1].update(action=None)), "no action"),
    "something seen less": (in_part("record", lambda one: one["seen"].pop()), "not of these steps"),
    "no tabs": (in_part("pages", lambda one: one["state"].update(tabs=[])), "not told apart"),
    "no current tab": (set_tab(is_current=False), "not told apart"),
    "a login without cookies": (set_tab(login="wiki: admin"), "no cookies"),
    "a scroll that is no number": (set_tab(scroll=["a", 1]), "scroll"),
}


@pytest.mark.parametrize("name", sorted(FORGED))
def test_a_forged_file_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.arena-checkpoint"
    save_checkpoint(mark(), path)
    change, why = FORGED[name]
    rewritten(path, change)
    with pytest.raises(StateError) as caught:
        load_checkpoint(path)
    assert str(path) in caught.value.message
    assert why in caught.value.message
    assert "\n" not in caught.value.message


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkpoint") / "a.arena-checkpoint"
    save_checkpoint(mark(), path)
    return path


@given(at=st.integers(0, 20_000), cut=st.booleans())
def test_a_damaged_file_is_refused_or_says_the_same(file: Path, at: int, *, cut: bool) -> None:
    damaged = bytearray(file.read_bytes())
    at %= len(damaged)
    if cut:
        del damaged[at:]
    else:
        damaged[at] ^= 0x55
    path = file.with_name("damaged.arena-checkpoint")
    path.write_bytes(damaged)
    with suppress(StateError):
        assert content(load_checkpoint(path)) == content(mark())


def test_a_part_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.arena-checkpoint"
    save_checkpoint(mark(), path)
    rewritten(path, lambda parts: parts.update({"record.json": bytes(3 << 20)}))
    assert path.stat().st_size > 3 << 20  # stored: only what is read is bounded here
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    with pytest.raises(StateError, match="more than 1 MB"):
        load_checkpoint(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("checkpoint.json", bytes(3 << 20))
    with pytest.raises(StateError, match="more than 1 MiB"):
        load_checkpoint(path)


def test_what_nobody_would_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 10)
    with pytest.raises(StateError, match="more than"):
        save_checkpoint(mark(), tmp_path / "a.arena-checkpoint")


def test_the_file_of_a_state_says_what_takes_it_and_the_other_way_round(tmp_path: Path) -> None:
    state, checkpoint = tmp_path / "a.arena-state", tmp_path / "a.arena-checkpoint"
    write_state(SavedState(STARTED, {"wiki": taken()}), state)
    save_checkpoint(mark(), checkpoint)
    with pytest.raises(StateError, match="the file of a state, and not of a checkpoint") as caught:
        load_checkpoint(state)
    assert caught.value.hint == "arena state import FILE"
    with pytest.raises(StateError, match="the file of a checkpoint, and not of a state") as caught:
        read_state(checkpoint)
    assert caught.value.hint == "arena open FILE"


def test_a_task_that_was_changed_since_is_another(file: Path) -> None:
    """A branch would share steps that were judged by other checks."""
    found = load_checkpoint(file)
    forms = set(PARTS)
    found.require_fits(TASK, World.OFFLINE, None, forms)
    with pytest.raises(UsageError, match="another definition"):
        found.require_fits(TASK.model_copy(update={"intent": "?"}), World.OFFLINE, None, forms)
    with pytest.raises(UsageError, match="another definition"):
        found.require_fits(TASK, World.OFFLINE, (500, 500), forms)
    with pytest.raises(UsageError, match="another form"):
        found.require_fits(TASK, World.OFFLINE, None, {"axtree"})
    with pytest.raises(UsageError, match="is of 'kettle' offline"):
        found.require_fits(TASK, World.ONLINE, None, forms)
