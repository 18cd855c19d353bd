"""The rules of every page that has some, and what plays them: an action for each observation."""

from __future__ import annotations

from collections.abc import Mapping

from arena_core.actions import Action
from arena_core.errors import AgentError
from orchestrator.agents.builtin.miniwob import (
    applications,
    choices,
    figures,
    forms,
    pointer,
    widgets,
)
from orchestrator.agents.builtin.miniwob.page import MiniWobPage, Moves, Rules, UnsolvedError
from orchestrator.browser.observation import HTML, SCREENSHOT, Observation

RULES: Mapping[str, Rules] = {
    "ascending-numbers": figures.ascending,
    "book-flight": applications.flight,
    "book-flight-nodelay": applications.flight,
    "button-delay": widgets.two_buttons_apart,
    "buy-ticket": applications.ticket,
    "choose-date": applications.date,
    "choose-date-easy": applications.date,
    "choose-date-medium": applications.date,
    "choose-date-nodelay": applications.date,
    "choose-list": choices.from_list,
    "click-button": choices.quoted_button,
    "click-button-sequence": choices.buttons_in_turn,
    "click-checkboxes": choices.checkboxes,
    "click-checkboxes-large": choices.checkboxes,
    "click-checkboxes-soft": choices.checkboxes_alike,
    "click-checkboxes-transfer": choices.checkboxes,
    "click-collapsible": choices.section,
    "click-collapsible-2": choices.in_sections,
    "click-collapsible-2-nodelay": choices.in_sections,
    "click-collapsible-nodelay": choices.section,
    "click-color": figures.coloured_box,
    "click-dialog": choices.dialog,
    "click-dialog-2": choices.dialog,
    "click-link": choices.link,
    "click-menu": choices.menu,
    "click-menu-2": choices.menu_button,
    "click-option": choices.option,
    "click-pie": choices.pie,
    "click-pie-nodelay": choices.pie,
    "click-scroll-list": choices.scroll_list,
    "click-shades": figures.shades,
    "click-shape": figures.shape,
    "click-tab": choices.tab,
    "click-tab-2": choices.in_tabs,
    "click-tab-2-easy": choices.in_tabs,
    "click-tab-2-hard": choices.in_tabs,
    "click-tab-2-medium": choices.in_tabs,
    "click-test": choices.first_button,
    "click-test-2": choices.buttons_in_turn,
    "click-test-transfer": choices.buttons_in_turn,
    "click-widget": choices.widget,
    "copy-paste": forms.copied,
    "copy-paste-2": forms.copied,
    "count-shape": figures.count,
    "count-sides": figures.sides,
    "daily-calendar": widgets.day_event,
    "drag-box": pointer.box_into_box,
    "drag-cube": figures.turned_cube,
    "drag-circle": pointer.one_way,
    "drag-items": pointer.list_item,
    "drag-items-grid": pointer.grid_item,
    "drag-shapes": pointer.into_one_box,
    "drag-shapes-2": pointer.into_two_boxes,
    "drag-single-shape": pointer.one_way,
    "drag-sort-numbers": pointer.sorted_numbers,
    "draw-circle": pointer.drawn_circle,
    "draw-line": pointer.drawn_line,
    "email-inbox": applications.mail,
    "email-inbox-delete": applications.mail,
    "email-inbox-forward": applications.mail,
    "email-inbox-forward-nl": applications.mail_told,
    "email-inbox-forward-nl-turk": applications.mail_told,
    "email-inbox-important": applications.mail,
    "email-inbox-nl-turk": applications.mail_told,
    "email-inbox-noscroll": applications.mail,
    "email-inbox-reply": applications.mail,
    "email-inbox-star-reply": applications.mail,
    "enter-date": forms.date,
    "enter-password": forms.password_twice,
    "enter-text": forms.quoted_text,
    "enter-text-2": forms.cased_text,
    "enter-text-dynamic": forms.quoted_text,
    "enter-time": forms.time,
    "find-greatest": figures.greatest_card,
    "find-word": forms.nth_word,
    "focus-text": forms.focus,
    "focus-text-2": forms.focus,
    "form-sequence": pointer.slider_and_box,
    "form-sequence-2": applications.table_form,
    "form-sequence-3": applications.size_and_answer,
    "generate-number": applications.number_drawn,
    "grid-coordinate": figures.grid_point,
    "guess-number": forms.guess,
    "highlight-text": pointer.highlighted,
    "highlight-text-2": pointer.highlighted,
    "hot-cold": pointer.hot_place,
    "identify-shape": figures.kind_of_figure,
    "login-user": forms.login,
    "login-user-popup": forms.login,
    "multi-layouts": forms.films,
    "multi-orderings": forms.films,
    "navigate-tree": choices.tree,
    "number-checkboxes": widgets.digit_of_boxes,
    "odd-or-even": applications.parity,
    "order-food": applications.meal,
    "phone-book": applications.contact,
    "read-table": forms.table_value,
    "read-table-2": forms.table_values,
    "resize-textarea": pointer.resized,
    "scroll-text": forms.last_word,
    "scroll-text-2": forms.scrolled,
    "search-engine": forms.search,
    "sign-agreement": applications.agreement,
    "simon-says": figures.repeated,
    "simple-algebra": forms.unknown,
    "simple-arithmetic": forms.sum_of_two,
    "social-media": applications.post,
    "social-media-all": applications.posts,
    "social-media-some": applications.posts,
    "stock-market": applications.stock,
    "terminal": forms.terminal,
    "text-editor": widgets.styled_text,
    "text-transform": forms.letters,
    "tic-tac-toe": figures.noughts_and_crosses,
    "unicode-test": choices.quoted_button,
    "use-autocomplete": applications.proposed_word,
    "use-autocomplete-nodelay": applications.proposed_word,
    "use-colorwheel": widgets.named_colour,
    "use-colorwheel-2": widgets.shown_colour,
    "use-slider": pointer.slider,
    "use-slider-2": pointer.sliders,
    "use-spinner": forms.spinner,
    "visual-addition": widgets.blocks,
}

# What the rules of a page read beside the accessibility tree.
FURTHER_FORMS: Mapping[str, frozenset[str]] = {
    "count-sides": frozenset({SCREENSHOT}),
    "drag-cube": frozenset({HTML}),
    "simon-says": frozenset({HTML}),
}


class MiniWobPlayer:
    """The rules of a page at work on one episode."""

    def __init__(self, page: str, goal: str, seed: int | None = None) -> None:
        self._page = page
        self._goal = goal
        self._seed = seed
        self._moves: Moves | None = None

    def next(self, observation: Observation) -> Action | None:
        """Return the next action; None where the rules have come to their end."""
        shown = MiniWobPage(self._goal, observation, self._seed)
        try:
            if self._moves is None:
                self._moves = self._begin(shown)
                return next(self._moves)
            return self._moves.send(shown)
        except StopIteration:
            return None
        except (UnsolvedError, LookupError, ValueError) as error:
            raise AgentError(
                f"the rules for the page '{self._page}' do not fit: {error}"
            ) from error
        except RuntimeError as error:  # a generator's way to pass on that a `next` found nothing
            if not isinstance(error.__cause__, StopIteration):
                raise
            raise AgentError(
                f"the rules for the page '{self._page}' miss an element they need"
            ) from error

    def _begin(self, shown: MiniWobPage) -> Moves:
        rules = RULES.get(self._page)
        if rules is None:
            raise AgentError(f"there are no rules for the page '{self._page}'")
        return rules(self._goal, shown)
