"""Which tables of other schemas a state changes; their rows: tests/docker/states."""

from __future__ import annotations

import json
import zlib

import pytest

from orchestrator.sandbox.reset.other_schemas import changed_elsewhere, read_elsewhere
from orchestrator.sandbox.reset.state import Fingerprint, ObjectState


def packed(*paths: str) -> bytes:
    """Write what a supervisor took of a site of which nothing but these files changed."""
    head = json.dumps({"changed": [{"path": path} for path in paths]}).encode()
    return zlib.compress(len(head).to_bytes(8, "big") + head + b"blocks")


def test_tables_are_named_whose_rows_stand_in_a_changed_file() -> None:
    taken = packed("db/other/one.ibd", "db/mysql/global_priv.MAD", "db/old/rows.MYD")
    assert changed_elsewhere(taken, "shop") == (
        ("mysql", "global_priv"),
        ("old", "rows"),
        ("other", "one"),
    )


@pytest.mark.parametrize(
    "path",
    [
        "db/shop/orders.ibd",
        "db/ibdata1",
        "db/aria_log.00000001",
        "db/other",
        "db/other/db.opt",
        "db/other/one.frm",
        "db/mysql/global_priv.MAI",
        "db/other/#sql-ib16.ibd",
        "db/other/FTS_0000000000000012_INDEX_1.ibd",
        "media/ibd",
    ],
)
def test_other_files_are_no_rows_of_another_schema(path: str) -> None:
    assert changed_elsewhere(packed(path), "shop") == ()


def test_the_parts_of_a_table_are_one_table() -> None:
    parts = ("db/other/log#P#p0.ibd", "db/other/log#P#p1#SP#s0.ibd")
    assert changed_elsewhere(packed(*parts), "shop") == (("other", "log"),)


def test_a_proof_reads_the_tables_that_the_fingerprint_names() -> None:
    objects = (ObjectState("rows of", "be@002dside.o@002edd", "7"), ObjectState("view", "v", "a"))
    assert read_elsewhere(Fingerprint(objects=objects)) == (("be@002dside", "o@002edd"),)


def test_other_rows_are_named_as_a_difference() -> None:
    was = Fingerprint(objects=(ObjectState("rows of", "mysql.global_priv", "7"),))
    now = Fingerprint(objects=(ObjectState("rows of", "mysql.global_priv", "8"),))
    assert now.differences(was) == ("rows of mysql.global_priv: other content",)
