"""No secret reaches the log, in whatever form it is logged; what only looks like one stays."""

from __future__ import annotations

import io
import logging

import pytest

from arena_core.logs import JsonLines, RedactingFilter, Redactor, secrets_of

SECRET = "s3cr3t-Wj9xQ2"


@pytest.mark.parametrize(
    "text",
    [
        f"POST /login username=emma&password={SECRET}&next=/",
        f'{{"username": "emma", "password": "{SECRET}"}}',
        f"{{'passwd': '{SECRET}'}}",
        f"Authorization: Basic {SECRET}",
        f"{{'Authorization': 'Bearer {SECRET}'}}",
        f"sent with bearer {SECRET}",
        "sent with basic s3cr3t",
        "secret_key: s3cr3t secretKey=s3cr3t",
        f"Cookie: sessionid={SECRET}; lang=en",
        f"Set-Cookie: _redmine_session={SECRET}; path=/; HttpOnly",
        f"csrfmiddlewaretoken={SECRET}",
        f"X-Redmine-API-Key: {SECRET}",
        f"api_key={SECRET}",
        f"OPENAI_API_KEY={SECRET}",
        f"mysql://arena:{SECRET}@127.0.0.1:3306/shop",
        f"PHPSESSID={SECRET}",
        "the key sk-proj-s3cr3t-Wj9xQ2 was refused",
        f"known wherever it stands: {SECRET}",
    ],
)
def test_a_secret_is_not_in_the_line(text: str) -> None:
    redact = Redactor([SECRET] if text.startswith("known") else [])
    assert "s3cr3t" not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "input_tokens=812 output_tokens: 40",
        "the password was wrong",
        "basic training is over, Basic kettles are sold out",
        "a Bearer certificate",
        "secretary: Emma",
        "tokenizer: cl100k, tokenized=yes",
        "key nodes 3/4",
        "GET http://shop.arena.test/catalogue/kettle_16/ 200",
        "shop golden: rewind in 0.11 s, proven by counters",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor()(text) == text


def test_message_arguments_extra_fields_and_traceback_are_redacted_by_the_filter() -> None:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    handler.addFilter(RedactingFilter(Redactor([SECRET])))
    logger = logging.Logger("test")  # noqa: LOG001  a logger that nobody else has
    logger.addHandler(handler)
    try:
        raise ValueError(f"login as emma with {SECRET}")  # noqa: TRY301
    except ValueError:
        logger.exception(
            "log in with %s", SECRET, extra={"cookies": [{"token": "x"}, SECRET], "api_key": "abc"}
        )
    line = written.getvalue()
    assert "s3cr3t" not in line
    assert '"abc"' not in line
    assert '"token": "[redacted]"' in line
    assert "ValueError: login as emma with [redacted]" in line


def test_keys_of_the_environment_are_known_secrets() -> None:
    found = secrets_of({"OPENAI_API_KEY": SECRET, "GITHUB_TOKEN": "t", "HOME": "/root"})
    assert found == (SECRET, "t")
    assert Redactor(found)("a short token t is no word") == "a short token t is no word"
