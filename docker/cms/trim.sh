#!/bin/sh
# Puts WordPress together at a target from the unpacked Debian packages, without what a browser never asks for.
#
# usage: trim.sh PACKAGES TARGET
set -eu
packages=$1
target=$2

# Absolute links to libraries lead into the unpacked tree; what leads nowhere goes.
find "$packages" -type l -lname '/*' | while read -r link; do
    ln -sfn "$packages$(readlink "$link")" "$link"
done
find "$packages" -xtype l -delete
mkdir -p "$(dirname "$target")"
cp -aL "$packages/usr/share/wordpress" "$target"
cd "$target"
rm -rf wp-content readme.html wp-config.php wp-config-sample.php .htaccess wp-admin/install.php wp-admin/setup-config.php
mkdir -p wp-content/plugins wp-content/mu-plugins wp-content/themes
for theme in twentytwentyone twentytwentythree; do
    cp -aL "$packages/usr/share/wordpress/wp-content/themes/$theme" wp-content/themes/ 2>/dev/null ||
        cp -aL "$packages/var/lib/wordpress/wp-content/themes/$theme" wp-content/themes/
done
echo '<?php // Silence is golden.' >wp-content/index.php

# SCRIPT_DEBUG stays off: where a minified file exists, the long one goes, unless PHP names it; English reads left to right.
grep -rhoE --include='*.php' '[a-z0-9-]+\.(js|css)\b' . | sort -u >/tmp/named
find . -name '*.min.js' -o -name '*.min.css' | while read -r small; do
    long=${small%.min.*}.${small##*.}
    grep -qxF "${long##*/}" /tmp/named || rm -f "$long"
done
rm /tmp/named
find wp-includes wp-admin \( -name '*-rtl.css' -o -name '*-rtl.min.css' -o -name '*.map' \) -delete
rm -rf wp-includes/certificates
ln -s /srv/cms/state/uploads wp-content/uploads

# "What's New" would load its pictures from WordPress' own host.
sed -i '/<img src="https:\/\/s\.w\.org\//d' wp-admin/about.php
! grep -n 'src="https\?://' wp-admin/about.php wp-admin/credits.php wp-admin/freedoms.php wp-admin/privacy.php
