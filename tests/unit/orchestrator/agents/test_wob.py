from __future__ import annotations

import pytest

from arena_core.actions import Action, Click
from arena_core.errors import AgentError
from arena_core.worlds import World
from orchestrator.agents.oracle import OracleAgent
from orchestrator.agents.wob.looking import _best
from orchestrator.agents.wob.messages import _parties
from orchestrator.agents.wob.page import WobPage
from orchestrator.agents.wob.player import WobPlayer
from orchestrator.agents.wob.rules import RULES
from orchestrator.observation import AXTREE, UNNAMED, AxTree, Node, Observation, Reference
from tasks.loader import load_suite
from tasks.schema import SolveWob, StopWith


def shows(*nodes: tuple[str, str] | tuple[str, str, str]) -> Observation:
    """Make an observation of (role, name) or (role, name, value), ids from 1."""
    made = tuple(
        Node(id=at, depth=0, role=node[0], name=node[1], value=node[2] if len(node) > 2 else None)
        for at, node in enumerate(nodes, start=1)
    )
    return Observation(
        step=0, url="http://x.test/", title="", tabs=(), parts={AXTREE: AxTree(made)}
    )


def clicks(page: str, goal: str, *observations: Observation) -> list[Action | None]:
    player = WobPlayer(page, goal)
    return [player.next(observation) for observation in observations]


def test_the_goals_own_words_are_no_part_of_the_page() -> None:
    goal = 'Click on the "Ok" button.'
    page = WobPage(
        goal,
        shows(("StaticText", 'Click on the "'), ("StaticText", 'Ok" button.'), ("button", "Ok")),
    )
    assert [node.role for node in page.nodes] == ["button"]


def test_a_text_that_repeats_the_goal_below_it_stays() -> None:
    page = WobPage("Ok", shows(("StaticText", "Ok"), ("StaticText", "Ok")))
    assert [node.id for node in page.nodes] == [2]


def test_rules_see_the_page_anew_after_each_action() -> None:
    goal = "Select b and click Submit."
    before = shows(("StaticText", goal), ("checkbox", "a"), ("checkbox", "b"), ("button", "Submit"))
    after = shows(("StaticText", goal), ("button", "Submit"))
    assert clicks("click-checkboxes", goal, before, after, after) == [
        Click(element=3),
        Click(element=2),
        None,
    ]


def test_boxes_are_told_apart_by_their_colour() -> None:
    boxes = (
        (UNNAMED, "div.color", "5x5 at 0,0 rgb(255,0,0)"),
        (UNNAMED, "div.color", "5x5 at 9,0 rgb(128,128,128)"),
    )
    goal = "Click on the grey colored box."
    assert clicks("click-color", goal, shows(("StaticText", goal), *boxes)) == [Click(element=3)]


@pytest.mark.parametrize(
    ("page", "goal", "message"),
    [
        ("drag-box", "Drag.", "no rules for the page 'drag-box'"),
        ("click-button", "Do it.", "the goal is not one that the rules know"),
        ("click-button", 'Click on the "Go" button.', "0 of button 'Go'"),
        ("email-inbox", "Find the email by Ann and click the star icon.", "does not show 'Ann'"),
    ],
)
def test_rules_that_do_not_fit_say_why(page: str, goal: str, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        WobPlayer(page, goal).next(shows(("StaticText", goal)))


async def test_the_oracle_stops_where_the_rules_end() -> None:
    reference = Reference((SolveWob(do="wob", page="click-test"), StopWith(do="stop")), str)
    agent = OracleAgent(reference, World.OFFLINE, "Click the button.")
    page = shows(("button", "Click Me!"))
    assert [(await agent.decide(page)).action.kind for _ in range(3)] == ["click", "stop", "stop"]


@pytest.mark.parametrize(
    ("goal", "receiver"),
    [
        ("Send DEST the email you got from NAME.", "DEST"),
        ("DEST is waiting for the email by NAME.", "DEST"),
        ("NAME wants his or her message to be sent to DEST.", "DEST"),
        ("The mail by NAME should be forwarded to DEST.", "DEST"),
        ("Give DEST the message you received from NAME,", "DEST"),
        ("DEST wants the email NAME sent to you.", "DEST"),
        ("Find NAME's email and send it to DEST.", "DEST"),
    ],
)
def test_sender_and_receiver_are_told_apart(goal: str, receiver: str) -> None:
    for sender, to in (("Ada", "Bea"), ("Bea", "Ada")):
        said = goal.replace("NAME", sender).replace(receiver, to)
        assert _parties(said, ["Ada", "Bea", "Cleo"]) == (sender, to)


@pytest.mark.parametrize(("marks", "move"), [("XX OO    ", 2), ("O  XX   O", 5)])
def test_a_line_is_won_before_another_is_held_off(marks: str, move: int) -> None:
    assert _best(marks) == move


def test_every_page_with_rules_is_a_page_of_the_suite() -> None:
    pages = {task.wob.page for task in load_suite("miniwob@1").tasks if task.wob}
    assert RULES.keys() <= pages
