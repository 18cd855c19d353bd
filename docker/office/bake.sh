#!/bin/bash
# Makes the database of the image: SOGo makes its tables, the rows are written, everybody looks once.
#
# usage: bake.sh ROWS.sql        as user arena, inside the image build
set -euo pipefail
readonly rows=$1
export HOME=/run/office/home
sql() { mariadb --defaults-file=/srv/office/my.cnf --user=arena "$@"; }
get() { curl --silent --show-error --max-time 60 "$@"; }
until_it_answers() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; "$@"; }

mkdir -p /run/office/home /run/office/spool
mariadb-install-db --defaults-file=/srv/office/my.cnf --skip-test-db \
    --auth-root-authentication-method=socket --auth-root-socket-user=arena >/dev/null
mariadbd --defaults-file=/srv/office/my.cnf --bind-address=127.0.0.1 &
database=$!
until_it_answers sql -e 'SELECT 1'
sql <<'SQL'
DROP DATABASE sys;
CREATE DATABASE office CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER sogo@'127.0.0.1' IDENTIFIED BY 'sogo';
GRANT ALL ON office.* TO sogo@'127.0.0.1';
CREATE USER postroom@localhost IDENTIFIED BY 'postroom';
GRANT ALL ON office.* TO postroom@localhost;
CREATE USER arena_reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON office.* TO arena_reader@'%';
USE office;
CREATE TABLE people (
  c_uid VARCHAR(64) NOT NULL PRIMARY KEY, c_name VARCHAR(64) NOT NULL, c_password VARCHAR(64) NOT NULL,
  c_cn VARCHAR(128) NOT NULL, mail VARCHAR(128) NOT NULL);
CREATE TABLE mail_address (address VARCHAR(128) NOT NULL PRIMARY KEY, mailbox VARCHAR(64) NOT NULL);
SQL

memcached --unix-socket=/run/office/memcached.sock --udp-port=0 --threads=1 --memory-limit=16 &
memory=$!
dovecot -F -c /srv/office/dovecot.conf &
mails=$!
sogod -WONoDetach YES -WOUseWatchDog NO &
sogo=$!
until_it_answers get --fail http://127.0.0.1:20000/SOGo/
sql office <"$rows"
python3 /srv/office/postroom --register

python3 /srv/office/postroom &
room=$!
until_it_answers get --fail http://127.0.0.1:8001/health
while IFS=: read -r login password; do
    jar=/tmp/jar.$login
    get --fail --cookie-jar "$jar" --data "username=$login&password=$password" http://127.0.0.1:8001/login
    for page in Mail/view Calendar/view Contacts/view Preferences; do
        get --fail --cookie "$jar" --user-agent 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36' --output /tmp/page "http://127.0.0.1:8001/SOGo/so/$login/$page"
    done
done </srv/office/accounts
kill "$room" "$sogo" "$mails" "$memory"
wait "$room" "$sogo" "$mails" "$memory" || true
sql office -e 'TRUNCATE sogo_sessions_folder; TRUNCATE sogo_cache_folder'

# Written in the order of their keys, tables take a third less: every start copies them.
sql -N <<'SQL' | sql office
SELECT CONCAT('ALTER TABLE `', table_name, '` FORCE;') FROM information_schema.tables
WHERE table_schema = 'office' AND engine = 'InnoDB' ORDER BY table_name;
SQL
kill -TERM "$database"
wait "$database"
rm -rf /run/office /tmp/jar.* /tmp/page
