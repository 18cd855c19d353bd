from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from quick_cases import SLOW, quick_first

from arena_core.errors import ManifestError, TaskError
from sites.documents import _composed, open_document, parse_document, read_document
from sites.manifest import Site

MANIFEST = """\
name: shop
title: Shop
summary: a shop
host: shop.arena.test
stateful: true
image: {tag: "arena/shop:1", published: "registry.test/shop:1"}
port: 8000
health:
  path: /health/
  contains: ready
resources: {memory_mb: 64, cpus: 1, pids: 8}
roles:
  customer:
    username: emma
    password: secret
    login: {path: /login, fields: {user: "{username}"}}
    proof: {path: /account, contains: emma}
routes:
  - {logical: "/p/{id}", replica: "/a/{id}", live: "/b/{id}"}
live:
  origin: https://shop.example
"""


def _parse(text: str) -> Site:
    return parse_document(text, Path("sites/shop/site.yaml"), Site, ManifestError)


def test_a_sound_manifest_is_read() -> None:
    assert _parse(MANIFEST).live is not None


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("port: 8000", "port: 80000", 7, "port: must be at most 65535 (found 80000)"),
        ("port: 8000", "port: many", 7, "(found 'many')"),
        (
            "name: shop",
            "name: Shop Floor",
            1,
            "name: must be a name of at most 31 lower-case letters",
        ),
        ("host: shop.arena.test", "host: shop.com", 4, "must end in .test, the domain reserved"),
        (
            "stateful: true",
            "stateful: true\ncolour: red",
            6,
            "colour: unknown field",
        ),
        ("  contains: ready\n", "", 8, "health.contains: is required"),
        ("path: /health/", "path: health", 9, "health.path: must begin with '/'"),
        (
            ', published: "registry.test/shop:1"',
            "",
            6,
            "an image needs `build`, `published` or `archive`",
        ),
        ("memory_mb: 64", "memory_mb: 1", 11, "resources.memory_mb: must be at least 16"),
        ("    password: secret\n", "", 13, "roles.customer.password: is required"),
        ('/a/{id}"', '/a/{id"', 19, "placeholders look like {name} or {name*}"),
        ('/a/{id}"', '/a/{id}/{id}"', 19, "a placeholder may stand once"),
        ("https://shop.example", "shop.example", 21, "live.origin: must be scheme and host"),
        (
            "origin: https://shop.example",
            "origin: https://shop.example\n  roles: {king: 1}",
            22,
            "king",
        ),
    ],
)
def test_a_mistake_is_one_line_with_file_line_field_and_what_is_allowed(
    old: str, new: str, line: int, says: str
) -> None:
    assert old in MANIFEST
    with pytest.raises(ManifestError) as caught:
        _parse(MANIFEST.replace(old, new, 1))
    assert caught.value.message.startswith(f"sites/shop/site.yaml:{line}: ")
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_live_roles_are_roles_of_the_site() -> None:
    customer = MANIFEST.partition("  customer:\n")[2].partition("routes:")[0]
    role = customer.replace("    ", "      ")
    role = re.sub(r"password: .*", "password: env:KING", role)
    with pytest.raises(ManifestError, match=r"live\.roles names \['king'\]; the site has"):
        _parse(f"{MANIFEST}  roles:\n    king:\n{role}")


@SLOW
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name: [shop", ":1: not valid YAML"),
        ("a: 1\n  b: 2\n", ":2: not valid YAML"),
        ("", ":1: must hold a mapping of fields, holds nothing"),
        ("- shop\n", ":1: must hold a mapping of fields, holds a list"),
        ("a: !!python/object/apply:os.getcwd []\n", ":1: not valid YAML"),
        ("\x00", "not valid YAML"),
        ("a: *missing\n", ":1: not valid YAML: found undefined alias"),
        ("a: 2026-13-45\n", "not valid YAML: month must be in 1..12"),
        ("a: " + "[" * 1000, "not valid YAML: is nested deeper than 100"),
        ("a: " + "[" * 100_000 + "]" * 100_000, "is nested deeper than 100"),
        ("a: 1\nb:\n  - {c: 1, c: 2}\n", ":3: c: stands twice in one mapping"),
        ("a: 1\nb: 2\na: 3\n", ":3: a: stands twice in one mapping"),
    ],
)
def test_what_is_no_manifest_at_all_is_said_in_one_line(text: str, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        _parse(text)
    assert says in caught.value.message
    assert caught.value.message.count("\n") == 0


def test_several_mistakes_are_reported_at_once_but_not_endlessly() -> None:
    with pytest.raises(ManifestError) as caught:
        _parse("name: shop\n")
    assert caught.value.message.count("site.yaml:") == 3


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"nothing\.yaml: cannot be read: No such file"):
        read_document(tmp_path / "nothing.yaml", Site, TaskError)


