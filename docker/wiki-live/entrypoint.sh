#!/bin/bash
# Starts PHP and nginx; stops both as soon as one ends or TERM comes.
set -u
cd /srv/wiki
mkdir -p run
rm -f run/*.sock run/*.pid

if [ ! -r /etc/arena/tls/origin.crt ] || [ ! -r /etc/arena/tls/origin.key ]; then
    echo "wiki-live: /etc/arena/tls/origin.crt and origin.key must be copied into the container before it starts" >&2
    exit 1
fi
php-fpm8.2 --nodaemonize --fpm-config /srv/wiki/php-fpm.conf \
    -d opcache.file_cache=/srv/wiki/opcache -d opcache.validate_timestamps=0 \
    -d opcache.file_cache_consistency_checks=0 -d opcache.memory_consumption=96 \
    -d opcache.interned_strings_buffer=16 -d opcache.max_accelerated_files=8000 -d apc.shm_size=48M &
php=$!
nginx -c /srv/wiki/nginx.conf &
web=$!

stop() {
    kill -TERM "$web" "$php" 2>/dev/null
    wait "$web" "$php" 2>/dev/null
}
trap 'trap - TERM INT; stop; exit 0' TERM INT

wait -n "$php" "$web"
echo "wiki-live: a part has ended: stopping the other" >&2
stop
exit 1
