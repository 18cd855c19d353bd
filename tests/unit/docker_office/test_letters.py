"""The letters that are baked answer each other, in order, and are the same at every build."""

from __future__ import annotations

import io
import re
import tomllib
import zipfile
from datetime import timedelta
from email import message_from_bytes
from email.policy import default
from importlib import import_module
from pathlib import Path

import pytest

letters = import_module("officeseed.letters")
mailboxes = import_module("officeseed.mailboxes")
people = import_module("officeseed.people")
rows = import_module("officeseed.rows")

FORGE = Path(__file__).parents[3] / "docker" / "forge" / "seed" / "vocabulary" / "people.toml"


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("mail")
    mailboxes.write_mailboxes(root)
    return root


def files(root: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), int(path.stat().st_mtime))
        for path in sorted(root.glob("**/cur/*"))
    }


def test_two_bakes_write_the_same_mails_under_the_same_names_with_the_same_times(
    baked: Path, tmp_path: Path
) -> None:
    mailboxes.write_mailboxes(tmp_path)
    assert files(tmp_path) == files(baked)
    assert len(files(baked)) > 500


def test_an_answer_comes_after_what_it_answers_and_goes_to_who_wrote_that() -> None:
    every = letters.letters()
    answers = [one for one in every if one.answers]
    assert len(answers) > 100
    for one in answers:
        assert one.at > one.answers.at
        assert one.writer is not None
        heard = {one.answers.writer, *one.answers.to, *one.answers.copies}
        assert one.writer in heard, one.id
        assert one.writer not in one.to, one.id


def test_nothing_was_written_after_the_moment_at_which_episodes_begin() -> None:
    every = letters.letters()
    assert max(one.at for one in every) < letters.NOW
    assert len({one.id for one in every}) == len(every)


def test_a_newsletter_has_the_week_in_which_it_was_sent_and_never_loses_readers() -> None:
    sent = [one for one in letters.letters() if one.subject.startswith("Newsletter")]
    said = [found for one in sent for found in re.findall(r"now has ([\d,]+) readers", one.text)]
    readers = [int(number.replace(",", "")) for number in said]

    assert len(readers) == len(sent) > 3
    assert len({one.subject for one in sent}) == len(sent)
    assert readers == sorted(readers)
    for one in sent:
        assert one.subject == f"Newsletter, week {one.at.isocalendar().week}"


def test_a_month_is_closed_after_it_has_ended() -> None:
    closed = [one for one in letters.letters() if one.subject.startswith("Numbers for")]

    assert [one.subject.split()[-1] for one in closed] == ["June", "July", "August"]
    for one in closed:
        assert f"{one.at - timedelta(days=one.at.day):%B}" in one.subject


def test_conversations_of_a_kind_hardly_use_the_same_words() -> None:
    first = [one.text for one in letters.letters() if one.writer and one.answers is None]
    openings = [re.sub(r"[\d.,]+", "#", text.splitlines()[0]) for text in first]

    assert len(openings) > 60
    assert len(set(openings)) / len(openings) > 0.9


def test_the_kettles_firmware_only_grows_newer() -> None:
    first = [one for one in letters.letters() if one.subject.startswith("Heating curve of")]
    versions = [re.search(r"with (\S+) last night", one.text) for one in first]
    told = [found[1] for found in versions if found]

    assert len(told) == len(first) > 3
    assert told == sorted(told)


def test_the_people_are_those_of_the_forge() -> None:
    known = tomllib.loads(FORGE.read_text(encoding="utf-8"))["known"]
    there = {f"{one['first']} {one['last']}" for one in known}
    assert {one.name for one in people.PEOPLE.values()} <= there


def test_a_mail_is_numbered_in_its_folder_as_dovecot_would_find_it(baked: Path) -> None:
    inbox = baked / "ines.ferreira"
    header, *listed = (inbox / "dovecot-uidlist").read_text(encoding="ascii").splitlines()
    names = {path.name.partition(":2,")[0] for path in (inbox / "cur").iterdir()}
    assert {line.partition(" :")[2] for line in listed} == names
    assert f" N{len(listed) + 1} " in header


def attachments(baked: Path, mailbox: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in (baked / mailbox).glob("**/cur/*"):
        for part in message_from_bytes(path.read_bytes(), policy=default).walk():
            if name := part.get_filename():
                content = part.get_payload(decode=True)
                assert isinstance(content, bytes)
                found[name] = content
    return found


def test_what_hangs_on_mails_can_be_opened_and_says_what_tasks_ask_for(baked: Path) -> None:
    hers = attachments(baked, "ines.ferreira")
    assert b"396.96" in hers["brindley-quote-4471.pdf"]
    assert b"3,2.4-rc1,500,6,1" in hers["debounce-runs.csv"]
    with zipfile.ZipFile(io.BytesIO(hers["northway-rates-2027.xlsx"])) as book:
        assert b"<v>7.10</v>" in book.read("xl/worksheets/sheet1.xml")
    assert attachments(baked, "nora.lindqvist")["museum-visitors-august.png"][:4] == b"\x89PNG"


def test_a_guest_has_the_event_in_the_own_calendar_too() -> None:
    event = "'office-event-013.ics'"
    kept = [line for line in rows.statements() if event in line and "INTO sogo_store" in line]
    owners = {line.split("VALUES (")[1].split(",")[0] for line in kept}
    guests = {people.PEOPLE["tom"].calendar, people.PEOPLE["ines"].calendar}
    assert owners == {str(one) for one in guests}
