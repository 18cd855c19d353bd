#!/bin/bash
# Makes database and repositories of the image.
#
# usage: bake.sh        as user arena, inside the image build
set -euo pipefail
. /bake/database.sh
mkdir -p /srv/hub/state/{repositories,releases,attachments,remotes}
mariadb-install-db --defaults-file=/srv/hub/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
start_database
# Texts compare letter by letter, as on PostgreSQL, for which Pagure is written: a key in other case is another.
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE hub CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE USER hub@localhost IDENTIFIED BY '';
GRANT ALL ON hub.* TO hub@localhost;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON hub.* TO arena_reader@'%';
SQL
PYTHONPATH=/build/hub/seed:/build/forge/seed:$PYTHONPATH PYTHONHASHSEED=0 python3 -m hubseed
# Rows that Pagure dates with the machine's clock when it makes its tables.
sql hub -e "UPDATE acls SET created = '2023-03-06 08:00:00'; UPDATE pagure_group_type SET created = '2023-03-06 08:00:00'"
stop_database
