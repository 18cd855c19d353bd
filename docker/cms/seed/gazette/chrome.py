"""What surrounds the articles: categories, tags, menus, widgets and settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gazette.features import TOPICS
from gazette.php import Value
from gazette.sources import World, slug, vocabulary

_SECTIONS = vocabulary("sections")
# A section -> its categories; "Explained" has those of the encyclopedia's topics.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    one["name"]: tuple(one.get("categories", TOPICS.values())) for one in _SECTIONS["section"]
}
ABOUT: Mapping[str, str] = {one["name"]: one["about"] for one in _SECTIONS["section"]}
FOOTER_PAGES: tuple[str, ...] = tuple(_SECTIONS["footer"])
MENU, FOOTER = "Sections", "Small print"


@dataclass(slots=True)
class Term:
    """A category, a tag or a menu; `key` is how stories name it."""

    id: int
    name: str
    slug: str
    taxonomy: str
    key: str
    about: str = ""
    parent: int = 0
    count: int = 0


def categories(world: World) -> list[Term]:
    """Return both levels of categories; id 1 is WordPress' own default."""
    made = [Term(1, "Uncategorised", "uncategorised", "category", "")]
    for section, leaves in SECTIONS.items():
        top = Term(len(made) + 1, section, slug(section), "category", section, ABOUT[section])
        made.append(top)
        names = [one.name for one in world.departments] if section == "Tested" else leaves
        for name in names:
            key = f"{section}/{name}" if section in {"Tested", "Explained"} else name
            short = slug(name)
            if any(term.slug == short for term in made) or section in {"Tested", "Explained"}:
                short = f"{slug(section)}-{short}"
            made.append(Term(len(made) + 1, name, short, "category", key, parent=top.id))
    return made


def tags(names: Iterable[str], first: int) -> list[Term]:
    """Return a term for each name, in order, without doubles."""
    made: dict[str, Term] = {}
    for name in names:
        if slug(name) not in made:
            made[slug(name)] = Term(first + len(made), name, slug(name), "post_tag", slug(name))
    return list(made.values())


def block_widget(content: str) -> Value:
    """Return one widget that shows blocks."""
    return {"content": content}


def _group(title: str, inner: str) -> str:
    return (
        '<!-- wp:group -->\n<div class="wp-block-group"><!-- wp:heading {"level":2} -->\n'
        f"<h2>{title}</h2>\n<!-- /wp:heading -->\n\n{inner}</div>\n<!-- /wp:group -->"
    )


def widgets() -> dict[str, Value]:
    """Return the options that hold the sidebar and the footer."""
    blocks = (
        _group("Most recent", '<!-- wp:latest-posts {"postsToShow":6,"displayPostDate":true} /-->'),
        _group(
            "Readers say",
            '<!-- wp:latest-comments {"commentsToShow":5,"displayAvatar":true,"displayExcerpt":true} /-->',
        ),
        # As a hierarchy, a section counts the articles of the categories below it: it has none itself.
        _group(
            "Sections",
            '<!-- wp:categories {"showOnlyTopLevel":true,"showHierarchy":true} /-->',
        ),
        _group(
            "Archive", '<!-- wp:archives {"displayAsDropdown":false,"showPostCounts":true} /-->'
        ),
        _group(
            "Tags",
            '<!-- wp:tag-cloud {"numberOfTags":40,"smallestFontSize":"9pt","largestFontSize":"16pt"} /-->',
        ),
    )
    held: dict[str | int, Value] = {
        number: block_widget(one) for number, one in enumerate(blocks, start=2)
    }
    return {
        "widget_block": {**held, "_multiwidget": 1},
        "sidebars_widgets": {
            "wp_inactive_widgets": [],
            "sidebar-1": [f"block-{number}" for number in (2, 3, 4, 5, 6)],
            "array_version": 3,
        },
    }


def options(menus: Sequence[Term], privacy: int, sticky: Sequence[int]) -> dict[str, Value]:
    """Return the settings that differ from a fresh WordPress."""
    return {
        "siteurl": "http://cms.arena.test",
        "home": "http://cms.arena.test",
        "blogname": "The Merrow Gazette",
        "blogdescription": "The newspaper of Port Merrow since 1871",
        "admin_email": "helen.fairweather@merrowgazette.example",
        "permalink_structure": "/%year%/%monthnum%/%postname%/",
        "posts_per_page": "13",
        "posts_per_rss": "20",
        "rss_use_excerpt": "1",
        "date_format": "j F Y",
        "time_format": "H:i",
        "timezone_string": "UTC",
        "start_of_week": "1",
        "users_can_register": "0",
        "comments_notify": "0",
        "moderation_notify": "0",
        "comment_previously_approved": "1",
        "show_comments_cookies_opt_in": "0",
        "thread_comments_depth": "4",
        "default_pingback_flag": "0",
        "default_ping_status": "closed",
        "default_category": "1",
        "thumbnail_size_w": "150",
        "thumbnail_size_h": "150",
        "medium_size_w": "360",
        "medium_size_h": "360",
        "medium_large_size_w": "0",
        "medium_large_size_h": "0",
        "large_size_w": "800",
        "large_size_h": "800",
        "template": "gazette",
        "stylesheet": "gazette",
        "current_theme": "Gazette",
        "theme_mods_gazette": {
            "nav_menu_locations": {"primary": menus[0].id, "footer": menus[1].id},
            "custom_css_post_id": -1,
        },
        "fresh_site": "0",
        "using_application_passwords": "1",
        "can_compress_scripts": "0",
        "wp_page_for_privacy_policy": str(privacy),
        "sticky_posts": list(sticky),
        "recently_activated": [],
        "cron": {"version": 2},
        **widgets(),
    }