def test_a_file_that_is_not_text_says_so(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(ManifestError, match="cannot be read: is not UTF-8"):
        read_document(path, Site, ManifestError)


@pytest.mark.parametrize(
    ("location", "line"),
    [
        (("health", "contains"), 10),
        (("routes", 0, "live"), 19),
        (("roles", "customer", "proof", "path"), 17),
        (("health", "nothing"), 8),
        ((), 1),
    ],
)
def test_the_line_of_a_field_is_that_of_its_deepest_part(
    location: tuple[int | str, ...], line: int, tmp_path: Path
) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    assert open_document(path, ManifestError).line(location) == line


ROOT = Path(__file__).parents[3]
SHIPPED = [*sorted(ROOT.glob("sites/*/site.yaml")), *sorted(ROOT.glob("tasks/suites/**/*.yaml"))]
SCRAPS = [
    *"ab1: -[]{},&*|>'\"#%?\n\t~",
    "\n  ",
    "\n- ",
    "a: ",
    ": ",
    "2026-10-01",
    "&x ",
    "*x",
    "<<: ",
    "! ",
    "!",
]


def told(node: yaml.Node | None) -> object:
    """What a document's nodes say."""
    match node:
        case yaml.ScalarNode():
            said: object = node.value
        case yaml.SequenceNode():
            said = [told(one) for one in node.value]
        case yaml.MappingNode():
            said = [(told(key), told(value)) for key, value in node.value]
        case _:
            return None
    return node.tag, said


def lines(node: yaml.Node | None) -> list[int]:
    """Where each node begins."""
    match node:
        case yaml.ScalarNode():
            inner = []
        case yaml.SequenceNode():
            inner = node.value
        case yaml.MappingNode():
            inner = [one for pair in node.value for one in pair]
        case _:
            return []
    return [node.start_mark.line, *(line for one in inner for line in lines(one))]


@pytest.mark.parametrize("path", quick_first(SHIPPED), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_shipped_file_reads_the_same_by_either_parser(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    fast, slow = _composed(text), yaml.SafeLoader(text).get_single_node()
    assert told(fast) == told(slow)
    assert lines(fast) == lines(slow)


@given(st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join))
@example("a: {b: [1, 'c']}\nd: &x |\n  e\nf: *x\n")
def test_what_both_parsers_take_they_read_the_same(text: str) -> None:
    try:
        slow = told(yaml.SafeLoader(text).get_single_node())
    except (yaml.YAMLError, RecursionError):  # recursion: an alias inside of what it stands for
        return
    assert told(_composed(text)) == slow


@pytest.mark.parametrize(
    "text", ["a: Hi! you", "a: 'so! and so'", "a: |\n  what! now\n", "[a!, b!]"]
)
def test_an_exclamation_mark_in_prose_does_not_make_reading_ten_times_slower(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_: str) -> yaml.SafeLoader:
        pytest.fail("it was read without libyaml")

    monkeypatch.setattr("sites.documents.yaml.SafeLoader", slow)
    assert _composed(text) is not None


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in pairwise("abcdefghij")
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("site: &a [*a]\n", "x.yaml:1: not valid YAML: an alias stands in what it stands for"),
        ("site: &a\n  b: [{c: *a}]\n", "an alias stands in what it stands for"),
        (BOMB, "its aliases stand for too much"),
        ("a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 999)), "deeper"),
    ],
)
def test_aliases_that_stand_for_themselves_or_too_much_are_refused(text: str, says: str) -> None:
    with pytest.raises(ManifestError, match=re.escape(says)) as refused:
        parse_document(text, Path("x.yaml"), Site, ManifestError)
    assert "\n" not in refused.value.message


def test_an_alias_that_stands_for_something_is_what_it_stands_for(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &a {b: [1, 2]}\nc: [*a, *a]\n")
    assert open_document(path, ManifestError).content == {
        "a": {"b": [1, 2]},
        "c": [{"b": [1, 2]}] * 2,
    }


@pytest.mark.parametrize("is_fifo", [True, False], ids=["fifo", "device"])
def test_what_never_ends_is_refused(tmp_path: Path, *, is_fifo: bool) -> None:
    path = tmp_path / "x.yaml"
    if is_fifo:
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(ManifestError, match=r"x\.yaml: cannot be read: is no regular file"):
        open_document(path, ManifestError)


def test_half_a_surrogate_pair_is_refused_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "one.yaml"
    path.write_text('a: 1\n"\\ud800": 2\n', encoding="ascii")
    with pytest.raises(TaskError, match=r"one\.yaml:2: .*half of a surrogate pair"):
        open_document(path, TaskError)
