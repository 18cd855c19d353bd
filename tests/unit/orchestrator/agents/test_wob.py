from __future__ import annotations

import math

import pytest

from arena_core.actions import (
    Action,
    Click,
    MouseClick,
    MouseDrag,
    MouseMove,
    Point,
    Press,
)
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


def test_figures_are_dragged_by_their_middle_into_places_of_their_own() -> None:
    goal = "Drag all circles into the black box."
    page = shows(
        ("StaticText", goal),
        (UNNAMED, "circle", "10x10 at 0,0 rgb(0,0,0)"),
        (UNNAMED, "rect", "10x10 at 20,0 rgb(0,0,0)"),
        (UNNAMED, "circle", "10x10 at 40,0 rgb(0,0,0)"),
        (UNNAMED, "rect#shape-container", "82x47 at 100,100"),
        ("button", "Submit"),
    )
    assert clicks("drag-shapes", goal, page, page, page, page) == [
        MouseDrag(path=(Point(x=5, y=5), Point(x=114, y=114))),
        MouseDrag(path=(Point(x=45, y=5), Point(x=133, y=114))),
        Click(element=6),
        None,
    ]


def test_a_slider_is_set_by_a_click_and_then_by_keys() -> None:
    goal = "Select 7 with the slider and hit Submit."

    def at(value: int) -> Observation:
        track = (UNNAMED, "div#slider.ui-slider", "100x10 at 10,60 rgb(255,255,255)")
        return shows(("StaticText", goal), track, ("StaticText", str(value)), ("button", "Submit"))

    assert clicks("use-slider", goal, at(3), at(3), at(0), at(10), at(6), at(7)) == [
        Click(element=2),
        Press(keys="Home"),
        Press(keys="End"),
        MouseClick(x=80, y=65),
        Press(keys="ArrowRight"),
        Click(element=4),
    ]


@pytest.mark.parametrize("hot", [(6, 56), (80, 100), (150, 170), (101, 57)])
def test_the_hot_place_is_found_within_the_steps_of_an_episode(hot: tuple[int, int]) -> None:
    goal = "Find and click on the HOT area."
    area = (UNNAMED, "div#touch-area", "156x127 at 2,52")
    said, moves = "", 0
    player = WobPlayer("hot-cold", goal)
    while True:
        told = [("StaticText", said)] if said else []
        action = player.next(shows(("StaticText", goal), area, *told))
        if isinstance(action, MouseClick):
            assert math.dist((action.x, action.y), hot) < 5
            return
        assert isinstance(action, MouseMove)
        distance = math.dist((action.x, action.y), hot)
        limits = ((5, "HOT"), (10, "WARM"), (40, "COLD"), (1000, "ICE COLD"))
        said = next(word for limit, word in limits if distance < limit)
        moves += 1
        assert moves < 45


@pytest.mark.parametrize(
    ("page", "goal", "message"),
    [
        ("circle-center", "Click.", "no rules for the page 'circle-center'"),
        ("drag-circle", "Drag the circle.", "the goal is not one that the rules know"),
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
