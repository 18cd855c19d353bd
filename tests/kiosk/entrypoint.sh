set -u
mariadbd --defaults-file=/srv/kiosk/my.cnf &
database=$!
python3 -u /srv/kiosk/app.py &
app=$!
stop() { kill -TERM $app $database 2>/dev/null; wait $app $database 2>/dev/null; }
trap 'trap - TERM; stop; exit 0' TERM
wait -n $database $app
echo 'a part of the kiosk has ended' >&2
stop
exit 1
