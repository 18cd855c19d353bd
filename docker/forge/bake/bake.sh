#!/bin/bash
# Fills database and repositories, and lets Redmine read the histories.
#
# usage: bake.sh        as user arena, inside the image build, after schema.sh
set -euo pipefail
. /bake/database.sh
start_database

PYTHONPATH=/build/forge/seed PYTHONHASHSEED=0 python3 -m forgeseed /tmp/content
sql forge -e 'DELETE FROM users WHERE id = 1'
sql forge </tmp/content/content.sql
for stream in /tmp/content/streams/*.git; do
    repository=/srv/forge/state/repositories/${stream##*/}
    git init --quiet --bare --template= --initial-branch=main "$repository"
    git -C "$repository" fast-import --quiet --done <"$stream"
    git -C "$repository" repack -adfq
    git -C "$repository" pack-refs --all
done
rm -rf /tmp/content

cd /srv/forge/app
ruby bin/rails runner 'Repository::Git.order(:id).each(&:fetch_changesets)'
sql forge </bake/finish.sql

# Written in the order of their keys, tables take a third less: every start copies them.
sql -N <<'SQL' | sql forge
SELECT CONCAT('ALTER TABLE `', table_name, '` FORCE;') FROM information_schema.tables
WHERE table_schema = 'forge' AND engine = 'InnoDB' ORDER BY table_name;
SQL
stop_database
