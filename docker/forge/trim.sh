#!/bin/sh
# Removes what a running forge never reads from the packages that were just installed or unpacked.
set -eu
rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*.log /var/log/apt /usr/share/doc /usr/share/man \
    /usr/share/locale /usr/share/perl5 /usr/share/nodejs /usr/share/doc-base /usr/share/gitweb \
    /usr/share/icons /usr/share/bash-completion /usr/share/ri /usr/lib/ruby/gems/*/doc

# Of Git: what keeps and shows repositories and takes pushes. The rest needs Perl or curl, or speaks other protocols.
cd /usr/lib/git-core
for file in *; do
    if [ "$file" = git-http-backend ] || [ "$(readlink -f "$file")" = /usr/bin/git ]; then continue; fi
    case $file in git) ;; *) cmp -s "$file" /usr/bin/git && ln -sf ../../bin/git "$file" || rm -rf "$file" ;; esac
done

# Of Redmine: English, no help pages in other languages, no maps of minified scripts.
cd /srv/forge/app
find config/locales -name '*.yml' ! -name 'en.yml' -delete
find public/help -mindepth 1 -maxdepth 1 -type d ! -name en -exec rm -rf {} +
find public/javascripts -path '*/lang/*' ! -name '*-en.js' -type f -delete
rm -rf public/javascripts/i18n/* public/javascripts/*.map public/dispatch.fcgi extra templates \
    config/database.yml config/multitenancy_environment.rb instances /etc/redmine

# PDFs are written in FreeSans and FreeMono.
cd /usr/share/rubygems-integration/all/gems/rbpdf-font-*/lib/fonts
find . -type f ! -name 'freesans*' ! -name 'freemono*' ! -name 'helvetica*' ! -name 'courier*' -delete
