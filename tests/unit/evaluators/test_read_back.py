from __future__ import annotations

from support.runs.make_evidence import (
    ANSWER,
    API,
    DB,
    PAGE,
    URL,
    key_node,
    make_acted,
    make_check,
    make_evidence,
    make_step,
    stop_step,
)

from evaluators.checks import Check
from evaluators.evidence import ElementEvent, Evidence, Located, StepEvidence


def found_at_step(check: Check, step: StepEvidence) -> Located:
    return check.locate.at_step(check.name, step)


def found_at_end(check: Check, evidence: Evidence) -> Located:
    return check.locate.at_end(check.name, evidence)


CLICK = {"by": "element", "event": "click"}
QUERY = {"by": "url", "part": "query", "key": "q"}


class TestUrls:
    def test_a_step_yields_every_page_it_passed_through(self) -> None:
        step = make_step(1, "shop:/old/", None, "shop:/new?q=1#top")
        assert found_at_step(key_node("x"), step).values == ("shop:/old", "shop:/new")

    def test_a_page_that_was_open_before_is_no_visit(self) -> None:
        assert found_at_step(key_node("x"), make_step(1, at="shop:/here")).values == ()

    def test_every_value_of_a_repeated_parameter_counts(self) -> None:
        step = make_step(1, "shop:/s?q=a&r=b&q=c+d&q=")
        assert found_at_step(key_node("x", locate=QUERY), step).values == ("a", "c d", "")

    def test_a_parameter_counts_only_on_the_page_that_is_named(self) -> None:
        node = key_node("x", locate={**QUERY, "page": "shop:/search"})
        step = make_step(1, "shop:/Search/?q=here", "shop:/other?q=there", "wiki:/search?q=wiki")
        assert found_at_step(node, step).values == ("here",)

    def test_a_fragment_and_a_whole_url_are_parts_too(self) -> None:
        step = make_step(1, "wiki:/a?b=2&a=1#New%20York", "wiki:/b")
        fragment = key_node("x", locate={"by": "url", "part": "fragment"})
        assert found_at_step(fragment, step).values == ("New York",)
        full = key_node("x", locate={"by": "url", "part": "full"})
        assert found_at_step(full, step).values == ("wiki:/a?a=1&b=2#New York", "wiki:/b")

    def test_the_end_yields_the_current_tabs_page(self) -> None:
        evidence = make_evidence(make_step(0, "shop:/"), make_step(1, "shop:/a", "shop:/b"))
        assert found_at_end(make_check(URL, "x"), evidence).values == ("shop:/b",)

    def test_the_end_on_a_page_of_no_site_yields_nothing(self) -> None:
        evidence = make_evidence(make_step(0, "shop:/"), make_step(1, None))
        assert found_at_end(make_check(URL, "x"), evidence) == Located(check="check")
        assert found_at_end(make_check(URL, "x"), make_evidence()) == Located(check="check")


class TestElements:
    def test_event_role_name_and_page_choose_what_counts(self) -> None:
        locate = {
            **CLICK,
            "role": "Button",
            "named": "add  to BASKET",
            "page": "shop:/product/kettle/",
        }
        events = [
            make_acted(text="1"),
            make_acted(text="2", page="shop:/product/kettle?q=1"),
            make_acted(ElementEvent.SUBMIT, text="other event"),
            make_acted(role="link", text="other role"),
            make_acted(name="Add", text="other name"),
            make_acted(page="shop:/product/teapot", text="other page"),
            make_acted(page=None, text="no page of a site"),
        ]
        node = key_node("x", locate={**locate, "read": "text"})
        assert found_at_step(node, make_step(1, acted=events)).values == ("1", "2")

    def test_every_field_can_be_read(self) -> None:
        event = make_acted(path="#a", role="link", name="n", text="t", value="v")
        read = {
            field: found_at_step(
                key_node("x", locate={**CLICK, "read": field}), make_step(1, acted=[event])
            ).values
            for field in ("path", "role", "name", "text", "value")
        }
        assert read == {
            "path": ("#a",),
            "role": ("link",),
            "name": ("n",),
            "text": ("t",),
            "value": ("v",),
        }

    def test_an_element_without_a_value_yields_none(self) -> None:
        node = key_node("x", locate={**CLICK, "read": "value"})
        assert found_at_step(node, make_step(1, acted=[make_acted(value=None)])).values == ()

    def test_what_a_field_held_while_it_was_typed_does_not_count(self) -> None:
        node = key_node("x", locate={"by": "element", "event": "input", "read": "value"})
        typed = [
            make_acted(ElementEvent.INPUT, path="#from", value="1"),
            make_acted(ElementEvent.INPUT, path="#to", value="7"),
            make_acted(ElementEvent.INPUT, path="#from", value="12"),
        ]
        assert sorted(found_at_step(node, make_step(1, acted=typed)).values) == ["12", "7"]


class TestRecords:
    def test_a_page_key_node_reads_the_steps_own_record(self) -> None:
        record = Located(check="node", values=("Kettle",))
        node = key_node("x", locate=PAGE)
        assert found_at_step(node, make_step(1, located=[Located(check="o"), record])) == record

    def test_a_step_without_its_record_could_not_be_looked_at(self) -> None:
        found = found_at_step(key_node("x", locate=PAGE), make_step(3))
        assert found.error == "the evidence holds no record of it at step 3"

    def test_a_stop_needs_no_record(self) -> None:
        assert found_at_step(key_node("x", locate=PAGE), stop_step(2)) == Located(check="node")

    def test_end_checks_read_their_record_or_could_not_look(self) -> None:
        for locate in (PAGE, DB, API):
            check = make_check(locate, "x")
            record = Located(check="check", values=("row",))
            assert found_at_end(check, make_evidence(located=[record])) == record
            assert found_at_end(check, make_evidence(required=[record])).error

    def test_an_answer_is_what_the_agent_stopped_with(self) -> None:
        check = make_check(ANSWER, "x")
        assert found_at_end(check, make_evidence(answer="42")).values == ("42",)
        assert found_at_end(check, make_evidence(answer="")).values == ()
        assert found_at_end(check, make_evidence(answer=None)) == Located(check="check")
