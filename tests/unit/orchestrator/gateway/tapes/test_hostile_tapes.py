from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.tapes.making import made, page

from arena_core.errors import InputError
from orchestrator.gateway.tapes import records, wacz
from orchestrator.gateway.tapes.exchange import decoded
from orchestrator.gateway.tapes.wacz import open_tape

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def warc_record(body: bytes, *, length: int | None = None, head: bytes = HEAD) -> bytes:
    size = len(head + body) if length is None else length
    return (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        b"WARC-Date: 2026-11-26T12:00:00Z\r\nWARC-Target-URI: https://a.test/\r\n"
        b"Content-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%s%s\r\n\r\n" % (size, head, body)
    )


def packed(
    folder: Path,
    warc: bytes,
    *,
    member: str = "archive/data.warc.gz",
    package: object = None,
    compression: int = zipfile.ZIP_STORED,
) -> Path:
    """Write a WACZ whose package says the truth about its archive, unless another is given."""
    path = folder / "hostile.wacz"
    digest = f"sha256:{hashlib.sha256(warc).hexdigest()}"
    said = {"resources": [{"path": member, "hash": digest}]} if package is None else package
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr(member, warc)
        file.writestr("datapackage.json", json.dumps(said))
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused, open_tape(path):
        pass
    message = refused.value.message
    assert "\n" not in message
    assert str(path) in message
    assert len(message) < 600
    return message


def test_a_whole_tape_opens(tmp_path: Path) -> None:
    with open_tape(packed(tmp_path, gzip.compress(warc_record(b"hello")))) as tape:
        (entry,) = tape.entries
        assert tape.load(entry).body == b"hello"


@pytest.mark.parametrize(
    "name", ["../archive/x.warc.gz", "/etc/x.warc.gz", "archive/../../x", "a\\..\\x", "C:x.warc"]
)
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path, gzip.compress(warc_record(b"hello")))
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, b"x")

    assert "leads out of it" in refusal(path)


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, gzip.compress(warc_record(b"hello")))
    with (
        zipfile.ZipFile(path, "a") as file,
        pytest.warns(UserWarning, match="Duplicate"),
    ):
        file.writestr("archive/data.warc.gz", b"other")

    assert "twice" in refusal(path)


def test_a_zip_bomb_is_refused(tmp_path: Path) -> None:
    path = packed(
        tmp_path, bytes(8 * 2**20), member="archive/data.warc", compression=zipfile.ZIP_DEFLATED
    )

    assert "a bomb" in refusal(path)


def test_a_bomb_of_gzip_inside_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, gzip.compress(warc_record(bytes(100 * 2**20))))

    assert "unpacks to more than" in refusal(path)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "MOST_MEMBERS", 1)

    assert "more than 1" in refusal(packed(tmp_path, gzip.compress(warc_record(b"hello"))))


def test_a_huge_tape_is_refused_by_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wacz, "MOST_BYTES", 100)

    assert "more than 100" in refusal(packed(tmp_path, gzip.compress(warc_record(b"hello" * 50))))


def test_a_huge_record_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_RECORD_BYTES", 1000)

    assert "a record of" in refusal(
        packed(tmp_path, gzip.compress(warc_record(b"x", length=10**12)))
    )


def cut_zip(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def cut_first_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def no_zip(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04 no zip at all")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("spoil", [cut_zip, cut_first_half, no_zip, empty])
def test_a_cut_off_file_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = made(tmp_path, page("/", "Hello"))
    spoil(path)

    assert "is no WACZ, or is cut off" in refusal(path)


# The last few are a checksum and an empty line: the record before them is whole.
@pytest.mark.parametrize("lost", [20, 60])
def test_a_truncated_gzip_inside_is_refused(tmp_path: Path, lost: int) -> None:
    whole = gzip.compress(warc_record(b"hello" * 100))

    refusal(packed(tmp_path, whole[:-lost]))


def test_a_record_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path, gzip.compress(warc_record(b"hello", length=5000)))

    assert "too early" in refusal(path)


@pytest.mark.parametrize(
    "warc",
    [
        b"",
        b"nothing",
        gzip.compress(b"nothing", mtime=0),
        b"WARC/1.0\r\n",
        b"\x1f\x8b",
        gzip.compress(b"WARC/1.0\r\n\r\n", mtime=0),
    ],
    ids=repr,
)
def test_what_is_no_warc_is_refused(tmp_path: Path, warc: bytes) -> None:
    refusal(packed(tmp_path, warc))


def test_a_changed_archive_is_refused(tmp_path: Path) -> None:
    package = {"resources": [{"path": "archive/data.warc.gz", "hash": "sha256:" + "0" * 64}]}

    message = refusal(packed(tmp_path, gzip.compress(warc_record(b"hello")), package=package))

    assert "SHA-256 differs" in message


@pytest.mark.parametrize("package", [[], {"resources": 1}, {"resources": [{"path": "gone"}]}, "x"])
def test_a_package_that_makes_no_sense_is_refused(tmp_path: Path, package: object) -> None:
    refusal(packed(tmp_path, gzip.compress(warc_record(b"hello")), package=package))


def test_a_package_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.wacz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.warc.gz", gzip.compress(warc_record(b"hello")))
        file.writestr("datapackage.json", "[" * 200_000)

    assert "nested" in refusal(path)


def test_every_byte_that_is_flipped_is_refused_or_harmless(tmp_path: Path) -> None:
    path = made(tmp_path, page("/", "Hello"), page("/tea", "Tea"))
    data = path.read_bytes()
    for place in range(0, len(data), 37):
        spoilt = bytearray(data)
        spoilt[place] ^= 0x55
        path.write_bytes(bytes(spoilt))
        try:
            with open_tape(path) as tape:
                for entry in tape.entries:
                    assert b"<p>" in tape.load(entry).body
        except InputError as refused:
            assert "\n" not in refused.message  # noqa: PT017


def test_a_bomb_of_a_body_is_refused_where_it_would_be_decoded(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as writer:
        for _ in range(80):
            writer.write(bytes(2**20))

    with pytest.raises(InputError, match="larger than 64 MiB"):
        decoded(bomb.getvalue(), "gzip")


def test_a_warc_is_not_taken_for_a_tape(tmp_path: Path) -> None:
    path = tmp_path / "data.warc.gz"
    path.write_bytes(gzip.compress(warc_record(b"hello")))

    with pytest.raises(InputError) as refused, open_tape(path):
        pass

    assert "arena tape import" in refused.value.hint
