"""Harbor plays tasks that bring their sites: nothing of Arena runs beside it."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.harbor.runner import ARENA_IMAGE, IMAGE, TOKEN, Harbor, harbor_with_sites

from orchestrator import Arena

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=12)]

BELLS, LATEST_ORDER, WISH_LIST = (
    "wiki-bells-of-bruges",
    "shop-latest-order-total",
    "shop-wish-list-compass",
)
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
for top in pathlib.Path("/").iterdir() if secrets else ():
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
    def of(cls, job: Path) -> Containers:
        """Wait until the agent of a job's one trial waits, and return its trial's containers."""
        until = time.monotonic() + 240
        while "main" not in (found := _inspected(job)) or not _waits(found["main"]["Id"]):
            assert time.monotonic() < until
            time.sleep(0.5)
        return cls(found)

    def run(self, service: str, *words: str) -> str:
        """Run a program in a container, and return what it printed."""
        return subprocess.check_output(
            ["docker", "exec", self.found[service]["Id"], *words], text=True
        )

    def networks(self, service: str) -> list[dict[str, Any]]:
        return list(self.found[service]["NetworkSettings"]["Networks"].values())


def _inspected(job: Path) -> dict[str, dict[str, Any]]:
    named = [f"--filter=name=^{one.name.lower()}__env-" for one in job.glob("*__*")]
    asked = ["docker", "ps", "--quiet", *named]
    ids = subprocess.check_output(asked, text=True).split() if named else []
    said = subprocess.check_output(["docker", "inspect", *ids]) if ids else "[]"
    return {one["Config"]["Labels"]["com.docker.compose.service"]: one for one in json.loads(said)}


def _waits(container: str) -> bool:
    asked = ["docker", "exec", container, "test", "-e", "/workspace/waits"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    return harbor_with_sites(tmp_path_factory.mktemp("harbor"))


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
        trial = Containers.of(harbor.folder / "jobs" / name)
        subprocess.check_call(["docker", "kill", trial.found["site-shop"]["Id"]])
        trial.run("main", "touch", "/workspace/go")
        running.communicate(timeout=300)
    (found,) = harbor.trials(name)
    assert (found.reward, found.error) == (None, "RewardFileNotFoundError")


def test_an_agent_finds_no_gold_token_password_or_socket_and_nothing_has_a_way_out(
    harbor: Harbor, tasks: Path
) -> None:
    with harbor.job("--job-name", "looks", "-p", tasks / LATEST_ORDER, program=WAITS) as running:
        trial = Containers.of(harbor.folder / "jobs" / "looks")
        sites = json.loads(trial.run("service", "cat", "/arena/sites.json"))
        served = trial.run("service", "cat", "/run/arena/token").strip()
        secrets = [TOKEN, served, *(one["token"] for one in sites.values()), "total_incl_tax"]
        assert all(secrets)
        relay = ["arena", trial.networks("arena")[0]["IPAddress"]]
        hosts = [*relay, "service", "site-shop"]
        addresses = [[host, port] for host in hosts for port in PORTS]
        # What is there is found.
        trial.run("main", "sh", "-c", f"echo {served} > /workspace/planted")
        said = trial.run("main", "python3", "-c", LOOKS, json.dumps([secrets, addresses]))
        assert json.loads(said) == [["/workspace/planted"], [], [[one, 8000] for one in relay]]
        for name, one in trial.found.items():
            host = one["HostConfig"]
            assert not host["Privileged"]
            assert not host["PortBindings"]
            assert not any("docker.sock" in mount["Source"] for mount in one["Mounts"])
            assert name == "main" or host["CapDrop"] == ["ALL"]
        # Who cannot send a packet beyond its network answers nobody there: no address is tried,
        # because a packet to a network that the machine is not in leaves the machine.
        (network,) = trial.networks("arena")
        with socket.create_server((network["Gateway"], 0)) as machine:
            asked = ["python3", "-c", LOOKS, json.dumps([[], [machine.getsockname()]])]
            reach = {one: json.loads(trial.run(one, *asked))[2] for one in sorted(trial.found)}
        assert {one for one, reached in reach.items() if reached} == {"arena", "main"}
        trial.run("main", "touch", "/workspace/go")
        running.communicate(timeout=300)
    (found,) = harbor.trials("looks")
    assert (found.reward, found.error) == (0.0, None)
