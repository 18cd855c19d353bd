"""The post room: takes mails, keeps the register, and stands at the door.

usage: python3 postroom                  serves until it is stopped
       python3 postroom --register       makes the tables once, from the mailboxes
"""

from __future__ import annotations

import os
import socket
import sys
import threading

import MySQLdb
from door import Door
from register import SCHEMA, Register
from submission import Submission

MAIL = "/srv/office/state/mail"
DATABASE = {
    "unix_socket": "/run/office/mariadb.sock",
    "user": "postroom",
    "password": "postroom",
    "database": "office",
}
SUBMISSION, DOOR, SOGO, IMAP = 1025, 8001, 20000, 1143


def main() -> None:
    """Run."""
    if "--register" in sys.argv:
        database = MySQLdb.connect(charset="utf8mb4", autocommit=True, **DATABASE)
        for statement in SCHEMA.split(";"):
            database.cursor().execute(statement)
        Register(MAIL, DATABASE).update()
        return
    register = Register(MAIL, DATABASE)
    register.update()
    submission = Submission(SUBMISSION, MAIL, _addresses(), register.update)
    door = Door(DOOR, SOGO, IMAP, register)
    threading.Thread(target=submission.serve_forever, daemon=True).start()
    _say_ready()
    door.serve_forever()


def _addresses() -> dict[str, str]:
    database = MySQLdb.connect(charset="utf8mb4", **DATABASE)
    cursor = database.cursor()
    cursor.execute("SELECT address, mailbox FROM mail_address")
    return {address.lower(): mailbox for address, mailbox in cursor.fetchall()}


def _say_ready() -> None:
    told = os.environ.get("NOTIFY_SOCKET")
    if told:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notice:
            notice.sendto(b"READY=1", told.replace("@", "\0", 1))


if __name__ == "__main__":
    main()
