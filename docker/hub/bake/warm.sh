#!/bin/bash
# Looks at the site as visitors and members do; fails where that wrote anything.
#
# usage: warm.sh        as user arena, inside the image build, after bake.sh
set -euo pipefail
. /bake/database.sh
start_database
cd /srv/hub/app
python3 -m gunicorn --config /srv/hub/gunicorn.conf.py --bind unix:/run/hub/app.sock hub.wsgi:application &
app=$!
nginx -c /srv/hub/nginx.conf &
web=$!

get() { curl --silent --show-error --max-time 60 --connect-to hub.arena.test:80:127.0.0.1:8000 "$@"; }
everything() {
    sql -N hub -e 'SHOW TABLES' | while read -r table; do sql -N hub -e "SELECT '$table', t.* FROM \`$table\` t"; done
    (cd /srv/hub/state && find repositories releases attachments remotes -type f -exec sha256sum {} + | sort)
}
# usage: look WHO PATHS...        a page that fails ends the build
look() {
    local jar=/tmp/jar.$1 path
    shift
    for path in "$@"; do
        get --fail --location --cookie "$jar" --cookie-jar "$jar" --output /tmp/page "http://hub.arena.test$path" ||
            { echo "$path failed" >&2; return 1; }
    done
}
token() { sed -n 's/.*name="csrf_token"[^>]*value="\([^"]*\)".*/\1/p' /tmp/page | head -1; }
login() {
    look "$1" /login/
    get --cookie "/tmp/jar.$1" --cookie-jar "/tmp/jar.$1" --output /dev/null "http://hub.arena.test/dologin" \
        --data-urlencode "csrf_token=$(token)" --data-urlencode "username=$2" --data-urlencode "password=$3" \
        --data-urlencode next_url=/
    look "$1" /settings/
    grep -q "$2" /tmp/page || { echo "$1 cannot log in" >&2; return 1; }
}

get --retry 60 --retry-delay 1 --retry-all-errors --fail --output /dev/null http://hub.arena.test/health

# Whether a pull request can be merged is computed when its page is first shown, and kept.
login maintainer ines.ferreira hub-ines-2026
sql -N hub -e "SELECT p.name, r.uid FROM pull_requests r JOIN projects p ON p.id = r.project_id
    WHERE r.status = 'Open' ORDER BY p.name, r.id" | while read -r project uid; do
    look maintainer /settings/
    get --fail --cookie /tmp/jar.maintainer --output /tmp/merges http://hub.arena.test/pv/pull-request/merge \
        --data-urlencode "csrf_token=$(token)" --data-urlencode "requestid=$uid" ||
        echo "$project: a pull request without an answer" >&2
done
# (Pagure dates that with the machine's clock.)
sql hub -e "UPDATE pull_requests SET last_updated = updated_on"
sql hub -e "SELECT IFNULL(merge_status, 'unknown'), COUNT(*) FROM pull_requests WHERE status = 'Open' GROUP BY 1"

everything >/tmp/before
project=kettle-firmware
request=$(sql -N hub -e "SELECT MAX(r.id) FROM pull_requests r JOIN projects p ON p.id = r.project_id WHERE p.name = '$project' AND NOT p.is_fork")
issue=$(sql -N hub -e "SELECT MIN(r.id) FROM issues r JOIN projects p ON p.id = r.project_id WHERE p.name = '$project'")
public=(/ /projects/ /users/ /groups/ /group/harbour-crew /user/tom.ashworth /user/tom.ashworth/projects /user/tom.ashworth/forks
    /user/tom.ashworth/stars /user/tom.ashworth/requests /user/tom.ashworth/issues /login/ /about/ /api/0/
    /search/?type=projects\&term=kettle /$project /$project/issues "/$project/issues?tags=bug" /$project/issue/"$issue"
    /$project/pull-requests "/$project/pull-requests?status=Merged" /$project/pull-request/"$request" /$project/roadmap /$project/stats
    /$project/branches /$project/forks /$project/stargazers /$project/commits/main /$project/tree/main /$project/blob/main/f/README.md
    /$project/raw/main/f/README.md /$project/blame/README.md /$project/history/README.md /$project/releases
    /fork/tom.ashworth/tide-tables /api/0/$project /api/0/$project/issues
    "/$project.git/info/refs?service=git-upload-pack")
member=(/dashboard/projects /dashboard/activity /dashboard/watchlist /dashboard/forks /dashboard/groups /settings/ /new/ /$project/new_issue
    /$project/issue/"$issue"/edit /$project/edit/main/f/README.md)
maintainer=(/$project/settings /$project/tag/bug/edit /$project/adduser /halyard)
login developer tom.ashworth hub-tom-2026
login administrator kwame.adeyemi hub-kwame-2026
look visitor "${public[@]}"
look developer "${member[@]}" "/fork/tom.ashworth/tide-tables"
look maintainer "${maintainer[@]}" "${member[@]}" "${public[@]}"
look administrator / /halyard
everything >/tmp/after
diff /tmp/before /tmp/after >/tmp/written || {
    echo 'looking at pages wrote these rows:' >&2
    cut -c 1-400 /tmp/written >&2
    exit 1
}
rm -rf /tmp/before /tmp/after /tmp/written /tmp/page /tmp/merges /tmp/jar.*

kill "$web" "$app"
wait "$web" "$app" || true
# Written in the order of their keys, tables take less: every start copies them.
sql -N <<'SQL' | sql hub
SELECT CONCAT('ALTER TABLE `', table_name, '` FORCE;') FROM information_schema.tables
WHERE table_schema = 'hub' AND engine = 'InnoDB' ORDER BY table_name;
SQL
stop_database
