"""Harbor plays tasks that bring their sites: nothing of Arena runs beside it."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.harbor.runner import (
    ARENA_IMAGE,
    IMAGE,
    Harbor,
    build_arena_image,
    build_image,
    compose_env,
    harbor_python,
)

from orchestrator import Arena

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=12)]

BELLS, LATEST_ORDER, WISH_LIST = (
    "wiki-bells-of-bruges",
    "shop-latest-order-total",
    "shop-wish-list-compass",
)
TOKEN = "of-the-solution"
# Looks at a page, and waits until the test has done something to the trial.
WAITS = """
import time
call("browser_snapshot")
pathlib.Path("/workspace/waits").touch()
until = time.monotonic() + 240
while not pathlib.Path("/workspace/go").exists() and time.monotonic() < until:
    time.sleep(0.1)
"""
ACTS = """
call("browser_navigate", url="http://shop.arena.example/")
call("submit_answer", answer="44.95")
"""
# Run in the agent's container, as root: what it finds of what it must not know.
LOOKS = """
import json, os, pathlib, socket, stat, sys
secrets, addresses = json.loads(sys.argv[1])
def reaches(host, port):
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError:
        return False
    return True
found, sockets = [], []
def look(path):
    try:
        mode = path.lstat().st_mode
        if stat.S_ISSOCK(mode):
            sockets.append(str(path))
        elif stat.S_ISREG(mode) and any(one.encode() in path.read_bytes() for one in secrets):
            found.append(str(path))
    except OSError:
        pass  # of a process that has ended
for top in pathlib.Path("/").iterdir():
    for folder, _, names in os.walk(top) if top.name not in ("proc", "sys") else ():
        for name in names:
            look(pathlib.Path(folder, name))
for one in pathlib.Path("/proc").glob("[0-9]*"):
    if one.name != str(os.getpid()):  # whose words are the secrets
        look(one / "environ")
        look(one / "cmdline")
print(json.dumps([found, sockets, [one for one in addresses if reaches(*one)]]))
"""
PORTS = (8000, 3306, 9009, 2375, 2376)  # of sites, their databases and supervisors, and an engine


@dataclass(frozen=True, slots=True)
class Containers:
    """Those of a trial that is being played, by service."""

    found: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, task: str) -> Containers:
        """Wait until the agent of a task's trial waits, and return its trial's containers."""
        until = time.monotonic() + 240
        while "main" not in (found := _inspected(task)) or not _waits(found["main"]["Id"]):
            assert time.monotonic() < until
            time.sleep(0.5)
        return cls(found)

    def run(self, service: str, *words: str) -> str:
        """Run a program in a container, and return what it printed."""
        return subprocess.check_output(
            ["docker", "exec", self.found[service]["Id"], *words], text=True
        )

    def addresses(self, service: str) -> list[str]:
        networks = self.found[service]["NetworkSettings"]["Networks"].values()
        return [one["IPAddress"] for one in networks]


def _inspected(task: str) -> dict[str, dict[str, Any]]:
    named = ["docker", "ps", "--quiet", "--filter", f"name=^{task}__"]
    ids = subprocess.check_output(named, text=True).split()
    said = subprocess.check_output(["docker", "inspect", *ids]) if ids else "[]"
    return {one["Config"]["Labels"]["com.docker.compose.service"]: one for one in json.loads(said)}


def _waits(container: str) -> bool:
    asked = ["docker", "exec", container, "test", "-e", "/workspace/waits"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    folder = tmp_path_factory.mktemp("harbor")
    for name in ("image", "arena", "compose", "python", "jobs"):
        (folder / name).mkdir()
    build_image(folder / "image")
    build_arena_image(folder / "arena")
    env = {**compose_env(folder / "compose"), "ARENA_TOKEN": TOKEN}
    return Harbor(harbor_python(folder / "python"), env, folder / "jobs")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks") / "demo"
    Arena().suites.export_harbor("demo", folder, image=IMAGE, arena_image=ARENA_IMAGE)
    return folder


@pytest.mark.parametrize("task", [BELLS, WISH_LIST])
def test_the_oracle_passes_and_leaves_its_evidence_and_idling_fails(
    task: str, harbor: Harbor, tasks: Path
) -> None:
    (found,) = harbor.play(f"oracle-{task}", "-p", tasks / task, "-a", "oracle")
    assert (found.reward, found.error) == (1.0, None)
    (verdict,) = found.folder.rglob("verdict.json")
    assert json.loads(verdict.read_text())["outcome"] == "success"
    assert list(verdict.parent.glob("evidence/*"))
    (idle,) = harbor.play(f"idle-{task}", "-p", tasks / task, "-a", "nop")
    assert (idle.reward, idle.error) == (0.0, None)


@pytest.mark.parametrize("then", ["", ACTS], ids=["gives up", "acts"])
def test_a_trial_whose_site_is_killed_has_no_reward(then: str, harbor: Harbor, tasks: Path) -> None:
    name = f"killed-{bool(then)}"
    words = ("--job-name", name, "-p", tasks / LATEST_ORDER)
    with harbor.job(*words, program=WAITS + then) as running:
        trial = Containers.of(LATEST_ORDER)
        subprocess.check_call(["docker", "kill", trial.found["site-shop"]["Id"]])
        trial.run("main", "touch", "/workspace/go")
        running.communicate(timeout=300)
    (found,) = harbor.trials(name)
    assert (found.reward, found.error) == (None, "RewardFileNotFoundError")


def test_an_agent_finds_no_gold_token_password_or_socket_and_nothing_has_a_way_out(
    harbor: Harbor, tasks: Path
) -> None:
    with harbor.job("--job-name", "looks", "-p", tasks / LATEST_ORDER, program=WAITS) as running:
        trial = Containers.of(LATEST_ORDER)
        sites = json.loads(trial.run("service", "cat", "/arena/sites.json"))
        served = trial.run("service", "cat", "/run/arena/token").strip()
        secrets = [TOKEN, served, *(one["token"] for one in sites.values()), "total_incl_tax"]
        assert all(secrets)
        addresses = [
            [host, port]
            for name in set(trial.found) - {"main"}
            for host in (name, *trial.addresses(name))
            for port in PORTS
        ]
        trial.run(
            "main", "sh", "-c", f"echo {served} > /workspace/planted"
        )  # it is found where it is
        said = trial.run("main", "python3", "-c", LOOKS, json.dumps([secrets, addresses]))
        relay = [[one, 8000] for one in ("arena", *trial.addresses("arena"))]
        assert json.loads(said) == [["/workspace/planted"], [], relay]
        for name, one in trial.found.items():
            host = one["HostConfig"]
            assert not host["Privileged"]
            assert not host["PortBindings"]
            assert not any("docker.sock" in mount["Source"] for mount in one["Mounts"])
            assert name == "main" or host["CapDrop"] == ["ALL"]
        for name in ("service", "site-shop"):
            _, *routes = trial.run(name, "cat", "/proc/net/route").splitlines()
            assert routes
            assert "00000000" not in [one.split()[1] for one in routes]  # the default route
        trial.run("main", "touch", "/workspace/go")
        running.communicate(timeout=300)
    (found,) = harbor.trials("looks")
    assert (found.reward, found.error) == (0.0, None)
