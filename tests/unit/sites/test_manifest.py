from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from sites.accounts import Login
from sites.manifest import Clock, Live, Probe, Site
from sites.registry import load_registry

DATABASE = {"engine": "mariadb", "port": 3306, "name": "s", "user": "r", "password": "r"}
SITE: dict[str, object] = {
    "name": "notes",
    "title": "Notes",
    "summary": "a notebook",
    "host": "notes.arena.test",
    "stateful": True,
    "image": {"tag": "own/notes:1", "published": "registry.test/notes:1"},
    "port": 8000,
    "health": {"path": "/health", "contains": "ready"},
    "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
}


@pytest.mark.parametrize(
    ("origin", "host", "port"),
    [
        ("https://shop.example", "shop.example", 443),
        ("http://shop.example", "shop.example", 80),
        ("https://shop.example:8443", "shop.example", 8443),
    ],
)
def test_an_origin_has_a_host_and_a_port(origin: str, host: str, port: int) -> None:
    live = Live(origin=origin)
    assert (live.host, live.port) == (host, port)


MEMBER: dict[str, object] = {
    "username": "emma",
    "password": "env:NOTES_PASSWORD",
    "login": {"path": "/login", "fields": {"user": "{username}"}},
    "proof": {"path": "/account", "contains": "emma"},
}


def test_a_live_site_says_what_may_be_asked_of_it() -> None:
    told = {
        "origin": "https://notes.example",
        "pace_s": 1.0,
        "requests_per_minute": 120,
        "concurrency": 2,
        "quota": 5000,
        "identify": "MyStudy/1.0 (+https://study.example)",
        "third_parties": ["cdn.notes.example"],
        "consent": [{"role": "button", "name": "Reject all"}],
        "roles": {"customer": MEMBER},
    }
    live = Live.model_validate(told)
    assert live.model_dump(mode="json", exclude_unset=True).keys() == told.keys()
    nothing = Live(origin="https://notes.example")
    assert (nothing.quota, nothing.identify, nothing.third_parties) == (None, None, ())


def test_a_password_of_a_live_account_is_in_the_environment_alone() -> None:
    role = Live.model_validate(
        {"origin": "https://notes.example", "roles": {"customer": MEMBER}}
    ).roles["customer"]
    assert role.variable == "NOTES_PASSWORD"
    assert role.from_environment({}) is role.from_environment({"NOTES_PASSWORD": ""}) is None
    known = role.from_environment({"NOTES_PASSWORD": "hunter2"})
    assert known is not None
    assert (known.password, known.variable) == ("hunter2", None)
    in_a_file = {"customer": {**MEMBER, "password": "hunter2"}}
    with pytest.raises(ValidationError, match="must not be in a file: say `env:NAME`"):
        Live.model_validate({"origin": "https://notes.example", "roles": in_a_file})


def test_a_clock_begins_where_the_manifest_says_in_utc_or_is_the_machines() -> None:
    assert Clock().begins is None
    begins = Clock.model_validate({"now": "2026-10-01T11:00:00+02:00"}).begins
    assert begins == datetime(2026, 10, 1, 9, tzinfo=UTC)


def test_a_clock_that_begins_somewhere_names_its_time_zone() -> None:
    with pytest.raises(ValidationError, match="timezone"):
        Clock.model_validate({"now": "2026-10-01T09:00:00"})


def test_all_sites_of_arena_begin_at_the_same_moment_or_say_why_they_do_not() -> None:
    clocks = [site.clock for site in load_registry().sites.values()]
    assert {clock.begins for clock in clocks if clock.begins} == {
        datetime(2026, 10, 1, 9, tzinfo=UTC)
    }
    assert all(clock.begins or clock.why for clock in clocks)


def test_a_site_that_holds_state_never_follows_the_machines_clock() -> None:
    assert [
        one.name for one in load_registry().sites.values() if one.stateful and not one.clock.begins
    ] == []


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../etc", "Europe", "UTC+1", "/etc/localtime"])
def test_a_time_zone_that_there_is_not_is_refused(zone: str) -> None:
    with pytest.raises(ValidationError, match="must be a time zone that this machine knows"):
        Clock(zone=zone)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Lisbon"])
def test_a_time_zone_that_there_is_is_taken(zone: str) -> None:
    assert Clock(zone=zone).zone == zone


@pytest.mark.parametrize("value", ["{usrname}", "x-{Password}", "{username}{pasword}"])
def test_a_login_knows_its_placeholders(value: str) -> None:
    with pytest.raises(ValidationError, match=r"there are \{username\} and \{password\}"):
        Login(path="/login", fields={"user": value})


def test_other_braces_of_a_login_stay() -> None:
    assert Login(path="/login", fields={"json": '{"a": 1}', "u": "{username}"}).fields["json"]


@pytest.mark.parametrize(
    "origin", ["https://a..b", "https://a.b.", "https://a:0", "https://a:65536"]
)
def test_an_origin_that_no_browser_could_open_is_refused(origin: str) -> None:
    with pytest.raises(ValidationError):
        Live(origin=origin)


def test_a_probes_pattern_is_a_regular_expression() -> None:
    with pytest.raises(ValidationError, match="is no regular expression"):
        Probe(name="carts", page="/", pattern="(")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"database": {**DATABASE, "port": 8000}}, "`port` and `database.port` are both 8000"),
        ({"state": {"folder": "/srv", "port": 8000}}, "`port` and `state.port` are both 8000"),
        ({"state": {"folder": "/srv", "port": 9}, "stateful": False}, "`stateful` is false"),
        ({"fingerprint": {"volatile_tables": ["a"]}}, "there is no `database`"),
        ({"fingerprint": {"probes": [{"name": "a", "sql": "SELECT 1"}]}}, "there is no `database`"),
        ({"fingerprint": {"files": ["srv"]}}, "the full path of a folder"),
        ({"fingerprint": {"files": ["/srv/../etc"]}}, "'.' or '..' between slashes"),
        ({"warm": ["/a/../b"]}, "'.' or '..' between slashes"),
        ({"warm": ["/a b"]}, "no white space"),
        ({"resources": {"memory_mb": 64, "cpus": float("inf"), "pids": 8}}, "finite"),
        ({"title": " "}, "one line of text"),
        ({"summary": "a\nb"}, "one line of text"),
    ],
)
def test_a_manifest_that_contradicts_itself_is_refused(
    fields: dict[str, object], says: str
) -> None:
    assert Site.model_validate(SITE).name == "notes"
    with pytest.raises(ValidationError) as caught:
        Site.model_validate({**SITE, **fields})
    assert says in str(caught.value)


def test_a_manifest_that_was_read_can_be_read_again_whole() -> None:
    for site in load_registry().sites.values():
        assert Site.model_validate(site.model_dump()) == site
