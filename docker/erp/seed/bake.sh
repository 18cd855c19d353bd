#!/bin/bash
# Writes the firm's data, in a moment that stands still; in memory, for every step is a transaction.
set -euo pipefail
export PYTHONHASHSEED=0 PYTHONPATH=/srv/erp/seed
mv /srv/erp/state/db /dev/shm/db
ln -s /dev/shm/db /srv/erp/state/db
faketime -f '2026-09-30 17:00:00' python3 -m erpseed
rm /srv/erp/state/db
cp -r /dev/shm/db /srv/erp/state/db
