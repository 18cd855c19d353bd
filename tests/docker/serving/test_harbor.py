"""Harbor plays exported tasks: its own models, its own local runner, and agents that cheat."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.agents.arena_process import ArenaProcess
from support.harbor.runner import IMAGE, Harbor, build_image, compose_env, harbor_python
from support.tasks.small_suites import BRUGES

from orchestrator import Arena

pytestmark = [pytest.mark.docker, pytest.mark.browser, pytest.mark.slow(minutes=8)]

BELLS, LATEST_ORDER = "wiki-bells-of-bruges", "shop-latest-order-total"
LIMIT_S = 60.0
READS = """
import sys
from pathlib import Path
from typing import Any
from harbor.models.task.task import Task
for folder in sorted(Path(sys.argv[1]).iterdir()):
    task = Task(folder)
    print(task.config.task.name, task.config.verifier.environment_mode.value)
"""
ANSWERS_TWICE = f"""
call("browser_navigate", url="{BRUGES}")
first = call("submit_answer", answer="46")["structuredContent"]["outcome"]
print(json.dumps([first, call("submit_answer", answer="47")["isError"]]))
"""
FORGES = """
for place in ("/logs/verifier", "/logs/artifacts", "/arena/out", "/tests"):
    folder = pathlib.Path(place)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reward.json").write_text('{"reward": 1.0}')
    (folder / "reward.txt").write_text("1")
again = "while :; do echo '{\\"reward\\": 1.0}' > /logs/verifier/reward.json; done"
subprocess.Popen(["sh", "-c", again], start_new_session=True)
environs = b"".join(one.read_bytes() for one in pathlib.Path("/proc").glob("[0-9]*/environ"))
print(json.dumps({
    "token": b"ARENA_TOKEN" in environs,
    "socket": os.path.exists("/run/arena.sock"),
    "reference": post("/reference", {"observe": ["axtree"]})[0],
    "guessed": post("/reference", {"observe": ["axtree"]}, Authorization="Bearer x")[0],
    "finish": post("/episodes/x/finish", {})[0],
}))
"""
GOES_ON = f"""
for one in range(6):
    call("browser_navigate", url="{BRUGES}?{{one}}")
    call("browser_wait_for", text="what no page says", time=5)
"""
HANGS = f"""
call("browser_navigate", url="{BRUGES}")
import time
time.sleep(300)
"""


@dataclass(frozen=True, slots=True)
class Lab:
    """Exported tasks, a service that plays them, and Harbor."""

    harbor: Harbor
    tasks: Path
    service: httpx.Client
    out: Path
    pid: int

    def free(self) -> int:
        found: int = self.service.get("/health").json()["free"]
        return found

    def until_free(self, count: int, limit_s: float = LIMIT_S) -> None:
        until = time.monotonic() + limit_s
        while self.free() != count:
            assert time.monotonic() < until
            time.sleep(0.05)

    def until_played(self) -> None:
        """Wait until an agent has done something in an episode that goes on."""
        until = time.monotonic() + 180
        while not any(self._step_of(one) for one in self._episodes() if not one["is_over"]):
            assert time.monotonic() < until
            time.sleep(0.05)

    def _step_of(self, episode: dict[str, Any]) -> int:
        found = self.service.get(f"/episodes/{episode['episode']}").json()["observation"]["step"]
        return int(found)

    def _episodes(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.service.get("/episodes").json()
        return found

    def outcomes(self) -> list[str]:
        """Return what the episodes that are over were worth, by the service's own word."""
        return [one["result"]["outcome"] for one in self._episodes() if one["is_over"]]

    def replicas(self) -> list[str]:
        named = ["--filter", f"name=arena-wiki-episodes-{self.pid}-", "--format", "{{.Names}}"]
        return subprocess.check_output(["docker", "ps", *named], text=True).split()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("harbor")
    for name in ("image", "jobs"):
        (folder / name).mkdir()
    build_image(folder / "image")
    python, compose = harbor_python(), compose_env()
    tasks = folder / "tasks"
    Arena().suites.export_harbor("demo", tasks, image=IMAGE)
    words = ["serve", "--workers", "2", "--port", "0", "--references", "--json", "--out", "out"]
    files = ["--socket", "arena.sock", "--token-file", "token"]
    with ArenaProcess(*words, *files, cwd=folder) as serving:
        serving.printed("token_file")
        token = (folder / "token").read_text().strip()
        through = httpx.HTTPTransport(uds=str(folder / "arena.sock"))
        headers = {"Authorization": f"Bearer {token}"}
        env = {**compose, "ARENA_SOCKET": str(folder / "arena.sock"), "ARENA_TOKEN": token}
        with httpx.Client(
            base_url="http://localhost", transport=through, headers=headers, timeout=60
        ) as http:
            yield Lab(
                Harbor(python, env, folder / "jobs"), tasks, http, folder / "out", serving.pid
            )
        serving.interrupt()
        serving.wait()


