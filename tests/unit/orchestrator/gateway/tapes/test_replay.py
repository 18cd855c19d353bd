from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.tapes.making import HTML, WIKI, page, replayed

from orchestrator.gateway.taped import TapedAnswer, TapedRequest, taped_response
from orchestrator.gateway.tapes.exchange import Headers, TapedExchange

FILM = bytes(range(256)) * 4
PACKED_FILM = gzip.compress(FILM)
URL = f"{WIKI}/film"


def film(status: int = 200, headers: Headers = (), body: bytes = FILM) -> TapedExchange:
    return TapedExchange(method="GET", url=URL, status=status, headers=headers, body=body)


def asked(
    folder: Path,
    *exchanges: TapedExchange,
    part: str = "",
    codings: frozenset[str] = frozenset({"gzip", "br"}),
) -> TapedAnswer | None:
    with replayed(folder, *exchanges) as replay:
        return replay.answer(TapedRequest(method="GET", url=URL, range=part, codings=codings))


def header(answer: TapedAnswer, name: bytes) -> bytes | None:
    return next((one.value for one in answer.fields if one.key == name), None)


@pytest.mark.parametrize(
    ("part", "status", "body", "place"),
    [
        ("bytes=0-3", 206, FILM[:4], b"bytes 0-3/1024"),
        ("bytes=1000-", 206, FILM[1000:], b"bytes 1000-1023/1024"),
        ("bytes=-24", 206, FILM[-24:], b"bytes 1000-1023/1024"),
        ("bytes=0-99999", 206, FILM, b"bytes 0-1023/1024"),
        ("bytes=2000-", 416, b"", b"bytes */1024"),
        ("bytes=0-1,4-5", 200, FILM, None),
        ("lines=0-1", 200, FILM, None),
    ],
)
def test_a_part_of_what_was_recorded_whole(
    tmp_path: Path, part: str, status: int, body: bytes, place: bytes | None
) -> None:
    answer = asked(tmp_path, film(), part=part)

    assert answer is not None
    assert (answer.status, answer.body, header(answer, b"content-range")) == (status, body, place)


def test_a_recorded_part_answers_for_itself_alone(tmp_path: Path) -> None:
    part = film(206, (("Content-Range", "bytes 100-199/1024"),), FILM[100:200])

    inside = asked(tmp_path / "a", part, part="bytes=150-159")
    assert inside is not None
    assert (inside.status, inside.body) == (206, FILM[150:160])
    assert asked(tmp_path / "b", part, part="bytes=0-159") is None
    assert asked(tmp_path / "c", part) is None


def test_a_recorded_part_that_is_all_answers_for_the_whole(tmp_path: Path) -> None:
    answer = asked(tmp_path, film(206, (("Content-Range", "bytes 0-1023/1024"),)))

    assert answer is not None
    assert (answer.status, answer.body, header(answer, b"content-range")) == (200, FILM, None)


def test_a_body_stays_in_its_coding_for_whoever_takes_it(tmp_path: Path) -> None:
    coded = film(headers=(*HTML, ("Content-Encoding", "gzip")), body=PACKED_FILM)

    as_sent = asked(tmp_path / "a", coded)
    plain = asked(tmp_path / "b", coded, codings=frozenset())

    assert as_sent is not None
    assert plain is not None
    assert (header(as_sent, b"content-encoding"), as_sent.body) == (b"gzip", PACKED_FILM)
    assert (header(plain, b"content-encoding"), plain.body) == (None, FILM)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate"])
def test_a_decoded_body_of_a_browsers_tape_loses_the_coding_of_its_head(
    tmp_path: Path, coding: str
) -> None:
    answer = asked(tmp_path, film(headers=(("Content-Encoding", coding),), body=b"<p>plain</p>"))

    assert answer is not None
    assert (header(answer, b"content-encoding"), answer.body) == (None, b"<p>plain</p>")


def test_no_secret_is_on_a_tape_or_leaves_it(tmp_path: Path) -> None:
    secret = (("Set-Cookie", "session=1"), ("Authorization", "Bearer 1"), ("X-Other", "kept"))
    with replayed(tmp_path, film(headers=secret)) as replay:
        answer = replay.answer(TapedRequest(method="GET", url=URL))

    assert answer is not None
    sent = taped_response(answer, method="GET", closes=False)
    assert b"session=1" not in sent
    assert b"X-Other: kept" in sent


def test_a_head_has_the_length_and_no_body(tmp_path: Path) -> None:
    with replayed(tmp_path, page("/", "Hello")) as replay:
        answer = replay.answer(TapedRequest(method="HEAD", url=f"{WIKI}/"))

    assert answer is not None
    sent = taped_response(answer, method="HEAD", closes=True)
    assert sent.endswith(b"\r\n\r\n")
    assert b"Content-Length: %d\r\n" % len(answer.body) in sent
