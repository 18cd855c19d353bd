"""The command of an agent: how it is read, what it is told, and what it says at its end."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_core.errors import UsageError
from orchestrator.agents.model_exchange import Spent
from orchestrator.episode.external.command import AgentCommand, environment_of, read_finish
from orchestrator.episode.external.episode import Finish, Status

INFO = {
    "cdp_url": "http://127.0.0.1:9",
    "goal": "Find the bells",
    "start_urls": ["http://wiki.arena.test/"],
    "storage_state": "/there/storage_state.json",
    "proxy_url": "http://127.0.0.1:8",
}


def test_a_command_is_split_as_a_shell_does_and_read_by_none() -> None:
    command = AgentCommand.read(f"{sys.executable} 'my agent.py' --to $HOME ;ls")
    assert command.words == (sys.executable, "my agent.py", "--to", "$HOME", ";ls")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("python 'x", "No closing quotation"),
        ("no-such-program-at-all x", "no program 'no-such-program-at-all'"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused_before_anything_is(
    text: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        AgentCommand.read(text)


def test_neither_name_nor_lock_of_a_command_hold_its_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_API_KEY", "topsecretvalue")
    text = f"{sys.executable} a.py --key topsecretvalue --token=abcdefgh sk-abcdefghijkl"
    command = AgentCommand.read(text, 60)
    shown = command.name + command.lock.model_dump_json()
    for secret in ("topsecretvalue", "abcdefgh"):
        assert secret not in shown
    assert command.lock.options["seconds"] == 60
    assert "topsecretvalue" in command.words


def test_an_agents_process_has_the_users_environment_and_its_episodes() -> None:
    base = {
        "HOME": "/home/me",
        "http_proxy": "http://p",
        "HTTPS_PROXY": "http://p",
        "ALL_PROXY": "x",
    }
    found = environment_of(INFO, "/there/episode.json", base)
    assert found["HOME"] == "/home/me"
    assert not {"http_proxy", "HTTPS_PROXY", "ALL_PROXY"} & found.keys()
    assert found["NO_PROXY"] == found["no_proxy"] == "127.0.0.1,localhost"
    for alias in (
        "ARENA_CDP_URL",
        "CDP_URL",
        "BROWSER_CDP_URL",
        "PLAYWRIGHT_MCP_CDP_ENDPOINT",
        "BU_CDP_URL",
        "BROWSER_REMOTE_DEBUGGING_URL",
    ):
        assert found[alias] == INFO["cdp_url"]
    assert found["ARENA_EPISODE"] == "/there/episode.json"
    assert found["ARENA_GOAL"] == "Find the bells"
    assert found["ARENA_START_URL"] == "http://wiki.arena.test/"
    assert found["ARENA_STORAGE_STATE"] == INFO["storage_state"]
    assert found["ARENA_PROXY_URL"] == INFO["proxy_url"]
    assert os.environ.keys() <= environment_of(INFO, "x").keys() | {
        name for name in os.environ if name.upper().endswith("_PROXY")
    }


@pytest.mark.parametrize(
    ("line", "finish"),
    [
        ("", Finish()),
        ("{}", Finish()),
        ('{"answer": "47"}', Finish(answer="47")),
        ('{"answer": 47}', Finish(answer="47")),
        ('{"data": ["47"]}', Finish(data=["47"])),
        (
            '{"status": "not_found", "reason": "gone"}',
            Finish(status=Status.NOT_FOUND, because="gone"),
        ),
        ('{"answer": null, "status": "done"}', Finish()),
        (
            '{"status": "gave_up", "reason": "too hard"}',
            Finish(status=Status.GAVE_UP, because="too hard"),
        ),
        ('{"status": "infeasible"}', Finish(status=Status.INFEASIBLE)),
        ('{"answer": "47", "confidence": 0.8}', Finish(answer="47", confidence=0.8)),
        ('{"answer": "47", "confidence": null}', Finish(answer="47")),
        (
            '{"answer": "x", "usage": {"input_tokens": 3, "output_tokens": 4, "usd": 0.1}}',
            Finish(answer="x", spent=Spent.reported(3, 4, 0.1)),
        ),
        (
            '{"answer": "x", "usage": {"input_tokens": null}}',
            Finish(answer="x", spent=Spent(replies=1, uncounted=1, unpriced=1)),
        ),
    ],
)
def test_the_last_line_says_how_the_agent_ended(line: str, finish: Finish) -> None:
    assert read_finish(line) == finish


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("done.", "no JSON"),
        ("47", "not an object"),
        ('"47"', "not an object"),
        ('{"answer": "47"', "no JSON"),
        ("{'answer': '47', 'data': None}", "no JSON"),
        ('{"anwser": "47"}', "no key 'anwser', but answer, data, status, reason, usage"),
        ('{"result": "47", "status": "done"}', "no key 'result'"),
        ('{"answer": "47", "reason": 1}', "reason"),
        ('{"answer": ["47"]}', "answer"),
        ('{"status": "won"}', "status"),
        ('{"status": ["done"]}', "status"),
        ('{"usage": 3}', "usage"),
        ('{"answer": "47", "confidence": 80}', "`confidence` is 80, and not a number from 0 to 1"),
        ('{"answer": "47", "confidence": true}', "`confidence` is True"),
        ('{"answer": "47", "confidence": "0.8"}', "`confidence` is '0.8'"),
        ('{"status": "gave_up", "confidence": 0.8}', "gave_up"),
        ('{"usage": {"input_tokens": -1}}', "input_tokens"),
        ('{"usage": {"output_tokens": "many"}}', "output_tokens"),
        ('{"usage": {"usd": -0.5}}', "usd"),
    ],
)
def test_a_last_line_that_makes_no_sense_is_said_so(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_finish(line)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["answer", "status", "usage", "input_tokens"]), inner)
        ),
    )
)
def test_no_last_line_raises_anything_else(said: object) -> None:
    with suppress(ValueError):
        read_finish(json.dumps(said))
