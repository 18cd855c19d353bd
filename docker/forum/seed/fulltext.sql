-- What the search reads (waypost/search.py), made when the rows are there: one pass, not one a row.
ALTER TABLE waypost_submission ADD FULLTEXT forum_submission_text (title, body, url);
ALTER TABLE waypost_comment ADD FULLTEXT forum_comment_text (body);
