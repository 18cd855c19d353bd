"""Archives that other programs write import and play.

`archiveweb.wacz` was written by ArchiveWeb.page's own code (0.17.1: its `Downloader` over its
database); `browsertrix.wacz` by the libraries that Browsertrix writes with (warcio.js, client-zip),
record by record as its crawler does: several WARCs, a compressed index, `urn:` resources, revisits
across files and to another crawl, bodies that were fetched packed.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena_core.errors import InputError
from orchestrator.api.arena import Arena
from orchestrator.gateway.taped import Exactness, TapedAnswer, TapedRequest
from orchestrator.gateway.tapes.replay import TapeReplay
from orchestrator.gateway.tapes.wacz import open_tape
from orchestrator.gateway.tapes.writing import import_tape

FOREIGN = Path(__file__).parents[4] / "support" / "tapes" / "foreign"
SITE = "https://kettles.example"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
CHROME = frozenset({"gzip", "deflate", "br", "zstd"})


class Asking:
    def __init__(self, replay: TapeReplay) -> None:
        self._replay = replay

    def get(self, path: str, codings: frozenset[str] = CHROME) -> TapedAnswer | None:
        request = TapedRequest(method="GET", url=f"{SITE}{path}", codings=codings)
        return self._replay.answer(request)

    def post(self, path: str, body: bytes, kind: str) -> tuple[bytes, Exactness] | None:
        url = f"{SITE}{path}"
        found = self._replay.answer(
            TapedRequest(method="POST", url=url, body=body, content_type=kind)
        )
        return None if found is None else (found.body, found.exactness)


@contextmanager
def imported(folder: Path, *archives: Path) -> Iterator[Asking]:
    import_tape(archives, folder / "tape.wacz")
    with open_tape(folder / "tape.wacz") as tape:
        yield Asking(TapeReplay(tape))


@pytest.mark.parametrize("name", ["archiveweb", "browsertrix"])
def test_pages_redirects_and_repeated_bodies_play_without_what_identifies_a_visitor(
    tmp_path: Path, name: str
) -> None:
    with imported(tmp_path, FOREIGN / f"{name}.wacz") as asking:
        page, moved, copy = (asking.get(one) for one in ("/", "/old", "/copy.js"))
    assert page is not None
    assert moved is not None
    assert copy is not None
    assert page.body.startswith(b"<!doctype html><title>Kettles</title>")
    assert (moved.status, copy.body) == (302, b"document.title='Ready'")
    with zipfile.ZipFile(tmp_path / "tape.wacz") as file:
        assert b"secret" not in b"".join(map(file.read, file.namelist()))
    shown = Arena().tapes.show(tmp_path / "tape.wacz")
    assert shown.origins == (SITE,)  # nothing of what stands under `urn:`
    assert shown.pages == (f"{SITE}/",)


def test_pages_beside_the_seeds_are_listed() -> None:
    assert Arena().tapes.show(FOREIGN / "browsertrix.wacz").pages == (f"{SITE}/", f"{SITE}/old")


def test_what_repeats_another_crawl_is_counted_as_lost(tmp_path: Path) -> None:
    with imported(tmp_path, FOREIGN / "browsertrix.wacz") as asking:
        assert asking.get("/elsewhere") is None
    assert Arena().tapes.show(tmp_path / "tape.wacz").lost == 1


def test_files_of_one_crawl_repeat_each_other(tmp_path: Path) -> None:
    with zipfile.ZipFile(FOREIGN / "browsertrix.wacz") as file:
        file.extractall(tmp_path)
    first, second, _ = sorted((tmp_path / "archive").iterdir())

    with imported(tmp_path / "both", second, first) as asking:
        repeated = asking.get("/copy.js")
    assert repeated is not None
    assert (b"x-second", b"yes") in {(one.key, one.value) for one in repeated.fields}
    with imported(tmp_path / "one", second) as asking:
        assert asking.get("/copy.js") is None
    assert Arena().tapes.show(tmp_path / "one" / "tape.wacz").lost == 2


def test_a_packed_body_goes_to_whoever_can_read_it_and_to_nobody_else(tmp_path: Path) -> None:
    with imported(tmp_path, FOREIGN / "browsertrix.wacz") as asking:
        taken = asking.get("/fetched.css")
        assert taken is not None
        assert (b"content-encoding", b"br") in {(one.key, one.value) for one in taken.fields}
        assert asking.get("/fetched.css", frozenset({"gzip"})) is None
        unpacked = asking.get("/fetched.txt", frozenset())
        assert unpacked is not None
        assert unpacked.body == b"fetched by hand"
    assert Arena().tapes.show(tmp_path / "tape.wacz").packed == 1


@pytest.mark.parametrize(
    ("path", "body", "kind", "answer", "exactness"),
    [
        ("/api/form", b"item=tea&qty=2", FORM, b'{"form":1}', Exactness.EXACT),
        ("/api/form", b"qty=2&item=tea", FORM, b'{"form":1}', Exactness.REORDERED),
        ("/api/turned", b"q=green+tea&page=1", FORM, b'{"turned":1}', Exactness.RULE),
        (
            "/api/turned-json",
            b'{"q": "green", "tags": ["a", "b"], "page": 1, "on": true}',
            JSON,
            b'{"turned":2}',
            Exactness.RULE,
        ),
    ],
)
def test_a_post_that_was_recorded_as_a_get_is_found_by_its_body(  # noqa: PLR0917
    tmp_path: Path, path: str, body: bytes, kind: str, answer: bytes, exactness: Exactness
) -> None:
    with imported(tmp_path, FOREIGN / "archiveweb.wacz") as asking:
        assert asking.post(path, body, kind) == (answer, exactness)


@pytest.mark.parametrize(
    ("path", "body", "kind"),
    [
        ("/api/turned", b"q=green+tea&page=2", FORM),
        ("/api/turned", b"q=green+tea", FORM),
        ("/api/turned", b"", FORM),
        ("/api/turned-json", b'{"q": "green", "tags": ["b", "a"], "page": 1, "on": true}', JSON),
        ("/api/turned-json", b'{"q": "green", "tags": ["a", "b"], "page": 1}', JSON),
        ("/api/turned-json", b"{", JSON),
        ("/api/turned-text", b"raw words", "text/plain"),  # whose body that archive lost
        ("/api/turned-text", b"", "text/plain"),
    ],
)
def test_a_body_is_never_guessed(tmp_path: Path, path: str, body: bytes, kind: str) -> None:
    with imported(tmp_path, FOREIGN / "archiveweb.wacz") as asking:
        assert asking.post(path, body, kind) is None


def test_a_body_that_was_kept_stands_for_no_other_with_the_same_fields(tmp_path: Path) -> None:
    with imported(tmp_path, FOREIGN / "archiveweb.wacz") as asking:
        path, kept = "/api/json", b'{"item":{"name":"tea"},"qty":2}'
        assert asking.post(path, kept, JSON) == (b'{"json":1}', Exactness.EXACT)
        for other in (b'{"name": "tea", "qty": 2}', b'{"item": {"name": "tea"}, "qty": "2"}'):
            assert asking.post(path, other, JSON) is None


def test_a_package_of_several_archives_says_what_to_do(tmp_path: Path) -> None:
    package = tmp_path / "several.wacz"
    with zipfile.ZipFile(package, "w") as file:
        file.writestr("datapackage.json", '{"profile": "multi-wacz-package", "resources": []}')
        file.write(FOREIGN / "browsertrix.wacz", "browsertrix.wacz")
    with pytest.raises(InputError, match="no WARC in archive/") as refused:
        import_tape([package], tmp_path / "tape.wacz")
    assert "import the WACZ files in it" in refused.value.hint
