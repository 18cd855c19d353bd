"""What is read of the sites: which pages there are of a kind, and what one says, by SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class PageKind:
    """One kind of page.

    Attributes:
        pages: how many of them are drawn of sixty.
        ids: a statement that yields the id of each page.
        text: one that yields the text of page `{id}`, comments and answers below it.
    """

    name: str
    site: str
    pages: int
    ids: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts of one kind, whose sentences are counted; one statement yields them all."""

    name: str
    site: str
    texts: str


_STORIES: Final = "SELECT ID FROM wp_posts WHERE post_type = 'post' AND post_status = 'publish'"
_RECIPES: Final = """(SELECT object_id FROM wp_term_relationships
    JOIN wp_term_taxonomy USING (term_taxonomy_id) JOIN wp_terms USING (term_id)
    WHERE taxonomy = 'post_tag' AND wp_terms.name = 'Recipes')"""
_STORY: Final = """SELECT CONCAT_WS('\n', p.post_title, LEFT(p.post_date, 16), p.post_content, (
    SELECT GROUP_CONCAT(CONCAT('- ', comment_ID, ' ', comment_author, ', ', LEFT(comment_date, 16),
        IF(comment_parent, CONCAT(' to ', comment_parent), ''), ': ', comment_content)
        ORDER BY comment_date SEPARATOR '\n')
    FROM wp_comments WHERE comment_post_ID = p.ID AND comment_approved = '1'))
    FROM wp_posts p WHERE p.ID = {id}"""

KINDS: Final = (
    PageKind(
        name="product",
        site="shop",
        pages=6,
        ids="SELECT id FROM catalogue_product WHERE structure <> 'child'",
        text="""SELECT CONCAT_WS('\n', p.title, s.price, p.description, (
            SELECT GROUP_CONCAT(CONCAT(a.name, ': ', v.value_text) SEPARATOR '; ')
            FROM catalogue_productattributevalue v
            JOIN catalogue_productattribute a ON a.id = v.attribute_id
            WHERE v.product_id = p.id))
            FROM catalogue_product p LEFT JOIN partner_stockrecord s ON s.product_id = p.id
            WHERE p.id = {id}""",
    ),
    PageKind(
        name="reviews",
        site="shop",
        pages=8,
        ids="""SELECT product_id FROM reviews_productreview WHERE status = 1
            GROUP BY product_id HAVING COUNT(*) > 2""",
        text="""SELECT CONCAT(p.title, '\n', GROUP_CONCAT(CONCAT(r.score, ' stars, ',
            LEFT(r.date_created, 16), ': ', r.title, '. ', r.body)
            ORDER BY r.date_created SEPARATOR '\n'))
            FROM reviews_productreview r JOIN catalogue_product p ON p.id = r.product_id
            WHERE r.status = 1 AND p.id = {id}""",
    ),
    PageKind(
        name="thread",
        site="forum",
        pages=8,
        ids="SELECT id FROM waypost_submission WHERE comment_count > 1 AND visibility = 'visible'",
        text="""SELECT CONCAT_WS('\n', CONCAT('/f/', f.name, ': ', s.title),
            CONCAT(m.username, ', ', LEFT(s.created, 16)), s.url, s.body, (
            SELECT GROUP_CONCAT(CONCAT('- ', IFNULL(CONCAT('(to ', c.parent_id, ') '), ''), c.id,
                ' ', a.username, ', ', LEFT(c.created, 16), ': ', c.body)
                ORDER BY c.path SEPARATOR '\n')
            FROM waypost_comment c JOIN waypost_member a ON a.id = c.author_id
            WHERE c.submission_id = s.id))
            FROM waypost_submission s JOIN waypost_forum f ON f.id = s.forum_id
            JOIN waypost_member m ON m.id = s.author_id WHERE s.id = {id}""",
    ),
    PageKind(
        name="issue",
        site="forge",
        pages=8,
        ids="SELECT DISTINCT journalized_id FROM journals WHERE notes <> ''",
        text="""SELECT CONCAT_WS('\n', CONCAT(p.name, ': ', i.subject), CONCAT(u.login, ', ',
            LEFT(i.created_on, 16)), i.description, (
            SELECT GROUP_CONCAT(CONCAT('- ', a.login, ', ', LEFT(j.created_on, 16),
                ': ', j.notes) ORDER BY j.id SEPARATOR '\n')
            FROM journals j JOIN users a ON a.id = j.user_id
            WHERE j.journalized_id = i.id AND j.notes <> ''))
            FROM issues i JOIN projects p ON p.id = i.project_id
            JOIN users u ON u.id = i.author_id WHERE i.id = {id}""",
    ),
    PageKind(
        name="pull request",
        site="hub",
        pages=6,
        ids="SELECT uid FROM pull_requests",
        text="""SELECT CONCAT_WS('\n', CONCAT(p.name, ': ', r.title), CONCAT(u.user, ', ',
            LEFT(r.date_created, 16), ', ', r.status), r.initial_comment, (
            SELECT GROUP_CONCAT(CONCAT('- ', a.user, ', ', LEFT(c.date_created, 16),
                ': ', c.comment) ORDER BY c.id SEPARATOR '\n')
            FROM pull_request_comments c JOIN users a ON a.id = c.user_id
            WHERE c.pull_request_uid = r.uid AND c.notification = 0))
            FROM pull_requests r JOIN projects p ON p.id = r.project_id
            JOIN users u ON u.id = r.user_id WHERE r.uid = '{id}'""",
    ),
    PageKind(
        name="mail",
        site="office",
        pages=6,
        ids="SELECT MIN(id) FROM mail GROUP BY message_id",
        text="""SELECT CONCAT_WS('\n', subject, CONCAT(sender, ' to ', recipients), sent, body,
            CONCAT('attached: ', NULLIF(attachments, ''))) FROM mail WHERE id = {id}""",
    ),
    PageKind(
        name="recipe",
        site="cms",
        pages=6,
        ids=_STORIES + " AND ID IN " + _RECIPES,
        text=_STORY,
    ),
    PageKind(
        name="newspaper",
        site="cms",
        pages=6,
        ids=_STORIES + " AND ID NOT IN " + _RECIPES,
        text=_STORY,
    ),
)

