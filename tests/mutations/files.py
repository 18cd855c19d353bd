"""Changes of the files that are state, by hand: behind the application's back."""

from __future__ import annotations

from random import Random

from mutations.mutation import Kind, Mutation
from mutations.seeds import word
from mutations.subject import Subject


async def write_file(subject: Subject, name: str, text: str) -> None:
    """Write a file into the stateful folder."""
    await subject.shell('printf %s "$3" > "$1/$2"', subject.folder, name, text)


async def _add(subject: Subject, dice: Random) -> str:
    name = f"{word(dice)} ü.txt"
    found = await subject.shell(
        'mkdir -p "$1/new folder"; printf %s "$2" > "$1/new folder/$2"; cat "$1/new folder/$2"',
        *(subject.folder, name),
    )
    assert found == name, found
    return f"new folder/{name}"


async def _delete(subject: Subject, dice: Random) -> str:
    path = await _some_file(subject, dice)
    await subject.shell('rm "$1"; test ! -e "$1"', path)
    return path


async def _chmod(subject: Subject, dice: Random) -> str:
    path = await _some_file(subject, dice)
    before, after = (
        await subject.shell('stat -c %a "$1"; chmod 600 "$1"; stat -c %a "$1"', path)
    ).split()
    assert before != after == "600", f"{path}: {before}, then {after}"
    return f"{path} is {after} instead of {before}"


async def _retouch(subject: Subject, dice: Random) -> str:
    """Same name, same size, same time of change: only the content tells (and the ctime)."""
    path = await _some_file(subject, dice)
    before, size, time, after, size_now, time_now = (
        await subject.shell(
            'look() { md5sum < "$1" | cut -c -32; stat -c "%s %.Y" "$1"; };'
            ' look "$1"; touch -r "$1" /tmp/time;'
            ' printf "$2" | dd of="$1" conv=notrunc status=none; touch -r /tmp/time "$1";'
            ' rm /tmp/time; look "$1"',
            *(path, dice.choice(("\\001", "\\002", "\\003"))),
        )
    ).split()
    assert before != after, f"{path} has the same content"
    assert (size, time) == (size_now, time_now), f"{path}: {size_now} bytes, changed {time_now}"
    return f"first byte of {path}, size and time as before"


async def _replace(subject: Subject, dice: Random) -> str:
    """Another file under the same name, of the same size and time of change: another inode."""
    path = await _some_file(subject, dice)
    before, after = (
        await subject.shell(
            'stat -c %i "$1"; head -c "$(stat -c %s "$1")" /dev/urandom > "$1.new";'
            ' touch -r "$1" "$1.new"; mv "$1.new" "$1"; stat -c %i "$1"',
            path,
        )
    ).split()
    assert before != after, f"{path} is the same file"
    return f"{path}, size and time as before"


async def _link(subject: Subject, dice: Random) -> str:
    path = await _some_file(subject, dice)
    target = await subject.shell('ln -sf /etc/hostname "$1"; readlink "$1"', path)
    assert target.strip() == "/etc/hostname", target
    return f"{path} leads to {target.strip()}"


FILES = (
    Mutation("add", Kind.FILES, _add),
    Mutation("delete", Kind.FILES, _delete),
    Mutation("chmod", Kind.FILES, _chmod),
    Mutation("retouch", Kind.FILES, _retouch),
    Mutation("replace", Kind.FILES, _replace),
    Mutation("link", Kind.FILES, _link),
)


async def _some_file(subject: Subject, dice: Random) -> str:
    """Return the path of a file; where none is left, one is made first."""
    listing = 'find "$1" -type f ! -path "*/new folder/*"'
    found = sorted((await subject.shell(listing, subject.folder)).splitlines())
    if found:
        return dice.choice(found)
    await write_file(subject, "made.txt", "made")
    return f"{subject.folder}/made.txt"
