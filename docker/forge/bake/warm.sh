#!/bin/bash
# Looks at the site as visitors, members and programs do, so that its code is compiled; fails where that wrote anything.
#
# usage: warm.sh        as user arena, inside the image build, after bake.sh
set -euo pipefail
. /bake/database.sh
start_database

python3 /bake/serve.py &
app=$!
nginx -c /srv/forge/nginx.conf &
web=$!

get() { curl --silent --show-error --max-time 60 --connect-to forge.arena.test:80:127.0.0.1:8000 "$@"; }
everything() {
    sql -N forge -e 'SHOW TABLES' | while read -r table; do sql -N forge -e "SELECT '$table', t.* FROM $table t"; done
    (cd /srv/forge/state && find files repositories -type f -exec sha256sum {} + | sort)
}
# usage: look WHO PATHS...        a page that fails ends the build
look() {
    local jar=/tmp/jar.$1 path
    shift
    for path in "$@"; do
        get --fail --location --cookie "$jar" --cookie-jar "$jar" --output /tmp/page "http://forge.arena.test$path" ||
            { echo "$path failed" >&2; return 1; }
    done
}
login() {
    look "$1" /login
    local token
    token=$(sed -n 's/.*name="authenticity_token" value="\([^"]*\)".*/\1/p' /tmp/page | head -1)
    get --cookie "/tmp/jar.$1" --cookie-jar "/tmp/jar.$1" --output /dev/null "http://forge.arena.test/login" \
        --data-urlencode "authenticity_token=$token" --data-urlencode "username=$2" --data-urlencode "password=$3"
    look "$1" /my/account
    grep -q "$2" /tmp/page || { echo "$1 cannot log in" >&2; return 1; }
}

get --retry 60 --retry-delay 1 --retry-all-errors --fail --output /dev/null http://forge.arena.test/health
everything >/tmp/before
number=$(sql -N forge -e "SELECT id FROM repositories WHERE url LIKE '%/kettle-firmware.git'")
project=/projects/kettle-firmware
code=$project/repository/$number
revision=$(git -C /srv/forge/state/repositories/kettle-firmware.git rev-parse main)
public=(/ /projects /projects.json /issues /issues/100 /issues/100.json '/issues.json?limit=5' '/search?q=kettle' /news /activity /users/6
    /login /time_entries $project $project/issues $project/issues.csv $project/issues.pdf $project/activity $project/roadmap
    $project/issues/calendar $project/issues/gantt $project/wiki $project/wiki/Who_is_who $project/wiki/index $project/boards
    $project/news $project/documents $project/files $project/time_entries $project/time_entries/report $project/repository
    $code/statistics "$code/revisions/$revision" "$code/revisions/$revision/diff"
    $code/show/src $code/entry/src/heating_curve.c $code/annotate/src/heating_curve.c
    $code/changes/src/heating_curve.c $code/raw/README.md $project/versions.json
    $project/activity.atom $project/issues/report $project/wiki/Wiki/history /robots.txt
    '/git/kettle-firmware.git/info/refs?service=git-upload-pack')
member=(/my/page /my/account /users/5 /my/password $project/issues/new /issues/100 /issues/100/edit $project/time_entries/new
    $project/wiki/Style_guide/edit)
maintainer=($project/settings $project/settings/members $project/settings/versions $project/settings/repositories
    $project/versions/new $project/news/new /projects/new)
administrator=(/admin /users /users/new /users/6/edit /settings /settings?tab=repositories /roles /trackers /issue_statuses /workflows
    /custom_fields /enumerations /groups /admin/info /admin/projects /auth_sources)
login developer tom.ashworth forge-tom-2026
login maintainer ines.ferreira forge-ines-2026
login administrator kwame.adeyemi forge-kwame-2026
look visitor "${public[@]}"
look developer "${member[@]}" $project $project/issues $project/repository
look maintainer "${maintainer[@]}" /projects/halyard
look administrator "${administrator[@]}"
get --fail --header "X-Redmine-API-Key: $(sql -N forge -e "SELECT value FROM tokens WHERE user_id = 6 AND action = 'api'")" \
    --output /dev/null http://forge.arena.test/users/current.json
everything >/tmp/after
diff /tmp/before /tmp/after >/tmp/written || {
    echo 'looking at pages wrote these rows:' >&2
    cut -c 1-400 /tmp/written >&2
    exit 1
}
rm -rf /tmp/before /tmp/after /tmp/written /tmp/page /tmp/jar.*

kill "$web" "$app"
wait "$web" "$app" || true
stop_database
