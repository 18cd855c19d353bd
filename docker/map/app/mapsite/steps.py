"""A router's manoeuvres as sentences, distances and times as OpenStreetMap writes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    Attributes:
        distance: until the next step; empty at the end.
    """

    text: str
    distance: str
    lat: float
    lon: float


_TURNS = {
    "left": "Turn left", "right": "Turn right", "slight left": "Slight left", "slight right": "Slight right",
    "sharp left": "Sharp left", "sharp right": "Sharp right", "straight": "Continue", "uturn": "Make a U-turn",
}  # fmt: skip


def distance_text(metres: float) -> str:
    """Return a distance: 90m, 640m, 2.3km, 17km."""
    if metres < 5:
        return ""
    if metres < 1_000:
        return f"{round(metres / 10) * 10:d}m" if metres >= 200 else f"{round(metres):d}m"
    if metres < 10_000:
        return f"{metres / 1_000:.1f}km"
    return f"{round(metres / 1_000):d}km"


def time_text(seconds: float) -> str:
    """Return a duration in hours and minutes: 0:07, 1:25."""
    minutes = round(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02d}"


def steps_of(route: Any) -> list[Step]:
    """Return the steps of OSRM's route."""
    made: list[Step] = []
    for leg in route["legs"]:
        for step in leg["steps"]:
            lon, lat = step["maneuver"]["location"]
            made.append(Step(_sentence(step), distance_text(step["distance"]), lat, lon))
    return made


def _sentence(step: Any) -> str:  # noqa: PLR0911  one sentence a manoeuvre
    manoeuvre = step["maneuver"]
    street = step.get("name") or step.get("ref") or "unnamed road"
    if step.get("name") and step.get("ref"):
        street = f"{step['name']} ({step['ref']})"
    turn = _TURNS.get(manoeuvre.get("modifier", "straight"), "Continue")
    match manoeuvre["type"]:
        case "depart":
            return f"Start on {street}"
        case "arrive":
            return "Reach destination"
        case "roundabout" | "rotary":
            return f"At the roundabout take exit {manoeuvre.get('exit', 1)} onto {street}"
        case "merge":
            return f"Merge onto {street}"
        case "fork":
            return f"{turn} at the fork onto {street}"
        case "end of road":
            return f"{turn} at the end of the road onto {street}"
        case "new name" | "continue" if turn == "Continue":
            return f"Continue on {street}"
        case _:
            return f"{turn} onto {street}" if turn != "Continue" else f"Continue on {street}"
