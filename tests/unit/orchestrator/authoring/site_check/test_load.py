from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler

import requests
from support.sites.standing_web import Answer, Web

from orchestrator.authoring.site_check.load import READERS, WRITERS, broken_under_load
from orchestrator.sandbox.engine.origin_client import OriginClient

SECONDS = 0.1


def post(session: requests.Session, client: OriginClient, text: str) -> requests.Response:
    return session.post(client.url("/notes"), data={"text": text}, timeout=10)


def site(web: Web) -> None:
    web.page("/", '<a href="/one">1</a><a href="http://shop.arena.test/">shop</a>')
    web.page("/one", "<p>one")
    web.page("/notes", "kept", status=201)


async def test_a_site_that_answers_everybody_has_no_breach(web: Web) -> None:
    site(web)
    assert await broken_under_load(web.replica(), post, seconds=SECONDS) == ()


async def test_all_readers_and_writers_are_at_work_at_one_time(web: Web) -> None:
    site(web)
    all_here, met = threading.Barrier(READERS + WRITERS, timeout=20), threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> Answer:
        del request
        if not met.is_set():
            all_here.wait()
            met.set()
        return Answer(body="together")

    web.answers["/"] = web.answers["/notes"] = answer
    assert await broken_under_load(web.replica(), post, seconds=SECONDS) == ()
    assert met.is_set()


async def test_a_deep_page_that_breaks_is_a_breach(web: Web) -> None:
    site(web)
    web.page("/one", "<p>broken", status=502)
    (breach,) = await broken_under_load(web.replica(), post, seconds=SECONDS)
    assert breach.endswith("times: GET http://notes.arena.test/one: 502")


async def test_a_machine_that_is_late_lets_everybody_read_and_write_once(web: Web) -> None:
    site(web)
    assert await broken_under_load(web.replica(), post, seconds=0) == ()


async def test_a_page_that_is_not_there_is_none(web: Web) -> None:
    site(web)
    web.page("/one", "<p>gone", status=404)
    assert await broken_under_load(web.replica(), post, seconds=SECONDS) == ()


async def test_a_write_that_is_refused_is_a_breach(web: Web) -> None:
    site(web)
    web.page("/notes", "no", status=403)
    breaches = await broken_under_load(web.replica(), post, seconds=SECONDS)
    assert "POST http://notes.arena.test/notes: 403" in breaches[0]
    assert breaches[-1] == "only 0 things were written"
