"""The command is run for real, on folders of this machine."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.reset.files import find_argv, parse_listing
from orchestrator.reset.state import FileState


def listed(*folders: Path) -> tuple[FileState, ...]:
    argv = find_argv(tuple(str(folder) for folder in folders))
    return parse_listing(subprocess.run(argv, capture_output=True, check=True).stdout)


def test_entries_have_kind_mode_owner_and_content(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir(mode=0o750)
    (tmp_path / "sub" / "a.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "sub" / "a.txt").chmod(0o640)
    (tmp_path / "link").symlink_to("sub/a.txt")
    owner = f"{tmp_path.stat().st_uid}:{tmp_path.stat().st_gid}"
    top, link, sub, file = listed(tmp_path)
    assert top.kind == "d"
    assert (link.kind, link.content) == ("l", "sub/a.txt")
    assert (sub.kind, sub.mode, sub.content) == ("d", "750", "")
    assert file == FileState(
        path=str(tmp_path / "sub" / "a.txt"),
        kind="f",
        mode="640",
        owner=owner,
        content=hashlib.sha256(b"hello").hexdigest(),
    )


def test_odd_names_and_many_files_keep_their_own_digests(tmp_path: Path) -> None:
    names = ["a b", "new\nline", "tab\t", "=equals", "\\back", "-dash", "ümlaut", "*"]
    names += [f"file-{number}" for number in range(2000)]
    for name in names:
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / b"\xff\xfe".decode(errors="surrogateescape")).write_text("raw", encoding="utf-8")
    found = {entry.path: entry.content for entry in listed(tmp_path)}
    for name in names:
        assert found[str(tmp_path / name)] == hashlib.sha256(name.encode()).hexdigest(), name
    assert found[str(tmp_path / r"\xff\xfe")] == hashlib.sha256(b"raw").hexdigest()


def test_several_folders_are_one_listing_in_order_of_path(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").touch()
    paths = [entry.path for entry in listed(tmp_path / "b", tmp_path / "a")]
    assert paths == [str(tmp_path / name) for name in ("a", "a/x", "b", "b/x")]


@given(st.binary())
def test_a_listing_of_nothing_like_it_never_breaks_the_digests_of_others(noise: bytes) -> None:
    record = b"=f 644 1:1 \t/x\0" + b"a" * 64 + b" */x\0"
    clean = noise.replace(b"=", b"").replace(b"\0", b"")
    (entry,) = parse_listing(record + clean)
    assert (entry.path, entry.content) == ("/x", "a" * 64)
