#!/bin/bash
# Starts the database, the application and nginx; stops them all, the database cleanly, as soon as one ends or TERM comes.
set -u
cd /srv/shop/app
mkdir -p /srv/shop/run
rm -f /srv/shop/run/*.sock /srv/shop/run/*.pid

mariadbd --defaults-file=/srv/shop/my.cnf &
database=$!
python3 -m gunicorn --config /srv/shop/gunicorn.conf.py harbour.wsgi:application &
app=$!
nginx -c /srv/shop/nginx.conf &
web=$!

stop() {
    kill -TERM "$web" "$app" 2>/dev/null
    wait "$web" "$app" 2>/dev/null
    kill -TERM "$database" 2>/dev/null
    wait "$database" 2>/dev/null
}
trap 'trap - TERM INT; stop; exit 0' TERM INT

wait -n "$database" "$app" "$web"
echo "a part of the shop has ended: stopping the others" >&2
stop
exit 1
