"""What stands in an issue when it is made: a bug with its steps, a wish with its reason, a question."""

from __future__ import annotations

from forgeseed.sources import vocabulary
from forgeseed.story import Story

_HOURS = {"after midnight": (0, 1), "when the clocks go back": (1, 1)}  # of lines in the log


def report(story: Story, *, by_maker: bool) -> str:
    """Return the description of an issue, as a developer or as somebody who uses the thing."""
    if story.matter.is_wish:
        return _wish(story)
    if story.matter.is_question:
        return _question(story)
    if story.matter.kind == "log":
        return _log(story)
    return _bug(story, by_maker=by_maker)


def _bug(story: Story, *, by_maker: bool) -> str:
    rng = story.rng
    first = _what(story, by_maker=by_maker)
    parts = [f"{first} {_when(story)}"]
    form = rng.random()
    if form < 0.45:
        parts += [_steps(story), _compared(story)]
    elif form < 0.75:
        parts += [_asked(story)]
    else:
        parts[0] += f" {_asked(story)}"
    if rng.random() < 0.4 and (text := story.of("hurt")):
        parts.append(story.take("body", "hurt", text))
    elif rng.random() < 0.4 and (text := story.of("around")):
        parts.append(story.take("body", "around", text))
    return "\n\n".join(part for part in parts if part)


def _what(story: Story, *, by_maker: bool) -> str:
    if story.matter.kind == "disagree":
        return story.take("body", "disagree", when=story.matter.said["when"])
    seen = story.of("seen") or "It {fails}."
    return story.take("open", "maker" if by_maker else "user", seen)


def _when(story: Story) -> str:
    when = story.matter.said.get("when")
    only = story.of("only")
    if story.matter.kind == "disagree":
        return story.fill(only)
    if when:
        return story.take("condition", "lines", only, when=when)
    return story.fill(only) if only else story.take("body", "plain")


def _steps(story: Story) -> str:
    lines = [_reach(story), story.of("step"), story.take("body", "look")]
    if story.matter.kind in vocabulary("milieu")["goods"]:
        lines = [story.of("step"), story.take("body", "look")]
    numbered = (
        f"{place}. {story.fill(line)}"
        for place, line in enumerate((one for one in lines if one), start=1)
    )
    return "\n".join(numbered)


def _reach(story: Story) -> str:
    told, matter = vocabulary("milieu")["reach"], story.matter
    if matter.profile != "web":
        return story.pick(told[matter.profile])
    last = matter.said["thing"].split()[-1].removesuffix("s")
    for kind in ("paper", "rule"):
        if last in told[f"{kind}s"] or f"{last}s" in told[f"{kind}s"]:
            return story.pick(told[kind])
    return story.pick(told["screen"])


def _compared(story: Story) -> str:
    want, seen = story.of("want"), story.of("seen")
    lines = [story.framed("**Expected:** {x}", want)] if want else []
    if want and seen:
        lines.append(story.framed("**Actual:** {x}", seen))
    return "\n".join(lines)


def _asked(story: Story) -> str:
    want = story.of("want")
    frames = [one for one in vocabulary("talk")["body"]["want"] if "**" not in one]
    return story.framed(story.pick(frames), want) if want else ""


def _log(story: Story) -> str:
    """Return the report of a line in the log, with the line."""
    rng = story.rng
    first, last = _HOURS.get(story.matter.said["when"], (7, 19))
    hour = f"{rng.randint(first, last):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
    line = story.put("{log}: {thing}: {err}")
    lead = story.take("body", "log", when=story.matter.said["when"])
    parts = [lead, f"```\n{hour} ERROR {line}\n```"]
    if only := story.of("only"):
        parts.append(story.fill(only))
    parts[-1] += f" {story.take('body', 'quiet')}"
    if rng.random() < 0.4 and (step := story.of("step")):
        parts.append(story.framed("To get it: {l}.", step))
    return "\n\n".join(parts)


def _wish(story: Story) -> str:
    kind = story.matter.kind
    ask = story.take("wish", kind)
    parts = [story.take("wish", "open", story.of("why"), y=ask)]
    first, second = story.of("how"), story.of("how")
    if second and story.chance(0.35):
        lines = "\n".join(f"- {story.fill(one)}" for one in (first, second))
        parts.append(f"{story.take('wish', 'list')}\n\n{lines}")
    elif first:
        parts.append(story.take("wish", "how", first))
    if story.chance(0.35):
        frames = vocabulary("talk")["wish"]["limit"]
        both = kind in ("offer", "show")  # which are about the other thing as well
        parts.append(
            story.framed(story.pick([one for one in frames if not (both and "{other}" in one)]))
        )
    return "\n\n".join(parts)


def _question(story: Story) -> str:
    kind = story.matter.kind
    ask = story.take("question", kind)
    if kind == "question":
        parts = [f"{ask} {story.take('question', 'symptom')}", story.fill(story.of("only"))]
    else:
        parts = [f"{ask} {story.take('question', 'why', story.of('want'))}"]
        if kind == "how" or story.chance(0.3):
            parts.append(story.take("question", "tried", story.of("tried")))
    if story.chance(0.6):
        parts.append(story.take("question", "close_please" if kind == "please" else "close"))
    return "\n\n".join(parts)
