# ruff: noqa: INP001  a program, which is copied
"""The one episode of a trial: begins it, passes the agent's MCP requests on, asks for the verdict.

It runs in a container of its own beside the agent's: that one reaches the port, and neither the
token nor the socket. One episode is all there is: once it is over, no other begins.
"""

from __future__ import annotations

import hmac
import http.client
import json
import os
import socket
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SOCKET = os.environ.get("ARENA_SOCKET", "/run/arena.sock")
TOKEN = os.environ.get("ARENA_TOKEN", "")  # what the solution knows
PORT = int(os.environ.get("ARENA_PORT", "8000"))
HERE = Path(__file__).resolve().parent
OUT = HERE / "out"
SERVICE_TOKEN = os.environ.get("ARENA_TOKEN_FILE")  # where Arena asks for another one
NAME = HERE / "episode"  # read by `verdict`, which is another process
ANSWER_S = 600.0
SLOT_S = 600.0  # how long to wait for a free slot
SETUP_S = 1800.0  # how long an agent may take until its first request
MOST_BYTES = 2**20
BUSY = threading.BoundedSemaphore(16)
MCP_HEADERS = ("accept", "content-type", "last-event-id")
OBSERVED = ["aria", "screenshot"]
ENDED = "the trial ended before the agent answered"


