from __future__ import annotations

import math
from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import pytest
from PIL import Image, ImageDraw
from quick_cases import SLOW, quick_first

from arena_core.actions import (
    Action,
    Click,
    MouseClick,
    MouseDown,
    MouseDrag,
    MouseMove,
    MouseUp,
    Point,
    Press,
    Wait,
)
from arena_core.errors import AgentError
from arena_core.worlds import World
from orchestrator.agents.builtin.miniwob.applications import _parties
from orchestrator.agents.builtin.miniwob.figures import corners
from orchestrator.agents.builtin.miniwob.page import MiniWobPage
from orchestrator.agents.builtin.miniwob.player import FURTHER_FORMS, RULES, MiniWobPlayer
from orchestrator.agents.builtin.oracle import OracleAgent
from orchestrator.agents.choice import make_agent
from orchestrator.agents.interface import Reference, SeesByReference
from orchestrator.browser.observation import (
    AXTREE,
    HTML,
    UNNAMED,
    AxTree,
    Html,
    Node,
    Observation,
    Picture,
)
from tasks.loader import load_suite
from tasks.reference import SolveMiniWob, StopWith


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
    player = MiniWobPlayer(page, goal)
    return [player.next(observation) for observation in observations]


def test_the_goals_own_words_are_no_part_of_the_page() -> None:
    goal = 'Click on the "Ok" button.'
    page = MiniWobPage(
        goal,
        shows(("StaticText", 'Click on the "'), ("StaticText", 'Ok" button.'), ("button", "Ok")),
    )
    assert [node.role for node in page.nodes] == ["button"]


def test_a_text_that_repeats_the_goal_below_it_stays() -> None:
    page = MiniWobPage("Ok", shows(("StaticText", "Ok"), ("StaticText", "Ok")))
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


@SLOW
@pytest.mark.parametrize(("left", "top"), quick_first([(6, 56), (80, 100), (150, 170), (101, 57)]))
def test_the_hot_place_is_found_within_the_steps_of_an_episode(left: int, top: int) -> None:
    hot = (left, top)
    goal = "Find and click on the HOT area."
    area = (UNNAMED, "div#touch-area", "156x127 at 2,52")
    said, moves = "", 0
    player = MiniWobPlayer("hot-cold", goal)
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


def drawn(sides: int, degrees: float) -> Picture:
    """Draw a polygon as count-sides does, below black words on yellow."""
    image = Image.new("RGB", (500, 320), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 160, 49), fill="yellow")
    pen.text((3, 3), "Press the button that correctly", fill="black")
    turns = [math.radians(degrees + 360 * at / sides) for at in range(sides + 1)]
    places = [(77 + 35 * math.cos(turn), 102 + 35 * math.sin(turn)) for turn in turns]
    for ends in pairwise(places):
        pen.line(ends, fill="black", width=3)
    saved = BytesIO()
    image.save(saved, "png")
    return Picture(saved.getvalue(), image.width, image.height)


@SLOW
@pytest.mark.parametrize("sides", [3, 4, 5, 6, 7])
def test_the_sides_of_a_drawn_polygon_are_counted_however_it_is_turned(sides: int) -> None:
    assert {corners(drawn(sides, degrees)) for degrees in range(0, 180, 7)} == {sides}


def with_markup(markup: str, *nodes: tuple[str, str]) -> Observation:
    page = shows(*nodes)
    return replace(page, parts={**page.parts, HTML: Html(markup)})


def test_the_cube_is_turned_until_the_side_is_in_front_and_then_let_go() -> None:
    goal = 'Move the cube around so that "4" is the active side facing the user.'

    def front(side: int) -> Observation:
        marks = (f'<div class="cube-image{" active" * (at == side)}">{at}</div>' for at in range(7))
        return with_markup("".join(marks), ("StaticText", goal), ("button", "Submit"))

    assert clicks("drag-cube", goal, *map(front, (6, 6, 6, 5, 4, 4))) == [
        MouseMove(x=30, y=300),
        MouseDown(),
        MouseMove(x=54, y=300),
        MouseMove(x=78, y=300),
        MouseUp(),
        Click(element=2),
    ]
    goal = goal.replace("4", "6")
    assert clicks("drag-cube", goal, front(6), front(6)) == [Click(element=2), None]


def test_buttons_are_pushed_in_the_order_in_which_they_lit_up() -> None:
    def lit(button: int | None) -> Observation:
        marks = (
            f'<button arena="{at + 10}" class="{"push" * (at == button)}"></button>'
            for at in (1, 2, 3, 4)
        )
        return with_markup("".join(marks), ("StaticText", "Push."), *[("button", "")] * 4)

    seen = [None] * 9 + [3, 3, None, 3, None, None, 1, *[None] * 8]
    actions = clicks("simon-says", "Push.", *map(lit, seen), *[lit(None)] * 3)
    assert actions[: len(seen) - 1] == [Wait(seconds=0.06)] * (len(seen) - 1)
    assert [one for one in actions if isinstance(one, Click)] == [
        Click(element=13),
        Click(element=13),
        Click(element=11),
    ]


def test_only_pages_whose_rules_read_more_than_the_tree_are_seen_in_more_forms() -> None:
    oracle = make_agent("oracle")
    assert isinstance(oracle, SeesByReference)
    for task in load_suite("miniwob@1").tasks:
        assert task.miniwob is not None
        further = FURTHER_FORMS.get(task.miniwob.page, frozenset())
        assert oracle.observations_of(task.reference_actions) == further


@pytest.mark.parametrize("page", ["count-sides", "drag-cube", "simon-says"])
def test_rules_that_were_not_shown_what_they_read_say_so(page: str) -> None:
    goal = 'Move the cube around so that "4" is the active side.'
    with pytest.raises(AgentError, match=f"need the form '{next(iter(FURTHER_FORMS[page]))}'"):
        MiniWobPlayer(page, goal).next(shows(("StaticText", goal)))


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
        MiniWobPlayer(page, goal).next(shows(("StaticText", goal)))


async def test_the_oracle_stops_where_the_rules_end() -> None:
    reference = Reference((SolveMiniWob(do="wob", page="click-test"), StopWith(do="stop")), str)
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


def test_every_page_with_rules_is_a_page_of_the_suite() -> None:
    pages = {task.miniwob.page for task in load_suite("miniwob@1").tasks if task.miniwob}
    assert RULES.keys() <= pages
