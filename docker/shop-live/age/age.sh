#!/bin/bash
# Moves the baked shop a year on: every date by a year, and what a-year-later.sql says.
set -euo pipefail
mkdir -p /run/shop
sql() { mariadb --defaults-file=/srv/shop/my.cnf --user=arena shop "$@"; }

mariadbd --defaults-file=/srv/shop/my.cnf --datadir=/srv/shop/pristine/db --bind-address=127.0.0.1 &
server=$!
for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done

# Vouchers keep their terms; when the tables were made is no date of the shop.
sql -N <<'SQL' | sql
SELECT CONCAT('UPDATE `', table_name, '` SET ',
              GROUP_CONCAT(CONCAT('`', column_name, '` = `', column_name, '` + INTERVAL 1 YEAR')), ';')
FROM information_schema.columns
WHERE table_schema = 'shop' AND data_type IN ('date', 'datetime')
  AND table_name NOT IN ('django_migrations', 'voucher_voucher', 'voucher_voucherset')
GROUP BY table_name;
SQL
sql </srv/shop/age/a-year-later.sql

kill -TERM "$server"
wait "$server"
rm -rf /run/shop
