"""Harbor at a pinned version, Docker Compose, and jobs that a scripted agent plays."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena_core.user_cache import user_cache
from support.agents.foreign_clients import ROOT, python_312, python_with

PINNED = "harbor==0.24.0"
IMAGE = "arena-test/python:1"
ARENA_IMAGE = "arena-test/arena:1"
TOKEN = "of-the-solution"
_DOCKERFILE = """
FROM debian:bookworm-slim
RUN apt-get update -q && apt-get install -yq --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/*
"""
# What every program of an agent begins with: an MCP client of three functions.
CLIENT = """
import json, os, pathlib, subprocess, sys, urllib.error, urllib.request

def post(path, document, **headers):
    body = json.dumps(document).encode()
    said = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    asked = urllib.request.Request("http://arena:8000" + path, body, {**said, **headers})
    try:
        with urllib.request.urlopen(asked, timeout=120) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read().decode()

hello = {"protocolVersion": "2025-06-18", "capabilities": {},
         "clientInfo": {"name": "agent", "version": "1"}}
kept = pathlib.Path("/tmp/mcp-session")  # of the agent's last program, if it is not the first
if kept.exists():
    session = json.loads(kept.read_text())
else:
    asked = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    _, headers, _ = post("/mcp", asked)
    session = {"Mcp-Session-Id": {k.lower(): v for k, v in headers.items()}["mcp-session-id"]}
    post("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    kept.write_text(json.dumps(session))

def call(name, **arguments):
    asked = {"name": name, "arguments": arguments}
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    return json.loads(post("/mcp", said, **session)[2])["result"]
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What Harbor found of one trial.

    Attributes:
        task: the name that its folder gives it.
        reward: None where there is none.
        error: the kind of what Harbor counts as an error.
        said: what the agent's program printed, as JSON.
        folder: all that Harbor kept.
    """

    task: str
    reward: float | None
    error: str | None
    said: Any
    folder: Path


@dataclass(frozen=True, slots=True)
class Harbor:
    """Harbor's command, and what its environment needs."""

    python: Path
    env: Mapping[str, str]
    folder: Path

    @contextmanager
    def job(
        self, *words: str | Path, program: str | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """Begin a job; it is interrupted at the end of the block if it still runs."""
        agents = str(ROOT / "tests")
        env = {**os.environ, **self.env, "HARBOR_TELEMETRY": "0", "PYTHONPATH": agents}
        if program is not None:
            (self.folder / "program.py").write_text(CLIENT + program)
            env["AGENT_PROGRAM"] = str(self.folder / "program.py")
            words = (*words, "--agent-import-path", "support.harbor.agents:Scripted")
        running = subprocess.Popen(
            [str(self.python.with_name("harbor")), "run", "-y", "-o", "jobs", *map(str, words)],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield running
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGINT)  # it removes its containers
                try:
                    running.communicate(timeout=60)
                finally:
                    running.kill()
                    running.wait()

    def play(
        self, name: str, *words: str | Path, program: str | None = None, limit_s: float = 600
    ) -> list[Trial]:
        """Play a job to its end."""
        with self.job("--job-name", name, *words, program=program) as running:
            out, _ = running.communicate(timeout=limit_s)
        found = self.trials(name)
        assert found, out
        return found

    def trials(self, name: str) -> list[Trial]:
        """Return what a job has found."""
        results = (self.folder / "jobs" / name).glob("*/result.json")
        return [_trial_in(one.parent) for one in sorted(results)]


def _trial_in(folder: Path) -> Trial:
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    rewards = (result.get("verifier_result") or {}).get("rewards") or {}
    said = folder / "agent" / "said.json"
    text = said.read_text(encoding="utf-8") if said.exists() else ""
    error = result.get("exception_info")
    return Trial(
        task=result["task_name"],
        reward=rewards.get("reward"),
        error=error and error["exception_type"],
        said=json.loads(text) if text else None,
        folder=folder,
    )


def harbor_with_sites(folder: Path) -> Harbor:
    """Return Harbor in a folder of its own, and build what tasks that bring their sites need."""
    for name in ("image", "arena", "jobs"):
        (folder / name).mkdir()
    build_image(folder / "image")
    build_arena_image(folder / "arena")
    env = {**compose_env(), "ARENA_TOKEN": TOKEN}
    return Harbor(harbor_python(), env, folder / "jobs")


def harbor_python() -> Path:
    """Return the Python of an environment into which Harbor alone is installed."""
    return python_with(PINNED, [PINNED], given="ARENA_HARBOR_PYTHON", base=python_312)


def compose_env() -> dict[str, str]:
    """Return the environment in which `docker compose` works; Debian's package where it does not.

    Debian 12 has the older program of that name: the package of Debian 13 runs there too. It is
    kept in the user's cache.
    """
    asked = subprocess.run(["docker", "compose", "version"], capture_output=True, check=False)
    if asked.returncode == 0:
        return {}
    folder = user_cache() / "tests" / "docker-compose"
    plugin = folder / "cli-plugins" / "docker-compose"
    if not plugin.exists():
        shutil.rmtree(folder, ignore_errors=True)
        _download_compose(folder, plugin)
    return {"DOCKER_CONFIG": str(folder)}


def _download_compose(folder: Path, plugin: Path) -> None:
    for name in ("lists/partial", "cache/archives/partial", "cli-plugins"):
        (folder / name).mkdir(parents=True)
    (folder / "sources.list").write_text("deb http://deb.debian.org/debian trixie main\n")
    apart = [
        f"-oDir::Etc::sourcelist={folder}/sources.list",
        "-oDir::Etc::sourceparts=-",
        f"-oDir::State::lists={folder}/lists",
        f"-oDir::Cache={folder}/cache",
    ]
    subprocess.check_call(["apt-get", "-qq", *apart, "update"], cwd=folder)
    subprocess.check_call(["apt-get", "-qq", *apart, "download", "docker-compose"], cwd=folder)
    (package,) = folder.glob("docker-compose_*.deb")
    subprocess.check_call(["dpkg", "-x", package, folder / "unpacked"])
    (folder / "unpacked" / "usr" / "libexec" / "docker" / "cli-plugins" / "docker-compose").rename(
        plugin
    )


def build_image(folder: Path) -> None:
    """Build what the containers are made from: no registry is asked."""
    (folder / "Dockerfile").write_text(_DOCKERFILE)
    subprocess.check_call(
        ["docker", "build", "--quiet", "--network", "host", "--tag", IMAGE, folder],
        env={**os.environ, "DOCKER_BUILDKIT": "0"},
    )


def build_arena_image(folder: Path) -> None:
    """Build the image that `examples/harbor` describes, with Arena as it is here."""
    shutil.copyfile(ROOT / "examples" / "harbor" / "Dockerfile", folder / "Dockerfile")
    # The newest soupsieve asks for a later 3.11 than Debian 12 has.
    words = ["-m", "pip", "wheel", "--quiet", f"{ROOT}[serve]", "soupsieve<3", "-w", "wheels"]
    subprocess.check_call([sys.executable, *words], cwd=folder)
    subprocess.check_call(
        ["docker", "build", "--quiet", "--network", "host", "--tag", ARENA_IMAGE, folder],
        env={**os.environ, "DOCKER_BUILDKIT": "0"},
    )
