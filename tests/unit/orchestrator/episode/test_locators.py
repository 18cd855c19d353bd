"""What an API answers, as a check by api finds it."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, ClassVar, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.agents.foreign_values import CASES, VALUES
from support.runs.make_evidence import make_check, make_evidence

from arena_core.worlds import World
from evaluators.checks import Check
from evaluators.episode_view import EpisodeView, Ran
from evaluators.evidence import Located
from evaluators.fields import When
from evaluators.locators.base import Found, LookingLocator, Need
from evaluators.verdicts import CheckStatus, verdicts
from orchestrator.episode.locators import Locators
from orchestrator.sandbox.check_queries import ApiAnswer
from sites.registry import load_registry


class Answering:
    """A browser session and an API that answer one thing."""

    def __init__(self, status: int, body: str) -> None:
        self.answer = ApiAnswer(status, body)

    async def fetch_text(self, _url: str) -> ApiAnswer:
        return self.answer

    async def ask_api(self, _site: str, _role: str, _path: str) -> ApiAnswer:
        return self.answer


def api_check(role: str | None, json_path: str | None = None) -> Check:
    path = {"path": "/api/o", "json_path": json_path}
    return make_check({"by": "api", "site": "shop", "role": role, **path}, "1")


async def located(status: int, body: str, check: Check) -> Located:
    asked: Any = Answering(status, body)
    upstreams = load_registry(()).upstreams(["shop"], World.OFFLINE)
    environment: Any = SimpleNamespace(upstreams=upstreams, world=World.OFFLINE, api=asked)
    nobody: Any = None
    [found] = await Locators(environment, asked, nobody, nobody, evidence=make_evidence).at_end(
        [check]
    )
    return found


@pytest.mark.parametrize("role", [None, "merchant"])
async def test_an_api_that_answers_otherwise_says_so_and_names_no_database(
    role: str | None,
) -> None:
    found = await located(404, "{}", api_check(role))
    url = "http://shop.arena.test/api/o"
    assert found.error == f"site 'shop': GET {url} answered 404, wanted 200"
    evidence = make_evidence(located=(found,))
    [verdict] = verdicts([api_check(role)], evidence)
    assert verdict.status is CheckStatus.UNKNOWN
    assert verdict.reason == f"could not be looked at: {found.error}"
    assert (await located(200, "1", api_check(role))).values == ("1",)


async def test_an_answer_that_is_no_json_is_the_apis_fault() -> None:
    found = await located(200, "<html>", api_check(None, "$.id"))
    assert found.error is not None
    assert found.error.startswith("site 'shop': the answer to GET http://shop.arena.test/api/o")
    assert "database" not in found.error


class Moving:
    """A replica whose state moves where a command writes."""

    def __init__(self, *, moves: bool) -> None:
        self.moves = moves
        self.log: list[str] = []

    async def marks(self) -> dict[str, Moving]:
        return {"shop": self}

    def moved_since(self, _before: object) -> str | None:
        return "a file changed" if self.moves else None

    def wrote(self, site: str) -> None:
        self.log.append(f"wrote {site}")

    async def run(self, _site: str, command: str, _seconds: int) -> Ran:
        self.log.append(command)
        return Ran(0, "one\ntwo\n", "")

    async def query(self, _site: str, sql: str) -> tuple[tuple[object, ...], ...]:
        self.log.append(sql)
        return ()


@pytest.mark.parametrize("moves", [False, True])
async def test_a_command_only_reads_looks_last_and_leaves_a_reset_to_prove(*, moves: bool) -> None:
    behind: Any = Moving(moves=moves)
    environment: Any = SimpleNamespace(
        database=behind, lease=behind, replicas={"shop": None}, world=World.OFFLINE, upstreams=None
    )
    nobody: Any = None
    shell = {"by": "shell", "site": "shop", "command": "cat log", "read": "lines"}
    checks = (
        make_check(shell, "x", name="shell"),
        make_check({"by": "db", "site": "shop", "sql": "SELECT 1"}, "x", name="db"),
    )
    locators = Locators(environment, nobody, nobody, nobody, evidence=make_evidence)
    found = {one.check: one for one in await locators.at_end(checks)}
    assert behind.log == ["SELECT 1", "wrote shop", "cat log"]
    if moves:
        assert "let it only read" in str(found["shell"].error)
    else:
        assert found["shell"].values == ("one", "two")


class Plugged(LookingLocator):
    """A locator from outside that finds whatever it is given."""

    by: Literal["plugged"] = "plugged"
    found: ClassVar[Any] = None

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset()

    def absence(self) -> str:
        return "nothing was found"

    def requirement_fault(self) -> str | None:
        return None

    async def look(self, episode: EpisodeView) -> Found:
        return Found(values=self.found[0], data=self.found[1])


@settings(max_examples=CASES)
@given(found=st.tuples(st.lists(VALUES, max_size=2).map(tuple) | VALUES, VALUES))
def test_whatever_a_locator_from_outside_finds_is_kept_or_is_an_error_of_its_check(
    found: tuple[object, object],
) -> None:
    Plugged.found = found
    asyncio.run(_plugged())


async def _plugged() -> None:
    nobody: Any = None
    locators = Locators(nobody, nobody, nobody, nobody, evidence=make_evidence)
    check: Any = SimpleNamespace(name="plugged", when=When.END, locate=Plugged())
    check.ways = (check,)
    [located] = await locators.at_end([check])
    assert Located.model_validate_json(located.model_dump_json()) == located
