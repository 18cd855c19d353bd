"""Harbor plays tasks that bring their sites: nothing of Arena runs beside it."""

from __future__ import annotations

import json
from pathlib import Path

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

BELLS, LATEST_ORDER = "wiki-bells-of-bruges", "shop-latest-order-total"
REACHES = """
import socket
def reaches(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError:
        return False
    return True
environs = b"".join(one.read_bytes() for one in pathlib.Path("/proc").glob("[0-9]*/environ"))
print(json.dumps({
    "arena": reaches("arena", 8000),
    "sites": [reaches("site-shop", port) for port in (8000, 3306, 9009)],
    "reference": post("/reference", {"observe": ["axtree"]}, Authorization="Bearer ")[0],
    "token": b"_TOKEN" in environs,
}))
"""


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Harbor:
    folder = tmp_path_factory.mktemp("harbor")
    for name in ("image", "arena", "compose", "python", "jobs"):
        (folder / name).mkdir()
    build_image(folder / "image")
    build_arena_image(folder / "arena")
    env = {**compose_env(folder / "compose"), "ARENA_TOKEN": "of-the-solution"}
    return Harbor(harbor_python(folder / "python"), env, folder / "jobs")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks") / "demo"
    Arena().suites.export_harbor("demo", folder, image=IMAGE, arena_image=ARENA_IMAGE)
    return folder


@pytest.mark.parametrize("task", [BELLS, LATEST_ORDER])
def test_the_oracle_passes_and_leaves_its_evidence(task: str, harbor: Harbor, tasks: Path) -> None:
    (found,) = harbor.play(f"oracle-{task}", "-p", tasks / task, "-a", "oracle")
    assert (found.reward, found.error) == (1.0, None)
    (verdict,) = found.folder.rglob("verdict.json")
    assert json.loads(verdict.read_text())["outcome"] == "success"
    assert list(verdict.parent.glob("evidence/*"))


def test_an_agent_reaches_no_site_and_idling_fails(harbor: Harbor, tasks: Path) -> None:
    (found,) = harbor.play("reaches", "-p", tasks / LATEST_ORDER, program=REACHES)
    assert found.said == {
        "arena": True,
        "sites": [False, False, False],
        "reference": 401,
        "token": False,
    }
    assert (found.reward, found.error) == (0.0, None)