class Service(http.client.HTTPConnection):
    """A connection to `arena serve` through its socket."""

    def __init__(self, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def service_token() -> str:
    """Return what Arena asks for."""
    return TOKEN if SERVICE_TOKEN is None else Path(SERVICE_TOKEN).read_text("ascii").strip()


def ask(
    method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    service = Service(ANSWER_S)
    try:
        said = {"Content-Type": "application/json", **(headers or {})}
        service.request(method, path, body, {**said, "Authorization": f"Bearer {service_token()}"})
        answer = service.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        service.close()


class Trial:
    """The episode that is played, and what keeps it."""

    def __init__(self) -> None:
        self.id = ""
        self.is_played = threading.Event()
        self.turn = threading.Lock()  # the oracle's, which begins another episode

    def begin(self, agent: str, observe: list[str]) -> None:
        """Begin the episode, once a slot is free; SystemExit says why there is none."""
        asked = json.loads((HERE / "episode.json").read_text(encoding="utf-8"))
        goal = asked.pop("goal")
        body = json.dumps({**asked, "agent": agent, "observe": observe}).encode()
        until = time.monotonic() + SLOT_S
        status, headers, said = ask("POST", "/episodes", body)
        while status == HTTPStatus.TOO_MANY_REQUESTS and time.monotonic() < until:
            time.sleep(float(headers.get("retry-after", "5")))
            status, headers, said = ask("POST", "/episodes", body)
        answer = json.loads(said)
        if status != HTTPStatus.CREATED:
            raise SystemExit(f"arena: no episode: {status}: {answer.get('error', '')}")
        self.id = answer["episode"]
        if answer["goal"] != goal:
            self.give_back()
            raise SystemExit("arena: the task says something else by now: export it again")
        NAME.write_text(self.id, encoding="utf-8")
        threading.Thread(target=hold, args=(self.id,), daemon=True).start()
        every = answer["idle_seconds"] / 3
        threading.Thread(target=self._wait_for_agent, args=(self.id, every), daemon=True).start()

    def give_back(self) -> None:
        ask("DELETE", f"/episodes/{self.id}")

    def _wait_for_agent(self, name: str, every: float) -> None:
        """Keep the episode while the agent is installed; from its first request on it must act."""
        until = time.monotonic() + SETUP_S
        while time.monotonic() < until and not self.is_played.wait(every):
            ask("POST", f"/episodes/{name}/heartbeat")


def hold(name: str) -> None:
    """Keep a connection whose end tells Arena that this container is gone."""
    service = Service(None)
    headers = {"Authorization": f"Bearer {service_token()}"}
    service.request("GET", f"/episodes/{name}/events?hold=true", headers=headers)
    service.getresponse().read()


TRIAL = Trial()


class Relay(BaseHTTPRequestHandler):
    """Answers the agent's container."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        """Say that it is ready; there is no stream of MCP: its end would tell nothing here."""
        self.reply(200 if self.path == "/ready" else 405, b"{}")

    def do_POST(self) -> None:
        body = self.body()
        if body is None:
            return
        with BUSY:
            if self.path == "/mcp":
                self.pass_on("POST", body)
            elif self.path == "/reference":
                self.play_reference(body)
            else:
                self.reply(404, b"{}")

    def do_DELETE(self) -> None:
        if self.path == "/mcp":
            self.pass_on("DELETE", None)
        else:
            self.reply(404, b"{}")

    def body(self) -> bytes | None:
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            self.close_connection = True
            self.reply(413, b'{"error": "a request has a length, of at most 1 MiB"}')
            return None
        return self.rfile.read(int(length))

    def pass_on(self, method: str, body: bytes | None) -> None:
        TRIAL.is_played.set()
        said = {
            name: value
            for name, value in self.headers.items()
            if name.lower() in MCP_HEADERS or name.lower().startswith("mcp-")
        }
        self.reply(*self.answered(method, f"/episodes/{TRIAL.id}/mcp", body, said))

    def play_reference(self, body: bytes) -> None:
        """Play the task's reference in place of the agent, for who knows the token."""
        said = self.headers.get("authorization", "")
        if not (TOKEN and hmac.compare_digest(said.encode(), f"Bearer {TOKEN}".encode())):
            self.reply(401, b'{"error": "the token is missing or wrong"}')
            return
        with TRIAL.turn:
            TRIAL.is_played.set()
            TRIAL.give_back()
            try:
                TRIAL.begin("oracle", json.loads(body)["observe"])
            except SystemExit as none:
                self.reply(503, json.dumps({"error": str(none)}).encode())
                return
        self.reply(*self.answered("POST", f"/episodes/{TRIAL.id}/reference", None, {}))

    def answered(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        try:
            status, found, said = ask(method, path, body, headers)
        except (OSError, http.client.HTTPException) as error:
            return 502, json.dumps({"error": f"arena serve: {error}"}).encode(), {}
        return status, said, found

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        found = headers or {}
        self.send_response(status)
        for name, value in found.items():
            if name.startswith("mcp-"):
                self.send_header(name, value)
        self.send_header("Content-Type", found.get("content-type", "application/json"))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve() -> None:
    OUT.mkdir(exist_ok=True)
    TRIAL.begin("harbor", OBSERVED)
    server = ThreadingHTTPServer(("", PORT), Relay)
    server.daemon_threads = True
    sys.stdout.write(f"episode {TRIAL.id}, port {server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


def verdict() -> None:
    """End the episode where the agent has not, and write down what it is worth.

    No reward is written for what could not be scored.
    """
    name = NAME.read_text(encoding="utf-8")
    body = json.dumps({"status": "gave_up", "reason": ENDED}).encode()
    until = time.monotonic() + ANSWER_S / 4
    status, _, said = ask("POST", f"/episodes/{name}/finish", body)
    # Conflict: the agent's last call is under way.
    while status == HTTPStatus.CONFLICT and time.monotonic() < until:
        time.sleep(1)
        status, _, said = ask("POST", f"/episodes/{name}/finish", body)
    (OUT / "verdict.json").write_bytes(said)
    if status != HTTPStatus.OK:
        raise SystemExit(f"arena: no verdict: {status}: {said.decode()}")
    reward = json.loads(said)["reward"]
    if reward is not None:
        (OUT / "reward.json").write_text(json.dumps({"reward": reward}), encoding="utf-8")


def ready() -> None:
    """Raise where the relay does not answer yet."""
    relay = http.client.HTTPConnection("127.0.0.1", PORT, timeout=5)
    relay.request("GET", "/ready")
    relay.getresponse().read()


if __name__ == "__main__":
    {"serve": serve, "verdict": verdict, "ready": ready}[sys.argv[1]]()