def test_harbors_own_models_read_every_folder(lab: Lab) -> None:
    said = subprocess.check_output([lab.harbor.python, "-c", READS, lab.tasks], text=True)
    assert said.splitlines() == [
        f"arena/demo-{one.name} separate" for one in sorted(lab.tasks.iterdir())
    ]


def test_the_oracle_passes_twice_at_a_time_and_idling_fails(lab: Lab) -> None:
    found = lab.harbor.play("oracle", "-p", lab.tasks / BELLS, "-a", "oracle", "-k", "2", "-n", "2")
    assert [(one.reward, one.error) for one in found] == [(1.0, None), (1.0, None)]
    token = lab.service.headers["authorization"].split()[1]
    for trial in found:  # Harbor publishes these folders
        kept = [one.read_bytes() for one in trial.folder.rglob("*") if one.is_file()]
        assert not any(token.encode() in one for one in kept)
    (idle,) = lab.harbor.play("idle", "-p", lab.tasks / BELLS, "-a", "nop")
    assert (idle.reward, idle.error) == (0.0, None)
    assert lab.free() == 2


def test_the_oracle_passes_on_a_site_with_state(lab: Lab) -> None:
    (found,) = lab.harbor.play("shop", "-p", lab.tasks / LATEST_ORDER, "-a", "oracle")
    assert (found.reward, found.error) == (1.0, None)


def test_who_knows_the_verdict_can_change_it_no_more(lab: Lab) -> None:
    (found,) = lab.harbor.play("twice", "-p", lab.tasks / BELLS, program=ANSWERS_TWICE)
    assert found.said == ["failure", True]
    assert (found.reward, found.error) == (0.0, None)


def test_an_agent_that_writes_rewards_gets_none_of_them_and_finds_no_token(lab: Lab) -> None:
    (found,) = lab.harbor.play("forges", "-p", lab.tasks / BELLS, program=FORGES)
    assert found.said == {
        "token": False,
        "socket": False,
        "reference": 401,
        "guessed": 401,
        "finish": 404,
    }
    assert (found.reward, found.error) == (0.0, None)


def test_what_could_not_be_scored_is_an_error_and_has_no_reward(lab: Lab) -> None:
    """Also where the agent left a reward behind."""
    words = ("--job-name", "gone", "-p", lab.tasks / BELLS)
    with lab.harbor.job(*words, program=FORGES + GOES_ON) as running:
        lab.until_played()
        for one in lab.replicas():
            subprocess.check_call(["docker", "rm", "--force", one], stdout=subprocess.DEVNULL)
        running.communicate(timeout=300)
    (found,) = lab.harbor.trials("gone")
    assert (found.reward, found.error) == (None, "RewardFileNotFoundError")
    assert lab.outcomes()[-1] == "unscored"


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_a_trial_that_is_ended_frees_its_slot(how: str, lab: Lab) -> None:
    with lab.harbor.job("--job-name", how, "-p", lab.tasks / BELLS, program=HANGS) as running:
        lab.until_played()
        if how == "interrupted":
            running.send_signal(signal.SIGINT)
        else:  # its containers, as a machine that goes down would
            named = ["--filter", "label=com.docker.compose.service=arena", "--format", "{{.Names}}"]
            names = subprocess.check_output(["docker", "ps", *named], text=True).split()
            mine = [one for one in names if one.startswith(BELLS)]
            subprocess.check_call(["docker", "kill", *mine], stdout=subprocess.DEVNULL)
        lab.until_free(2, 120 if how == "interrupted" else LIMIT_S)  # Harbor tidies up first
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=120)
    assert all(one.reward is None for one in lab.harbor.trials(how))
    if how == "killed":  # else Harbor asks for the verdict before it removes the containers
        assert lab.outcomes()[-1] == "unscored"
