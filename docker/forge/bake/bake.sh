#!/bin/bash
# Makes the database and the repositories of the image, then stops everything cleanly.
#
# usage: bake.sh        as user arena, inside the image build
set -euo pipefail
cd /srv/forge/app
sql() { mariadb --defaults-file=/srv/forge/my.cnf --user=arena "$@"; }

mkdir -p /run/forge/tmp/imports /srv/forge/state/{files,repositories}
mariadb-install-db --defaults-file=/srv/forge/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
mariadbd --defaults-file=/srv/forge/my.cnf --bind-address=127.0.0.1 &
database=$!
for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE forge CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER redmine@localhost IDENTIFIED BY 'redmine';
GRANT ALL ON forge.* TO redmine@localhost;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON forge.* TO arena_reader@'%';
SQL
export SCHEMA=/dev/null REDMINE_LANG=en
time ruby bin/rake db:migrate >/dev/null
time ruby bin/rake redmine:load_default_data

kill -TERM "$database"
wait "$database"
rm -rf /run/forge
