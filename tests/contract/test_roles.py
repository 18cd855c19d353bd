"""Roles and accounts: each may what its manifest says, and no more."""

from __future__ import annotations

import pytest
from support.sites.every_site import Shared, every, every_role

from arena_core.errors import DatabaseError
from orchestrator.authoring.site_check.roles import broken_api, broken_login
from orchestrator.sandbox.check_queries import ask
from orchestrator.sandbox.engine.engine import Engine
from sites.manifest import Site

pytestmark = pytest.mark.docker

TABLES = {
    "mariadb": "SHOW TABLES",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
    "postgresql": "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
}


@every_role()
async def test_a_role_logs_in_is_known_by_its_cookies_and_may_what_it_should(
    engine: Engine, shared: Shared, site: Site, role: str
) -> None:
    assert await broken_login(await shared.of(engine, site), role) == ()


@every_role()
def test_the_manifest_says_of_a_role_what_it_may_and_where_its_login_ends(
    site: Site, role: str
) -> None:
    account = site.roles[role]
    assert account.may or account.may_not, "no page is named that it may or may not open"
    assert account.login.ends, "no path is named that ends its login"


@every_role(lambda site, role: site.roles[role].api)
async def test_an_api_login_gets_what_nobody_else_does(
    engine: Engine, shared: Shared, site: Site, role: str
) -> None:
    assert await broken_api(await shared.of(engine, site), role) == ()


@every(lambda site: site.database)
async def test_the_account_of_checks_reads_and_cannot_write(
    engine: Engine, shared: Shared, site: Site
) -> None:
    replica = await shared.of(engine, site)
    assert site.database is not None
    tables = TABLES[site.database.engine]
    (table, *_), *_ = (await ask(replica, tables)).rows
    for statement in (f"DELETE FROM {table}", "CREATE TABLE mark (id INT)"):  # noqa: S608 - a name the database gave
        with pytest.raises(DatabaseError):
            await ask(replica, statement)
