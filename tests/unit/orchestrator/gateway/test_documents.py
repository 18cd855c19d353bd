"""An HTML document with a script in it is that document with the script first, or untouched."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import re
import zlib
from base64 import b64encode
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.gateway.documents import (
    MOST_BYTES,
    asks_for_document,
    is_document,
    with_script,
)
from orchestrator.gateway.heads import ResponseHead, parse_request, parse_response

SCRIPT: Final = "document.currentScript.remove()"
ELEMENT: Final = f"<script>{SCRIPT}</script>"
HASH: Final = f"'sha256-{b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"


def head(*lines: str, status: str = "200 OK", kind: str = "text/html") -> ResponseHead:
    fields = "\r\n".join([f"Content-Type: {kind}", *lines])
    return parse_response(f"HTTP/1.1 {status}\r\n{fields}".encode())


def body_of(response: ResponseHead, body: bytes) -> bytes | None:
    found = with_script(response, body, SCRIPT)
    return None if found is None else found.body


def policy_with_hash(policy: str) -> str | None:
    found = with_script(head(f"Content-Security-Policy: {policy}"), b"<p>", SCRIPT)
    if found is None:
        return None
    return found.head.values(b"content-security-policy")[0].decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<!DOCTYPE html><html lang=en><head>", "<title>Kettles</title></head><body>"),
        ("<!doctype html>\n", "<title>Kettles</title>"),
        ("<!-- a > b --><!doctype html>\n<HTML data-x='>'>\n<head >\n", "<link rel=x>"),
        ("<!--><!-- x --!><?xml version='1.0'?><!DOCTYPE html>", "<p>"),
        ("", "plain words"),
        ("", "<header>no head</header>"),
        ("<html>", "<body><head>"),
        ("<head>", "<base href=/a>"),
        ('<head>\n<meta charset="utf-8">', "<title>x</title>"),
        ("<head><meta http-equiv=content-type content='text/html; charset=x'>", "<p>"),
        ("", "<!-- never closed"),
        ("", "<html lang='never closed"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("codec", ["ascii", "utf-8-sig", "latin-1", "utf-16", "utf-16-be"])
def test_the_script_stands_before_everything_that_runs(before: str, after: str, codec: str) -> None:
    kind = "text/html; charset=utf-16be" if codec == "utf-16-be" else "text/html"
    altered = body_of(head(kind=kind), (before + after).encode(codec))
    assert altered is not None
    if codec == "utf-16":
        assert altered.startswith(codecs.BOM_UTF16)
    assert altered.decode(codec) == before + ELEMENT + after


PIECES: Final = st.sampled_from(
    [
        *("<!doctype html>", "<html>", "<head>", "<!--x-->", "\n", "<meta charset=utf-8>"),
        *("<title>", "<body>", "é", "字", "<", ">", "'", '"', "<!--", "<html ", "<p>words</p>"),
        *("</head>", "\0"),
    ]
)


@given(
    pieces=st.lists(PIECES, max_size=12),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "shift-jis"]),
    coding=st.sampled_from(["", "gzip", "deflate", "raw deflate"]),
)
@example(pieces=[], codec="utf-16", coding="gzip")
def test_without_the_script_it_is_the_document_it_was(
    pieces: list[str], codec: str, coding: str
) -> None:
    plain = "".join(pieces).encode(codec, "ignore")
    sent = {
        "": plain,
        "gzip": gzip.compress(plain),
        "deflate": zlib.compress(plain),
        "raw deflate": zlib.compress(plain, wbits=-15),
    }[coding]
    label = {"utf-16-le": "utf-16le"}.get(codec, codec.removesuffix("-sig"))
    lines = [f"Content-Encoding: {coding.rsplit(maxsplit=1)[-1]}"] if coding else []
    response = head(*lines, f"Content-Length: {len(sent)}", kind=f"text/html; charset={label}")
    found = with_script(response, sent, SCRIPT)
    assert found is not None
    element = ELEMENT.encode("utf-16-le" if codec.startswith("utf-16") else "ascii")
    assert found.body.count(element) == 1
    assert found.body.replace(element, b"") == plain
    assert found.head.values(b"content-length") == [str(len(found.body)).encode()]
    assert found.head.values(b"content-encoding") == []


def test_a_document_that_cannot_be_read_is_untouched() -> None:
    coded = head("Content-Encoding: gzip")
    whole = gzip.compress(b"<p>words</p>" * 100)
    assert body_of(coded, whole) is not None
    assert body_of(coded, whole[:-9]) is None
    assert body_of(coded, whole + whole) is None
    assert body_of(coded, b"no gzip") is None
    assert body_of(coded, gzip.compress(b"x" * (MOST_BYTES + 1))) is None
    assert body_of(head(), b"x" * MOST_BYTES) is not None
    assert body_of(head(), b"x" * (MOST_BYTES + 1)) is None
    assert body_of(head(kind="text/html; charset=utf-16"), b"odd") is None


def test_nothing_of_the_old_bytes_stays_in_the_head() -> None:
    response = head(
        'ETag: "1"',
        "Content-MD5: x",
        "Last-Modified: Thu, 01 Oct 2026 09:00:00 GMT",
        "Cache-Control: max-age=600",
        "Accept-Ranges: bytes",
        "Set-Cookie: a=b",
        "X-Kept: yes",
    )
    found = with_script(response, b"<p>", SCRIPT)
    assert found is not None
    assert [(field.name, field.value) for field in found.head.fields] == [
        (b"Content-Type", b"text/html"),
        (b"Set-Cookie", b"a=b"),
        (b"X-Kept", b"yes"),
        (b"Cache-Control", b"no-cache"),
        (b"Content-Length", str(len(found.body)).encode()),
    ]
    stored = with_script(head("Cache-Control: private, no-store"), b"<p>", SCRIPT)
    assert stored is not None
    assert stored.head.values(b"cache-control") == [b"private, no-store"]


@pytest.mark.parametrize(
    ("policy", "allowing"),
    [
        ("style-src 'none'; img-src *", "style-src 'none'; img-src *"),
        ("script-src 'self'; style-src 'none'", f"script-src 'self' {HASH}; style-src 'none'"),
        ("script-src 'none'", f"script-src {HASH}"),
        ("default-src 'none'", f"default-src 'none'; script-src-elem {HASH}"),
        ("script-src a; script-src-elem b", f"script-src a; script-src-elem b {HASH}"),
        # A hash would take the page's own inline scripts away.
        ("script-src 'self' 'unsafe-inline'", "script-src 'self' 'unsafe-inline'"),
        (
            "script-src 'nonce-x' 'unsafe-inline'",
            f"script-src 'nonce-x' 'unsafe-inline' {HASH}",
        ),
        ("sandbox allow-scripts", "sandbox allow-scripts"),
        ("sandbox allow-forms", None),
        ("img-src *, script-src 'none'", f"img-src *,script-src {HASH}"),
    ],
)
def test_a_policy_lets_one_more_script_run_and_nothing_else(
    policy: str, allowing: str | None
) -> None:
    assert policy_with_hash(policy) == allowing


def test_a_policy_that_only_reports_has_nothing_to_report() -> None:
    name = "Content-Security-Policy-Report-Only"
    found = with_script(head(f"{name}: default-src 'self'; report-uri /csp"), b"<p>", SCRIPT)
    assert found is not None
    [value] = found.head.values(name.lower().encode())
    assert value.decode().endswith(f"; script-src-elem 'self' {HASH}")


@pytest.mark.parametrize(
    ("response", "is_one"),
    [
        (head(), True),
        (head(kind="Text/HTML; charset=utf-8"), True),
        (head(status="404 Not Found"), True),
        (head(status="500 Oops"), True),
        (head("Content-Disposition: inline"), True),
        (head("Content-Encoding: gzip"), True),
        (head("Content-Encoding: br"), False),
        (head("Content-Encoding: gzip", "Content-Encoding: gzip"), False),
        (head("Content-Disposition: attachment; filename=a.html"), False),
        (head("Content-Range: bytes 0-1/9", status="206 Partial Content"), False),
        (head(status="304 Not Modified"), False),
        (head(status="302 Found"), False),
        (head(status="204 No Content"), False),
        (head(kind="application/xhtml+xml"), False),
        (head(kind="application/json"), False),
        (head("Content-Type: text/html"), False),
    ],
)
def test_what_is_a_document(response: ResponseHead, *, is_one: bool) -> None:
    assert is_document(response) is is_one


NAVIGATION: Final = "Upgrade-Insecure-Requests: 1\r\nAccept: text/html,*/*\r\n"


@pytest.mark.parametrize(
    ("request_text", "is_one"),
    [
        (f"GET / HTTP/1.1\r\n{NAVIGATION}", True),
        (f"POST / HTTP/1.1\r\n{NAVIGATION}", True),
        (f"HEAD / HTTP/1.1\r\n{NAVIGATION}", False),
        (f"PUT / HTTP/1.1\r\n{NAVIGATION}", False),
        # jQuery's load: a fragment, by script.
        ("GET / HTTP/1.1\r\nAccept: text/html, */*\r\nX-Requested-With: XMLHttpRequest\r\n", False),
        ("GET / HTTP/1.1\r\nAccept: */*\r\n", False),
        (f"GET / HTTP/1.1\r\nSec-Fetch-Dest: empty\r\n{NAVIGATION}", False),
        ("GET / HTTP/1.1\r\nSec-Fetch-Dest: iframe\r\n", True),
        (f"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{NAVIGATION}", False),
    ],
)
def test_who_asks_for_a_document(request_text: str, *, is_one: bool) -> None:
    assert asks_for_document(parse_request(request_text.encode().removesuffix(b"\r\n"))) is is_one


def test_a_hostile_start_takes_no_time() -> None:
    for text in ("<!--" * 50_000, "<html " + "'\"" * 50_000, "<meta charset" * 50_000):
        altered = body_of(head(), text.encode())
        assert altered is not None
        assert re.fullmatch(re.escape(ELEMENT.encode()) + rb".*", altered, re.DOTALL)
