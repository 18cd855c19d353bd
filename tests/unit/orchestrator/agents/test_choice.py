"""An agent is named by what is registered, by `module:Factory`, or is the object itself."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from quick_cases import SLOW

from arena_core.actions import Stop
from arena_core.errors import PluginError, UnknownNameError, UsageError
from arena_core.worlds import World
from evaluators.checks import Check
from orchestrator.agents.choice import find_agent, make_agent, open_agent
from orchestrator.agents.interface import Agent, AgentClass, Assignment, Decision, Hint, Reference
from orchestrator.agents.options import parse_options
from orchestrator.agents.spec import Agents, AgentSpec
from orchestrator.browser.observation import Observation
from orchestrator.episode.agent_calls import decide, make_episode_agent
from tasks.reference import ScrollPage, StopWith

PAGE = Path(__file__).parents[4] / "docs" / "bring-your-agent.md"
REFERENCE = Reference(
    (
        ScrollPage(do="scroll", direction="down"),
        ScrollPage(do="scroll", direction="up", only=World.ONLINE),
        StopWith(do="stop", answer="the answer"),
    ),
    str,
)


class Curious:
    """An agent as somebody would write it who has read one paragraph."""

    observations = frozenset({"axtree"})

    def __init__(
        self,
        assignment: Assignment,
        *,
        depth: int = 3,
        eager: bool = False,
        mode: Literal["wide", "deep"] = "wide",
        words: tuple[str, ...] = (),
        limit: float | None = None,
    ) -> None:
        self.assignment = assignment
        self.options = (depth, eager, mode, words, limit)

    async def decide(self, observation: Observation) -> Decision:
        return Decision(Stop())


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes a module into the current folder, which is not on the import path yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    count = 0

    def written(source: str, name: str = "") -> str:
        nonlocal count
        count += 1
        name = name or f"{tmp_path.name.replace('-', '_')}_{count}"
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        return name

    return written


def test_text_is_read_as_the_type_that_the_factory_declares(assignment: Assignment) -> None:
    given = parse_options(["depth=7", "eager=true", "mode=deep", 'words=["a", "b"]', "limit=null"])
    agent = make_agent(Curious, given)(assignment, REFERENCE)
    assert isinstance(agent, Curious)
    assert agent.options == (7, True, "deep", ("a", "b"), None)
    assert agent.assignment == assignment


def test_a_contestant_never_sees_the_reference_and_a_reference_agent_does(
    assignment: Assignment,
) -> None:
    agent = make_agent(Curious)(assignment, REFERENCE)
    assert isinstance(agent, Curious)
    assert agent.assignment.reference is None
    seen: list[Reference | None] = []

    def make(given: Assignment) -> Agent:
        seen.append(given.reference)
        return Curious(given)

    spec = AgentSpec(open=lambda: Agents(make=make), agent_class=AgentClass.REFERENCE)
    make_agent(spec)(assignment, REFERENCE)
    assert seen == [REFERENCE]


def test_a_factory_says_which_observations_it_needs() -> None:
    assert make_agent(Curious).observations == {"axtree"}
    assert make_agent("oracle").observations == {"axtree"}
    assert make_agent("idle").observations == frozenset()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"depht": "7"}, "--agent-option depht has no effect"),
        ({"seed": 1}, "--seed has no effect"),
        ({"depth": "seven"}, "--agent-option depth 'seven' is not valid"),
        ({"mode": "narrow"}, "--agent-option mode 'narrow' is not valid"),
        ({"eager": "perhaps"}, "--agent-option eager 'perhaps' is not valid"),
    ],
)
def test_an_option_that_does_not_fit_is_a_usage_error_that_says_what_is_taken(
    given: dict[str, object], told: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_agent(Curious, given)
    assert told in caught.value.message
    assert (
        "depth (whole number; default: 3), eager (true or false; default: false)"
        in caught.value.hint
    )


def test_an_option_that_must_be_given_is_asked_for() -> None:
    def factory(assignment: Assignment, *, plan: str) -> Curious:
        return Curious(assignment, depth=len(plan))

    with pytest.raises(UsageError, match="needs --agent-option plan"):
        make_agent(factory)


def test_an_agent_whose_observation_nobody_provides_is_refused_when_it_is_chosen() -> None:
    class Seeing(Curious):
        observations = frozenset({"axtree", "x-ray"})

    with pytest.raises(UnknownNameError) as caught:
        make_agent(Seeing)
    assert "needs the observation 'x-ray'" in caught.value.message
    assert "axtree" in caught.value.hint


def test_a_factory_that_gives_no_agent_is_one_clear_line(assignment: Assignment) -> None:
    def factory(assignment: Assignment) -> str:
        return assignment.task

    with pytest.raises(PluginError, match="str has no method `decide`"):
        make_agent(factory)(assignment, REFERENCE)


@pytest.mark.parametrize("pair", ["depth", "=3", "de pth=3", "3=4"])
def test_what_is_not_key_and_value_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="is not of the form key=value"):
        parse_options([pair])


def test_an_option_given_twice_is_refused_and_a_value_may_hold_equals_signs() -> None:
    with pytest.raises(UsageError, match="twice"):
        parse_options(["max-depth=1", "max_depth=2"])
    assert parse_options(["query=a=b"]) == {"query": "a=b"}


AGENT = """
class Agent:
    def __init__(self, assignment): ...
    async def decide(self, observation): ...
