#!/bin/bash
# Looks at the site as visitors, editors and programs do, so that its code is compiled; fails where that wrote anything.
set -euo pipefail
sql() { mariadb --defaults-file=/srv/cms/my.cnf --user=arena "$@"; }

php-fpm8.2 --nodaemonize --fpm-config /srv/cms/php-fpm.conf \
    -d opcache.file_cache=/srv/cms/code -d opcache.file_cache_only=1 &
php=$!
nginx -c /srv/cms/nginx.conf &
web=$!
trap 'kill "$web" "$php"; wait "$web" "$php" || true' EXIT

get() { curl --silent --show-error --max-time 60 --connect-to cms.arena.test:80:127.0.0.1:8000 "$@"; }
everything() {
    sql -N cms -e 'SHOW TABLES' | while read -r table; do sql -N cms -e "SELECT '$table', t.* FROM $table t"; done
    (cd /srv/cms/state/uploads && find . -type f -exec sha256sum {} + | sort)
}
# usage: look WHO URLS...        a page that fails ends the build
look() {
    local jar=/tmp/jar.$1 path
    shift
    for path in "$@"; do
        get --fail --location --cookie "$jar" --cookie-jar "$jar" --output /tmp/page "http://cms.arena.test$path" ||
            { echo "$path failed" >&2; return 1; }
        ! grep -nE '<b>(Warning|Notice|Deprecated|Fatal error)</b>' /tmp/page || { echo "$path complains" >&2; return 1; }
    done
}
login() {
    look "$1" /wp-login.php
    get --fail --cookie "/tmp/jar.$1" --cookie-jar "/tmp/jar.$1" --output /dev/null "http://cms.arena.test/wp-login.php" \
        --data-urlencode "log=$2" --data-urlencode "pwd=$3" --data 'wp-submit=Log+In&testcookie=1'
    grep -q wordpress_logged_in "/tmp/jar.$1" || { echo "$1 cannot log in" >&2; return 1; }
}

get --retry 50 --retry-delay 1 --retry-all-errors --fail http://cms.arena.test/health
everything >/tmp/before
post=$(sql -N cms -e "SELECT CONCAT(DATE_FORMAT(post_date, '/%Y/%m/'), post_name, '/') FROM wp_posts
    WHERE post_type = 'post' AND post_status = 'publish' ORDER BY comment_count DESC, ID LIMIT 1")
public=(/ /page/2/ "$post" /category/news/ /category/culture/museums/ /tag/opinion/ /2026/09/ /author/nora-lindqvist/ '/?s=kettle'
    '/?s=nothingofthesort' /feed/ "$post"feed/ /comments/feed/ /about-the-gazette/ /visitors-guide/walks/ /wp-sitemap.xml
    /wp-sitemap-posts-post-1.xml /robots.txt /wp-json/ '/wp-json/wp/v2/posts?per_page=5' /wp-json/wp/v2/posts/1001
    '/wp-json/wp/v2/comments?per_page=5' /wp-json/wp/v2/categories /wp-json/wp/v2/media /wp-json/wp/v2/users
    '/wp-json/wp/v2/search?search=kettle' '/wp-login.php?action=lostpassword' /tested-kettles/)
author=(/wp-admin/ /wp-admin/profile.php /wp-admin/edit.php /wp-admin/upload.php
    /wp-admin/edit-comments.php /wp-admin/media-new.php /wp-admin/tools.php "$post")
editor=("${author[@]}" '/wp-admin/post.php?post=1001&action=edit' '/wp-admin/edit.php?post_type=page'
    '/wp-admin/edit-tags.php?taxonomy=category' '/wp-admin/edit-tags.php?taxonomy=post_tag'
    '/wp-admin/term.php?taxonomy=category&tag_ID=2' '/wp-admin/comment.php?action=editcomment&c=100'
    '/wp-admin/post.php?post=101&action=edit' '/wp-admin/post.php?post=11&action=edit'
    '/wp-admin/edit-comments.php?comment_status=moderated' '/wp-admin/edit.php?post_status=draft&post_type=post')
administrator=("${editor[@]}" /wp-admin/users.php /wp-admin/user-new.php '/wp-admin/user-edit.php?user_id=9' /wp-admin/options-general.php
    /wp-admin/options-writing.php /wp-admin/options-reading.php /wp-admin/options-discussion.php /wp-admin/options-media.php
    /wp-admin/options-permalink.php /wp-admin/options-privacy.php /wp-admin/nav-menus.php /wp-admin/widgets.php
    /wp-admin/customize.php /wp-admin/themes.php /wp-admin/plugins.php /wp-admin/site-health.php /wp-admin/export.php /wp-admin/import.php)
login author nora.lindqvist gazette-nora-2026
login editor idris.calloway gazette-idris-2026
login administrator helen.fairweather gazette-helen-2026
for _ in 1 2; do
    look visitor "${public[@]}"
    look author "${author[@]}"
    look editor "${editor[@]}"
    look administrator "${administrator[@]}"
    get --fail --user 'helen.fairweather:Rope Walk 1871 Tide Kttl Pink' --output /dev/null \
        'http://cms.arena.test/wp-json/wp/v2/users/me?context=edit'
done
everything >/tmp/after
diff /tmp/before /tmp/after >/tmp/written || {
    echo 'looking at pages wrote these rows:' >&2
    cut -c 1-400 /tmp/written >&2
    exit 1
}
rm -rf /tmp/before /tmp/after /tmp/written /tmp/page /tmp/jar.*
