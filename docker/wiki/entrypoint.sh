#!/bin/sh
# Serve the ZIMs; kiwix-serve ends on TERM by itself, so it may be the container's first process.
exec kiwix-serve --port 8080 --threads 4 --nolibrarybutton --blockexternal \
    --customIndex /srv/wiki/index.html /srv/wiki/wiki.zim /srv/wiki/manuals.zim