"""


def test_a_factory_in_the_current_folder_needs_no_registration(
    here: Callable[..., str], assignment: Assignment
) -> None:
    name = here(AGENT)
    maker = make_agent(f"{name}:Agent")
    assert maker.name == f"{name}:Agent"
    assert type(maker(assignment, REFERENCE)).__name__ == "Agent"


def test_the_current_folder_hides_no_library(here: Callable[..., str]) -> None:
    here(AGENT, name="sched")
    with pytest.raises(UnknownNameError) as caught:
        find_agent("sched:Agent")
    assert "sched has no 'Agent'" in caught.value.message
    assert "sched.py defines: Event, scheduler" in caught.value.hint


def test_the_current_folder_is_not_searched_where_nobody_names_a_module(
    here: Callable[..., str],
) -> None:
    here(AGENT)
    make_agent("idle")
    assert str(Path.cwd()) not in sys.path


@pytest.mark.parametrize(
    ("source", "attribute", "error", "told"),
    [
        (None, "Agent", UnknownNameError, "there is no module"),
        (AGENT, "Agnet", UnknownNameError, "has no 'Agnet'"),
        (AGENT, "not-a-name", UnknownNameError, "not of the form package.module:Factory"),
        ("import nonexistent", "Agent", PluginError, "No module named 'nonexistent'"),
        ("1/0", "Agent", PluginError, "ZeroDivisionError: division by zero"),
        ("Agent = 3", "Agent", PluginError, "neither a factory of agents nor an AgentSpec"),
        ("class Agent: ...", "Agent", PluginError, "Agent has no method `decide`"),
        (AGENT.replace("observation", ""), "Agent", PluginError, "must take one observation"),
        (AGENT.replace("observation", "page, text"), "Agent", PluginError, "and no more"),
        (AGENT.replace("...\n", "yield\n"), "Agent", PluginError, "must return one action"),
        (AGENT.replace("self, assignment", "self, *given"), "Agent", PluginError, "Assignment"),
        (AGENT.replace("self, ass", "self, *, ass"), "Agent", PluginError, "Assignment"),
        (f"{AGENT}agent = Agent(None)", "agent", PluginError, "pass the class"),
        ("def agent(): ...", "agent", PluginError, "`observation` or `assignment`"),
        ("def agent(it): ...", "agent", PluginError, "`observation` or `assignment`"),
        ("def agent(observation): yield", "agent", PluginError, "must return one action"),
        ("async def agent(assignment): ...", "agent", PluginError, "no `async def`"),
        (AGENT.replace("assignment)", "depth=3)"), "Agent", PluginError, "without a default"),
        (f"{AGENT}    observations = 'axtree'", "Agent", PluginError, "a set of names"),
        (f"{AGENT}    agent_class = 'star'", "Agent", PluginError, "agent_class is 'star'"),
    ],
)
def test_what_cannot_be_used_is_one_line_that_says_why(
    here: Callable[..., str],
    source: str | None,
    attribute: str,
    error: type[UnknownNameError | PluginError],
    told: str,
) -> None:
    name = "nowhere_at_all" if source is None else here(source)
    with pytest.raises(error) as caught:
        find_agent(f"{name}:{attribute}")
    assert told in caught.value.message
    assert f"{name}:{attribute}" in caught.value.message
    assert "\n" not in caught.value.message


def on(title: str) -> Observation:
    return Observation(step=0, url="", title=title, tabs=())


FUNCTIONS = """
from arena_core.actions import Stop
from orchestrator import Assignment, Decision, Observation

def by_name(observation): return Stop(answer=observation.title)
def for_short(obs): return Stop(answer=obs.title)
def annotated(seen: Observation, *, louder: bool = False):
    return Decision(Stop(answer=seen.title.upper() if louder else seen.title))
async def awaited(page): return Stop(answer=page.title)

class Plain:
    def decide(self, observation): return Stop(answer=observation.title)
class Informed:
    def __init__(self, assignment): self.task = assignment.task
    async def decide(self, observation): return Stop(answer=observation.title)
