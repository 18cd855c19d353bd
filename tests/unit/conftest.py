"""The command line within the test's own process, and reports that take no time."""

from __future__ import annotations

import os
import shutil
import ssl
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import httpcore2
import pytest
from support.agents.arena_process import Ended
from support.studies.plain_reports import plain_reports

from orchestrator.analysis.stats.power import Simulation
from orchestrator.cli.entry import main

Call = Callable[..., Ended]

# Folders of tests are kept in memory where there is room: no ledger waits for a disk.
_MEMORY = Path("/dev/shm")  # noqa: S108
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))


@pytest.fixture(scope="session", autouse=True)
def _trusted_once() -> Iterator[None]:
    """Read the machine's certificates once, and not for each of a thousand HTTP clients."""
    read = httpcore2.default_ssl_context

    @cache
    def trusted(*_places: str | None, trust_env: bool) -> ssl.SSLContext:
        return read(_trust_env=trust_env)

    def context(*, _trust_env: bool = True) -> ssl.SSLContext:
        places = map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        return trusted(*places, trust_env=_trust_env)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", context)
        yield


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Call a command in a folder of its own, where no engine answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent")
    monkeypatch.setenv("COLUMNS", "200")

    def called(*words: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["arena", *map(str, words)])
        code: object = 0
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
        written = capsys.readouterr()
        assert isinstance(code, int)
        return Ended(code, written.out, written.err)

    return called


@pytest.fixture
def _few_simulations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate few studies for each power: how it is used is tried, not how exact it is."""
    monkeypatch.setitem(Simulation.__init__.__kwdefaults__ or {}, "simulations", 60)


@pytest.fixture(scope="module")
def plain() -> Iterator[None]:
    """Leave out of reports what takes long, in each test of a module that uses it."""
    with plain_reports():
        yield
