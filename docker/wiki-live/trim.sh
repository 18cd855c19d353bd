#!/bin/sh
# Puts MediaWiki's tree from the unpacked Debian packages together at a target, in English, with the skin Vector only.
set -eu
package=$1
target=$2
mkdir -p "$(dirname "$target")"
cp -a "$package/usr/share/mediawiki" "$target"
cd "$target"
rm -rf LocalSettings.php config images extensions extensions-core
mkdir extensions images
find skins -mindepth 1 -maxdepth 1 ! -name Vector -exec rm -rf {} +
find . -type d -path '*/i18n*' | while read -r folder; do
    find "$folder" -maxdepth 1 -name '*.json' ! -name en.json -delete
done
find languages/messages -name 'Messages*.php' ! -name MessagesEn.php -delete
find . -type d \( -name tests -o -name test -o -name doc -o -name docs \) -prune -exec rm -rf {} +
find . -name '*.map' -delete
