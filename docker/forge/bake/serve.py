"""Starts the application as the supervisor does: with its socket open as descriptor 3."""

import os
import socket

listener = socket.socket(socket.AF_UNIX)
listener.bind("/run/forge/app.sock")
listener.listen(64)
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.execvp("ruby", ["ruby", "/srv/forge/serve/serve.rb"])  # noqa: S606  becomes it
