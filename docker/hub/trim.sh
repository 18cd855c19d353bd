#!/bin/sh
# Removes what a running hub never reads from the packages that were just installed or unpacked.
set -eu
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt /usr/share/doc /usr/share/man \
    /usr/share/locale /usr/share/perl5 /usr/share/doc-base /usr/share/gitweb \
    /usr/share/bash-completion /usr/share/icons /usr/lib/python3/dist-packages/*-stubs
find /usr/share/nodejs -mindepth 1 -maxdepth 1 ! -name bootstrap -exec rm -rf {} +
find /usr/share/nodejs /usr/share/javascript -name '*.map' -delete

# Of Git: what keeps and shows repositories and takes pushes. The rest needs Perl or curl, or speaks other protocols.
cd /usr/lib/git-core
for file in *; do
    if [ "$file" = git-http-backend ] || [ "$(readlink -f "$file")" = /usr/bin/git ]; then continue; fi
    case $file in git) ;; *) cmp -s "$file" /usr/bin/git && ln -sf ../../bin/git "$file" || rm -rf "$file" ;; esac
done

# A link that leads nowhere would end the application's start.
test -z "$(find /usr/share/pagure -xtype l)"
