#!/bin/bash
# Makes the database of the image, fills the cache of compiled code, and proves that looking at pages writes nothing.
#
# usage: bake.sh CONTENT.sql        as user arena, inside the image build
set -euo pipefail
readonly content=$1 here=/bake
sql() { mariadb --defaults-file=/srv/cms/my.cnf --user=arena "$@"; }
php() { php8.2 -d memory_limit=512M -d date.timezone=UTC "$@"; }

mkdir -p /run/cms /srv/cms/code
mariadb-install-db --defaults-file=/srv/cms/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
mariadbd --defaults-file=/srv/cms/my.cnf --bind-address=127.0.0.1 &
database=$!
for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE cms CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER wordpress@localhost IDENTIFIED BY 'wordpress';
GRANT ALL ON cms.* TO wordpress@localhost;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON cms.* TO arena_reader@'%';
SQL

php $here/install.php >/dev/null
sql cms <"$content"
php $here/finish.php
rm -rf /run/cms/scratch # what these two thought worth keeping

bash $here/warm.sh

# Written in the order of their keys, tables take a third less: every start copies them.
sql -N <<'SQL' | sql cms
SELECT CONCAT('ALTER TABLE `', table_name, '` FORCE;') FROM information_schema.tables
WHERE table_schema = 'cms' AND engine = 'InnoDB' ORDER BY table_name;
SQL

kill -TERM "$database"
wait "$database"
rm -rf /run/cms

# Where opcache looks for compiled code; see opcache.ini.
mkdir /srv/cms/state/code
ln -s /srv/cms/code/* /srv/cms/state/code/
