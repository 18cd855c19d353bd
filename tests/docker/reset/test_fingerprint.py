from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from quick_cases import SLOW, quick_first
from support.sites.kiosk_site import OWNER

from orchestrator.sandbox.engine.engine import Engine
from orchestrator.sandbox.reset.fingerprint import Fingerprint, take_fingerprint
from orchestrator.sandbox.reset.replica import Placement, Replica, await_health, start_replica
from sites.manifest import FingerprintProbes, Site

pytestmark = pytest.mark.docker

Shell = Callable[[str], Awaitable[None]]


async def differences(engine: Engine, replica: Replica) -> tuple[str, ...]:
    golden = await replica.placement.golden.parts()
    found = await take_fingerprint(engine, replica.site, replica.container)
    assert (found.digest == golden.digest) == (found.differences(golden) == ())
    return found.differences(golden)


async def test_every_container_of_an_image_starts_golden(engine: Engine, replica: Replica) -> None:
    assert await differences(engine, replica) == ()


@pytest.mark.parametrize(
    ("statement", "expected"),
    quick_first(
        [
            (
                'INSERT INTO note (author, text) VALUES ("ada", "third")',
                "table note: 1 row more, next id 4 instead of 3",
            ),
            ("DELETE FROM note WHERE id = 1", "table note: 1 row fewer"),
            (
                'UPDATE note SET text = "First" WHERE id = 1',
                "table note: same number of rows, other content",
            ),
            (
                'INSERT INTO note (text) VALUES ("x"); DELETE FROM note WHERE text = "x"',
                "table note: next id 4 instead of 3",
            ),
            ("TRUNCATE note", "table note: 2 rows fewer, next id 1 instead of 3"),
            (
                "ALTER TABLE note ADD COLUMN extra INT",
                "table note: same number of rows, other content, other definition",
            ),
            ("CREATE TABLE added (id INT)", "table added: new"),
            ("DROP TABLE account", "table account: removed"),
            (
                'UPDATE account SET password = "x" WHERE name = "ada"',
                "table account: same number of rows, other content",
            ),
        ]
    ),
)
async def test_a_change_of_a_table_is_named(
    engine: Engine, replica: Replica, sql: Shell, statement: str, expected: str
) -> None:
    await sql(statement)
    assert await differences(engine, replica) == (expected,)


@pytest.mark.parametrize(
    ("line", "expected"),
    quick_first(
        [
            ("echo x > 'a b\nc.txt'", r"file '/srv/kiosk/files/a b\nc.txt': new"),
            ("mkdir empty", "file /srv/kiosk/files/empty: new"),
            ("rm picture.txt", "file /srv/kiosk/files/picture.txt: removed"),
            ("echo x >> picture.txt", "file /srv/kiosk/files/picture.txt: other content"),
            ("chmod 600 picture.txt", "file /srv/kiosk/files/picture.txt: mode 600 instead of 644"),
            (
                "ln -sf /etc/passwd picture.txt",
                (
                    "file /srv/kiosk/files/picture.txt: type l instead of f, other content,"
                    " mode 777 instead of 644"
                ),
            ),
        ]
    ),
)
async def test_a_change_of_a_file_is_named(
    engine: Engine, replica: Replica, shell: Shell, line: str, expected: str
) -> None:
    await shell(f"cd /srv/kiosk/files && {line}")
    assert await differences(engine, replica) == (expected,)


@SLOW
async def test_a_stateful_folder_that_is_gone_is_a_difference_and_no_fault(
    engine: Engine, replica: Replica, shell: Shell
) -> None:
    await shell("mv /srv/kiosk/files /srv/kiosk/elsewhere")
    assert await differences(engine, replica) == (
        "file /srv/kiosk/files: removed",
        "file /srv/kiosk/files/picture.txt: removed",
    )


@SLOW
async def test_volatile_tables_and_columns_are_no_state(
    engine: Engine, replica: Replica, sql: Shell
) -> None:
    await sql("INSERT INTO visit (seen_at) VALUES (NOW(6)); UPDATE account SET last_seen = NOW(6)")
    assert await differences(engine, replica) == ()


