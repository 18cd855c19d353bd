#!/bin/bash
# Makes the database of the image, then stops it cleanly.
set -euo pipefail
cd /srv/tools/app
export PYTHONPATH=/srv/tools/seed:$PYTHONPATH PYTHONHASHSEED=0
mkdir -p /run/tools
sql() { mariadb --defaults-file=/srv/tools/my.cnf --user=arena "$@"; }

mariadb-install-db --defaults-file=/srv/tools/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
mariadbd --defaults-file=/srv/tools/my.cnf --bind-address=127.0.0.1 &
server=$!
for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE tools CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON tools.* TO arena_reader@'%';
SQL

python3 manage.py migrate --verbosity 0
python3 -m deskseed

kill -TERM "$server"
wait "$server"
rm -rf /run/tools
