from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.agents.model.options import OPENAI_URL, ModelOptions

LOCAL = "http://127.0.0.1:8000/v1"


def test_the_command_line_comes_before_the_environment() -> None:
    environment = {"ARENA_MODEL_URL": "http://elsewhere:1/v1", "OPENAI_API_KEY": "sk-1"}
    options = ModelOptions.of("m", f"{LOCAL}/", environment)
    assert options.url == LOCAL
    assert ModelOptions.of("m", None, environment).url == "http://elsewhere:1/v1"
    assert ModelOptions.of("m", None, {"OPENAI_API_KEY": "sk-1"}).url == OPENAI_URL


def test_the_key_comes_from_the_environment_and_is_not_shown() -> None:
    options = ModelOptions.of("m", LOCAL, {"OPENAI_API_KEY": "sk-secret\n"})
    assert options.key is not None
    assert options.key.get_secret_value() == "sk-secret"
    assert "sk-secret" not in repr(options)


def test_a_local_server_needs_no_key() -> None:
    assert ModelOptions.of("m", LOCAL, {}).key is None


def test_openai_needs_a_key() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY is not set"):
        ModelOptions.of("m", None, {})


def test_a_model_must_be_named() -> None:
    with pytest.raises(UsageError) as caught:
        ModelOptions.of(None, LOCAL, {})
    assert "--model" in caught.value.hint


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://a/v1", "http://", "http://[::1/v1"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        ModelOptions.of("m", url, {"ARENA_MODEL_URL": ""})


@pytest.mark.parametrize(
    "url", ["http://me:hunter2@host/v1", "http://host/v1?key=hunter2", "http://host/v1#hunter2"]
)
def test_a_url_that_holds_a_secret_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        ModelOptions.of("m", url, {})
    assert "hunter2" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("key", ["sk 1\n2", "schlüssel", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        ModelOptions.of("m", LOCAL, {"OPENAI_API_KEY": key})
    assert key not in caught.value.message


def test_one_attempt_never_waits_longer_than_all_together() -> None:
    assert ModelOptions.of("m", LOCAL, {}, deadline_s=5).attempt_s == 5


@pytest.mark.parametrize("temperature", [-0.1, 2.1, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(temperature: float) -> None:
    with pytest.raises(UsageError, match="--temperature"):
        ModelOptions.of("m", LOCAL, {}, temperature=temperature)


@pytest.mark.parametrize("deadline_s", [0.0, float("nan"), float("inf")])
def test_a_deadline_that_is_none_is_refused(deadline_s: float) -> None:
    with pytest.raises(UsageError, match="--model-deadline"):
        ModelOptions.of("m", LOCAL, {}, deadline_s=deadline_s)
