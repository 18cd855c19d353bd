"""What a study might have found: consistent figures of as many agents as a test wants, by seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from arena_core.worlds import World
from evaluators.evidence import UnscoredReason
from orchestrator.analysis.stats.agreement import cohen_kappa
from orchestrator.analysis.stats.concordance import TemplatePoint
from orchestrator.analysis.stats.paired import Decision
from orchestrator.analysis.stats.rates import Interval, wilson
from orchestrator.analysis.stats.results import Cell, Compared
from orchestrator.analysis.studies.findings import (
    Answer,
    CardPart,
    CellCount,
    CellFigures,
    Component,
    CostFront,
    FailureCause,
    FrontPoint,
    PassRates,
    PowerFigures,
    RankCorrelation,
    RepeatGain,
    RepeatRate,
    RepeatTrend,
    Spending,
    StudyAnalysis,
    StudyCard,
    VarianceFigures,
    WorldAgreement,
)
from orchestrator.analysis.studies.questions import Question, QuestionKind, Stage
from orchestrator.analysis.studies.slices import Slice, SliceKind, SliceRate, TaskAcross, TaskCell
from orchestrator.analysis.studies.study_runs import Prompt, PromptMessage

AGENTS: Final = ("careful", "hasty", "tired", "lost")
LONG_AGENTS: Final = (
    "computer/an-open-model-with-a-very-long-name-72b-instruct@2026-11-01 <b>&",
    "chat/gpt-4o-mini at temperature 0.7 with 128k of context",
    "webarena",
    "vision_100%_$x$_#1",
)
_SITES: Final = ("shop", "wiki", "forum")
_FAMILIES: Final = ("information", "navigation", "content")
_REPEATS: Final = 5
_Z: Final = 1.96


def make_findings(
    agents: Sequence[str] = AGENTS[:3],
    worlds: Sequence[World] = tuple(World),
    *,
    tasks: int = 20,
    suite: str = "demo",
    seed: int = 1,
) -> StudyAnalysis:
    """Return what a study of these agents might have found, with some episodes unscored."""
    drawn = random.Random(seed)
    cells = [Cell(agent, suite, world) for agent in agents for world in worlds]
    across = tuple(_task(drawn, number, suite, cells, agents) for number in range(tasks))
    return StudyAnalysis(
        title="Three agents on the demo",
        alpha=0.05,
        seed=seed,
        cells=tuple(_figures(cell, across) for cell in cells),
        answers=_answers(agents, worlds, across),
        agreement=tuple(_agreement(agent, suite, across) for agent in agents)
        if len(worlds) > 1
        else (),
        rank_correlation=(_ranks(agents, suite, across),) if len(worlds) > 1 else (),
        variance=tuple(_variance(agent, suite) for agent in agents),
        power=(
            PowerFigures(
                question="careful-hasty",
                power=0.8,
                detectable=0.14,
                says="20 tasks with 5 repeats find a difference of 14 points in 80 % of studies.",
            ),
        ),
        slices=_slices(cells, across),
        tasks=across,
        methods=(
            "Three agents (careful, hasty and tired; arena-orchestrator 0.1.0) played the 20 tasks"
            " of suite demo (version 3, SHA-256 3f1c9a…) five times each, offline on replicas"
            " (arena/shop:1 sha256:abab…) and online on staged origins, with Chromium 131.0."
        ),
        notes=(
            f"Registered at 2026-11-22T22:08:27+00:00; SHA-256 {'4f' * 32}.",
            "Live origins were staged on this machine: they are not the real web.",
        ),
        templates=_templates(cells, across),
        failures=(
            FailureCause(
                suite=suite,
                check="price",
                tasks=3,
                failures=5 * len(cells),
                cells=tuple(CellCount(cell=cell, count=5) for cell in cells),
            ),
        ),
        fronts=_fronts(suite, worlds, agents),
        trends=tuple(_trend(cell) for cell in cells),
        prompts=tuple(
            Prompt(
                agent=agent,
                suite=suite,
                episode="offline-shop-task-00-r0-a1",
                model="tiny",
                messages=(
                    PromptMessage(role="system", text="Answer.\n```\n<b>one</b>\n```"),
                    PromptMessage(role="user", text="What does it cost?"),
                ),
                tools="",
            )
            for agent in agents
        ),
        card=StudyCard(
            parts=(
                CardPart(title="Agents", lines=tuple(f"{one}: model tiny" for one in agents)),
                CardPart(title="Contamination", lines=("The authors registered no statement",)),
            )
        ),
    )


def _templates(cells: Sequence[Cell], tasks: Sequence[TaskAcross]) -> tuple[Slice, ...]:
    names = dict.fromkeys(task.template for task in tasks)
    return tuple(
        Slice(
            by=SliceKind.TEMPLATE,
            value=name,
            rates=tuple(
                _rate(cell, [task for task in tasks if task.template == name]) for cell in cells
            ),
        )
        for name in names
    )


def _fronts(suite: str, worlds: Sequence[World], agents: Sequence[str]) -> tuple[CostFront, ...]:
    return tuple(
        CostFront(
            by="US dollars",
            suite=suite,
            world=world,
            points=tuple(
                FrontPoint(
                    agent=agent,
                    cost=0.01 * (1 + number),
                    success=0.5,
                    interval=Interval(0.3, 0.7),
                    beaten_by=agents[0] if number else None,
                )
                for number, agent in enumerate(agents)
            ),
            unknown=(),
        )
        for world in worlds
    )


def _trend(cell: Cell) -> RepeatTrend:
    return RepeatTrend(
        cell=cell,
        rates=tuple(
            RepeatRate(repeat=number, tasks=20, success=0.5, interval=Interval(0.3, 0.7))
            for number in range(_REPEATS)
        ),
        change=0.01,
        interval=Interval(-0.02, 0.04),
        tasks=20,
    )


def _task(
    drawn: random.Random, number: int, suite: str, cells: Sequence[Cell], agents: Sequence[str]
) -> TaskAcross:
    ease = drawn.choice((0.0, 0.05, 0.15, -0.3))
    played = []
    for cell in cells:
        chance = min(1.0, max(0.0, 0.9 - 0.17 * agents.index(cell.agent) + ease))
        scored = _REPEATS - (drawn.random() < 0.08) * drawn.choice((1, _REPEATS))
        won = sum(drawn.random() < chance for _ in range(scored))
        played.append(TaskCell(cell=cell, successes=won, scored=scored, episodes=_REPEATS))
    scored_all = sum(one.scored for one in played)
    return TaskAcross(
        suite=suite,
        task=f"{_SITES[number % 3]}-task-{number:02d}",
        template=f"template-{number // 2}",
        sites=(_SITES[number % 3],),
        family=_FAMILIES[number % 3],
        success=sum(one.successes for one in played) / scored_all if scored_all else None,
        length=2 + number % 7,
        cells=tuple(played),
    )


def _of(task: TaskAcross, agent: str, world: World) -> TaskCell:
    return next(c for c in task.cells if (c.cell.agent, c.cell.world) == (agent, world))


def _figures(cell: Cell, tasks: Sequence[TaskAcross]) -> CellFigures:
    mine = [_of(task, cell.agent, cell.world) for task in tasks]
    rates = [one.rate for one in mine if one.rate is not None]
    success = fmean(rates)
    interval = wilson(success, len(rates))
    episodes, scored = sum(o.episodes for o in mine), sum(o.scored for o in mine)
    missing = episodes - scored
    won = sum(one.successes for one in mine)
    reasons = ((UnscoredReason.INFRA, missing),) if missing else ()
    usd = 0.002 + 0.01 * success**3
    seconds = 12.0 - 6 * success + 2 * (cell.world is World.ONLINE)
    label = "online (staged)" if cell.world is World.ONLINE else "offline"
    return CellFigures(
        cell=cell,
        world_label=label,
        agent_note="reference agent, not a contestant" if cell.agent == AGENTS[0] else None,
        tasks=len(mine),
        scored_tasks=len(rates),
        episodes=episodes,
        scored=scored,
        pending=0,
        unscored=reasons,
        success=success,
        wilson=interval,
        clustered=Interval(max(0.0, interval.low - 0.04), min(1.0, interval.high + 0.03)),
        clusters=len({task.template for task in tasks}),
        bounds=Interval(won / episodes, (won + missing) / episodes),
        completion_macro=min(1.0, success + 0.08),
        completion_micro=min(1.0, success + 0.06),
        sr0=success,
        sr1=min(1.0, success + 0.1),
        efficiency=2.4,
        alignment=min(1.0, success + 0.05),
        steps=5.2,
        passes=tuple(_passes(k, mine) for k in range(1, _REPEATS + 1)),
        spending=Spending(
            usd=usd * episodes,
            usd_per_episode=usd,
            usd_per_success=usd * episodes / won if won else None,
            seconds_per_episode=seconds,
            seconds_per_success=seconds * episodes / won if won else None,
            tokens_per_episode=5200.0,
            tokens_per_success=5200.0 * episodes / won if won else None,
        ),
    )


def _passes(k: int, mine: Sequence[TaskCell]) -> PassRates:
    kept = [one for one in mine if one.scored >= k]
    ways = [math.comb(one.scored, k) for one in kept]
    at = fmean(
        1 - math.comb(o.scored - o.successes, k) / w for o, w in zip(kept, ways, strict=True)
    )
    hat = fmean(math.comb(one.successes, k) / way for one, way in zip(kept, ways, strict=True))
    return PassRates(k=k, at=at, hat=hat, tasks=len(kept))


def _answers(
    agents: Sequence[str], worlds: Sequence[World], tasks: Sequence[TaskAcross]
) -> tuple[Answer, ...]:
    world = worlds[0]
    found = [
        _answer(
            Question(
                id=f"{agents[0]}-{other}",
                kind=QuestionKind.DIFFERENCE,
                of=Compared.AGENTS,
                first=agents[0],
                second=other,
                world=world,
                registered=True,
            ),
            [(_of(t, agents[0], world).rate, _of(t, other, world).rate) for t in tasks],
        )
        for other in agents[1:]
    ]
    if len(worlds) > 1:
        found += [
            _answer(
                Question(
                    id=f"worlds-{agent}",
                    kind=QuestionKind.EQUIVALENCE,
                    of=Compared.WORLDS,
                    first=World.OFFLINE.value,
                    second=World.ONLINE.value,
                    agent=agent,
                    margin=0.05,
                    registered=agent == agents[0],
                ),
                [(_of(t, agent, worlds[0]).rate, _of(t, agent, worlds[1]).rate) for t in tasks],
            )
            for agent in agents
        ]
    return tuple(found)


def _answer(question: Question, pairs: Sequence[tuple[float | None, float | None]]) -> Answer:
    paired = [(a, b) for a, b in pairs if a is not None and b is not None]
    first, second = fmean(a for a, _ in paired), fmean(b for _, b in paired)
    effect = first - second
    spread = math.sqrt(fmean((a - b - effect) ** 2 for a, b in paired) / len(paired)) or 0.01
    interval = Interval(effect - _Z * spread, effect + _Z * spread)
    deciding = Interval(effect - 1.645 * spread, effect + 1.645 * spread)
    if question.margin is None:
        is_shown = interval.low > 0 or interval.high < 0
        p = math.erfc(abs(effect) / spread / math.sqrt(2))
        said = f"{question.first} is better" if is_shown else "it is undecided which is better"
    else:
        is_shown = -question.margin < deciding.low and deciding.high < question.margin
        p = 0.5 * math.erfc((question.margin - abs(effect)) / spread / math.sqrt(2))
        said = f"within {question.margin:.0%} points: {'shown' if is_shown else 'not shown'}"
    left = len(pairs) - len(paired)
    return Answer(
        question=question,
        sentence=f"On the same {len(paired)} tasks, {question.first} solved {first:.0%} and"
        f" {question.second} {second:.0%}: {said} (95% interval {100 * interval.low:+.0f} to"
        f" {100 * interval.high:+.0f} points, p = {p:.3f}).",
        stage=Stage(ended=2 * _REPEATS * len(pairs), planned=2 * _REPEATS * len(pairs)),
        is_interim=False,
        first_rate=first,
        second_rate=second,
        effect=effect,
        interval=interval,
        deciding_interval=None if question.margin is None else deciding,
        bca=None if question.margin is not None else interval,
        p=p,
        smallest_p=None if question.margin is not None else 2 / 2**10,
        p_adjusted=min(1.0, 3 * p) if question.registered else None,
        family=3 if question.registered else 0,
        method="paired bootstrap over templates (BCa, 10,000), sign-flip permutation test",
        tasks=len(paired),
        clusters=len(paired) // 2,
        episodes=2 * _REPEATS * len(paired),
        differences=tuple(one - other for one, other in paired),
        unpaired=tuple(f"task-{number}" for number in range(left)),
        decision=Decision.YES if is_shown else Decision.UNDECIDED,
        bounds=Interval(effect - 0.05, effect + 0.06),
        would_turn="If 4 of the 5 unscored episodes of the second had succeeded and none of the"
        " first's, the answer would be undecided."
        if is_shown
        else None,
    )


def _agreement(agent: str, suite: str, tasks: Sequence[TaskAcross]) -> WorldAgreement:
    counts: dict[tuple[bool, bool], list[str]] = {
        (won, also): [] for won in (True, False) for also in (True, False)
    }
    unpaired, points = [], []
    for task in tasks:
        first, second = (_of(task, agent, world).rate for world in World)
        if first is None or second is None:
            unpaired.append(task.task)
            continue
        counts[first > 0.5, second > 0.5].append(task.task)
        points.append((task.template, (first + second) / 2, first - second))
    count = sum(map(len, counts.values()))
    agreed = (len(counts[True, True]) + len(counts[False, False])) / count
    kappa = cohen_kappa(*(len(ids) for ids in counts.values()))
    bias = fmean(one[2] for one in points)
    spread = math.sqrt(fmean((one[2] - bias) ** 2 for one in points))
    return WorldAgreement(
        agent=agent,
        suite=suite,
        offline_label="offline",
        online_label="online (staged)",
        both=tuple(counts[True, True]),
        offline_only=tuple(counts[True, False]),
        online_only=tuple(counts[False, True]),
        neither=tuple(counts[False, False]),
        split=(),
        unpaired=tuple(unpaired),
        rate=agreed,
        rate_interval=wilson(agreed, count),
        kappa=kappa,
        kappa_interval=None
        if kappa is None
        else Interval(max(-1, kappa - 0.3), min(1, kappa + 0.2)),
        points=tuple(
            TemplatePoint(template=name, tasks=1, mean=mean, difference=difference)
            for name, mean, difference in points
        ),
        bias=bias,
        bias_interval=Interval(bias - 0.05, bias + 0.05),
        limits=Interval(bias - _Z * spread, bias + _Z * spread),
        low_limit_interval=Interval(bias - _Z * spread - 0.1, bias - _Z * spread + 0.1),
        high_limit_interval=Interval(bias + _Z * spread - 0.1, bias + _Z * spread + 0.1),
    )


def _ranks(agents: Sequence[str], suite: str, tasks: Sequence[TaskAcross]) -> RankCorrelation:
    rates = {
        world: tuple(
            fmean(r for task in tasks if (r := _of(task, agent, world).rate) is not None)
            for agent in agents
        )
        for world in World
    }
    return RankCorrelation(
        suite=suite,
        agents=tuple(agents),
        offline=rates[World.OFFLINE],
        online=rates[World.ONLINE],
        tau=1.0,
        p=1 / 3,
        says="Both worlds put the agents in the same order; with so few this is weak evidence.",
    )


def _variance(agent: str, suite: str) -> VarianceFigures:
    parts = (("tasks", 0.12), ("worlds", 0.002), ("tasks × worlds", 0.01), ("repeats", 0.08))
    whole = sum(part for _, part in parts)
    return VarianceFigures(
        agent=agent,
        suite=suite,
        components=tuple(
            Component(source=name, variance=part, share=part / whole) for name, part in parts
        ),
        gains=tuple(
            RepeatGain(repeats=n, standard_error=math.sqrt((0.132 + 0.08 / n) / 20))
            for n in (1, 2, 3, 5, 10)
        ),
        says="More than 3 repeats of each task narrow the interval by less than a tenth.",
    )


def _slices(cells: Sequence[Cell], tasks: Sequence[TaskAcross]) -> tuple[Slice, ...]:
    def slice_of(by: SliceKind, value: str, chosen: Sequence[TaskAcross], note: str = "") -> Slice:
        return Slice(
            by=by, value=value, rates=tuple(_rate(cell, chosen) for cell in cells), note=note
        )

    circular = "Difficulty is measured by these same episodes: see the notes."
    found = [slice_of(SliceKind.SITE, s, [t for t in tasks if s in t.sites]) for s in _SITES]
    found += [slice_of(SliceKind.FAMILY, f, [t for t in tasks if t.family == f]) for f in _FAMILIES]
    found += [
        slice_of(
            SliceKind.DIFFICULTY,
            name,
            [t for t in tasks if low <= (t.success or 0) < high],
            circular,
        )
        for name, low, high in (("hard", 0, 1 / 3), ("middling", 1 / 3, 2 / 3), ("easy", 2 / 3, 2))
    ]
    found += [
        slice_of(SliceKind.LENGTH, name, [t for t in tasks if low <= (t.length or 0) <= high])
        for name, low, high in (("1 to 4 actions", 1, 4), ("5 to 8 actions", 5, 8))
    ]
    return tuple(found)


def _rate(cell: Cell, tasks: Sequence[TaskAcross]) -> SliceRate:
    mine = [_of(task, cell.agent, cell.world) for task in tasks]
    rates = [one.rate for one in mine if one.rate is not None]
    success = fmean(rates) if rates else None
    return SliceRate(
        cell=cell,
        tasks=len(rates),
        scored=sum(one.scored for one in mine),
        success=success,
        interval=None if success is None else wilson(success, len(rates)),
    )
