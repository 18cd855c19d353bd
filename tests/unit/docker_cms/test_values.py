"""Values reach the database as PHP and WordPress would have written them."""

from __future__ import annotations

from importlib import import_module

import pytest

php = import_module("gazette.php")
sql = import_module("gazette.sql")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "N;"),
        (True, "b:1;"),
        (7, "i:7;"),
        ("Café", 's:5:"Café";'),
        (["", 2], 'a:2:{i:0;s:0:"";i:1;i:2;}'),
        ({"author": True, 3: []}, 'a:2:{s:6:"author";b:1;i:3;a:0:{}}'),
    ],
)
def test_values_are_serialised_with_lengths_in_bytes(value: object, written: str) -> None:
    assert php.serialised(value) == written


def test_a_password_is_hashed_as_the_reference_implementation_does() -> None:
    # From Openwall's phpass 0.5 (test.php): 'test12345' with the setting $P$9IQRaTwmf.
    digest = php.crypted("test12345", "$P$9IQRaTwmf")
    assert digest == "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"


def test_a_password_has_the_same_hash_at_every_build_and_another_than_others() -> None:
    first, again, other = (php.hashed(word) for word in ("tide", "tide", "rope"))
    assert first == again != other
    assert len(first) == 34
    assert first.startswith("$P$B")


def test_text_cannot_leave_its_quotes_in_a_statement() -> None:
    rows = import_module("gazette.rows").Rows()
    rows.tables["terms"].append((1, "O'Hara \\ '; DROP TABLE wp_posts; --\n", "x", 0))
    statement = next(one for one in sql.statements(rows, {}) if one.startswith("INSERT"))
    assert statement.endswith("(1, 'O\\'Hara \\\\ \\'; DROP TABLE wp_posts; --\\n', 'x', 0);")
