#!/bin/bash
# Serves the wiki as the image will and reads every page once: fills the parser cache and PHP's code cache.
set -euo pipefail
readonly wiki=/srv/wiki origin=https://en.wikipedia.org

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=build \
    -keyout /etc/arena/tls/origin.key -out /etc/arena/tls/origin.crt 2>/dev/null
bash $wiki/entrypoint.sh &
server=$!
trap 'kill "$server"; wait "$server" || true' EXIT

get() {
    curl --silent --show-error --fail --location --insecure --max-time 60 \
        --connect-to en.wikipedia.org:443:127.0.0.1:8443 "$@"
}
get --retry 20 --retry-delay 1 --retry-all-errors $origin/wiki/Main_Page >/tmp/main 2>/dev/null
grep -q 'id="firstHeading"' /tmp/main

php -r '
$wiki = new SQLite3( "/srv/wiki/data/wiki.sqlite" );
$rows = $wiki->query( "SELECT page_title FROM page WHERE page_namespace = 0 ORDER BY page_id" );
while ( $row = $rows->fetchArray( SQLITE3_NUM ) ) {
	echo "url = \"https://en.wikipedia.org/wiki/", rawurlencode( $row[0] ), "\"\n";
}' >/tmp/pages
get --config /tmp/pages >/tmp/read
# A talk page may be missing (its title holds a colon), an article that another links to may not.
if grep -o 'title=[^":&]*&amp;action=edit&amp;redlink=1' /tmp/read | sort | uniq -c | head -n 5 | grep .; then
    echo 'articles link to missing articles' >&2
    exit 1
fi
for path in \
    '/w/index.php?title=Special:Search&search=water+kettle&fulltext=1' '/w/index.php?search=Zzzzz' \
    '/w/index.php?search=main+page' '/w/api.php?action=query&meta=siteinfo&format=json' \
    '/w/rest.php/v1/search/title?q=ke&limit=10' '/w/api.php?action=opensearch&search=ke&format=json' \
    '/w/opensearch_desc.php' '/wiki/Special:Random' '/wiki/Special:AllPages' '/wiki/Special:SpecialPages' \
    '/wiki/Special:WhatLinksHere/Main_Page' '/wiki/Special:UserLogin' \
    '/w/index.php?title=Main_Page&action=history' '/w/index.php?title=Main_Page&action=info' \
    '/w/index.php?title=Main_Page&action=edit'; do
    get "$origin$path" >/dev/null
done
get "$origin/w/index.php?search=steel+kettle" >>/tmp/main
grep -o '/w/load.php?[^"]*' /tmp/main | sed 's/&amp;/\&/g' | sort -u |
    while read -r path; do get "$origin$path" >/dev/null; done
rm /tmp/pages /tmp/main /tmp/read
