"""A server as PHP's is one: a parent that forks, and a child that answers on descriptor 3.

It takes the socket as it is, as PHP does: a child that need not wait for a connection ends.

Each answer is `parent child count` and the content of the state's file `note`.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path


def main(folder: Path) -> None:
    assert os.environ["LISTEN_FDS"] == "1"
    assert os.environ["LISTEN_PID"] == str(os.getpid())
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listener = socket.socket(fileno=3)
    while True:
        child = os.fork()
        if child == 0:
            serve(listener, folder)
        os.waitpid(child, 0)


def serve(listener: socket.socket, folder: Path) -> None:
    count = 0
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(100)
            count += 1
            note = (folder / "note").read_text()
            connection.sendall(f"{os.getppid()} {os.getpid()} {count} {note}".encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
