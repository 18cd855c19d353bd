"""The post room takes mails for the people of the office alone, and reads what dovecot keeps."""

from __future__ import annotations

import smtplib
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

letter = import_module("letter")
maildir = import_module("maildir")
submission = import_module("submission")


def mailbox(path: Path) -> Path:
    for part in ("cur", "new", "tmp"):
        (path / part).mkdir(parents=True)
    return path


@pytest.fixture
def office(tmp_path: Path) -> Iterator[SimpleNamespace]:
    mailbox(tmp_path / "ines")
    told: list[None] = []
    addresses = {"ines@example.org": "ines"}
    with submission.Submission(0, str(tmp_path), addresses, lambda: told.append(None)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield SimpleNamespace(port=server.server_address[1], root=tmp_path, told=told)
        server.shutdown()


def mail(to: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "tom@example.org", to, "Probes"
    message.set_content("They cost 396.96.\n.\nTom")
    return message


def test_a_mail_lies_whole_and_unread_in_the_mailbox_of_whom_it_is_for(
    office: SimpleNamespace,
) -> None:
    with smtplib.SMTP("127.0.0.1", office.port) as client:
        client.send_message(mail("Ines <Ines@Example.org>"))
    (one,) = maildir.kept(str(office.root / "ines"))
    read = letter.read_letter(Path(one.path).read_bytes())
    assert (one.flags, read.subject, read.sender) == ("", "Probes", "tom@example.org")
    assert read.body.splitlines() == ["They cost 396.96.", ".", "Tom"]
    assert office.told, "the register was not brought up to date"


def test_a_mail_to_anybody_else_is_refused_and_goes_nowhere(office: SimpleNamespace) -> None:
    with (
        smtplib.SMTP("127.0.0.1", office.port) as client,
        pytest.raises(smtplib.SMTPRecipientsRefused),
    ):
        client.send_message(mail("somebody@elsewhere.example"))
    assert list(maildir.kept(str(office.root / "ines"))) == []


def test_folders_have_the_names_that_people_gave_them(tmp_path: Path) -> None:
    mailbox(tmp_path)
    for name in (".Projects.Kettle firmware", ".Caf&AOk-", ".A &- B"):
        mailbox(tmp_path / name)
    assert set(maildir.folders(str(tmp_path))) == {
        *("INBOX", "Projects/Kettle firmware", "Café", "A & B"),
    }


def test_flags_and_labels_of_a_mail_are_in_the_name_of_its_file(tmp_path: Path) -> None:
    here = mailbox(tmp_path)
    (here / "dovecot-keywords").write_text("0 $label1\n1 $Forwarded\n", encoding="ascii")
    (here / "cur" / "1.M1.office:2,RSa").touch()
    (one,) = maildir.kept(str(here))
    assert (one.base, one.flags, one.labels) == ("1.M1.office", "RS", ("$label1",))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no header",
        b"Date: never\n\nx",
        b"Content-Type: text/plain; charset=klingon\n\n\xff",
        b"From: <<>>\nSubject: =?utf-8?q?=ff?=\n\n",
    ],
)
def test_an_odd_mail_is_read_all_the_same(content: bytes) -> None:
    assert len(letter.read_letter(content).digest) == 64
