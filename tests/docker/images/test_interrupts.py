from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from quick_cases import SLOW

from orchestrator.sandbox.engine.containers import ContainerKind, Labels

pytestmark = pytest.mark.docker

# `arena build` as a user runs it, with a site and a docker/ folder of this test.
_ARENA = """
import sys
from pathlib import Path
from orchestrator.cli.setup import build as command
from orchestrator.sandbox.images import build
from sites import registry as registry

folder = Path(sys.argv[1])
build.docker_folder = lambda: folder
plain = registry.load_registry
registry.load_registry = lambda *_, **__: plain([folder])
from orchestrator.cli.entry import main
sys.argv = ["arena", "build", sys.argv[2]]
main()
"""


@pytest.fixture
def slow_site(trial: Any) -> Any:
    """A site whose build has a slow step, in files as `arena build` reads them."""
    trial.write(
        "kiosk/Dockerfile",
        "FROM debian:bookworm-slim\nCOPY kiosk/server.pl /server.pl\n"
        f"RUN : {trial.name} && sleep 3\n"
        'RUN mkdir /srv/state\nCMD ["perl", "/server.pl"]\n',
    )
    manifest = trial.site().model_dump_json(exclude_none=True)
    trial.write(f"{trial.name}/site.yaml", manifest)
    return trial


async def read_until(stream: asyncio.StreamReader, text: str) -> str:
    seen = ""
    while line := (await stream.readline()).decode():
        seen += line
        if text in line:
            return seen
    pytest.fail(f"no line with {text!r} in:\n{seen}")


@SLOW
@pytest.mark.parametrize("moment", ["step 3/", "seal: started"])
async def test_ctrl_c_ends_a_build_with_one_line_and_no_container(
    slow_site: Any, moment: str
) -> None:
    folder: Path = slow_site.folder
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _ARENA, str(folder), slow_site.name),
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(120):
            assert process.stderr is not None
            await read_until(process.stderr, moment)
            process.send_signal(signal.SIGINT)
            _, rest = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert process.returncode == 130
    assert b"arena: interrupted" in rest
    assert b"Traceback" not in rest
    mine = {Labels.KIND: ContainerKind.SEALING, Labels.SITE: slow_site.name}
    assert await slow_site.engine.containers(mine) == ()
    assert await slow_site.engine.image(slow_site.tag) is None
