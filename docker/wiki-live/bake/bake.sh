#!/bin/bash
# Installs the wiki, imports the articles, makes what depends on the clock constant, and fills every cache.
#
# usage: bake.sh ARTICLES.xml        as user arena, inside the image build
set -euo pipefail
export LC_ALL=C.UTF-8
readonly articles=$1 wiki=/srv/wiki maintenance=/srv/wiki/w/maintenance
readonly here=/bake

run() {
    local script=$1
    shift
    php -d memory_limit=512M -d opcache.enable_cli=0 "$maintenance/$script" "$@"
}

mkdir -p $wiki/data $wiki/l10n $wiki/opcache $wiki/run /tmp/installed
php -d memory_limit=512M $maintenance/install.php --dbtype sqlite --dbname wiki --dbpath $wiki/data \
    --confpath /tmp/installed --server https://en.wikipedia.org --scriptpath /w \
    --pass 'thrown away below' --skins Vector Wikipedia Librarian >/tmp/install.log || { cat /tmp/install.log; exit 1; }
cp $wiki/settings/LocalSettings.php $wiki/w/LocalSettings.php
run rebuildLocalisationCache.php --lang=en --quiet
run nukePage.php --delete "Main Page" >/dev/null
php $here/search_index.php
run importDump.php --quiet --username-prefix '' "$articles"
run runJobs.php --quiet
run initSiteStats.php --update --quiet
php $here/constant.php
rm -rf $wiki/w/mw-config /tmp/installed /tmp/install.log
find $wiki/w/includes/installer -mindepth 1 -maxdepth 1 ! -name Hook -exec rm -rf {} + # hooks' interfaces are loaded
bash $here/warm.sh
