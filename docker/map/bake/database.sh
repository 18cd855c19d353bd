#!/bin/bash
# Makes the database of the image: Nominatim's import, the objects as they are, the reading account; then stops it cleanly.
set -euo pipefail
export PATH=/usr/lib/postgresql/15/bin:$PATH PYTHONPATH=/srv/map/site-bake:/srv/map/site PYTHONDONTWRITEBYTECODE=1
export PGHOST=/tmp PGUSER=arena PGDATA=/srv/map/db
initdb -U arena -A trust --locale=C.UTF-8 -E UTF8 --no-sync --wal-segsize=1 >/dev/null
cat > /tmp/bake.conf <<'CONF'
data_directory = '/srv/map/db'
hba_file = '/srv/map/db/pg_hba.conf'
listen_addresses = ''
unix_socket_directories = '/tmp'
timezone = 'UTC'
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
checkpoint_timeout = 1h
autovacuum = off
shared_buffers = 512MB
work_mem = 64MB
maintenance_work_mem = 256MB
max_parallel_workers_per_gather = 0
jit = off
random_page_cost = 1.1
CONF
pg_ctl -w -t 60 -s -o "-c config_file=/tmp/bake.conf" -l /tmp/postgres.log start
sql() { psql -X -q -v ON_ERROR_STOP=1 "$@"; }
sql -d postgres -c "CREATE ROLE arena_reader LOGIN PASSWORD 'reader'"

set -a; . /srv/map/bake/nominatim.env; set +a
export NOMINATIM_DATABASE_DSN="pgsql:host=/tmp;dbname=map;user=arena"
mkdir -p /tmp/project && cd /tmp/project
nominatim() { python3 -c 'import sys; from nominatim_db.cli import nominatim; sys.exit(nominatim(cli_args=sys.argv[1:]))' "$@"; }
# Of several roads that touch a school the first that was imported is its road, not the first that a thread had written.
roads=/srv/map/site-bake/nominatim_db/resources/lib-sql/functions/partition-functions.sql
sed -i 's/ORDER BY ST_Distance(geometry, point) ASC limit 1/ORDER BY ST_Distance(geometry, point), place_id LIMIT 1/' "$roads"
grep -q 'point), place_id LIMIT 1' "$roads"
nominatim import --osm-file /srv/map/region/region.osm --no-updates --offline --threads 2 2>&1 | grep -v '^Done\|^$'
python3 /srv/map/bake/phrases.py /tmp/phrases.csv
nominatim special-phrases --import-from-csv /tmp/phrases.csv

sql -d map -f /srv/map/bake/finish.sql
sql -d map -c "\\copy osm.object (kind, id, tags, members, lon, lat) FROM /srv/map/region/objects.tsv"
sql -d map -f /srv/map/bake/rights.sql
sql -d map -c 'VACUUM FULL' -c 'VACUUM (FREEZE, ANALYZE)'
sql -d template1 -c 'DROP DATABASE postgres'
pg_ctl -w -t 60 -s -m fast stop
pg_resetwal "$PGDATA" >/dev/null
rm -f "$PGDATA"/postgresql.conf "$PGDATA"/postgresql.auto.conf "$PGDATA"/pg_hba.conf "$PGDATA"/pg_ident.conf "$PGDATA"/postmaster.opts
touch "$PGDATA"/postgresql.auto.conf
