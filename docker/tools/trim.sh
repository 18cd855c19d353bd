#!/bin/sh
# Removes from a folder of Python packages what the running tools never read.
set -eu
cd "$1"
rm -rf bin django/contrib/gis django/contrib/admin django/contrib/admindocs
find . -type d \( -name tests -o -name test_utils \) -prune -exec rm -rf {} +
find . -type d -name locale | while read -r folder; do
    find "$folder" -mindepth 1 -maxdepth 1 -type d ! -name 'en*' -exec rm -rf {} +
done
find . \( -name '*.po' -o -name '*.pyi' \) -delete
