"""How long whole commands take."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.figures import Figure
from bench.machine import taken_by

_ROUNDS = 7


def help_figure() -> Figure:
    """Measure `arena --help` against a bare Python start."""
    ours = _median(["arena", "--help"])
    reference = _median([sys.executable, "-c", "pass"])
    name = "arena --help, s (reference: python -c pass)"
    ratio = ours / reference
    return Figure(name, ours, reference, ratio, "ours < 0.3", met=ours < 0.3, rounds=_ROUNDS)


def demo_figure(folder: Path) -> Figure:
    """Measure the main job with images built: both worlds, oracle, report."""
    began = time.monotonic()
    command = ["arena", "eval", "--suite", "demo", "--offline", "--online", "--staged"]
    subprocess.run([*command, "--out", str(folder)], check=True, capture_output=True)
    ours = time.monotonic() - began
    name = "the demo with images built, s (reference: its goal)"
    return Figure(name, ours, 90.0, ours / 90.0, "ours <= 90", met=ours <= 90)


def smoke_figure(folder: Path) -> Figure:
    """Measure what an agent's CI plays, with images built; on busy cores it says little."""
    command = ["arena", "eval", "--suite", "smoke", "--agent", "oracle", "--workers", "2"]
    took, _ = taken_by([*command, "--out", str(folder)])
    ours, goal = took.seconds, 30.0
    name = "the suite smoke with images built, s (reference: its goal)"
    return Figure(
        name,
        ours,
        goal,
        ours / goal,
        "ours <= 30",
        met=ours <= goal,
        cpu_s=took.cpu_s,
        load=took.load,
    )


def unit_figure() -> Figure:
    """Measure the unit tests against their goal."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pytest", "tests/unit", "-q", "-n", "2"]
    subprocess.run(command, check=True, capture_output=True)
    ours = time.monotonic() - began
    name = "unit tests, s (reference: their goal)"
    return Figure(name, ours, 15.0, ours / 15.0, "ours < 15", met=ours < 15)


def _median(command: list[str]) -> float:
    times: list[float] = []
    for _ in range(_ROUNDS):
        began = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.monotonic() - began)
    return median(times)
