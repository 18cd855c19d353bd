#!/bin/bash
# Makes the empty database: Redmine's tables, and the roles, trackers and states that it comes with.
#
# usage: schema.sh        as user arena, inside the image build
set -euo pipefail
. /bake/database.sh
mkdir -p /srv/forge/state/{files,repositories}
mariadb-install-db --defaults-file=/srv/forge/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
start_database
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE forge CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER redmine@localhost IDENTIFIED BY 'redmine';
GRANT ALL ON forge.* TO redmine@localhost;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON forge.* TO arena_reader@'%';
SQL
cd /srv/forge/app
SCHEMA=/dev/null ruby bin/rake db:migrate >/dev/null
REDMINE_LANG=en ruby bin/rake redmine:load_default_data
stop_database
