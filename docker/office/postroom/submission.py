"""SMTP for the people of this office: a mail lands in their mailboxes here, or is refused."""

from __future__ import annotations

import itertools
import re
import socketserver
import time
from collections.abc import Callable, Mapping

from maildir import deliver

_ADDRESS = re.compile(rb"<([^>]*)>")
_LARGEST = 25_000_000
_COUNTER = itertools.count(1)

Delivered = Callable[[], None]


class Submission(socketserver.ThreadingTCPServer):
    """Takes mails from the application on this machine; nothing ever leaves it."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(
        self, port: int, root: str, addresses: Mapping[str, str], delivered: Delivered
    ) -> None:
        """Listen; `addresses` are those of the people, in lower case, with their mailboxes."""
        super().__init__(("127.0.0.1", port), _Conversation)
        self.root = root
        self.addresses = addresses
        self.delivered = delivered


class _Conversation(socketserver.StreamRequestHandler):
    """One connection (RFC 5321)."""

    server: Submission

    def handle(self) -> None:
        self._say("220 office")
        sender, mailboxes = b"", list[str]()
        while line := self.rfile.readline(4096):
            verb = line[:4].upper()
            match verb.strip():
                case b"EHLO":
                    self._say("250-office\r\n250-8BITMIME\r\n250 SIZE 25000000")
                case b"MAIL":
                    sender, mailboxes = _address(line), []
                    self._say("250 ok")
                case b"RCPT":
                    known = self.server.addresses.get(_address(line).decode().lower())
                    if known is None:
                        self._say("550 nobody here has this address")
                    else:
                        mailboxes.append(known)
                        self._say("250 ok")
                case b"DATA" if mailboxes:
                    self._say("354 go on")
                    self._receive(sender, mailboxes)
                    mailboxes = []
                case b"DATA":
                    self._say("503 to whom?")
                case b"QUIT":
                    self._say("221 bye")
                    return
                case b"HELO" | b"RSET" | b"NOOP":
                    self._say("250 ok")
                case _:
                    self._say("502 not known")

    def _receive(self, sender: bytes, mailboxes: list[str]) -> None:
        lines = [b"Return-Path: <" + sender + b">\r\n"]
        size = 0
        while (line := self.rfile.readline()) not in (b".\r\n", b".\n", b""):
            size += len(line)
            lines.append(line[1:] if line.startswith(b".") else line)
        if size > _LARGEST:
            self._say("552 too large")
            return
        content, moment = b"".join(lines), time.time()
        for mailbox in dict.fromkeys(mailboxes):
            name = f"{int(moment)}.M{next(_COUNTER):06d}.office"
            deliver(f"{self.server.root}/{mailbox}", name, content, moment)
        self.server.delivered()
        self._say("250 delivered")

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


def _address(line: bytes) -> bytes:
    found = _ADDRESS.search(line)
    return found[1] if found else b""
