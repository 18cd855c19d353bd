#!/bin/sh
# Removes what SOGo, dovecot and their libraries never read here: other languages, other databases, tools.
set -eu
find /usr/share/GNUstep/SOGo -type d -name '*.lproj' ! -name 'English.lproj' -prune -exec rm -rf {} +
find /usr/share/GNUstep/SOGo/WebServerResources -name '*.map' -delete
rm -rf /usr/lib/GNUstep/GDLAdaptors-4.9/PostgreSQL.gdladaptor /usr/share/dovecot /usr/share/libexttextcat \
    /usr/lib/dovecot/libdovecot-lua.so* /etc/dovecot /etc/cron* /etc/init.d/sogo
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt /usr/share/doc /usr/share/man \
    /usr/share/locale /usr/share/perl5 /usr/share/bug /usr/share/lintian