CORPORA: Final = (
    Corpus("reviews", "shop", "SELECT body FROM reviews_productreview"),
    Corpus("titles of reviews", "shop", "SELECT title FROM reviews_productreview"),
    Corpus(
        "descriptions",
        "shop",
        "SELECT description FROM catalogue_product WHERE structure <> 'child'",
    ),
    Corpus("comments", "forum", "SELECT body FROM waypost_comment"),
    Corpus("posts", "forum", "SELECT body FROM waypost_submission"),
    Corpus("titles of posts", "forum", "SELECT title FROM waypost_submission"),
    Corpus("issues", "forge", "SELECT description FROM issues"),
    Corpus("notes", "forge", "SELECT notes FROM journals WHERE notes <> ''"),
    Corpus("issues", "hub", "SELECT content FROM issues"),
    Corpus("notes", "hub", "SELECT comment FROM issue_comments WHERE notification = 0"),
    Corpus("pull requests", "hub", "SELECT initial_comment FROM pull_requests"),
    Corpus("reviews", "hub", "SELECT comment FROM pull_request_comments WHERE notification = 0"),
    Corpus("mails", "office", "SELECT body FROM mail GROUP BY message_id"),
    Corpus(
        "comments", "cms", "SELECT comment_content FROM wp_comments WHERE comment_approved = '1'"
    ),
    Corpus(
        "articles",
        "cms",
        "SELECT post_content FROM wp_posts WHERE post_type = 'post' AND post_status = 'publish'",
    ),
)
