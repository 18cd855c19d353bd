"""Inspect as a program of its own, beside the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.agents.foreign_clients import ROOT


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment with Inspect, and the folder that it is used in."""

    python: Path
    folder: Path

    def play(self, who: str, *tasks: str, suite: str = "demo") -> dict[str, Any]:
        said = self.run(self.python, "-m", "support.agents.inspect_player", who, suite, *tasks)
        found: dict[str, Any] = json.loads(said.splitlines()[-1])
        return found

    def run(self, *words: str | Path) -> str:
        paths = [ROOT / "tests", *([ROOT] if self.python == Path(sys.executable) else [])]
        done = subprocess.run(
            [*map(str, words)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            capture_output=True,
            text=True,
            check=False,
            timeout=900,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
