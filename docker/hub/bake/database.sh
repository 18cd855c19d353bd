# What the scripts of this folder share: the database of the image, started and stopped.
sql() { mariadb --defaults-file=/srv/hub/my.cnf --user=arena "$@"; }

start_database() {
    mkdir -p /run/hub
    mariadbd --defaults-file=/srv/hub/my.cnf --bind-address=127.0.0.1 &
    database=$!
    for _ in $(seq 300); do sql -e 'SELECT 1' >/dev/null 2>&1 && return; sleep 0.1; done
    return 1
}

stop_database() {
    kill -TERM "$database"
    wait "$database"
    rm -rf /run/hub
}