async def test_rows_are_a_set_with_repeats_whatever_their_order(
    engine: Engine, replica: Replica, sql: Shell
) -> None:
    states = []
    for rows in ('("a"), ("b"), ("a")', '("a"), ("a"), ("b")', '("b"), ("b"), ("a")'):
        await sql(f"CREATE OR REPLACE TABLE t (x TEXT); INSERT INTO t VALUES {rows}")  # noqa: S608
        states.append(await content_of(engine, replica, "t"))
    assert states[0] == states[1]
    assert states[0] != states[2]


DIFFERENT_ROWS = [
    ("a VARCHAR(9), b VARCHAR(9)", '"a", "bc"', '"ab", "c"'),
    ("a VARCHAR(9), b VARCHAR(9)", '"a,", "b"', '"a", ",b"'),
    ("a VARCHAR(9), b VARCHAR(9)", '"1:x", ""', '"", "1:x"'),
    ("a VARCHAR(9)", "NULL", '"N"'),
    ("a VARCHAR(9)", "NULL", '""'),
    ("a VARCHAR(9)", '"a"', '"A"'),
    ("a VARCHAR(9)", '"a"', '"a "'),
    ("a INT, b INT", "1, 23", "12, 3"),
    ("a INT, b INT", "NULL, 1", "1, NULL"),
    ("a FLOAT", "1000001", "1000002"),
    ("a DOUBLE", "0.1", "0.1000000000000000055511151231257827e0 + 1e-16"),
    ("a DECIMAL(5,2)", "1.10", "1.11"),
    ("a DATETIME(6)", '"2026-01-01 00:00:00.000001"', '"2026-01-01 00:00:00.000002"'),
    ("a VARBINARY(9)", "0x00ff", "0x00fe"),
    ("a BIT(9)", "257", "256"),
    ('a ENUM("x", "y")', '"x"', '"y"'),
    ("a JSON", '"[1]"', '"[2]"'),
    ("`a``b` INT", "1", "2"),
    ("a VARCHAR(9) CHARACTER SET latin1, b VARCHAR(9)", '"é", "x"', '"è", "x"'),
]


@SLOW
async def test_different_rows_never_look_the_same(
    engine: Engine, replica: Replica, sql: Shell
) -> None:
    for columns, one, other in DIFFERENT_ROWS:
        states = []
        for values in (one, other):
            await sql(f"CREATE OR REPLACE TABLE t ({columns}); INSERT INTO t VALUES ({values})")  # noqa: S608
            states.append(await content_of(engine, replica, "t"))
        assert states[0] != states[1], (columns, one, other)


@SLOW
async def test_counters_are_exact_after_the_database_started_anew(
    engine: Engine, replica: Replica, sql: Shell, shell: Shell, kiosk: Site
) -> None:
    await sql('INSERT INTO note (text) VALUES ("x"), ("y"), ("z"); DELETE FROM note WHERE id > 2')
    before = await take_fingerprint(engine, kiosk, replica.container)
    await shell("kill -TERM $(cat /tmp/db.pid)")
    await engine.wait_exit(replica.container.id)
    image = await engine.commit(replica.container.id, "arena-test/kiosk-stopped:1", {})
    moved = Placement(
        site=kiosk, image_id=image.id, golden=replica.placement.golden, owner=OWNER, slot=0
    )
    again = await start_replica(engine, moved)
    try:
        assert await take_fingerprint(engine, kiosk, again.container) == before
        assert next(table for table in before.tables if table.name == "note").auto_increment == 6
    finally:
        await engine.remove(again.container.id)
        await engine.remove_image("arena-test/kiosk-stopped:1")


async def test_a_site_without_probes_has_an_empty_state(engine: Engine, replica: Replica) -> None:
    plain = replica.site.model_copy(
        update={"database": None, "fingerprint": FingerprintProbes(files=())}
    )
    await await_health(engine, replica)
    assert await take_fingerprint(engine, plain, replica.container) == Fingerprint()


async def content_of(engine: Engine, replica: Replica, name: str) -> str:
    found = await take_fingerprint(engine, replica.site, replica.container)
    return next(table.content for table in found.tables if table.name == name)
