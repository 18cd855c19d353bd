#!/bin/bash
# Makes the tables of all modules, in a moment that stands still.
set -euo pipefail
export PYTHONHASHSEED=0 TRYTONPASSFILE=/tmp/pass
mkdir -p /srv/erp/state/db
touch /srv/erp/state/db/erp.sqlite
echo only-while-baking > "$TRYTONPASSFILE"
faketime -f '2026-09-30 17:00:00' trytond-admin --config "$TRYTOND_CONFIG" --database erp \
    --email office@harbourandpine.example --password --activate-dependencies \
    --update account_invoice account_invoice_stock company party product purchase sale stock timesheet
rm "$TRYTONPASSFILE"
