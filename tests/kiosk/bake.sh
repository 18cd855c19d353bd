set -euo pipefail
options=--defaults-file=/srv/kiosk/my.cnf
mariadb-install-db $options --skip-test-db --auth-root-authentication-method=normal >/dev/null
mariadbd $options --bind-address=127.0.0.1 &
server=$!
for _ in $(seq 300); do mariadb $options --user=root -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
mariadb $options --user=root <<'SQL'
CREATE DATABASE kiosk CHARACTER SET utf8mb4;
CREATE USER arena@localhost IDENTIFIED VIA unix_socket;
GRANT ALL ON kiosk.* TO arena@localhost;
CREATE USER reader@'%' IDENTIFIED BY 'reader';
GRANT SELECT ON kiosk.* TO reader@'%';
USE kiosk;
CREATE TABLE account (name VARCHAR(20) PRIMARY KEY, password VARCHAR(20), last_seen DATETIME(6));
INSERT INTO account VALUES ('ada', 'lovelace', NULL), ('grace', 'hop&per', NULL);
CREATE TABLE note (id INT AUTO_INCREMENT PRIMARY KEY, author VARCHAR(20), text VARCHAR(200));
INSERT INTO note (author, text) VALUES ('ada', 'first'), ('grace', 'second');
CREATE TABLE visit (id INT AUTO_INCREMENT PRIMARY KEY, seen_at DATETIME(6));
SQL
kill -TERM $server
wait $server
printf 'a picture' > /srv/kiosk/files/picture.txt
