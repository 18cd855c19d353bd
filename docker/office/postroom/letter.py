"""What one mail says, read from the file that dovecot keeps it in."""

from __future__ import annotations

import email
import email.policy
import hashlib
import re
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime
from html import unescape
from typing import NamedTuple

_TAGS = re.compile(r"<[^>]+>")
_LONGEST = 60_000


class Letter(NamedTuple):
    """The columns of table `mail` that follow from a mail's text alone."""

    subject: str
    sender: str
    recipients: str
    copies: str
    sent: datetime | None
    message_id: str
    answers: str
    body: str
    attachments: str
    digest: str


def read_letter(content: bytes) -> Letter:
    """Read a mail, however odd it is."""
    message = email.message_from_bytes(content, policy=email.policy.default)
    return Letter(
        subject=_header(message, "Subject"),
        sender=_addresses(message, "From"),
        recipients=_addresses(message, "To"),
        copies=_addresses(message, "Cc"),
        sent=_moment(_header(message, "Date")),
        message_id=_header(message, "Message-ID").strip("<>"),
        answers=_header(message, "In-Reply-To").strip("<>"),
        body=_body(message)[:_LONGEST],
        attachments=", ".join(_names(message)),
        digest=hashlib.sha256(content).hexdigest(),
    )


def _header(message: EmailMessage, name: str) -> str:
    return str(message.get(name, "")).strip()


def _addresses(message: EmailMessage, name: str) -> str:
    lines = [str(line) for line in message.get_all(name, [])]
    return ", ".join(address for _, address in getaddresses(lines) if address)


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, UnicodeError):
        return ""
    if part.get_content_subtype() == "html":
        text = unescape(_TAGS.sub(" ", text))
    return text.strip()


def _names(message: EmailMessage) -> list[str]:
    return [name for part in message.walk() if (name := part.get_filename())]
