#!/bin/bash
# Makes the database and the static files of the image, then stops the database cleanly.
set -euo pipefail
cd /srv/shop/app
export PYTHONPATH=/srv/shop/seed:$PYTHONPATH PYTHONHASHSEED=0  # the order of migrations hangs on it
mkdir -p /run/shop
sql() { mariadb --defaults-file=/srv/shop/my.cnf --user=arena "$@"; }

mariadb-install-db --defaults-file=/srv/shop/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
mariadbd --defaults-file=/srv/shop/my.cnf --bind-address=127.0.0.1 &
server=$!
for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON shop.* TO arena_reader@'%';
SQL

python3 manage.py migrate --verbosity 0
python3 -m shopseed
python3 manage.py collectstatic --noinput --verbosity 0
find /srv/shop/static \( -name '*.css' -o -name '*.js' -o -name '*.svg' \) -size +1k -exec gzip -9nk {} +
mkdir -p /srv/shop/state/media
cp /srv/shop/static/oscar/img/image_not_found.jpg /srv/shop/state/media/

# Written in the order of their keys, tables take a third less: every start copies them.
sql -N <<'SQL' | sql shop
SELECT CONCAT('ALTER TABLE `', table_name, '` FORCE;') FROM information_schema.tables
WHERE table_schema = 'shop' AND engine = 'InnoDB' ORDER BY table_name;
SQL

kill -TERM "$server"
wait "$server"
rm -rf /run/shop
