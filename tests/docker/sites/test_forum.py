"""What the forum does, asked of a replica over HTTP as a browser without scripts would."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import requests
from support.sites.crawling import masked

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.engine.origin_client import OriginClient, origin_session
from orchestrator.sandbox.logins import replica_client
from orchestrator.sandbox.pool.slot_pool import SlotPool
from sites.registry import load_registry

pytestmark = [pytest.mark.docker, pytest.mark.slow(minutes=1)]

MEMBER = ("anna_fairweather", "waypost-anna-2026")
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)
MODERATOR = ("tom_ashworth", "waypost-tom-2026")
ATOM = "{http://www.w3.org/2005/Atom}"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Visitor:
    """Somebody with a browser: pages, and forms sent with the token that pages carry."""

    def __init__(self, session: requests.Session, client: OriginClient) -> None:
        self._session = session
        self._client = client

    def page(self, path: str, *, status: int = 200) -> str:
        answer = self._session.get(self._client.url(path), timeout=30)
        assert answer.status_code == status, (path, answer.status_code)
        return answer.text

    def content(self, path: str) -> bytes:
        return self._session.get(self._client.url(path), timeout=30).content

    def json(self, path: str) -> Any:
        return self._session.get(self._client.url(path), timeout=30).json()

    def send(
        self,
        path: str,
        data: Mapping[str, str] | None = None,
        *,
        status: int = 200,
        image: bytes | None = None,
    ) -> requests.Response:
        token = TOKEN.search(self.page("/logout"))
        assert token
        sent = {"csrfmiddlewaretoken": token.group(1), **(data or {})}
        files = {"submission[image]": ("picture", image)} if image else None
        answer = self._session.post(self._client.url(path), data=sent, files=files, timeout=30)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:300])
        return answer

    def submit(self, forum: str, title: str, *, url: str = "", body: str = "") -> str:
        fields = {"title": title, "url": url, "body": body, "forum": forum}
        answer = self.send(f"/submit/{forum}", {f"submission[{k}]": v for k, v in fields.items()})
        return answer.url.removeprefix(self._client.origin)

    def comment(self, thread: str, text: str) -> str:
        answer = self.send(f"{thread}/comment", {"reply_to_submission[comment]": text})
        return answer.url.removeprefix(self._client.origin)


@contextmanager
def somebody(client: OriginClient, account: tuple[str, str] | None = None) -> Iterator[Visitor]:
    with origin_session(client) as session:
        visitor = Visitor(session, client)
        if account:
            name, password = account
            visitor.send("/login_check", {"_username": name, "_password": password})
            assert name in visitor.page(f"/user/{name}/account")
        yield visitor


@asynccontextmanager
async def _forum() -> AsyncIterator[OriginClient]:
    engine = await Engine.connect()
    registry = load_registry()
    try:
        async with (
            SlotPool.open(engine, registry, ["forum"], "forum-behaviour") as slot_pool,
            slot_pool.lease(["forum"]) as slot,
        ):
            yield replica_client(registry.sites["forum"], slot.replicas["forum"].endpoint)
    finally:
        await engine.close()


@pytest.fixture
def forum() -> AbstractAsyncContextManager[OriginClient]:
    return _forum()


async def test_a_submission_is_shown_with_its_markdown_and_nothing_that_acts(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna:
            thread = anna.submit("coffee", "Kettle & <pot>?", body="*Hello* <script>x</script>")
            assert re.fullmatch(r"/f/coffee/20001/kettle-pot", thread)
            shown = anna.page(thread)
            assert "<em>Hello</em> &lt;script&gt;" in shown
            assert "Kettle &amp; &lt;pot&gt;?" in shown
            assert "Kettle &amp; &lt;pot&gt;?" in anna.page("/search?q=kettle+pot")
            refused = anna.send(
                "/submit/coffee",
                {"submission[title]": "x", "submission[url]": "javascript:alert(1)",
                 "submission[forum]": "coffee"},
            )  # fmt: skip
            assert "This is not a valid URL" in refused.text

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_a_picture_is_shown_with_its_description_and_leads_where_the_title_does(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    form = {"submission[title]": "The quay", "submission[forum]": "coffee"}
    described = {**form, "submission[image_alt]": "Two boats"}

    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client) as stranger:
            shown = anna.send("/submit", described, image=PICTURE).text
            (path,) = set(re.findall(r"/submission_images/\w+\.png", shown))
            assert f'<img src="{path}" alt="Two boats">' in shown
            assert f'<a href="{path}" class="submission__link"' in shown
            assert stranger.json("/f/coffee/20001.json")["image"] == path
            assert stranger.content(path) == PICTURE
            assert f'<img src="{path}" alt="Two boats"' in stranger.page("/f/coffee/new")
            assert "submission__thumbnail" in stranger.page("/f/Bristol/new"), "none was seeded"
            again = {**form, "submission[forum]": "Bristol", "submission[url]": client.url(path)}
            link = f'<a href="{client.url(path)}" class="submission__link"'
            assert link in anna.send("/submit", again).text
            for refused, why in ((b"<svg/>", "This is not an image"), (PICTURE, "not both")):
                both = {**form, "submission[url]": "http://wiki.arena.test/"}
                assert why in anna.send("/submit", both, image=refused).text

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_a_reply_is_notified_until_it_is_marked_as_read_and_looking_marks_nothing(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def unread(somebody: Visitor) -> int:
        (count,) = re.findall(r">Notifications(?: \((\d+)\))?</a>", somebody.page("/notifications"))
        return int(count or 0)

    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            before = unread(anna)
            assert before > 1
            thread = anna.submit("coffee", "Who answers?")
            tom.comment(thread, "I do")
            anna.comment(thread, "So do I")
            assert unread(anna) == before + 1
            shown = anna.page("/notifications")
            assert "I do" in shown
            assert "So do I" not in shown
            (newest, *_) = re.findall(r'name="comment" value="(\d+)"', shown)
            tom.send("/notifications/read", {"comment": newest})
            assert unread(anna) == before + 1, "it is hers"
            anna.send("/notifications/read", {"comment": newest})
            assert unread(anna) == before
            assert "I do" not in anna.page("/notifications")
            assert "I do" in anna.page("/notifications?show=all")
            anna.send("/notifications/read", {"up_to": newest})
            assert unread(anna) == 0

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_feeds_name_the_newest_of_a_forum_and_of_a_member(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def titles(visitor: Visitor, path: str) -> list[str]:
        feed = ET.fromstring(visitor.content(path))  # noqa: S314  our own replica's
        return [one.findtext(f"{ATOM}title", "") for one in feed.iter(f"{ATOM}entry")]

    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client) as stranger:
            thread = anna.submit("coffee", "Beans & <b>sieves</b>")
            anna.comment(thread, "And scales")
            assert titles(stranger, "/f/coffee.atom")[0] == "Beans & <b>sieves</b>"
            newest = titles(stranger, f"/user/{MEMBER[0]}.atom")[:2]
            assert newest == ["Comment on Beans & <b>sieves</b>", "Beans & <b>sieves</b>"]
            assert 'href="/f/coffee.atom"' in stranger.page("/f/coffee")

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_a_vote_counts_once_turns_and_is_taken_back(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            thread = anna.submit("coffee", "Vote on me")
            number = thread.split("/")[3]
            found = [
                tom.send(f"/sv/{number}.json", {"choice": choice}).json()["netScore"]
                for choice in ("1", "1", "-1", "0")
            ]
            assert found == [2, 2, 0, 1]
            tom.send(f"/sv/{number}", {"choice": "-1"})
            assert '<form action="/sv/20001" method="post" class="vote vote--user-downvoted">' in (
                tom.page(thread)
            )
            assert 'class="vote vote--user-upvoted"' in anna.page(thread)

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_an_answer_lies_below_its_comment_and_outlives_it(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            thread = anna.submit("coffee", "A thread")
            first = anna.comment(thread, "The first one")
            number = first.split("/")[-1]
            tom.send(first, {f"reply_to_comment_{number}[comment]": "An answer"})
            anna.send(f"{first}/delete")
            told = anna.json(f"/f/coffee/{thread.split('/')[3]}.json")
            assert told["commentCount"] == 1
            (top,) = told["comments"]
            assert (top["body"], top["visibility"]) == (None, "deleted")
            assert [one["body"] for one in top["replies"]] == ["An answer"]

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_only_moderators_lock_remove_and_ban_and_the_log_tells_it(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            thread = anna.submit("coffee", "About to be moderated")
            anna.send(f"{thread}/lock", status=403)
            anna.page("/f/coffee/trash", status=403)
            tom.send(f"{thread}/lock")
            assert "You cannot post new comments" in anna.page(thread)
            tom.send(f"{thread}/mod_delete", {"delete_reason[reason]": "Off topic"})
            assert "About to be moderated" not in anna.page(thread)
            assert "About to be moderated" in tom.page("/f/coffee/trash")
            tom.send(f"{thread}/restore")
            assert "About to be moderated" in anna.page(thread)
            tom.send(f"/f/coffee/ban/{MEMBER[0]}", {"forum_ban[reason]": "A trial"})
            assert (
                "You are banned"
                in anna.send(
                    "/submit/coffee", {"submission[title]": "x", "submission[forum]": "coffee"}
                ).text
            )
            log = anna.page("/f/coffee/moderation_log")
            assert all(word in log for word in ("locked", "Off topic", "restored", "A trial"))
            tom.send(f"/f/coffee/unban/{MEMBER[0]}")
            anna.submit("coffee", "Back again")

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_who_is_blocked_writes_no_messages_and_leaves_the_lists(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            anna.submit("coffee", "Seen or not")
            message = {"message[title]": "Hello", "message[body]": "Are you there?"}
            anna.send(f"/user/{MODERATOR[0]}/compose_message", message)
            assert "Hello" in tom.page("/messages")
            assert "Seen or not" in tom.page("/f/coffee/new")
            tom.send(f"/user/{MEMBER[0]}/block_user", {"user_block[comment]": "too loud"})
            anna.send(f"/user/{MODERATOR[0]}/compose_message", message, status=403)
            assert "Seen or not" not in tom.page("/f/coffee/new")

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_a_new_forum_is_kept_and_edited_by_who_made_it(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna, somebody(client, MODERATOR) as tom:
            fields = {"name": "sci_fi", "title": "Space", "description": "Hi", "sidebar": "- New"}
            form = {f"forum[{key}]": value for key, value in fields.items()}
            assert anna.send("/create_forum", form).url.endswith("/f/sci_fi")
            assert "A forum by that name already exists" in tom.send("/create_forum", form).text
            anna.send("/f/sci_fi/edit", {**form, "forum[sidebar]": "Classic"})
            assert 'id="forum_sidebar"' in anna.page("/f/sci_fi/edit")
            assert "Classic" in tom.page("/f/sci_fi")
            tom.page("/f/sci_fi/edit", status=403)
            assert "sci_fi" in anna.page("/").partition('id="sidebar"')[2]

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_visitors_are_sent_to_the_login_and_back(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client) as visitor:
            asked = visitor.send("/sv/100", {"choice": "1"})
            assert asked.url.startswith(client.url("/login?next="))
            for target in ("//evil.test/", "http://evil.test/", "/\\evil.test"):
                name, password = MEMBER
                sent = {"_username": name, "_password": password, "next": target}
                assert visitor.send("/login_check", sent).url == client.url("/")

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_writers_of_one_thread_at_the_same_time_do_not_stop_each_other(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def write(client: OriginClient, account: tuple[str, str], thread: str) -> int:
        with somebody(client, account) as member:
            for turn in range(12):
                member.comment(thread, f"{account[0]}, turn {turn}")
                member.send(f"/sv/{thread.split('/')[3]}", {"choice": str(turn % 3 - 1)})
                member.send(f"/f/coffee/{'un' if turn % 2 else ''}subscribe")
            return 12

    def act(client: OriginClient) -> None:
        with somebody(client, MEMBER) as anna:
            thread = anna.submit("coffee", "Everybody at once")
            with ThreadPoolExecutor() as threads:
                turns = [
                    threads.submit(write, client, account, thread)
                    for account in (MEMBER, MODERATOR, MEMBER, MODERATOR)
                ]
                written = sum(turn.result() for turn in turns)
            assert anna.json(f"/f/coffee/{thread.split('/')[3]}.json")["commentCount"] == written

    async with forum as client:
        await asyncio.to_thread(act, client)


async def test_an_order_shows_the_same_by_its_path_and_by_its_tab(
    forum: AbstractAsyncContextManager[OriginClient],
) -> None:
    def act(client: OriginClient) -> None:
        with somebody(client) as stranger:
            for order in ("top", "controversial", "most_commented"):
                plain = masked(stranger.page(f"/f/coffee/{order}"))
                (tab,) = set(re.findall(rf"/f/coffee/{order}\?t=day", "\n".join(plain)))
                assert masked(stranger.page(tab)) == plain
                whole = stranger.page(f"/f/coffee/{order}?t=all")
                assert masked(whole) != plain
                assert re.search(r'href="\?t=all&amp;next', whole), "its next part is of all time"

    async with forum as client:
        await asyncio.to_thread(act, client)