def made(assignment): return Informed(assignment)
def made_of(it: Assignment): return Informed(it)
method = Plain().decide
shown = lambda observation: Stop(answer=observation.title)
"""


@pytest.mark.parametrize(
    "attribute",
    [
        "by_name",
        "for_short",
        "annotated",
        "awaited",
        "Plain",
        "Informed",
        "made",
        "made_of",
        "method",
        "shown",
    ],
)
async def test_a_function_a_class_and_a_factory_are_agents_alike(
    here: Callable[..., str], assignment: Assignment, attribute: str
) -> None:
    maker = make_agent(f"{here(FUNCTIONS)}:{attribute}")

    agent = make_episode_agent(maker, assignment, REFERENCE)

    assert (await decide(agent, on("Bells"))).action == Stop(answer="Bells")


@pytest.mark.parametrize("attribute", ["Agent", "my_agent"])
async def test_the_agents_of_the_documentation_are_agents(
    here: Callable[..., str], assignment: Assignment, attribute: str
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    [source] = [
        one for one in blocks if re.search(rf"^(class|def) {attribute}\b", one, re.MULTILINE)
    ]
    agent = make_agent(f"{here(source)}:{attribute}")(assignment, REFERENCE)

    assert (await decide(agent, on("Bells"))).action == Stop(answer="Bells")


async def test_the_further_parameters_of_a_function_are_options(
    here: Callable[..., str], assignment: Assignment
) -> None:
    path = f"{here(FUNCTIONS)}:annotated"

    agent = make_agent(path, {"louder": "true"})(assignment, REFERENCE)

    assert (await decide(agent, on("Bells"))).action == Stop(answer="BELLS")
    with pytest.raises(UsageError, match="quieter has no effect"):
        make_agent(path, {"quieter": "true"})


def test_an_import_that_fails_names_its_file_and_line(here: Callable[..., str]) -> None:
    name = here("value = 1\nvalue / 0\n")
    with pytest.raises(PluginError, match=rf"\({Path.cwd()}/{name}\.py:2\)"):
        find_agent(f"{name}:Agent")


@SLOW
def test_the_help_imports_no_agent() -> None:
    code = (
        "import sys; sys.argv = ['arena', 'eval', '--help']\n"
        "from orchestrator.cli.entry import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "sys.exit(any(one.startswith(('orchestrator.agents.', 'orchestrator.agents.model'))"
        " for one in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, timeout=60, capture_output=True
    )
    assert done.returncode == 0, done.stderr


class Listener:
    """Keeps what it is given."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment

    async def decide(self, observation: Observation) -> Decision:
        return Decision(Stop())


NODE = Check.model_validate(
    {
        "name": "article",
        "when": "step",
        "locate": {"by": "url"},
        "match": {"how": "exact", "value": "wiki:/article/Kettle"},
    }
)


def _listening(*hints: Hint, sees: frozenset[str] | None = None) -> AgentSpec:
    def opened() -> Agents:
        return Agents(make=Listener, hints=frozenset(hints), observations=sees)

    return AgentSpec(open=opened)


@pytest.mark.parametrize(
    ("hints", "key_nodes", "length", "agent_class"),
    [
        ((Hint.KEY_NODES,), (NODE,), None, AgentClass.GUIDED),
        ((Hint.LENGTH,), (), 1, AgentClass.CONTESTANT),
        ((Hint.LENGTH, Hint.KEY_NODES), (NODE,), 1, AgentClass.GUIDED),
    ],
)
def test_an_agent_gets_of_the_solution_what_its_configuration_says_and_no_more(
    assignment: Assignment,
    hints: tuple[Hint, ...],
    key_nodes: tuple[Check, ...],
    length: int | None,
    agent_class: AgentClass,
) -> None:
    opened = open_agent(find_agent(_listening(*hints)), {})
    agent = opened.maker(assignment, replace(REFERENCE, key_nodes=(NODE,)))
    assert isinstance(agent, Listener)
    guide = agent.assignment.guide
    assert guide is not None
    assert (guide.key_nodes, guide.length) == (key_nodes, length)
    assert agent.assignment.reference is None
    assert opened.agent_class is agent_class


def test_an_agent_that_does_not_ask_is_told_nothing_of_the_solution(assignment: Assignment) -> None:
    opened = open_agent(find_agent(_listening()), {})
    agent = opened.maker(assignment, replace(REFERENCE, key_nodes=(NODE,)))
    assert isinstance(agent, Listener)
    assert agent.assignment == assignment
    assert opened.agent_class is AgentClass.CONTESTANT


def test_options_may_decide_which_forms_of_observation_are_computed() -> None:
    opened = open_agent(find_agent(_listening(sees=frozenset())), {})
    assert opened.maker.observations == frozenset()
    assert open_agent(find_agent(_listening()), {}).maker.observations == {"axtree"}
    with pytest.raises(UnknownNameError, match="needs the observation 'x-ray'"):
        open_agent(find_agent(_listening(sees=frozenset({"x-ray"}))), {})
